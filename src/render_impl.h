/* SPDX-License-Identifier: MIT */
/*
 * render_impl.h - what the files behind render.h share: values, and the line program
 *
 * A *value* writes and measures elements of one scalar type in one form. A *program* is
 * a list of operations, each with the literal bytes that come before it; it makes one
 * line. So that nothing has to be decided while a line is written, everything that is
 * listed (fields, elements, cells) is followed by its separator, and what closes a list
 * first takes the last separator back.
 *
 * Layer 3, private. May include render.h and below.
 */
#pragma once

#include "buf.h"
#include "number.h"
#include "render.h"
#include "same.h"
#include "shortest.h"
#include "smallfloat.h"
#include "utf8.h"

#define ZR_INLINE static inline __attribute__((always_inline))

enum zr_form { ZR_FORM_TEXT, ZR_FORM_JSON, ZR_FORM_CSV };

/* Lengths in the three forms, by enum zr_form. */
struct zr_lens {
	uint64_t of[3];
};

struct zr_value;

/* Where texts go that are put together later: of so many bytes each, one behind the
 * other. */
struct zr_slots {
	uint32_t size;
	uint8_t *lens; /* of what is in them */
};

/* Writes n elements, `stride` bytes apart, each followed by v->sep: one behind the other,
 * or each at the begin of a slot. Returns the end, or that of the last slot, behind which
 * up to ZR_PUT_SPARE bytes may be overwritten: by numbers, bools and times, by nothing
 * else. */
typedef char *(*zr_put_fn)(const struct zr_value *v, const uint8_t *p, uint64_t stride,
                           uint64_t n, char *out, const struct zr_slots *slots);
/* Adds the lengths of n elements, without separators behind them. */
typedef void (*zr_measure_fn)(const struct zr_value *v, const uint8_t *p, uint64_t stride,
                              uint64_t n, struct zr_lens *sum);

struct zr_value {
	zr_put_fn put;
	zr_measure_fn measure;
	zr_put_fn inner;   /* of a sole cell: what writes it unless it is empty */
	zr_put_fn element; /* of a list: what writes its elements, which all else is of */
	zr_measure_fn measure_element;
	uint64_t size; /* bytes of one element */
	enum zr_kind kind;
	enum zr_float flt;
	enum zr_unit unit;
	uint32_t scale;
	uint8_t bits;
	bool big;
	bool quote_nonfinite; /* JSON: "NaN" instead of null */
	bool sole;            /* CSV: the only cell of its line; empty is written as "" */
	char sep;
	char part;        /* between real and imaginary part: TAB or comma */
	uint8_t date_len; /* dates from first_date to last_date: their length */
	int64_t first_date, last_date;
};

void zr_value_init(struct zr_value *v, const struct zr_type *t, enum zr_form form,
                   const struct zr_render_opts *o, char sep);
/* It is the only cell of its line of CSV. */
void zr_value_set_sole(struct zr_value *v, const struct zr_type *t);
/* Most bytes of one element in that form; UINT64_MAX for variable length. */
uint64_t zr_value_max(const struct zr_value *v, enum zr_form form);

/* One file each: render_text.c, render_json.c, render_csv.c, measure_value.c. */
zr_put_fn zr_text_put(const struct zr_type *t);
zr_put_fn zr_json_put(const struct zr_type *t);
zr_put_fn zr_csv_put(const struct zr_type *t);
/* Of a value that may be empty: what writes the only cell of a line. */
void zr_csv_set_sole(struct zr_value *v);
/* Whether a line of CSV is a single cell. */
bool zr_csv_is_sole(const struct zr_array *a, const struct zr_layout *l);
zr_measure_fn zr_measure_of(const struct zr_type *t);
/* render_list.c: makes the value of an element that of a list. */
void zr_list_init(struct zr_value *v, enum zr_form form);

