/* SPDX-License-Identifier: MIT */
/*
 * records.csv: RFC 4180 with LF line ends. Strings are quoted, not escaped.
 */
#include "number.h"
#include "render_impl.h"

#include <errno.h>

/* ---- strings ---- */

static bool csv_plain(uint64_t w)
{
	return !((w & ZR_BYTES(0x80)) | zr_any_is(w, '"'));
}

static char *csv_put_char(uint32_t cp, char *out)
{
	if (cp == '"')
		*out++ = '"';
	return out + zr_utf8_encode(cp, (uint8_t *)out);
}

static char *csv_put_bad(uint8_t byte, char *out)
{
	(void)byte;
	memcpy(out, "\xef\xbf\xbd", 3);
	return out + 3;
}

static bool csv_is_special(uint32_t cp)
{
	return cp == '"' || cp == ',' || cp == '\r' || cp == '\n';
}

static bool csv_any_special(uint64_t w)
{
	return zr_any_is(w, '"') | zr_any_is(w, ',') | zr_any_is(w, '\r') |
	       zr_any_is(w, '\n');
}

/* Whether a string has to be quoted is known before its first byte is written. */
static bool csv_bytes_need_quotes(struct zr_span s)
{
	uint64_t w;

	for (uint64_t at = 0; at < s.n; at += 8) {
		if (zr_load_bytes(s, at, &w)) {
			if (csv_any_special(w))
				return true;
			continue;
		}
		for (uint64_t i = at; i < ZR_MIN(at + 8, s.n); i++)
			if (csv_is_special(s.p[i]))
				return true;
	}
	return false;
}

static bool csv_units_need_quotes(struct zr_span s, bool big)
{
	uint64_t w;

	for (uint64_t at = 0; at < s.n; at += 8) {
		if (zr_load_units(s, at, big, &w)) {
			if (csv_any_special(w))
				return true;
			continue;
		}
		for (uint64_t i = at; i < ZR_MIN(at + 8, s.n); i++)
			if (csv_is_special(zr_load_u32(s.p + 4 * i, big)))
				return true;
	}
	return false;
}

static char *put_string(struct zr_span s, char *out)
{
	bool quoted = csv_bytes_need_quotes(s);

	*out = '"';
	out = zr_put_utf8(s, out + quoted, csv_plain, csv_put_char, csv_put_bad);
	if (quoted)
		*out++ = '"';
	return out;
}

ZR_INLINE char *csv_utf32(const struct zr_value *v, const uint8_t *p, char *out)
{
	struct zr_span s = zr_load_utf32(v, p);
	bool quoted = csv_units_need_quotes(s, v->big);

	*out = '"';
	out = zr_put_utf32(s, v->big, out + quoted, csv_plain, csv_put_char);
	if (quoted)
		*out++ = '"';
	return out;
}

ZR_INLINE char *csv_chars(const struct zr_value *v, const uint8_t *p, char *out)
{
	return put_string(zr_load_chars(v, p), out);
}

ZR_INLINE char *csv_string(const struct zr_value *v, const uint8_t *p, char *out)
{
	struct zr_item item = zr_load_item(p);

	(void)v;
	return put_string((struct zr_span){item.data, item.len, item.len}, out);
}

/* A string, or JSON text, which is a string of its own here. */
ZR_INLINE char *csv_json(const struct zr_value *v, const uint8_t *p, char *out)
{
	struct zr_item item = zr_load_item(p);

	(void)v;
	if (item.len == 0)
		return out;
	return put_string((struct zr_span){item.data + 1, item.len - 1, item.len - 1},
	                  out);
}

ZR_DEFINE_PUT(csv_utf32s, csv_utf32)
ZR_DEFINE_PUT(csv_charses, csv_chars)
ZR_DEFINE_PUT(csv_strings, csv_string)
ZR_DEFINE_PUT(csv_jsons, csv_json)

