/* SPDX-License-Identifier: MIT */
/*
 * chunk.h - where the chunks of one array come from
 *
 *   store bytes -> codec -> [ chunk ] cache -> view -> render -> fuse reply
 *
 * From the number of a cell (grid.h) to its decoded records: the key of its object, the
 * byte range inside shards, the codecs, the items of variable-length types. What is
 * damaged is logged once and remembered; what is known not to be stored costs nothing.
 * Sources: Zarr v3 core, "Chunk key encoding"; sharding codec v1.0.
 *
 * Layer 2. May include cache.h, present.h, grid.h, array.h, store.h, request.h (the gate)
 * and below.
 *
 * Memory: a source owns its path, and holds references of store and array. Chunks that
 *         it hands out are references of the cache's.
 * Threads: all functions from any thread; decoding happens inside the gate, I/O
 *          outside, so the caller must not be inside it, nor hold a chunk.
 */
#pragma once

#include <pthread.h>

#include "array.h"
#include "cache.h"
#include "grid.h"
#include "present.h"
#include "store.h"

struct zr_ahead_jobs;
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
	/* Borrowed; NULL: its views do nothing ahead. Set by the owner. */
	struct zr_ahead_jobs *ahead;
	bool rows_exceed; /* the cells that one row of the array after the other goes
	                   * through are more than the cache could keep */

	atomic_size_t
		largest;    /* variable length: the most bytes that a cell took so far */
	atomic_uint whats;  /* numbers for what is derived that were given out */
	atomic_uint absent; /* how often the store had no object that was asked for */
	atomic_bool listed; /* `present` is set, and will not change */
	pthread_mutex_t listing; /* held while that is made, for as long as it takes */
	struct zr_present present;
	int list_error; /* guarded by `listing`: the last failure, so that it is logged
	                 * once */

	pthread_mutex_t lock; /* guards what follows */
	uint64_t *damaged;    /* cells, and behind them shards; ascending */
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

/* The same if it is in the cache now, else NULL. */
struct zr_chunk *zr_source_peek(struct zr_source *s, uint64_t cell);

/* The same for someone who goes through all cells once (cache.h). */
ZR_MUST_CHECK int zr_source_scan(struct zr_source *s, uint64_t cell,
                                 struct zr_chunk **ret);

/* Whether an object is what was stored, as far as its store can tell. Reads all of it,
 * where a reader would not. -EUCLEAN: it is damaged, which is logged; others as the
 * store's, which a reader will meet, too, if they last. */
ZR_MUST_CHECK int zr_source_verify(struct zr_source *s, uint64_t object,
                                   struct zr_err *reterr);

/* Whether chunks have checksums, by their codecs or by the store: all that is stored is
 * covered by one, if zr_source_verify() is asked, too. */
bool zr_source_is_summed(const struct zr_source *s);

/*
 * As zr_source_get(), when only `bytes` bytes from `first` on are wanted of each record.
 * Record n begins at data + n * *ret_size, and at least those bytes of it are there.
 *
 * Where `rows_exceed`, and it saves enough, only those bytes of the cell are kept in the
 * cache: else a reader that goes through the array row by row would have each cell
 * decoded again for every row of it.
 */
ZR_MUST_CHECK int zr_source_get_part(struct zr_source *s, uint64_t cell, uint64_t first,
                                     uint64_t bytes, struct zr_chunk **ret,
                                     uint64_t *ret_size);

/*
 * What `make` makes of a cell (or without one: UINT64_MAX, it gets NULL then), kept in
 * the cache as chunks are. For what is too much work to be done for each read. `what` and
 * `id` say what it is; bytes: what it takes, about. make() runs inside the gate. Errors
 * as of zr_source_get(), or make()'s.
 */
typedef int (*zr_source_make)(void *arg, const struct zr_chunk *cell,
                              struct zr_chunk *ret);
ZR_MUST_CHECK int zr_source_derive(struct zr_source *s, uint64_t cell, uint64_t what,
                                   uint64_t id, size_t bytes, zr_source_make make,
                                   void *arg, struct zr_chunk **ret);
/* A `what` that nobody else has. */
uint64_t zr_source_new_what(struct zr_source *s);
/* The same if it is there now, else NULL. */
struct zr_chunk *zr_source_peek_derived(struct zr_source *s, uint64_t what, uint64_t id);

/* The same, made by `load`, which may get chunks of the source, one after the other: no
 * room in the cache is waited for, so it should be little. Errors are load()'s. */
ZR_MUST_CHECK int zr_source_keep(struct zr_source *s, uint64_t what, uint64_t id,
                                 zr_cache_load load, void *arg, struct zr_chunk **ret);
/* The same, made beside a scan of the cells (cache.h), and ready. */
void zr_source_put(struct zr_source *s, uint64_t what, uint64_t id, zr_cache_load load,
                   void *arg);
/* Nobody will ask for it again soon. */
void zr_source_drop(struct zr_source *s, uint64_t what, uint64_t id);

/*
 * Which objects are stored. The first call lists them, which may take long; others wait
 * meanwhile. Valid as long as the source. Errors as the store's, logged.
 */
ZR_MUST_CHECK int zr_source_list(struct zr_source *s, const struct zr_present **ret);

/* How many records from the first of the run on lie in objects that are known not to be
 * stored, as far as its row goes, which may be farther than the run. */
uint64_t zr_source_unstored(struct zr_source *s, const struct zr_run *run);

/* Bytes of memory that the source takes, chunks not counted. */
size_t zr_source_bytes(struct zr_source *s);

/* Path for messages: "/a/b". */
const char *zr_source_label(const struct zr_source *s);
