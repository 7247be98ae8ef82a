/* SPDX-License-Identifier: MIT */
/*
 * From line to line: a stretch of records is what one chunk holds of a row, or what none
 * does. Stretches of fill values are stepped over in closed form.
 */
#include <errno.h>

#include "log.h"
#include "request.h"
#include "tally.h"
#include "view_impl.h"

/* Records that are gone through at once: others wait at the gate meanwhile. */
#define SLICE ((uint64_t)1 << 20)
/* A line of more bytes is made once, and kept in the cache, not for each read again. */
#define LONG_LINE ((uint64_t)1 << 20)
/* Room for a line by itself, at first: enough that it seldom has to grow. */
#define SCRATCH_LEAST ((size_t)1024)

/* A run of records to walk over. */
struct stretch {
	const uint8_t *rec;
	uint64_t stride; /* bytes; 0: the fill value again and again */
	uint64_t count;
	uint64_t index[ZR_MAX_DIMS];
	uint64_t cell; /* UINT64_MAX: none, fill values */
	bool damaged;
	uint64_t long_line; /* bytes of a line that was come to and is too long; else 0 */
};

/* --- what comes next -------------------------------------------------------------------
 */

/* The records from w->record on that one chunk holds, or that none does. */
static int walk_stretch(struct zr_walk *w, struct stretch *ret,
                        struct zr_chunk **ret_chunk)
{
	struct zr_source *src = w->t->source;
	uint64_t size = 1, missing;
	struct zr_run run;
	int r;

	zr_grid_run(&src->grid, w->record, &run);
	*ret = (struct stretch){
		.rec = src->array->fill, .count = run.count, .cell = UINT64_MAX};
	memcpy(ret->index, run.index, sizeof(ret->index));
	missing = src->missing_is_error ? 0 : zr_source_unstored(src, &run);
	if (missing > 0) {
		ret->count = missing;
		return 0;
	}
	r = zr_source_get_part(src, run.cell, w->t->first, w->t->bytes, ret_chunk, &size);
	if (r == 0) {
		ret->rec = (*ret_chunk)->data.data + run.first * size;
		ret->stride = run.step * size;
		ret->count = ZR_MIN(run.count, ZR_MAX(SLICE / size, (uint64_t)1));
		ret->cell = run.cell;
	}
	ret->damaged = r == -EUCLEAN;
	return r == -ENOENT || r == -EUCLEAN ? 0 : r;
}

/* Cuts a stretch at the end of what is wanted and of a block, and holds the walk against
 * the block index there: text that is shifted is never handed out. */
static int walk_check(struct zr_walk *w, struct stretch *s)
{
	uint64_t left;

	s->count = ZR_MIN(s->count, w->last - w->record);
	if (w->adrift)
		return 0;
	if (!zr_sizes_agree(w->t->sizes, w->t->file, w->record, w->offset, &left)) {
		zr_error("array '/%s': record %llu does not begin where the index says; "
		         "the "
		         "store was changed while mounted, mount it again",
		         w->t->source->path, (unsigned long long)w->record);
		zr_sizes_distrust(w->t->sizes);
		return -EIO;
	}
	if (s->stride != 0)
		s->count = ZR_MIN(s->count, left);
	return 0;
}

/* --- stepping over lines
 * ----------------------------------------------------------------- */

/* Bytes of the next n lines of fill values. Saturates: a stretch is at most a row, but a
 * row may be long. */
static uint64_t fill_bytes(const struct zr_walk *w, uint64_t n)
{
	uint64_t bytes = zr_mul_most(n, w->t->fill_len);

	if (w->t->indexed)
		bytes = zr_add_most(
			bytes,
			zr_grid_digits_before(&w->t->source->grid, w->record + n) -
				zr_grid_digits_before(&w->t->source->grid, w->record));
	return ZR_MIN(bytes, ZR_MAX_FILE);
}

