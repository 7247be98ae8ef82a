/* SPDX-License-Identifier: MIT */
/*
 * view.h - one file of the mount: its exact size, and any byte range of it
 *
 *   store bytes -> codec -> chunk cache -> [ view ] -> render -> fuse reply
 *
 * Kinds, each in a file of its own behind the same four functions:
 *   view_text.c   lines of text whose length is measured (field files, JSONL, CSV)
 *   view_bin.c    records of constant length (.raw, .npy, field files of text=fixed)
 *   view_bytes.c  bytes in memory (unreadable.txt, attributes.json, schema.json), and
 *                 an object of the store as it is (zarr.json)
 *   view_chunks.c what is stored of an array (chunks.tsv): made by listing, on demand
 * A further form of an array adds a kind, or a zr_line; nothing else changes.
 *
 * A file that is made of records can also be read from record to record: that needs no
 * size, and no place in the file.
 *
 * Layer 3. May include sizes.h, chunk.h, render.h and below.
 *
 * Memory: a view borrows source, sizes, line and so on; they must outlive it.
 * Threads: zr_view_size() and zr_view_read() from any thread; they may block on I/O, so
 *          not from a FUSE handler. zr_view_peek_size() never blocks.
 */
#pragma once

#include <stdatomic.h>
#include <sys/uio.h>

#include "chunk.h"
#include "render.h"
#include "sizes.h"

struct zr_view;

/* A file as records: one line of text or one packed record for each of the array. */
struct zr_rows {
	uint64_t count;
	uint64_t header; /* bytes in front of the first one */
	uint64_t usual;  /* bytes of one, about; at least 1 */
};

/* A place among them. */
struct zr_cursor {
	uint64_t record; /* comes next */
	uint64_t skip;   /* bytes of it that were handed out already */
	uint64_t end;    /* record behind the last one that is wanted */
};

/* Bytes of a file where they lie, in chunks of the cache. */
#define ZR_LENT_MAX 8
struct zr_lent {
	unsigned int count;
	struct iovec at[ZR_LENT_MAX];
	struct zr_chunk *of[ZR_LENT_MAX]; /* one reference each */
};

struct zr_view_ops {
	bool (*peek_size)(struct zr_view *v, uint64_t *ret);
	int (*size)(struct zr_view *v, struct zr_ticket *ticket, uint64_t *ret);
	int (*read)(struct zr_view *v, uint64_t offset, size_t len,
	            struct zr_ticket *ticket, const atomic_bool *cancel, uint8_t *out,
	            size_t *ret_len);
	/* NULL: never. */
	bool (*lend)(struct zr_view *v, uint64_t offset, size_t len, bool wait,
	             const atomic_bool *cancel, struct zr_lent *ret);
	/* Both NULL: the file is not made of records. */
	void (*rows)(struct zr_view *v, struct zr_rows *ret);
	int (*read_rows)(struct zr_view *v, struct zr_cursor *c, size_t len,
	                 const atomic_bool *cancel, uint8_t *out, size_t *ret_len);
	void (*free)(struct zr_view *v);
};

/* The head of every view: first member of each kind's own struct. */
struct zr_view {
	const struct zr_view_ops *ops;
};

/* The size, if that takes no work. */
static inline bool zr_view_peek_size(struct zr_view *v, uint64_t *ret)
{
	return v->ops->peek_size(v, ret);
}

/* The exact size. Errors as zr_sizes_get(); -EINPROGRESS: ask again when `sizes` wakes.
 */
static inline ZR_MUST_CHECK int zr_view_size(struct zr_view *v, struct zr_ticket *ticket,
                                             uint64_t *ret)
{
	return v->ops->size(v, ticket, ret);
}

/*
 * Bytes from `offset`: all `len` of them, or up to the end of the file; 0 bytes at the
 * end exactly. What `out` has behind them means nothing.
 *
 * -EIO         behind the end; or the range touches a damaged chunk; or the store did not
 *              answer
 * -EINPROGRESS the place is not known yet: as zr_view_size()
 * -ETIMEDOUT   nor will it be soon
 * -EINTR       *cancel (may be NULL) became true
 */
