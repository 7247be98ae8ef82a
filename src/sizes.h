/* SPDX-License-Identifier: MIT */
/*
 * sizes.h - exact sizes of an array's text files: the measuring pass, and waiting for it
 *
 *   store bytes -> codec -> chunk cache -> view (+ [ sizes ]) -> render -> fuse reply
 *
 * One pass measures all text files of an array. It visits each stored chunk once, in
 * storage order, in several jobs of the queue, and fills the block index (blocks.h). It
 * starts when somebody asks for a size. A wait is bounded: `size_wait` seconds from the
 * start of the pass, whoever asks; then -ETIMEDOUT. The pass goes on for as long again,
 * then pauses with what it has, and resumes when somebody asks.
 *
 * Records of damaged chunks have the fill value's line (their bytes cannot be read).
 *
 * Whoever wants one file mostly wants no other: the files that are asked for first, one
 * after the other and each read then, get passes of their own, which measure nothing
 * else, unless the names of all were read just before (as by `ls -l`). The array's pass
 * follows when more files are asked for, or one was not read; or, if there is an index on
 * disk to be filled, when nobody has asked for anything for a while.
 *
 * Files are numbered as in render.h (zr_measure): leaves, levels, records.csv. Sizes are
 * those of the records, headers not included.
 *
 * With an index on disk (recall.h) the pass looks at what is stored instead of reading
 * it, and ends there if the index holds good.
 *
 * Layer 3. May include recall.h, blocks.h, chunk.h, render.h, request.h and below.
 *
 * Memory: borrows source, measure and queue, which must outlive it.
 * Threads: all functions from any thread; one lock, never held during I/O.
 */
#pragma once

#include "blocks.h"
#include "chunk.h"
#include "recall.h"
#include "render.h"

struct zr_queue;
struct zr_sizes;

/* What one asker has to remember between calls for the same answer. All zero at first. */
struct zr_ticket {
	uint64_t window;
};

/*
 * How one file is measured without the others: by whoever shows it, who may make its text
 * on that occasion. Called by several jobs at a time, inside the gate.
 */
struct zr_solo {
	uint64_t fill_len; /* of the fill value's line, index digits not */
	/* Bytes of the lines of n records from `record` on, of one block of the index;
	 * index digits not. *job is NULL at first, and the callee's. */
	uint64_t (*measure)(struct zr_solo *how, void **job, const uint8_t *rec,
	                    uint64_t stride, uint64_t record, uint64_t n);
	/* What comes next does not continue what came before: *job becomes NULL. */
	void (*pause)(struct zr_solo *how, void **job);
};

/* known: sizes that an earlier pass found, one for each file, or NULL. indexed: per file,
 * whether its lines hold the indices. NULL: no memory. */
struct zr_sizes *zr_sizes_new(struct zr_source *source, const struct zr_measure *measure,
                              const bool *indexed, struct zr_queue *queue,
                              unsigned int size_wait, const uint64_t *known);
/* Where the index on disk comes in: borrowed, and from now on guarded by the lock of
 * sizes. Before anything is asked. */
void zr_sizes_recall(struct zr_sizes *s, struct zr_recall *recall);

/* How to measure a file alone; borrowed. Before that file is asked for, and once. */
void zr_sizes_offer(struct zr_sizes *s, uint32_t file, struct zr_solo *how);

/* The names of all files are being read: all sizes may be asked for soon. */
void zr_sizes_expect(struct zr_sizes *s);

/* Files that have their own pass, if their sizes are known by that: how many. And the
 * same told to a later life of the array: a size that was shown stays. */
#define ZR_SOLOS 3
struct zr_shown {
	uint32_t file;
	uint64_t size;
};
unsigned int zr_sizes_shown(struct zr_sizes *s, struct zr_shown ret[ZR_SOLOS]);
void zr_sizes_show(struct zr_sizes *s, uint32_t file, uint64_t size);

void zr_sizes_free(struct zr_sizes *s); /* no pass may be running; NULL is allowed */

/* The size if it is known, without starting anything. */
bool zr_sizes_peek(struct zr_sizes *s, uint32_t file, uint64_t *ret);