/* Lengths of n runs of elements: of `count` elements each, `step` bytes apart. */
void zr_measure_elements(const struct zr_value *v, const uint8_t *p, uint64_t step,
                         uint64_t count, uint64_t stride, uint64_t n,
                         struct zr_lens *sum);

/* A string, and a name, in a buffer: what is not valid UTF-8 becomes U+FFFD. */
void zr_json_add_string(struct zr_buf *b, const char *s, size_t len);
void zr_csv_add_string(struct zr_buf *b, const char *s, size_t len);
void zr_add_clean_name(struct zr_buf *b, const char *s, size_t len);

/* `_index`, with more underscores while a shown field of the struct is called so. */
void zr_add_index_key(struct zr_buf *b, const struct zr_type *t);
/* Whether all dimensions have names, no two the same. */
bool zr_dims_are_keys(const struct zr_array *a);

/* ---- the program ---- */

enum zr_opcode { ZR_OP_VALUES, ZR_OP_LOOP, ZR_OP_NONE };

struct zr_op {
	enum zr_opcode code : 8;
	bool back;        /* takes the last byte back before anything else */
	uint32_t end;     /* ZR_OP_LOOP: the operation behind the body */
	uint64_t lit;     /* literal, written first: where in the literals */
	uint64_t lit_len; /* bytes */
	uint64_t offset;  /* from the record, or from the element of the loop around */
	uint64_t stride;
	uint64_t count;
	uint64_t extent;       /* bytes it looks at, from its offset on */
	uint32_t slot;         /* bytes of a slot for its value; 0: none */
	struct zr_value value; /* ZR_OP_VALUES */
};

struct zr_literal {
	uint64_t at;
	uint64_t len;
};

/* A program while it is made. A failed allocation sticks. */
struct zr_prog {
	enum zr_form form;
	const struct zr_render_opts *opts;
	struct zr_buf ops;  /* struct zr_op */
	struct zr_buf lits; /* bytes */
	uint64_t pending;   /* where the literal of the next operation starts */
	bool back;          /* of the next operation */
	bool sole;          /* CSV: its only value is the only cell of the line */
	size_t loop_end;    /* operations there were when the last loop ended */
	uint32_t ndim;      /* index numbers in the line; 0: none */
	struct zr_literal index[ZR_MAX_DIMS]; /* what is written before each */
};

void zr_prog_lit(struct zr_prog *b, const char *s, size_t len);
/* Takes the separator back that was written last. */
void zr_prog_back(struct zr_prog *b);
/* Ends the literal before the next index number. */
void zr_prog_index(struct zr_prog *b);
void zr_prog_values(struct zr_prog *b, const struct zr_type *t, uint64_t offset,
                    uint64_t stride, uint64_t count, char sep);
/* Starts a loop; returns what zr_prog_loop_end() wants to know. */
size_t zr_prog_loop(struct zr_prog *b, uint64_t offset, uint64_t stride, uint64_t count);
void zr_prog_loop_end(struct zr_prog *b, size_t loop);
/* The line; the program is empty afterwards. NULL: no memory. */
struct zr_line *zr_prog_finish(struct zr_prog *b);
void zr_prog_done(struct zr_prog *b);

/* A finished program. */
struct zr_line {
	enum zr_form form;
	bool single; /* one value and its LF make the line */
	uint32_t nops;
	struct zr_op *ops; /* owned */
	char *lits;        /* owned; ZR_LINE_SPARE bytes more than are used */
	uint64_t fixed; /* bytes of every line that are neither values nor index digits */
	uint64_t max;   /* zr_line_max() */
	uint64_t span;  /* bytes of the record up to the end of the last value; 0: of
	                 * variable length */
	uint32_t ndim;  /* index numbers at the start of the line; 0: none */
	struct zr_literal index[ZR_MAX_DIMS]; /* what is written before each */
};

/* The text of one record, index numbers not. */
char *zr_body_put(const struct zr_line *l, const uint8_t *rec, char *out);

