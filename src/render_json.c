/* SPDX-License-Identifier: MIT */
/*
 * records.jsonl: one value a line, strict RFC 8259, compact.
 */
#include "base64.h"
#include "datetime.h"
#include "number.h"
#include "render_impl.h"

static const char hex_digits[] = "0123456789abcdef";

static inline char *put_word(char *out, const char *word, size_t len)
{
	memcpy(out, word, len);
	return out + len;
}

/* ---- numbers ---- */

ZR_INLINE char *json_bool(const struct zr_value *v, const uint8_t *p, char *out)
{
	static const char words[2][8] = {"false", "true"};

	(void)v;
	memcpy(out, words[*p != 0], 8); /* cannot be foreseen: no branch */
	return out + 5 - (*p != 0);
}

ZR_INLINE char *json_decimal(const struct zr_value *v, struct zr_decimal d, char *out)
{
	if (__builtin_expect(d.cls == ZR_FINITE, 1))
		return zr_put_decimal(out, d);
	if (!v->quote_nonfinite)
		return put_word(out, "null", 4);
	if (d.cls == ZR_NAN)
		return put_word(out, "\"NaN\"", 5);
	return d.negative ? put_word(out, "\"-Infinity\"", 11)
	                  : put_word(out, "\"Infinity\"", 10);
}

ZR_INLINE char *json_f64(const struct zr_value *v, const uint8_t *p, char *out)
{
	return json_decimal(v, zr_load_decimal(ZR_F64, p, v->big), out);
}

ZR_INLINE char *json_f32(const struct zr_value *v, const uint8_t *p, char *out)
{
	return json_decimal(v, zr_load_decimal(ZR_F32, p, v->big), out);
}

ZR_INLINE char *json_float(const struct zr_value *v, const uint8_t *p, char *out)
{
	return json_decimal(v, zr_load_decimal(v->flt, p, v->big), out);
}

ZR_INLINE char *json_complex(const struct zr_value *v, const uint8_t *p, char *out)
{
	*out++ = '[';
	out = json_float(v, p, out);
	*out++ = ',';
	out = json_float(v, p + v->size / 2, out);
	*out++ = ']';
	return out;
}

ZR_INLINE char *json_datetime(const struct zr_value *v, const uint8_t *p, char *out)
{
	int64_t n = (int64_t)zr_load_u64(p, v->big);

	if (n == INT64_MIN)
		return put_word(out, "null", 4);
	if (v->unit == ZR_GENERIC)
		return zr_put_i64(out, n);
	*out++ = '"';
	out = zr_put_date(out, n, v->unit, v->scale);
	*out++ = '"';
	return out;
}

ZR_INLINE char *json_timedelta(const struct zr_value *v, const uint8_t *p, char *out)
{
	int64_t n = (int64_t)zr_load_u64(p, v->big);

	return n == INT64_MIN ? put_word(out, "null", 4) : zr_put_i64(out, n);
}

ZR_DEFINE_PUT(json_bools, json_bool)
ZR_DEFINE_PUT(json_f64s, json_f64)
ZR_DEFINE_PUT(json_f32s, json_f32)
ZR_DEFINE_PUT(json_floats, json_float)
ZR_DEFINE_PUT(json_complexes, json_complex)
ZR_DEFINE_PUT(json_datetimes, json_datetime)
ZR_DEFINE_PUT(json_timedeltas, json_timedelta)

/* ---- bytes ---- */

static char *put_base64(const uint8_t *p, uint64_t n, char *out)
{
	*out++ = '"';
	if (n > 0)
		out = zr_base64_encode(p, n, out);
	*out++ = '"';
	return out;
}

ZR_INLINE char *json_raw(const struct zr_value *v, const uint8_t *p, char *out)
{
	return put_base64(p, v->size, out);
}

ZR_INLINE char *json_vbytes(const struct zr_value *v, const uint8_t *p, char *out)
{
	struct zr_item item = zr_load_item(p);

	(void)v;
	return put_base64(item.data, item.len, out);
}

ZR_DEFINE_PUT(json_raws, json_raw)
ZR_DEFINE_PUT(json_vbyteses, json_vbytes)

