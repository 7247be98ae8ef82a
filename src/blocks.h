/* SPDX-License-Identifier: MIT */
/*
 * blocks.h - the block index of an array's text files: record number <-> byte offset
 *
 *   store bytes -> codec -> chunk cache -> view (+ [ blocks ]) -> render -> fuse reply
 *
 * Records are cut into blocks of 2^shift. For each block that a stored chunk touches
 * there is a row: how many of its records are stored, and the summed line lengths of
 * those, for every text file at once. What is not stored has the fill value's line, and
 * the digits of `_index` follow from the record number, so everything between rows is
 * closed form: never-written records cost nothing, however many.
 *
 *     offset(file, r) = sum of stored lines before r
 *                     + (r - stored records before r) * line of the fill value
 *                     + digits of the indices before r, where the file shows them
 *
 * Rows are filled in any order (zr_blocks_add) and turned into sums of all before them as
 * soon as nothing before can change (zr_blocks_settle).
 *
 * Layer 3. May include present.h, grid.h and below.
 *
 * Memory: at most ZR_MAX_BLOCKS rows and ZR_MAX_BLOCK_BYTES; the range of a block doubles
 *         until that holds. Borrows the grid.
 * Threads: none of its own; whoever owns it guards it (sizes.h).
 */
#pragma once

#include <stdatomic.h>

#include "grid.h"
#include "present.h"

#define ZR_MAX_BLOCKS 65536
#define ZR_MAX_BLOCK_BYTES ((size_t)4 << 20)

struct zr_blocks {
	const struct zr_grid *grid;
	uint32_t nfiles;
	uint64_t
		*fill_len; /* owned; per file: line of the fill value, index digits not */
	bool *indexed;     /* owned; per file: its lines hold the indices */
	unsigned int shift;
	size_t nrows;
	uint64_t *ids;  /* owned; block numbers of the rows, ascending; NULL: row i is
	                   block i */
	uint64_t *rows; /* owned; (nrows + 1) * (1 + nfiles): stored records, then a sum
	                 * for each file. Rows below `settled`: of all rows before it;
	                 * from there on: of that row alone; the last, which is no
	                 * block's: of all settled rows together */
	size_t settled;
};

/* record_bytes: of one decoded record, from which the finest block size follows.
 * fill_len, indexed: nfiles entries, copied. Many stored chunks take a while: -EINTR when
 * *cancel (may be NULL) becomes true. -ENOMEM. */
ZR_MUST_CHECK int zr_blocks_init(struct zr_blocks *b, const struct zr_grid *g,
                                 const struct zr_present *present, uint64_t record_bytes,
                                 uint32_t nfiles, const uint64_t *fill_len,
                                 const bool *indexed, const atomic_bool *cancel);
void zr_blocks_done(struct zr_blocks *b);

/* Records from `record` (included) to the end of its block. */
static inline uint64_t zr_blocks_left(const struct zr_blocks *b, uint64_t record)
{
	return ((uint64_t)1 << b->shift) - (record & (((uint64_t)1 << b->shift) - 1));
}

static inline bool zr_blocks_same(const struct zr_blocks *b, uint64_t record,
                                  uint64_t other)
{
	return record >> b->shift == other >> b->shift;
}

/* Adds n stored records of the block of `record` with their lengths, one for each file.
 */
void zr_blocks_add(struct zr_blocks *b, uint64_t record, uint64_t n,
                   const uint64_t *lens);

/* All records before `record` have been added: settles the rows that lie before it.
 * With record = nrecords everything is settled. */
void zr_blocks_settle(struct zr_blocks *b, uint64_t record);

/* Records up to here have known offsets: all, or the first record of an unsettled row. */
uint64_t zr_blocks_known(const struct zr_blocks *b);

/* Offset of a record that begins a block or lies between rows, within what is known. */
uint64_t zr_blocks_offset(const struct zr_blocks *b, uint32_t file, uint64_t record);

/* Whether zr_blocks_offset() may be asked for this record. */
bool zr_blocks_has(const struct zr_blocks *b, uint64_t record);

/*
 * The record nearest before `offset` (or at it) whose own offset is known: the begin of a
 * block, or, between rows, the very record that the byte belongs to. False when `offset`
 * lies behind what is known so far.
 */
bool zr_blocks_locate(const struct zr_blocks *b, uint32_t file, uint64_t offset,
                      uint64_t *ret_record, uint64_t *ret_offset);

/* Whole length of a file, when everything is settled; saturates at ZR_MAX_FILE. */
uint64_t zr_blocks_total(const struct zr_blocks *b, uint32_t file);
