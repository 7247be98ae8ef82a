/* SPDX-License-Identifier: MIT */
#include "test.h"
#include "same.h"

#define RECORDS 9

/* Every byte that is changed in one of the records, and no other, differs; of records
 * that have not one byte more than is looked at. */
static void one_byte_of_one_record_differs(void)
{
	for (uint64_t bytes = 32; bytes < 140; bytes += 13) {
		for (uint64_t at = 0; at < bytes; at++) {
			uint64_t stride = bytes + at % 3, k = 1 + at % (RECORDS - 1);
			uint64_t all = (RECORDS - 1) * stride + bytes;
			uint8_t *rec = malloc(all);
			struct zr_same s;

			CHECK(rec);
			for (uint64_t i = 0; i < all; i++)
				rec[i] = (uint8_t)(i % stride < bytes ? i % stride * 7
				                                      : i);
			rec[k * stride + at] ^= (uint8_t)(1u << at % 8);
			zr_same_find(&s, rec, bytes, stride, RECORDS);
			for (uint64_t i = 0; i < bytes; i++)
				CHECK(zr_same_has(&s, i, 1) == (i != at));
			CHECK(zr_same_has(&s, 0, at));
			CHECK(!zr_same_has(&s, 0, bytes));
			CHECK(zr_same_has(&s, at + 1, bytes - at - 1));
			free(rec);
		}
	}
}

static void what_was_not_looked_at_may_differ(void)
{
	uint8_t *rec = calloc(2, ZR_SAME_MAX + 8);
	struct zr_same s;

	CHECK(rec);
	zr_same_find(&s, rec, ZR_SAME_MAX + 8, ZR_SAME_MAX + 8, 2);
	CHECK(zr_same_has(&s, 0, ZR_SAME_MAX));
	CHECK(zr_same_has(&s, ZR_SAME_MAX, 0));
	CHECK(!zr_same_has(&s, ZR_SAME_MAX - 1, 2));
	CHECK(!zr_same_has(&s, ZR_SAME_MAX + 1, 1));
	CHECK(!zr_same_has(&s, 8, UINT64_MAX));
	zr_same_find(&s, rec, 31, 31, 2);
	CHECK(!zr_same_has(&s, 0, 1));
	zr_same_find(&s, rec, 64, 64, 1);
	CHECK(!zr_same_has(&s, 0, 1));
	free(rec);
}

static void a_record_is_the_same_as_itself(void)
{
	const uint8_t rec[5] = {1, 2, 3, 4, 5};
	struct zr_same s;

	zr_same_find(&s, rec, sizeof(rec), 0, 1000000);
	CHECK(zr_same_has(&s, 0, 5));
	CHECK(!zr_same_has(&s, 0, 6));
}

int main(void)
{
	RUN(one_byte_of_one_record_differs);
	RUN(what_was_not_looked_at_may_differ);
	RUN(a_record_is_the_same_as_itself);
	return EXIT_SUCCESS;
}
