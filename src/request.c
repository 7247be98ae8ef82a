/* SPDX-License-Identifier: MIT */
/*
 * Jobs of one key form a lane. A lane that could start a job stands in one of two rings:
 * `fresh` if it has none running, `more` if it has some but not yet ZR_KEY_THREADS. A
 * free worker takes the first lane of `fresh`, else, while at least half of the threads
 * are idle, the first of `more`; the lane then goes to the end. All of that is O(1).
 *
 *            +----------- woken, or the tick ----------+
 *            v                                         |
 *   add -> QUEUED -> RUNNING -- ZR_JOB_PARK -------> PARKED
 *            |         |  ZR_JOB_DONE                  |
 *            +---------+-> ENDED -> done() <-----------+   (abandoned)
 *
 * A job that another thread looks at without the lock (it asks /proc, or runs abandon())
 * is pinned; whoever takes the last pin off a job that has ended calls done().
 *
 * Whenever a job may start, a worker is on its way to it: one that is busy looks again
 * before it sleeps (and what it ends or parks lets at most one more job start), and for
 * a job that is added or woken one is sent, which so far slept, or is started.
 */
#include "request.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>
#include <utlist.h>

#include "asker.h"

enum job_state { JOB_NEW, JOB_QUEUED, JOB_RUNNING, JOB_PARKED, JOB_ENDED };

enum lane_ring { RING_FRESH, RING_MORE, RING_NONE };

struct zr_lane {
	uint64_t key;
	struct zr_job *queued; /* in the order in which they run */
	unsigned int running;
	unsigned int jobs; /* that have not ended, whatever their state */
	enum lane_ring ring;
	struct zr_lane *next, *prev; /* in that ring */
	UT_hash_handle hh;
};

#define WAKE_SLOTS 64

struct zr_queue {
	pthread_mutex_t lock; /* guards all that follows, and the queue's part of jobs */
	pthread_cond_t work;  /* for idle workers: a job, or the end */
	pthread_cond_t
		to_watch; /* for the watcher: a parked or interrupted job, or the end */

	struct zr_lane *lanes;   /* hash table by key */
	struct zr_lane overflow; /* shared by keys for whose lane there was no memory */
	struct zr_lane *ring[RING_NONE];
	struct zr_job *running, *parked;
	struct zr_job *interrupted; /* linked by poll_next; in any state */

	/* When each `what` was woken last, as a count of wakes; those that share a slot
	 * only cause a run too many. */
	uint64_t wakes, woken[WAKE_SLOTS];

	unsigned int nthreads;
	unsigned int limit;  /* most threads that there will be, as far as is known */
	unsigned int busy;   /* threads inside run() */
	unsigned int idle;   /* threads that start or sleep, */
	unsigned int coming; /* of which so many were sent for a job */
	bool stopping;
	pthread_t threads[ZR_QUEUE_THREADS];
	pthread_t watcher;
	bool watched; /* the watcher was started */
};

/* All static functions are called with the lock held. Those that call a job's functions
 * drop it meanwhile: queue_unpin, queue_abandon, queue_run and queue_watch_askers. */

static void lane_leave_ring(struct zr_queue *q, struct zr_lane *lane)
{
	if (lane->ring != RING_NONE)
		DL_DELETE(q->ring[lane->ring], lane);
	lane->ring = RING_NONE;
}

/* Puts a lane where it belongs after its jobs changed; at the end if that is new. */
static void lane_place(struct zr_queue *q, struct zr_lane *lane)
{
	enum lane_ring ring = RING_NONE;

	if (lane->queued && lane->running < ZR_KEY_THREADS)
		ring = lane->running ? RING_MORE : RING_FRESH;
	if (ring == lane->ring)
		return;
	lane_leave_ring(q, lane);
	lane->ring = ring;
	if (ring != RING_NONE)
		DL_APPEND(q->ring[ring], lane);
}

static struct zr_lane *queue_lane(struct zr_queue *q, uint64_t key)
{
	struct zr_lane *lane;

