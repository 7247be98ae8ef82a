/* SPDX-License-Identifier: MIT */
/*
 * The header is a Python dict as repr() spells it. It is made in UTF-8; the widest
 * character in it decides which version of the format holds it: Latin-1 with a length of
 * 2 bytes (1.0) or 4 (2.0), or UTF-8 (3.0).
 */
#include "npy.h"

#include <errno.h>
#include <inttypes.h>

#include "number.h"
#include "utf8.h"

#define ALIGN 64         /* of the data */
#define GROWTH_DIGITS 21 /* room for a longer first axis, its own digits included */

/* A dict while it is made. */
struct dict {
	struct zr_buf text;
	uint32_t widest; /* code point */
};

static void dict_done(struct dict *d)
{
	zr_buf_done(&d->text);
}

/* --- names -----------------------------------------------------------------------------
 */

/* Above Latin-1: separators, format characters, surrogates, private use, and what can
 * never be assigned. Python spells them as escapes. */
static const struct {
	uint32_t first, last;
} unprintable[] = {
	{0x600, 0x605},     {0x61c, 0x61c},     {0x6dd, 0x6dd},     {0x70f, 0x70f},
	{0x890, 0x891},     {0x8e2, 0x8e2},     {0x1680, 0x1680},   {0x180e, 0x180e},
	{0x2000, 0x200f},   {0x2028, 0x202f},   {0x205f, 0x2064},   {0x2066, 0x206f},
	{0x3000, 0x3000},   {0xd800, 0xf8ff},   {0xfdd0, 0xfdef},   {0xfeff, 0xfeff},
	{0xfff9, 0xfffb},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f},
	{0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe00ff}, {0xe01f0, 0x10ffff},
};

static bool is_printable(uint32_t cp)
{
	if (cp < 0x100)
		return !zr_is_control(cp) && cp != 0xa0 && cp != 0xad;
	if ((cp & 0xfffe) == 0xfffe)
		return false;
	for (size_t i = 0; i < ZR_COUNT(unprintable); i++)
		if (cp >= unprintable[i].first && cp <= unprintable[i].last)
			return false;
	return true;
}

static void put_escape(struct dict *d, uint32_t cp)
{
	const char *form = cp < 0x100     ? "\\x%02" PRIx32
	                   : cp < 0x10000 ? "\\u%04" PRIx32
	                                  : "\\U%08" PRIx32;

	if (cp == '\t' || cp == '\n' || cp == '\r')
		zr_buf_addf(&d->text, "\\%c", cp == '\t' ? 't' : cp == '\n' ? 'n' : 'r');
	else
		zr_buf_addf(&d->text, form, cp);
}

static void put_name(struct dict *d, const char *name, size_t len)
{
	const uint8_t *p = (const uint8_t *)name;
	char quote = memchr(name, '\'', len) && !memchr(name, '"', len) ? '"' : '\'';
	unsigned int n;
	uint32_t cp;

	zr_buf_addc(&d->text, quote);
	for (size_t at = 0; at < len; at += n) {
		n = zr_utf8_decode_name(p + at, len - at, &cp);
		if (!is_printable(cp)) {
			put_escape(d, cp);
			continue;
		}
		if (cp == '\\' || cp == (uint32_t)quote)
			zr_buf_addc(&d->text, '\\');
		zr_buf_add(&d->text, p + at, n);
		d->widest = ZR_MAX(d->widest, cp);
	}
	zr_buf_addc(&d->text, quote);
}

/* --- types -----------------------------------------------------------------------------
 */

/* "()", "(2,)", "(2, 3)". */
static void put_tuple(struct dict *d, const uint64_t *v, uint32_t n)
{
	zr_buf_addc(&d->text, '(');
	for (uint32_t i = 0; i < n; i++)
		zr_buf_addf(&d->text, "%s%" PRIu64, i ? ", " : "", v[i]);
	zr_buf_adds(&d->text, n == 1 ? ",)" : ")");
}

