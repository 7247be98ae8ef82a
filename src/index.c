/* SPDX-License-Identifier: MIT */
#include "index.h"

#include <errno.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "log.h"
#include "store.h"

#define MAGIC "zri\n"
#define HEAD_FIXED 72
#define MAX_BYTES ((size_t)16 << 20) /* of one file; blocks.h keeps within 6 MiB */

/* Places in the file. */
enum {
	AT_MAGIC = 0,
	AT_VERSION = 4,
	AT_NFILES = 8,
	AT_ZERO = 12,
	AT_KEY = 16,
	AT_OBJECTS = 32,
	AT_SUMS = 40,
	AT_NROWS = 56,
	AT_SHIFT = 64,
	AT_ZERO_TOO = 68,
};

struct zr_index {
	struct zr_stash *stash;
	char *place;         /* owned: its path */
	struct zr_buf store; /* path and identity of the store, NUL between them */
	atomic_bool told;    /* that it cannot be written */
};

/* --- opening ---------------------------------------------------------------------------
 */

/* A directory is known by its path, what is in it by the stamps. An archive is one file,
 * which may be another the next time. */
static int identify(struct zr_index *x, const char *store)
{
	ZR_CLEANUP(zr_freep) char *file = NULL;
	ZR_CLEANUP(zr_freep) char *node = NULL;
	ZR_CLEANUP(zr_freep) char *path = NULL;
	int r = zr_store_split(store, &file, &node);
	struct stat st;

	if (r < 0)
		return r;
	path = realpath(file, NULL);
	if (!path || stat(path, &st) < 0)
		return -errno;
	zr_buf_addf(&x->store, "%s/%s", path, node);
	zr_buf_addc(&x->store, '\0');
	if (!S_ISDIR(st.st_mode))
		zr_buf_addf(&x->store, "%llu %llu %lld.%09ld %lld.%09ld",
		            (unsigned long long)st.st_size, (unsigned long long)st.st_ino,
		            (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
		            (long long)st.st_ctim.tv_sec, st.st_ctim.tv_nsec);
	return zr_buf_check(&x->store);
}

int zr_index_open(const char *dir, const struct zr_who *who, const char *store,
                  struct zr_index **ret, struct zr_err *reterr)
{
	ZR_CLEANUP(zr_freep) char *place = dir ? strdup(dir) : NULL;
	struct zr_index *x = calloc(1, sizeof(*x));
	int r = x && (place || !dir) ? identify(x, store) : -ENOMEM;

	if (r < 0)
		zr_err_set(reterr, r, "'%s': %s", store, strerror(-r));
	if (r == 0 && !dir) {
		r = zr_stash_place("zarrfs", who, &place);
		if (r == -ENOENT)
			zr_err_set(reterr, r, "HOME is not set");
	}
	if (r == 0)
		r = zr_stash_open(place, who, ZR_INDEX_BYTES, ZR_INDEX_FILES, &x->stash,
		                  reterr);
	if (r < 0) {
		zr_index_free(x);
		return zr_err_set(reterr, r, "%s", strerror(-r));
	}
	x->place = ZR_TAKE(place);
	*ret = x;
	return 0;
}

int zr_index_writable(const struct zr_index *x, struct zr_err *reterr)
{
	int r = zr_stash_writable(x->stash);

	return r < 0 ? zr_err_set(reterr, r, "'%s': %s", x->place, strerror(-r)) : 0;
}

int zr_index_dir(const struct zr_index *x)
{
	return zr_stash_dir(x->stash);
}

void zr_index_free(struct zr_index *x)
{
	if (!x)
		return;
	zr_stash_free(x->stash);
	zr_buf_done(&x->store);
	free(x->place);
	free(x);
}

/* --- names and keys --------------------------------------------------------------------
 */

static void hash_of(const void *data, size_t len, uint8_t ret[16])
{
	XXH128_canonical_t c;

	XXH128_canonicalFromHash(&c, XXH3_128bits(data, len));
	memcpy(ret, c.digest, 16);
}

/* Their lengths too, so that nothing of one document passes for part of the next. */
static void add_documents(struct zr_buf *b, const struct zr_index_of *of)
{
	for (size_t i = 0; i < of->ndocs; i++) {
		const struct zr_buf *d = of->docs[i];
		uint8_t hash[16] = {0}, len[8];

		if (d->len > 0)
			hash_of(d->data, d->len, hash);
		zr_store_uint(len, d->len, 8, false);
		zr_buf_add(b, hash, sizeof(hash));
		zr_buf_add(b, len, sizeof(len));
	}
}

void zr_index_id(struct zr_index *x, const struct zr_index_of *of,
                 struct zr_index_id *ret)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf b = {0};
	uint8_t name[16];

	*ret = (struct zr_index_id){0};
	if (!x)
		return;
	zr_buf_add(&b, x->store.data, strlen((const char *)x->store.data) + 1);
	zr_buf_add(&b, of->path, strlen(of->path) + 1);
	zr_buf_addf(&b, "nonfinite=%d text=%d missing=%d", (int)of->render->nonfinite,
	            (int)of->render->fixed_text, (int)of->missing_is_error);
	if (zr_buf_check(&b) < 0)
		return;
	hash_of(b.data, b.len, name);
	for (size_t i = 0; i < 32; i++)
		ret->name[i] = "0123456789abcdef"[name[i / 2] >> (i % 2 ? 0 : 4) & 15];
	zr_buf_addc(&b, '\0');
	zr_buf_add(&b, x->store.data, x->store.len);
	add_documents(&b, of);
	zr_buf_adds(&b, ZR_VERSION);
	if (zr_buf_check(&b) < 0)
		return;
	hash_of(b.data, b.len, ret->key);
	ret->index = x;
}

