/* SPDX-License-Identifier: MIT */
/*
 * here_queue.h - the queue of request.h without threads: jobs run where and when the test
 * says so, one after the other, so that an input always takes the same way
 *
 * For one file of a target, in place of request.c: all of its functions are here.
 */
#pragma once

#include "request.h"

struct zr_queue {
	struct zr_job *first;
};

struct zr_queue *zr_queue_new(void)
{
	return calloc(1, sizeof(struct zr_queue));
}

void zr_queue_add(struct zr_queue *q, struct zr_job *job)
{
	struct zr_job **end = &q->first;

	while (*end)
		end = &(*end)->next;
	job->next = NULL;
	*end = job;
}

void zr_queue_wake(struct zr_queue *q, const void *what)
{
	(void)q;
	(void)what;
}

void zr_queue_interrupt(struct zr_queue *q, struct zr_job *job)
{
	(void)q;
	(void)job;
}

/* All that there are; whether there were any. */
static bool queue_run_all(struct zr_queue *q)
{
	struct zr_job *job = q->first;

	if (!job)
		return false;
	while ((job = q->first)) {
		q->first = job->next;
		if (job->run(job) == ZR_JOB_PARK)
			zr_queue_add(q, job);
		else
			job->done(job);
	}
	return true;
}

void zr_queue_free(struct zr_queue *q)
{
	if (q)
		queue_run_all(q);
	free(q);
}
