/* SPDX-License-Identifier: MIT */
/*
 * Lines differ in length, so a byte offset is found by walking (view_walk.c) from the
 * nearest record whose offset is known: the begin of the file, the begin of a block of
 * the index, or where an earlier read ended (`anchors`: a sequential reader never walks
 * twice).
 */
#include <errno.h>

#include "log.h"
#include "view_impl.h"

/* A place is walked to without the block index when it is at most so far away: what a
 * reader with read-ahead may have in flight. */
#define WALK_LIMIT ((uint64_t)4 << 20)

/* --- where to begin --------------------------------------------------------------------
 */

static struct zr_anchor anchor_best(struct zr_text *t, uint64_t target)
{
	struct zr_anchor best = {0, 0};

	pthread_mutex_lock(&t->lock);
	for (unsigned int i = 0; i < t->nanchors; i++)
		if (t->anchors[i].offset <= target && t->anchors[i].offset > best.offset)
			best = t->anchors[i];
	pthread_mutex_unlock(&t->lock);
	return best;
}

static void anchor_add(struct zr_text *t, uint64_t record, uint64_t offset)
{
	pthread_mutex_lock(&t->lock);
	for (unsigned int i = 0; i < t->nanchors; i++) {
		if (t->anchors[i].offset == offset) {
			pthread_mutex_unlock(&t->lock);
			return;
		}
	}
	if (t->nanchors < ZR_ANCHORS)
		t->oldest = t->nanchors++;
	else
		t->oldest = (t->oldest + 1) % ZR_ANCHORS;
	t->anchors[t->oldest] = (struct zr_anchor){record, offset};
	pthread_mutex_unlock(&t->lock);
}

static int walk_begin(struct zr_walk *w, struct zr_ticket *ticket)
{
	struct zr_anchor best = anchor_best(w->t, w->target);
	uint64_t record, offset;
	int r;

	if (zr_sizes_peek_locate(w->t->sizes, w->t->file, w->target, &record, &offset) &&
	    offset > best.offset)
		best = (struct zr_anchor){record, offset};
	if (ticket->window == 0 && zr_sizes_is_recalled(w->t->sizes)) {
		r = zr_sizes_locate(w->t->sizes, w->t->file, w->target, ticket, &record,
		                    &offset);
		if (r == -EINPROGRESS)
			return r;
	}
	if (w->target - best.offset > WALK_LIMIT) {
		r = zr_sizes_locate(w->t->sizes, w->t->file, w->target, ticket, &record,
		                    &offset);
		if (r < 0)
			return r;
		if (offset > best.offset)
			best = (struct zr_anchor){record, offset};
	}
	w->record = best.record;
	w->offset = best.offset;
	return 0;
}

/* --- the view
 * ------------------------------------------------------------------------------ */

static bool text_peek_size(struct zr_view *v, uint64_t *ret)
{
	struct zr_text *t = (struct zr_text *)v;

	if (!zr_sizes_peek(t->sizes, t->file, ret))
		return false;
	*ret += t->header.len;
	return true;
}

static int text_size(struct zr_view *v, struct zr_ticket *ticket, uint64_t *ret)
{
	struct zr_text *t = (struct zr_text *)v;
	uint64_t size;
	int r = zr_sizes_get(t->sizes, t->file, ticket, &size);

	if (r == 0)
		*ret = size + t->header.len;
	return r;
}

static int text_wrong_size(struct zr_text *t, const char *what)
{
	zr_error("array '/%s': the text %s its measured size", t->source->path, what);
	zr_sizes_distrust(t->sizes);
	return -EIO;
}

/* The lines, `offset` counted from the first one. *ret_len: bytes written, short only at
 * the end of the file. to_end: that is where the measured size says they end. */
static int text_read_lines(struct zr_text *t, uint64_t offset, size_t len, bool to_end,
                           struct zr_ticket *ticket, const atomic_bool *cancel,
                           uint8_t *out, size_t *ret_len)
{
	struct zr_walk w = {.t = t,
	                    .last = t->source->grid.nrecords,
	                    .target = offset,
	                    .out = out,
	                    .end = out + len};
	int r = walk_begin(&w, ticket);

	if (r == 0)
		r = zr_walk_run(&w, cancel);
	zr_buf_done(&w.scratch);
	if (r < 0)
		return r;
	if (w.offset < offset && w.record == t->source->grid.nrecords)
		return -EIO; /* behind the end */
	if (to_end && w.record < t->source->grid.nrecords)
		return text_wrong_size(t, "goes on behind");
	anchor_add(t, w.record, w.offset);
	*ret_len = (size_t)(w.out - out);
	return 0;
}

static int text_read(struct zr_view *v, uint64_t offset, size_t len,
                     struct zr_ticket *ticket, const atomic_bool *cancel, uint8_t *out,
                     size_t *ret_len)
{
	struct zr_text *t = (struct zr_text *)v;
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
		r = text_read_lines(t, offset + head - t->header.len, len - head,
		                    known && offset + len == size, ticket, cancel,
		                    out + head, &lines);
		if (r < 0)
			return r;
	}
	if (known && head + lines < len)
		return text_wrong_size(t, "ends before");
	*ret_len = head + lines;
	return 0;
}

static void text_rows(struct zr_view *v, struct zr_rows *ret)
{
	struct zr_text *t = (struct zr_text *)v;

	*ret = (struct zr_rows){.count = t->source->grid.nrecords,
	                        .header = t->header.len,
	                        .usual = t->fill_len};
}

static int text_read_rows(struct zr_view *v, struct zr_cursor *c, size_t len,
                          const atomic_bool *cancel, uint8_t *out, size_t *ret_len)
{
	struct zr_walk w = {.t = (struct zr_text *)v,
	                    .record = c->record,
	                    .last = c->end,
	                    .adrift = true,
	                    .target = c->skip,
	                    .out = out,
	                    .end = out + len};
	int r = zr_walk_run(&w, cancel);

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
	struct zr_text *t = (struct zr_text *)v;

	zr_pieces_done(t);
	pthread_mutex_destroy(&t->lock);
	zr_line_free(t->line);
	zr_buf_done(&t->header);
	free(t);
}

static bool text_lend(struct zr_view *v, uint64_t offset, size_t len, bool wait,
                      const atomic_bool *cancel, struct zr_lent *ret)
{
	struct zr_text *t = (struct zr_text *)v;
	uint64_t size;

	if (!text_peek_size(v, &size) || offset < t->header.len || offset >= size)
		return false;
	len = (size_t)ZR_MIN((uint64_t)len, size - offset);
	return zr_pieces_lend(t, offset - t->header.len, len, wait, cancel, ret);
}

static const struct zr_view_ops text_ops = {
	.peek_size = text_peek_size,
	.size = text_size,
	.read = text_read,
	.lend = text_lend,
	.rows = text_rows,
	.read_rows = text_read_rows,
	.free = text_free,
};

struct zr_view *zr_view_new_text(struct zr_source *source, struct zr_sizes *sizes,
                                 uint32_t file, const struct zr_column *column,
                                 struct zr_line *own_line, struct zr_buf *own_header)
{
	struct zr_text *t = own_line ? calloc(1, sizeof(*t)) : NULL;

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
	zr_view_set_part(column, source, &t->first, &t->bytes);
	t->what = zr_source_new_what(source);
	zr_pieces_init(t);
	pthread_mutex_init(&t->lock, NULL);
	return &t->view;
}
