/* SPDX-License-Identifier: MIT */
/*
 * States of the pass. A *window* begins when somebody asks and nothing runs, or when the
 * last one is over; its number is in each asker's ticket:
 *
 *     idle -> running -> done
 *              |  ^
 *              v  | somebody asks
 *            paused   (time over, or the store failed: `error` is for that window)
 *
 * Units of work are cells: unit = (nth stored object) * cells_per_object + cell within
 * it.
 */
#include "sizes.h"

#include <errno.h>
#include <time.h>

#include "log.h"
#include "request.h"

#define PASS_JOBS ZR_KEY_THREADS
#define WAKE_MS 20 /* progress is told to waiters at most this often */

enum state { IDLE, RUNNING, PAUSED, DONE };

struct pass_job {
	struct zr_job job; /* first: the queue sees only this */
	struct zr_sizes *sizes;
	uint64_t unit;  /* the one in work; UINT64_MAX: none */
	uint64_t *lens; /* owned: one for each file */
	bool alive;     /* with the queue */
};

struct zr_sizes {
	struct zr_source *source;
	const struct zr_measure *measure;
	struct zr_queue *queue;
	unsigned int size_wait;
	uint32_t nfiles;
	bool *indexed; /* owned */

	pthread_mutex_t lock; /* guards what follows */
	enum state state;
	bool listed; /* `present` and `blocks` are set up */
	struct zr_present present;
	struct zr_blocks blocks;
	uint64_t nunits;
	uint64_t next;            /* unit that nobody has taken yet */
	uint64_t redo[PASS_JOBS]; /* units that failed and are to be tried again */
	unsigned int nredo;
	atomic_uint running; /* jobs with the queue; read without the lock too */
	struct pass_job jobs[PASS_JOBS];
	uint64_t window;
	int error;                   /* why the window ended early */
	uint64_t began, ends, stops; /* of the window: ms of the monotonic clock */
	bool told;                   /* the log line about its end */
	uint64_t woke;
	uint64_t finished;   /* units in all */
	atomic_size_t bytes; /* of present and blocks; read without the lock */
	uint64_t *sizes;     /* owned; one for each file once known, else NULL */
};

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

struct zr_sizes *zr_sizes_new(struct zr_source *source, const struct zr_measure *measure,
                              const bool *indexed, struct zr_queue *queue,
                              unsigned int size_wait, const uint64_t *known)
{
	struct zr_sizes *s = calloc(1, sizeof(*s));
	uint64_t *copy = NULL;

	if (!s)
		return NULL;
	s->source = source;
	s->measure = measure;
	s->queue = queue;
	s->size_wait = size_wait;
	s->nfiles = zr_measure_files(measure);
	pthread_mutex_init(&s->lock, NULL);
	s->indexed = reallocarray(NULL, s->nfiles, sizeof(*s->indexed));
	if (known)
		copy = reallocarray(NULL, s->nfiles, sizeof(*copy));
	atomic_init(&s->sizes, copy);
	if (!s->indexed || (known && !copy)) {
		zr_sizes_free(s);
		return NULL;
	}
	memcpy(s->indexed, indexed, s->nfiles * sizeof(*indexed));
	if (known)
		memcpy(copy, known, s->nfiles * sizeof(*known));
	return s;
}

void zr_sizes_free(struct zr_sizes *s)
{
	if (!s)
		return;
	for (unsigned int i = 0; i < PASS_JOBS; i++)
		free(s->jobs[i].lens);
	zr_blocks_done(&s->blocks);
	zr_present_done(&s->present);
	pthread_mutex_destroy(&s->lock);
	free(s->indexed);
	free(atomic_load(&s->sizes));
	free(s);
}

/* --- measuring
 * --------------------------------------------------------------------------- */

/* Every row of a cell's part inside the array, cut at the ends of blocks. */
static void measure_run(struct pass_job *j, const struct zr_run *run, uint64_t record,
                        const uint8_t *base)
{
	struct zr_sizes *s = j->sizes;
	uint64_t size = s->source->array->type.size;
	const uint8_t *rec = base + run->first * size;

	for (uint64_t done = 0; done < run->count;) {
		uint64_t n =
			ZR_MIN(run->count - done, zr_blocks_left(&s->blocks, record));

		memset(j->lens, 0, s->nfiles * sizeof(*j->lens));
		zr_gate_enter(s->source->gate);
		zr_measure_run(s->measure, rec, run->step * size, n, j->lens);
		zr_gate_leave(s->source->gate);
		pthread_mutex_lock(&s->lock);
		zr_blocks_add(&s->blocks, record, n, j->lens);
		pthread_mutex_unlock(&s->lock);
		rec += run->step * size * n;
		record += n;
		done += n;
	}
}