/* --- reading ---------------------------------------------------------------------------
 */

static size_t head_len(uint32_t nfiles)
{
	return HEAD_FIXED + 8 * (size_t)nfiles + 8;
}

static uint64_t u64_at(const struct zr_buf *b, size_t at)
{
	return zr_load_u64(b->data + at, false);
}

/* Whether the bytes before `end` have their checksum behind them. */
static bool is_whole(const struct zr_buf *b, size_t end)
{
	return b->len >= end + 8 && u64_at(b, end) == XXH64(b->data, end, 0);
}

/* Whether b begins with a head that can be used. */
static bool head_is_good(const struct zr_index_id *id, uint32_t nfiles,
                         const struct zr_buf *b)
{
	if (b->len < head_len(nfiles) || memcmp(b->data, MAGIC, 4) != 0 ||
	    zr_load_u32(b->data + AT_VERSION, false) != ZR_INDEX_VERSION ||
	    zr_load_u32(b->data + AT_NFILES, false) != nfiles ||
	    zr_load_u32(b->data + AT_ZERO, false) != 0 ||
	    zr_load_u32(b->data + AT_ZERO_TOO, false) != 0 ||
	    memcmp(b->data + AT_KEY, id->key, 16) != 0)
		return false;
	if (!is_whole(b, head_len(nfiles) - 8))
		return false;
	for (uint32_t f = 0; f < nfiles; f++)
		if (u64_at(b, HEAD_FIXED + 8 * (size_t)f) > ZR_MAX_FILE)
			return false;
	return true;
}

static struct zr_stamp stamp_of(const struct zr_buf *b)
{
	return (struct zr_stamp){.objects = u64_at(b, AT_OBJECTS),
	                         .sum = {u64_at(b, AT_SUMS), u64_at(b, AT_SUMS + 8)}};
}

bool zr_index_head(const struct zr_index_id *id, uint32_t nfiles, uint64_t *ret_sizes,
                   struct zr_stamp *ret_stamp)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf b = {0};
	uint64_t size;

	if (!id->index ||
	    zr_stash_read(id->index->stash, id->name, head_len(nfiles), &b, &size) < 0 ||
	    !head_is_good(id, nfiles, &b))
		return false;
	for (uint32_t f = 0; f < nfiles; f++)
		ret_sizes[f] = u64_at(&b, HEAD_FIXED + 8 * (size_t)f);
	*ret_stamp = stamp_of(&b);
	return true;
}

/* Bytes of all rows, the last one included, which is no block's. */
static size_t rows_len(const struct zr_blocks *b)
{
	return (b->nrows + 1) * ((size_t)b->nfiles + 1) * 8;
}

/* Whether a row may follow another: of a block's records so many more are stored, which
 * have at least a line feed each. */
static bool row_can_follow(const struct zr_blocks *b, const uint8_t *row,
                           const uint8_t *next)
{
	uint64_t stored = zr_load_u64(row, false), more = zr_load_u64(next, false);

	if (more < stored || more - stored > (uint64_t)1 << b->shift)
		return false;
	more -= stored;
	for (uint32_t f = 1; f <= b->nfiles; f++) {
		uint64_t len = zr_load_u64(row + 8 * (size_t)f, false);
		uint64_t then = zr_load_u64(next + 8 * (size_t)f, false);

		if (then < len || then - len < more || (more == 0 && then != len))
			return false;
	}
	return true;
}

