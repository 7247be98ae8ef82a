/* SPDX-License-Identifier: MIT */
/*
 * The input is a byte that picks the version, and a consolidated document.
 */
#include "fuzz.h"

#include "check.h"
#include "copies.h"

#define MAX_CHECKED 64 /* against all others */

static bool is_name(const char *s, size_t len)
{
	return len > 0 && !(len == 1 && s[0] == '.') &&
	       !(len == 2 && s[0] == '.' && s[1] == '.') && !memchr(s, '\0', len);
}

/* Names with '/' between; or nothing. */
static void check_path(const char *path, size_t len)
{
	while (len > 0) {
		const char *slash = memchr(path, '/', len);
		size_t n = slash ? (size_t)(slash - path) : len;

		CHECK(is_name(path, n));
		CHECK(!slash || n + 1 < len);
		n += slash != NULL;
		path += n;
		len -= n;
	}
}

static int compare(const struct zr_copy *a, const struct zr_copy *b)
{
	int r = memcmp(a->path, b->path, ZR_MIN(a->path_len, b->path_len));

	if (r == 0 && a->path_len != b->path_len)
		r = a->path_len < b->path_len ? -1 : 1;
	return r != 0 ? r : (int)a->doc - (int)b->doc;
}

/* Whether `c` is of a node below that of `above`. */
static bool is_below(const struct zr_copy *c, const struct zr_copy *above)
{
	if (above->path_len == 0)
		return c->path_len > 0;
	return c->path_len > above->path_len && c->path[above->path_len] == '/' &&
	       memcmp(c->path, above->path, above->path_len) == 0;
}

static void check_found(const struct zr_copies *c, struct zr_copy *copy)
{
	bool is_node = false;
	size_t lo, hi;

	CHECK(zr_copies_find(c, copy->path, copy->path_len, copy->doc) == copy);
	for (enum zr_copy_doc d = 0; d < ZR_NCOPY_DOCS; d++)
		is_node |= d != ZR_COPY_ZATTRS &&
		           zr_copies_find(c, copy->path, copy->path_len, d);
	CHECK(zr_copies_has(c, copy->path, copy->path_len) == is_node);
	zr_copies_below(c, copy->path, copy->path_len, &lo, &hi);
	CHECK(lo <= hi && hi <= c->count);
	for (size_t i = 0; i < c->count; i++)
		CHECK(is_below(&c->copies[i], copy) == (i >= lo && i < hi));
}

/* Its document lies in the text; so does its path, unless it was spelt with escapes. */
static void check_copy(const struct zr_copies *c, const struct zr_copy *copy)
{
	const char *text = (const char *)c->text.data;

	CHECK(copy->doc < ZR_NCOPY_DOCS);
	check_path(copy->path, copy->path_len);
	CHECK(copy->len > 0);
	CHECK(copy->data >= text && copy->data + copy->len <= text + c->text.len);
	CHECK(copy == c->copies || compare(copy - 1, copy) < 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	bool v2 = take_byte(&in) & 1;
	struct zr_buf text = {0};
	struct zr_copies c = {0};
	struct zr_err err = {0};
	int r;

	text.data = take_block(&in, in.left, &text.len);
	text.cap = text.len + (text.len == 0);
	r = v2 ? zr_copies_read_v2(&text, &c, &err) : zr_copies_read_v3(&text, &c, &err);
	CHECK(!text.data);
	if (r < 0) {
		check_err(&err, r);
		CHECK(c.count == 0 && !c.copies && !c.text.data);
		return 0;
	}
	for (size_t i = 0; i < c.count; i++)
		check_copy(&c, &c.copies[i]);
	for (size_t i = 0; i < ZR_MIN(c.count, (size_t)MAX_CHECKED); i++)
		check_found(&c, &c.copies[i]);
	zr_copies_done(&c);
	return 0;
}
