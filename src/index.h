/* SPDX-License-Identifier: MIT */
/*
 * index.h - what measuring an array has found, kept on disk between mounts
 *
 *   store bytes -> codec -> chunk cache -> view (+ sizes, [ index ]) -> render -> fuse
 * reply
 *
 * One file for each array (and set of rendering options), in a directory of the user's
 * own (stash.h): the sizes of its text files and the rows of its block index. It holds
 * good while its *key* (version, options, store, metadata documents) and its *stamp*
 * (stamp.h: the stored objects) are those of the array; and it is read as hostile input.
 * Whatever is odd is no index: the array is measured again.
 *
 *      0  magic, version, number of files (4, 4)          `head`: all that is needed
 *     16  key (16)                                         to show sizes
 *     32  stamp: objects (8), sums (16)
 *     56  rows (8), shift (4), 0 (4)
 *     72  size of each file (8)
 *      .  XXH64 of all before (8)
 *      .  (rows + 1) rows of blocks.h                      only for reading
 *      .  XXH64 of all before (8)
 *
 * All numbers are little-endian. Rows of which blocks: follows from the stored objects,
 * so that is not kept.
 *
 * Layer 3. May include blocks.h, render.h, stamp.h, stash.h and below.
 *
 * Memory: an id borrows the index.
 * Threads: all functions from any thread; all but zr_index_free() may block on I/O.
 */
#pragma once

#include <stdatomic.h>

#include "blocks.h"
#include "buf.h"
#include "err.h"
#include "privilege.h"
#include "render.h"
#include "stamp.h"
#include "stash.h"

/* To be raised whenever any text of any value changes, or the choice of blocks. */
#define ZR_INDEX_VERSION 1

#define ZR_INDEX_BYTES ((uint64_t)256 << 20) /* of all arrays together */
#define ZR_INDEX_FILES 20000

struct zr_index;

/*
 * dir: NULL for the usual place. who: as whom we are or shall be. store: path of what is
 * mounted. On failure one line; the mount goes on without.
 */
ZR_MUST_CHECK int zr_index_open(const char *dir, const struct zr_who *who,
                                const char *store, struct zr_index **ret,
                                struct zr_err *reterr);
/* The descriptor of its directory, for the sandbox. */
int zr_index_dir(const struct zr_index *x);
void zr_index_free(struct zr_index *x); /* NULL is allowed */

/* Whether anything can be kept; one line if not. A disk may still be full. */
ZR_MUST_CHECK int zr_index_writable(const struct zr_index *x, struct zr_err *reterr);

/* Where an array is kept, and what it depends on but for its chunks. */
struct zr_index_id {
	struct zr_index *index; /* NULL: not at all */
	char name[ZR_STASH_NAME + 1];
	uint8_t key[16];
};

/* What the text of an array depends on. */
struct zr_index_of {
	const char *path; /* of the node */
	/* Its documents, as stored; empty: there is none. */
	const struct zr_buf *const *docs;
	size_t ndocs;
	const struct zr_render_opts *render;
	bool missing_is_error;
};
void zr_index_id(struct zr_index *x, const struct zr_index_of *of,
                 struct zr_index_id *ret);

/*
 * The sizes (nfiles, into ret_sizes) and the stamp that they hold good for. False: there
 * is no index.
 */
ZR_MUST_CHECK bool zr_index_head(const struct zr_index_id *id, uint32_t nfiles,
                                 uint64_t *ret_sizes, struct zr_stamp *ret_stamp);

/* Reads the whole file, which must have this stamp, and rows for `b`, which was set up
 * for the same array (zr_blocks_init()). False: there is no such index. */
ZR_MUST_CHECK bool zr_index_read(const struct zr_index_id *id,
                                 const struct zr_stamp *stamp, const struct zr_blocks *b,
                                 struct zr_buf *ret);

/* Fills in the rows that were read; b is settled then. False: they are not good; b is as
 * it was, that is, empty. No I/O. */
ZR_MUST_CHECK bool zr_index_take(const struct zr_buf *file, struct zr_blocks *b);

/* Keeps what was measured: all of b is settled. A failure is logged, once. */
void zr_index_save(const struct zr_index_id *id, const struct zr_stamp *stamp,
                   const struct zr_blocks *b);

/* It was found to be wrong. */
void zr_index_drop(const struct zr_index_id *id);
