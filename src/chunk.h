/* SPDX-License-Identifier: MIT */
/*
 * chunk.h - where the chunks of one array come from
 *
 *   store bytes -> codec -> [ chunk ] cache -> view -> render -> fuse reply
 *
 * From the number of a cell (grid.h) to its decoded records: the key of its object, the
 * byte range inside shards, the codecs, the items of variable-length types. What is
 * damaged is logged once and remembered. Sources: Zarr v3 core, "Chunk key encoding";
 * sharding codec v1.0.
 *
 * Layer 2. May include cache.h, present.h, grid.h, array.h, store.h, request.h (the gate)
 * and below.
 *
 * Memory: a source owns its path, and holds references of store and array. Chunks that
 *         it hands out are references of the cache's.
 * Threads: zr_source_get() from any thread; decoding happens inside the gate, I/O
 * outside, so the caller must not be inside it.
 */
#pragma once

#include <pthread.h>

#include "array.h"
#include "cache.h"
#include "grid.h"
#include "store.h"

struct zr_gate;

struct zr_source {
	struct zr_store *store; /* one reference */
	char *path;             /* owned: key of the array's own directory */
	struct zr_array *array; /* one reference */
	struct zr_grid grid;
	struct zr_cache *cache; /* borrowed */
	struct zr_gate *gate;   /* borrowed */
	uint64_t owner;         /* of its chunks in the cache */
	bool missing_is_error;  /* a chunk that is not stored counts as damaged */

	pthread_mutex_t lock; /* guards what follows */
	uint64_t *damaged;    /* cells, ascending */
	size_t ndamaged, damaged_cap;
	int last_error; /* the store's last failure, so that it is logged once */
};

/* References are taken of store and array. -ENOMEM. */
ZR_MUST_CHECK int zr_source_init(struct zr_source *s, struct zr_store *store,
                                 const char *path, struct zr_array *array,
                                 struct zr_cache *cache, struct zr_gate *gate,
                                 uint64_t owner, bool missing_is_error);
void zr_source_done(struct zr_source *s);

/*
 * The decoded records of a cell.
 *
 * 0        *ret is a reference of the chunk
 * -ENOENT  it is not stored: every record is the fill value
 * -EUCLEAN it is stored but damaged (or missing, where that is an error): logged, and the
 *          same answer for ever
 * other    the store did not answer (-EIO, -EACCES, -ENOMEM ...): logged, asked again
 *          next time
 */
ZR_MUST_CHECK int zr_source_get(struct zr_source *s, uint64_t cell,
                                struct zr_chunk **ret);

/* Path for messages: "/a/b". */
const char *zr_source_label(const struct zr_source *s);
