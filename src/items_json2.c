/* SPDX-License-Identifier: MIT */
/*
 * A json2 chunk is one JSON list: the items, nested as the chunk's shape or flat, then a
 * type string, then the shape (numcodecs.JSON). The text is checked as a whole and the
 * items found in it; then each is parsed by itself, so that what a parser needs in memory
 * is that of one item.
 */
#include "items.h"

#include <errno.h>

#include "bounds.h"
#include "json.h"

struct chunk {
	struct zr_item *items; /* at first: their JSON text */
	uint64_t n;
	uint64_t found;
	uint64_t shape[ZR_MAX_DIMS];
	uint32_t ndim;
	struct zr_err *reterr;
};

static int damaged(const struct chunk *c, const char *what)
{
	return zr_err_set(c->reterr, -EUCLEAN, "json2: %s", what);
}

static bool add_item(struct chunk *c, struct zr_json_slice text)
{
	if (c->found == c->n)
		return false;
	c->items[c->found++] =
		(struct zr_item){.data = (const uint8_t *)text.data, .len = text.len};
	return true;
}

/* ---- finding the items ---- */

static bool read_size(struct zr_json_slice s, uint64_t *ret)
{
	uint64_t v = 0;

	for (size_t i = 0; i < s.len; i++) {
		if (s.data[i] < '0' || s.data[i] > '9' || !zr_mul(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(s.data[i] - '0'), &v))
			return false;
	}
	*ret = v;
	return s.len > 0;
}

/* Without axes there is one item, as along an axis of length 1. */
static int read_shape(struct chunk *c, struct zr_json_slice s)
{
	struct zr_json_walk w = zr_json_walk(s.data, s.len);
	struct zr_json_slice v;
	uint64_t product = 1;

	if (s.data[0] != '[')
		return damaged(c, "the shape at its end is no list");
	while (zr_json_next(&w, NULL, &v)) {
		if (c->ndim == ZR_MAX_DIMS || !read_size(v, &c->shape[c->ndim]) ||
		    !zr_mul(product, c->shape[c->ndim], &product))
			return damaged(c, "the shape at its end is wrong");
		c->ndim++;
	}
	if (c->ndim == 0)
		c->shape[c->ndim++] = 1;
	if (product != c->n)
		return zr_err_set(c->reterr, -EUCLEAN,
		                  "json2: %llu items instead of %llu",
		                  (unsigned long long)product, (unsigned long long)c->n);
	return 0;
}

/* The elements of a list of `shape`, which may be followed by `more` others. */
static bool collect(struct chunk *c, struct zr_json_slice list, const uint64_t *shape,
                    uint32_t ndim, uint64_t more)
{
	struct zr_json_walk w = zr_json_walk(list.data, list.len);
	struct zr_json_slice v;
	uint64_t n = 0;

	if (list.data[0] != '[')
		return false;
	while (zr_json_next(&w, NULL, &v)) {
		if (n < shape[0] &&
		    !(ndim > 1 ? collect(c, v, shape + 1, ndim - 1, 0) : add_item(c, v)))
			return false;
		n++;
	}
	return n == shape[0] + more;
}

static int find_items(struct chunk *c, const struct zr_buf *text)
{
	struct zr_json_slice list = {(const char *)text->data, text->len};
	struct zr_json_slice v, last = {0}, before = {0};
	struct zr_json_walk w = zr_json_walk(list.data, list.len);
	int r;

	if (w.object)
		return damaged(c, "it is no list");
	while (zr_json_next(&w, NULL, &v)) {
		before = last;
		last = v;
	}
	if (!before.data)
		return damaged(c, "it is no list of items, type and shape");
	r = read_shape(c, last);
	if (r < 0)
		return r;
	/* What is before the list is white space, or a byte order mark. */
	while (*list.data != '[') {
		list.data++;
		list.len--;
	}
	if (collect(c, list, c->shape, c->ndim, 2))
		return 0;
	c->found = 0;
	if (collect(c, list, &c->n, 1, 2))
		return 0;
	return damaged(c, "the items do not fit the shape");
}

/* ---- their bytes ---- */

static int put_text(struct zr_buf *ret, struct zr_buf *scratch,
                    struct zr_json_slice inside)
{
	zr_buf_addc(ret, 's');
	if (!memchr(inside.data, '\\', inside.len)) {
		zr_buf_add(ret, inside.data, inside.len);
		return 0;
	}
	scratch->len = 0;
	if (zr_buf_reserve(scratch, inside.len) < 0)
		return -ENOMEM;
	zr_json_add_scalars(ret, scratch->data,
	                    zr_json_unescape(inside, (char *)scratch->data));
	return 0;
}

static int put_value(struct zr_buf *ret, struct zr_json_slice text, struct zr_err *reterr)
{
	json_t *v = NULL;
	int r = zr_json_parse(text.data, text.len, NULL, &v, reterr);

	if (r < 0)
		return r;
	zr_buf_addc(ret, 'j');
	r = zr_json_compact(v, ret);
	json_decref(v);
	return r;
}

/* From the items' JSON to what they are kept as: places in *text, as offsets. */
static int put_items(const struct chunk *c, struct zr_buf *text)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf scratch = {0};

	for (uint64_t i = 0; i < c->n; i++) {
		struct zr_json_slice s = {(const char *)c->items[i].data,
		                          (size_t)c->items[i].len};
		struct zr_err err = {0};
		size_t from = text->len;
		int r;

		if (s.data[0] == '"')
			r = put_text(text, &scratch,
			             (struct zr_json_slice){s.data + 1, s.len - 2});
		else
			r = put_value(text, s, &err);
		if (r == -EINVAL)
			return zr_err_set(c->reterr, -EUCLEAN, "json2: item %llu: %s",
			                  (unsigned long long)i, err.text);
		if (r < 0 || zr_buf_check(text) < 0)
			return -ENOMEM;
		if (text->len > ZR_MAX_CHUNK)
			return zr_err_set(c->reterr, -EFBIG,
			                  "json2: its items take more than %llu MiB",
			                  (unsigned long long)(ZR_MAX_CHUNK >> 20));
		c->items[i] = (struct zr_item){.len = text->len - from};
	}
	return 0;
}

int zr_items_decode_json2(struct zr_buf *own_bytes, uint64_t n, struct zr_buf *ret_items,
                          struct zr_buf *ret_text, struct zr_err *reterr)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf json = *own_bytes, items = {0}, text = {0};
	struct chunk c = {.n = n, .reterr = reterr};
	struct zr_err err = {0};
	size_t at = 0;
	int r;

	*own_bytes = (struct zr_buf){0};
	r = zr_json_check((char *)json.data, json.len, &err);
	if (r == -EINVAL)
		return zr_err_set(reterr, -EUCLEAN, "json2: not valid JSON: %s",
		                  err.text);
	if (r == 0 && (n > SIZE_MAX / sizeof(struct zr_item) ||
	               zr_buf_reserve(&items, (size_t)n * sizeof(struct zr_item)) < 0))
		r = -ENOMEM;
	c.items = (struct zr_item *)items.data;
	if (r == 0)
		r = find_items(&c, &json);
	if (r == 0)
		r = put_items(&c, &text);
	if (r < 0)
		return r;
	for (uint64_t i = 0; i < n; at += c.items[i++].len)
		c.items[i].data = text.data + at;
	items.len = (size_t)n * sizeof(struct zr_item);
	*ret_items = items;
	*ret_text = text;
	items = text = (struct zr_buf){0};
	return 0;
}