/* All sizes, if they are known; nfiles entries, borrowed, immutable then. Else NULL. */
const uint64_t *zr_sizes_known(struct zr_sizes *s);

/*
 * The exact size of a file; starts or resumes the pass.
 *
 * -EINPROGRESS not yet: ask again, with the same ticket, after the queue woke what waits
 *              on this zr_sizes
 * -ETIMEDOUT   the wait is over
 * -EOVERFLOW   longer than ZR_MAX_FILE
 * -EIO         the store did not answer; -ENOMEM likewise
 */
ZR_MUST_CHECK int zr_sizes_get(struct zr_sizes *s, uint32_t file,
                               struct zr_ticket *ticket, uint64_t *ret);

/*
 * The record nearest before `offset` (or at it) whose own offset is known. Unless
 * everything before `offset` is measured, starts or resumes the pass and answers as
 * zr_sizes_get().
 */
ZR_MUST_CHECK int zr_sizes_locate(struct zr_sizes *s, uint32_t file, uint64_t offset,
                                  struct zr_ticket *ticket, uint64_t *ret_record,
                                  uint64_t *ret_offset);

/* The same from what is known now, starting nothing; false: nothing near is known.
 * Whoever asks reads the file, which counts for how the next one is measured. */
bool zr_sizes_peek_locate(struct zr_sizes *s, uint32_t file, uint64_t offset,
                          uint64_t *ret_record, uint64_t *ret_offset);

/* Where the line of `record` begins, or of nrecords where the last one ends; false: not
 * known, or not without walking from the begin of its block. */
bool zr_sizes_offset(struct zr_sizes *s, uint32_t file, uint64_t record, uint64_t *ret);

/* Records in a block of the file's index are 1 << *ret; false: not known yet. */
bool zr_sizes_block_shift(struct zr_sizes *s, uint32_t file, unsigned int *ret);

/* Whether the block index was found on disk, but not read in yet: zr_sizes_locate() does
 * that, and then zr_sizes_agree() has something to compare with. */
bool zr_sizes_is_recalled(struct zr_sizes *s);

/*
 * Whether the line of `record` may begin at `offset`: false only if the block index knows
 * better. *ret_left: records from there to the next one worth asking for.
 */
bool zr_sizes_agree(struct zr_sizes *s, uint32_t file, uint64_t record, uint64_t offset,
                    uint64_t *ret_left);

/* Text was not as long as it was measured: no index of it shall stay on disk. Blocks on
 * I/O. */
void zr_sizes_distrust(struct zr_sizes *s);

/* What has come of it that all of an array was to be known beforehand. */
enum zr_whole_state {
	ZR_WHOLE_BUSY,      /* not yet: ask again, with the same ticket */
	ZR_WHOLE_FOUND,     /* the index on disk holds good */
	ZR_WHOLE_KEPT,      /* it was measured, and is on disk now */
	ZR_WHOLE_EMPTY,     /* nothing is stored, so nothing needs to be kept */
	ZR_WHOLE_DAMAGED,   /* not kept: of damaged chunks each mount has to tell */
	ZR_WHOLE_FRESH,     /* not kept: the next change might not be seen */
	ZR_WHOLE_CROWDED,   /* not kept: too many objects to look at each (present.h) */
	ZR_WHOLE_UNWRITTEN, /* not kept: it could not be written, or is gone again */
	ZR_WHOLE_FAILED,    /* not measured: `error` */
};

struct zr_whole {
	enum zr_whole_state state;
	int error;
	double part; /* of the work that is done; BUSY only */
};

/* Starts the pass even if the sizes are known, for the rows of the block index. May block
 * on I/O. Only one thread may ask for this of one array, and then nobody for anything
 * else. */
void zr_sizes_whole(struct zr_sizes *s, struct zr_ticket *ticket, struct zr_whole *ret);

/* Whether jobs of a pass are running. */
bool zr_sizes_busy(struct zr_sizes *s);

/* Bytes of memory that it takes, what is known of stored chunks included. */
size_t zr_sizes_bytes(struct zr_sizes *s);
