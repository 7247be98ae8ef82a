/* SPDX-License-Identifier: MIT */
/*
 * What of a line comes from the record. One record is written by the line's program; of a
 * block of records, what all have in common is taken from the text of the first one, and
 * only operations whose values differ are run.
 */
#include "number.h"
#include "render_impl.h"

/* Fewer records are not worth a look at what they have in common. */
#define BODY_MIN 8
/* Blocks that are not looked at behind one that had nothing in common. */
#define BODY_WAIT 15

_Static_assert(ZR_LINE_SPARE >= ZR_PUT_SPARE, "values are the last of a line");

/* Most are short, a name and its quotes: always as much as may be overwritten. */
static inline char *put_lit(char *out, const char *s, uint64_t n)
{
	memcpy(out, s, ZR_LINE_SPARE);
	if (n > ZR_LINE_SPARE)
		memcpy(out + ZR_LINE_SPARE, s + ZR_LINE_SPARE, n - ZR_LINE_SPARE);
	return out + n;
}

static char *ops_put(const struct zr_line *l, uint32_t at, uint32_t end, const uint8_t *p,
                     char *out)
{
	while (at < end) {
		const struct zr_op *op = &l->ops[at];
		const uint8_t *from = p + op->offset;

		out -= op->back;
		if (op->lit_len)
			out = put_lit(out, l->lits + op->lit, op->lit_len);
		at++;
		if (op->code == ZR_OP_VALUES) {
			out = op->value.put(&op->value, from, op->stride, op->count, out);
		} else if (op->code == ZR_OP_LOOP) {
			for (uint64_t i = 0; i < op->count; i++, from += op->stride)
				out = ops_put(l, at, op->end, from, out);
			at = op->end;
		}
	}
	return out;
}

char *zr_body_put(const struct zr_line *l, const uint8_t *rec, char *out)
{
	return ops_put(l, 0, l->nops, rec, out);
}

/* ---- blocks ---- */

/* Behind the literal of an operation: what it writes. */
static inline char *op_put(const struct zr_line *l, uint32_t at, const uint8_t *p,
                           char *out)
{
	const struct zr_op *op = &l->ops[at];
	const uint8_t *from = p + op->offset;

	if (op->code == ZR_OP_VALUES)
		return op->value.put(&op->value, from, op->stride, op->count, out);
	for (uint64_t i = 0; i < op->count; i++, from += op->stride)
		out = ops_put(l, at + 1, op->end, from, out);
	return out;
}

/* Part of an earlier line, which may end where this one begins. */
static inline char *put_again(char *out, const char *s, uint64_t n)
{
	for (uint64_t done = 0; done < n; done += ZR_LINE_SPARE) {
		char part[ZR_LINE_SPARE];

		memcpy(part, s + done, ZR_LINE_SPARE);
		memcpy(out + done, part, ZR_LINE_SPARE);
	}
	return out + n;
}

/*
 * Writes a record, and notes a step for each operation whose values differ and one for
 * the end of the line: the text in front of it, which begins behind the value of the step
 * before, or as much earlier as is taken back of that.
 */
static char *body_note(struct zr_body *b, const struct zr_same *same, const uint8_t *rec,
                       char *out)
{
	const struct zr_line *l = b->line;
	char *value_end = out, *text = out;
	uint32_t n = 0, common = 0;

	for (uint32_t at = 0, next; at < l->nops; at = next) {
		const struct zr_op *op = &l->ops[at];
		bool differs = !zr_same_has(same, op->offset, op->extent);

		out -= op->back;
		text = ZR_MIN(text, out);
		out = put_lit(out, l->lits + op->lit, op->lit_len);
		next = op->code == ZR_OP_LOOP ? op->end : at + 1;
		if (differs && n < ZR_BODY_STEPS)
			b->steps[n] = (struct zr_step){.op = at,
			                               .back = value_end - text,
			                               .text = text,
			                               .len = (uint64_t)(out - text)};
		n += differs;
		common += !differs && op->count > 0;
		out = op_put(l, at, rec, out);
		if (differs)
			value_end = text = out;
	}
	b->end = (struct zr_step){
		.back = value_end - text, .text = text, .len = (uint64_t)(out - text)};
	b->nsteps = n;
	b->by_steps = common > 0 && n <= ZR_BODY_STEPS;
	return out;
}

void zr_body_init(struct zr_body *b, const struct zr_line *l)
{
	b->line = l;
	b->wait = 0;
}

char *zr_body_begin(struct zr_body *b, const uint8_t *rec, uint64_t stride, uint64_t n,
                    char *out)
{
	struct zr_same same;

	b->by_steps = false;
	if (n < BODY_MIN || b->line->span == 0)
		return zr_body_put(b->line, rec, out);
	if (b->wait > 0) {
		b->wait--;
		return zr_body_put(b->line, rec, out);
	}
	zr_same_find(&same, rec, b->line->span, stride, n);
	out = body_note(b, &same, rec, out);
	if (!b->by_steps)
		b->wait = BODY_WAIT;
	return out;
}

static char *body_put_steps(const struct zr_body *b, const uint8_t *rec, char *out)
{
	for (uint32_t i = 0; i < b->nsteps; i++) {
		const struct zr_step *s = &b->steps[i];

		out = put_again(out - s->back, s->text, s->len);
		out = op_put(b->line, s->op, rec, out);
	}
	return put_again(out - b->end.back, b->end.text, b->end.len);
}

char *zr_body_next(const struct zr_body *b, const uint8_t *rec, char *out)
{
	return b->by_steps ? body_put_steps(b, rec, out) : zr_body_put(b->line, rec, out);
}

char *zr_body_put_run(const struct zr_line *l, const uint8_t *rec, uint64_t stride,
                      uint64_t n, char *out)
{
	uint64_t block = zr_block_records(stride, ZR_BODY_MOST);
	struct zr_body body;

	zr_body_init(&body, l);
	for (uint64_t at = 0; at < n; at += block) {
		uint64_t part = ZR_MIN(block, n - at);

		out = zr_body_begin(&body, rec, stride, part, out);
		rec += stride;
		if (body.by_steps)
			for (; --part > 0; rec += stride)
				out = body_put_steps(&body, rec, out);
		else
			for (; --part > 0; rec += stride)
				out = ops_put(l, 0, l->nops, rec, out);
	}
	return out;
}
