/* SPDX-License-Identifier: MIT */
#include "test.h"
#include "buf.h"

#include <errno.h>

static void pieces_are_appended_in_order(void)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf b = {0};

	zr_buf_add(&b, "ab", 2);
	zr_buf_adds(&b, "cde");
	zr_buf_addc(&b, 'f');
	zr_buf_addf(&b, "%d/%s", 12, "x");
	zr_buf_addf(&b, "%s", "");
	zr_buf_add(&b, NULL, 0);
	CHECK_INT(zr_buf_check(&b), 0);
	CHECK_MEM(b.data, b.len, "abcdef12/x", 10);
}

static void growth_keeps_the_bytes(void)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf b = {0};

	for (unsigned int i = 0; i < 10000; i++)
		zr_buf_addc(&b, (char)(i % 251));
	CHECK_INT(zr_buf_check(&b), 0);
	CHECK_INT(b.len, 10000);
	for (unsigned int i = 0; i < 10000; i++)
		CHECK_INT(b.data[i], i % 251);
}

static void an_empty_buffer_is_made_as_large_as_asked_for(void)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf b = {0};

	CHECK_INT(zr_buf_reserve(&b, 1000), 0);
	CHECK_INT(b.cap, 1000);
	CHECK_INT(b.len, 0);
	CHECK_INT(zr_buf_reserve(&b, 0), 0);
	CHECK_INT(b.cap, 1000);
}

static void a_failure_sticks(void)
{
	struct zr_buf b = {0};

	zr_buf_adds(&b, "abc");
	CHECK_INT(zr_buf_reserve(&b, SIZE_MAX), -ENOMEM);
	CHECK_INT(zr_buf_check(&b), -ENOMEM);
	zr_buf_adds(&b, "def");
	zr_buf_addf(&b, "%d", 1);
	CHECK_INT(zr_buf_reserve(&b, 1), -ENOMEM);
	CHECK_MEM(b.data, b.len, "abc", 3);

	zr_buf_done(&b);
	CHECK(b.data == NULL && b.len == 0 && b.cap == 0);
	CHECK_INT(zr_buf_check(&b), 0);
}

static void nothing_is_given_back_twice(void)
{
	struct zr_buf b = {0};

	zr_buf_done(NULL);
	zr_buf_done(&b);
	zr_buf_adds(&b, "x");
	zr_buf_done(&b);
	zr_buf_done(&b);
}

int main(void)
{
	RUN(pieces_are_appended_in_order);
	RUN(growth_keeps_the_bytes);
	RUN(an_empty_buffer_is_made_as_large_as_asked_for);
	RUN(a_failure_sticks);
	RUN(nothing_is_given_back_twice);
	return EXIT_SUCCESS;
}
