/* SPDX-License-Identifier: MIT */
/*
 * A *window* begins when somebody asks and nothing runs, or when the last one is over;
 * its number is in each asker's ticket. Within it, until `ends`, askers wait; until
 * `stops` the pass goes on for those who ask again. The sizes, once known, stay.
 */
#include <errno.h>

#include "log.h"
#include "sizes_impl.h"

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

void zr_sizes_recall(struct zr_sizes *s, struct zr_recall *recall)
{
	s->recall = recall;
}

void zr_sizes_free(struct zr_sizes *s)
{
	if (!s)
		return;
	/* The last job was counted as gone while it still held the lock. */
	pthread_mutex_lock(&s->lock);
	pthread_mutex_unlock(&s->lock);
	pthread_mutex_destroy(&s->lock);
	zr_blocks_done(&s->blocks);
	free(s->indexed);
	free(s->lens);
	free(atomic_load(&s->sizes));
	free(s);
}

bool zr_sizes_busy(struct zr_sizes *s)
{
	return atomic_load(&s->running) > 0;
}

size_t zr_sizes_bytes(struct zr_sizes *s)
{
	return sizeof(*s) + (size_t)s->nfiles * 8 * (ZR_PASS_JOBS + 1) +
	       atomic_load(&s->bytes) + zr_source_bytes(s->source);
}

/* --- windows ---------------------------------------------------------------------------
 */

/* With the lock held; zr_pass_start() is to follow without it. */
static void window_begin(struct zr_sizes *s)
{
	s->window++;
	s->error = 0;
	s->told = false;
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

	if (!s->told)
		zr_warning("array '/%s': measuring it has come to %.1f %% after %u s; "
		           "its sizes are not known yet. Ask again later, or raise "
		           "size_wait=",
		           s->source->path, 100 * part,
		           (unsigned int)((zr_now_ms() - s->began) / 1000));
	s->told = true;
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

/* --- asking ----------------------------------------------------------------------------
 */

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
	bool start = false;
	int r = 0;

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

	pthread_mutex_lock(&s->lock);
	known = s->listed && zr_blocks_has(&s->blocks, record);
	if (known)
		*ret = zr_blocks_offset(&s->blocks, file, record);
	pthread_mutex_unlock(&s->lock);
	return known;
}

bool zr_sizes_block_shift(struct zr_sizes *s, unsigned int *ret)
{
	bool listed;

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