zr_put_fn zr_csv_put(const struct zr_type *t)
{
	switch (t->kind) {
	case ZR_UTF32:
		return csv_utf32s;
	case ZR_CHARS:
		return csv_charses;
	case ZR_STRING:
		return csv_strings;
	case ZR_JSON:
		return csv_jsons;
	default:
		return zr_text_put(t);
	}
}

ZR_INLINE char *csv_sole(const struct zr_value *v, const uint8_t *p, char *out)
{
	char *end = v->inner(v, p, 0, 1, out, NULL) - 1;

	if (end > out)
		return end;
	memcpy(out, "\"\"", 2);
	return out + 2;
}

ZR_DEFINE_PUT(csv_soles, csv_sole)

void zr_csv_set_sole(struct zr_value *v)
{
	v->inner = v->put;
	v->put = csv_soles;
}

void zr_csv_add_string(struct zr_buf *b, const char *s, size_t len)
{
	struct zr_span span = {(const uint8_t *)s, len, len};
	char *out;

	/* No byte becomes more than three. */
	if (len > SIZE_MAX / 3 - 2) {
		b->failed = true;
		return;
	}
	if (zr_buf_reserve(b, 3 * len + 2) < 0)
		return;
	out = (char *)b->data + b->len;
	b->len += (size_t)(put_string(span, out) - out);
}

/* ---- the line ---- */

/* A cell and a comma for every scalar of the struct. */
static void csv_cells(struct zr_prog *b, const struct zr_type *t, uint64_t offset)
{
	for (uint32_t i = 0; i < t->nfields; i++) {
		const struct zr_field *f = &t->fields[i];
		uint64_t at = offset + f->offset;
		size_t loop;

		if (f->hidden || f->count == 0)
			continue;
		if (f->type.kind != ZR_STRUCT) {
			zr_prog_values(b, &f->type, at, f->type.size, f->count, ',');
		} else if (f->count == 1) {
			csv_cells(b, &f->type, at);
		} else {
			loop = zr_prog_loop(b, at, f->type.size, f->count);
			csv_cells(b, &f->type, 0);
			zr_prog_loop_end(b, loop);
		}
	}
}

static uint64_t csv_count_cells(const struct zr_layout *l)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < l->nleaves; i++)
		n += l->leaves[i].count * (l->leaves[i].type->kind == ZR_COMPLEX ? 2 : 1);
	return n;
}

bool zr_csv_is_sole(const struct zr_array *a, const struct zr_layout *l)
{
	return a->ndim < 2 && csv_count_cells(l) == 1;
}

struct zr_line *zr_line_new_csv(const struct zr_array *a, const struct zr_layout *l,
                                const struct zr_render_opts *o)
{
	ZR_CLEANUP(zr_prog_done) struct zr_prog b = {.form = ZR_FORM_CSV, .opts = o};
	bool index = a->ndim >= 2;

	b.sole = zr_csv_is_sole(a, l);
	for (uint32_t i = 0; index && i < a->ndim; i++) {
		if (i > 0)
			zr_prog_lit(&b, ",", 1);
		zr_prog_index(&b);
	}
	if (index)
		zr_prog_lit(&b, ",", 1);
	if (!l->is_struct)
		zr_prog_values(&b, l->leaves[0].type, 0, 0, 1, ',');
	else
		csv_cells(&b, l->levels[0].type, 0);
	if (!index && csv_count_cells(l) == 0)
		zr_prog_lit(&b, "\"\",", 3);
	zr_prog_back(&b);
	zr_prog_lit(&b, "\n", 1);
	return zr_prog_finish(&b);
}

/* ---- the header line ---- */

struct header {
	struct zr_buf *out;
	struct zr_buf name; /* of the column so far: parts, dots between */
	bool is_first;      /* no part yet; an empty name is a part, too */
};

/* Adds a part to the name; returns what to go back to. */
static struct header header_part(struct header *h, const char *s, size_t len)
{
	struct header before = *h;

