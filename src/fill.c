/* SPDX-License-Identifier: MIT */
/*
 * A fill value in one of its forms (an object by field, base64 of a whole record, a
 * bare scalar of a struct of one field, null or 0) becomes one record in the stored byte
 * orders. The forms cannot be confused, so all are read in both versions.
 */
#include "meta_impl.h"

#include "base64.h"
#include "utf8.h"

static int fill_field(const struct zr_field *f, const json_t *v,
                      const struct zr_where *where, uint8_t *out, struct zr_err *reterr);

static int refuse(const struct zr_where *where, const json_t *v, const char *cause,
                  struct zr_err *reterr)
{
	char at[ZR_SHOWN], shown[ZR_SHOWN];

	return zr_err_set(reterr, -EINVAL, "%sfill_value %s %s", zr_where_show(where, at),
	                  zr_meta_show(v, shown), cause);
}

/* null, 0, 0.0 and false: a record of zeros, an empty text. */
static bool is_nothing(const json_t *v)
{
	return json_is_null(v) || json_is_false(v) ||
	       (json_is_integer(v) && json_integer_value(v) == 0) ||
	       (json_is_real(v) && json_real_value(v) == 0);
}

/* Base64, or a list of bytes, at most max of them. 1: it is neither. */
static int read_bytes(const json_t *v, uint64_t max, struct zr_buf *ret)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf text = {0};
	size_t n;
	int r;

	if (json_is_array(v)) {
		for (size_t i = 0; i < json_array_size(v); i++) {
			uint64_t byte;

			if (!zr_meta_uint(json_array_get(v, i), &byte) || byte > 255)
				return 1;
			zr_buf_addc(ret, (char)byte);
		}
		return zr_buf_check(ret) < 0 ? -ENOMEM : ret->len > max;
	}
	r = zr_json_string(v, &text);
	if (r < 0)
		return r == -ENOMEM ? r : 1;
	if (zr_buf_reserve(ret, text.len / 4 * 3 + 1) < 0)
		return -ENOMEM;
	if (zr_base64_decode((char *)text.data, text.len, ret->data, &n) < 0 || n > max)
		return 1;
	ret->len = n;
	return 0;
}

static int fill_bytes(const struct zr_type *t, const json_t *v,
                      const struct zr_where *where, uint8_t *out, struct zr_err *reterr)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf bytes = {0};
	int r;

	if (is_nothing(v))
		return 0;
	r = read_bytes(v, t->size, &bytes);
	if (r > 0)
		return refuse(where, v, "is not base64 that fits its type", reterr);
	if (r == 0 && bytes.len)
		memcpy(out, bytes.data, bytes.len);
	return r;
}

/* The next code point of a string as zr_json_string() gives it, lone surrogates too. */
static uint32_t next_code_point(const struct zr_buf *s, size_t *at)
{
	const uint8_t *p = s->data + *at;
	uint32_t cp = 0xfffd;
	unsigned int n = zr_utf8_decode(p, s->len - *at, &cp);

	if (n == 0 && s->len - *at >= 3 && p[0] == 0xed) {
		cp = 0xd000 | (uint32_t)(p[1] & 0x3f) << 6 | (p[2] & 0x3f);
		n = 3;
	}
	*at += ZR_MAX(n, 1);
	return cp;
}

static int fill_utf32(const struct zr_type *t, const json_t *v,
                      const struct zr_where *where, uint8_t *out, struct zr_err *reterr)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf text = {0};
	uint64_t n = 0;
	int r;

	if (is_nothing(v))
		return 0;
	r = zr_json_string(v, &text);
	if (r < 0)
		return r == -ENOMEM ? r : refuse(where, v, "is no text", reterr);
	for (size_t at = 0; at < text.len; n += 4) {
		uint32_t cp = next_code_point(&text, &at);

		if (n >= t->size)
			return refuse(where, v, "is longer than its type", reterr);
		zr_store_uint(out + n, cp, 4, t->big);
	}
	return 0;
}

