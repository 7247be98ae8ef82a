/* SPDX-License-Identifier: MIT */
/*
 * A *window* begins when somebody asks and nothing runs, or when the last one is over;
 * its number is in each asker's ticket. Within it, until `ends`, askers wait; until
 * `stops` the pass goes on for those who ask again. The sizes, once known, stay.
 */
#include <errno.h>
#include <stddef.h>

#include "log.h"
#include "sizes_impl.h"

/* After the names of all files were read, so many ms are left to ask for their sizes. */
#define LISTED_MS 2000
/* So long must nobody ask for anything, for what nobody has asked for to be done. */
#define QUIET_MS 1000

static struct zr_sizes *sizes_new(struct zr_source *source, uint32_t nfiles,
                                  const bool *indexed, struct zr_queue *queue,
                                  unsigned int size_wait, const uint64_t *known)
{
	struct zr_sizes *s = calloc(1, sizeof(*s));
	uint64_t *copy = NULL;

	if (!s)
		return NULL;
	s->source = source;
	s->queue = queue;
	s->size_wait = size_wait;
	s->nfiles = nfiles;
	pthread_mutex_init(&s->lock, NULL);
	s->indexed = calloc(s->nfiles, sizeof(*s->indexed));
	s->lens = calloc((size_t)s->nfiles * ZR_PASS_JOBS, sizeof(*s->lens));
	if (known)
		copy = calloc(s->nfiles, sizeof(*copy));
	atomic_init(&s->sizes, copy);
	if (!s->indexed || !s->lens || (known && !copy)) {
		zr_sizes_free(s);
		return NULL;
	}
	memcpy(s->indexed, indexed, s->nfiles * sizeof(*indexed));
	if (known)
		memcpy(copy, known, s->nfiles * sizeof(*known));
	return s;
}

struct zr_sizes *zr_sizes_new(struct zr_source *source, const struct zr_measure *measure,
                              const bool *indexed, struct zr_queue *queue,
                              unsigned int size_wait, const uint64_t *known)
{
	struct zr_sizes *s = sizes_new(source, zr_measure_files(measure), indexed, queue,
	                               size_wait, known);

	if (!s)
		return NULL;
	s->measure = measure;
	s->offered = calloc(s->nfiles, sizeof(*s->offered));
	if (!s->offered) {
		zr_sizes_free(s);
		return NULL;
	}
	return s;
}

void zr_sizes_recall(struct zr_sizes *s, struct zr_recall *recall)
{
	s->recall = recall;
}

void zr_sizes_free(struct zr_sizes *s)
{
	if (!s)
		return;
	for (struct zr_sizes *solo = atomic_load(&s->solo), *next; solo; solo = next) {
		next = solo->other;
		zr_sizes_free(solo);
	}
	/* The last job was counted as gone while it still held the lock. */
	pthread_mutex_lock(&s->lock);
	pthread_mutex_unlock(&s->lock);
	pthread_mutex_destroy(&s->lock);
	zr_blocks_done(&s->blocks);
	free(s->offered);
	free(s->indexed);
	free(s->lens);
	free(atomic_load(&s->sizes));
	free(s);
}

static bool own_busy(struct zr_sizes *s)
{
	return atomic_load(&s->running) > 0 || atomic_load(&s->waiting);
}

bool zr_sizes_busy(struct zr_sizes *s)
{
	bool busy = own_busy(s);

	for (struct zr_sizes *solo = atomic_load(&s->solo); solo; solo = solo->other)
		busy = busy || own_busy(solo);
	return busy;
}

static size_t own_bytes(const struct zr_sizes *s)
{
	return sizeof(*s) + (size_t)s->nfiles * 8 * (ZR_PASS_JOBS + 1) +
	       atomic_load(&s->bytes);
}

