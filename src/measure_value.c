/* SPDX-License-Identifier: MIT */
/*
 * The length-only twin of render_text.c, render_json.c and render_csv.c: one look at a
 * value tells its length in all three forms, which mostly differ by a constant.
 */
#include "base64.h"
#include "datetime.h"
#include "number.h"
#include "render_impl.h"

static void add_all(struct zr_lens *sum, uint64_t n)
{
	sum->of[ZR_FORM_TEXT] += n;
	sum->of[ZR_FORM_JSON] += n;
	sum->of[ZR_FORM_CSV] += n;
}

/* ---- numbers ---- */

static void measure_bool(const struct zr_value *v, const uint8_t *p, uint64_t stride,
                         uint64_t n, struct zr_lens *sum)
{
	(void)v;
	sum->of[ZR_FORM_TEXT] += n;
	sum->of[ZR_FORM_CSV] += n;
	for (; n > 0; n--, p += stride)
		sum->of[ZR_FORM_JSON] += *p ? 4 : 5;
}

#define MEASURE_INT(name, load, len)                                                     \
	static void name(const struct zr_value *v, const uint8_t *p, uint64_t stride,    \
	                 uint64_t n, struct zr_lens *sum)                                \
	{                                                                                \
		uint64_t total = 0;                                                      \
                                                                                         \
		(void)v;                                                                 \
		for (; n > 0; n--, p += stride)                                          \
			total += len(load);                                              \
		add_all(sum, total);                                                     \
	}

MEASURE_INT(measure_i8, (int8_t)*p, zr_i16_len)
MEASURE_INT(measure_i16, (int16_t)zr_load_u16(p, v->big), zr_i16_len)
MEASURE_INT(measure_i32, (int32_t)zr_load_u32(p, v->big), zr_i32_len)
MEASURE_INT(measure_i64, (int64_t)zr_load_u64(p, v->big), zr_i64_len)
MEASURE_INT(measure_u8, *p, zr_u16_len)
MEASURE_INT(measure_u16, zr_load_u16(p, v->big), zr_u16_len)
MEASURE_INT(measure_u32, zr_load_u32(p, v->big), zr_u32_len)
MEASURE_INT(measure_u64, zr_load_u64(p, v->big), zr_u64_len)
MEASURE_INT(measure_small_int, zr_load_small_int(*p, v->bits, v->kind == ZR_INT),
            zr_i64_len)

ZR_INLINE void add_decimal(const struct zr_value *v, struct zr_decimal d,
                           struct zr_lens *sum)
{
	unsigned int text, json;

	if (__builtin_expect(d.cls == ZR_FINITE, 1)) {
		text = json = zr_decimal_len(d);
	} else {
		text = 3 + d.negative;
		json = !v->quote_nonfinite ? 4 : d.cls == ZR_NAN ? 5 : 10 + d.negative;
	}
	sum->of[ZR_FORM_TEXT] += text;
	sum->of[ZR_FORM_JSON] += json;
	sum->of[ZR_FORM_CSV] += text;
}

#define MEASURE_FLOAT(name, flt)                                                         \
	static void name(const struct zr_value *v, const uint8_t *p, uint64_t stride,    \
	                 uint64_t n, struct zr_lens *sum)                                \
	{                                                                                \
		for (; n > 0; n--, p += stride)                                          \
			add_decimal(v, zr_load_decimal(flt, p, v->big), sum);            \
	}

MEASURE_FLOAT(measure_f64, ZR_F64)
MEASURE_FLOAT(measure_f32, ZR_F32)
MEASURE_FLOAT(measure_float, v->flt)

static void measure_complex(const struct zr_value *v, const uint8_t *p, uint64_t stride,
                            uint64_t n, struct zr_lens *sum)
{
	/* The TAB, the comma, or the comma and two brackets. */
	add_all(sum, n);
	sum->of[ZR_FORM_JSON] += 2 * n;
	for (; n > 0; n--, p += stride) {
		add_decimal(v, zr_load_decimal(v->flt, p, v->big), sum);
		add_decimal(v, zr_load_decimal(v->flt, p + v->size / 2, v->big), sum);
	}
}

ZR_INLINE void add_time(uint64_t text, uint64_t json, struct zr_lens *sum)
{
	sum->of[ZR_FORM_TEXT] += text;
	sum->of[ZR_FORM_JSON] += json;
	sum->of[ZR_FORM_CSV] += text;
}

