/* SPDX-License-Identifier: MIT */
/*
 * Field files: one line a record, TAB between elements. Numbers are the same in every
 * form, but for what JSON has no number for.
 */
#include "datetime.h"
#include "number.h"
#include "render_impl.h"

static const char hex_digits[] = "0123456789abcdef";

/* ---- numbers ---- */

ZR_INLINE char *text_bool(const struct zr_value *v, const uint8_t *p, char *out)
{
	(void)v;
	*out = *p ? '1' : '0';
	return out + 1;
}

#define TEXT_INT(name, load, put)                                                        \
	ZR_INLINE char *name##_one(const struct zr_value *v, const uint8_t *p,           \
	                           char *out)                                            \
	{                                                                                \
		(void)v;                                                                 \
		return put(out, load);                                                   \
	}                                                                                \
	ZR_DEFINE_PUT(name, name##_one)

TEXT_INT(text_i8, (int8_t)*p, zr_put_i64)
TEXT_INT(text_i16, (int16_t)zr_load_u16(p, v->big), zr_put_i64)
TEXT_INT(text_i32, (int32_t)zr_load_u32(p, v->big), zr_put_i64)
TEXT_INT(text_i64, (int64_t)zr_load_u64(p, v->big), zr_put_i64)
TEXT_INT(text_u8, *p, zr_put_u64)
TEXT_INT(text_u16, zr_load_u16(p, v->big), zr_put_u64)
TEXT_INT(text_u32, zr_load_u32(p, v->big), zr_put_u64)
TEXT_INT(text_u64, zr_load_u64(p, v->big), zr_put_u64)
TEXT_INT(text_small_int, zr_load_small_int(*p, v->bits, true), zr_put_i64)
TEXT_INT(text_small_uint, (uint64_t)zr_load_small_int(*p, v->bits, false), zr_put_u64)

ZR_INLINE char *text_decimal(struct zr_decimal d, char *out)
{
	if (__builtin_expect(d.cls == ZR_FINITE, 1))
		return zr_put_decimal(out, d);
	if (d.cls == ZR_NAN) {
		memcpy(out, "nan", 3);
		return out + 3;
	}
	*out = '-';
	out += d.negative;
	memcpy(out, "inf", 3);
	return out + 3;
}

ZR_INLINE char *text_f64(const struct zr_value *v, const uint8_t *p, char *out)
{
	return text_decimal(zr_load_decimal(ZR_F64, p, v->big), out);
}

ZR_INLINE char *text_f32(const struct zr_value *v, const uint8_t *p, char *out)
{
	return text_decimal(zr_load_decimal(ZR_F32, p, v->big), out);
}

ZR_INLINE char *text_float(const struct zr_value *v, const uint8_t *p, char *out)
{
	return text_decimal(zr_load_decimal(v->flt, p, v->big), out);
}

ZR_INLINE char *text_complex(const struct zr_value *v, const uint8_t *p, char *out)
{
	out = text_float(v, p, out);
	*out++ = v->part;
	return text_float(v, p + v->size / 2, out);
}

ZR_INLINE char *text_datetime(const struct zr_value *v, const uint8_t *p, char *out)
{
	int64_t n = (int64_t)zr_load_u64(p, v->big);

	if (n != INT64_MIN)
		return zr_put_date(out, n, v->unit, v->scale);
	memcpy(out, "NaT", 3);
	return out + 3;
}

ZR_INLINE char *text_timedelta(const struct zr_value *v, const uint8_t *p, char *out)
{
	int64_t n = (int64_t)zr_load_u64(p, v->big);

	if (n != INT64_MIN)
		return zr_put_i64(out, n);
	memcpy(out, "NaT", 3);
	return out + 3;
}

ZR_DEFINE_PUT(text_bools, text_bool)
ZR_DEFINE_PUT(text_f64s, text_f64)
ZR_DEFINE_PUT(text_f32s, text_f32)
ZR_DEFINE_PUT(text_floats, text_float)
ZR_DEFINE_PUT(text_complexes, text_complex)
ZR_DEFINE_PUT(text_datetimes, text_datetime)
ZR_DEFINE_PUT(text_timedeltas, text_timedelta)

/* ---- bytes ---- */

static char *put_hex(const uint8_t *p, uint64_t n, char *out)
{
	for (uint64_t i = 0; i < n; i++) {
		*out++ = hex_digits[p[i] >> 4];
		*out++ = hex_digits[p[i] & 15];
	}
	return out;
}

ZR_INLINE char *text_raw(const struct zr_value *v, const uint8_t *p, char *out)
{
	return put_hex(p, v->size, out);
}

ZR_INLINE char *text_vbytes(const struct zr_value *v, const uint8_t *p, char *out)
{
	struct zr_item item = zr_load_item(p);

	(void)v;
	return put_hex(item.data, item.len, out);
}

ZR_DEFINE_PUT(text_raws, text_raw)
ZR_DEFINE_PUT(text_vbyteses, text_vbytes)

/* ---- strings ---- */

static bool text_plain(uint64_t w)
{
	return !(zr_any_odd(w) | zr_any_is(w, '\\'));
}

static char *text_put_byte(uint8_t byte, char *out)
{
	out[0] = '\\';
	out[1] = 'x';
	out[2] = hex_digits[byte >> 4];
	out[3] = hex_digits[byte & 15];
	return out + 4;
}

static char *text_put_escape(char c, char *out)
{
	out[0] = '\\';
	out[1] = c;
	return out + 2;
}

static char *text_put_char(uint32_t cp, char *out)
{
	switch (cp) {
	case '\\':
		return text_put_escape('\\', out);
	case '\t':
		return text_put_escape('t', out);
	case '\n':
		return text_put_escape('n', out);
	case '\r':
		return text_put_escape('r', out);
	case '\0':
		return text_put_escape('0', out);
	default:
		break;
	}
	if (zr_is_control(cp))
		return text_put_byte((uint8_t)cp, out);
	return out + zr_utf8_encode(cp, (uint8_t *)out);
}

static char *put_string(struct zr_span s, char *out)
{
	return zr_put_utf8(s, out, text_plain, text_put_char, text_put_byte);
}

ZR_INLINE char *text_utf32(const struct zr_value *v, const uint8_t *p, char *out)
{
	return zr_put_utf32(zr_load_utf32(v, p), v->big, out, text_plain, text_put_char);
}

ZR_INLINE char *text_chars(const struct zr_value *v, const uint8_t *p, char *out)
{
	return put_string(zr_load_chars(v, p), out);
}

ZR_INLINE char *text_string(const struct zr_value *v, const uint8_t *p, char *out)
{
	struct zr_item item = zr_load_item(p);

	(void)v;
	return put_string((struct zr_span){item.data, item.len, item.len}, out);
}

ZR_INLINE char *text_json(const struct zr_value *v, const uint8_t *p, char *out)
{
	struct zr_item item = zr_load_item(p);

	(void)v;
	if (item.len == 0)
		return out;
	if (item.data[0] == 's')
		return put_string(
			(struct zr_span){item.data + 1, item.len - 1, item.len - 1}, out);
	memcpy(out, item.data + 1, item.len - 1);
	return out + item.len - 1;
}

ZR_DEFINE_PUT(text_utf32s, text_utf32)
ZR_DEFINE_PUT(text_charses, text_chars)
ZR_DEFINE_PUT(text_strings, text_string)
ZR_DEFINE_PUT(text_jsons, text_json)

/* ---- which one ---- */

static zr_put_fn text_put_int(const struct zr_type *t)
{
	bool is_signed = t->kind == ZR_INT;

	switch (t->bits) {
	case 8:
		return is_signed ? text_i8 : text_u8;
	case 16:
		return is_signed ? text_i16 : text_u16;
	case 32:
		return is_signed ? text_i32 : text_u32;
	case 64:
		return is_signed ? text_i64 : text_u64;
	default:
		return is_signed ? text_small_int : text_small_uint;
	}
}

zr_put_fn zr_text_put(const struct zr_type *t)
{
	switch (t->kind) {
	case ZR_BOOL:
		return text_bools;
	case ZR_INT:
	case ZR_UINT:
		return text_put_int(t);
	case ZR_FLOAT:
		return t->flt == ZR_F64   ? text_f64s
		       : t->flt == ZR_F32 ? text_f32s
		                          : text_floats;
	case ZR_COMPLEX:
		return text_complexes;
	case ZR_DATETIME:
		return text_datetimes;
	case ZR_TIMEDELTA:
		return text_timedeltas;
	case ZR_UTF32:
		return text_utf32s;
	case ZR_CHARS:
		return text_charses;
	case ZR_RAW:
		return text_raws;
	case ZR_STRING:
		return text_strings;
	case ZR_VBYTES:
		return text_vbyteses;
	case ZR_JSON:
		return text_jsons;
	case ZR_STRUCT:
	case ZR_LIST:
		break;
	}
	return NULL;
}

/* ---- the line ---- */

/*
 * All elements of the leaf, those of the structs above included, in one row: an axis
 * whose stride is all of the next axis goes on where that one ends, and both are one
 * loop.
 */
static void text_axes(struct zr_prog *b, const struct zr_type *t, uint64_t offset,
                      const struct zr_axis *axes, uint32_t naxes)
{
	uint64_t count = 1, stride = t->size;
	size_t loop;

	for (; naxes > 0; axes++, naxes--) {
		if (axes->count == 1)
			continue;
		if (count > 1 && stride != axes->count * axes->stride)
			break;
		count *= axes->count;
		stride = axes->stride;
	}
	if (naxes == 0) {
		zr_prog_values(b, t, offset, stride, count, '\t');
		return;
	}
	loop = zr_prog_loop(b, offset, stride, count);
	text_axes(b, t, 0, axes, naxes);
	zr_prog_loop_end(b, loop);
}

struct zr_line *zr_line_new_text(const struct zr_layout *l, uint32_t leaf,
                                 const struct zr_render_opts *o)
{
	const struct zr_column *c = &l->leaves[leaf];
	ZR_CLEANUP(zr_prog_done) struct zr_prog b = {.form = ZR_FORM_TEXT, .opts = o};

	if (c->naxes == 0) {
		zr_prog_values(&b, c->type, c->offset, 0, 1, '\n');
		return zr_prog_finish(&b);
	}
	if (c->count > 0) {
		text_axes(&b, c->type, c->offset, c->axes, c->naxes);
		zr_prog_back(&b);
	}
	zr_prog_lit(&b, "\n", 1);
	return zr_prog_finish(&b);
}