size_t zr_sizes_bytes(struct zr_sizes *s)
{
	size_t bytes = own_bytes(s) + zr_source_bytes(s->source);

	for (struct zr_sizes *solo = atomic_load(&s->solo); solo; solo = solo->other)
		bytes += own_bytes(solo);
	return bytes;
}

/* --- windows ---------------------------------------------------------------------------
 */

/* Whether the log line about the end of a window was written: one for an array. */
static atomic_bool *log_line_of(struct zr_sizes *s)
{
	return s->array ? &s->array->told : &s->told;
}

/* Whether each pass over one file has come to its end. */
static bool solos_are_over(struct zr_sizes *s)
{
	struct zr_sizes *solo = atomic_load(&s->solo);

	while (solo && atomic_load(&solo->sizes))
		solo = solo->other;
	return !solo;
}

/* Whether the pass over one file was not over in its time, so that it is no news if that
 * over all is not either. */
static bool is_told(struct zr_sizes *s)
{
	return !solos_are_over(s) && atomic_load(&s->told);
}

/* With the lock held; zr_pass_start() is to follow without it. */
static void window_begin(struct zr_sizes *s)
{
	s->window++;
	s->error = 0;
	if (!is_told(s))
		atomic_store(log_line_of(s), false);
	s->began = zr_now_ms();
	s->ends = s->began + 1000 * (uint64_t)s->size_wait;
	s->stops = s->ends + 1000 * (uint64_t)s->size_wait + 1000;
	s->state = ZR_PASS_RUNNING;
}

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
	double part = s->nunits ? (double)s->finished / (double)s->nunits : 0;

	if (!atomic_exchange(log_line_of(s), true))
		zr_warning("array '/%s': measuring it has come to %.1f %% after %u s; "
		           "its sizes are not known yet. Ask again later, raise "
		           "size_wait=, or use `zarrfs index`",
		           s->source->path, 100 * part,
		           (unsigned int)((zr_now_ms() - s->began) / 1000));
	return -ETIMEDOUT;
}

/* With the lock held: why the window of that asker is over. */
static int window_paused(struct zr_sizes *s)
{
	if (s->error == 0)
		return window_over(s);
	return s->error == -ENOMEM ? -ENOMEM : -EIO;
}

/* With the lock held, and the answer not known. Joins the window that runs, or begins one
 * (*ret_start). */
static int pass_ask(struct zr_sizes *s, struct zr_ticket *ticket, bool *ret_start)
{
	uint64_t now = zr_now_ms();

	if (s->state == ZR_PASS_RUNNING) {
		if (now >= s->ends || is_hopeless(s, now))
			return window_over(s);
	} else if (ticket->window != 0 && ticket->window == s->window) {
		return window_paused(s);
	} else if (atomic_load(&s->running) > 0) {
		return -EINPROGRESS; /* its jobs must be gone before the next begins */
	} else {
		window_begin(s);
		*ret_start = true;
	}
	ticket->window = s->window;
	return -EINPROGRESS;
}

/* --- one file alone --------------------------------------------------------------------
 */

static struct zr_sizes *solo_find(struct zr_sizes *s, uint32_t file)
{
	struct zr_sizes *solo = atomic_load(&s->solo);

	while (solo && solo->file != file)
		solo = solo->other;
	return solo;
}

void zr_sizes_offer(struct zr_sizes *s, uint32_t file, struct zr_solo *how)
{
	struct zr_sizes *solo = solo_find(s, file);

	s->offered[file] = how;
	if (solo)
		solo->how = how; /* it was made by zr_sizes_show() */
}

void zr_sizes_expect(struct zr_sizes *s)
{
	atomic_store(&s->listed_at, zr_now_ms());
}

/* With the lock held. Without memory there is none, and the pass is for all. */
static void solo_add(struct zr_sizes *s, uint32_t file, const uint64_t *known)
{
	struct zr_sizes *solo =
		sizes_new(s->source, 1, &s->indexed[file], s->queue, s->size_wait, known);

	if (!solo)
		return;
	solo->array = s;
	solo->file = file;
	solo->how = s->offered[file];
	solo->other = atomic_load(&s->solo);
	s->nsolos++;
	atomic_store(&s->solo, solo);
}