static void measure_chunk(struct pass_job *j, uint64_t cell, const struct zr_chunk *chunk)
{
	const struct zr_grid *g = &j->sizes->source->grid;
	uint64_t index[ZR_MAX_DIMS] = {0};
	struct zr_box box;
	uint32_t k;

	zr_grid_cell_box(g, cell, &box);
	memcpy(index, box.start, sizeof(*index) * g->ndim);
	do {
		uint64_t record = zr_grid_record(g, index);
		struct zr_run run;

		zr_grid_run(g, record, &run);
		measure_run(j, &run, record, chunk->data.data);
		/* The next row of the box: count up all axes but the last. */
		for (k = g->ndim; k-- > 0;) {
			if (k + 1 == g->ndim)
				continue;
			if (++index[k] < box.start[k] + box.extent[k])
				break;
			index[k] = box.start[k];
		}
	} while (k != UINT32_MAX && g->ndim > 1);
}

/* 0, or the store's failure. A chunk that is damaged or not there adds nothing. */
static int measure_unit(struct pass_job *j)
{
	struct zr_source *src = j->sizes->source;
	struct zr_chunk *chunk;
	uint64_t cell;
	int r;

	cell = zr_grid_nth_cell(
		&src->grid,
		zr_present_nth(&j->sizes->present, j->unit / src->grid.cells_per_object),
		j->unit % src->grid.cells_per_object);
	if (cell == UINT64_MAX)
		return 0;
	r = zr_source_get(src, cell, &chunk);
	if (r == 0) {
		measure_chunk(j, cell, chunk);
		zr_chunk_unref(chunk);
	}
	return r == -ENOENT || r == -EUCLEAN ? 0 : r;
}

/* --- the pass
 * ------------------------------------------------------------------------------ */

/* With the lock held. The first record that an unfinished unit could still add to. */
static uint64_t pass_floor(const struct zr_sizes *s)
{
	const struct zr_grid *g = &s->source->grid;
	uint64_t unit = s->next, object, at[ZR_MAX_DIMS];

	for (unsigned int i = 0; i < s->nredo; i++)
		unit = ZR_MIN(unit, s->redo[i]);
	for (unsigned int i = 0; i < PASS_JOBS; i++)
		if (s->jobs[i].alive)
			unit = ZR_MIN(unit, s->jobs[i].unit);
	if (unit >= s->nunits)
		return g->nrecords;
	if (g->ndim == 0)
		return 0;
	object = zr_present_nth(&s->present, unit / g->cells_per_object);
	if (g->ndim == 1)
		return ZR_MIN(g->nrecords,
		              object * g->object[0] +
		                      unit % g->cells_per_object * g->cell[0]);
	/* Objects of one slab share its rows. */
	zr_grid_object_at(g, object, at);
	return at[0] * g->object[0] * g->behind[0];
}

/* With the lock held. */
static void pass_finish(struct zr_sizes *s)
{
	uint64_t *sizes = reallocarray(NULL, s->nfiles, sizeof(*sizes));

	if (!sizes) {
		s->state = PAUSED;
		s->error = -ENOMEM;
		return;
	}
	for (uint32_t f = 0; f < s->nfiles; f++)
		sizes[f] = zr_blocks_total(&s->blocks, f);
	s->state = DONE;
	if (!atomic_load(&s->sizes))
		atomic_store(&s->sizes, ZR_TAKE(sizes));
	free(sizes);
}

/* With the lock held. Settles what can be; true if waiters should hear of it. */
static bool pass_progress(struct zr_sizes *s)
{
	uint64_t floor = pass_floor(s), now = now_ms();

	zr_blocks_settle(&s->blocks, floor);
	if (floor == s->source->grid.nrecords && s->state != DONE) {
		pass_finish(s);
		return true;
	}
	if (s->state != RUNNING)
		return true;
	if (now < s->woke + WAKE_MS)
		return false;
	s->woke = now;
	return true;
}

/* With the lock held: the next unit for this job, or UINT64_MAX. */
static uint64_t pass_take(struct zr_sizes *s)
{
	if (s->state == RUNNING && now_ms() >= s->stops)
		s->state = PAUSED;
	if (s->state != RUNNING)
		return UINT64_MAX;
	if (s->nredo > 0)
		return s->redo[--s->nredo];
	return s->next < s->nunits ? s->next++ : UINT64_MAX;
}

/* With the lock held. */
static void pass_failed(struct zr_sizes *s, uint64_t unit, int error)
{
	s->redo[s->nredo++] = unit;
	if (s->state == RUNNING)
		s->state = PAUSED;
	s->error = error;
}

static enum zr_job_result pass_run(struct zr_job *job)
{
	struct pass_job *j = (struct pass_job *)job;
	struct zr_sizes *s = j->sizes;
	bool wake;
	int r;

