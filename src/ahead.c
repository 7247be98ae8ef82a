/* SPDX-License-Identifier: MIT */
#include "ahead.h"

#include "request.h"

/* Two requests of one reader may come in the wrong order, or lie a little apart. */
#define NEAR ((uint64_t)1 << 20)
/* A reader is believed to be sequential when it went on so often. */
#define BELIEVED 1

struct piece_job {
	struct zr_job job; /* first: the queue sees only this */
	struct zr_ahead *ahead;
	uint64_t piece;
};

void zr_ahead_init(struct zr_ahead *a, struct zr_ahead_jobs *jobs, zr_ahead_make make,
                   void *arg)
{
	*a = (struct zr_ahead){.jobs = jobs, .make = make, .arg = arg};
	pthread_mutex_init(&a->lock, NULL);
}

void zr_ahead_done(struct zr_ahead *a)
{
	pthread_mutex_destroy(&a->lock);
}

static bool is_near(const struct zr_ahead_stream *s, uint64_t offset)
{
	return s->end > 0 && offset <= s->end + NEAR && offset + NEAR >= s->end;
}

bool zr_ahead_follows(struct zr_ahead *a, uint64_t offset, uint64_t len)
{
	struct zr_ahead_stream s = {0};
	unsigned int i = 0;

	if (!a->jobs || !a->jobs->queue)
		return false;
	pthread_mutex_lock(&a->lock);
	while (i < ZR_AHEAD_STREAMS && !is_near(&a->streams[i], offset))
		i++;
	if (i < ZR_AHEAD_STREAMS) {
		s = a->streams[i];
		if (offset + len > s.end) /* else the same again, or one overtaken */
			s.follows++;
	} else {
		i = ZR_AHEAD_STREAMS - 1;
	}
	s.end = ZR_MAX(s.end, offset + len);
	memmove(a->streams + 1, a->streams, i * sizeof(s));
	a->streams[0] = s;
	pthread_mutex_unlock(&a->lock);
	return s.follows >= BELIEVED;
}

static enum zr_job_result piece_run(struct zr_job *job)
{
	struct piece_job *p = (struct piece_job *)job;

	p->ahead->make(p->ahead->arg, p->piece, &job->abandoned);
	return ZR_JOB_DONE;
}

static void piece_done(struct zr_job *job)
{
	struct zr_ahead_jobs *jobs = ((struct piece_job *)job)->ahead->jobs;

	free(job);
	atomic_fetch_sub(&jobs->running, 1); /* from here on they may be gone */
}

static void piece_begin(struct zr_ahead *a, uint64_t piece)
{
	struct piece_job *p = calloc(1, sizeof(*p));

	if (!p)
		return; /* the reader will make it */
	p->job.key = (uint64_t)(uintptr_t)a;
	p->job.run = piece_run;
	p->job.done = piece_done;
	p->ahead = a;
	p->piece = piece;
	atomic_fetch_add(&a->jobs->running, 1);
	zr_queue_add(a->jobs->queue, &p->job);
}

void zr_ahead_run(struct zr_ahead *a, uint64_t piece, uint64_t end)
{
	uint64_t next;

	pthread_mutex_lock(&a->lock);
	next = a->streams[0].begun;
	if (next < piece || next > end) /* at first, or after it has turned */
		next = piece;
	a->streams[0].begun = ZR_MAX(end, next);
	pthread_mutex_unlock(&a->lock);
	for (; next < end; next++)
		piece_begin(a, next);
}