/* ---- strings ---- */

static bool json_plain(uint64_t w)
{
	return !(zr_any_odd(w) | zr_any_is(w, '\\') | zr_any_is(w, '"'));
}

static char *json_put_escape(char c, char *out)
{
	out[0] = '\\';
	out[1] = c;
	return out + 2;
}

static char *json_put_char(uint32_t cp, char *out)
{
	switch (cp) {
	case '"':
	case '\\':
		return json_put_escape((char)cp, out);
	case '\b':
		return json_put_escape('b', out);
	case '\t':
		return json_put_escape('t', out);
	case '\n':
		return json_put_escape('n', out);
	case '\f':
		return json_put_escape('f', out);
	case '\r':
		return json_put_escape('r', out);
	default:
		break;
	}
	if (!zr_is_control(cp))
		return out + zr_utf8_encode(cp, (uint8_t *)out);
	memcpy(out, "\\u00", 4);
	out[4] = hex_digits[cp >> 4];
	out[5] = hex_digits[cp & 15];
	return out + 6;
}

static char *json_put_bad(uint8_t byte, char *out)
{
	(void)byte;
	return put_word(out, "\xef\xbf\xbd", 3);
}

static char *put_string(struct zr_span s, char *out)
{
	*out++ = '"';
	out = zr_put_utf8(s, out, json_plain, json_put_char, json_put_bad);
	*out++ = '"';
	return out;
}

ZR_INLINE char *json_utf32(const struct zr_value *v, const uint8_t *p, char *out)
{
	*out++ = '"';
	out = zr_put_utf32(zr_load_utf32(v, p), v->big, out, json_plain, json_put_char);
	*out++ = '"';
	return out;
}

ZR_INLINE char *json_chars(const struct zr_value *v, const uint8_t *p, char *out)
{
	return put_string(zr_load_chars(v, p), out);
}

ZR_INLINE char *json_string(const struct zr_value *v, const uint8_t *p, char *out)
{
	struct zr_item item = zr_load_item(p);

	(void)v;
	return put_string((struct zr_span){item.data, item.len, item.len}, out);
}

ZR_INLINE char *json_json(const struct zr_value *v, const uint8_t *p, char *out)
{
	struct zr_item item = zr_load_item(p);

	(void)v;
	if (item.len == 0)
		return put_word(out, "\"\"", 2);
	if (item.data[0] == 's')
		return put_string(
			(struct zr_span){item.data + 1, item.len - 1, item.len - 1}, out);
	return put_word(out, (const char *)item.data + 1, item.len - 1);
}

ZR_DEFINE_PUT(json_utf32s, json_utf32)
ZR_DEFINE_PUT(json_charses, json_chars)
ZR_DEFINE_PUT(json_strings, json_string)
ZR_DEFINE_PUT(json_jsons, json_json)

zr_put_fn zr_json_put(const struct zr_type *t)
{
	switch (t->kind) {
	case ZR_BOOL:
		return json_bools;
	case ZR_FLOAT:
		return t->flt == ZR_F64   ? json_f64s
		       : t->flt == ZR_F32 ? json_f32s
		                          : json_floats;
	case ZR_COMPLEX:
		return json_complexes;
	case ZR_DATETIME:
		return json_datetimes;
	case ZR_TIMEDELTA:
		return json_timedeltas;
	case ZR_UTF32:
		return json_utf32s;
	case ZR_CHARS:
		return json_charses;
	case ZR_RAW:
		return json_raws;
	case ZR_STRING:
		return json_strings;
	case ZR_VBYTES:
		return json_vbyteses;
	case ZR_JSON:
		return json_jsons;
	default:
		return zr_text_put(t);
	}
}

void zr_json_add_string(struct zr_buf *b, const char *s, size_t len)
{
	struct zr_span span = {(const uint8_t *)s, len, len};
	char *out;

	/* No byte becomes more than six. */
	if (len > SIZE_MAX / 6 - 2) {
		b->failed = true;
		return;
	}
	if (zr_buf_reserve(b, 6 * len + 2) < 0)
		return;
	out = (char *)b->data + b->len;
	b->len += (size_t)(put_string(span, out) - out);
}