/*
 * The same of a block of records that are written one after the other. The first one is
 * written by zr_body_begin(), all others by zr_body_next(), in order; the text of the
 * first one has to stay where it is meanwhile.
 *
 * A block is a list of *steps*: a text that all of its records have, and values behind it
 * that differ. For some records at a time, values are written column by column first,
 * each to a slot, and then put together line by line.
 */
#define ZR_BODY_MOST 128 /* records of a block */
#define ZR_BODY_STEPS 96
/* Of slots: the first-level cache holds them. */
#define ZR_BODY_ROOM ((size_t)24 << 10)

struct zr_step {
	uint32_t op;      /* whose values are written */
	ptrdiff_t back;   /* bytes to take back first */
	const char *text; /* to write then, before the values */
	uint64_t len;
	char *values; /* in slots; NULL: they are written in the line */
	struct zr_slots slots;
};

struct zr_body {
	const struct zr_line *line;
	uint32_t
		wait; /* blocks until it is worth a look again what they have in common */
	bool by_steps; /* else the line's program is run */
	uint32_t nsteps;
	struct zr_step steps[ZR_BODY_STEPS + 1]; /* and a text that ends the line */

	uint64_t stride;
	uint64_t left;       /* records whose slots are not filled yet */
	uint64_t batch;      /* that get slots at a time */
	uint64_t at, filled; /* the next record of the batch; how many there are */
	_Alignas(64) char room[ZR_BODY_ROOM + ZR_LINE_SPARE];
};

void zr_body_init(struct zr_body *b, const struct zr_line *l);
char *zr_body_begin(struct zr_body *b, const uint8_t *rec, uint64_t stride, uint64_t n,
                    char *out);
char *zr_body_next(struct zr_body *b, const uint8_t *rec, char *out);

/* The text of n records, block by block. */
char *zr_body_put_run(const struct zr_line *l, const uint8_t *rec, uint64_t stride,
                      uint64_t n, char *out);

/* ---- records of constant length ---- */

struct zr_bin_ops {
	/* See the functions of the same names in render.h; len is not 0. */
	void (*put_run)(const struct zr_bin *b, const uint8_t *rec, uint64_t stride,
	                uint64_t n, uint8_t *out);
	int (*put_part)(const struct zr_bin *b, const uint8_t *rec, uint64_t skip,
	                size_t len, uint8_t *out);
	void (*free)(struct zr_bin *b);
};

/* First member of each kind's own struct. */
struct zr_bin {
	const struct zr_bin_ops *ops;
	uint64_t len;
};

/* ---- arithmetic of lengths, which stops at UINT64_MAX instead of wrapping ---- */

static inline uint64_t zr_sat_add(uint64_t a, uint64_t b)
{
	uint64_t r;

	return __builtin_add_overflow(a, b, &r) ? UINT64_MAX : r;
}

static inline uint64_t zr_sat_mul(uint64_t a, uint64_t b)
{
	uint64_t r;

	return zr_mul(a, b, &r) ? r : UINT64_MAX;
}

/* ---- numbers ---- */

ZR_INLINE struct zr_decimal zr_load_decimal(enum zr_float f, const uint8_t *p, bool big)
{
	if (f == ZR_F64)
		return zr_shortest_f64(zr_load_u64(p, big));
	if (f == ZR_F32)
		return zr_shortest_f32(zr_load_u32(p, big));
	if (f == ZR_F16 || f == ZR_BF16)
		return zr_shortest_small(f, zr_load_u16(p, big));
	return zr_shortest_small(f, *p);
}

/* An integer of less than 8 bits: the low ones of a byte. */
static inline int64_t zr_load_small_int(uint8_t byte, unsigned int bits, bool is_signed)
{
	unsigned int shift = 8 - bits;

	byte = (uint8_t)(byte << shift);
	return is_signed ? (int8_t)byte >> shift : byte >> shift;
}

/* ---- strings ---- */

