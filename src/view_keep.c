/* SPDX-License-Identifier: MIT */
/*
 * Whoever asks for a file's size mostly reads the file next. So the pass that measures it
 * alone does not look for the lengths of its lines: it makes them, and puts the pieces
 * (view_piece.c) into the cache, as long as they take only so much of it; then it goes on
 * with measuring.
 *
 * A job of the pass has the records of one chunk at a time, which may begin and end in
 * the middle of a piece. What it cannot complete is left as a fragment for the job that
 * has the chunk beside it.
 */
#include <stddef.h>

#include "request.h"
#include "tally.h"
#include "view_impl.h"

#define SAMPLE 64

static struct zr_text *text_of(struct zr_solo *how)
{
	return (struct zr_text *)((char *)how - offsetof(struct zr_text, solo));
}

/* Bytes of text that may be kept: the rest of the cache is for the chunks that all this
 * is made from, by all jobs of the pass if they fit into half of it, and by two at least.
 * What is kept beyond that is thrown out by them before anybody has read it. */
static uint64_t keep_most(const struct zr_text *t)
{
	uint64_t budget = zr_cache_budget(t->source->cache);
	uint64_t load = zr_mul_most(zr_text_chunk(t), ZR_LOAD);
	uint64_t chunks = zr_mul_most(load, ZR_KEY_THREADS);

	chunks = ZR_MIN(chunks, ZR_MAX(budget / 2, zr_mul_most(load, 2)));
	return budget - ZR_MIN(ZR_MAX(chunks, budget / 8), budget);
}

static uint64_t piece_records(const struct zr_text *t)
{
	return (uint64_t)1 << t->piece_shift;
}

static uint64_t piece_end(const struct zr_text *t, uint64_t record)
{
	uint64_t begin = record >> t->piece_shift << t->piece_shift;

	return begin + ZR_MIN(piece_records(t), t->source->grid.nrecords - begin);
}

/* --- pieces and fragments --------------------------------------------------------------
 */

static void fragment_done(struct zr_fragment *f)
{
	zr_buf_done(&f->text);
	*f = (struct zr_fragment){0};
}

/* zr_cache_load: hands the text over. */
static int fragment_load(void *arg, struct zr_chunk *chunk, struct zr_err *reterr)
{
	struct zr_fragment *f = arg;

	(void)reterr;
	chunk->data = f->text;
	f->text = (struct zr_buf){0};
	return 0;
}

/* A whole piece, into the cache. */
static void piece_put(struct zr_text *t, struct zr_fragment *f)
{
	size_t len = f->text.len;
	uint8_t *fit = realloc(f->text.data, len);

	if (fit) {
		f->text.data = fit;
		f->text.cap = len;
	}
	atomic_fetch_add(&t->kept, len);
	zr_source_put(t->source, t->piece_what, f->record >> t->piece_shift,
	              fragment_load, f);
	fragment_done(f);
}

static bool fragment_is_piece(const struct zr_text *t, const struct zr_fragment *f)
{
	return (f->record & (piece_records(t) - 1)) == 0 &&
	       f->next == piece_end(t, f->record);
}

/* Appends b, which is gone then. */
static void fragment_append(struct zr_fragment *a, struct zr_fragment *b)
{
	zr_buf_add(&a->text, b->text.data, b->text.len);
	a->next = b->next;
	fragment_done(b);
}

/* With the lock held: joins one that waits on either side of it; false: there is none. */
static bool fragment_join(struct zr_text *t, struct zr_fragment *f)
{
	for (unsigned int i = 0; i < ZR_FRAGMENTS; i++) {
		struct zr_fragment *other = &t->fragments[i], before;

		if (!other->text.data ||
		    other->record >> t->piece_shift != f->record >> t->piece_shift)
			continue;
		if (f->next == other->record) {
			fragment_append(f, other);
			return true;
		}
		if (other->next == f->record) {
			before = *other;
			*other = (struct zr_fragment){0};
			fragment_append(&before, f);
			*f = before;
			return true;
		}
	}
	return false;
}

/* With the lock held: a place for one; the oldest has to go if there is none. */
static struct zr_fragment *fragment_slot(struct zr_text *t)
{
	struct zr_fragment *slot;

	for (unsigned int i = 0; i < ZR_FRAGMENTS; i++)
		if (!t->fragments[i].text.data)
			return &t->fragments[i];
	slot = &t->fragments[t->next_fragment++ % ZR_FRAGMENTS];
	fragment_done(slot);
	return slot;
}

/* A fragment that its maker cannot go on with; it is gone then. */
static void fragment_leave(struct zr_text *t, struct zr_fragment *f)
{
	pthread_mutex_lock(&t->lock);
	while (fragment_join(t, f))
		;
	if (zr_buf_check(&f->text) == 0 && f->text.len <= ZR_PIECE_MOST &&
	    !fragment_is_piece(t, f)) {
		*fragment_slot(t) = *f;
		*f = (struct zr_fragment){0};
	}
	pthread_mutex_unlock(&t->lock);
	if (f->text.data && zr_buf_check(&f->text) == 0 && fragment_is_piece(t, f))
		piece_put(t, f);
	fragment_done(f);
}

/* --- making lines ----------------------------------------------------------------------
 */