static int fill_integer(const struct zr_type *t, const json_t *v,
                        const struct zr_where *where, uint8_t *out, struct zr_err *reterr)
{
	bool is_signed = t->kind != ZR_UINT;
	unsigned int bits = t->kind == ZR_INT || t->kind == ZR_UINT ? t->bits : 64;
	struct zr_number n;
	uint64_t limit;

	if (!zr_number_read(v, &n))
		return refuse(where, v, "is no number", reterr);
	if (!n.whole)
		return refuse(where, v, "is no whole number", reterr);
	limit = UINT64_MAX >> (64 - bits + is_signed);
	if (is_signed && n.negative)
		limit++;
	else if (n.negative)
		limit = 0;
	if (n.too_large || n.magnitude > limit)
		return refuse(where, v, "is out of the range of its type", reterr);
	zr_store_uint(out, n.negative ? -n.magnitude : n.magnitude, (unsigned int)t->size,
	              t->big);
	return 0;
}

static int fill_float(enum zr_float f, bool big, const json_t *v,
                      const struct zr_where *where, uint8_t *out, struct zr_err *reterr)
{
	unsigned int size = zr_float_size(f);
	struct zr_number n;
	uint64_t bits;

	if (!zr_float_bits_read(v, size, &bits)) {
		if (!zr_number_read(v, &n))
			return refuse(where, v, "is no number", reterr);
		if (!zr_float_from_double(f, n.real, &bits))
			return refuse(where, v, "cannot be held by its type", reterr);
	}
	zr_store_uint(out, bits, size, big);
	return 0;
}

static int fill_complex(const struct zr_type *t, const json_t *v,
                        const struct zr_where *where, uint8_t *out, struct zr_err *reterr)
{
	unsigned int size = zr_float_size(t->flt);
	const json_t *re = v;
	int r;

	/* A plain number is what some hold for one without imaginary part. */
	if (json_is_array(v)) {
		if (json_array_size(v) != 2)
			return refuse(where, v, "is no pair of numbers", reterr);
		re = json_array_get(v, 0);
		r = fill_float(t->flt, t->big, json_array_get(v, 1), where, out + size,
		               reterr);
		if (r < 0)
			return r;
	}
	return fill_float(t->flt, t->big, re, where, out, reterr);
}

static int fill_bool(const json_t *v, const struct zr_where *where, uint8_t *out,
                     struct zr_err *reterr)
{
	struct zr_number n;

	if (json_is_string(v) || !zr_number_read(v, &n))
		return refuse(where, v, "is neither true nor false", reterr);
	*out = n.real != 0;
	return 0;
}

static int fill_time(const struct zr_type *t, const json_t *v,
                     const struct zr_where *where, uint8_t *out, struct zr_err *reterr)
{
	/* Undefined is no date that anybody meant. */
	bool nat = json_is_null(v) ||
	           (json_is_string(v) && strcmp(json_string_value(v), "NaT") == 0);

	if (!nat)
		return fill_integer(t, v, where, out, reterr);
	zr_store_uint(out, (uint64_t)INT64_MIN, 8, t->big);
	return 0;
}

/* out holds zeros. */
static int fill_scalar(const struct zr_type *t, const json_t *v,
                       const struct zr_where *where, uint8_t *out, struct zr_err *reterr)
{
	if (t->kind == ZR_DATETIME || t->kind == ZR_TIMEDELTA)
		return fill_time(t, v, where, out, reterr);
	if (json_is_null(v))
		return 0;
	switch (t->kind) {
	case ZR_BOOL:
		return fill_bool(v, where, out, reterr);
	case ZR_INT:
	case ZR_UINT:
		return fill_integer(t, v, where, out, reterr);
	case ZR_FLOAT:
		return fill_float(t->flt, t->big, v, where, out, reterr);
	case ZR_COMPLEX:
		return fill_complex(t, v, where, out, reterr);
	case ZR_UTF32:
		return fill_utf32(t, v, where, out, reterr);
	default:
		return fill_bytes(t, v, where, out, reterr);
	}
}

/* Whether v is base64 of exactly n bytes, which are the record then. */
static int fill_whole(const json_t *v, uint64_t n, uint8_t *out)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf bytes = {0};
	int r;

	if (!json_is_string(v) || json_string_length(v) != zr_base64_len(n))
		return 0;
	r = read_bytes(v, n, &bytes);
	if (r < 0)
		return r;
	if (r > 0 || bytes.len != n)
		return 0;
	if (n)
		memcpy(out, bytes.data, n);
	return 1;
}