struct zr_span {
	const uint8_t *p;
	uint64_t n;    /* bytes, or UTF-32 code units */
	uint64_t room; /* what of that may be read: padding is, too */
};

static inline struct zr_item zr_load_item(const uint8_t *p)
{
	struct zr_item item;

	memcpy(&item, p, sizeof(item));
	return item;
}

/* Length without the zero bytes at the end. Fields are often far longer than what they
 * hold, so zeros are skipped 32 at a time. */
static inline uint64_t zr_trim_zeros(const uint8_t *p, uint64_t n)
{
	while (n >= 32) {
		unsigned int words = 0; /* a bit for each that is not 0 */
		uint64_t last;

		n -= 32;
		for (unsigned int i = 0; i < 4; i++)
			words |= (zr_load_u64(p + n + 8 * i, false) != 0) << i;
		if (words == 0)
			continue;
		/* Where texts end cannot be foreseen: no branch. */
		n += 8 * zr_top_bit(words);
		last = zr_load_u64(p + n, false);
		return n + zr_top_bit(last) / 8 + 1;
	}
	for (; n >= 8; n -= 8) {
		uint64_t w = zr_load_u64(p + n - 8, false);

		if (w)
			return n - 7 + zr_top_bit(w) / 8;
	}
	while (n > 0 && p[n - 1] == 0)
		n--;
	return n;
}

/* UTF-32 code units, or bytes, without the padding. */
ZR_INLINE struct zr_span zr_load_utf32(const struct zr_value *v, const uint8_t *p)
{
	return (struct zr_span){p, (zr_trim_zeros(p, v->size / 4 * 4) + 3) / 4,
	                        v->size / 4};
}

ZR_INLINE struct zr_span zr_load_chars(const struct zr_value *v, const uint8_t *p)
{
	return (struct zr_span){p, zr_trim_zeros(p, v->size), v->size};
}

#define ZR_BYTES(c) (UINT64_C(0x0101010101010101) * (uint8_t)(c))

/* Not 0 where one of eight bytes is c. Bytes above one that is may be wrong. */
ZR_INLINE uint64_t zr_any_is(uint64_t w, char c)
{
	uint64_t x = w ^ ZR_BYTES(c);

	return (x - ZR_BYTES(1)) & ~x & ZR_BYTES(0x80);
}

/* Not 0 where one of eight bytes is beyond ASCII, or a control character. */
ZR_INLINE uint64_t zr_any_odd(uint64_t w)
{
	return ((w - ZR_BYTES(0x20)) | (w + ZR_BYTES(1)) | w) & ZR_BYTES(0x80);
}

ZR_INLINE void zr_store_8(char *out, uint64_t w)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	w = __builtin_bswap64(w);
#endif
	memcpy(out, &w, 8);
}

/* Eight code units as eight bytes; false if one of them is beyond ASCII. */
ZR_INLINE bool zr_narrow_8(const uint8_t *p, bool big, uint64_t *ret)
{
	uint64_t mask = big ? UINT64_C(0x80ffffff80ffffff) : UINT64_C(0xffffff80ffffff80);
	uint64_t w[4], out = 0;

	for (int i = 0; i < 4; i++)
		w[i] = zr_load_u64(p + 8 * i, false);
	if ((w[0] | w[1] | w[2] | w[3]) & mask)
		return false;
	for (int i = 3; i >= 0; i--) {
		uint64_t two = big ? w[i] >> 24 : w[i];

		out = out << 16 | ((two | two >> 24) & 0xffff);
	}
	*ret = out;
	return true;
}

/* Bytes of a word from the n-th on become 'a', which is plain in every form. */
ZR_INLINE uint64_t zr_pad(uint64_t w, uint64_t n)
{
	uint64_t mask = n < 8 ? (UINT64_C(1) << 8 * n) - 1 : UINT64_MAX;

	return (w & mask) | (ZR_BYTES('a') & ~mask);
}

/* Up to eight bytes, or code units, from `at` on. False if they cannot be had at once, or
 * are not ASCII. */
