/* SPDX-License-Identifier: MIT */
#include "items.h"

#include <errno.h>

static int items_split(const struct zr_buf *bytes, uint64_t n, struct zr_item *items,
                       struct zr_err *reterr)
{
	size_t at = 4;

	for (uint64_t i = 0; i < n; i++) {
		uint32_t len;

		if (bytes->len - at < 4)
			return zr_err_set(reterr, -EUCLEAN, "item %llu is cut off",
			                  (unsigned long long)i);
		len = zr_load_u32(bytes->data + at, false);
		at += 4;
		if (bytes->len - at < len)
			return zr_err_set(reterr, -EUCLEAN, "item %llu is cut off",
			                  (unsigned long long)i);
		items[i] = (struct zr_item){.data = bytes->data + at, .len = len};
		at += len;
	}
	if (at != bytes->len)
		return zr_err_set(reterr, -EUCLEAN, "%zu bytes after the last item",
		                  bytes->len - at);
	return 0;
}

int zr_items_decode(enum zr_kind kind, struct zr_buf *own_bytes, uint64_t n,
                    struct zr_buf *ret_items, struct zr_buf *ret_text,
                    struct zr_err *reterr)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf text = *own_bytes, items = {0};
	int r;

	*own_bytes = (struct zr_buf){0};
	if (kind == ZR_JSON)
		return zr_items_decode_json2(&text, n, ret_items, ret_text, reterr);
	if (text.len < 4)
		return zr_err_set(reterr, -EUCLEAN, "no count of items");
	if (zr_load_u32(text.data, false) != n)
		return zr_err_set(reterr, -EUCLEAN, "%u items instead of %llu",
		                  zr_load_u32(text.data, false), (unsigned long long)n);
	if (n > SIZE_MAX / sizeof(struct zr_item) ||
	    zr_buf_reserve(&items, (size_t)n * sizeof(struct zr_item)) < 0)
		return -ENOMEM;
	r = items_split(&text, n, (struct zr_item *)items.data, reterr);
	if (r < 0)
		return r;
	items.len = (size_t)n * sizeof(struct zr_item);
	*ret_items = items;
	*ret_text = text;
	items = text = (struct zr_buf){0};
	return 0;
}

int zr_items_check_lists(const struct zr_buf *items, uint64_t size, struct zr_err *reterr)
{
	const struct zr_item *item = (const struct zr_item *)items->data;

	for (size_t i = 0; i < items->len / sizeof(*item); i++)
		if (item[i].len % size != 0)
			return zr_err_set(
				reterr, -EUCLEAN,
				"item %zu has %llu bytes, its elements %llu each", i,
				(unsigned long long)item[i].len,
				(unsigned long long)size);
	return 0;
}
