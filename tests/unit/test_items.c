/* SPDX-License-Identifier: MIT */
#include "items.h"

#include <errno.h>

#include "test.h"

static int decode(const void *bytes, size_t len, uint64_t n, struct zr_buf *items,
                  struct zr_buf *text)
{
	struct zr_buf in = {0};

	zr_buf_add(&in, bytes, len);
	return zr_items_decode(ZR_STRING, &in, n, items, text, NULL);
}

/* numcodecs: vlen-utf8 of ["a", "", "é"]. */
static void items_point_to_their_bytes(void)
{
	static const char bytes[] = "\3\0\0\0\1\0\0\0a\0\0\0\0\2\0\0\0\303\251";
	ZR_CLEANUP(zr_buf_done) struct zr_buf items = {0}, text = {0};
	const struct zr_item *item;

	CHECK_INT(decode(bytes, sizeof(bytes) - 1, 3, &items, &text), 0);
	item = (const struct zr_item *)items.data;
	CHECK_INT(items.len, 3 * sizeof(*item));
	CHECK_MEM(item[0].data, item[0].len, "a", 1);
	CHECK_INT(item[1].len, 0);
	CHECK_MEM(item[2].data, item[2].len, "\303\251", 2);
}

static void whatever_is_cut_off_or_too_long_is_damage(void)
{
	static const char bytes[] = "\3\0\0\0\1\0\0\0a\0\0\0\0\2\0\0\0\303\251";
	static const char endless[] = "\1\0\0\0\377\377\377\377a";
	struct zr_buf items = {0}, text = {0};

	for (size_t len = 0; len < sizeof(bytes) - 1; len++)
		CHECK_INT(decode(bytes, len, 3, &items, &text), -EUCLEAN);
	CHECK_INT(decode(bytes, sizeof(bytes), 3, &items, &text), -EUCLEAN);
	CHECK_INT(decode(bytes, sizeof(bytes) - 1, 2, &items, &text), -EUCLEAN);
	CHECK_INT(decode(bytes, sizeof(bytes) - 1, 4, &items, &text), -EUCLEAN);
	CHECK_INT(decode(endless, sizeof(endless) - 1, 1, &items, &text), -EUCLEAN);
	CHECK(items.data == NULL && text.data == NULL);
}

static void no_items_are_fine(void)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf items = {0}, text = {0};

	CHECK_INT(decode("\0\0\0\0", 4, 0, &items, &text), 0);
	CHECK_INT(items.len, 0);
}

static void lists_hold_whole_elements(void)
{
	/* numcodecs: vlen-array of <i2, [[1, 2], [], [-1]]. */
	static const char bytes[] = "\3\0\0\0\4\0\0\0\1\0\2\0\0\0\0\0\2\0\0\0\377\377";
	ZR_CLEANUP(zr_buf_done) struct zr_buf items = {0}, text = {0};
	struct zr_err err = {0};

	CHECK_INT(decode(bytes, sizeof(bytes) - 1, 3, &items, &text), 0);
	CHECK_INT(zr_items_check_lists(&items, 2, &err), 0);
	CHECK_INT(zr_items_check_lists(&items, 4, &err), -EUCLEAN);
	CHECK_STR(err.text, "item 2 has 2 bytes, its elements 4 each");
}

int main(void)
{
	RUN(items_point_to_their_bytes);
	RUN(whatever_is_cut_off_or_too_long_is_damage);
	RUN(no_items_are_fine);
	RUN(lists_hold_whole_elements);
	return EXIT_SUCCESS;
}