/* One line that may not fit; false: no memory, or it is too long to be kept. */
static bool put_one(struct zr_text *t, struct zr_buf *b, const uint8_t *rec,
                    const uint64_t *index)
{
	uint64_t len = zr_add_most(zr_line_len(t->line, rec),
	                           20 * (uint64_t)ZR_MAX_DIMS + ZR_LINE_SPARE);
	char *end;

	if (len > ZR_PIECE_MOST || b->len > ZR_PIECE_MOST ||
	    zr_buf_reserve(b, (size_t)ZR_MAX(len, (uint64_t)b->len / 8)) < 0)
		return false;
	end = zr_line_put_one(t->line, rec, index, (char *)b->data + b->len);
	b->len = (size_t)(end - (char *)b->data);
	return true;
}

/* n lines behind each other; false: as above. */
static bool put_lines(struct zr_text *t, struct zr_buf *b, const uint8_t *rec,
                      uint64_t stride, uint64_t record, uint64_t n)
{
	uint32_t ndim = t->source->grid.ndim;
	struct zr_run run;

	zr_grid_run(&t->source->grid, record, &run);
	while (n > 0) {
		char *out = (char *)b->data + b->len;
		uint64_t done = 0;

		if (b->cap > b->len)
			done = zr_line_put_run(t->line, rec, stride, n, run.index, &out,
			                       (char *)b->data + b->cap);
		if (done > 0)
			b->len = (size_t)(out - (char *)b->data);
		else if (put_one(t, b, rec, run.index))
			done = 1;
		else
			return false;
		rec += done * stride;
		n -= done;
		if (ndim > 0)
			run.index[ndim - 1] += done;
	}
	return true;
}

static uint64_t index_digits(const struct zr_text *t, uint64_t record, uint64_t n)
{
	const struct zr_grid *g = &t->source->grid;

	return t->indexed ? (uint64_t)(zr_grid_digits_before(g, record + n) -
	                               zr_grid_digits_before(g, record))
	                  : 0;
}

/* Lines of one piece, behind those that the job has. *ret_len: their bytes. */
static bool keep_lines(struct zr_text *t, struct zr_fragment *f, const uint8_t *rec,
                       uint64_t stride, uint64_t record, uint64_t n, uint64_t *ret_len)
{
	size_t before = f->text.len;

	if (!put_lines(t, &f->text, rec, stride, record, n)) {
		fragment_done(f);
		return false;
	}
	zr_tally_add(ZR_TALLY_RENDERED, f->text.len - before);
	*ret_len = f->text.len - before - index_digits(t, record, n);
	f->next = record + n;
	if (fragment_is_piece(t, f))
		piece_put(t, f);
	else if (f->next == piece_end(t, record))
		fragment_leave(t, f); /* what comes next is of another one */
	return true;
}

/* Whether records that are stored behind each other are so in the file. */
static bool rows_are_whole(const struct zr_grid *g)
{
	for (uint32_t k = 1; k < g->ndim; k++)
		if (g->cell[k] < g->shape[k])
			return false;
	return true;
}

/* --- measuring -------------------------------------------------------------------------
 */

/* Whether the lines from `record` on are to be made: the fragment they go to. */
static struct zr_fragment *keep_begin(struct zr_text *t, void **job, const uint8_t *rec,
                                      uint64_t stride, uint64_t record, uint64_t n)
{
	struct zr_fragment *f = *job;
	uint64_t some = ZR_MIN(n, (uint64_t)SAMPLE);

	if (f && f->text.data && f->next == record)
		return f;
	if (f && f->text.data)
		fragment_leave(t, f);
	if (atomic_load(&t->piece_shift) == 0 && rows_are_whole(&t->source->grid))
		zr_pieces_settle(t, zr_line_len_run(t->line, rec, stride, some) / some);
	if (atomic_load(&t->piece_shift) <= 0 || atomic_load(&t->kept) >= keep_most(t))
		return NULL;
	if (!f)
		*job = f = calloc(1, sizeof(*f));
	if (f)
		*f = (struct zr_fragment){.record = record, .next = record};
	if (f && zr_buf_reserve(&f->text, (size_t)ZR_PIECE_BYTES) < 0)
		f = NULL;
	return f;
}

/* zr_solo.measure: the records are of one block of the index, so of one piece. */
static uint64_t keep_measure(struct zr_solo *how, void **job, const uint8_t *rec,
                             uint64_t stride, uint64_t record, uint64_t n)
{
	struct zr_text *t = text_of(how);
	struct zr_fragment *f = keep_begin(t, job, rec, stride, record, n);
	uint64_t len;

	if (f && keep_lines(t, f, rec, stride, record, n, &len))
		return len;
	return zr_line_len_run(t->line, rec, stride, n);
}

/* zr_solo.pause */
static void keep_pause(struct zr_solo *how, void **job)
{
	struct zr_fragment *f = *job;

	if (f && f->text.data)
		fragment_leave(text_of(how), f);
	free(f);
	*job = NULL;
}

void zr_keep_init(struct zr_text *t)
{
	t->solo = (struct zr_solo){
		.fill_len = t->fill_len, .measure = keep_measure, .pause = keep_pause};
	zr_sizes_offer(t->sizes, t->file, &t->solo);
}

void zr_keep_done(struct zr_text *t)
{
	for (unsigned int i = 0; i < ZR_FRAGMENTS; i++)
		fragment_done(&t->fragments[i]);
}
