/* SPDX-License-Identifier: MIT */
#include "parts.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "buf.h"
#include "test.h"

#define NONE UINT64_MAX

/* What a test makes, and what came out. */
struct stream {
	uint64_t count;
	size_t lines;            /* of each part */
	uint64_t fail, fail_too; /* parts that fail after half of their lines */
	size_t write_fails_at;   /* bytes; 0: never */
	struct zr_buf out;
	atomic_size_t written;
	atomic_uint making;  /* parts that are being made */
	atomic_size_t ahead; /* bytes made of part 1 */
};

static int put(struct zr_part *part, const void *data, size_t len)
{
	uint8_t *room;
	int r = zr_part_room(part, len, &room);

	if (r < 0)
		return r;
	memcpy(room, data, len);
	zr_part_add(part, len);
	return 0;
}

static void line_of(uint64_t part, size_t line, char out[32])
{
	snprintf(out, 32, "part %d line %d\n", (int)part, (int)line);
}

static int make_lines(void *arg, uint64_t n, struct zr_part *part, struct zr_err *reterr)
{
	struct stream *s = arg;
	bool fails = n == s->fail || n == s->fail_too;

	atomic_fetch_add(&s->making, 1);
	for (size_t i = 0; i < (fails ? s->lines / 2 : s->lines); i++) {
		char line[32];
		int r;

		line_of(n, i, line);
		r = put(part, line, strlen(line));
		if (r < 0)
			return r;
		if (i % 7 == n % 7)
			sched_yield();
	}
	return fails ? zr_err_set(reterr, -EIO, "part %d fails", (int)n) : 0;
}

static int write_out(void *arg, const void *data, size_t len)
{
	struct stream *s = arg;

	if (s->write_fails_at && s->out.len + len > s->write_fails_at)
		return -ENOSPC;
	zr_buf_add(&s->out, data, len);
	atomic_fetch_add(&s->written, len);
	return 0;
}

static int run(struct stream *s, unsigned int threads, struct zr_err *ret)
{
	struct zr_parts p = {.count = s->count,
	                     .threads = threads,
	                     .make = make_lines,
	                     .write = write_out,
	                     .arg = s};

	*ret = (struct zr_err){0};
	return zr_parts_run(&p, ret);
}

/* All lines of the parts before `last`, and half of those of that part if it failed. */
static void check_out(const struct stream *s, uint64_t last)
{
	struct zr_buf want = {0};

	for (uint64_t n = 0; n < s->count && n <= last; n++) {
		for (size_t i = 0; i < (n == last ? s->lines / 2 : s->lines); i++) {
			char line[32];

			line_of(n, i, line);
			zr_buf_adds(&want, line);
		}
	}
	CHECK_MEM(s->out.data, s->out.len, want.data, want.len);
	zr_buf_done(&want);
}

static void parts_are_written_in_order(void)
{
	static const unsigned int threads[] = {1, 2, 8, 1000};

	for (size_t i = 0; i < ZR_COUNT(threads); i++) {
		struct stream s = {
			.count = 300, .lines = 40, .fail = NONE, .fail_too = NONE};
		struct zr_err err;

		CHECK_INT(run(&s, threads[i], &err), 0);
		CHECK_INT(err.code, 0);
		CHECK_INT(s.making, 300);
		check_out(&s, NONE);
		zr_buf_done(&s.out);
	}
}

static void no_parts_are_nothing(void)
{
	struct stream s = {.fail = NONE, .fail_too = NONE};
	struct zr_err err;

	CHECK_INT(run(&s, 4, &err), 0);
	CHECK_INT(s.out.len, 0);
}

static void first_error_in_order_ends_it(void)
{
	static const unsigned int threads[] = {1, 2, 8};

	for (size_t i = 0; i < ZR_COUNT(threads); i++) {
		for (int k = 0; k < 20; k++) {
			struct stream s = {
				.count = 40, .lines = 200, .fail = 11, .fail_too = 12};
			struct zr_err err;

			CHECK_INT(run(&s, threads[i], &err), -EIO);
			CHECK_STR(err.text, "part 11 fails");
			check_out(&s, 11);
			zr_buf_done(&s.out);
		}
	}
}

static void an_error_of_write_ends_it_without_a_text(void)
{
	struct stream s = {.count = 1000,
	                   .lines = 10000,
	                   .fail = NONE,
	                   .fail_too = NONE,
	                   .write_fails_at = 500000};
	struct zr_err err;

	CHECK_INT(run(&s, 4, &err), -ENOSPC);
	CHECK_INT(err.code, 0);
	CHECK(s.out.len <= 500000);
	CHECK(s.making < 100);
	zr_buf_done(&s.out);
}

/* Part 0 waits for others to be far ahead, part 1 makes 64 MiB. */
static int make_bulk(void *arg, uint64_t n, struct zr_part *part, struct zr_err *reterr)
{
	static const uint8_t block[1 << 16];
	struct stream *s = arg;
	size_t before = 0;

	(void)reterr;
	while (n == 0 && (s->ahead < (8 << 20) || s->ahead != before)) {
		before = s->ahead;
		usleep(20000);
	}
	/* What a part may hold back is made, and no more. */
	if (n == 0)
		CHECK(s->ahead <= (17 << 20));
	for (int i = 0; n == 1 && i < 1024; i++) {
		int r = put(part, block, sizeof(block));

		if (r < 0)
			return r;
		s->ahead += sizeof(block);
	}
	return 0;
}

static int count_out(void *arg, const void *data, size_t len)
{
	(void)data;
	atomic_fetch_add(&((struct stream *)arg)->written, len);
	return 0;
}

static void a_part_that_waits_takes_bounded_memory(void)
{
	struct stream s = {0};
	struct zr_parts p = {.count = 2,
	                     .threads = 2,
	                     .make = make_bulk,
	                     .write = count_out,
	                     .arg = &s};

	CHECK_INT(zr_parts_run(&p, NULL), 0);
	CHECK_INT(s.written, 64 << 20);
}

static int make_slowly(void *arg, uint64_t n, struct zr_part *part, struct zr_err *reterr)
{
	static const uint8_t block[1 << 16];
	struct stream *s = arg;

	(void)n, (void)reterr;
	for (int i = 0; i < 5; i++) {
		int r = put(part, block, sizeof(block));

		if (r < 0)
			return r;
	}
	CHECK(s->written >= 3 << 16);
	return 0;
}

static void the_first_part_is_written_as_it_is_made(void)
{
	struct stream s = {0};
	struct zr_parts p = {.count = 1,
	                     .threads = 2,
	                     .make = make_slowly,
	                     .write = count_out,
	                     .arg = &s};

	CHECK_INT(zr_parts_run(&p, NULL), 0);
	CHECK_INT(s.written, 5 << 16);
}

int main(void)
{
	RUN(parts_are_written_in_order);
	RUN(no_parts_are_nothing);
	RUN(first_error_in_order_ends_it);
	RUN(an_error_of_write_ends_it_without_a_text);
	RUN(a_part_that_waits_takes_bounded_memory);
	RUN(the_first_part_is_written_as_it_is_made);
	return EXIT_SUCCESS;
}