	HASH_FIND(hh, q->lanes, &key, sizeof(key), lane);
	if (lane)
		return lane;

	lane = calloc(1, sizeof(*lane));
	if (!lane)
		return &q->overflow;
	lane->key = key;
	lane->ring = RING_NONE;
	HASH_ADD(hh, q->lanes, key, sizeof(lane->key), lane);
	if (!lane->hh.tbl) {
		free(lane);
		return &q->overflow;
	}
	return lane;
}

/* The first lane that may start a job, or NULL. */
static struct zr_lane *queue_first_lane(const struct zr_queue *q)
{
	if (q->ring[RING_FRESH])
		return q->ring[RING_FRESH];
	return 2 * q->busy < q->limit ? q->ring[RING_MORE] : NULL;
}

static struct zr_job *queue_next(struct zr_queue *q)
{
	struct zr_lane *lane = queue_first_lane(q);
	struct zr_job *job;

	if (!lane)
		return NULL;
	job = lane->queued;
	DL_DELETE(lane->queued, job);
	lane->running++;
	lane_leave_ring(q, lane);
	lane_place(q, lane);
	return job;
}

static int queue_start_thread(pthread_t *thread, void *(*f)(void *), struct zr_queue *q)
{
	static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
	sigset_t blocked, before;
	int r;

	sigfillset(&blocked);
	for (size_t i = 0; i < ZR_COUNT(crashes); i++)
		sigdelset(&blocked, crashes[i]);
	pthread_sigmask(SIG_SETMASK, &blocked, &before);
	r = pthread_create(thread, NULL, f, q);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -r;
}

static void *queue_worker(void *arg);

/* When there is no thread to be had, the first that is free takes the job, and half of
 * the threads is half of those that exist. */
static void queue_start_worker(struct zr_queue *q)
{
	if (q->nthreads == ZR_QUEUE_THREADS)
		return;
	if (queue_start_thread(&q->threads[q->nthreads], queue_worker, q) == 0) {
		q->nthreads++;
		q->idle++;
		q->limit = ZR_QUEUE_THREADS;
	} else {
		q->limit = q->nthreads;
	}
}

/* A job was queued: sends a worker for it, if it may start. */
static void queue_staff(struct zr_queue *q)
{
	if (q->stopping || !queue_first_lane(q))
		return;
	if (q->idle == q->coming)
		queue_start_worker(q);
	if (q->idle > q->coming) {
		q->coming++;
		pthread_cond_signal(&q->work);
	}
}

/* Before those that came later. */
static void queue_resume(struct zr_queue *q, struct zr_job *job)
{
	job->state = JOB_QUEUED;
	DL_PREPEND(job->lane->queued, job);
	lane_place(q, job->lane);
}

/* Resumes the parked jobs that wait on `what`, or all, in their order. */
static void queue_resume_parked(struct zr_queue *q, const void *what, bool all)
{
	struct zr_job *job, *tmp, *last_first = NULL;

	DL_FOREACH_SAFE(q->parked, job, tmp)
	{
		if (!all && job->wait_on != what)
			continue;
		DL_DELETE(q->parked, job);
		DL_PREPEND(last_first, job);
	}
	DL_FOREACH_SAFE(last_first, job, tmp)
	{
		DL_DELETE(last_first, job);
		queue_resume(q, job);
		queue_staff(q);
	}
}

static uint64_t *queue_wake_slot(struct zr_queue *q, const void *what)
{
	return &q->woken[((uintptr_t)what * UINT64_C(0x9e3779b97f4a7c15)) >> 58];
}

static void queue_park(struct zr_queue *q, struct zr_job *job)
{
	job->state = JOB_PARKED;
	if (!q->parked)
		pthread_cond_signal(&q->to_watch);
	DL_APPEND(q->parked, job);
}

static void queue_stop_watching(struct zr_queue *q, struct zr_job *job)
{
	if (job->interrupted)
		DL_DELETE2(q->interrupted, job, poll_prev, poll_next);
	job->interrupted = false;
}