ZR_INLINE bool zr_load_bytes(struct zr_span s, uint64_t at, uint64_t *ret)
{
	if (s.room - at < 8)
		return false;
	*ret = zr_pad(zr_load_u64(s.p + at, false), s.n - at);
	return true;
}

ZR_INLINE bool zr_load_units(struct zr_span s, uint64_t at, bool big, uint64_t *ret)
{
	if (s.room - at < 8 || !zr_narrow_8(s.p + 4 * at, big, ret))
		return false;
	*ret = zr_pad(*ret, s.n - at);
	return true;
}

/* Writes n bytes of a word, 1 to 8, and none more. */
ZR_INLINE char *zr_store_bytes(char *out, uint64_t w, uint64_t n)
{
	char bytes[8];

	if (n >= 8) {
		zr_store_8(out, w);
		return out + 8;
	}
	zr_store_8(bytes, w);
	if (n >= 4) {
		memcpy(out, bytes, 4);
		memcpy(out + n - 4, bytes + n - 4, 4);
	} else {
		out[0] = bytes[0];
		out[n / 2] = bytes[n / 2];
		out[n - 1] = bytes[n - 1];
	}
	return out + n;
}

/* What a form does with the characters of a string. */
typedef bool (*zr_plain_fn)(uint64_t w); /* eight bytes stand for themselves */
typedef char *(*zr_put_char_fn)(uint32_t cp, char *out);
typedef char *(*zr_put_bad_fn)(uint8_t byte, char *out); /* is no UTF-8 */

/* The loops over a string, made for each form by inlining. */
ZR_INLINE char *zr_put_utf32(struct zr_span s, bool big, char *out, zr_plain_fn plain,
                             zr_put_char_fn put)
{
	uint64_t at = 0;

	while (at < s.n) {
		uint64_t stop = ZR_MIN(at + 8, s.n), w;

		if (zr_load_units(s, at, big, &w) && plain(w)) {
			out = zr_store_bytes(out, w, stop - at);
			at = stop;
		}
		for (; at < stop; at++) {
			uint32_t cp = zr_load_u32(s.p + 4 * at, big);

			out = put(zr_is_scalar(cp) ? cp : 0xfffd, out);
		}
	}
	return out;
}

ZR_INLINE char *zr_put_utf8(struct zr_span s, char *out, zr_plain_fn plain,
                            zr_put_char_fn put, zr_put_bad_fn bad)
{
	uint64_t at = 0;

	while (at < s.n) {
		uint64_t stop = ZR_MIN(at + 8, s.n), w;

		if (zr_load_bytes(s, at, &w) && plain(w)) {
			out = zr_store_bytes(out, w, stop - at);
			at = stop;
		}
		while (at < stop) {
			uint32_t cp;
			unsigned int len = zr_utf8_decode(s.p + at, s.n - at, &cp);

			out = len ? put(cp, out) : bad(s.p[at], out);
			at += len ? len : 1;
		}
	}
	return out;
}

/* The text of element i is in its slot: where the next one begins. */
ZR_INLINE char *zr_slot_end(const struct zr_slots *slots, uint64_t i, char *slot,
                            const char *end)
{
	slots->lens[i] = (uint8_t)(end - slot);
	return slot + slots->size;
}

/* Makes a zr_put_fn of what writes one element. */
#define ZR_DEFINE_PUT(name, one)                                                         \
	static char *name(const struct zr_value *v, const uint8_t *p, uint64_t stride,   \
	                  uint64_t n, char *out, const struct zr_slots *slots)           \
	{                                                                                \
		const char sep = v->sep;                                                 \
                                                                                         \
		for (uint64_t i = 0; i < n; i++, p += stride) {                          \
			char *end = one(v, p, out);                                      \
                                                                                         \
			*end++ = sep;                                                    \
			out = slots ? zr_slot_end(slots, i, out, end) : end;             \
		}                                                                        \
		return out;                                                              \
	}
