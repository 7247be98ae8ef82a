/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "request.h"

enum { THREADS = 6, ROUNDS = 50 };

struct crowd {
	struct zr_gate *gate;
	void (*enter)(struct zr_gate *g);
	void (*leave)(struct zr_gate *g);
	atomic_int inside, most;
};

static void *pass(void *arg)
{
	struct crowd *c = arg;

	for (int i = 0; i < ROUNDS; i++) {
		int n, most;

		c->enter(c->gate);
		n = atomic_fetch_add(&c->inside, 1) + 1;
		most = c->most;
		while (n > most && !atomic_compare_exchange_weak(&c->most, &most, n))
			;
		usleep(100);
		atomic_fetch_sub(&c->inside, 1);
		c->leave(c->gate);
	}
	return NULL;
}

static int most_of(unsigned int width, void (*enter)(struct zr_gate *g),
                   void (*leave)(struct zr_gate *g))
{
	struct crowd c = {.gate = zr_gate_new(width), .enter = enter, .leave = leave};
	pthread_t thread[THREADS];

	CHECK(c.gate);
	for (int i = 0; i < THREADS; i++)
		CHECK_INT(pthread_create(&thread[i], NULL, pass, &c), 0);
	for (int i = 0; i < THREADS; i++)
		CHECK_INT(pthread_join(thread[i], NULL), 0);
	zr_gate_free(c.gate);
	CHECK_INT(c.inside, 0);
	return c.most;
}

static int most_inside(unsigned int width)
{
	return ZR_MAX(most_of(width, zr_gate_enter, zr_gate_leave),
	              most_of(width, zr_gate_enter_decoding, zr_gate_leave_decoding));
}

static void no_more_than_width_are_inside(void)
{
	CHECK_INT(most_inside(1), 1);
	CHECK(most_inside(3) <= 3);
}

static void width_is_used(void)
{
	struct zr_gate *g = zr_gate_new(3);

	/* Would wait for ever if fewer were let in. */
	zr_gate_enter(g);
	zr_gate_enter(g);
	zr_gate_enter(g);
	zr_gate_leave(g);
	zr_gate_enter(g);
	zr_gate_free(g);
}

/* Would wait for ever if they were in each other's way. */
static void who_decodes_has_a_place_of_his_own(void)
{
	struct zr_gate *g = zr_gate_new(1);

	zr_gate_enter(g);
	zr_gate_enter_decoding(g);
	zr_gate_leave(g);
	zr_gate_enter(g);
	zr_gate_leave_decoding(g);
	zr_gate_enter_decoding(g);
	zr_gate_free(g);
}

static void width_zero_is_the_cores_that_may_be_used(void)
{
	cpu_set_t all, one;
	int first = 0;

	CHECK_INT(sched_getaffinity(0, sizeof(all), &all), 0);
	while (!CPU_ISSET(first, &all))
		first++;
	CPU_ZERO(&one);
	CPU_SET(first, &one);
	CHECK_INT(sched_setaffinity(0, sizeof(one), &one), 0);
	CHECK_INT(most_inside(0), 1);
	CHECK_INT(sched_setaffinity(0, sizeof(all), &all), 0);
	CHECK(most_inside(0) <= CPU_COUNT(&all));
}

static void free_takes_null(void)
{
	zr_gate_free(NULL);
}

int main(void)
{
	RUN(no_more_than_width_are_inside);
	RUN(width_is_used);
	RUN(who_decodes_has_a_place_of_his_own);
	RUN(width_zero_is_the_cores_that_may_be_used);
	RUN(free_takes_null);
	return EXIT_SUCCESS;
}
