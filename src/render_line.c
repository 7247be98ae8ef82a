/* SPDX-License-Identifier: MIT */
/*
 * Running a line program. Lines with an index are a head (what comes before the last
 * index number; it stays the same within a run), that number, and a body.
 */
#include "number.h"
#include "render_impl.h"

/* Records that are measured together, column by column. */
#define LINE_BLOCK 64

/* Adds the lengths of the values of n records. */
static void line_measure(const struct zr_line *l, uint32_t at, uint32_t end,
                         const uint8_t *p, uint64_t stride, uint64_t n,
                         struct zr_lens *sum)
{
	while (at < end) {
		const struct zr_op *op = &l->ops[at];
		const uint8_t *from = p + op->offset;

		at++;
		if (op->code == ZR_OP_VALUES) {
			zr_measure_elements(&op->value, from, op->stride, op->count,
			                    stride, n, sum);
		} else if (op->code == ZR_OP_LOOP) {
			for (uint64_t i = 0; i < op->count; i++, from += op->stride)
				line_measure(l, at, op->end, from, stride, n, sum);
			at = op->end;
		}
	}
}

static uint64_t line_sum(const struct zr_line *l, const uint8_t *rec, uint64_t stride,
                         uint64_t n)
{
	struct zr_lens sum = {0};

	line_measure(l, 0, l->nops, rec, stride, n, &sum);
	return zr_sat_add(zr_sat_mul(l->fixed, n), sum.of[l->form]);
}

bool zr_line_has_index(const struct zr_line *line)
{
	return line->ndim > 0;
}

uint64_t zr_line_max(const struct zr_line *line)
{
	return line->max;
}

uint64_t zr_line_len(const struct zr_line *line, const uint8_t *rec)
{
	return line_sum(line, rec, 0, 1);
}

uint64_t zr_line_len_run(const struct zr_line *line, const uint8_t *rec, uint64_t stride,
                         uint64_t n)
{
	return line_sum(line, rec, stride, n);
}

/* ---- the index ---- */

/* Everything before the digits of the last index number. */
static char *line_put_head(const struct zr_line *l, const uint64_t *index, char *out)
{
	for (uint32_t i = 0; i < l->ndim; i++) {
		memcpy(out, l->lits + l->index[i].at, l->index[i].len);
		out += l->index[i].len;
		if (i + 1 < l->ndim)
			out = zr_put_u64(out, index[i]);
	}
	return out;
}

/* Digits of all index numbers but the last. */
static uint64_t line_head_digits(const struct zr_line *l, const uint64_t *index)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i + 1 < l->ndim; i++)
		n += zr_u64_len(index[i]);
	return n;
}

/* Digits of the numbers from first on, n of them. Does not overflow for what an array
 * may have: 2^60 records. */
static uint64_t line_count_digits(uint64_t first, uint64_t n)
{
	uint64_t sum = 0;

	while (n > 0) {
		unsigned int digits = zr_u64_len(first);
		uint64_t part = n;

		if (digits < 20)
			part = ZR_MIN(n, zr_powers_of_10[digits] - first);
		sum += part * digits;
		first += part;
		n -= part;
	}
	return sum;
}

/* ---- writing ---- */

char *zr_line_put_one(const struct zr_line *line, const uint8_t *rec,
                      const uint64_t *index, char *out)
{
	if (line->ndim > 0) {
		out = line_put_head(line, index, out);
		out = zr_put_u64(out, index[line->ndim - 1]);
	}
	return zr_body_put(line, rec, out);
}

/* A run of lines without an index. */
static char *line_put_many(const struct zr_line *l, const uint8_t *rec, uint64_t stride,
                           uint64_t n, char *out)
{
	const struct zr_op *op = l->ops;

	if (l->single)
		return op->value.put(&op->value, rec + op->offset, stride, n, out, NULL);
	return zr_body_put_run(l, rec, stride, n, out);
}

/* A run of lines with one; `last` is the last index number of the first line. */
static char *line_put_indexed(const struct zr_line *l, const uint8_t *rec,
                              uint64_t stride, uint64_t n, const uint64_t *index,
                              uint64_t last, char *out)
{
	const char *head = out;
	size_t head_len;
	uint64_t block = zr_block_records(stride, ZR_BODY_MOST);
	struct zr_body body;

	zr_body_init(&body, l);
	out = line_put_head(l, index, out);
	head_len = (size_t)(out - head);
	for (uint64_t i = 0; i < n; i++, rec += stride) {
		if (i > 0) {
			memcpy(out, head, head_len);
			out += head_len;
		}
		out = zr_put_u64(out, last + i);
		if (i % block == 0)
			out = zr_body_begin(&body, rec, stride, ZR_MIN(block, n - i),
			                    out);
		else
			out = zr_body_next(&body, rec, out);
	}
	return out;
}

