/* SPDX-License-Identifier: MIT */
/*
 * chunks.tsv: a line for each stored object of an array, "key TAB bytes", in the order of
 * the grid. What is stored is found by listing, how large each is by asking, a slice of
 * time after the other, so that nobody has to wait longer than size_wait, and what was
 * found stays found. Kept are 16 bytes a chunk; lines are made when they are read.
 */
#include "view.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "log.h"
#include "present.h"

#define SLICE_MS 200     /* before others get the thread, or an asker is let go */
#define LOOK_AT_CLOCK 32 /* every so many chunks */
#define MARK_EVERY 1024  /* lines from one known offset to the next */
#define LINE_MAX (ZR_KEY_MAX + 24)
#define UNKNOWN UINT64_MAX

/* What is known of a chunk: its bytes, or one of these. */
#define NO_SIZE ((uint64_t)1 << 62)  /* something is there that has no size */
#define GONE ((uint64_t)1 << 61)     /* nothing is there any more */
#define BY_SLASH ((uint64_t)1 << 63) /* under the key that try_slash allows; a flag */

struct chunks {
	struct zr_view view;
	struct zr_source *source;
	unsigned int wait;     /* seconds */
	atomic_size_t *held;   /* borrowed: memory that is taken */
	_Atomic uint64_t size; /* of the file; UNKNOWN */
	atomic_bool warned;
	atomic_bool done; /* what follows will not change any more */

	pthread_mutex_t lock; /* held by whoever counts */
	bool listed, failed;  /* failed: that was logged */
	struct zr_present present;
	uint64_t *entry; /* owned: of each present chunk */
	uint64_t *mark;  /* owned: offset of every MARK_EVERYth line */
	uint64_t count;  /* chunks that are counted */
	uint64_t offset; /* of the line after those */
};

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* --- lines -----------------------------------------------------------------------------
 */

static void chunk_key(const struct chunks *c, uint64_t id, bool by_slash,
                      char key[ZR_KEY_MAX])
{
	const struct zr_array *a = c->source->array;
	uint64_t at[ZR_MAX_DIMS];

	zr_grid_object_at(&c->source->grid, id, at);
	zr_grid_key(a, at, by_slash ? '/' : a->separator, key);
}

/* Line i; returns its length. */
static size_t put_line(const struct chunks *c, uint64_t i, char out[LINE_MAX])
{
	uint64_t entry = c->entry[i] & ~BY_SLASH;
	size_t len;

	if (entry == GONE)
		return 0;
	chunk_key(c, c->present.ids[i], c->entry[i] & BY_SLASH, out);
	len = strlen(out);
	if (entry == NO_SIZE)
		return len + (size_t)sprintf(out + len, "\t-\n");
	return len + (size_t)sprintf(out + len, "\t%" PRIu64 "\n", entry);
}

/* --- counting --------------------------------------------------------------------------
 */

static int chunks_failed(struct chunks *c, int r, const struct zr_err *err)
{
	if (!c->failed)
		zr_error("'%s': chunks.tsv cannot be made: %s",
		         zr_source_label(c->source),
		         err->code ? err->text : strerror(-r));
	c->failed = true;
	return r == -ENOMEM || r == -EOVERFLOW ? r : -EIO;
}

static int list(struct chunks *c)
{
	struct zr_source *s = c->source;
	struct zr_err err = {0};
	uint64_t n;
	int r = zr_present_load(s->store, s->path, s->array, &s->grid, &c->present, &err);

	if (r < 0)
		return chunks_failed(c, r, &err);
	if (c->present.all) {
		zr_present_done(&c->present);
		zr_err_set(&err, -EOVERFLOW,
		           "more than %zu chunks are stored, or more than %zu in all "
		           "arrays that are in use",
		           ZR_MAX_PRESENT, ZR_MAX_PRESENT_ALL);
		return chunks_failed(c, -EOVERFLOW, &err);
	}
	n = c->present.count;
	free(c->entry); /* of a try that failed */
	free(c->mark);
	c->entry = reallocarray(NULL, n + 1, sizeof(*c->entry));
	c->mark = reallocarray(NULL, n / MARK_EVERY + 1, sizeof(*c->mark));
	if (!c->entry || !c->mark) {
		zr_present_done(&c->present);
		return -ENOMEM;
	}
	atomic_fetch_add(c->held, (n + 1) * 16 + n / MARK_EVERY * 8);
	c->listed = true;
	return 0;
}

static int stat_key(const struct chunks *c, uint64_t id, bool by_slash, uint64_t *ret,
                    struct zr_err *reterr)
{
	const struct zr_source *s = c->source;
	ZR_CLEANUP(zr_freep) char *path = NULL;
	char key[ZR_KEY_MAX];
	struct zr_stat st;
	int r;

