/* SPDX-License-Identifier: MIT */
/*
 * Lines differ in length, so a byte offset is found by walking from the nearest record
 * whose offset is known: the begin of the file, the begin of a block of the index, or
 * where an earlier read ended (`anchors`: a sequential reader never walks twice). Runs of
 * fill values are stepped over in closed form.
 */
#include "view.h"

#include <errno.h>

#include "log.h"
#include "request.h"

#define ANCHORS 8
/* A place is walked to without the block index when it is at most so far away: what a
 * reader with read-ahead may have in flight. */
#define WALK_LIMIT ((uint64_t)4 << 20)

struct anchor {
	uint64_t record;
	uint64_t offset; /* of its line, header not counted */
};

struct text {
	struct zr_view view;
	struct zr_source *source;
	struct zr_sizes *sizes;
	uint32_t file;
	struct zr_line *line; /* owned */
	struct zr_buf header; /* owned */
	uint64_t fill_len;    /* of the fill value's line, index digits not */
	bool indexed;

	pthread_mutex_t lock; /* guards what follows */
	struct anchor anchors[ANCHORS];
	unsigned int nanchors, oldest;
};

/* One read on its way through the file. */
struct walk {
	struct text *t;
	uint64_t record, offset; /* where it is: begin of a line */
	uint64_t last;           /* record behind the last one that is wanted */
	bool adrift;             /* offsets count from the first record, wherever it is */
	uint64_t target;         /* first byte that is wanted */
	uint8_t *out, *end;      /* where the next wanted byte goes */
	struct zr_buf scratch;   /* a line that is wanted in part */
	bool full;
};

/* A run of records to walk over. */
struct stretch {
	const uint8_t *rec;
	uint64_t stride; /* bytes; 0: the fill value again and again */
	uint64_t count;
	uint64_t index[ZR_MAX_DIMS];
	bool damaged;
};

/* --- where to begin --------------------------------------------------------------------
 */

static struct anchor anchor_best(struct text *t, uint64_t target)
{
	struct anchor best = {0, 0};

	pthread_mutex_lock(&t->lock);
	for (unsigned int i = 0; i < t->nanchors; i++)
		if (t->anchors[i].offset <= target && t->anchors[i].offset > best.offset)
			best = t->anchors[i];
	pthread_mutex_unlock(&t->lock);
	return best;
}

static void anchor_add(struct text *t, uint64_t record, uint64_t offset)
{
	pthread_mutex_lock(&t->lock);
	for (unsigned int i = 0; i < t->nanchors; i++) {
		if (t->anchors[i].offset == offset) {
			pthread_mutex_unlock(&t->lock);
			return;
		}
	}
	if (t->nanchors < ANCHORS)
		t->oldest = t->nanchors++;
	else
		t->oldest = (t->oldest + 1) % ANCHORS;
	t->anchors[t->oldest] = (struct anchor){record, offset};
	pthread_mutex_unlock(&t->lock);
}

static int walk_begin(struct walk *w, struct zr_ticket *ticket)
{
	struct anchor best = anchor_best(w->t, w->target);
	uint64_t record, offset;
	int r;

	if (zr_sizes_peek_locate(w->t->sizes, w->t->file, w->target, &record, &offset) &&
	    offset > best.offset)
		best = (struct anchor){record, offset};
	if (w->target - best.offset > WALK_LIMIT) {
		r = zr_sizes_locate(w->t->sizes, w->t->file, w->target, ticket, &record,
		                    &offset);
		if (r < 0)
			return r;
		if (offset > best.offset)
			best = (struct anchor){record, offset};
	}
	w->record = best.record;
	w->offset = best.offset;
	return 0;
}

/* --- what comes next -------------------------------------------------------------------
 */

/* How many records from the run's first on lie in objects that are not stored, as far as
 * the row goes; 0 when the run's own object is stored, or that is not known. */
static uint64_t unstored(const struct walk *w, const struct zr_run *run)
{
	const struct zr_present *p = zr_sizes_present(w->t->sizes);
	const struct zr_grid *g = &w->t->source->grid;
	uint64_t next, at, row;
	uint32_t last;

	if (!p)
		return 0;
	next = zr_present_next(p, run->object);
	if (next == run->object)
		return 0;
	if (g->ndim == 0)
		return 1;
	last = g->ndim - 1;
	row = g->shape[last] - run->index[last];
	at = run->index[last] / g->object[last];
	if (next == UINT64_MAX || next - run->object >= g->objects[last] - at)
		return row;
	return (at + (next - run->object)) * g->object[last] - run->index[last];
}

