/* SPDX-License-Identifier: MIT */
/*
 * The pass: up to ZR_PASS_JOBS jobs of the queue. The first lists what is stored and
 * lays out the block index, then all of them measure. Units of work are cells: unit =
 * (nth stored object) * cells_per_object + cell within it, so that they are taken in the
 * order of storage.
 *
 * Where an index on disk may hold good there is a stage before that, `checking`: units
 * are stored objects, which are only looked at. If it does hold good, that was all.
 *
 * What happens to the same block in a row is summed up by the job itself, and a slice of
 * records after the other is measured inside the gate: a chunk may have rows of three
 * records, and it may have one of 2^30.
 */
#include <errno.h>
#include <time.h>

#include "sizes_impl.h"
#include "tally.h"

#define WAKE_MS 20                  /* progress is told to waiters at most this often */
#define SLICE ((uint64_t)256 << 10) /* bytes of records that are measured at a time */

uint64_t zr_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* --- measuring -------------------------------------------------------------------------
 */

static void job_flush(struct zr_pass_job *j)
{
	struct zr_sizes *s = j->sizes;

	if (j->count == 0)
		return;
	pthread_mutex_lock(&s->lock);
	zr_blocks_add(&s->blocks, j->record, j->count, j->lens);
	pthread_mutex_unlock(&s->lock);
	memset(j->lens, 0, s->nfiles * sizeof(*j->lens));
	j->count = 0;
}

static void measure_alone(struct zr_pass_job *j, const uint8_t *rec, uint64_t stride,
                          uint64_t record, uint64_t n)
{
	struct zr_solo *how = j->sizes->how;
	uint64_t len = how->measure(how, &j->solo, rec, stride, record, n);

	if (__builtin_add_overflow(*j->lens, len, j->lens))
		*j->lens = UINT64_MAX;
}

/* n records of one block. */
static void measure_some(struct zr_pass_job *j, const uint8_t *rec, uint64_t stride,
                         uint64_t record, uint64_t n)
{
	struct zr_sizes *s = j->sizes;

	if (j->count > 0 && !zr_blocks_same(&s->blocks, j->record, record))
		job_flush(j);
	if (j->count == 0)
		j->record = record;
	if (s->how)
		measure_alone(j, rec, stride, record, n);
	else
		zr_measure_run(s->measure, rec, stride, n, j->lens);
	j->count += n;
}

/* A row of a cell, inside the gate. *room: bytes until others get a chance. */
static void measure_row(struct zr_pass_job *j, uint64_t record, const uint8_t *cell,
                        uint64_t *room)
{
	struct zr_source *src = j->sizes->source;
	uint64_t size = src->array->type.size;
	const uint8_t *rec;
	struct zr_run run;

	zr_grid_run(&src->grid, record, &run);
	rec = cell + run.first * size;
	while (run.count > 0 && !atomic_load(&j->job.abandoned)) {
		uint64_t n = ZR_MIN(run.count, ZR_MAX(*room / size, (uint64_t)1));

		n = ZR_MIN(n, zr_blocks_left(&j->sizes->blocks, record));
		measure_some(j, rec, run.step * size, record, n);
		rec += run.step * size * n;
		record += n;
		run.count -= n;
		*room -= ZR_MIN(*room, n * size);
		if (*room < size) {
			zr_gate_leave(src->gate);
			zr_gate_enter(src->gate);
			*room = SLICE;
		}
	}
}

/* Counts up all axes of a box but the last; false behind its end. */
static bool next_row(const struct zr_box *box, uint32_t ndim, uint64_t *index)
{
	for (uint32_t k = ndim; k-- > 0;) {
		if (k + 1 == ndim)
			continue;
		if (++index[k] < box->start[k] + box->extent[k])
			return true;
		index[k] = box->start[k];
	}
	return false;
}

/* The part of a cell that lies inside the array. */
static void measure_cell(struct zr_pass_job *j, uint64_t number, const uint8_t *cell)
{
	struct zr_source *src = j->sizes->source;
	const struct zr_grid *g = &src->grid;
	uint64_t index[ZR_MAX_DIMS] = {0}, room = SLICE;
	struct zr_box box;

	zr_grid_cell_box(g, number, &box);
	memcpy(index, box.start, sizeof(*index) * g->ndim);
	zr_gate_enter(src->gate);
	do
		measure_row(j, zr_grid_record(g, index), cell, &room);
	while (next_row(&box, g->ndim, index));
	if (j->solo)
		j->sizes->how->pause(j->sizes->how, &j->solo);
	zr_gate_leave(src->gate);
	job_flush(j);
}

