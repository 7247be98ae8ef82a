/* SPDX-License-Identifier: MIT */
/*
 * present.h - which chunks of an array are stored
 *
 *   store bytes -> codec -> chunk cache -> view -> render -> fuse reply
 *
 * Found by listing the array's directories once, not by asking for each chunk: an array
 * of 10^12 records with three chunks costs three entries. Chunks are those of level 0
 * (objects), numbered as in grid.h. Entries that are no chunk keys are passed over.
 *
 * Layer 2. May include grid.h, store.h and below.
 *
 * Memory: 8 bytes a stored chunk. Above ZR_MAX_PRESENT, or when it finds many more
 * directories than chunks, it forgets and counts every chunk as possibly stored (`all`);
 * readers then find out by asking. So it does when all arrays of the store that are in
 * use would take more than ZR_MAX_PRESENT_ALL; those with few chunks do not count.
 * Threads: immutable once loaded.
 */
#pragma once

#include "grid.h"
#include "store.h"

#define ZR_MAX_PRESENT ((size_t)4 << 20)
#define ZR_MAX_PRESENT_ALL ((size_t)8 << 20)

struct zr_present {
	bool all;      /* too many to be remembered */
	uint64_t *ids; /* owned, ascending, distinct */
	size_t count;
	uint64_t nobjects; /* of the whole grid */

	struct zr_store *store; /* borrowed: in which they count */
	size_t counted;         /* of ZR_MAX_PRESENT_ALL */
};

/* Lists what is stored of array `a` at `path`. Errors as the store's; -ENOMEM. */
ZR_MUST_CHECK int zr_present_load(struct zr_store *store, const char *path,
                                  const struct zr_array *a, const struct zr_grid *g,
                                  struct zr_present *ret, struct zr_err *reterr);
void zr_present_done(struct zr_present *p);

/* The first object >= id that is (or may be) stored; UINT64_MAX if there is none. */
uint64_t zr_present_next(const struct zr_present *p, uint64_t id);

/* How many objects are (or may be) stored, and the nth of them (0 <= nth < count). */
uint64_t zr_present_count(const struct zr_present *p);
uint64_t zr_present_nth(const struct zr_present *p, uint64_t nth);