/* How many lines of fill values end at or before the target. */
static uint64_t fill_skip(const struct zr_walk *w, uint64_t count, uint64_t *ret_bytes)
{
	uint64_t low = 0, high = count, bytes = w->target - w->offset;

	while (low < high) {
		uint64_t mid = low + (high - low + 1) / 2;

		if (fill_bytes(w, mid) <= bytes)
			low = mid;
		else
			high = mid - 1;
	}
	*ret_bytes = fill_bytes(w, low);
	return low;
}

static void stretch_advance(struct zr_walk *w, struct stretch *s, uint64_t n,
                            uint64_t bytes)
{
	w->record += n;
	w->offset += bytes;
	s->rec += s->stride * n;
	s->count -= n;
	if (w->t->source->grid.ndim > 0)
		s->index[w->t->source->grid.ndim - 1] += n;
}

static void walk_skip(struct zr_walk *w, struct stretch *s)
{
	uint64_t bytes, n;

	if (w->offset >= w->target)
		return;
	if (s->stride == 0)
		n = fill_skip(w, s->count, &bytes);
	else
		n = zr_line_skip_run(w->t->line, s->rec, s->stride, s->count, s->index,
		                     w->target - w->offset, &bytes);
	stretch_advance(w, s, n, bytes);
}

/* --- writing lines
 * ------------------------------------------------------------------------- */

/* The wanted part of the line at w->offset; false if the buffer is full before its end.
 */
static bool walk_copy(struct zr_walk *w, const uint8_t *text, uint64_t len)
{
	uint64_t from = w->target > w->offset ? ZR_MIN(w->target - w->offset, len) : 0;
	uint64_t n = ZR_MIN(len - from, (uint64_t)(w->end - w->out));

	if (n > 0)
		memcpy(w->out, text + from, (size_t)n);
	w->out += n;
	return from + n == len;
}

static int line_changed(const struct zr_walk *w)
{
	zr_error("array '/%s': record %llu has another length than was measured",
	         w->t->source->path, (unsigned long long)w->record);
	return -EIO;
}

/* Bytes of a line with the digits of its index. */
static uint64_t line_bytes(const struct zr_text *t, const uint8_t *rec,
                           const uint64_t *index)
{
	uint64_t len = zr_line_len(t->line, rec);

	if (t->indexed)
		len = zr_add_most(len, zr_grid_digits(&t->source->grid, index));
	return len;
}

/* One line by way of the scratch buffer: only a part of it is wanted, or it may not fit.
 */
static int walk_put_partial(struct zr_walk *w, struct stretch *s)
{
	const struct zr_line *line = w->t->line;
	uint64_t len = line_bytes(w->t, s->rec, s->index);
	const char *end;

	if (len > LONG_LINE) {
		s->long_line = len;
		return 0;
	}
	w->scratch.len = 0;
	if (zr_buf_reserve(&w->scratch,
	                   ZR_MAX((size_t)len + ZR_LINE_SPARE, SCRATCH_LEAST)) < 0)
		return -ENOMEM;
	end = zr_line_put_one(line, s->rec, s->index, (char *)w->scratch.data);
	if (end != (const char *)w->scratch.data + len)
		return line_changed(w);
	if (walk_copy(w, w->scratch.data, len))
		stretch_advance(w, s, 1, len);
	return 0;
}