/* While checking. */
static int check_unit(struct zr_pass_job *j)
{
	struct zr_source *src = j->sizes->source;

	return zr_stamp_object(&j->stamp, src, zr_present_nth(&src->present, j->unit));
}

/* 0, or the store's failure. A chunk that is damaged or not there adds nothing. */
static int measure_unit(struct zr_pass_job *j)
{
	struct zr_source *src = j->sizes->source;
	uint64_t per_object = src->grid.cells_per_object, object, cell;
	struct zr_chunk *chunk;
	int r = 0;

	object = zr_present_nth(&src->present, j->unit / per_object);
	/* Before it is read: a change in between is seen the next time. */
	if (j->sizes->stamping && j->unit % per_object == 0)
		r = zr_stamp_object(&j->stamp, src, object);
	cell = zr_grid_nth_cell(&src->grid, object, j->unit % per_object);
	if (r < 0 || cell == UINT64_MAX)
		return r;
	r = zr_source_scan(src, cell, &chunk);
	if (r == 0) {
		measure_cell(j, cell, chunk->data.data);
		zr_chunk_unref(chunk);
	}
	j->stamp.unsure |= r == -EUCLEAN;
	return r == -ENOENT || r == -EUCLEAN ? 0 : r;
}

/* --- progress --------------------------------------------------------------------------
 */

/* With the lock held. The first record that an unfinished unit could still add to. */
static uint64_t pass_floor(const struct zr_sizes *s)
{
	const struct zr_grid *g = &s->source->grid;
	uint64_t unit = s->next, object, at[ZR_MAX_DIMS];

	if (s->checking)
		return 0;
	for (unsigned int i = 0; i < s->nredo; i++)
		unit = ZR_MIN(unit, s->redo[i]);
	for (unsigned int i = 0; i < ZR_PASS_JOBS; i++)
		if (s->jobs[i].alive)
			unit = ZR_MIN(unit, s->jobs[i].unit);
	if (unit >= s->nunits)
		return g->nrecords;
	if (g->ndim == 0)
		return 0;
	object = zr_present_nth(&s->source->present, unit / g->cells_per_object);
	if (g->ndim == 1)
		return ZR_MIN(g->nrecords,
		              object * g->object[0] +
		                      unit % g->cells_per_object * g->cell[0]);
	/* Objects of one slab share its rows. */
	zr_grid_object_at(g, object, at);
	return at[0] * g->object[0] * g->behind[0];
}

/* With the lock held. */
static void pass_pause(struct zr_sizes *s, int error)
{
	if (s->state != ZR_PASS_RUNNING)
		return;
	s->state = ZR_PASS_PAUSED;
	s->error = error;
}

/* With the lock held: whether what was measured is to be kept on disk. Not if it comes
 * from there, nor if other sizes are shown already. */
static bool pass_may_keep(const struct zr_sizes *s)
{
	const uint64_t *sizes = atomic_load(&s->sizes);

	if (!s->recall || s->recall->state == ZR_RECALL_SURE ||
	    !zr_recall_may_keep(s->recall, &s->source->present))
		return false;
	for (uint32_t f = 0; f < s->nfiles; f++)
		if (sizes[f] != zr_blocks_total(&s->blocks, f))
			return false;
	return true;
}

/* With the lock held: everything is measured. */
static void pass_finish(struct zr_sizes *s)
{
	struct zr_shown shown[ZR_SOLOS];
	uint64_t *sizes = NULL;

	if (!atomic_load(&s->sizes)) {
		sizes = reallocarray(NULL, s->nfiles, sizeof(*sizes));
		if (!sizes) {
			pass_pause(s, -ENOMEM);
			return;
		}
		for (uint32_t f = 0; f < s->nfiles; f++)
			sizes[f] = zr_blocks_total(&s->blocks, f);
		/* What was shown stays. */
		for (unsigned int n = zr_sizes_shown(s, shown); n-- > 0;)
			sizes[shown[n].file] = shown[n].size;
		atomic_store(&s->sizes, sizes);
	}
	zr_tally_add(ZR_TALLY_MEASURED,
	             s->nunits > 0 && !(s->recall && s->recall->state == ZR_RECALL_SURE));
	s->state = ZR_PASS_DONE;
	s->unsaved = pass_may_keep(s);
}

