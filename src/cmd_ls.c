/* SPDX-License-Identifier: MIT */
/*
 * A line for each node and field, or with --json one object for each node. Names are
 * those of the mount, so that they can be given to `cat`.
 */
#include "cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "engine.h"
#include "log.h"
#include "utf8.h"
#include "visit.h"

#define WRITE_AT ((size_t)64 << 10) /* bytes of output that are kept back */

struct ls {
	struct zr_engine *engine;
	bool json;
	struct zr_buf out;
	uint64_t nodes; /* shown so far */
	bool failed;    /* something could not be looked at */
};

/* How many of an array's objects are stored: *ret_count; false: that is not known. */
static bool count_stored(struct ls *l, struct zr_source *s, uint64_t *ret_count)
{
	const struct zr_present *p;

	if (zr_source_list(s, &p) < 0) {
		l->failed = true;
		return false;
	}
	*ret_count = p->count;
	return !p->all;
}

/* --- lines -----------------------------------------------------------------------------
 */

static void put_indent(struct ls *l, unsigned int depth)
{
	zr_buf_addf(&l->out, "%*s", (int)(2 * depth), "");
}

static void put_list(struct zr_buf *out, const uint64_t *v, uint32_t n)
{
	zr_buf_addc(out, '[');
	for (uint32_t i = 0; i < n; i++)
		zr_buf_addf(out, "%s%" PRIu64, i ? ", " : "", v[i]);
	zr_buf_addc(out, ']');
}

/* A name out of a store, as far as it can be shown. */
static void put_name(struct zr_buf *out, const char *name)
{
	size_t at = out->len;

	zr_buf_add(out, name, strlen(name) + 1);
	if (zr_buf_check(out) < 0)
		return;
	zr_utf8_clean((char *)out->data + at);
	out->len--;
}

/* [200, 4], or [time=200, channel=4] */
static void put_shape(struct zr_buf *out, const struct zr_array *a)
{
	zr_buf_addc(out, '[');
	for (uint32_t i = 0; i < a->ndim; i++) {
		zr_buf_adds(out, i ? ", " : "");
		if (a->dims && a->dims[i].data) {
			put_name(out, a->dims[i].data);
			zr_buf_addc(out, '=');
		}
		zr_buf_addf(out, "%" PRIu64, a->shape[i]);
	}
	zr_buf_addc(out, ']');
}

/* As the store's version of Zarr spells it, with what length and unit say. */
static void put_type(struct zr_buf *out, const struct zr_array *a,
                     const struct zr_type *t)
{
	struct zr_buf numpy = {0};
	const char *unit;

	if (t->kind != ZR_STRUCT && a->zarr_format == 2) {
		zr_type_numpy(t, t->big, out);
		return;
	}
	zr_buf_adds(out, zr_meta_type_name(t));
	if (t->kind == ZR_UTF32)
		zr_buf_addf(out, "(%" PRIu64 ")", t->size / 4);
	if (t->kind == ZR_CHARS || t->kind == ZR_RAW)
		zr_buf_addf(out, "(%" PRIu64 ")", t->size);
	if (t->kind == ZR_DATETIME || t->kind == ZR_TIMEDELTA) {
		zr_type_numpy(t, t->big, &numpy);
		zr_buf_addc(&numpy, '\0');
		unit = zr_buf_check(&numpy) == 0 ? strchr((char *)numpy.data, '[') : NULL;
		zr_buf_adds(out, unit ? unit : "");
		zr_buf_done(&numpy);
	}
}

/* The JSON list of names without what is not needed to read it:
 * [{"sharding_indexed": ["bytes", "zstd"]}] is sharding_indexed(bytes, zstd) */
static void put_codecs(struct zr_buf *out, const struct zr_buf *json)
{
	unsigned int depth = 0;

	for (size_t i = 0; i < json->len; i++) {
		char c = (char)json->data[i];

		if (c == '[' && depth++ > 0)
			zr_buf_addc(out, '(');
		else if (c == ']' && --depth > 0)
			zr_buf_addc(out, ')');
		else if (c == ':' && i + 1 < json->len)
			i++; /* and the blank behind it */
		else if (!strchr("[]{}\"", c))
			zr_buf_addc(out, c);
	}
}

