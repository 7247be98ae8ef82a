/* SPDX-License-Identifier: MIT */
/*
 * sizes_impl.h - what sizes.c (asking and waiting) and sizes_pass.c (measuring) share
 *
 * Layer 3, private.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "request.h"
#include "sizes.h"

#define ZR_PASS_JOBS ZR_KEY_THREADS

/*
 *     idle -> running -> done
 *              |  ^
 *              v  | somebody asks
 *            paused   (time over, or something failed: `error`)
 */
enum zr_pass_state { ZR_PASS_IDLE, ZR_PASS_RUNNING, ZR_PASS_PAUSED, ZR_PASS_DONE };

struct zr_pass_job {
	struct zr_job job; /* first: the queue sees only this */
	struct zr_sizes *sizes;
	bool alive;    /* with the queue, or about to be. Guarded by the sizes' lock */
	uint64_t unit; /* the one in work; UINT64_MAX: none. Likewise */

	/* What the block index does not have yet: of `count` records of one block. */
	uint64_t record; /* the first of them */
	uint64_t count;
	uint64_t *lens; /* one for each file; part of zr_sizes.lens */

	struct zr_stamp stamp; /* what it looked at for the unit in work */
	void *solo;            /* of zr_solo */
};

struct zr_sizes {
	struct zr_source *source;
	const struct zr_measure *measure;
	struct zr_queue *queue;
	unsigned int size_wait;
	uint32_t nfiles;
	bool *indexed;  /* owned; one for each file */
	uint64_t *lens; /* owned; one for each file and job */

	/* Of one file alone: */
	struct zr_sizes *array; /* borrowed: of all files. NULL: this is it */
	uint32_t file;          /* its number there */
	struct zr_solo *how;    /* borrowed */
	struct zr_sizes *other; /* of another file; never changes */
	atomic_bool was_read;   /* somebody has read from the file */

	/* Of all files: */
	struct zr_solo **offered;        /* owned; by file: borrowed, or NULL */
	_Atomic(struct zr_sizes *) solo; /* owned: of one file each, the latest first */
	unsigned int nsolos;             /* guarded by the lock */
	_Atomic uint64_t listed_at;      /* ms: when the names of all were read last */
	_Atomic uint64_t used_at;        /* ms: when somebody asked for anything */
	struct zr_job later;             /* begins the pass when nobody does */
	atomic_bool waiting;             /* `later` is with the queue */

	_Atomic(uint64_t *) sizes; /* owned; one for each file once known, else NULL */
	atomic_size_t bytes;       /* of the block index */
	atomic_uint running;       /* jobs that are alive; changed with the lock held */

	pthread_mutex_t lock; /* guards what follows; never held during I/O */
	enum zr_pass_state state;
	int error;                /* why it is paused; 0: the time was over */
	bool listed;              /* `blocks` and `nunits` are set */
	struct zr_recall *recall; /* borrowed, or NULL */
	bool checking;            /* the stage before measuring: see sizes_pass.c */
	bool stamping;            /* objects are looked at while they are measured */
	bool unsaved;             /* done, and to be kept on disk */
	struct zr_blocks blocks;
	uint64_t nunits;
	uint64_t next;               /* unit that nobody has taken yet */
	uint64_t finished;           /* units in all */
	uint64_t redo[ZR_PASS_JOBS]; /* units that failed and are to be tried again */
	unsigned int nredo;
	struct zr_pass_job jobs[ZR_PASS_JOBS];
	uint64_t woke; /* ms, as zr_now_ms(): when waiters were last told of progress */

	/* The window in which the pass runs, and askers wait: sizes.c. */
	uint64_t window;
	uint64_t began, ends, stops; /* ms */
	atomic_bool told;            /* the log line about its end */
};

/* Milliseconds of the monotonic clock. */
uint64_t zr_now_ms(void);

/* The pass over one file is over: that over all is to follow. Without the lock. */
void zr_pass_later(struct zr_sizes *s);

/* Sets the jobs to work; to be called without the lock, after it was made RUNNING. */
void zr_pass_start(struct zr_sizes *s);