static void measure_datetime(const struct zr_value *v, const uint8_t *p, uint64_t stride,
                             uint64_t n, struct zr_lens *sum)
{
	unsigned int quotes = v->unit == ZR_GENERIC ? 0 : 2;

	for (; n > 0; n--, p += stride) {
		int64_t t = (int64_t)zr_load_u64(p, v->big);
		unsigned int len = v->date_len;

		if (t == INT64_MIN) {
			add_time(3, 4, sum);
			continue;
		}
		if (t < v->first_date || t > v->last_date)
			len = zr_date_len(t, v->unit, v->scale);
		add_time(len, len + quotes, sum);
	}
}

static void measure_timedelta(const struct zr_value *v, const uint8_t *p, uint64_t stride,
                              uint64_t n, struct zr_lens *sum)
{
	for (; n > 0; n--, p += stride) {
		int64_t t = (int64_t)zr_load_u64(p, v->big);

		if (t == INT64_MIN)
			add_time(3, 4, sum);
		else
			add_all(sum, zr_i64_len(t));
	}
}

/* ---- bytes ---- */

static void add_bytes(const struct zr_value *v, uint64_t len, uint64_t n,
                      struct zr_lens *sum)
{
	sum->of[ZR_FORM_TEXT] += n * 2 * len;
	sum->of[ZR_FORM_JSON] += n * (zr_base64_len(len) + 2);
	sum->of[ZR_FORM_CSV] += n * (v->sole && len == 0 ? 2 : 2 * len);
}

static void measure_raw(const struct zr_value *v, const uint8_t *p, uint64_t stride,
                        uint64_t n, struct zr_lens *sum)
{
	(void)p;
	(void)stride;
	add_bytes(v, v->size, n, sum);
}

static void measure_vbytes(const struct zr_value *v, const uint8_t *p, uint64_t stride,
                           uint64_t n, struct zr_lens *sum)
{
	for (; n > 0; n--, p += stride)
		add_bytes(v, zr_load_item(p).len, 1, sum);
}

/* ---- strings ---- */

static const uint8_t text_len[128] = {
	[0] = 2,         [1 ... 8] = 4,   [9 ... 10] = 2, [11 ... 12] = 4,  [13] = 2,
	[14 ... 31] = 4, [32 ... 91] = 1, ['\\'] = 2,     [93 ... 126] = 1, [127] = 4,
};

static const uint8_t json_len[128] = {
	[0 ... 7] = 6,   [8 ... 10] = 2,   [11] = 6,  [12 ... 13] = 2,
	[14 ... 31] = 6, [32 ... 33] = 1,  ['"'] = 2, [35 ... 91] = 1,
	['\\'] = 2,      [93 ... 126] = 1, [127] = 6,
};

/* Of a string so far: without quotes around, but with those inside doubled for CSV. */
struct string_lens {
	uint64_t text, json, csv;
	uint64_t special; /* CSV: not 0 when it has to be quoted */
};

ZR_INLINE void string_add_char(struct string_lens *l, uint32_t cp)
{
	unsigned int size;

	if (cp < 0x80) {
		l->text += text_len[cp];
		l->json += json_len[cp];
		l->csv += cp == '"' ? 2 : 1;
		l->special |= cp == '"' || cp == ',' || cp == '\n' || cp == '\r';
		return;
	}
	size = zr_utf8_size(cp);
	l->text += cp < 0xa0 ? 4 : size;
	l->json += cp < 0xa0 ? 6 : size;
	l->csv += size;
}

/* The first n of eight bytes at once, if none of them has a longer form. */
ZR_INLINE bool string_add_plain(struct string_lens *l, uint64_t w, uint64_t n)
{
	if (zr_any_odd(w) | zr_any_is(w, '\\') | zr_any_is(w, '"'))
		return false;
	l->text += n;
	l->json += n;
	l->csv += n;
	l->special |= zr_any_is(w, ',');
	return true;
}

static struct string_lens utf32_lens(struct zr_span s, bool big)
{
	struct string_lens l = {0};
	uint64_t at = 0;

	while (at < s.n) {
		uint64_t stop = ZR_MIN(at + 8, s.n), w;

		if (zr_load_units(s, at, big, &w) && string_add_plain(&l, w, stop - at))
			at = stop;
		for (; at < stop; at++) {
			uint32_t cp = zr_load_u32(s.p + 4 * at, big);

			string_add_char(&l, zr_is_scalar(cp) ? cp : 0xfffd);
		}
	}
	return l;
}

static struct string_lens utf8_lens(struct zr_span s)
{
	struct string_lens l = {0};
	uint64_t at = 0;