static int walk_put(struct zr_walk *w, struct stretch *s)
{
	while (s->count > 0 && w->out < w->end && !s->long_line) {
		char *out = (char *)w->out;
		uint64_t n = 0;
		int r;

		if (w->target <= w->offset)
			n = zr_line_put_run(w->t->line, s->rec, s->stride, s->count,
			                    s->index, &out, (char *)w->end);
		if (n > 0) {
			stretch_advance(w, s, n, (uint64_t)((uint8_t *)out - w->out));
			w->out = (uint8_t *)out;
			continue;
		}
		r = walk_put_partial(w, s);
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- long lines
 * ---------------------------------------------------------------------------- */

struct long_line {
	const struct zr_walk *w;
	const struct stretch *s;
};

/* zr_source_make. The chunk may have been read anew since the line was measured, and what
 * is stored may be another by now: then the line is left empty. */
static int make_line(void *arg, const struct zr_chunk *cell, struct zr_chunk *ret)
{
	const struct long_line *l = arg;
	const struct zr_source *src = l->w->t->source;
	const uint8_t *rec = src->array->fill;
	struct zr_run run;
	const char *end;

	if (cell) {
		zr_grid_run(&src->grid, l->w->record, &run);
		rec = cell->data.data + run.first * src->array->type.size;
	}
	if (line_bytes(l->w->t, rec, l->s->index) != l->s->long_line)
		return 0;
	if (zr_buf_reserve(&ret->data, (size_t)l->s->long_line + ZR_LINE_SPARE) < 0)
		return -ENOMEM;
	end = zr_line_put_one(l->w->t->line, rec, l->s->index, (char *)ret->data.data);
	ret->data.len = (size_t)(end - (const char *)ret->data.data);
	return 0;
}

static int line_too_long(struct zr_walk *w, uint64_t len)
{
	if (!atomic_exchange(&w->t->told, true))
		zr_error("array '/%s': the line of record %llu has %llu bytes, more than "
		         "the limit of %llu MiB",
		         w->t->source->path, (unsigned long long)w->record,
		         (unsigned long long)len,
		         (unsigned long long)(ZR_MAX_CHUNK >> 20));
	return -EIO;
}

/* The chunk that the stretch lies in must have been given back. */
static int walk_put_long(struct zr_walk *w, const struct stretch *s)
{
	struct long_line l = {w, s};
	ZR_CLEANUP(zr_chunk_unrefp) struct zr_chunk *line = NULL;
	int r;

	if (s->long_line > ZR_MAX_CHUNK)
		return line_too_long(w, s->long_line);
	r = zr_source_derive(w->t->source, s->cell, w->t->what, w->record,
	                     (size_t)s->long_line, make_line, &l, &line);
	if (r < 0)
		return r == -ENOMEM ? r : -EIO;
	if (line->data.len != s->long_line)
		return line_changed(w);
	atomic_store(&w->t->long_record, w->record + 1);
	if (walk_copy(w, line->data.data, line->data.len)) {
		w->record++;
		w->offset += line->data.len;
	}
	return 0;
}

/* The next line is a long one that somebody has just read from: true if it is there. */
static bool walk_put_kept(struct zr_walk *w)
{
	ZR_CLEANUP(zr_chunk_unrefp) struct zr_chunk *line = NULL;

	if (atomic_load(&w->t->long_record) != w->record + 1)
		return false;
	line = zr_source_peek_derived(w->t->source, w->t->what, w->record);
	if (!line)
		return false;
	if (walk_copy(w, line->data.data, line->data.len)) {
		w->record++;
		w->offset += line->data.len;
	}
	return true;
}

/* --- walking
 * ----------------------------------------------------------------------------
 */

/* One stretch, or one long line, farther: skips lines, or writes them. */
static int walk_on(struct zr_walk *w)
{
	struct zr_chunk *chunk = NULL;
	struct zr_gate *gate = w->t->source->gate;
	struct stretch s;
	int r;

	if (walk_put_kept(w))
		return 0;
	r = walk_stretch(w, &s, &chunk);
	if (r == 0)
		r = walk_check(w, &s);
	if (r == 0) {
		zr_gate_enter(gate);
		walk_skip(w, &s);
		if (s.count > 0)
			r = s.damaged ? -EIO : walk_put(w, &s);
		zr_gate_leave(gate);
	}
	zr_chunk_unref(chunk);
	if (r == 0 && s.long_line)
		r = walk_put_long(w, &s);
	return r == 0 || r == -ENOMEM ? r : -EIO;
}

int zr_walk_run(struct zr_walk *w, const atomic_bool *cancel)
{
	const uint8_t *begin = w->out;
	int r = 0;

	while (r == 0 && w->out < w->end && w->record < w->last) {
		if (cancel && atomic_load(cancel))
			return -EINTR;
		r = walk_on(w);
	}
	zr_tally_add(ZR_TALLY_RENDERED, (uint64_t)(w->out - begin));
	return r;
}
