/* SPDX-License-Identifier: MIT */
#include "ahead.h"

#include <unistd.h>

#include "request.h"
#include "test.h"

#define MIB ((uint64_t)1 << 20)
#define KIB ((uint64_t)1 << 10)

static atomic_uint made[100];

static void make(void *arg, uint64_t piece, const atomic_bool *cancel)
{
	CHECK(arg == made);
	(void)cancel;
	atomic_fetch_add(&made[piece], 1);
}

struct ahead_case {
	struct zr_ahead_jobs jobs;
	struct zr_ahead ahead;
};

static void begin(struct ahead_case *c)
{
	memset(made, 0, sizeof(made));
	*c = (struct ahead_case){.jobs = {.queue = zr_queue_new()}};
	CHECK(c->jobs.queue);
	zr_ahead_init(&c->ahead, &c->jobs, make, made);
}

static void end(struct ahead_case *c)
{
	zr_queue_free(c->jobs.queue);
	CHECK(!zr_ahead_busy(&c->jobs));
	zr_ahead_done(&c->ahead);
}

static void until_made(struct ahead_case *c)
{
	while (zr_ahead_busy(&c->jobs))
		usleep(200);
}

/* Pieces from `first` to before `last` were made `times` times. */
static void check_made(unsigned int first, unsigned int last, unsigned int times)
{
	for (unsigned int i = first; i < last; i++)
		CHECK_INT(atomic_load(&made[i]), times);
}

static void who_goes_on_where_it_had_ended_is_followed(void)
{
	struct ahead_case c;

	begin(&c);
	CHECK(!zr_ahead_follows(&c.ahead, 0, 128 * KIB));
	CHECK(zr_ahead_follows(&c.ahead, 128 * KIB, 128 * KIB));
	/* A request that was overtaken by the next one. */
	CHECK(zr_ahead_follows(&c.ahead, 512 * KIB, 256 * KIB));
	CHECK(zr_ahead_follows(&c.ahead, 256 * KIB, 256 * KIB));
	end(&c);
}

static void who_jumps_or_asks_again_is_not(void)
{
	struct ahead_case c;

	begin(&c);
	for (uint64_t i = 0; i < 20; i++)
		CHECK(!zr_ahead_follows(&c.ahead, (i * 7 % 20) * 10 * MIB, 4 * KIB));
	end(&c);
	begin(&c);
	for (int i = 0; i < 5; i++)
		CHECK(!zr_ahead_follows(&c.ahead, 300 * MIB, 4 * KIB));
	end(&c);
}

static void several_readers_are_told_apart(void)
{
	struct ahead_case c;

	begin(&c);
	for (uint64_t at = 0; at < 4; at++)
		for (uint64_t reader = 0; reader < ZR_AHEAD_STREAMS; reader++)
			CHECK_INT(zr_ahead_follows(&c.ahead,
			                           reader * 1000 * MIB + at * 64 * KIB,
			                           64 * KIB),
			          at > 0);
	end(&c);
}

static void pieces_are_made_once_for_each_reader(void)
{
	struct ahead_case c;

	begin(&c);
	zr_ahead_follows(&c.ahead, 0, KIB);
	zr_ahead_run(&c.ahead, 1, 5);
	zr_ahead_run(&c.ahead, 1, 5);
	zr_ahead_run(&c.ahead, 2, 6);
	until_made(&c);
	check_made(0, 1, 0);
	check_made(1, 6, 1);
	check_made(6, 100, 0);
	end(&c);
}

static void who_turns_back_has_them_made_again(void)
{
	struct ahead_case c;

	begin(&c);
	zr_ahead_follows(&c.ahead, 500 * MIB, KIB);
	zr_ahead_run(&c.ahead, 50, 55);
	zr_ahead_follows(&c.ahead, 500 * MIB + KIB, KIB);
	zr_ahead_run(&c.ahead, 10, 12);
	until_made(&c);
	check_made(50, 55, 1);
	check_made(10, 12, 1);
	zr_ahead_run(&c.ahead, 10, 13);
	until_made(&c);
	check_made(10, 13, 1);
	end(&c);
}

static void another_reader_begins_anew(void)
{
	struct ahead_case c;

	begin(&c);
	zr_ahead_follows(&c.ahead, 0, KIB);
	zr_ahead_run(&c.ahead, 0, 4);
	zr_ahead_follows(&c.ahead, 900 * MIB, KIB);
	zr_ahead_run(&c.ahead, 0, 4);
	until_made(&c);
	check_made(0, 4, 2);
	end(&c);
}

static void without_a_queue_nothing_is_done(void)
{
	struct zr_ahead_jobs jobs = {0};
	struct zr_ahead a, none;

	zr_ahead_init(&a, &jobs, make, made);
	zr_ahead_init(&none, NULL, make, made);
	for (uint64_t i = 0; i < 4; i++) {
		CHECK(!zr_ahead_follows(&a, i * KIB, KIB));
		CHECK(!zr_ahead_follows(&none, i * KIB, KIB));
	}
	zr_ahead_done(&a);
	zr_ahead_done(&none);
}

static void what_is_begun_when_all_ends_is_abandoned(void)
{
	struct ahead_case c;

	begin(&c);
	zr_ahead_follows(&c.ahead, 0, KIB);
	zr_ahead_run(&c.ahead, 0, 100);
	end(&c); /* checks that nothing is left */
}

int main(void)
{
	RUN(who_goes_on_where_it_had_ended_is_followed);
	RUN(who_jumps_or_asks_again_is_not);
	RUN(several_readers_are_told_apart);
	RUN(pieces_are_made_once_for_each_reader);
	RUN(who_turns_back_has_them_made_again);
	RUN(another_reader_begins_anew);
	RUN(without_a_queue_nothing_is_done);
	RUN(what_is_begun_when_all_ends_is_abandoned);
	return EXIT_SUCCESS;
}
