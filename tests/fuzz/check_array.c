/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <errno.h>
#include <string.h>

#include "bounds.h"
#include "grid.h"
#include "json.h"
#include "test.h"
#include "utf8.h"

void check_clean(const void *text, size_t len, const char *allowed)
{
	const uint8_t *p = text;

	for (size_t at = 0; at < len;) {
		uint32_t cp;
		unsigned int n = zr_utf8_decode(p + at, len - at, &cp);

		CHECK(n > 0);
		CHECK(!zr_is_control(cp) ||
		      (cp != 0 && cp < 0x80 && strchr(allowed, (int)cp)));
		at += n;
	}
}

void check_err(const struct zr_err *e, int code)
{
	CHECK(code < 0);
	CHECK_INT(e->code, code);
	CHECK(e->text[0]);
	check_clean(e->text, strlen(e->text), "");
}

void check_file_name(const char *name)
{
	size_t len = strlen(name);

	CHECK(len > 0 && len <= 255);
	CHECK(!strchr(name, '/') && name[0] != '.' && name[0] != '-');
	check_clean(name, len, "");
}

/* --- types -------------------------------------------------------------------------- */

static void check_type(const struct zr_type *t, unsigned int depth, uint32_t *fields)
{
	uint64_t size = 0;

	CHECK(depth <= ZR_MAX_STRUCT_DEPTH);
	CHECK(t->size <= ZR_MAX_RECORD);
	if (t->kind != ZR_STRUCT) {
		CHECK(t->nfields == (t->kind == ZR_LIST ? 1 : 0));
		CHECK(!zr_type_is_variable(t) || depth == 0);
		return;
	}
	CHECK(t->nfields > 0);
	for (uint32_t i = 0; i < t->nfields; i++) {
		const struct zr_field *f = &t->fields[i];
		unsigned __int128 count = 1;

		CHECK(++*fields <= ZR_MAX_FIELDS);
		CHECK(f->ndim <= ZR_MAX_DIMS);
		for (uint32_t k = 0; k < f->ndim; k++)
			count = f->shape[k] == 0 ? 0 : count * f->shape[k];
		CHECK(f->count == count);
		CHECK(f->offset == size);
		size += f->count * f->type.size;
		check_type(&f->type, depth + 1, fields);
	}
	CHECK(t->size == size);
}

/* --- chunks ------------------------------------------------------------------------- */

static void check_level(const struct zr_array *a, uint32_t i)
{
	const struct zr_level *l = &a->levels[i];
	bool seen[ZR_MAX_DIMS] = {0};
	uint64_t pairs = 1;

	CHECK(l->codecs && zr_codecs_count(l->codecs) <= ZR_MAX_CODECS);
	for (uint32_t k = 0; k < a->ndim; k++) {
		CHECK(l->chunk[k] >= 1);
		CHECK(l->axis[k] < a->ndim && !seen[l->axis[k]]);
		seen[l->axis[k]] = true;
	}
	if (i + 1 == a->nlevels)
		return;
	for (uint32_t k = 0; k < a->ndim; k++) {
		CHECK(l->chunk[k] % l[1].chunk[k] == 0);
		CHECK(zr_mul(pairs, l->chunk[k] / l[1].chunk[k], &pairs));
	}
	CHECK(l->index_codecs && zr_codecs_count(l->index_codecs) <= ZR_MAX_CODECS);
	CHECK(l->index_size >= 16 * pairs && l->index_size <= ZR_MAX_SHARD_INDEX);
}

static void check_box(const struct zr_grid *g, const struct zr_box *box,
                      const uint64_t *index)
{
	for (uint32_t k = 0; k < g->ndim; k++) {
		CHECK(box->extent[k] >= 1);
		CHECK(box->start[k] + box->extent[k] <= g->shape[k]);
		CHECK(index[k] >= box->start[k]);
		CHECK(index[k] < box->start[k] + box->extent[k]);
	}
}

