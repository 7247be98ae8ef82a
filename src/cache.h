/* SPDX-License-Identifier: MIT */
/*
 * cache.h - decoded chunks, shared by reference, in a byte-bounded LRU
 *
 *   store bytes -> codec -> [ chunk cache ] -> view -> render -> fuse reply
 *
 * One load per key however many wait for it; a failed load leaves no trace, its waiters
 * get its error. The budget counts what is cached, what is being loaded (what the load
 * takes for the time being, too) and what readers still hold: a load that does not fit
 * waits until others have finished, in the order of asking. Only when nothing else is in
 * use may one chunk exceed the budget.
 *
 * A reader must not ask for a chunk while it holds another, nor while it loads one that
 * it has room reserved for: else all could wait for all. Looking (zr_cache_peek) never
 * waits.
 *
 * Layer 2. May include layer 0.
 *
 * Memory: zr_cache_get() hands out one reference, given back with zr_chunk_unref(). The
 *         bytes of a chunk never change once it is loaded.
 * Threads: all functions from any thread. The cache's lock is never held while loading.
 */
#pragma once

#include <stdatomic.h>

#include "buf.h"
#include "err.h"

struct zr_cache;

struct zr_chunk {
	atomic_uint refs;
	struct zr_cache *cache; /* whose budget it counts against */
	struct zr_buf data; /* records in storage order, or whatever the loader made */
	struct zr_buf
		text; /* variable length: the bytes that the items in data point to */
	size_t bytes; /* what it counts */
};

/* What a chunk is of. `owner` is unique to an array for the life of the cache. */
struct zr_cache_key {
	uint64_t owner;
	uint64_t kind;
	uint64_t id;
};

/* Fills in data (and text) of a new chunk; returns 0 or -errno. */
typedef int (*zr_cache_load)(void *arg, struct zr_chunk *chunk, struct zr_err *reterr);

struct zr_cache *zr_cache_new(size_t budget); /* bytes; NULL: no memory */
size_t zr_cache_budget(const struct zr_cache *c);
void zr_cache_free(struct zr_cache *c); /* all references must have been given back */

/*
 * The chunk of that key: from the cache, or by waiting for who loads it, or by loading
 * it. estimate: bytes that the load will take; 0: do not wait for room. Errors are the
 * loader's, or -ENOMEM.
 */
ZR_MUST_CHECK int zr_cache_get(struct zr_cache *c, const struct zr_cache_key *key,
                               size_t estimate, zr_cache_load load, void *arg,
                               struct zr_chunk **ret, struct zr_err *reterr);

/*
 * The same for someone who goes through all chunks of an owner once, as the measuring
 * pass does: where they are more than the cache holds, the first ones stay, for whoever
 * comes behind and begins there.
 */
ZR_MUST_CHECK int zr_cache_scan(struct zr_cache *c, const struct zr_cache_key *key,
                                size_t estimate, zr_cache_load load, void *arg,
                                struct zr_chunk **ret, struct zr_err *reterr);

/*
 * Puts in what was made in the course of such a scan and will be wanted soon: it stays
 * rather than the chunks of the scan. What the loader makes is ready, it only hands it
 * over. Somebody else's chunk of that key wins, also one that is being loaded: nothing is
 * waited for.
 */
void zr_cache_put(struct zr_cache *c, const struct zr_cache_key *key, zr_cache_load load,
                  void *arg);

/* The chunk if it is there now, else NULL. */
struct zr_chunk *zr_cache_peek(struct zr_cache *c, const struct zr_cache_key *key);

/* Drops one chunk, if it is there and nobody is just coming for it. */
void zr_cache_drop(struct zr_cache *c, const struct zr_cache_key *key);

/* Drops what the cache holds of an owner. */
void zr_cache_forget(struct zr_cache *c, uint64_t owner);

void zr_chunk_unref(struct zr_chunk *chunk); /* NULL is allowed */

static inline void zr_chunk_unrefp(struct zr_chunk **chunk)
{
	zr_chunk_unref(*chunk);
}

struct zr_cache_stats {
	uint64_t hits;   /* found loaded */
	uint64_t waits;  /* found being loaded by someone else */
	uint64_t loads;  /* loaded */
	uint64_t errors; /* loads that failed */
	size_t bytes;    /* counted now */
	size_t peak;     /* the most that was ever counted */
};
void zr_cache_get_stats(struct zr_cache *c, struct zr_cache_stats *ret);
