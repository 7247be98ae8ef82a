/* SPDX-License-Identifier: MIT */
/*
 * The central directory is read once, into a sorted table of members, in which keys are
 * looked up and directories are ranges. Whole members are inflated and summed up by
 * libdeflate, outside of any lock.
 *
 * A range of a stored member costs its own length, and is not summed up, see
 * zr_store_verify(). A range of a deflated one costs the inflating of all that lies
 * before it, each time: shards in a deflated archive are slow.
 */
#include "store.h"

#include <errno.h>
#include <inttypes.h>
#include <libdeflate.h>

#include "archive.h"

#define ZIP_MAX_NAME 4096 /* bytes */
#define ZIP_PIECE ((size_t)1 << 20)
#define ZIP_INFLATE_RATIO 1032 /* the best that deflate can do */

struct zip_store {
	struct zr_store base;
	struct zr_archive *archive; /* owned */
	struct zr_member *members;  /* sorted by name, each once */
	size_t count;
};

static int zip_damaged(struct zr_err *reterr, const char *key, const char *what)
{
	return zr_err_set(reterr, -EUCLEAN, "'%s' is damaged: %s", key, what);
}

/* ---- keys ---- */

/* The first member whose name is not less than the key, of len bytes, with `next` behind
 * it: '\0' for the key itself, '/' for what lies beneath it, '/' + 1 for what follows. */