	pthread_mutex_lock(&s->lock);
	while (!atomic_load(&job->abandoned) && (j->unit = pass_take(s)) != UINT64_MAX) {
		pthread_mutex_unlock(&s->lock);
		r = measure_unit(j);
		pthread_mutex_lock(&s->lock);
		if (r < 0)
			pass_failed(s, j->unit, r);
		else
			s->finished++;
		j->unit = UINT64_MAX;
		wake = pass_progress(s);
		if (wake) {
			pthread_mutex_unlock(&s->lock);
			zr_queue_wake(s->queue, s);
			pthread_mutex_lock(&s->lock);
		}
	}
	j->unit = UINT64_MAX;
	pthread_mutex_unlock(&s->lock);
	return ZR_JOB_DONE;
}

static void pass_done(struct zr_job *job)
{
	struct pass_job *j = (struct pass_job *)job;
	struct zr_sizes *s = j->sizes;
	struct zr_queue *queue = s->queue;

	pthread_mutex_lock(&s->lock);
	j->alive = false;
	s->running--;
	if (s->running == 0 && s->state == RUNNING)
		s->state = PAUSED; /* abandoned */
	pthread_mutex_unlock(&s->lock);
	zr_queue_wake(queue, s); /* only compared, by now */
}

/* With the lock held. Starts the jobs that are not there. */
static void pass_start_jobs(struct zr_sizes *s)
{
	for (unsigned int i = 0; i < PASS_JOBS; i++) {
		struct pass_job *j = &s->jobs[i];

		if (j->alive)
			continue;
		if (!j->lens)
			j->lens = reallocarray(NULL, s->nfiles, sizeof(*j->lens));
		if (!j->lens) {
			s->error = -ENOMEM;
			continue;
		}
		j->job = (struct zr_job){.key = (uint64_t)(uintptr_t)s,
		                         .run = pass_run,
		                         .done = pass_done};
		j->sizes = s;
		j->unit = UINT64_MAX;
		j->alive = true;
		s->running++;
		zr_queue_add(s->queue, &j->job);
	}
}

/* With the lock held, which is kept while the directories are listed: nobody can be told
 * anything before that. */
static int pass_list(struct zr_sizes *s)
{
	const struct zr_array *a = s->source->array;
	ZR_CLEANUP(zr_freep) uint64_t *fill_len = NULL;
	struct zr_err err = {0};
	int r;

	if (s->listed)
		return 0;
	fill_len = calloc(s->nfiles, sizeof(*fill_len));
	if (!fill_len)
		return -ENOMEM;
	if (!s->present.ids && !s->present.all) {
		zr_present_done(&s->present);
		r = zr_present_load(s->source->store, s->source->path, a,
		                    &s->source->grid, &s->present, &err);
		if (r < 0) {
			zr_error("array '/%s': its chunks cannot be listed: %s",
			         s->source->path, err.code ? err.text : strerror(-r));
			return r;
		}
	}
	zr_measure_run(s->measure, a->fill, 0, 1, fill_len);
	r = zr_blocks_init(&s->blocks, &s->source->grid, &s->present, a->type.size,
	                   s->nfiles, fill_len, s->indexed, NULL);
	if (r < 0)
		return r;
	if (!zr_mul(zr_present_count(&s->present), s->source->grid.cells_per_object,
	            &s->nunits))
		s->nunits = UINT64_MAX - 1;
	atomic_store(&s->bytes,
	             s->present.count * sizeof(uint64_t) +
	                     (s->blocks.nrows + 1) * 8 * ((size_t)s->nfiles + 1));
	s->listed = true;
	return 0;
}

/* With the lock held. Begins a window: the pass starts or resumes. */
static int pass_begin(struct zr_sizes *s)
{
	int r = pass_list(s);

	if (r < 0)
		return r;
	s->window++;
	s->error = 0;
	s->told = false;
	s->began = now_ms();
	s->ends = s->began + 1000 * (uint64_t)s->size_wait;
	s->stops = s->ends + 1000 * (uint64_t)s->size_wait + 1000;
	s->state = RUNNING;
	pass_progress(s);
	if (s->state == RUNNING)
		pass_start_jobs(s);
	return 0;
}

/* --- asking
 * -------------------------------------------------------------------------------- */

/* With the lock held. After two seconds it shows whether the pass has any chance to end
 * in ten times the wait. */
static bool is_hopeless(const struct zr_sizes *s, uint64_t now)
{
	uint64_t spent = now - s->began;

	return spent > 2000 && s->window == 1 && s->size_wait > 0 &&
	       (double)spent * (double)s->nunits >
	               10e3 * s->size_wait * ((double)s->finished + 1);
}