/* The records from w->record on that one chunk holds, or that none does. */
static int walk_stretch(struct walk *w, struct stretch *ret, struct zr_chunk **ret_chunk)
{
	struct zr_source *src = w->t->source;
	uint64_t size = src->array->type.size, missing;
	struct zr_run run;
	int r;

	zr_grid_run(&src->grid, w->record, &run);
	*ret = (struct stretch){.rec = src->array->fill, .count = run.count};
	memcpy(ret->index, run.index, sizeof(ret->index));
	missing = src->missing_is_error ? 0 : unstored(w, &run);
	if (missing > 0) {
		ret->count = missing;
		return 0;
	}
	r = zr_source_get(src, run.cell, ret_chunk);
	if (r == 0) {
		ret->rec = (*ret_chunk)->data.data + run.first * size;
		ret->stride = run.step * size;
	}
	ret->damaged = r == -EUCLEAN;
	return r == -ENOENT || r == -EUCLEAN ? 0 : r;
}

/* Cuts a stretch at the end of what is wanted and of a block, and holds the walk against
 * the block index there: text that is shifted is never handed out. */
static int walk_check(struct walk *w, struct stretch *s)
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
static uint64_t fill_bytes(const struct walk *w, uint64_t n)
{
	unsigned __int128 bytes = (unsigned __int128)n * w->t->fill_len;

	if (w->t->indexed)
		bytes += zr_grid_digits_before(&w->t->source->grid, w->record + n) -
		         zr_grid_digits_before(&w->t->source->grid, w->record);
	return bytes < ZR_MAX_FILE ? (uint64_t)bytes : ZR_MAX_FILE;
}

/* How many lines of fill values end at or before the target. */
static uint64_t fill_skip(const struct walk *w, uint64_t count, uint64_t *ret_bytes)
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

static void stretch_advance(struct walk *w, struct stretch *s, uint64_t n, uint64_t bytes)
{
	w->record += n;
	w->offset += bytes;
	s->rec += s->stride * n;
	s->count -= n;
	if (w->t->source->grid.ndim > 0)
		s->index[w->t->source->grid.ndim - 1] += n;
}

static void walk_skip(struct walk *w, struct stretch *s)
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

/* One line by way of the scratch buffer: only a part of it is wanted, or it may not fit.
 */
static int walk_put_partial(struct walk *w, struct stretch *s)
{
	const struct zr_line *line = w->t->line;
	uint64_t len = zr_line_len(line, s->rec), from, n;
	const uint8_t *text;

	if (w->t->indexed)
		len += zr_grid_digits(&w->t->source->grid, s->index);
	w->scratch.len = 0;
	if (len > SIZE_MAX / 2 || zr_buf_reserve(&w->scratch, (size_t)len) < 0)
		return -ENOMEM;
	text = w->scratch.data;
	if (zr_line_put_one(line, s->rec, s->index, (char *)w->scratch.data) !=
	    (const char *)text + len) {
		zr_error("array '/%s': record %llu has another length than was measured",
		         w->t->source->path, (unsigned long long)w->record);
		return -EIO;
	}
	from = w->target > w->offset ? w->target - w->offset : 0;
	n = ZR_MIN(len - from, (uint64_t)(w->end - w->out));
	memcpy(w->out, text + from, (size_t)n);
	w->out += n;
	if (from + n < len)
		w->full = true;
	else
		stretch_advance(w, s, 1, len);
	return 0;
}