static void check_grid_record(const struct zr_array *a, const struct zr_grid *g,
                              uint64_t record)
{
	uint64_t index[ZR_MAX_DIMS], at[ZR_MAX_DIMS];
	char key[ZR_KEY_MAX];
	struct zr_run run;
	struct zr_box box;

	zr_grid_index(g, record, index);
	CHECK(zr_grid_record(g, index) == record);
	zr_grid_run(g, record, &run);
	CHECK(run.count >= 1 && run.count <= g->nrecords - record);
	CHECK(run.first + (run.count - 1) * run.step < g->cell_records);
	CHECK(run.object < g->nobjects);
	CHECK(memcmp(run.index, index, g->ndim * sizeof(*index)) == 0);
	zr_grid_cell_box(g, run.cell, &box);
	check_box(g, &box, index);
	zr_grid_object_box(g, run.object, &box);
	check_box(g, &box, index);
	zr_grid_object_at(g, run.object, at);
	CHECK(zr_grid_object(g, at) == run.object);
	zr_grid_key(a, at, a->separator, key);
	CHECK(strlen(key) < ZR_KEY_MAX);
	CHECK(zr_grid_digits_before(g, record) <= ZR_MAX_FILE);
	CHECK(zr_grid_digits_before(g, record) <= zr_grid_digits_before(g, g->nrecords));
}

static void check_grid(const struct zr_array *a)
{
	struct zr_grid g;

	zr_grid_init(&g, a);
	CHECK(g.nrecords == a->nrecords);
	CHECK(g.cell_records * a->type.size <= ZR_MAX_CHUNK);
	if (a->nrecords == 0) {
		CHECK(g.nobjects == 0);
		return;
	}
	for (uint64_t i = 0; i <= 7; i++)
		check_grid_record(a, &g, (a->nrecords - 1) / 7 * i);
	check_grid_record(a, &g, a->nrecords - 1);
}

void check_array(const struct zr_array *a)
{
	unsigned __int128 n = 1;
	uint32_t fields = 0;

	CHECK(a->ndim <= ZR_MAX_DIMS);
	for (uint32_t k = 0; k < a->ndim; k++)
		n = a->shape[k] == 0 ? 0 : n * a->shape[k];
	CHECK(a->nrecords == n && n <= ZR_MAX_RECORDS);
	CHECK(a->type.size > 0);
	check_type(&a->type, 0, &fields);
	CHECK(a->fill);
	CHECK(a->separator == '/' || a->separator == '.');
	CHECK(a->nlevels >= 1 && a->nlevels <= 1 + ZR_MAX_SHARD_DEPTH);
	for (uint32_t i = 0; i < a->nlevels; i++)
		check_level(a, i);
	check_grid(a);
}

/* --- documents ---------------------------------------------------------------------- */

void check_meta(const struct zr_meta *m)
{
	if (m->has_attributes)
		CHECK_INT(zr_json_check((const char *)m->attributes.data,
		                        m->attributes.len, NULL),
		          0);
	if (m->why.code) {
		check_err(&m->why, m->why.code);
		CHECK(!m->array);
		return;
	}
	CHECK((m->kind == ZR_NODE_ARRAY) == (m->array != NULL));
	if (!m->array)
		return;
	CHECK_INT(zr_json_check((const char *)m->codecs.data, m->codecs.len, NULL), 0);
	check_array(m->array);
}

void check_same_meta(const struct zr_meta *a, const struct zr_meta *b)
{
	CHECK_INT(a->why.code, b->why.code);
	CHECK_STR(a->why.text, b->why.text);
	CHECK_INT(a->kind, b->kind);
	CHECK_INT(a->attributes.len, b->attributes.len);
	if (a->attributes.len > 0)
		CHECK(memcmp(a->attributes.data, b->attributes.data, a->attributes.len) ==
		      0);
	if (!a->array)
		return;
	CHECK_INT(a->array->ndim, b->array->ndim);
	CHECK(a->array->nrecords == b->array->nrecords);
	CHECK(a->array->type.size == b->array->type.size);
	if (!zr_type_is_variable(&a->array->type))
		CHECK(memcmp(a->array->fill, b->array->fill, a->array->type.size) == 0);
}
