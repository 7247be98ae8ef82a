/* SPDX-License-Identifier: MIT */
#include "schema.h"

#include <errno.h>
#include <inttypes.h>

#include "names.h"
#include "utf8.h"

#define MAX_FILL ((uint64_t)1 << 20) /* bytes of text of a fill value that is given */

/* --- strings ---------------------------------------------------------------------------
 */

static void put_char(struct zr_buf *b, const uint8_t *p, unsigned int n, uint32_t cp)
{
	static const char short_form[] = "btn\0fr"; /* of U+0008 to U+000D */

	if (cp == '"' || cp == '\\')
		zr_buf_addf(b, "\\%c", (char)cp);
	else if (cp >= '\b' && cp <= '\r' && cp != '\v')
		zr_buf_addf(b, "\\%c", short_form[cp - '\b']);
	else if (zr_is_control(cp) || !zr_is_scalar(cp))
		zr_buf_addf(b, "\\u%04" PRIx32, cp);
	else
		zr_buf_add(b, p, n);
}

/* A name out of JSON. */
static void put_name(struct zr_buf *b, const char *name, size_t len)
{
	const uint8_t *p = (const uint8_t *)name;
	unsigned int n;
	uint32_t cp;

	zr_buf_addc(b, '"');
	for (size_t at = 0; at < len; at += n) {
		n = zr_utf8_decode_name(p + at, len - at, &cp);
		put_char(b, p + at, n, cp);
	}
	zr_buf_addc(b, '"');
}

/* A key of the store: any bytes, those of surrogates one by one. */
static void put_path(struct zr_buf *b, const char *path)
{
	const uint8_t *p = (const uint8_t *)path;
	size_t len = strlen(path);
	unsigned int n;
	uint32_t cp;

	zr_buf_addc(b, '"');
	for (size_t at = 0; at < len; at += n) {
		n = zr_utf8_decode(p + at, len - at, &cp);
		if (n == 0) {
			n = 1;
			cp = 0xdc00u + p[at];
		}
		put_char(b, p + at, n, cp);
	}
	zr_buf_addc(b, '"');
}

static void put_list(struct zr_buf *b, const uint64_t *v, uint32_t n)
{
	zr_buf_addc(b, '[');
	for (uint32_t i = 0; i < n; i++)
		zr_buf_addf(b, "%s%" PRIu64, i ? ", " : "", v[i]);
	zr_buf_addc(b, ']');
}

/* --- fields ----------------------------------------------------------------------------
 */

struct writer {
	struct zr_buf *b;
	int zarr_format;
};

static void put_order(struct writer *w, const struct zr_type *t)
{
	if (t->kind != ZR_STRUCT && zr_type_swap_unit(t) > 1)
		zr_buf_addf(w->b, ", \"byte_order\": \"%s\"", t->big ? "big" : "little");
}

static void put_unit(struct writer *w, const struct zr_type *t)
{
	static const char *const units[] = {
		[ZR_GENERIC] = "generic", [ZR_YEAR] = "Y",   [ZR_MONTH] = "M",
		[ZR_WEEK] = "W",          [ZR_DAY] = "D",    [ZR_HOUR] = "h",
		[ZR_MINUTE] = "m",        [ZR_SECOND] = "s", [ZR_MS] = "ms",
		[ZR_US] = "us",           [ZR_NS] = "ns",    [ZR_PS] = "ps",
		[ZR_FS] = "fs",           [ZR_AS] = "as",
	};

	if (t->kind == ZR_DATETIME || t->kind == ZR_TIMEDELTA)
		zr_buf_addf(w->b, ", \"unit\": \"%s\", \"scale\": %" PRIu32,
		            units[t->unit], t->scale);
}

static void put_type(struct writer *w, const struct zr_type *t)
{
	zr_buf_adds(w->b, ", \"type\": \"");
	if (t->kind != ZR_STRUCT && w->zarr_format == 2)
		zr_type_numpy(t, t->big, w->b);
	else
		zr_buf_adds(w->b, zr_meta_type_name(t));
	zr_buf_addc(w->b, '"');
	if (t->kind == ZR_LIST) {
		zr_buf_adds(w->b, ", \"items\": \"");
		zr_type_numpy(&t->fields[0].type, t->fields[0].type.big, w->b);
		zr_buf_addc(w->b, '"');
	}
}

/* What is said of a field behind its name, up to its own fields. */
static void put_facts(struct writer *w, const struct zr_type *t, uint64_t offset,
                      const struct zr_field *f)
{
	put_type(w, t);
	if (!zr_type_is_variable(t))
		zr_buf_addf(w->b, ", \"offset\": %" PRIu64 ", \"size\": %" PRIu64, offset,
		            t->size);
	if (f && f->ndim > 0) {
		zr_buf_adds(w->b, ", \"shape\": ");
		put_list(w->b, f->shape, f->ndim);
	}
	put_order(w, t);
	put_unit(w, t);
}

/* Names of over 251 bytes are cut elsewhere in .npy. */
static void put_npy_name(struct writer *w, const struct zr_field *f, const char *file)
{
	char npy[ZR_NAME_MAX + 1];
	size_t len = zr_name_escape(f->name, f->name_len, ZR_NAME_NPY, npy);

	if (len == strlen(file) + 4 && strncmp(npy, file, len - 4) == 0)
		return;
	zr_buf_adds(w->b, ", \"npy\": ");
	put_name(w->b, npy, len);
}

