/* SPDX-License-Identifier: MIT */
#include "parts.h"

#include <errno.h>
#include <pthread.h>

#include "buf.h"

#define PART_MOST ((size_t)16 << 20)  /* what waits in memory of one part */
#define PART_WRITE ((size_t)64 << 10) /* what is written at a time when it may be */
#define MAX_THREADS 64

struct run {
	const struct zr_parts *p;
	atomic_bool over; /* an error came */

	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t turned;
	uint64_t next; /* part that nobody has begun */
	uint64_t turn; /* part that may be written; changed by its maker only */
	int error;
	struct zr_err err;
};

struct zr_part {
	struct run *run;
	uint64_t n;
	struct zr_buf buf; /* made, not written */
};

/* Until all parts before it are written. */
static int part_wait(struct zr_part *part)
{
	struct run *run = part->run;
	int r;

	pthread_mutex_lock(&run->lock);
	while (run->turn != part->n && !atomic_load(&run->over))
		pthread_cond_wait(&run->turned, &run->lock);
	r = atomic_load(&run->over) ? -ECANCELED : 0;
	pthread_mutex_unlock(&run->lock);
	return r;
}

static bool part_is_first(struct zr_part *part)
{
	bool first;

	pthread_mutex_lock(&part->run->lock);
	first = part->run->turn == part->n;
	pthread_mutex_unlock(&part->run->lock);
	return first;
}

static int part_flush(struct zr_part *part)
{
	const struct zr_parts *p = part->run->p;
	int r = part_wait(part);

	if (r == 0 && part->buf.len > 0)
		r = p->write(p->arg, part->buf.data, part->buf.len);
	part->buf.len = 0;
	return r;
}

int zr_part_room(struct zr_part *part, size_t len, uint8_t **ret)
{
	struct zr_buf *b = &part->buf;
	int r = 0;

	if (b->len > 0 && (len > PART_MOST || b->len > PART_MOST - len ||
	                   (b->len >= PART_WRITE && part_is_first(part))))
		r = part_flush(part);
	if (r == 0)
		r = zr_buf_reserve(b, len);
	if (r < 0)
		return r;
	*ret = b->data + b->len;
	return 0;
}

void zr_part_add(struct zr_part *part, size_t n)
{
	part->buf.len += n;
}

const atomic_bool *zr_part_cancelled(const struct zr_part *part)
{
	return &part->run->over;
}

/* Hands the turn on, or ends everything. Only the part whose turn it is has a say: so the
 * first error in the order of parts is the one that counts. */
static void part_finish(struct zr_part *part, int r, const struct zr_err *err)
{
	struct run *run = part->run;

	pthread_mutex_lock(&run->lock);
	if (run->turn == part->n && !atomic_load(&run->over)) {
		run->turn++;
		if (r < 0) {
			run->error = r;
			run->err = *err;
			atomic_store(&run->over, true);
		}
	}
	pthread_cond_broadcast(&run->turned);
	pthread_mutex_unlock(&run->lock);
}

static bool part_begin(struct run *run, struct zr_part *part)
{
	bool more;

	pthread_mutex_lock(&run->lock);
	more = !atomic_load(&run->over) && run->next < run->p->count;
	part->n = more ? run->next++ : 0;
	pthread_mutex_unlock(&run->lock);
	return more;
}

static void *run_parts(void *arg)
{
	struct zr_part part = {.run = arg};
	const struct zr_parts *p = part.run->p;

	while (part_begin(part.run, &part)) {
		struct zr_err err = {0};
		int r = p->make(p->arg, part.n, &part, &err), w = part_flush(&part);

		if (r == -ENOMEM)
			zr_err_set(&err, r, "out of memory");
		part_finish(&part, r < 0 ? r : w, &err);
	}
	zr_buf_done(&part.buf);
	return NULL;
}

int zr_parts_run(const struct zr_parts *p, struct zr_err *reterr)
{
	struct run run = {.p = p};
	unsigned int n = 0, want = ZR_MIN(p->threads, MAX_THREADS);
	pthread_t threads[MAX_THREADS];

	pthread_mutex_init(&run.lock, NULL);
	pthread_cond_init(&run.turned, NULL);
	while (n + 1 < want && n + 1 < p->count &&
	       pthread_create(&threads[n], NULL, run_parts, &run) == 0)
		n++;
	run_parts(&run);
	while (n > 0)
		pthread_join(threads[--n], NULL);
	pthread_cond_destroy(&run.turned);
	pthread_mutex_destroy(&run.lock);
	if (run.error < 0 && reterr)
		*reterr = run.err;
	return run.error;
}
