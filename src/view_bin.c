/* SPDX-License-Identifier: MIT */
/*
 * Every record takes the same number of bytes, so sizes and offsets are arithmetic, and
 * nothing is ever measured.
 */
#include "view.h"

#include <errno.h>

#include "request.h"
#include "view_decode.h"

/* A longer record is made once, and kept in the cache, not for each read again. */
#define LONG_RECORD ((uint64_t)1 << 20)

struct bin {
	struct zr_view view;
	struct zr_source *source;
	struct zr_bin *bin;    /* owned */
	struct zr_buf header;  /* owned */
	uint64_t record_len;   /* bytes of a record in the file; may be 0 */
	uint64_t first, bytes; /* of a record, that it is made of */
	uint64_t what;         /* long records, in the cache */
	bool is_copy;          /* the file is what the chunks hold */
	struct zr_decode decode;
};

static bool bin_peek_size(struct zr_view *v, uint64_t *ret)
{
	struct bin *b = (struct bin *)v;
	uint64_t size;

	if (!zr_mul(b->record_len, b->source->grid.nrecords, &size) ||
	    size >= ZR_MAX_FILE)
		return false;
	*ret = b->header.len + size;
	return true;
}

static int bin_size(struct zr_view *v, struct zr_ticket *ticket, uint64_t *ret)
{
	(void)ticket;
	return bin_peek_size(v, ret) ? 0 : -EOVERFLOW;
}

struct long_record {
	const struct bin *b;
	uint64_t first; /* its number in the cell */
};

/* `n` records of a run, the first of them from byte `skip` on, at most `len` bytes. */
static int bin_put(struct bin *b, const uint8_t *rec, uint64_t stride, uint64_t n,
                   uint64_t skip, size_t len, uint8_t *out)
{
	uint64_t whole = 0;

	if (skip == 0) {
		whole = ZR_MIN(n, len / b->record_len);
		zr_bin_put_run(b->bin, rec, stride, whole, out);
		out += whole * b->record_len;
		len -= whole * b->record_len;
		rec += whole * stride;
	}
	if (whole == n || len == 0)
		return 0;
	return zr_bin_put_part(b->bin, rec, skip,
	                       ZR_MIN(len, (size_t)(b->record_len - skip)), out);
}

/* zr_source_make */
static int make_record(void *arg, const struct zr_chunk *cell, struct zr_chunk *ret)
{
	const struct long_record *l = arg;
	const struct zr_array *a = l->b->source->array;
	const uint8_t *rec = cell ? cell->data.data + l->first * a->type.size : a->fill;
	size_t len = (size_t)l->b->record_len;

	if (zr_buf_reserve(&ret->data, len) < 0)
		return -ENOMEM;
	zr_bin_put_run(l->b->bin, rec, 0, 1, ret->data.data);
	ret->data.len = len;
	return 0;
}

/* A piece of one record, as far as it goes. */
static int bin_read_long(struct bin *b, uint64_t offset, size_t len, uint8_t *out,
                         size_t *ret_done)
{
	uint64_t record = offset / b->record_len, skip = offset % b->record_len;
	ZR_CLEANUP(zr_chunk_unrefp) struct zr_chunk *text = NULL;
	struct long_record l = {.b = b};
	struct zr_run run;
	int r;

	zr_grid_run(&b->source->grid, record, &run);
	l.first = run.first;
	r = zr_source_derive(b->source, run.cell, b->what, record, (size_t)b->record_len,
	                     make_record, &l, &text);
	if (r == -ENOENT) /* all such records are the same one */
		r = zr_source_derive(b->source, UINT64_MAX, b->what, UINT64_MAX,
		                     (size_t)b->record_len, make_record, &l, &text);
	if (r < 0)
		return r == -ENOMEM ? r : -EIO;
	*ret_done = ZR_MIN(len, (size_t)(b->record_len - skip));
	memcpy(out, text->data.data + skip, *ret_done);
	return 0;
}