static size_t zip_lower(const struct zip_store *z, const char *key, size_t len, int next)
{
	size_t lo = 0, hi = z->count;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const char *name = z->members[mid].name;
		int c = strncmp(name, key, len);

		if (c == 0)
			c = (unsigned char)name[len] - next;
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The members beneath a directory. There is one if there are any: "" always is. */
static bool zip_range(const struct zip_store *z, const char *key, size_t *ret_lo,
                      size_t *ret_hi)
{
	size_t len = strlen(key);

	*ret_lo = len ? zip_lower(z, key, len, '/') : 0;
	*ret_hi = len ? zip_lower(z, key, len, '/' + 1) : z->count;
	return len == 0 || *ret_lo < *ret_hi;
}

static const struct zr_member *zip_object(const struct zip_store *z, const char *key)
{
	size_t i = zip_lower(z, key, strlen(key), '\0');

	return i < z->count && strcmp(z->members[i].name, key) == 0 ? &z->members[i]
	                                                            : NULL;
}

static int zip_find(const struct zip_store *z, const char *key,
                    const struct zr_member **ret, struct zr_err *reterr)
{
	size_t lo, hi;

	*ret = zip_object(z, key);
	if (*ret)
		return 0;
	if (zip_range(z, key, &lo, &hi))
		return zr_store_failed(reterr, key, -EISDIR);
	return -ENOENT;
}

/* Likewise, one that can be read. What the directory says of its sizes is checked as far
 * as can be: nothing is allocated that could not be filled. */
static int zip_find_readable(const struct zip_store *z, const char *key,
                             const struct zr_member **ret, struct zr_err *reterr)
{
	const struct zr_member *m;
	int r = zip_find(z, key, &m, reterr);

	if (r < 0)
		return r;
	if (m->encrypted)
		return zr_err_set(reterr, -EOPNOTSUPP, "'%s' is encrypted", key);
	if (m->method != ZR_MEMBER_STORED && m->method != ZR_MEMBER_DEFLATED)
		return zr_err_set(reterr, -EOPNOTSUPP,
		                  "'%s' is compressed by method %u of zip, only deflate "
		                  "is supported",
		                  key, m->method);
	if (m->stored > (uint64_t)zr_archive_stat(z->archive)->st_size)
		return zip_damaged(reterr, key, "it is larger than the archive");
	if (m->method == ZR_MEMBER_STORED
	            ? m->size != m->stored
	            : m->size / ZIP_INFLATE_RATIO > m->stored ||
	                      m->stored > m->size + m->size / 4 + 4096)
		return zip_damaged(reterr, key, "its two sizes do not fit");
	*ret = m;
	return 0;
}

/* ---- the operations ---- */

static int zip_check_crc(const struct zr_member *m, const char *key, const void *data,
                         struct zr_err *reterr)
{
	if (libdeflate_crc32(0, data, (size_t)m->size) != m->crc)
		return zip_damaged(reterr, key, "its CRC-32 is wrong");
	return 0;
}

static int zip_inflate(const struct zr_member *m, const char *key,
                       const struct zr_buf *in, uint8_t *out, struct zr_err *reterr)
{
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	enum libdeflate_result result;
	size_t used;

	if (!d)
		return zr_store_failed(reterr, key, -ENOMEM);
	/* Without a place for the size, anything but exactly m->size is an error. */
	result = libdeflate_deflate_decompress_ex(d, in->data, (size_t)m->stored, out,
	                                          (size_t)m->size, &used, NULL);
	libdeflate_free_decompressor(d);
	if (result != LIBDEFLATE_SUCCESS || used != m->stored)
		return zip_damaged(reterr, key, "it does not inflate to its size");
	return 0;
}

static int zip_get(struct zr_store *s, const char *key, uint64_t max, struct zr_buf *ret,
                   struct zr_err *reterr)
{
	struct zip_store *z = (struct zip_store *)s;
	ZR_CLEANUP(zr_buf_done) struct zr_buf in = {0};
	ZR_CLEANUP(zr_buf_done) struct zr_buf out = {0};
	const struct zr_member *m;
	bool deflated;
	int r;

	r = zip_find_readable(z, key, &m, reterr);
	if (r < 0)
		return r;
	if (m->size > max || m->size > SIZE_MAX / 2)
		return zr_store_too_large(reterr, key, m->size, max);
	deflated = m->method == ZR_MEMBER_DEFLATED;
	if (zr_buf_reserve(&out, (size_t)m->size + 1) < 0 ||
	    (deflated && zr_buf_reserve(&in, (size_t)m->stored + 1) < 0))
		return zr_store_failed(reterr, key, -ENOMEM);

	r = zr_archive_read(z->archive, m, key, false, 0, (size_t)m->stored,
	                    deflated ? in.data : out.data, reterr);
	if (r == 0 && deflated)
		r = zip_inflate(m, key, &in, out.data, reterr);
	if (r == 0)
		r = zip_check_crc(m, key, out.data, reterr);
	if (r < 0)
		return r;
	out.len = (size_t)m->size;
	*ret = out;
	out = (struct zr_buf){0};
	return 0;
}

static int zip_get_range(struct zr_store *s, const char *key, uint64_t offset, size_t len,
                         void *out, struct zr_err *reterr)
{
	struct zip_store *z = (struct zip_store *)s;
	const struct zr_member *m;
	bool deflated;
	int r;

	r = zip_find_readable(z, key, &m, reterr);
	if (r < 0)
		return r;
	if (len > m->size || offset > m->size - len)
		return zr_store_too_short(reterr, key, m->size, offset, len);
	deflated = m->method == ZR_MEMBER_DEFLATED;
	r = zr_archive_read(z->archive, m, key, deflated, offset, len, out, reterr);
	if (r == 0 && !deflated && len == m->size)
		r = zip_check_crc(m, key, out, reterr);
	return r;
}

/* CRC-32 of a stored member, piece by piece. */
static int zip_sum_up(const struct zip_store *z, const struct zr_member *m,
                      const char *key, uint32_t *ret, struct zr_err *reterr)
{
	ZR_CLEANUP(zr_freep) uint8_t *piece = malloc(ZIP_PIECE);
	uint32_t crc = 0;

	if (!piece)
		return zr_store_failed(reterr, key, -ENOMEM);
	for (uint64_t at = 0; at < m->size;) {
		size_t n = (size_t)ZR_MIN(m->size - at, ZIP_PIECE);
		int r = zr_archive_read(z->archive, m, key, false, at, n, piece, reterr);

		if (r < 0)
			return r;
		crc = libdeflate_crc32(crc, piece, n);
		at += n;
	}
	*ret = crc;
	return 0;
}

static int zip_verify(struct zr_store *s, const char *key, struct zr_err *reterr)
{
	const struct zip_store *z = (const struct zip_store *)s;
	const struct zr_member *m;
	uint32_t crc = 0;
	uint8_t last;
	int r;

	r = zip_find_readable(z, key, &m, reterr);
	if (r < 0)
		return r;
	/* The archive compares it where an inflated member ends. */
	if (m->method == ZR_MEMBER_DEFLATED && m->size > 0)
		return zr_archive_read(z->archive, m, key, true, m->size - 1, 1, &last,
		                       reterr);
	r = zip_sum_up(z, m, key, &crc, reterr);
	if (r == 0 && crc != m->crc)
		r = zip_damaged(reterr, key, "its CRC-32 is wrong");
	return r;
}

static int zip_stat(struct zr_store *s, const char *key, struct zr_stat *ret,
                    struct zr_err *reterr)
{
	const struct zip_store *z = (const struct zip_store *)s;
	const struct zr_member *m;
	int r = zip_find(z, key, &m, reterr);

	if (r < 0)
		return r;
	*ret = (struct zr_stat){.size = m->size,
	                        .mtime.tv_sec = m->mtime,
	                        .ctime = zr_archive_stat(z->archive)->st_ctim};
	return 0;
}

static int zip_list(struct zr_store *s, const char *key, struct zr_dirlist *ret,
                    struct zr_err *reterr)
{
	const struct zip_store *z = (const struct zip_store *)s;
	ZR_CLEANUP(zr_dirlist_done) struct zr_dirlist l = {0};
	size_t at, end, skip = *key ? strlen(key) + 1 : 0;

	if (!zip_range(z, key, &at, &end))
		return zip_object(z, key) ? zr_store_failed(reterr, key, -ENOTDIR)
		                          : -ENOENT;
	while (at < end) {
		const char *name = z->members[at].name;
		size_t n = strcspn(name + skip, "/");
		bool is_dir = name[skip + n] == '/';

		if (n > 0 && zr_dirlist_add(&l, name + skip, n, is_dir) < 0)
			return zr_store_failed(reterr, key, -ENOMEM);
		at = n > 0 && is_dir ? zip_lower(z, name, skip + n, '/' + 1) : at + 1;
	}
	zr_dirlist_sort(&l);
	*ret = l;
	l = (struct zr_dirlist){0};
	return 0;
}

/* ---- opening ---- */

/* Whether a key could name it: "..", absolute names and backslashes cannot be reached. */
static bool zip_name_is_wanted(const char *name)
{
	if (strchr(name, '\\'))
		return false;
	for (;;) {
		size_t n = strcspn(name, "/");

		if (n == 0 || (n == 1 && name[0] == '.') ||
		    (n == 2 && name[0] == '.' && name[1] == '.'))
			return false;
		name += n;
		if (!name[0] || !name[1])
			return true; /* "a/" is a directory */
		name++;
	}
}

static int zip_member_compare(const void *a, const void *b)
{
	const struct zr_member *x = (const struct zr_member *)a;
	const struct zr_member *y = (const struct zr_member *)b;
	int c = strcmp(x->name, y->name);

	return c ? c : (x->index > y->index) - (x->index < y->index);
}

/* Sorted, and of members of one name the last: a rewritten one is appended. */
static void zip_sort(struct zip_store *z)
{
	size_t n = 0;

	if (z->count > 0)
		qsort(z->members, z->count, sizeof(z->members[0]), zip_member_compare);
	for (size_t i = 0; i < z->count; i++) {
		if (i + 1 < z->count &&
		    strcmp(z->members[i].name, z->members[i + 1].name) == 0)
			continue;
		z->members[n++] = z->members[i];
	}
	z->count = n;
}

/* Leaves what lies beneath a directory, and makes that the root. False: there is none. */
static bool zip_enter(struct zip_store *z, const char *key, size_t len)
{
	size_t lo = zip_lower(z, key, len, '/');
	size_t hi = zip_lower(z, key, len, '/' + 1), count = 0;

	if (lo == hi)
		return false;
	for (size_t i = lo; i < hi; i++) {
		z->members[count] = z->members[i];
		z->members[count].name += len + 1;
		count += *z->members[count].name != '\0';
	}
	z->count = count;
	return true;
}

/* One folder around everything, and so no node document beside it, is left out: the
 * store was packed from outside. Its name, of *ret_len bytes; 0: there is none. */
static const char *zip_strip_folder(struct zip_store *z, size_t *ret_len)
{
	const char *name;
	size_t n;

	*ret_len = 0;
	if (z->count == 0)
		return NULL;
	name = z->members[0].name;
	n = strcspn(name, "/");
	if (zip_lower(z, name, n, '/') > 0 || zip_lower(z, name, n, '/' + 1) < z->count)
		return NULL;
	*ret_len = n;
	zip_enter(z, name, n);
	return name;
}

/* From the root of the archive to that of the store. The folder may be named or not. */
static int zip_find_root(struct zip_store *z, const char *path, const char *node,
                         struct zr_err *reterr)
{
	size_t n;
	const char *folder = zip_strip_folder(z, &n);

	if (!*node || zip_enter(z, node, strlen(node)))
		return 0;
	if (folder && strncmp(node, folder, n) == 0 &&
	    (!node[n] ||
	     (node[n] == '/' && zip_enter(z, node + n + 1, strlen(node + n + 1)))))
		return 0;
	return zr_err_set(reterr, -ENOENT, "'%s' has no node '%s'", path, node);
}

static int zip_add(struct zip_store *z, uint64_t index, const char *path,
                   struct zr_err *reterr)
{
	struct zr_member *m = &z->members[z->count];
	struct zr_err err = {0};
	int r = zr_archive_member(z->archive, index, m, &err);

	if (r < 0)
		return zr_err_set(reterr, r, "%s: member %" PRIu64 " of the archive: %s",
		                  path, index, err.text);
	if (strlen(m->name) > ZIP_MAX_NAME)
		return zr_err_set(
			reterr, -EFBIG,
			"%s: a member of the archive has a name of over %d bytes", path,
			ZIP_MAX_NAME);
	z->count += zip_name_is_wanted(m->name);
	return 0;
}

static int zip_read_members(struct zip_store *z, const char *path, struct zr_err *reterr)
{
	uint64_t n = zr_archive_count(z->archive);

	z->members = calloc((size_t)n + 1, sizeof(z->members[0]));
	if (!z->members)
		return zr_err_set(reterr, -ENOMEM, "%s: %m", path);
	for (uint64_t i = 0; i < n; i++) {
		int r = zip_add(z, i, path, reterr);

		if (r < 0)
			return r;
	}
	zip_sort(z);
	return 0;
}

static void zip_free(struct zr_store *s)
{
	struct zip_store *z = (struct zip_store *)s;

	zr_archive_free(z->archive);
	free(z->members);
	free(z);
}

static void zip_unrefp(struct zip_store **z)
{
	zr_store_unref(*z ? &(*z)->base : NULL);
}

int zr_store_zip_open(const char *path, struct zr_store **ret, struct zr_err *reterr)
{
	return zr_store_zip_open_node(path, "", ret, reterr);
}

int zr_store_zip_open_node(const char *path, const char *node, struct zr_store **ret,
                           struct zr_err *reterr)
{
	static const struct zr_store_ops ops = {.get = zip_get,
	                                        .get_range = zip_get_range,
	                                        .verify = zip_verify,
	                                        .stat = zip_stat,
	                                        .list = zip_list,
	                                        .free = zip_free};
	ZR_CLEANUP(zip_unrefp) struct zip_store *z = calloc(1, sizeof(*z));
	int r;

	if (!z)
		return zr_err_set(reterr, -ENOMEM, "%s: %m", path);
	zr_store_init(&z->base, &ops);
	r = zr_archive_open(path, &z->archive, reterr);
	if (r == 0)
		r = zip_read_members(z, path, reterr);
	if (r == 0)
		r = zip_find_root(z, path, node, reterr);
	if (r < 0)
		return r;
	*ret = &ZR_TAKE(z)->base;
	return 0;
}