static void put_chunks(struct ls *l, struct zr_source *s)
{
	const struct zr_array *a = s->array;
	uint64_t stored;

	if (count_stored(l, s, &stored))
		zr_buf_addf(&l->out, "%" PRIu64 "/", stored);
	else
		zr_buf_adds(&l->out, "?/");
	zr_buf_addf(&l->out, "%" PRIu64 " %s of ", s->grid.nobjects,
	            a->nlevels > 1 ? "shards" : "chunks");
	put_list(&l->out, a->levels[0].chunk, a->ndim);
	if (a->nlevels > 1) {
		zr_buf_adds(&l->out, " in chunks of ");
		put_list(&l->out, zr_array_bottom(a)->chunk, a->ndim);
	}
}

/* --- fields ----------------------------------------------------------------------------
 */

/* Characters, about what a terminal takes for them. */
static size_t width(const char *name)
{
	size_t n = 0;

	for (; *name; name++)
		n += (*name & 0xc0) != 0x80;
	return n;
}

static const struct zr_column *child_column(const struct zr_layout *l,
                                            const struct zr_child *c)
{
	if (c->entry < l->nlevels)
		return &l->levels[c->entry];
	return c->entry - l->nlevels < l->nleaves ? &l->leaves[c->entry - l->nlevels]
	                                          : NULL;
}

static void put_field(struct ls *l, struct zr_files *f, const struct zr_child *c,
                      const struct zr_column *col, size_t pad, unsigned int depth)
{
	const struct zr_layout *layout = zr_files_layout(f);
	uint32_t above = layout->levels[col->parent].naxes;

	put_indent(l, depth);
	zr_buf_addf(&l->out, "%s%s%*s  ", c->name, c->is_dir ? "/" : "",
	            (int)(pad - width(c->name) - c->is_dir), "");
	put_type(&l->out, zr_files_source(f)->array, col->type);
	for (uint32_t i = above; i < col->naxes; i++)
		zr_buf_addf(&l->out, "%s%" PRIu64 "%s", i == above ? " [" : ", ",
		            col->axes[i].count, i + 1 == col->naxes ? "]" : "");
	zr_buf_addc(&l->out, '\n');
}

/* What is in a struct; at most ZR_MAX_STRUCT_DEPTH deep. */
static int put_fields(struct ls *l, struct zr_files *f, uint32_t dir, unsigned int depth)
{
	const struct zr_layout *layout = zr_files_layout(f);
	const struct zr_column *col;
	struct zr_child c;
	size_t count, pad = 0;
	int r = zr_files_count(f, ZR_TREE_TEXT, dir, &count);

	for (size_t i = 0; r == 0 && i < count; i++) {
		r = zr_files_nth(f, ZR_TREE_TEXT, dir, i, &c);
		if (r == 0 && child_column(layout, &c))
			pad = ZR_MAX(pad, width(c.name) + c.is_dir);
	}
	for (size_t i = 0; r == 0 && i < count; i++) {
		r = zr_files_nth(f, ZR_TREE_TEXT, dir, i, &c);
		col = r == 0 ? child_column(layout, &c) : NULL;
		if (col)
			put_field(l, f, &c, col, pad, depth);
		if (col && c.is_dir)
			r = put_fields(l, f, c.entry, depth + 1);
	}
	return r;
}

static int put_array(struct ls *l, const struct zr_step *s)
{
	struct zr_source *src = zr_files_source(s->files);

	zr_buf_adds(&l->out, "  ");
	put_type(&l->out, src->array, &src->array->type);
	zr_buf_addc(&l->out, ' ');
	put_shape(&l->out, src->array);
	zr_buf_adds(&l->out, "  ");
	put_chunks(l, src);
	if (zr_files_codecs(s->files)->len > strlen("[]"))
		zr_buf_adds(&l->out, "  ");
	put_codecs(&l->out, zr_files_codecs(s->files));
	zr_buf_addc(&l->out, '\n');
	return src->array->type.kind == ZR_STRUCT
	               ? put_fields(l, s->files, 0, s->depth + 1)
	               : 0;
}

static int put_node(struct ls *l, const struct zr_step *s)
{
	put_indent(l, s->depth);
	zr_buf_addf(&l->out, "%s/", s->depth == 0 ? s->path : s->name);
	if (s->error == 0 && zr_files_source(s->files))
		return put_array(l, s);
	if (s->error < 0)
		zr_buf_addf(&l->out, "  cannot be listed: %s", strerror(-s->error));
	else if (zr_files_why(s->files))
		zr_buf_addf(&l->out, "  unreadable: %s", zr_files_why(s->files));
	zr_buf_addc(&l->out, '\n');
	return 0;
}

/* --- JSON ------------------------------------------------------------------------------
 */

