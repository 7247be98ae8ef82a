/* SPDX-License-Identifier: MIT */
/*
 * array.h - what is known of an array once its metadata has been read
 *
 *   store bytes -> codec -> chunk cache -> view -> render -> fuse reply
 *
 * One description for Zarr v2 and v3: meta_v2.c and meta_v3.c fill it in, everything
 * behind it neither knows JSON nor asks which version it was.
 *
 * Layer 1. May include dtype.h, codec.h and layer 0.
 *
 * Memory: the array owns all that hangs on it. Shared by reference.
 * Threads: immutable once built.
 */
#pragma once

#include <stdatomic.h>

#include "codec.h"
#include "dtype.h"
#include "bounds.h"

/*
 * One level of chunking. Level 0 is the store's own grid, whose chunks are objects of
 * the store; each `sharding_indexed` codec adds one, whose chunks are byte ranges of
 * the level above. The chunks of the last level hold records; they are what is
 * decoded, cached and evicted.
 */
struct zr_level {
	uint64_t chunk[ZR_MAX_DIMS]; /* shape of a chunk, along the array's own axes;
	                              * >= 1. Divides the one above, exactly */
	uint8_t axis[ZR_MAX_DIMS];   /* storage order: encoded axis i (0 is the slowest)
	                              * runs   along array axis axis[i]. Transposes of this
	                              * level and   of those above, and order F, multiplied
	                              * out */
	struct zr_codecs
		*codecs; /* owned: stored bytes of a chunk of this level -> shard or
	                  * records. A shard is read by ranges only when empty */
	/* Not for the last level: the index of a shard. One (offset, nbytes) pair of
	 * uint64 for each chunk of the next level, in C order of the encoded axes. */
	struct zr_codecs *index_codecs; /* owned; behind the `bytes` codec */
	uint64_t index_size;            /* bytes as stored, index_codecs included */
	bool index_big;                 /* byte order of the pairs */
	bool index_at_start;            /* else at the end */
};

/* A piece of UTF-8 of any content, NULs too. */
struct zr_str {
	char *data; /* owned, NUL-terminated besides; NULL: not given */
	size_t len; /* bytes */
};

struct zr_array {
	atomic_uint refs;
	int zarr_format;             /* 2 or 3 */
	uint32_t ndim;               /* 0 to ZR_MAX_DIMS */
	uint64_t shape[ZR_MAX_DIMS]; /* elements; entries may be 0 */
	uint64_t nrecords; /* product of shape, <= ZR_MAX_RECORDS; 1 when ndim is 0 */
	struct zr_type type;
	uint8_t *fill; /* owned: one record as it would be stored, type.size bytes; for
	                * variable length a struct zr_item pointing to fill_data */
	uint8_t *fill_data;  /* owned; variable length only */
	struct zr_str *dims; /* owned, ndim entries, or NULL: the dimension names, entries
	                      * may be null. From dimension_names or _ARRAY_DIMENSIONS */
	bool v2_keys;        /* chunk keys "0/1" instead of "c/0/1" */
	char separator;      /* '/' or '.' */
	bool try_slash;   /* v2, separator not given: "/" when no chunk with "." exists */
	uint32_t nlevels; /* 1 + shards */
	struct zr_level levels[1 + ZR_MAX_SHARD_DEPTH];
};

struct zr_array *zr_array_new(void); /* all zero, one reference; NULL: no memory */
struct zr_array *zr_array_ref(struct zr_array *a);
void zr_array_unref(struct zr_array *a); /* NULL is allowed */

/* The level whose chunks hold records. */
static inline const struct zr_level *zr_array_bottom(const struct zr_array *a)
{
	return &a->levels[a->nlevels - 1];
}