/* Copies of one line, as many as fit: the copies are copied. */
static uint64_t line_put_copies(const struct zr_line *l, const uint8_t *rec, uint64_t n,
                                char **out, const char *end)
{
	uint64_t len = zr_line_len(l, rec);
	uint64_t fit = ZR_MIN(n, (uint64_t)(end - *out) / len);
	uint64_t total = fit * len, done = len;
	char *first = *out;

	if (fit == 0)
		return 0;
	zr_body_put(l, rec, first);
	while (done < total) {
		uint64_t part = ZR_MIN(done, total - done);

		memcpy(first + done, first, part);
		done += part;
	}
	*out += total;
	return fit;
}

/*
 * How many of n lines certainly fit into `room` bytes. Where the bound of a line says
 * nothing (variable length, or less room than the longest line needs), the next line is
 * measured, so that no room is wasted.
 */
static uint64_t line_fit(const struct zr_line *l, const uint8_t *rec, uint64_t n,
                         uint64_t room)
{
	uint64_t len;

	if (l->max <= room)
		return ZR_MIN(n, room / l->max);
	if (l->single && l->max == UINT64_MAX) {
		/* No byte becomes more than six. */
		len = zr_load_item(rec + l->ops->offset).len;
		if (zr_sat_mul(6, len) < room && room - 6 * len >= 3)
			return 1;
	}
	len = zr_sat_add(zr_line_len(l, rec), (uint64_t)l->ndim * ZR_U64_MAX_LEN);
	return len <= room;
}

uint64_t zr_line_put_run(const struct zr_line *line, const uint8_t *rec, uint64_t stride,
                         uint64_t n, const uint64_t *index, char **out, const char *end)
{
	uint64_t done = 0;

	if (end - *out < ZR_LINE_SPARE)
		return 0;
	end -= ZR_LINE_SPARE;
	if (stride == 0 && n > 1 && line->ndim == 0)
		return line_put_copies(line, rec, n, out, end);
	while (done < n) {
		uint64_t fit = line_fit(line, rec, n - done, (uint64_t)(end - *out));

		if (fit == 0)
			break;
		if (line->ndim > 0)
			*out = line_put_indexed(line, rec, stride, fit, index,
			                        index[line->ndim - 1] + done, *out);
		else
			*out = line_put_many(line, rec, stride, fit, *out);
		done += fit;
		rec += fit * stride;
	}
	return done;
}

/* ---- skipping ---- */

/* Lines of one length but for the digits of the last index number. */
static uint64_t line_skip_equal(const struct zr_line *l, uint64_t len, uint64_t n,
                                uint64_t last, uint64_t bytes, uint64_t *ret_bytes)
{
	uint64_t done = 0, used = 0;

	while (done < n) {
		uint64_t part = n - done, each = len, fit;

		if (l->ndim > 0) {
			unsigned int digits = zr_u64_len(last + done);

			each += digits;
			if (digits < 20)
				part = ZR_MIN(part,
				              zr_powers_of_10[digits] - last - done);
		}
		fit = ZR_MIN(part, (bytes - used) / each);
		done += fit;
		used += fit * each;
		if (fit < part)
			break;
	}
	*ret_bytes = used;
	return done;
}

/* Bytes of n lines, index digits included. */
static uint64_t line_span(const struct zr_line *l, const uint8_t *rec, uint64_t stride,
                          uint64_t n, uint64_t head_digits, uint64_t last)
{
	uint64_t len = line_sum(l, rec, stride, n);

	if (l->ndim > 0)
		len = zr_sat_add(len, n * head_digits + line_count_digits(last, n));
	return len;
}

uint64_t zr_line_skip_run(const struct zr_line *line, const uint8_t *rec, uint64_t stride,
                          uint64_t n, const uint64_t *index, uint64_t bytes,
                          uint64_t *ret_bytes)
{
	uint64_t head_digits = line_head_digits(line, index);
	uint64_t last = line->ndim > 0 ? index[line->ndim - 1] : 0;
	uint64_t done = 0, used = 0, block = LINE_BLOCK;

	if (stride == 0 && n > 0)
		return line_skip_equal(line, zr_line_len(line, rec) + head_digits, n,
		                       last, bytes, ret_bytes);
	while (done < n) {
		uint64_t part = ZR_MIN(block, n - done);
		uint64_t len =
			line_span(line, rec, stride, part, head_digits, last + done);

		if (len <= bytes - used) {
			done += part;
			used += len;
			rec += part * stride;
		} else if (block == 1) {
			break;
		} else {
			/* The end is within this block: find it by halves. */
			block /= 2;
		}
	}
	*ret_bytes = used;
	return done;
}