/* File names and our own lines: UTF-8 without control characters. */
static void put_string(struct zr_buf *out, const char *s)
{
	zr_buf_addc(out, '"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			zr_buf_addc(out, '\\');
		zr_buf_addc(out, *s);
	}
	zr_buf_addc(out, '"');
}

/* schema.json without its line feed. */
static int put_schema(struct zr_buf *out, struct zr_files *f)
{
	struct zr_ticket ticket = {0};
	struct zr_view *view;
	uint64_t size;
	size_t len;
	int r = zr_files_view(f, ZR_TREE_ZARR, ZR_ENTRY_DOC + ZR_DOC_SCHEMA, &view);

	if (r == 0)
		r = zr_view_size(view, &ticket, &size);
	if (r == 0)
		r = zr_buf_reserve(out, (size_t)size);
	if (r == 0)
		r = zr_view_read(view, 0, (size_t)size, &ticket, NULL,
		                 out->data + out->len, &len);
	if (r == 0)
		out->len += len - 1;
	return r;
}

static int put_array_json(struct ls *l, const struct zr_step *s)
{
	struct zr_source *src = zr_files_source(s->files);
	uint64_t stored;

	zr_buf_adds(&l->out, "\"array\", \"stored\": ");
	if (count_stored(l, src, &stored))
		zr_buf_addf(&l->out, "%" PRIu64, stored);
	else
		zr_buf_adds(&l->out, "null");
	zr_buf_addf(&l->out,
	            ", \"total\": %" PRIu64 ", \"schema\": ", src->grid.nobjects);
	return put_schema(&l->out, s->files);
}

static int put_node_json(struct ls *l, const struct zr_step *s)
{
	const char *why = s->error < 0 ? strerror(-s->error) : zr_files_why(s->files);
	int r = 0;

	zr_buf_adds(&l->out, l->nodes > 0 ? ",\n{\"path\": " : "{\"path\": ");
	put_string(&l->out, s->path);
	zr_buf_adds(&l->out, ", \"kind\": ");
	if (why) {
		zr_buf_adds(&l->out, "\"unreadable\", \"why\": ");
		put_string(&l->out, why);
	} else if (zr_files_source(s->files)) {
		r = put_array_json(l, s);
	} else {
		zr_buf_adds(&l->out, "\"group\"");
	}
	zr_buf_addc(&l->out, '}');
	return r;
}

/* --- all of it -------------------------------------------------------------------------
 */

static int ls_flush(struct ls *l)
{
	int r = zr_buf_check(&l->out);

	if (r == 0)
		r = zr_cmd_write(STDOUT_FILENO, l->out.data, l->out.len);
	l->out.len = 0;
	return r;
}

static int ls_run(struct ls *l, const char *path, struct zr_err *reterr)
{
	ZR_CLEANUP(zr_visit_freep) struct zr_visit *visit = NULL;
	struct zr_place from;
	struct zr_step s;
	int r = zr_cmd_find(l->engine, path, &from, reterr);

	if (r < 0)
		return r;
	visit = zr_visit_new(l->engine->tree, &from, path);
	r = visit ? 1 : -ENOMEM;
	zr_buf_adds(&l->out, l->json ? "[\n" : "");
	while (r > 0) {
		r = zr_visit_next(visit, &s);
		if (r <= 0)
			break;
		l->failed |= s.error < 0;
		r = l->json ? put_node_json(l, &s) : put_node(l, &s);
		if (r < 0)
			break;
		l->nodes++;
		r = l->out.len < WRITE_AT ? 0 : ls_flush(l);
		if (r < 0)
			return r;
		r = 1;
	}
	if (r < 0)
		return zr_err_set(reterr, r, "%s", strerror(-r));
	zr_buf_adds(&l->out, l->json ? "\n]\n" : "");
	return ls_flush(l);
}

int zr_cmd_ls(const struct zr_opts *o)
{
	ZR_CLEANUP(zr_engine_freep) struct zr_engine *e = NULL;
	struct ls l = {.json = o->json};
	struct zr_err err = {0};
	int r;

	/* That an array cannot be shown stands in the list. */
	zr_log_set_level(ZR_LOG_ERROR);
	r = zr_engine_open(o, &e, &err);
	l.engine = e;
	if (r == 0)
		r = ls_run(&l, o->npaths ? o->paths[0] : "", &err);
	zr_buf_done(&l.out);
	if (r == 0)
		return l.failed ? EXIT_FAILURE : EXIT_SUCCESS;
	return err.code ? zr_cmd_complain(&err) : zr_cmd_unwritten(r);
}