	chunk_key(c, id, by_slash, key);
	if (asprintf(&path, "%s%s%s", s->path, *s->path ? "/" : "", key) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	r = zr_store_stat(s->store, path, &st, reterr);
	switch (-r) {
	case 0:
		*ret = ZR_MIN(st.size, GONE - 1);
		return 0;
	case ENOENT:
		*ret = GONE;
		return 0;
	case EUCLEAN:
	case ELOOP:
	case EISDIR:
	case ENOTDIR:
	case EACCES:
		*ret = NO_SIZE;
		return 0;
	default:
		return r;
	}
}

static int count_one(struct chunks *c)
{
	struct zr_err err = {0};
	uint64_t i = c->count, id = c->present.ids[i];
	char line[LINE_MAX];
	int r = stat_key(c, id, false, &c->entry[i], &err);

	if (r == 0 && c->entry[i] == GONE && c->source->array->try_slash) {
		r = stat_key(c, id, true, &c->entry[i], &err);
		c->entry[i] |= BY_SLASH;
	}
	if (r < 0)
		return chunks_failed(c, r, &err);
	if (i % MARK_EVERY == 0)
		c->mark[i / MARK_EVERY] = c->offset;
	c->offset += put_line(c, i, line);
	c->count++;
	return 0;
}

/* With the lock held: goes on until all is counted (1) or the time is over (0). */
static int count(struct chunks *c)
{
	uint64_t stop = now_ms() + SLICE_MS, known;
	struct zr_err err = {0};
	int r = c->listed ? 0 : list(c);

	while (r == 0 && c->count < c->present.count) {
		if (c->count % LOOK_AT_CLOCK == 0 && now_ms() >= stop)
			return 0;
		r = count_one(c);
	}
	if (r < 0)
		return r;
	known = atomic_load(&c->size);
	if (known != UNKNOWN && known != c->offset) {
		zr_err_set(&err, -EIO, "chunks came or went while mounted");
		return chunks_failed(c, -EIO, &err);
	}
	atomic_store(&c->size, c->offset);
	atomic_store(&c->done, true);
	return 1;
}

/* Until the table is complete. Askers take turns: who finds another at work comes back.
 */
static int complete(struct chunks *c, struct zr_ticket *ticket)
{
	int r = 0;

	if (atomic_load(&c->done))
		return 0;
	if (ticket->window == 0)
		ticket->window = now_ms() + c->wait * UINT64_C(1000);
	if (pthread_mutex_trylock(&c->lock) == 0) {
		r = atomic_load(&c->done) ? 1 : count(c);
		pthread_mutex_unlock(&c->lock);
	}
	if (r != 0)
		return ZR_MIN(r, 0);
	if (now_ms() < ticket->window)
		return -EINPROGRESS;
	if (!atomic_exchange(&c->warned, true))
		zr_warning("'%s': chunks.tsv is not complete after %u s. Ask again "
		           "later, or "
		           "raise size_wait=",
		           zr_source_label(c->source), c->wait);
	return -ETIMEDOUT;
}

/* --- the view --------------------------------------------------------------------------
 */

static bool chunks_peek_size(struct zr_view *v, uint64_t *ret)
{
	*ret = atomic_load(&((struct chunks *)v)->size);
	return *ret != UNKNOWN;
}

static int chunks_size(struct zr_view *v, struct zr_ticket *ticket, uint64_t *ret)
{
	int r = chunks_peek_size(v, ret) ? 0 : complete((struct chunks *)v, ticket);

	if (r == 0)
		*ret = atomic_load(&((struct chunks *)v)->size);
	return r;
}

/* The last line that begins at or before the offset and whose own is known. */
static uint64_t find_mark(const struct chunks *c, uint64_t offset)
{
	uint64_t low = 0, high = (c->present.count + MARK_EVERY - 1) / MARK_EVERY;

	while (high - low > 1) {
		uint64_t mid = low + (high - low) / 2;

		if (c->mark[mid] <= offset)
			low = mid;
		else
			high = mid;
	}
	return low;
}

static int chunks_read(struct zr_view *v, uint64_t offset, size_t len,
                       struct zr_ticket *ticket, const atomic_bool *cancel, uint8_t *out,
                       size_t *ret_len)
{
	struct chunks *c = (struct chunks *)v;
	uint64_t i, at;
	size_t put = 0;
	int r = complete(c, ticket);

	if (r < 0)
		return r;
	if (offset > c->offset)
		return -EIO;
	len = (size_t)ZR_MIN((uint64_t)len, c->offset - offset);
	i = find_mark(c, offset);
	at = len > 0 ? c->mark[i] : 0;
	for (i *= MARK_EVERY; put < len; i++) {
		char line[LINE_MAX];
		size_t n = put_line(c, i, line), skip, take;

		if (i % MARK_EVERY == 0 && cancel && atomic_load(cancel))
			return -EINTR;
		skip = (size_t)ZR_MIN(offset + put - at, (uint64_t)n);
		take = ZR_MIN(n - skip, len - put);
		memcpy(out + put, line + skip, take);
		put += take;
		at += n;
	}
	*ret_len = len;
	return 0;
}

static void chunks_free(struct zr_view *v)
{
	struct chunks *c = (struct chunks *)v;

	pthread_mutex_destroy(&c->lock);
	zr_present_done(&c->present);
	free(c->entry);
	free(c->mark);
	free(c);
}

static const struct zr_view_ops chunks_ops = {
	.peek_size = chunks_peek_size,
	.size = chunks_size,
	.read = chunks_read,
	.free = chunks_free,
};

struct zr_view *zr_view_new_chunks(struct zr_source *source, unsigned int size_wait,
                                   const uint64_t *known, atomic_size_t *held)
{
	struct chunks *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->view.ops = &chunks_ops;
	c->source = source;
	c->wait = size_wait;
	c->held = held;
	atomic_init(&c->size, known ? *known : UNKNOWN);
	atomic_init(&c->done, false);
	atomic_init(&c->warned, false);
	pthread_mutex_init(&c->lock, NULL);
	return &c->view;
}