void zr_sizes_show(struct zr_sizes *s, uint32_t file, uint64_t size)
{
	pthread_mutex_lock(&s->lock);
	if (!solo_find(s, file))
		solo_add(s, file, &size);
	pthread_mutex_unlock(&s->lock);
}

unsigned int zr_sizes_shown(struct zr_sizes *s, struct zr_shown ret[ZR_SOLOS])
{
	unsigned int n = 0;

	for (struct zr_sizes *solo = atomic_load(&s->solo); solo && n < ZR_SOLOS;
	     solo = solo->other) {
		const uint64_t *sizes = atomic_load(&solo->sizes);

		if (sizes)
			ret[n++] = (struct zr_shown){solo->file, *sizes};
	}
	return n;
}

/* Whether each file that was measured alone was read then. Else it is sizes that are
 * wanted (by `ls -l`, after the kernel has kept the names), and of all files. */
static bool solos_were_read(struct zr_sizes *s)
{
	struct zr_sizes *solo = atomic_load(&s->solo);

	while (solo && atomic_load(&solo->sizes) && atomic_load(&solo->was_read))
		solo = solo->other;
	return !solo;
}

/* Somebody asks for this file: maybe it is one of the first. */
static void solo_consider(struct zr_sizes *s, uint32_t file)
{
	uint64_t now = zr_now_ms(), listed = atomic_load(&s->listed_at);

	atomic_store(&s->used_at, now);
	if (s->array || atomic_load(&s->sizes) || !s->offered[file] ||
	    (listed > 0 && now < listed + LISTED_MS) || solo_find(s, file))
		return;
	pthread_mutex_lock(&s->lock);
	/* Where there may be an index on disk, looking comes before measuring. Two files
	 * at a time are the array's pass at once. */
	if (s->nsolos < ZR_SOLOS && !solo_find(s, file) && solos_were_read(s) &&
	    s->state == ZR_PASS_IDLE &&
	    !(s->recall && s->recall->state == ZR_RECALL_HOPED))
		solo_add(s, file, NULL);
	pthread_mutex_unlock(&s->lock);
}

/* Who answers for a file: its own pass, unless only that of the array has come to an end.
 * *file becomes its number there. */
static struct zr_sizes *sizes_of(struct zr_sizes *s, uint32_t *file)
{
	struct zr_sizes *solo = solo_find(s, *file);

	if (!solo || (atomic_load(&s->sizes) && !atomic_load(&solo->sizes)))
		return s;
	*file = 0;
	return solo;
}

/* zr_job.run of `later` */
static enum zr_job_result later_run(struct zr_job *job)
{
	struct zr_sizes *s =
		(struct zr_sizes *)((char *)job - offsetof(struct zr_sizes, later));
	bool start = false, wait;

	pthread_mutex_lock(&s->lock);
	wait = s->state == ZR_PASS_IDLE && !atomic_load(&job->abandoned);
	if (wait && zr_now_ms() >= atomic_load(&s->used_at) + QUIET_MS) {
		window_begin(s);
		start = true;
		wait = false;
	}
	pthread_mutex_unlock(&s->lock);
	if (start)
		zr_pass_start(s);
	job->wait_on = job; /* which nobody wakes: it looks again at each tick */
	return wait ? ZR_JOB_PARK : ZR_JOB_DONE;
}

static void later_done(struct zr_job *job)
{
	struct zr_sizes *s =
		(struct zr_sizes *)((char *)job - offsetof(struct zr_sizes, later));

	atomic_store(&s->waiting, false); /* from here on it may be gone */
}

