/* SPDX-License-Identifier: MIT */
/*
 * ahead.h - work that is done before a sequential reader asks for it
 *
 *   store bytes -> codec -> chunk cache -> [ ahead ] view -> render -> fuse reply
 *
 * The kernel keeps at most two requests of one reader in flight, so that most cores would
 * wait. A file is cut into *pieces*, numbered from 0; whoever reads it tells here which
 * bytes are asked for, and once a reader was seen to go on from where it had ended, the
 * pieces that come next are made by jobs of the queue, a few at a time. A piece that
 * nobody fetches in the end was made in vain, and no more: what is made, and where it is
 * kept, is the file's affair.
 *
 * Layer 1. May include request.h and layer 0.
 *
 * Memory: a zr_ahead_jobs is shared by the files of one array and outlives them; a
 *         zr_ahead is part of a file. Both must stay as long as zr_ahead_busy().
 * Threads: all functions from any thread.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "util.h"

#define ZR_AHEAD_STREAMS 4

struct zr_queue;

/* The jobs of all files of an array. */
struct zr_ahead_jobs {
	struct zr_queue *queue; /* borrowed; NULL: nothing is done ahead */
	atomic_uint running;
};

/* Makes a piece; soon ends when *cancel becomes true. It tells nobody of a failure: the
 * reader who comes there will meet it. */
typedef void (*zr_ahead_make)(void *arg, uint64_t piece, const atomic_bool *cancel);

/* One reader, as far as can be told. */
struct zr_ahead_stream {
	uint64_t end;         /* of what it asked for */
	uint64_t begun;       /* pieces before this one were made, or are being made */
	unsigned int follows; /* how often it went on from where it had ended */
};

struct zr_ahead {
	struct zr_ahead_jobs *jobs; /* borrowed */
	zr_ahead_make make;
	void *arg;

	pthread_mutex_t lock;                             /* guards what follows */
	struct zr_ahead_stream streams[ZR_AHEAD_STREAMS]; /* most recent first */
};

void zr_ahead_init(struct zr_ahead *a, struct zr_ahead_jobs *jobs, zr_ahead_make make,
                   void *arg);
void zr_ahead_done(struct zr_ahead *a);

/* Somebody asks for `len` bytes from `offset` on. Whether that goes on from where a
 * reader had ended, or nearly (requests overtake each other). */
bool zr_ahead_follows(struct zr_ahead *a, uint64_t offset, uint64_t len);

/* The reader who asked last is at `piece`: from there on, pieces before `end` are made,
 * those that were not begun already for the same reader. */
void zr_ahead_run(struct zr_ahead *a, uint64_t piece, uint64_t end);

/* Whether jobs are running, or will. */
static inline bool zr_ahead_busy(struct zr_ahead_jobs *jobs)
{
	return atomic_load(&jobs->running) > 0;
}
