/* SPDX-License-Identifier: MIT */
#include "copies.h"

#include <errno.h>

#include "bounds.h"
#include "json.h"
#include "store.h"

static const char *const names[ZR_NCOPY_DOCS] = {
	[ZR_COPY_ZARR_JSON] = "zarr.json",
	[ZR_COPY_ZARRAY] = ".zarray",
	[ZR_COPY_ZGROUP] = ".zgroup",
	[ZR_COPY_ZATTRS] = ".zattrs",
};

const char *zr_copy_name(enum zr_copy_doc doc)
{
	return names[doc];
}

void zr_copies_done(struct zr_copies *c)
{
	if (!c)
		return;
	zr_buf_done(&c->text);
	free(c->copies);
	*c = (struct zr_copies){0};
}

/* --- reading ------------------------------------------------------------------------ */

static bool slice_is(struct zr_json_slice s, const char *text)
{
	return s.data && s.len == strlen(text) && memcmp(s.data, text, s.len) == 0;
}

static bool slice_is_object(struct zr_json_slice s)
{
	return s.len > 0 && s.data[0] == '{';
}

/* v2: the document is named by what is behind the last slash. */
static bool split_name(struct zr_json_slice *key, enum zr_copy_doc *ret)
{
	const char *slash = memrchr(key->data, '/', key->len);
	size_t dir = slash ? (size_t)(slash - key->data) : 0,
	       base = dir + (slash != NULL);

	for (unsigned int d = ZR_COPY_ZARRAY; d < ZR_NCOPY_DOCS && slash != key->data;
	     d++) {
		if (strlen(names[d]) == key->len - base &&
		    memcmp(key->data + base, names[d], key->len - base) == 0) {
			key->len = dir;
			*ret = d;
			return true;
		}
	}
	return false;
}

/* A member of `metadata`. What cannot be a node of a store is passed over. */
static void add_copy(struct zr_copies *c, struct zr_json_slice key,
                     struct zr_json_slice value, bool v2)
{
	enum zr_copy_doc doc = ZR_COPY_ZARR_JSON;

	/* Where it was written there is room for what it means. */
	key.len = zr_json_unescape(key, (char *)key.data);
	if ((v2 && !split_name(&key, &doc)) || !zr_store_is_key(key.data, key.len) ||
	    value.len > UINT32_MAX)
		return;
	if (key.len > ZR_COPY_MAX_PATH) {
		c->too_long++;
		return;
	}
	c->copies[c->count++] = (struct zr_copy){.path = key.data,
	                                         .path_len = (uint32_t)key.len,
	                                         .data = value.data,
	                                         .len = (uint32_t)value.len,
	                                         .doc = (uint8_t)doc};
}

static int compare_paths(const struct zr_copy *a, const char *path, size_t len)
{
	int c = memcmp(a->path, path, ZR_MIN(a->path_len, len));

	return c ? c : (a->path_len > len) - (a->path_len < len);
}

static int compare_copies(const void *a, const void *b)
{
	const struct zr_copy *x = a, *y = b;
	int c = compare_paths(x, y->path, y->path_len);

	if (c == 0)
		c = x->doc - y->doc;
	return c ? c : (x->data > y->data) - (x->data < y->data);
}

/* Of copies of one document the last stands, as of all members of one name. */
static void sort_copies(struct zr_copies *c)
{
	size_t n = 0;

	if (c->count > 0)
		qsort(c->copies, c->count, sizeof(*c->copies), compare_copies);
	for (size_t i = 0; i < c->count; i++) {
		const struct zr_copy *a = &c->copies[i], *next = a + 1;

		if (i + 1 < c->count && next->doc == a->doc &&
		    compare_paths(a, next->path, next->path_len) == 0)
			continue;
		memmove(&c->copies[n++], a, sizeof(*a));
	}
	c->count = n;
}

static int read_metadata(struct zr_copies *c, struct zr_json_slice metadata, bool v2,
                         struct zr_err *reterr)
{
	struct zr_json_walk w = zr_json_walk(metadata.data, metadata.len);
	struct zr_json_slice key, value;
	size_t cap = 0;

	if (!slice_is_object(metadata))
		return zr_err_set(reterr, -EINVAL, "its metadata is no object");
	while (zr_json_next(&w, &key, &value)) {
		if (c->count == ZR_MAX_COPIES)
			return zr_err_set(
				reterr, -EFBIG,
				"it has more than the %zu documents that are read",
				ZR_MAX_COPIES);
		if (c->count == cap) {
			struct zr_copy *more;

			cap = cap ? 2 * cap : 64;
			more = reallocarray(c->copies, cap, sizeof(*more));
			if (!more)
				return -ENOMEM;
			c->copies = more;
		}
		add_copy(c, key, value, v2);
	}
	sort_copies(c);
	return 0;
}