/* With the lock held. Settles what can be; true if waiters should hear of it. */
static bool pass_progress(struct zr_sizes *s)
{
	uint64_t floor = pass_floor(s), now = zr_now_ms();

	zr_blocks_settle(&s->blocks, floor);
	if (floor == s->source->grid.nrecords && s->state != ZR_PASS_DONE)
		pass_finish(s);
	if (s->state == ZR_PASS_RUNNING && now < s->woke + WAKE_MS)
		return false;
	s->woke = now;
	return true;
}

/* With the lock held: the next unit for this job; false if there is none. */
static bool pass_take(struct zr_sizes *s, struct zr_pass_job *j)
{
	j->unit = UINT64_MAX;
	if (zr_now_ms() >= s->stops)
		pass_pause(s, 0);
	if (s->state != ZR_PASS_RUNNING || atomic_load(&j->job.abandoned))
		return false;
	if (s->nredo > 0)
		j->unit = s->redo[--s->nredo];
	else if (s->next < s->nunits)
		j->unit = s->next++;
	return j->unit != UINT64_MAX;
}

/* --- jobs ------------------------------------------------------------------------------
 */

/* With the lock held: measuring comes next, or looking whether it is necessary; or all is
 * done, because the rows of the block index were `recalled` from disk. */
static void stage_begin(struct zr_sizes *s, bool recalled)
{
	const struct zr_present *present = &s->source->present;
	struct zr_recall *r = s->recall;

	if (!zr_mul(zr_present_count(present), s->source->grid.cells_per_object,
	            &s->nunits))
		s->nunits = UINT64_MAX - 1;
	s->checking = r && zr_recall_is_hoped(r, present);
	if (s->checking)
		s->nunits = present->count;
	s->stamping =
		r && r->id.index && !present->all && !zr_recall_has_seen(r, present);
	s->next = s->finished = recalled ? s->nunits : 0;
	if (r && !recalled && !s->checking)
		r->state = ZR_RECALL_NONE;
}

/* The rows of an index that holds good, for the blocks of b. */
static bool read_rows(struct zr_sizes *s, const struct zr_blocks *b, struct zr_buf *ret)
{
	struct zr_recall r = {0};

	pthread_mutex_lock(&s->lock);
	if (s->recall)
		r = *s->recall;
	pthread_mutex_unlock(&s->lock);
	return r.state == ZR_RECALL_SURE && zr_index_read(&r.id, &r.kept, b, ret);
}

/* With the lock held, which is dropped in between: each object was looked at. */
static void check_end(struct zr_sizes *s)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf file = {0};
	bool found = false;

	if (zr_recall_settle(s->recall)) {
		pthread_mutex_unlock(&s->lock);
		found = read_rows(s, &s->blocks, &file);
		pthread_mutex_lock(&s->lock);
	}
	stage_begin(s, found && zr_index_take(&file, &s->blocks));
	s->began = zr_now_ms(); /* by which it is told how fast measuring is */
	s->woke = 0;            /* the other jobs wait for this */
}

/* Lists what is stored and lays out the block index. */
static int job_list(struct zr_pass_job *j)
{
	struct zr_sizes *s = j->sizes;
	const struct zr_array *a = s->source->array;
	ZR_CLEANUP(zr_freep) uint64_t *fill_len = calloc(s->nfiles, sizeof(*fill_len));
	ZR_CLEANUP(zr_buf_done) struct zr_buf file = {0};
	const struct zr_present *present;
	struct zr_blocks blocks;
	bool recalled;
	int r = fill_len ? zr_source_list(s->source, &present) : -ENOMEM;

	if (r < 0)
		return r;
	if (s->how)
		*fill_len = s->how->fill_len;
	else
		zr_measure_run(s->measure, a->fill, 0, 1, fill_len);
	r = zr_blocks_init(&blocks, &s->source->grid, present, a->type.size, s->nfiles,
	                   fill_len, s->indexed, &j->job.abandoned);
	if (r < 0)
		return r;
	recalled = read_rows(s, &blocks, &file) && zr_index_take(&file, &blocks);
	atomic_store(&s->bytes, (blocks.nrows + 1) * 8 * ((size_t)s->nfiles + 2));
	pthread_mutex_lock(&s->lock);
	s->blocks = blocks;
	stage_begin(s, recalled);
	s->listed = true;
	pthread_mutex_unlock(&s->lock);
	if (!recalled)
		zr_pass_start(s); /* the others */
	return 0;
}