/* Records from the run's first on that one chunk holds, or that none does. */
static int bin_get(struct bin *b, const struct zr_run *run, struct zr_chunk **ret_chunk,
                   const uint8_t **ret_rec, uint64_t *ret_stride, uint64_t *ret_count)
{
	struct zr_source *src = b->source;
	uint64_t size = 0, missing = 0;
	int r = -ENOENT;

	if (!src->missing_is_error)
		missing = zr_source_unstored(src, run);
	if (missing == 0)
		r = zr_source_get_part(src, run->cell, b->first, b->bytes, ret_chunk,
		                       &size);
	if (r < 0 && r != -ENOENT)
		return r == -ENOMEM ? r : -EIO;
	*ret_count = ZR_MAX(missing, run->count);
	*ret_rec = src->array->fill;
	*ret_stride = 0;
	if (r == 0) {
		*ret_rec = (*ret_chunk)->data.data + run->first * size;
		*ret_stride = run->step * size;
	}
	return 0;
}

/* The part of the range that lies in one run; *ret_done: its bytes. */
static int bin_read_run(struct bin *b, uint64_t offset, size_t len, uint8_t *out,
                        size_t *ret_done)
{
	ZR_CLEANUP(zr_chunk_unrefp) struct zr_chunk *chunk = NULL;
	uint64_t skip = offset % b->record_len, stride = 0, n = 0, bytes;
	struct zr_gate *gate = b->source->gate;
	const uint8_t *rec = NULL;
	struct zr_run run;
	int r;

	zr_grid_run(&b->source->grid, offset / b->record_len, &run);
	r = bin_get(b, &run, &chunk, &rec, &stride, &n);
	if (r < 0)
		return r;
	/* One record when it is begun in the middle, else as many as there are. */
	if (!zr_mul(skip > 0 ? 1 : n, b->record_len, &bytes))
		bytes = UINT64_MAX;
	bytes = ZR_MIN(bytes - skip, (uint64_t)len);
	zr_gate_enter(gate);
	r = bin_put(b, rec, stride, skip > 0 ? 1 : n, skip, (size_t)bytes, out);
	zr_gate_leave(gate);
	*ret_done = (size_t)bytes;
	return r;
}

static int bin_read(struct zr_view *v, uint64_t offset, size_t len,
                    struct zr_ticket *ticket, const atomic_bool *cancel, uint8_t *out,
                    size_t *ret_len)
{
	struct bin *b = (struct bin *)v;
	uint64_t size;
	size_t at = 0, done;
	int r;

	(void)ticket;
	if (!bin_peek_size(v, &size))
		return -EOVERFLOW;
	if (offset > size)
		return -EIO;
	len = (size_t)ZR_MIN((uint64_t)len, size - offset);
	if (offset < b->header.len) {
		at = ZR_MIN(len, b->header.len - (size_t)offset);
		memcpy(out, b->header.data + offset, at);
	}
	while (at < len) {
		if (cancel && atomic_load(cancel))
			return -EINTR;
		r = b->record_len > LONG_RECORD
		            ? bin_read_long(b, offset + at - b->header.len, len - at,
		                            out + at, &done)
		            : bin_read_run(b, offset + at - b->header.len, len - at,
		                           out + at, &done);
		if (r < 0)
			return r;
		at += done;
	}
	*ret_len = at;
	return 0;
}

/* What a chunk in the cache holds of the range; *ret_done: its bytes. */
static bool bin_lend_run(struct bin *b, const struct zr_run *run, uint64_t skip,
                         size_t len, struct zr_lent *ret, size_t *ret_done)
{
	struct zr_chunk *chunk = zr_source_peek(b->source, run->cell);

	if (!chunk)
		return false;
	*ret_done = (size_t)ZR_MIN((uint64_t)len, run->count * b->record_len - skip);
	return zr_lent_add(ret, chunk,
	                   chunk->data.data + run->first * b->record_len + skip,
	                   *ret_done);
}

/* All of the range, if the file is what the chunks hold. Only the first one is waited
 * for: who waits for a chunk must not hold another (cache.h). */