static int read_inline(struct zr_copies *c, struct zr_err *reterr)
{
	static const char *const keys[] = {"kind", "must_understand", "metadata", NULL};
	struct zr_json_slice member[3], whole;

	whole = zr_json_member((char *)c->text.data, c->text.len,
	                       "consolidated_metadata");
	if (!whole.data || slice_is(whole, "null"))
		return 0;
	if (!slice_is_object(whole))
		return zr_err_set(reterr, -EINVAL, "it is no object");
	zr_json_members(whole.data, whole.len, keys, member);
	if (!slice_is(member[0], "\"inline\""))
		return zr_err_set(reterr, -EINVAL, "its kind is not 'inline'");
	if (!slice_is(member[1], "false"))
		return zr_err_set(reterr, -EINVAL, "its must_understand is not false");
	return read_metadata(c, member[2], false, reterr);
}

static int read_zmetadata(struct zr_copies *c, struct zr_err *reterr)
{
	static const char *const keys[] = {"zarr_consolidated_format", "metadata", NULL};
	struct zr_json_slice member[2];

	zr_json_members((char *)c->text.data, c->text.len, keys, member);
	/* Without it, it may be that of a kerchunk reference file set, whose chunks are
	 * elsewhere: to show those as never written would be wrong. */
	if (!slice_is(member[0], "1"))
		return zr_err_set(reterr, -EINVAL,
		                  "its zarr_consolidated_format is not 1");
	return read_metadata(c, member[1], true, reterr);
}

static int read_copies(struct zr_buf *own_text, bool v2, struct zr_copies *ret,
                       struct zr_err *reterr)
{
	ZR_CLEANUP(zr_copies_done) struct zr_copies c = {.text = *own_text};
	int r;

	*own_text = (struct zr_buf){0};
	r = zr_json_check((char *)c.text.data, c.text.len, reterr);
	if (r == 0)
		r = v2 ? read_zmetadata(&c, reterr) : read_inline(&c, reterr);
	ret->too_long = c.too_long;
	if (r < 0 || c.count == 0)
		return r;
	*ret = c;
	c = (struct zr_copies){0};
	return 0;
}

int zr_copies_read_v3(struct zr_buf *own_text, struct zr_copies *ret,
                      struct zr_err *reterr)
{
	return read_copies(own_text, false, ret, reterr);
}

int zr_copies_read_v2(struct zr_buf *own_text, struct zr_copies *ret,
                      struct zr_err *reterr)
{
	return read_copies(own_text, true, ret, reterr);
}

/* --- finding ------------------------------------------------------------------------ */

/* The first copy whose path is not less than `path` with the byte `next` behind it; -1:
 * with nothing behind it. */
static size_t lower(const struct zr_copies *c, const char *path, size_t len, int next)
{
	size_t lo = 0, hi = c->count;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct zr_copy *m = &c->copies[mid];
		int order = memcmp(m->path, path, ZR_MIN(m->path_len, len));

		if (order == 0)
			order = (m->path_len > len   ? (unsigned char)m->path[len]
			         : m->path_len < len ? -2
			                             : -1) -
			        next;
		if (order < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct zr_copy *zr_copies_find(const struct zr_copies *c, const char *path, size_t len,
                               enum zr_copy_doc doc)
{
	for (size_t i = lower(c, path, len, -1);
	     i < c->count && compare_paths(&c->copies[i], path, len) == 0; i++)
		if (c->copies[i].doc == doc)
			return &c->copies[i];
	return NULL;
}

bool zr_copies_has(const struct zr_copies *c, const char *path, size_t len)
{
	size_t i = lower(c, path, len, -1);

	/* What makes no node is the last of its path. */
	return i < c->count && compare_paths(&c->copies[i], path, len) == 0 &&
	       c->copies[i].doc != ZR_COPY_ZATTRS;
}

void zr_copies_below(const struct zr_copies *c, const char *path, size_t len,
                     size_t *ret_lo, size_t *ret_hi)
{
	/* Below the group itself is all that has a path. */
	*ret_lo = len > 0 ? lower(c, path, len, '/') : lower(c, path, 0, 0);
	*ret_hi = len > 0 ? lower(c, path, len, '/' + 1) : c->count;
}