/* With the lock held. */
static int window_over(struct zr_sizes *s)
{
	if (!s->told) {
		zr_warning("array '/%s': measuring it has come to %.1f %% after %u s; "
		           "its sizes "
		           "are not known yet. Ask again later, or raise size_wait=",
		           s->source->path,
		           s->nunits ? 100.0 * (double)s->finished / (double)s->nunits
		                     : 0,
		           (unsigned int)((now_ms() - s->began) / 1000));
		s->told = true;
	}
	return -ETIMEDOUT;
}

/* With the lock held, not DONE. Joins the window that runs, or begins one. */
static int pass_ask(struct zr_sizes *s, struct zr_ticket *ticket)
{
	uint64_t now = now_ms();
	bool mine = ticket->window != 0 && ticket->window == s->window;
	int r;

	if (mine && s->state == PAUSED)
		return s->error ? -EIO : window_over(s);
	/* Jobs of a window that failed must be gone before the next one begins. */
	if (s->state == PAUSED && s->running > 0)
		return -EINPROGRESS;
	if (s->state == IDLE || s->state == PAUSED) {
		r = pass_begin(s);
		if (r < 0)
			return r == -ENOMEM ? r : -EIO;
		if (s->state == DONE)
			return 0;
	} else if (now >= s->ends || is_hopeless(s, now)) {
		return window_over(s);
	}
	ticket->window = s->window;
	return -EINPROGRESS;
}

bool zr_sizes_peek(struct zr_sizes *s, uint32_t file, uint64_t *ret)
{
	const uint64_t *sizes = atomic_load(&s->sizes);

	if (!sizes || sizes[file] >= ZR_MAX_FILE)
		return false;
	*ret = sizes[file];
	return true;
}

const uint64_t *zr_sizes_known(struct zr_sizes *s)
{
	return atomic_load(&s->sizes);
}

int zr_sizes_get(struct zr_sizes *s, uint32_t file, struct zr_ticket *ticket,
                 uint64_t *ret)
{
	const uint64_t *sizes = atomic_load(&s->sizes);
	int r = 0;

	if (!sizes) {
		pthread_mutex_lock(&s->lock);
		if (!atomic_load(&s->sizes))
			r = pass_ask(s, ticket);
		pthread_mutex_unlock(&s->lock);
		if (r < 0)
			return r;
		sizes = atomic_load(&s->sizes);
	}
	if (sizes[file] >= ZR_MAX_FILE)
		return -EOVERFLOW;
	*ret = sizes[file];
	return 0;
}

/* With the lock held. */
static bool locate_known(struct zr_sizes *s, uint32_t file, uint64_t offset,
                         uint64_t *ret_record, uint64_t *ret_offset)
{
	return s->listed &&
	       zr_blocks_locate(&s->blocks, file, offset, ret_record, ret_offset);
}

bool zr_sizes_peek_locate(struct zr_sizes *s, uint32_t file, uint64_t offset,
                          uint64_t *ret_record, uint64_t *ret_offset)
{
	bool known;

	pthread_mutex_lock(&s->lock);
	known = locate_known(s, file, offset, ret_record, ret_offset);
	pthread_mutex_unlock(&s->lock);
	return known;
}

int zr_sizes_locate(struct zr_sizes *s, uint32_t file, uint64_t offset,
                    struct zr_ticket *ticket, uint64_t *ret_record, uint64_t *ret_offset)
{
	int r = 0;

	pthread_mutex_lock(&s->lock);
	if (!locate_known(s, file, offset, ret_record, ret_offset)) {
		r = pass_ask(s, ticket);
		if (r == 0 && !locate_known(s, file, offset, ret_record, ret_offset))
			r = -EIO;
	}
	pthread_mutex_unlock(&s->lock);
	return r;
}

bool zr_sizes_agree(struct zr_sizes *s, uint32_t file, uint64_t record, uint64_t offset,
                    uint64_t *ret_left)
{
	bool agree = true;

	pthread_mutex_lock(&s->lock);
	if (!s->listed) {
		*ret_left = UINT64_MAX;
	} else {
		*ret_left = zr_blocks_left(&s->blocks, record);
		if (zr_blocks_has(&s->blocks, record))
			agree = zr_blocks_offset(&s->blocks, file, record) == offset;
	}
	pthread_mutex_unlock(&s->lock);
	return agree;
}

const struct zr_present *zr_sizes_present(struct zr_sizes *s)
{
	const struct zr_present *p;

	pthread_mutex_lock(&s->lock);
	p = s->listed ? &s->present : NULL;
	pthread_mutex_unlock(&s->lock);
	return p;
}

bool zr_sizes_busy(struct zr_sizes *s)
{
	return atomic_load(&s->running) > 0;
}

size_t zr_sizes_bytes(struct zr_sizes *s)
{
	return sizeof(*s) + atomic_load(&s->bytes);
}