/* ---- the line ---- */

static void json_lit(struct zr_prog *b, const char *s)
{
	zr_prog_lit(b, s, strlen(s));
}

static void json_name(struct zr_prog *b, const char *s, size_t len)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf clean = {0};

	zr_add_clean_name(&clean, s, len);
	b->lits.failed |= clean.failed;
	if (!b->lits.failed)
		zr_json_add_string(&b->lits, (const char *)clean.data, clean.len);
	json_lit(b, ":");
}

static bool json_members(struct zr_prog *b, const struct zr_type *t, uint64_t offset);

/* A value of any type, and a comma: nested lists for the axes. */
static void json_value(struct zr_prog *b, const struct zr_type *t, uint64_t offset,
                       const struct zr_axis *axes, uint32_t naxes)
{
	size_t loop;

	if (naxes == 0 && t->kind == ZR_STRUCT) {
		json_lit(b, "{");
		if (json_members(b, t, offset))
			zr_prog_back(b);
		json_lit(b, "},");
		return;
	}
	if (naxes == 0) {
		zr_prog_values(b, t, offset, 0, 1, ',');
		return;
	}
	json_lit(b, "[");
	if (axes->count > 0) {
		if (naxes == 1 && t->kind != ZR_STRUCT) {
			zr_prog_values(b, t, offset, axes->stride, axes->count, ',');
		} else {
			loop = zr_prog_loop(b, offset, axes->stride, axes->count);
			json_value(b, t, 0, axes + 1, naxes - 1);
			zr_prog_loop_end(b, loop);
		}
		zr_prog_back(b);
	}
	json_lit(b, "],");
}

/* "name":value, of each shown field; false if there is none. */
static bool json_members(struct zr_prog *b, const struct zr_type *t, uint64_t offset)
{
	struct zr_axis axes[ZR_MAX_DIMS];
	bool any = false;

	for (uint32_t i = 0; i < t->nfields; i++) {
		const struct zr_field *f = &t->fields[i];

		if (f->hidden)
			continue;
		json_name(b, f->name, f->name_len);
		zr_field_axes(f, axes);
		json_value(b, &f->type, offset + f->offset, axes, f->ndim);
		any = true;
	}
	return any;
}

/* "_index":{"x":1,"y":2}, or a list when the dimensions have no usable names. */
static void json_index(struct zr_prog *b, const struct zr_array *a,
                       const struct zr_type *t)
{
	bool keys = zr_dims_are_keys(a);
	ZR_CLEANUP(zr_buf_done) struct zr_buf key = {0};

	zr_add_index_key(&key, t);
	b->lits.failed |= key.failed;
	if (b->lits.failed)
		return;
	zr_json_add_string(&b->lits, (const char *)key.data, key.len);
	json_lit(b, keys ? ":{" : ":[");
	for (uint32_t i = 0; i < a->ndim; i++) {
		if (i > 0)
			json_lit(b, ",");
		if (keys)
			json_name(b, a->dims[i].data, a->dims[i].len);
		zr_prog_index(b);
	}
	json_lit(b, keys ? "}" : "]");
}

struct zr_line *zr_line_new_json(const struct zr_array *a, const struct zr_layout *l,
                                 uint32_t level, const struct zr_render_opts *o)
{
	const struct zr_column *c = &l->levels[level];
	ZR_CLEANUP(zr_prog_done) struct zr_prog b = {.form = ZR_FORM_JSON, .opts = o};

	if (!l->is_struct) {
		zr_prog_values(&b, c->type, 0, 0, 1, '\n');
		return zr_prog_finish(&b);
	}
	if (a->ndim >= 2 && c->naxes == 0) {
		json_lit(&b, "{");
		json_index(&b, a, c->type);
		json_lit(&b, ",");
		json_members(&b, c->type, c->offset);
		zr_prog_back(&b);
		json_lit(&b, "}\n");
		return zr_prog_finish(&b);
	}
	json_value(&b, c->type, c->offset, c->axes, c->naxes);
	zr_prog_back(&b);
	json_lit(&b, "\n");
	return zr_prog_finish(&b);
}
