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

_Static_assert(ZR_LINE_SPARE >= ZR_PUT_SPARE, "values are the last of a line");

static char *ops_put(const struct zr_line *l, uint32_t at, uint32_t end, const uint8_t *p,
                     char *out);

/* Most are short, a name and its quotes: always as much as may be overwritten. What is
 * copied may end where it goes to. */
static inline char *put_text(char *out, const char *s, uint64_t n)
{
	for (uint64_t done = 0; done < n; done += ZR_LINE_SPARE) {
		char part[ZR_LINE_SPARE];

		memcpy(part, s + done, ZR_LINE_SPARE);
		memcpy(out + done, part, ZR_LINE_SPARE);
	}
	return out + n;
}

/* The operation that comes after one and, if it is a loop, its body. */
static inline uint32_t op_next(const struct zr_line *l, uint32_t at)
{
	return l->ops[at].code == ZR_OP_LOOP ? l->ops[at].end : at + 1;
}

/* What an operation writes behind its literal. */
static inline char *op_put(const struct zr_line *l, uint32_t at, const uint8_t *p,
                           char *out)
{
	const struct zr_op *op = &l->ops[at];
	const uint8_t *from = p + op->offset;

	if (op->code == ZR_OP_VALUES)
		return op->value.put(&op->value, from, op->stride, op->count, out);
	if (op->code == ZR_OP_LOOP)
		for (uint64_t i = 0; i < op->count; i++, from += op->stride)
			out = ops_put(l, at + 1, op->end, from, out);
	return out;
}

static inline char *op_put_lit(const struct zr_line *l, const struct zr_op *op, char *out)
{
	return put_text(out, l->lits + op->lit, op->lit_len);
}

static char *ops_put(const struct zr_line *l, uint32_t at, uint32_t end, const uint8_t *p,
                     char *out)
{
	for (; at < end; at = op_next(l, at)) {
		out = op_put_lit(l, &l->ops[at], out - l->ops[at].back);
		out = op_put(l, at, p, out);
	}
	return out;
}

char *zr_body_put(const struct zr_line *l, const uint8_t *rec, char *out)
{
	return ops_put(l, 0, l->nops, rec, out);
}

/* ---- blocks ---- */

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

	for (uint32_t at = 0; at < l->nops; at = op_next(l, at)) {
		const struct zr_op *op = &l->ops[at];
		bool differs = !zr_same_has(same, op->offset, op->extent);

		out -= op->back;
		text = ZR_MIN(text, out);
		out = op_put_lit(l, op, out);
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

char *zr_body_begin(struct zr_body *b, const struct zr_line *l, const uint8_t *rec,
                    uint64_t stride, uint64_t n, char *out)
{
	struct zr_same same;

	b->line = l;
	b->by_steps = false;
	if (n < BODY_MIN || l->span == 0)
		return zr_body_put(l, rec, out);
	zr_same_find(&same, rec, l->span, stride, n);
	return body_note(b, &same, rec, out);
}

char *zr_body_next(const struct zr_body *b, const uint8_t *rec, char *out)
{
	if (!b->by_steps)
		return zr_body_put(b->line, rec, out);
	for (uint32_t i = 0; i < b->nsteps; i++) {
		const struct zr_step *s = &b->steps[i];

		out = put_text(out - s->back, s->text, s->len);
		out = op_put(b->line, s->op, rec, out);
	}
	return put_text(out - b->end.back, b->end.text, b->end.len);
}
