/* SPDX-License-Identifier: MIT */
/*
 * Making a line program: literals and operations grow in two buffers, and become a
 * struct zr_line that knows its bounds. What it does when it runs is in render_line.c.
 */
#include "number.h"
#include "render_impl.h"

/* Slots have room for so many bytes; and not for more than that. */
#define SLOT_UNIT 16
#define SLOT_MOST 128

void zr_prog_lit(struct zr_prog *b, const char *s, size_t len)
{
	zr_buf_add(&b->lits, s, len);
}

void zr_prog_back(struct zr_prog *b)
{
	if (b->lits.len > b->pending)
		b->lits.len--;
	else
		b->back = true;
}

void zr_prog_index(struct zr_prog *b)
{
	b->index[b->ndim++] = (struct zr_literal){b->pending, b->lits.len - b->pending};
	b->pending = b->lits.len;
}

/* Appends an operation, with all that is to be written before it. */
static struct zr_op *prog_op(struct zr_prog *b, enum zr_opcode code)
{
	struct zr_op *op;

	if (zr_buf_reserve(&b->ops, sizeof(*op)) < 0)
		return NULL;
	op = (struct zr_op *)(void *)(b->ops.data + b->ops.len);
	b->ops.len += sizeof(*op);
	*op = (struct zr_op){.code = code,
	                     .back = b->back,
	                     .lit = b->pending,
	                     .lit_len = b->lits.len - b->pending};
	b->back = false;
	b->pending = b->lits.len;
	return op;
}

void zr_prog_values(struct zr_prog *b, const struct zr_type *t, uint64_t offset,
                    uint64_t stride, uint64_t count, char sep)
{
	struct zr_op *op = prog_op(b, ZR_OP_VALUES);

	if (!op)
		return;
	op->offset = offset;
	op->stride = stride;
	op->count = count;
	zr_value_init(&op->value, t, b->form, b->opts, sep);
	if (b->sole)
		zr_value_set_sole(&op->value, t);
}

size_t zr_prog_loop(struct zr_prog *b, uint64_t offset, uint64_t stride, uint64_t count)
{
	size_t at = b->ops.len / sizeof(struct zr_op);
	struct zr_op *op = prog_op(b, ZR_OP_LOOP);

	if (op) {
		op->offset = offset;
		op->stride = stride;
		op->count = count;
	}
	return at;
}

void zr_prog_loop_end(struct zr_prog *b, size_t loop)
{
	/* What is pending belongs to the body. */
	if (b->back || b->lits.len > b->pending)
		prog_op(b, ZR_OP_NONE);
	b->loop_end = b->ops.len / sizeof(struct zr_op);
	if (!b->ops.failed)
		((struct zr_op *)(void *)b->ops.data)[loop].end = (uint32_t)b->loop_end;
}

/* Adds up what operations write at most (values included), or always (without). */
static uint64_t prog_sum(const struct zr_line *l, uint32_t at, uint32_t end, bool values)
{
	uint64_t sum = 0;

	while (at < end) {
		const struct zr_op *op = &l->ops[at];
		uint64_t max;

		/* Something always takes the place of what is taken back. */
		sum = zr_sat_add(sum, op->lit_len - op->back);
		if (op->code == ZR_OP_VALUES) {
			max = values ? zr_value_max(&op->value, l->form) : 0;
			sum = zr_sat_add(sum, zr_sat_mul(op->count, zr_sat_add(max, 1)));
			at++;
		} else if (op->code == ZR_OP_LOOP) {
			max = prog_sum(l, at + 1, op->end, values);
			sum = zr_sat_add(sum, zr_sat_mul(op->count, max));
			at = op->end;
		} else {
			at++;
		}
	}
	return sum;
}

/* One value and its LF, and nothing else. */
static bool prog_is_single(const struct zr_line *l)
{
	const struct zr_op *op = l->ops;

	return l->nops == 1 && l->ndim == 0 && op->code == ZR_OP_VALUES &&
	       op->count == 1 && op->lit_len == 0;
}

/* Sets what operations look at; returns where the last of that ends. */
static uint64_t prog_set_extents(struct zr_line *l, uint32_t at, uint32_t end)
{
	uint64_t last = 0;

	while (at < end) {
		struct zr_op *op = &l->ops[at++];
		uint64_t each = 0;

		if (op->code == ZR_OP_VALUES)
			each = op->value.size;
		if (op->code == ZR_OP_LOOP) {
			each = prog_set_extents(l, at, op->end);
			at = op->end;
		}
		if (op->count == 0 || each == 0)
			continue; /* its stride means nothing */
		op->extent = (op->count - 1) * op->stride + each;
		last = ZR_MAX(last, op->offset + op->extent);
	}
	return last;
}

/* The longest values are better written where they belong. */
static void prog_set_slots(struct zr_line *l)
{
	for (uint32_t i = 0; i < l->nops; i++) {
		struct zr_op *op = &l->ops[i];
		uint64_t max;

		if (op->code != ZR_OP_VALUES || op->count != 1)
			continue;
		max = zr_value_max(&op->value, l->form); /* and a separator */
		if (max < SLOT_MOST)
			op->slot = (uint32_t)(max / SLOT_UNIT + 1) * SLOT_UNIT;
	}
}

static void prog_set_bounds(struct zr_line *l)
{
	prog_set_slots(l);
	l->fixed = prog_sum(l, 0, l->nops, false);
	l->max = prog_sum(l, 0, l->nops, true);
	for (uint32_t i = 0; i < l->ndim; i++) {
		l->fixed = zr_sat_add(l->fixed, l->index[i].len);
		l->max = zr_sat_add(l->max, l->index[i].len + ZR_U64_MAX_LEN);
	}
	l->single = prog_is_single(l);
	l->span = prog_set_extents(l, 0, l->nops);
	if (l->max == UINT64_MAX)
		l->span = 0;
}

/* A cell that ends its line is followed by the LF right away. */
static void prog_end_with_value(struct zr_prog *b)
{
	struct zr_op *op = (struct zr_op *)(void *)b->ops.data;
	size_t n = b->ops.len / sizeof(*op);

	if (n == 0 || !b->back || b->lits.len - b->pending != 1)
		return;
	op += n - 1;
	if (op->code != ZR_OP_VALUES || op->count != 1 || b->loop_end == n)
		return;
	op->value.sep = (char)b->lits.data[b->pending];
	b->back = false;
	b->lits.len--;
}

struct zr_line *zr_prog_finish(struct zr_prog *b)
{
	struct zr_line *l;

	prog_end_with_value(b);
	if (b->back || b->lits.len > b->pending)
		prog_op(b, ZR_OP_NONE);
	zr_buf_reserve(&b->lits, ZR_LINE_SPARE); /* which is copied with the last one */
	if (b->ops.failed || b->lits.failed)
		return NULL;
	l = calloc(1, sizeof(*l));
	if (!l)
		return NULL;
	l->form = b->form;
	l->nops = (uint32_t)(b->ops.len / sizeof(struct zr_op));
	l->ndim = b->ndim;
	memcpy(l->index, b->index, sizeof(l->index));
	l->ops = (struct zr_op *)(void *)ZR_TAKE(b->ops.data);
	l->lits = (char *)ZR_TAKE(b->lits.data);
	prog_set_bounds(l);
	return l;
}

void zr_prog_done(struct zr_prog *b)
{
	zr_buf_done(&b->ops);
	zr_buf_done(&b->lits);
}

void zr_line_free(struct zr_line *line)
{
	if (!line)
		return;
	free(line->ops);
	free(line->lits);
	free(line);
}
