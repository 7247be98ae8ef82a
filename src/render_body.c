/* SPDX-License-Identifier: MIT */
/*
 * What of a line comes from the record. One record is written by the line's program; of a
 * block of records, what all have in common is taken from the text of the first one, and
 * only operations whose values differ are run.
 *
 * Those are run for many records before the next one is. A processor that is led through
 * other code for each value can foresee neither the code nor how long it takes; it is
 * faster to copy every value once more.
 */
#include "number.h"
#include "render_impl.h"

/* Fewer records are not worth a look at what they have in common. */
#define BODY_MIN 8
/* Blocks that are not looked at behind one that had nothing in common. */
#define BODY_WAIT 15
/* Records that get slots at a time. */
#define BATCH_MOST 64
/* Bytes that are copied at once. */
#define UNIT 16
/* Out of the way of a loop whose registers are all taken. */
#define NOINLINE __attribute__((noinline))

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
			out = op->value.put(&op->value, from, op->stride, op->count, out,
			                    NULL);
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
static NOINLINE char *op_put(const struct zr_line *l, uint32_t at, const uint8_t *p,
                             char *out)
{
	const struct zr_op *op = &l->ops[at];
	const uint8_t *from = p + op->offset;

	if (op->code == ZR_OP_VALUES)
		return op->value.put(&op->value, from, op->stride, op->count, out, NULL);
	for (uint64_t i = 0; i < op->count; i++, from += op->stride)
		out = ops_put(l, at + 1, op->end, from, out);
	return out;
}

static inline void put_unit(char *out, const char *s)
{
	char unit[UNIT];

	memcpy(unit, s, UNIT);
	memcpy(out, unit, UNIT);
}

/* n bytes; `room` of them and more may be read and written, and n is known late. They may
 * be those of an earlier line, which may end where this one begins. */
static inline char *put_units(char *out, const char *s, uint64_t n, uint64_t room)
{
	put_unit(out, s);
	if (room > UNIT)
		put_unit(out + UNIT, s + UNIT);
	if (room > 2 * UNIT)
		for (uint64_t done = 2 * UNIT; done < n; done += UNIT)
			put_unit(out + done, s + done);
	return out + n;
}

static void body_end(struct zr_body *b, uint32_t nsteps, struct zr_step last)
{
	b->by_steps = nsteps <= ZR_BODY_STEPS;
	b->nsteps = ZR_MIN(nsteps, (uint32_t)ZR_BODY_STEPS);
	b->steps[b->nsteps] = last;
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
	if (common > 0)
		body_end(b, n,
		         (struct zr_step){.back = value_end - text,
		                          .text = text,
		                          .len = (uint64_t)(out - text)});
	return out;
}

/* Notes a step for each operation: there is nothing in common. */
static void body_note_all(struct zr_body *b)
{
	const struct zr_line *l = b->line;
	struct zr_step last = {.text = l->lits};
	uint32_t n = 0;

	for (uint32_t at = 0, next; at < l->nops && n <= ZR_BODY_STEPS; at = next) {
		const struct zr_op *op = &l->ops[at];
		struct zr_step s = {.op = at,
		                    .back = op->back,
		                    .text = l->lits + op->lit,
		                    .len = op->lit_len};

		next = op->code == ZR_OP_LOOP ? op->end : at + 1;
		if (op->code == ZR_OP_NONE && next == l->nops)
			last = s;
		else
			b->steps[n++] = s;
	}
	body_end(b, n, last);
}

/* ---- slots ---- */

/* Shares the room among the steps: for each record of a batch a slot, and its length.
 * What is overwritten behind a slot has to be filled later, so the lengths come first. */
static void body_share(struct zr_body *b)
{
	char *room = b->room;
	uint64_t each = 0;

	for (uint32_t i = 0; i < b->nsteps; i++) {
		uint32_t size = b->line->ops[b->steps[i].op].slot;

		b->steps[i].slots.size = size;
		each += size > 0 ? size + 1 : 0;
	}
	b->batch = ZR_MIN(ZR_BODY_ROOM / ZR_MAX(each, 1), (uint64_t)BATCH_MOST);
	if (b->batch < BODY_MIN) {
		b->batch = BATCH_MOST;
		return;
	}
	for (uint32_t i = 0; i < b->nsteps; i++) {
		b->steps[i].slots.lens = (uint8_t *)room;
		room += b->steps[i].slots.size > 0 ? b->batch : 0;
	}
	for (uint32_t i = 0; i < b->nsteps; i++) {
		b->steps[i].values = b->steps[i].slots.size > 0 ? room : NULL;
		room += b->batch * b->steps[i].slots.size;
	}
}

/* Fills the slots of the next records. */
static void body_fill(struct zr_body *b, const uint8_t *rec)
{
	b->at = 0;
	b->filled = ZR_MIN(b->left, b->batch);
	b->left -= b->filled;
	for (uint32_t i = 0; i < b->nsteps; i++) {
		const struct zr_step *s = &b->steps[i];
		const struct zr_op *op = &b->line->ops[s->op];

		if (s->values)
			op->value.put(&op->value, rec + op->offset, b->stride, b->filled,
			              s->values, &s->slots);
	}
}

ZR_INLINE char *body_next(struct zr_body *b, const uint8_t *rec, char *out)
{
	const struct zr_step *s = b->steps, *end = s + b->nsteps;
	uint64_t k;

	if (!b->by_steps)
		return zr_body_put(b->line, rec, out);
	if (b->at == b->filled)
		body_fill(b, rec);
	k = b->at++;
	for (; s < end; s++) {
		out = put_units(out - s->back, s->text, s->len, s->len);
		if (s->values)
			out = put_units(out, s->values + k * s->slots.size,
			                s->slots.lens[k], s->slots.size);
		else
			out = op_put(b->line, s->op, rec, out);
	}
	return put_units(out - s->back, s->text, s->len, s->len);
}

/* ---- running ---- */

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
		out = zr_body_put(b->line, rec, out);
	} else {
		zr_same_find(&same, rec, b->line->span, stride, n);
		out = body_note(b, &same, rec, out);
		b->wait = b->by_steps ? 0 : BODY_WAIT;
	}
	if (!b->by_steps)
		body_note_all(b);
	body_share(b);
	b->stride = stride;
	b->left = n - 1;
	b->at = b->filled = 0;
	return out;
}

char *zr_body_next(struct zr_body *b, const uint8_t *rec, char *out)
{
	return body_next(b, rec, out);
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
		for (; --part > 0; rec += stride)
			out = body_next(&body, rec, out);
	}
	return out;
}