	while (at < s.n) {
		uint64_t stop = ZR_MIN(at + 8, s.n), w;

		if (zr_load_bytes(s, at, &w) && string_add_plain(&l, w, stop - at))
			at = stop;
		while (at < stop) {
			uint32_t cp;
			unsigned int len = zr_utf8_decode(s.p + at, s.n - at, &cp);

			if (len) {
				string_add_char(&l, cp);
			} else {
				/* \xNN, or U+FFFD */
				l.text += 4;
				l.json += 3;
				l.csv += 3;
			}
			at += len ? len : 1;
		}
	}
	return l;
}

ZR_INLINE void add_string(const struct zr_value *v, struct string_lens l,
                          struct zr_lens *sum)
{
	bool quoted = l.special || (v->sole && l.csv == 0);

	sum->of[ZR_FORM_TEXT] += l.text;
	sum->of[ZR_FORM_JSON] += l.json + 2;
	sum->of[ZR_FORM_CSV] += l.csv + (quoted ? 2 : 0);
}

static void measure_utf32(const struct zr_value *v, const uint8_t *p, uint64_t stride,
                          uint64_t n, struct zr_lens *sum)
{
	for (; n > 0; n--, p += stride)
		add_string(v, utf32_lens(zr_load_utf32(v, p), v->big), sum);
}

static void measure_chars(const struct zr_value *v, const uint8_t *p, uint64_t stride,
                          uint64_t n, struct zr_lens *sum)
{
	for (; n > 0; n--, p += stride)
		add_string(v, utf8_lens(zr_load_chars(v, p)), sum);
}

static void measure_string(const struct zr_value *v, const uint8_t *p, uint64_t stride,
                           uint64_t n, struct zr_lens *sum)
{
	for (; n > 0; n--, p += stride) {
		struct zr_item item = zr_load_item(p);

		add_string(v, utf8_lens((struct zr_span){item.data, item.len, item.len}),
		           sum);
	}
}

static void measure_json(const struct zr_value *v, const uint8_t *p, uint64_t stride,
                         uint64_t n, struct zr_lens *sum)
{
	for (; n > 0; n--, p += stride) {
		struct zr_item item = zr_load_item(p);
		uint64_t mark = item.len > 0, len = item.len - mark;
		struct zr_span s = {item.data + mark, len, len};
		struct string_lens l = utf8_lens(s);

		/* JSON text is copied as it is, but for the quotes of CSV. */
		if (item.len > 0 && item.data[0] != 's') {
			l.text = s.n;
			l.json = s.n - 2;
		}
		add_string(v, l, sum);
	}
}

/* ---- which one ---- */

static zr_measure_fn measure_int(const struct zr_type *t)
{
	bool is_signed = t->kind == ZR_INT;

	switch (t->bits) {
	case 8:
		return is_signed ? measure_i8 : measure_u8;
	case 16:
		return is_signed ? measure_i16 : measure_u16;
	case 32:
		return is_signed ? measure_i32 : measure_u32;
	case 64:
		return is_signed ? measure_i64 : measure_u64;
	default:
		return measure_small_int;
	}
}

zr_measure_fn zr_measure_of(const struct zr_type *t)
{
	switch (t->kind) {
	case ZR_BOOL:
		return measure_bool;
	case ZR_INT:
	case ZR_UINT:
		return measure_int(t);
	case ZR_FLOAT:
		return t->flt == ZR_F64   ? measure_f64
		       : t->flt == ZR_F32 ? measure_f32
		                          : measure_float;
	case ZR_COMPLEX:
		return measure_complex;
	case ZR_DATETIME:
		return measure_datetime;
	case ZR_TIMEDELTA:
		return measure_timedelta;
	case ZR_UTF32:
		return measure_utf32;
	case ZR_CHARS:
		return measure_chars;
	case ZR_RAW:
		return measure_raw;
	case ZR_STRING:
		return measure_string;
	case ZR_VBYTES:
		return measure_vbytes;
	case ZR_JSON:
		return measure_json;
	case ZR_STRUCT:
	case ZR_LIST:
		break;
	}
	return NULL;
}

void zr_measure_elements(const struct zr_value *v, const uint8_t *p, uint64_t step,
                         uint64_t count, uint64_t stride, uint64_t n, struct zr_lens *sum)
{
	/* The longer of the two goes on without a call. */
	if (count >= n) {
		for (; n > 0; n--, p += stride)
			v->measure(v, p, step, count, sum);
	} else {
		for (; count > 0; count--, p += step)
			v->measure(v, p, stride, n, sum);
	}
}