static inline ZR_MUST_CHECK int zr_view_read(struct zr_view *v, uint64_t offset,
                                             size_t len, struct zr_ticket *ticket,
                                             const atomic_bool *cancel, uint8_t *out,
                                             size_t *ret_len)
{
	return v->ops->read(v, offset, len, ticket, cancel, out, ret_len);
}

/*
 * The same bytes that zr_view_read() gives, without copying them; and whoever reads a
 * file from its begin to its end has what comes next made ahead, if it tells so by this
 * call. False: they are not to be had in this way, or, unless `wait`, not without work.
 */
static inline bool zr_view_lend(struct zr_view *v, uint64_t offset, size_t len, bool wait,
                                const atomic_bool *cancel, struct zr_lent *ret)
{
	*ret = (struct zr_lent){0};
	return v->ops->lend && v->ops->lend(v, offset, len, wait, cancel, ret);
}

/* Takes over the reference of `chunk`; false, and drops it: there is no room. */
static inline bool zr_lent_add(struct zr_lent *l, struct zr_chunk *chunk, void *data,
                               size_t len)
{
	if (l->count == ZR_LENT_MAX) {
		zr_chunk_unref(chunk);
		return false;
	}
	l->of[l->count] = chunk;
	l->at[l->count++] = (struct iovec){data, len};
	return true;
}

static inline void zr_lent_done(struct zr_lent *l)
{
	while (l->count > 0)
		zr_chunk_unref(l->of[--l->count]);
}

/* False: the file is not made of records. */
static inline bool zr_view_rows(struct zr_view *v, struct zr_rows *ret)
{
	if (v->ops->rows)
		v->ops->rows(v, ret);
	return v->ops->rows;
}

/*
 * Bytes of the records from the cursor on, which moves behind them: all `len`, or up to
 * the cursor's end; 0 bytes there. Never waits for a size. Errors are those of
 * zr_view_read(); the cursor stays where it was then. Only for files made of records.
 */
static inline ZR_MUST_CHECK int zr_view_read_rows(struct zr_view *v, struct zr_cursor *c,
                                                  size_t len, const atomic_bool *cancel,
                                                  uint8_t *out, size_t *ret_len)
{
	return v->ops->read_rows(v, c, len, cancel, out, ret_len);
}

static inline void zr_view_free(struct zr_view *v)
{
	if (v)
		v->ops->free(v);
}

/* Which bytes of each record a column needs. */
static inline void zr_view_set_part(const struct zr_column *column,
                                    const struct zr_source *source, uint64_t *ret_first,
                                    uint64_t *ret_bytes)
{
	*ret_first = column->offset;
	*ret_bytes = zr_column_extent(column);
	if (*ret_bytes == 0) { /* no elements: whatever is there does */
		*ret_first = 0;
		*ret_bytes = source->array->type.size;
	}
}

/* Constructors. NULL: no memory; what is marked own_ is then freed. */

/* file: its number in sizes. column: what of the records it shows, all of level 0 for the
 * whole record. header: first bytes of the file, may be empty. */
struct zr_view *zr_view_new_text(struct zr_source *source, struct zr_sizes *sizes,
                                 uint32_t file, const struct zr_column *column,
                                 struct zr_line *own_line, struct zr_buf *own_header);
struct zr_view *zr_view_new_bin(struct zr_source *source, const struct zr_column *column,
                                struct zr_bin *own_bin, struct zr_buf *own_header);
struct zr_view *zr_view_new_bytes(struct zr_buf *own_bytes);
/* The object `key` of the store, whose size was `size`. */
struct zr_view *zr_view_new_object(struct zr_store *store, const char *key,
                                   uint64_t size);
/*
 * Which objects of the array are stored, and how long they are. size_wait: seconds that
 * an asker is kept waiting. known: the size that was found before, or NULL. held: what
 * the memory taken is added to; borrowed.
 */
struct zr_view *zr_view_new_chunks(struct zr_source *source, unsigned int size_wait,
                                   const uint64_t *known, atomic_size_t *held);