static int fill_struct(const struct zr_type *t, const json_t *v,
                       const struct zr_where *where, uint8_t *out, struct zr_err *reterr)
{
	int r;

	r = fill_whole(v, t->size, out);
	if (r != 0)
		return r < 0 ? r : 0;
	if (t->nfields == 1 && !json_is_null(v) && !json_is_object(v))
		return fill_field(&t->fields[0], v, where, out, reterr);
	if (is_nothing(v))
		return 0;
	if (!json_is_object(v))
		return refuse(where, v,
		              json_is_string(v)
		                      ? "is not base64 of one record"
		                      : "is no object with a member for each field",
		              reterr);

	for (uint32_t i = 0; i < t->nfields; i++) {
		const struct zr_field *f = &t->fields[i];
		struct zr_where here = {where, f->name, f->name_len};
		const json_t *member;
		char at[ZR_SHOWN];

		if (f->hidden)
			continue;
		r = zr_json_get(v, f->name, f->name_len, &member);
		if (r < 0)
			return r;
		if (!member)
			return zr_err_set(reterr, -EINVAL,
			                  "%sfill_value lacks this field",
			                  zr_where_show(&here, at));
		r = fill_field(f, member, &here, out + f->offset, reterr);
		if (r < 0)
			return r;
	}
	return 0;
}

static int fill_field(const struct zr_field *f, const json_t *v,
                      const struct zr_where *where, uint8_t *out, struct zr_err *reterr)
{
	int r;

	if (f->ndim == 0)
		return f->type.kind == ZR_STRUCT
		               ? fill_struct(&f->type, v, where, out, reterr)
		               : fill_scalar(&f->type, v, where, out, reterr);
	r = fill_whole(v, f->count * f->type.size, out);
	if (r != 0)
		return r < 0 ? r : 0;
	return is_nothing(v) ? 0 : refuse(where, v, "is not understood", reterr);
}

static int fill_text(const json_t *v, struct zr_buf *ret)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf text = {0};
	int r;

	r = zr_json_string(v, &text);
	if (r < 0)
		return r;
	zr_json_add_scalars(ret, text.data, text.len);
	return zr_buf_check(ret);
}

/* The bytes of one element of variable length, as its kind defines them. */
static int fill_variable(const struct zr_type *t, const json_t *v, struct zr_buf *ret,
                         struct zr_err *reterr)
{
	int r;

	/* For json2 false is a value like any other. */
	if (is_nothing(v) && !(t->kind == ZR_JSON && json_is_false(v))) {
		if (t->kind == ZR_JSON)
			zr_buf_addc(ret, 's');
		return zr_buf_check(ret);
	}
	if (t->kind == ZR_LIST) {
		bool empty = json_is_string(v) && json_string_length(v) == 0;

		return empty ? 0 : refuse(NULL, v, "is no empty list", reterr);
	}
	if (t->kind == ZR_VBYTES) {
		r = read_bytes(v, SIZE_MAX, ret);
		return r > 0 ? refuse(NULL, v, "is no base64", reterr) : r;
	}
	if (t->kind == ZR_JSON) {
		bool text = json_is_string(v) && !zr_json_number(v);

		zr_buf_addc(ret, text ? 's' : 'j');
		return text ? fill_text(v, ret) : zr_json_compact(v, ret);
	}
	r = fill_text(v, ret);
	return r == -EINVAL ? refuse(NULL, v, "is no text", reterr) : r;
}

int zr_fill_read(struct zr_array *a, const json_t *v, struct zr_err *reterr)
{
	ZR_CLEANUP(zr_freep) uint8_t *record = calloc(1, a->type.size);
	ZR_CLEANUP(zr_buf_done) struct zr_buf data = {0};
	int r;

	if (!record)
		return -ENOMEM;
	if (!v)
		v = json_null();
	if (zr_type_is_variable(&a->type)) {
		struct zr_item item;

		r = fill_variable(&a->type, v, &data, reterr);
		if (r < 0)
			return r;
		item = (struct zr_item){.data = data.data, .len = data.len};
		memcpy(record, &item, sizeof(item));
		a->fill_data = ZR_TAKE(data.data);
	} else {
		r = a->type.kind == ZR_STRUCT
		            ? fill_struct(&a->type, v, NULL, record, reterr)
		            : fill_scalar(&a->type, v, NULL, record, reterr);
		if (r < 0)
			return r;
	}
	a->fill = ZR_TAKE(record);
	return 0;
}
