/* SPDX-License-Identifier: MIT */
/*
 * request.h - a queue of jobs that may block, fair between keys
 *
 *   store bytes -> codec -> chunk cache -> view -> render -> [ fuse reply ]
 *
 * No FUSE handler blocks: what needs the store, a chunk or a size becomes a job here
 * and is answered by a worker thread. Keys (an inode, a measuring pass) take turns, so
 * that many slow jobs of one key delay no other. A key has at most `ZR_KEY_THREADS`
 * jobs running, and more than one only while at least half of the threads are idle, so
 * that slow keys cannot take all threads. Threads are started as they are needed.
 *
 * A job whose answer depends on work in progress elsewhere does not sit on a thread: it
 * returns ZR_JOB_PARK and is run again after zr_queue_wake() of its `wait_on`, at the
 * latest after ZR_PARK_TICK milliseconds.
 *
 * This module knows neither FUSE nor arrays.
 *
 * Layer 1. May include asker.h and layer 0.
 *
 * Memory: a job belongs to the queue from zr_queue_add() until its `done` was called.
 * Threads: all functions from any thread, also from within a job's own functions. One
 *          lock for the queue, which is never held while one of those runs. The
 *          threads have all signals blocked but those that report a crash.
 */
#pragma once

#include <stdatomic.h>
#include <sys/types.h>

#include "util.h"

#define ZR_QUEUE_THREADS 128
#define ZR_KEY_THREADS 4
#define ZR_PARK_TICK 50

enum zr_job_result { ZR_JOB_DONE, ZR_JOB_PARK };

struct zr_queue;
struct zr_lane;

struct zr_job {
	/* Set by whoever adds it. */
	uint64_t key; /* jobs of one key take turns with those of other keys */
	enum zr_job_result (*run)(struct zr_job *job);
	/* Called once, when the job will never run again: after ZR_JOB_DONE, or, without
	 * having run to its end, when it was abandoned. Frees the job. */
	void (*done)(struct zr_job *job);
	/* Its process is being killed, or the queue is stopping: give the asker an answer
	 * (EINTR) at once, from whatever thread this is. Called at most once, maybe while
	 * run() is running in another thread; run() then finds `abandoned` set. NULL:
	 * none. */
	void (*abandon)(struct zr_job *job);
	pid_t tid; /* thread that waits for the answer; 0: nobody */

	/* Set by run() before it returns ZR_JOB_PARK. */
	const void *wait_on;

	/* For run() to look at between steps: give up soon. */
	atomic_bool abandoned;

	/* The queue's own, guarded by its lock. */
	bool interrupted;
	int state;
	unsigned int pins;    /* threads that look at it without the lock */
	struct zr_lane *lane; /* jobs of the same key */
	struct zr_job *next, *prev;
	struct zr_job *poll_next, *poll_prev;
};

struct zr_queue *zr_queue_new(void); /* NULL: no memory, or no thread could be started */

/* Stops: abandons all jobs, waits for those that are running. Not from within a job. A
 * job that one of them adds meanwhile is abandoned at once. NULL is allowed. */
void zr_queue_free(struct zr_queue *q);

/* The job must be all zero but for what its comments say. Never fails: with no thread to
 * be had, the job waits for one that is free. */
void zr_queue_add(struct zr_queue *q, struct zr_job *job);

/* Runs the parked jobs that wait on `what` again. */
void zr_queue_wake(struct zr_queue *q, const void *what);

/* The asker was signalled: from now on /proc/<tid>/status is polled every ZR_PARK_TICK
 * milliseconds, and the job abandoned when SIGKILL is pending there or the thread is
 * gone. Other signals change nothing. Safe until the job's `done` has returned, and
 * also before zr_queue_add(). */
void zr_queue_interrupt(struct zr_queue *q, struct zr_job *job);

/*
 * A gate that at most `width` threads pass at a time: one for each core, held around
 * rendering (never around I/O or waiting), so that many workers that wait for a store
 * cost nothing, and many that compute do not trample each other. Decoding has as many
 * places of its own: a gate is not fair, and while those who render came back again and
 * again, the chunk that all of them want next would be late.
 */
struct zr_gate;
struct zr_gate *zr_gate_new(unsigned int width); /* 0: number of usable cores. NULL: no
                                                  * memory */
void zr_gate_free(struct zr_gate *g);            /* nobody is inside; NULL is allowed */
void zr_gate_enter(struct zr_gate *g);
void zr_gate_leave(struct zr_gate *g);
void zr_gate_enter_decoding(struct zr_gate *g);
void zr_gate_leave_decoding(struct zr_gate *g);