/* The job, which is in no list of jobs any more, will not run again. */
static void queue_end(struct zr_queue *q, struct zr_job *job)
{
	struct zr_lane *lane = job->lane;

	job->state = JOB_ENDED;
	job->lane = NULL;
	queue_stop_watching(q, job);
	lane->jobs--;
	lane_place(q, lane);
	if (lane->jobs == 0 && lane != &q->overflow) {
		HASH_DEL(q->lanes, lane);
		free(lane);
	}
}

static void queue_unpin(struct zr_queue *q, struct zr_job *job)
{
	if (--job->pins > 0 || job->state != JOB_ENDED)
		return;
	pthread_mutex_unlock(&q->lock);
	job->done(job);
	pthread_mutex_lock(&q->lock);
}

/* For a job that has neither ended nor been abandoned. */
static void queue_abandon(struct zr_queue *q, struct zr_job *job)
{
	job->abandoned = true;
	job->pins++;
	queue_stop_watching(q, job);
	if (job->state == JOB_QUEUED)
		DL_DELETE(job->lane->queued, job);
	else if (job->state == JOB_PARKED)
		DL_DELETE(q->parked, job);
	if (job->state != JOB_RUNNING)
		queue_end(q, job);

	pthread_mutex_unlock(&q->lock);
	if (job->abandon)
		job->abandon(job);
	pthread_mutex_lock(&q->lock);
	queue_unpin(q, job);
}

static void queue_run(struct zr_queue *q, struct zr_job *job)
{
	uint64_t wakes = q->wakes;
	enum zr_job_result result;

	job->state = JOB_RUNNING;
	DL_APPEND(q->running, job);
	q->busy++;
	pthread_mutex_unlock(&q->lock);
	result = job->run(job);
	pthread_mutex_lock(&q->lock);
	q->busy--;
	DL_DELETE(q->running, job);
	job->lane->running--;

	if (result == ZR_JOB_PARK && !job->abandoned) {
		/* Woken after run() had looked: nobody would wake it again. */
		if (*queue_wake_slot(q, job->wait_on) > wakes)
			queue_resume(q, job);
		else
			queue_park(q, job);
		lane_place(q, job->lane);
		return;
	}
	job->pins++;
	queue_end(q, job);
	queue_unpin(q, job);
}

static void *queue_worker(void *arg)
{
	struct zr_queue *q = arg;
	struct zr_job *job;

	pthread_setname_np(pthread_self(), "worker");
	pthread_mutex_lock(&q->lock);
	while (!q->stopping) {
		q->idle--;
		if (q->coming)
			q->coming--;
		while (!q->stopping && (job = queue_next(q)))
			queue_run(q, job);
		q->idle++;
		if (!q->stopping)
			pthread_cond_wait(&q->work, &q->lock);
	}
	pthread_mutex_unlock(&q->lock);
	return NULL;
}

/* Looks once at the asker of each interrupted job. */
static void queue_watch_askers(struct zr_queue *q)
{
	struct zr_job *job;
	size_t n;

	DL_COUNT2(q->interrupted, job, n, poll_next);
	while (n-- && q->interrupted && !q->stopping) {
		bool gone;

		/* To the end of the list, which may change while the lock is dropped. */
		job = q->interrupted;
		DL_DELETE2(q->interrupted, job, poll_prev, poll_next);
		DL_APPEND2(q->interrupted, job, poll_prev, poll_next);
		job->pins++;
		pthread_mutex_unlock(&q->lock);
		gone = zr_asker_gone(job->tid);
		pthread_mutex_lock(&q->lock);
		if (gone && job->state != JOB_ENDED && !job->abandoned)
			queue_abandon(q, job);
		queue_unpin(q, job);
	}
}