/* With the lock held: the unit in work is done, or has failed. */
static void unit_done(struct zr_pass_job *j, int r)
{
	struct zr_sizes *s = j->sizes;

	if (r < 0) {
		s->redo[s->nredo++] = j->unit;
		pass_pause(s, r);
	} else {
		s->finished++;
		if (s->recall)
			zr_stamp_add(&s->recall->seen, &j->stamp);
	}
	j->unit = UINT64_MAX;
	if (s->checking && s->finished == s->nunits)
		check_end(s);
}

/* With the lock held, which is dropped: there is nothing more to do, or not now. */
static enum zr_job_result job_end(struct zr_pass_job *j)
{
	struct zr_sizes *s = j->sizes;
	bool save = s->unsaved, wait, later;
	struct zr_recall r;

	wait = s->checking && s->state == ZR_PASS_RUNNING &&
	       !atomic_load(&j->job.abandoned);
	if (save)
		r = *s->recall;
	s->unsaved = false;
	later = s->array && s->state == ZR_PASS_DONE;
	pthread_mutex_unlock(&s->lock);
	if (later)
		zr_pass_later(s->array);
	/* Nothing changes a block index that is complete. */
	if (save)
		zr_index_save(&r.id, &r.seen, &s->blocks);
	j->job.wait_on = s;
	return wait ? ZR_JOB_PARK : ZR_JOB_DONE;
}

/* Whoever waits for a size knows only the array's. */
static const struct zr_sizes *waited_for(const struct zr_sizes *s)
{
	return s->array ? s->array : s;
}

static enum zr_job_result job_run(struct zr_job *job)
{
	struct zr_pass_job *j = (struct zr_pass_job *)job;
	struct zr_sizes *s = j->sizes;
	bool listed, checking;
	int r = 0;

	pthread_mutex_lock(&s->lock);
	listed = s->listed;
	pthread_mutex_unlock(&s->lock);
	if (!listed)
		r = job_list(j);

	pthread_mutex_lock(&s->lock);
	if (r < 0)
		pass_pause(s, r);
	else
		pass_progress(s); /* there may be nothing to measure */
	while (pass_take(s, j)) {
		checking = s->checking;
		pthread_mutex_unlock(&s->lock);
		j->stamp = (struct zr_stamp){0};
		r = checking ? check_unit(j) : measure_unit(j);
		pthread_mutex_lock(&s->lock);
		unit_done(j, r);
		if (pass_progress(s)) {
			pthread_mutex_unlock(&s->lock);
			zr_queue_wake(s->queue, waited_for(s));
			pthread_mutex_lock(&s->lock);
		}
	}
	return job_end(j);
}

static void job_done(struct zr_job *job)
{
	struct zr_pass_job *j = (struct zr_pass_job *)job;
	struct zr_sizes *s = j->sizes;
	struct zr_queue *queue = s->queue;
	const struct zr_sizes *what = waited_for(s);

	pthread_mutex_lock(&s->lock);
	j->alive = false;
	atomic_fetch_sub(&s->running, 1);
	if (atomic_load(&s->running) == 0)
		pass_pause(s, 0); /* it was abandoned */
	pthread_mutex_unlock(&s->lock);
	/* From here on the sizes may be gone: they are only compared with. */
	zr_queue_wake(queue, what);
}

void zr_pass_start(struct zr_sizes *s)
{
	struct zr_job *add[ZR_PASS_JOBS];
	unsigned int n = 0;

	pthread_mutex_lock(&s->lock);
	for (unsigned int i = 0; i < ZR_PASS_JOBS; i++) {
		struct zr_pass_job *j = &s->jobs[i];

		/* One of them lists; the others have nothing to do until then. */
		if (j->alive || (!s->listed && atomic_load(&s->running) > 0))
			continue;
		*j = (struct zr_pass_job){.job = {.key = (uint64_t)(uintptr_t)s,
		                                  .run = job_run,
		                                  .done = job_done},
		                          .sizes = s,
		                          .unit = UINT64_MAX,
		                          .alive = true,
		                          .lens = s->lens + (size_t)i * s->nfiles};
		atomic_fetch_add(&s->running, 1);
		add[n++] = &j->job;
	}
	pthread_mutex_unlock(&s->lock);
	/* A queue that is being stopped calls job_done() at once, which takes the lock.
	 */
	for (unsigned int i = 0; i < n; i++)
		zr_queue_add(s->queue, add[i]);
}