	if (!h->is_first)
		zr_buf_addc(&h->name, '.');
	zr_add_clean_name(&h->name, s, len);
	h->is_first = false;
	return before;
}

static void header_back(struct header *h, const struct header *before)
{
	h->name.len = before->name.len;
	h->is_first = before->is_first;
}

static void header_column(struct header *h)
{
	h->out->failed |= h->name.failed;
	if (h->out->failed)
		return;
	zr_csv_add_string(h->out, (const char *)h->name.data, h->name.len);
	zr_buf_addc(h->out, ',');
}

static int header_type(struct header *h, const struct zr_type *t);

/* The columns of all elements of a sub-array, or of what it consists of. */
static int header_axes(struct header *h, const struct zr_field *f, uint32_t axis)
{
	int r = 0;

	if (axis == f->ndim)
		return header_type(h, &f->type);
	if (f->count == 0)
		return 0;
	for (uint64_t i = 0; i < f->shape[axis] && r == 0; i++) {
		char digits[ZR_U64_MAX_LEN + ZR_PUT_SPARE];
		char *end = zr_put_u64(digits, i);
		struct header before = header_part(h, digits, (size_t)(end - digits));

		r = header_axes(h, f, axis + 1);
		header_back(h, &before);
	}
	return r;
}

static int header_type(struct header *h, const struct zr_type *t)
{
	int r = 0;

	/* Sub-arrays multiply names: a small document may ask for more than there is. */
	if (h->out->len > ZR_MAX_METADATA || h->name.len > ZR_MAX_METADATA)
		return -EFBIG;
	if (t->kind == ZR_COMPLEX) {
		struct header before = header_part(h, "re", 2);

		header_column(h);
		header_back(h, &before);
		header_part(h, "im", 2);
		header_column(h);
		header_back(h, &before);
		return 0;
	}
	if (t->kind != ZR_STRUCT) {
		header_column(h);
		return 0;
	}
	for (uint32_t i = 0; i < t->nfields && r == 0; i++) {
		const struct zr_field *f = &t->fields[i];

		if (!f->hidden) {
			struct header before = header_part(h, f->name, f->name_len);

			r = header_axes(h, f, 0);
			header_back(h, &before);
		}
	}
	return r;
}

/* _index.x, or _index.0 */
static void header_index(struct header *h, const struct zr_array *a,
                         const struct zr_type *t)
{
	bool keys = zr_dims_are_keys(a);
	ZR_CLEANUP(zr_buf_done) struct zr_buf key = {0};
	struct header before;

	zr_add_index_key(&key, t);
	h->out->failed |= key.failed;
	if (h->out->failed)
		return;
	before = header_part(h, (const char *)key.data, key.len);
	for (uint32_t i = 0; i < a->ndim; i++) {
		char digits[ZR_U64_MAX_LEN + ZR_PUT_SPARE];
		char *end = zr_put_u64(digits, i);
		struct header name = *h;

		if (keys)
			header_part(h, a->dims[i].data, a->dims[i].len);
		else
			header_part(h, digits, (size_t)(end - digits));
		header_column(h);
		header_back(h, &name);
	}
	header_back(h, &before);
}

int zr_csv_header(const struct zr_array *a, const struct zr_layout *l, struct zr_buf *ret)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf out = {0};
	struct header h = {.out = &out, .is_first = true};
	int r;

	if (a->ndim >= 2)
		header_index(&h, a, l->levels[0].type);
	if (!l->is_struct)
		header_part(&h, "values", 6);
	r = header_type(&h, l->levels[0].type);
	zr_buf_done(&h.name);
	if (r == 0)
		r = zr_buf_check(&out);
	if (r < 0)
		return r;
	if (out.len == 0 || (out.len == 1 && out.data[0] == ',')) {
		out.len = 0;
		zr_buf_adds(&out, "\"\",");
		r = zr_buf_check(&out);
		if (r < 0)
			return r;
	}
	out.data[out.len - 1] = '\n';
	*ret = out;
	out = (struct zr_buf){0};
	return 0;
}