void zr_pass_later(struct zr_sizes *s)
{
	bool wanted;

	pthread_mutex_lock(&s->lock);
	wanted = s->recall && s->recall->id.index && s->state == ZR_PASS_IDLE &&
	         !atomic_exchange(&s->waiting, true);
	pthread_mutex_unlock(&s->lock);
	if (!wanted)
		return;
	atomic_store(&s->used_at, zr_now_ms());
	s->later = (struct zr_job){.key = (uint64_t)(uintptr_t)&s->later,
	                           .run = later_run,
	                           .done = later_done};
	zr_queue_add(s->queue, &s->later);
}

/* --- asking ----------------------------------------------------------------------------
 */

bool zr_sizes_peek(struct zr_sizes *s, uint32_t file, uint64_t *ret)
{
	const uint64_t *sizes;

	s = sizes_of(s, &file);
	sizes = atomic_load(&s->sizes);

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
	const uint64_t *sizes;
	bool start = false;
	int r = 0;

	solo_consider(s, file);
	s = sizes_of(s, &file);
	sizes = atomic_load(&s->sizes);
	if (!sizes) {
		pthread_mutex_lock(&s->lock);
		sizes = atomic_load(&s->sizes);
		if (!sizes)
			r = pass_ask(s, ticket, &start);
		pthread_mutex_unlock(&s->lock);
	}
	if (start)
		zr_pass_start(s);
	if (r < 0)
		return r;
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

	atomic_store(&s->used_at, zr_now_ms());
	s = sizes_of(s, &file);
	atomic_store(&s->was_read, true);
	pthread_mutex_lock(&s->lock);
	known = locate_known(s, file, offset, ret_record, ret_offset);
	pthread_mutex_unlock(&s->lock);
	return known;
}

int zr_sizes_locate(struct zr_sizes *s, uint32_t file, uint64_t offset,
                    struct zr_ticket *ticket, uint64_t *ret_record, uint64_t *ret_offset)
{
	bool start = false;
	int r = 0;

	solo_consider(s, file);
	s = sizes_of(s, &file);
	pthread_mutex_lock(&s->lock);
	if (!locate_known(s, file, offset, ret_record, ret_offset))
		r = s->state == ZR_PASS_DONE ? -EIO : pass_ask(s, ticket, &start);
	pthread_mutex_unlock(&s->lock);
	if (start)
		zr_pass_start(s);
	return r;
}

bool zr_sizes_offset(struct zr_sizes *s, uint32_t file, uint64_t record, uint64_t *ret)
{
	bool known;

	s = sizes_of(s, &file);
	pthread_mutex_lock(&s->lock);
	known = s->listed && zr_blocks_has(&s->blocks, record);
	if (known)
		*ret = zr_blocks_offset(&s->blocks, file, record);
	pthread_mutex_unlock(&s->lock);
	return known;
}

bool zr_sizes_block_shift(struct zr_sizes *s, uint32_t file, unsigned int *ret)
{
	bool listed;

	s = sizes_of(s, &file);
	pthread_mutex_lock(&s->lock);
	listed = s->listed;
	if (listed)
		*ret = s->blocks.shift;
	pthread_mutex_unlock(&s->lock);
	return listed;
}

bool zr_sizes_is_recalled(struct zr_sizes *s)
{
	bool recalled;

	pthread_mutex_lock(&s->lock);
	recalled = !s->listed && s->recall && s->recall->state == ZR_RECALL_SURE;
	pthread_mutex_unlock(&s->lock);
	return recalled;
}

bool zr_sizes_agree(struct zr_sizes *s, uint32_t file, uint64_t record, uint64_t offset,
                    uint64_t *ret_left)
{
	bool agree = true;

	s = sizes_of(s, &file);
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

void zr_sizes_distrust(struct zr_sizes *s)
{
	struct zr_index_id id = {0};

	pthread_mutex_lock(&s->lock);
	if (s->recall) {
		id = s->recall->id;
		zr_recall_renounce(s->recall);
	}
	pthread_mutex_unlock(&s->lock);
	zr_index_drop(&id);
}