static bool rows_are_good(const struct zr_blocks *b, const uint8_t *rows)
{
	size_t width = 8 * ((size_t)b->nfiles + 1);

	for (size_t i = 0; i < width; i++)
		if (rows[i] != 0) /* nothing comes before the first block */
			return false;
	for (size_t i = 0; i < b->nrows; i++)
		if (!row_can_follow(b, rows + i * width, rows + (i + 1) * width))
			return false;
	return true;
}

/* The sizes must be what the rows say. */
static bool totals_are_sizes(const struct zr_blocks *b, const struct zr_buf *file)
{
	for (uint32_t f = 0; f < b->nfiles; f++)
		if (zr_blocks_total(b, f) != u64_at(file, HEAD_FIXED + 8 * (size_t)f))
			return false;
	return true;
}

bool zr_index_read(const struct zr_index_id *id, const struct zr_stamp *stamp,
                   const struct zr_blocks *b, struct zr_buf *ret)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf file = {0};
	size_t head = head_len(b->nfiles), len = head + rows_len(b) + 8;
	struct zr_stamp kept;
	uint64_t size;

	if (!id->index || len > MAX_BYTES ||
	    zr_stash_read(id->index->stash, id->name, len, &file, &size) < 0 ||
	    size != len || file.len != len || !head_is_good(id, b->nfiles, &file))
		return false;
	kept = stamp_of(&file);
	if (!zr_stamp_equal(&kept, stamp) || u64_at(&file, AT_NROWS) != b->nrows ||
	    zr_load_u32(file.data + AT_SHIFT, false) != b->shift ||
	    !is_whole(&file, len - 8) || !rows_are_good(b, file.data + head))
		return false;
	zr_stash_touch(id->index->stash, id->name);
	*ret = file;
	file = (struct zr_buf){0};
	return true;
}

bool zr_index_take(const struct zr_buf *file, struct zr_blocks *b)
{
	const uint8_t *rows = file->data + head_len(b->nfiles);
	size_t n = rows_len(b) / 8;

	for (size_t i = 0; i < n; i++)
		b->rows[i] = zr_load_u64(rows + 8 * i, false);
	b->settled = b->nrows;
	if (totals_are_sizes(b, file))
		return true;
	memset(b->rows, 0, n * 8);
	b->settled = 0;
	return false;
}

/* --- writing ---------------------------------------------------------------------------
 */

static void put_u32(struct zr_buf *b, uint32_t v)
{
	uint8_t bytes[4];

	zr_store_uint(bytes, v, 4, false);
	zr_buf_add(b, bytes, 4);
}

static void put_u64(struct zr_buf *b, uint64_t v)
{
	uint8_t bytes[8];

	zr_store_uint(bytes, v, 8, false);
	zr_buf_add(b, bytes, 8);
}

static void put_checksum(struct zr_buf *b)
{
	if (zr_buf_check(b) == 0)
		put_u64(b, XXH64(b->data, b->len, 0));
}

static int put_file(const struct zr_index_id *id, const struct zr_stamp *stamp,
                    const struct zr_blocks *b, struct zr_buf *out)
{
	size_t len = head_len(b->nfiles) + rows_len(b) + 8;

	if (len > MAX_BYTES)
		return -E2BIG;
	if (zr_buf_reserve(out, len) < 0)
		return -ENOMEM;
	zr_buf_add(out, MAGIC, 4);
	put_u32(out, ZR_INDEX_VERSION);
	put_u32(out, b->nfiles);
	put_u32(out, 0);
	zr_buf_add(out, id->key, sizeof(id->key));
	put_u64(out, stamp->objects);
	put_u64(out, stamp->sum[0]);
	put_u64(out, stamp->sum[1]);
	put_u64(out, b->nrows);
	put_u32(out, b->shift);
	put_u32(out, 0);
	for (uint32_t f = 0; f < b->nfiles; f++)
		put_u64(out, zr_blocks_total(b, f));
	put_checksum(out);
	/* The last row holds the sums of all. */
	for (size_t i = 0; i < rows_len(b) / 8; i++)
		put_u64(out, b->rows[i]);
	put_checksum(out);
	return zr_buf_check(out);
}

void zr_index_save(const struct zr_index_id *id, const struct zr_stamp *stamp,
                   const struct zr_blocks *b)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf file = {0};
	struct zr_index *x = id->index;
	int r;

	if (!x)
		return;
	r = put_file(id, stamp, b, &file);
	if (r == 0)
		r = zr_stash_write(x->stash, id->name, file.data, file.len);
	if (r < 0 && !atomic_exchange(&x->told, true))
		zr_warning("sizes cannot be kept for the next mount: %s", strerror(-r));
}

void zr_index_drop(const struct zr_index_id *id)
{
	if (id->index)
		zr_stash_remove(id->index->stash, id->name);
}