static void *queue_watcher(void *arg)
{
	struct zr_queue *q = arg;

	pthread_setname_np(pthread_self(), "watcher");
	pthread_mutex_lock(&q->lock);
	while (!q->stopping) {
		struct timespec at;
		int r = 0;

		if (!q->parked && !q->interrupted) {
			pthread_cond_wait(&q->to_watch, &q->lock);
			continue;
		}
		clock_gettime(CLOCK_MONOTONIC, &at);
		at.tv_nsec += ZR_PARK_TICK * 1000000;
		at.tv_sec += at.tv_nsec / 1000000000;
		at.tv_nsec %= 1000000000;
		while (r == 0 && !q->stopping)
			r = pthread_cond_timedwait(&q->to_watch, &q->lock, &at);
		if (q->stopping)
			break;
		queue_resume_parked(q, NULL, true);
		queue_watch_askers(q);
	}
	pthread_mutex_unlock(&q->lock);
	return NULL;
}

struct zr_queue *zr_queue_new(void)
{
	struct zr_queue *q = calloc(1, sizeof(*q));
	pthread_condattr_t monotonic;
	bool started;

	if (!q)
		return NULL;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->work, NULL);
	pthread_cond_init(&q->to_watch, &monotonic);
	pthread_condattr_destroy(&monotonic);
	q->overflow.ring = RING_NONE;

	q->watched = queue_start_thread(&q->watcher, queue_watcher, q) == 0;
	pthread_mutex_lock(&q->lock);
	queue_start_worker(q);
	started = q->watched && q->nthreads;
	pthread_mutex_unlock(&q->lock);
	if (!started) {
		zr_queue_free(q);
		return NULL;
	}
	return q;
}

/* A job that zr_queue_free() has yet to abandon, or NULL. */
static struct zr_job *queue_any(struct zr_queue *q)
{
	struct zr_job *job;
	struct zr_lane *lane, *tmp;

	if (q->parked)
		return q->parked;
	DL_FOREACH(q->running, job)
	{
		if (!job->abandoned)
			return job;
	}
	HASH_ITER(hh, q->lanes, lane, tmp)
	{
		if (lane->queued)
			return lane->queued;
	}
	return q->overflow.queued;
}

void zr_queue_free(struct zr_queue *q)
{
	struct zr_job *job;

	if (!q)
		return;
	pthread_mutex_lock(&q->lock);
	q->stopping = true;
	/* First all askers get their answers, then the workers are waited for. */
	while ((job = queue_any(q)))
		queue_abandon(q, job);
	pthread_cond_broadcast(&q->work);
	pthread_cond_signal(&q->to_watch);
	pthread_mutex_unlock(&q->lock);

	if (q->watched)
		pthread_join(q->watcher, NULL);
	for (unsigned int i = 0; i < q->nthreads; i++)
		pthread_join(q->threads[i], NULL);
	pthread_cond_destroy(&q->to_watch);
	pthread_cond_destroy(&q->work);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

void zr_queue_add(struct zr_queue *q, struct zr_job *job)
{
	pthread_mutex_lock(&q->lock);
	job->lane = queue_lane(q, job->key);
	job->lane->jobs++;
	job->state = JOB_QUEUED;
	DL_APPEND(job->lane->queued, job);
	if (job->interrupted) {
		DL_APPEND2(q->interrupted, job, poll_prev, poll_next);
		pthread_cond_signal(&q->to_watch);
	}
	if (q->stopping) {
		queue_abandon(q, job);
	} else {
		lane_place(q, job->lane);
		queue_staff(q);
	}
	pthread_mutex_unlock(&q->lock);
}

void zr_queue_wake(struct zr_queue *q, const void *what)
{
	pthread_mutex_lock(&q->lock);
	*queue_wake_slot(q, what) = ++q->wakes;
	queue_resume_parked(q, what, false);
	pthread_mutex_unlock(&q->lock);
}

void zr_queue_interrupt(struct zr_queue *q, struct zr_job *job)
{
	pthread_mutex_lock(&q->lock);
	if (job->tid > 0 && !job->interrupted && !job->abandoned &&
	    job->state != JOB_ENDED) {
		job->interrupted = true;
		if (job->state != JOB_NEW) {
			DL_APPEND2(q->interrupted, job, poll_prev, poll_next);
			pthread_cond_signal(&q->to_watch);
		}
	}
	pthread_mutex_unlock(&q->lock);
}