static void put_indent(struct writer *w, unsigned int depth)
{
	zr_buf_addf(w->b, "\n%*s", (int)(2 * depth), "");
}

static void put_fields(struct writer *w, const struct zr_type *t, uint64_t offset,
                       unsigned int depth);

static void put_field(struct writer *w, const struct zr_field *f, uint64_t offset,
                      unsigned int depth)
{
	bool nested = f->type.kind == ZR_STRUCT;
	char file[ZR_NAME_MAX + 1];
	size_t len = zr_name_escape(f->name, f->name_len,
	                            nested ? ZR_NAME_NESTED : ZR_NAME_PLAIN, file);

	put_indent(w, depth);
	put_name(w->b, file, len);
	zr_buf_adds(w->b, ": {\"name\": ");
	put_name(w->b, f->name, f->name_len);
	if (!nested)
		put_npy_name(w, f, file);
	put_facts(w, &f->type, offset, f);
	if (nested) {
		zr_buf_adds(w->b, ", \"fields\": {");
		put_fields(w, &f->type, offset, depth + 1);
		zr_buf_addc(w->b, '}');
	}
	zr_buf_addc(w->b, '}');
}

/* At most ZR_MAX_STRUCT_DEPTH deep. */
static void put_fields(struct writer *w, const struct zr_type *t, uint64_t offset,
                       unsigned int depth)
{
	bool any = false;

	for (uint32_t i = 0; i < t->nfields && w->b->len <= ZR_MAX_METADATA; i++) {
		if (t->fields[i].hidden)
			continue;
		if (any)
			zr_buf_addc(w->b, ',');
		any = true;
		put_field(w, &t->fields[i], offset + t->fields[i].offset, depth);
	}
	if (any)
		put_indent(w, depth - 1);
}

static void put_all_fields(struct writer *w, const struct zr_type *t)
{
	zr_buf_adds(w->b, ",\n  \"fields\": {");
	if (t->kind == ZR_STRUCT) {
		put_fields(w, t, 0, 2);
	} else {
		zr_buf_adds(w->b, "\n    \"values\": {\"name\": null");
		put_facts(w, t, 0, NULL);
		zr_buf_adds(w->b, "}\n  ");
	}
	zr_buf_addc(w->b, '}');
}

/* --- the array -------------------------------------------------------------------------
 */

static void put_dims(struct zr_buf *b, const struct zr_array *a)
{
	zr_buf_adds(b, ",\n  \"dimension_names\": [");
	for (uint32_t i = 0; i < a->ndim; i++) {
		zr_buf_adds(b, i ? ", " : "");
		if (a->dims[i].data)
			put_name(b, a->dims[i].data, a->dims[i].len);
		else
			zr_buf_adds(b, "null");
	}
	zr_buf_addc(b, ']');
}

/* The line of records.jsonl, without LF and indices. */
static int put_fill(struct zr_buf *b, const struct zr_array *a, const struct zr_layout *l,
                    const struct zr_render_opts *o)
{
	struct zr_array scalar = *a; /* whose lines have no indices */
	struct zr_line *line;
	uint64_t len;

	scalar.ndim = 0;
	line = zr_line_new_json(&scalar, l, 0, o);
	if (!line)
		return -ENOMEM;
	len = zr_line_len(line, a->fill);
	if (len <= MAX_FILL) {
		zr_buf_adds(b, ",\n  \"fill_value\": ");
		if (zr_buf_reserve(b, len + ZR_LINE_SPARE) == 0) {
			zr_line_put_one(line, a->fill, NULL, (char *)b->data + b->len);
			b->len += len - 1;
		}
	}
	zr_line_free(line);
	return 0;
}

static void put_shapes(struct zr_buf *b, const struct zr_array *a)
{
	zr_buf_adds(b, ",\n  \"shape\": ");
	put_list(b, a->shape, a->ndim);
	zr_buf_adds(b, ",\n  \"chunk_shape\": ");
	put_list(b, zr_array_bottom(a)->chunk, a->ndim);
	if (a->nlevels > 1) {
		zr_buf_adds(b, ",\n  \"shard_shape\": ");
		put_list(b, a->levels[0].chunk, a->ndim);
	}
	if (a->dims)
		put_dims(b, a);
}

int zr_schema(const char *path, const struct zr_meta *m, const struct zr_layout *l,
              const struct zr_render_opts *o, struct zr_buf *ret)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf b = {0};
	const struct zr_array *a = m->array;
	struct writer w = {.b = &b, .zarr_format = a->zarr_format};
	int r;

	zr_buf_adds(&b, "{\n  \"path\": ");
	put_path(&b, path);
	zr_buf_addf(&b, ",\n  \"zarr_format\": %d", a->zarr_format);
	put_shapes(&b, a);
	zr_buf_adds(&b, ",\n  \"codecs\": ");
	zr_buf_add(&b, m->codecs.data, m->codecs.len);
	r = put_fill(&b, a, l, o);
	if (r < 0)
		return r;
	if (!zr_type_is_variable(&a->type))
		zr_buf_addf(&b, ",\n  \"record_size\": %" PRIu64, a->type.size);
	put_all_fields(&w, &a->type);
	zr_buf_adds(&b, "\n}\n");
	if (b.len > ZR_MAX_METADATA)
		return -EFBIG;
	if (zr_buf_check(&b) < 0)
		return -ENOMEM;
	*ret = b;
	b = (struct zr_buf){0};
	return 0;
}