/* At most ZR_MAX_STRUCT_DEPTH deep. */
static void put_type(struct dict *d, const struct zr_type *t)
{
	if (t->kind != ZR_STRUCT) {
		zr_buf_addc(&d->text, '\'');
		zr_type_numpy(t, false, &d->text);
		zr_buf_addc(&d->text, '\'');
		return;
	}
	zr_buf_addc(&d->text, '[');
	for (uint32_t i = 0; i < t->nfields; i++) {
		const struct zr_field *f = &t->fields[i];

		zr_buf_adds(&d->text, i ? ", (" : "(");
		if (f->hidden) {
			zr_buf_addf(&d->text, "'', '|V%" PRIu64 "')",
			            f->count * f->type.size);
			continue;
		}
		put_name(d, f->name, f->name_len);
		zr_buf_adds(&d->text, ", ");
		put_type(d, &f->type);
		if (f->ndim > 0) {
			zr_buf_adds(&d->text, ", ");
			put_tuple(d, f->shape, f->ndim);
		}
		zr_buf_addc(&d->text, ')');
	}
	zr_buf_addc(&d->text, ']');
}

/* --- the header ------------------------------------------------------------------------
 */

/* UTF-8 whose characters all fit one byte each, in place. */
static void to_latin1(struct zr_buf *b)
{
	size_t len = 0;
	unsigned int n;
	uint32_t cp;

	for (size_t at = 0; at < b->len; at += n) {
		n = zr_utf8_decode(b->data + at, b->len - at, &cp);
		b->data[len++] = (uint8_t)cp;
	}
	b->len = len;
}

/* Bytes that the header takes behind the magic and its own length, with length fields of
 * `width` bytes: padded so that data begin at a multiple of ALIGN. NumPy pads by ALIGN
 * where nothing would be to do. */
static size_t padded(size_t text_len, size_t width)
{
	size_t begin = 8 + width, end = begin + text_len + 1;

	return end + ALIGN - end % ALIGN - begin;
}

static int dict_wrap(struct dict *d, struct zr_buf *ret)
{
	size_t width = 2, len;
	uint8_t version = 1, bytes[4];

	if (zr_buf_check(&d->text) < 0)
		return -ENOMEM;
	if (d->widest > 0xff)
		version = 3;
	else
		to_latin1(&d->text);
	if (version == 1 && padded(d->text.len, 2) > UINT16_MAX)
		version = 2;
	width = version == 1 ? 2 : 4;
	len = padded(d->text.len, width);
	zr_store_uint(bytes, len, (unsigned int)width, false);

	zr_buf_add(ret, "\x93NUMPY", 6);
	zr_buf_addc(ret, (char)version);
	zr_buf_addc(ret, '\0');
	zr_buf_add(ret, bytes, width);
	zr_buf_add(ret, d->text.data, d->text.len);
	zr_buf_addf(ret, "%*s\n", (int)(len - d->text.len - 1), "");
	return zr_buf_check(ret);
}

static int put_header(const struct zr_array *a, const struct zr_type *t,
                      const struct zr_column *leaf, struct zr_buf *ret)
{
	ZR_CLEANUP(dict_done) struct dict d = {0};
	uint64_t shape[ZR_MAX_DIMS + ZR_MAX_DIMS * ZR_MAX_STRUCT_DEPTH];
	uint32_t ndim = a->ndim;

	memcpy(shape, a->shape, a->ndim * sizeof(*shape));
	for (uint32_t i = 0; leaf && i < leaf->naxes; i++)
		shape[ndim++] = leaf->axes[i].count;

	zr_buf_adds(&d.text, "{'descr': ");
	put_type(&d, t);
	zr_buf_adds(&d.text, ", 'fortran_order': False, 'shape': ");
	put_tuple(&d, shape, ndim);
	zr_buf_adds(&d.text, ", }");
	if (ndim > 0)
		zr_buf_addf(&d.text, "%*s", GROWTH_DIGITS - (int)zr_u64_len(shape[0]),
		            "");
	return dict_wrap(&d, ret);
}

int zr_npy_leaf(const struct zr_array *a, const struct zr_column *leaf,
                struct zr_buf *ret)
{
	return put_header(a, leaf->type, leaf, ret);
}

int zr_npy_records(const struct zr_array *a, struct zr_buf *ret)
{
	return put_header(a, &a->type, NULL, ret);
}