static int walk_put(struct walk *w, struct stretch *s)
{
	while (s->count > 0 && w->out < w->end && !w->full) {
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

static int walk_on(struct walk *w)
{
	ZR_CLEANUP(zr_chunk_unrefp) struct zr_chunk *chunk = NULL;
	struct zr_gate *gate = w->t->source->gate;
	struct stretch s;
	int r = walk_stretch(w, &s, &chunk);

	if (r == 0)
		r = walk_check(w, &s);
	if (r < 0)
		return r == -ENOMEM ? r : -EIO;
	zr_gate_enter(gate);
	walk_skip(w, &s);
	if (s.count > 0)
		r = s.damaged ? -EIO : walk_put(w, &s);
	zr_gate_leave(gate);
	return r;
}

/* Lines from the target on until the buffer is full or the file ends. */
static int walk_run(struct walk *w, const atomic_bool *cancel)
{
	int r = 0;

	while (r == 0 && w->out < w->end && !w->full && w->record < w->last) {
		if (cancel && atomic_load(cancel))
			return -EINTR;
		r = walk_on(w);
	}
	return r;
}

/* --- the view
 * ------------------------------------------------------------------------------ */

static bool text_peek_size(struct zr_view *v, uint64_t *ret)
{
	struct text *t = (struct text *)v;

	if (!zr_sizes_peek(t->sizes, t->file, ret))
		return false;
	*ret += t->header.len;
	return true;
}

static int text_size(struct zr_view *v, struct zr_ticket *ticket, uint64_t *ret)
{
	struct text *t = (struct text *)v;
	uint64_t size;
	int r = zr_sizes_get(t->sizes, t->file, ticket, &size);

	if (r == 0)
		*ret = size + t->header.len;
	return r;
}

/* The lines, `offset` counted from the first one. *ret_len: bytes written, short only at
 * the end of the file. */
static int text_read_lines(struct text *t, uint64_t offset, size_t len,
                           struct zr_ticket *ticket, const atomic_bool *cancel,
                           uint8_t *out, size_t *ret_len)
{
	struct walk w = {.t = t,
	                 .last = t->source->grid.nrecords,
	                 .target = offset,
	                 .out = out,
	                 .end = out + len};
	int r = walk_begin(&w, ticket);

	if (r == 0)
		r = walk_run(&w, cancel);
	zr_buf_done(&w.scratch);
	if (r < 0)
		return r;
	if (w.offset < offset && !w.full && w.record == t->source->grid.nrecords)
		return -EIO; /* behind the end */
	anchor_add(t, w.record, w.offset);
	*ret_len = (size_t)(w.out - out);
	return 0;
}

static int text_read(struct zr_view *v, uint64_t offset, size_t len,
                     struct zr_ticket *ticket, const atomic_bool *cancel, uint8_t *out,
                     size_t *ret_len)
{
	struct text *t = (struct text *)v;
	uint64_t size = UINT64_MAX;
	bool known = text_peek_size(v, &size);
	size_t head = 0, lines = 0;
	int r;

	if (offset > size)
		return -EIO;
	len = (size_t)ZR_MIN((uint64_t)len, size - offset);
	if (offset < t->header.len) {
		head = ZR_MIN(len, t->header.len - (size_t)offset);
		memcpy(out, t->header.data + offset, head);
	}
	if (head < len) {
		r = text_read_lines(t, offset + head - t->header.len, len - head, ticket,
		                    cancel, out + head, &lines);
		if (r < 0)
			return r;
	}
	if (known && head + lines < len) {
		zr_error("array '/%s': the text ends before its measured size",
		         t->source->path);
		return -EIO;
	}
	*ret_len = head + lines;
	return 0;
}

static void text_rows(struct zr_view *v, struct zr_rows *ret)
{
	struct text *t = (struct text *)v;

	*ret = (struct zr_rows){.count = t->source->grid.nrecords,
	                        .header = t->header.len,
	                        .usual = t->fill_len};
}

static int text_read_rows(struct zr_view *v, struct zr_cursor *c, size_t len,
                          const atomic_bool *cancel, uint8_t *out, size_t *ret_len)
{
	struct walk w = {.t = (struct text *)v,
	                 .record = c->record,
	                 .last = c->end,
	                 .adrift = true,
	                 .target = c->skip,
	                 .out = out,
	                 .end = out + len};
	int r = walk_run(&w, cancel);

	zr_buf_done(&w.scratch);
	if (r < 0)
		return r;
	*ret_len = (size_t)(w.out - out);
	c->record = w.record;
	c->skip = w.target + *ret_len - w.offset;
	return 0;
}

static void text_free(struct zr_view *v)
{
	struct text *t = (struct text *)v;

	pthread_mutex_destroy(&t->lock);
	zr_line_free(t->line);
	zr_buf_done(&t->header);
	free(t);
}

static const struct zr_view_ops text_ops = {
	.peek_size = text_peek_size,
	.size = text_size,
	.read = text_read,
	.rows = text_rows,
	.read_rows = text_read_rows,
	.free = text_free,
};

struct zr_view *zr_view_new_text(struct zr_source *source, struct zr_sizes *sizes,
                                 uint32_t file, struct zr_line *own_line,
                                 struct zr_buf *own_header)
{
	struct text *t = own_line ? calloc(1, sizeof(*t)) : NULL;

	if (!t) {
		zr_line_free(own_line);
		zr_buf_done(own_header);
		return NULL;
	}
	t->view.ops = &text_ops;
	t->source = source;
	t->sizes = sizes;
	t->file = file;
	t->line = own_line;
	t->header = *own_header;
	*own_header = (struct zr_buf){0};
	t->indexed = zr_line_has_index(own_line);
	t->fill_len = zr_line_len(own_line, source->array->fill);
	pthread_mutex_init(&t->lock, NULL);
	return &t->view;
}