static bool bin_lend_runs(struct bin *b, uint64_t offset, size_t len, bool wait,
                          struct zr_lent *ret)
{
	struct zr_chunk *chunk;
	struct zr_run run;
	size_t done;

	while (len > 0) {
		zr_grid_run(&b->source->grid, offset / b->record_len, &run);
		if (run.step != 1)
			return false;
		if (wait && ret->count == 0) {
			if (zr_source_get(b->source, run.cell, &chunk) < 0)
				return false;
			zr_chunk_unref(chunk);
		}
		if (!bin_lend_run(b, &run, offset % b->record_len, len, ret, &done))
			return false;
		offset += done;
		len -= done;
	}
	return true;
}

static bool bin_lend(struct zr_view *v, uint64_t offset, size_t len, bool wait,
                     const atomic_bool *cancel, struct zr_lent *ret)
{
	struct bin *b = (struct bin *)v;
	uint64_t size;

	(void)cancel;
	if (!bin_peek_size(v, &size) || offset < b->header.len || offset >= size)
		return false;
	offset -= b->header.len;
	len = (size_t)ZR_MIN((uint64_t)len, size - b->header.len - offset);
	if (zr_ahead_follows(&b->decode.ahead, offset, len))
		zr_decode_run(&b->decode, (offset + len) / b->record_len);
	if (b->is_copy && bin_lend_runs(b, offset, len, wait, ret))
		return true;
	zr_lent_done(ret);
	return false;
}

static void bin_rows(struct zr_view *v, struct zr_rows *ret)
{
	struct bin *b = (struct bin *)v;

	*ret = (struct zr_rows){.count = b->source->grid.nrecords,
	                        .header = b->header.len,
	                        .usual = ZR_MAX(b->record_len, 1)};
}

static int bin_read_rows(struct zr_view *v, struct zr_cursor *c, size_t len,
                         const atomic_bool *cancel, uint8_t *out, size_t *ret_len)
{
	struct bin *b = (struct bin *)v;
	uint64_t at, end;
	int r;

	if (b->record_len == 0) {
		c->record = c->end;
		*ret_len = 0;
		return 0;
	}
	if (!zr_mul(c->end, b->record_len, &end) || end >= ZR_MAX_FILE)
		return -EOVERFLOW;
	at = c->record * b->record_len + c->skip;
	r = bin_read(v, b->header.len + at, (size_t)ZR_MIN((uint64_t)len, end - at), NULL,
	             cancel, out, ret_len);
	if (r < 0)
		return r;
	at += *ret_len;
	c->record = at / b->record_len;
	c->skip = at % b->record_len;
	return 0;
}

static void bin_free(struct zr_view *v)
{
	struct bin *b = (struct bin *)v;

	zr_decode_done(&b->decode);
	zr_bin_free(b->bin);
	zr_buf_done(&b->header);
	free(b);
}

static const struct zr_view_ops bin_ops = {
	.peek_size = bin_peek_size,
	.size = bin_size,
	.read = bin_read,
	.lend = bin_lend,
	.rows = bin_rows,
	.read_rows = bin_read_rows,
	.free = bin_free,
};

struct zr_view *zr_view_new_bin(struct zr_source *source, const struct zr_column *column,
                                struct zr_bin *own_bin, struct zr_buf *own_header)
{
	struct bin *b = own_bin ? calloc(1, sizeof(*b)) : NULL;

	if (!b) {
		zr_bin_free(own_bin);
		zr_buf_done(own_header);
		return NULL;
	}
	b->view.ops = &bin_ops;
	b->source = source;
	b->bin = own_bin;
	b->record_len = zr_bin_len(own_bin);
	zr_view_set_part(column, source, &b->first, &b->bytes);
	b->what = zr_source_new_what(source);
	b->is_copy = b->record_len == source->array->type.size && zr_bin_is_copy(own_bin);
	zr_decode_init(&b->decode, source, b->first, b->bytes);
	b->header = *own_header;
	*own_header = (struct zr_buf){0};
	return &b->view;
}
