/* SPDX-License-Identifier: MIT */
/*
 * The input is the kind of the items, how many there should be, and a decoded chunk.
 */
#include "check.h"
#include "fuzz.h"
#include "items.h"

/* The lengths and bytes are those that stand in the chunk, which is used up. */
static void check_items(const struct zr_item *items, size_t n, const uint8_t *chunk,
                        size_t len)
{
	size_t at = 4;

	for (size_t i = 0; i < n; i++) {
		CHECK(len - at >= 4);
		CHECK(items[i].len == zr_load_u32(chunk + at, false));
		at += 4;
		CHECK(len - at >= items[i].len);
		if (items[i].len > 0)
			CHECK(memcmp(items[i].data, chunk + at, items[i].len) == 0);
		at += (size_t)items[i].len;
	}
	CHECK_INT(at, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum zr_kind kinds[] = {ZR_STRING, ZR_VBYTES, ZR_JSON};
	struct input in = {data, size};
	enum zr_kind kind = kinds[take_below(&in, ZR_COUNT(kinds))];
	uint64_t n = take_uint(&in, 2);
	const uint8_t *chunk = in.p;
	struct zr_buf bytes = {0}, items = {0}, text = {0};
	struct zr_err err = {0};
	int r;

	bytes.data = take_block(&in, in.left, &bytes.len);
	bytes.cap = bytes.len;
	size = bytes.len;
	r = zr_items_decode(kind, &bytes, n, &items, &text, &err);
	CHECK(!bytes.data);
	if (r < 0) {
		check_err(&err, r);
		CHECK(!items.data && !text.data);
		return 0;
	}
	CHECK_INT(items.len, n * sizeof(struct zr_item));
	if (kind != ZR_JSON)
		check_items((struct zr_item *)items.data, (size_t)n, chunk, size);
	zr_buf_done(&items);
	zr_buf_done(&text);
	return 0;
}
