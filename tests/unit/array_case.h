/* SPDX-License-Identifier: MIT */
/*
 * array_case.h - arrays in a store in memory, and what their files must hold
 *
 * The content of a record follows from its number. An array is written chunk by chunk as
 * the specification says (Zarr v3 core; sharding codec v1.0), and every file is rendered
 * whole, record by record, with printf(): a view must give the same bytes.
 */
#pragma once

#include "fake_store.h"
#include "log.h"
#include "meta_doc.h"
#include "request.h"
#include "view.h"

#include <unistd.h>

#define CASE_DIMS 3
#define CASE_OBJECTS 256

enum cell_state { STORED, MISSING, DAMAGED };

/* What an array is like. */
struct case_spec {
	const char *shape, *chunks, *codecs; /* JSON, with ' for " */
	/* Of a cell, by its coordinates. */
	enum cell_state (*state)(const uint64_t at[CASE_DIMS]);
	size_t budget;     /* of the cache; 0: a mebibyte */
	unsigned int wait; /* size_wait; 0: a minute */
	bool missing_is_error;
	unsigned int files; /* what is rendered: bits, 1 << FILE_A ...; 0: all */
};

/* One file: the view, and its bytes. */
struct case_file {
	struct zr_view *view;
	struct zr_buf want;
	struct zr_buf bad; /* for each byte, whether it cannot be read */
};

/* a, s, p/q, records.jsonl, p/records.jsonl, records.csv; then .raw: a, records. */
enum {
	FILE_A,
	FILE_S,
	FILE_Q,
	FILE_JSON,
	FILE_P_JSON,
	FILE_CSV,
	FILE_RAW_A,
	FILE_RAW,
	CASE_FILES
};

struct array_case {
	const struct case_spec *spec;
	struct zr_meta meta;
	struct fake_object objects[CASE_OBJECTS];
	struct fake_store store;
	struct zr_cache *cache;
	struct zr_gate *gate;
	struct zr_queue *queue;
	struct zr_layout layout;
	struct zr_source source;
	struct zr_measure *measure;
	struct zr_sizes *sizes;
	struct case_file file[CASE_FILES];
};

/* --- records -----------------------------------------------------------------------
 */

#define CASE_TYPE                                                                        \
	"{'name':'struct','configuration':{'fields':["                                   \
	"{'name':'a','data_type':'int16'},"                                              \
	"{'name':'s','data_type':{'name':'null_terminated_bytes',"                       \
	"'configuration':{'length_bytes':5}}},"                                          \
	"{'name':'p','data_type':{'name':'struct','configuration':{'fields':["           \
	"{'name':'q','data_type':'uint8'}]}}}]}}"
#define CASE_FILL "{'a':-7,'s':'Zmls','p':{'q':99}}"
#define CASE_RECORD 8 /* bytes */

struct case_record {
	int a;
	char s[6];
	int q;
};

static struct case_record case_record(uint64_t number, bool fill)
{
	static const char letters[] = "xy\"z\tw";
	uint64_t h = (number + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 20;
	struct case_record r = {.a = h % 3 == 0 ? (int)(h % 10)
	                                        : (int)(h % 20001) - 10000,
	                        .q = (int)(h >> 9 & 255)};

	for (unsigned int i = 0; i < h % 6; i++)
		r.s[i] = letters[h >> (3 * i) & 3 ? (h >> (3 * i)) % 6 : 0];
	return fill ? (struct case_record){-7, "fil", 99} : r;
}

static void case_pack(const struct case_record *r, uint8_t out[CASE_RECORD])
{
	zr_store_uint(out, (uint64_t)(int64_t)r->a, 2, false);
	memcpy(out + 2, r->s, 5);
	out[7] = (uint8_t)r->q;
}

/* --- the store ---------------------------------------------------------------------
 */

/* Counts `at` up within `counts`, axis order[n - 1] fastest; false after the last. */
static bool case_next(uint64_t *at, const uint64_t *counts, const uint8_t *order,
                      uint32_t n)
{
	for (uint32_t i = n; i-- > 0;) {
		if (++at[order[i]] < counts[order[i]])
			return true;
		at[order[i]] = 0;
	}
	return false;
}

static uint64_t case_number(const struct zr_array *a, const uint64_t *index)
{
	uint64_t number = 0;

	for (uint32_t k = 0; k < a->ndim; k++)
		number = number * a->shape[k] + index[k];
	return number;
}

static enum cell_state case_state(const struct array_case *c, const uint64_t *index)
{
	uint64_t at[CASE_DIMS] = {0};

	for (uint32_t k = 0; k < c->meta.array->ndim; k++)
		at[k] = index[k] / zr_array_bottom(c->meta.array)->chunk[k];
	return c->spec->state ? c->spec->state(at) : STORED;
}

/* The records of the chunk that begins at `begin`, those outside the array too. */
static void case_put_records(const struct array_case *c, const uint64_t *begin,
                             struct zr_buf *out)
{
	const struct zr_array *a = c->meta.array;
	const struct zr_level *l = zr_array_bottom(a);
	uint64_t at[CASE_DIMS] = {0};

	do {
		uint64_t index[CASE_DIMS];
		uint8_t rec[CASE_RECORD];
		struct case_record r;
		bool inside = true;

		for (uint32_t k = 0; k < a->ndim; k++) {
			index[k] = begin[k] + at[k];
			inside = inside && index[k] < a->shape[k];
		}
		r = case_record(inside ? case_number(a, index) : 0, !inside);
		case_pack(&r, rec);
		zr_buf_add(out, rec, sizeof(rec));
	} while (case_next(at, l->chunk, l->axis, a->ndim));
	if (case_state(c, begin) == DAMAGED)
		out->len -= 1;
}

/* False: nothing of it is stored. */
static bool case_put_chunk(const struct array_case *c, uint32_t level,
                           const uint64_t *begin, struct zr_buf *out)
{
	const struct zr_array *a = c->meta.array;
	const struct zr_level *l = &a->levels[level];
	uint64_t at[CASE_DIMS] = {0}, counts[CASE_DIMS] = {0};
	ZR_CLEANUP(zr_buf_done) struct zr_buf index = {0};
	size_t start = out->len;
	bool any = false;

	if (level + 1 == a->nlevels) {
		if (case_state(c, begin) == MISSING)
			return false;
		case_put_records(c, begin, out);
		return true;
	}
	for (uint32_t k = 0; k < a->ndim; k++)
		counts[k] = l->chunk[k] / l[1].chunk[k];
	do {
		uint64_t inner[CASE_DIMS], pair[2] = {out->len - start, 0};
		bool inside = true, there;

		for (uint32_t k = 0; k < a->ndim; k++) {
			inner[k] = begin[k] + at[k] * l[1].chunk[k];
			inside = inside && inner[k] < a->shape[k];
		}
		there = inside && case_put_chunk(c, level + 1, inner, out);
		any = any || there;
		pair[1] = out->len - start - pair[0];
		if (!there)
			pair[0] = pair[1] = UINT64_MAX;
		for (int i = 0; i < 2; i++) {
			uint8_t bytes[8];

			zr_store_uint(bytes, pair[i], 8, l->index_big);
			zr_buf_add(&index, bytes, 8);
		}
	} while (case_next(at, counts, l->axis, a->ndim));
	zr_buf_add(out, index.data, index.len);
	return any;
}

static void case_store(struct array_case *c)
{
	const struct zr_array *a = c->meta.array;
	static const uint8_t order[CASE_DIMS] = {0, 1, 2};
	uint64_t at[CASE_DIMS] = {0}, counts[CASE_DIMS];

	if (a->nrecords == 0)
		return;
	for (uint32_t k = 0; k < a->ndim; k++)
		counts[k] =
			(a->shape[k] + a->levels[0].chunk[k] - 1) / a->levels[0].chunk[k];
	do {
		uint64_t begin[CASE_DIMS] = {0};
		struct zr_buf data = {0};
		char key[64] = "a/c";

		for (uint32_t k = 0; k < a->ndim; k++) {
			begin[k] = at[k] * a->levels[0].chunk[k];
			sprintf(key + strlen(key), "/%d", (int)at[k]);
		}
		if (!case_put_chunk(c, 0, begin, &data)) {
			zr_buf_done(&data);
			continue;
		}
		CHECK(c->store.count < CASE_OBJECTS);
		c->objects[c->store.count++] =
			(struct fake_object){strdup(key), data.data, data.len, 0};
	} while (case_next(at, counts, order, a->ndim));
}

/* --- the files ---------------------------------------------------------------------
 */

static void put_text(struct zr_buf *b, const char *s)
{
	for (; *s; s++)
		*s == '\t' ? zr_buf_adds(b, "\\t") : zr_buf_addc(b, *s);
}

static void put_json(struct zr_buf *b, const char *s)
{
	zr_buf_addc(b, '"');
	for (; *s; s++) {
		if (*s == '\t')
			zr_buf_adds(b, "\\t");
		else
			zr_buf_addf(b, *s == '"' ? "\\%c" : "%c", *s);
	}
	zr_buf_addc(b, '"');
}

static void put_csv(struct zr_buf *b, const char *s)
{
	bool quoted = strchr(s, '"') != NULL;

	if (quoted)
		zr_buf_addc(b, '"');
	for (; *s; s++)
		zr_buf_addf(b, *s == '"' ? "\"%c" : "%c", *s);
	if (quoted)
		zr_buf_addc(b, '"');
}

/* DESIGN 1: with two dimensions or more the index comes first. */
static void put_index(struct zr_buf *b, const uint64_t *index, uint32_t ndim)
{
	if (ndim < 2)
		return;
	zr_buf_adds(b, "\"_index\":[");
	for (uint32_t k = 0; k < ndim; k++)
		zr_buf_addf(b, k ? ",%d" : "%d", (int)index[k]);
	zr_buf_adds(b, "],");
}

static void put_line(struct zr_buf *b, int file, const struct case_record *r,
                     const uint64_t *index, uint32_t ndim)
{
	uint8_t rec[CASE_RECORD];

	case_pack(r, rec);
	switch (file) {
	case FILE_A:
		zr_buf_addf(b, "%d\n", r->a);
		break;
	case FILE_S:
		put_text(b, r->s);
		zr_buf_addc(b, '\n');
		break;
	case FILE_Q:
		zr_buf_addf(b, "%d\n", r->q);
		break;
	case FILE_JSON:
		zr_buf_addc(b, '{');
		put_index(b, index, ndim);
		zr_buf_addf(b, "\"a\":%d,\"s\":", r->a);
		put_json(b, r->s);
		zr_buf_addf(b, ",\"p\":{\"q\":%d}}\n", r->q);
		break;
	case FILE_P_JSON:
		zr_buf_addc(b, '{');
		put_index(b, index, ndim);
		zr_buf_addf(b, "\"q\":%d}\n", r->q);
		break;
	case FILE_CSV:
		for (uint32_t k = 0; ndim > 1 && k < ndim; k++)
			zr_buf_addf(b, "%d,", (int)index[k]);
		zr_buf_addf(b, "%d,", r->a);
		put_csv(b, r->s);
		zr_buf_addf(b, ",%d\n", r->q);
		break;
	case FILE_RAW_A:
		zr_buf_add(b, rec, 2);
		break;
	default:
		zr_buf_add(b, rec, sizeof(rec));
		break;
	}
}

/* The whole of a file. Each line of a damaged chunk is as long as the fill value's. */
static void case_render(struct array_case *c, int file)
{
	static const uint8_t order[CASE_DIMS] = {0, 1, 2};
	const struct zr_array *a = c->meta.array;
	uint64_t index[CASE_DIMS] = {0};
	struct case_file *f = &c->file[file];

	if (file == FILE_CSV) {
		for (uint32_t k = 0; a->ndim > 1 && k < a->ndim; k++)
			zr_buf_addf(&f->want, "_index.%d,", (int)k);
		zr_buf_adds(&f->want, "a,s,p.q\n");
	}
	for (size_t i = 0; i < f->want.len; i++)
		zr_buf_addc(&f->bad, 0);
	if (a->nrecords == 0)
		return;
	do {
		enum cell_state state = case_state(c, index);
		struct case_record r =
			case_record(case_number(a, index), state != STORED);
		bool bad = state == DAMAGED ||
		           (state == MISSING && c->spec->missing_is_error);

		put_line(&f->want, file, &r, index, a->ndim);
		while (f->bad.len < f->want.len)
			zr_buf_addc(&f->bad, bad);
	} while (case_next(index, a->shape, order, a->ndim));
}

/* --- set up ------------------------------------------------------------------------
 */

static void case_add(struct array_case *c, int file, const struct zr_column *column,
                     struct zr_line *own_line)
{
	struct zr_buf header = {0};

	if (file == FILE_CSV)
		CHECK_INT(zr_csv_header(c->meta.array, &c->layout, &header), 0);
	c->file[file].view = zr_view_new_text(&c->source, c->sizes, (uint32_t)file,
	                                      column, own_line, &header);
	CHECK(c->file[file].view);
}

static void case_add_views(struct array_case *c)
{
	const struct zr_render_opts o = {0};
	const struct zr_layout *l = &c->layout;
	const struct zr_array *a = c->meta.array;
	struct zr_buf none = {0};

	for (uint32_t i = 0; i < 3; i++)
		case_add(c, (int)i, &l->leaves[i], zr_line_new_text(l, i, &o));
	for (uint32_t i = 0; i < 2; i++)
		case_add(c, FILE_JSON + (int)i, &l->levels[i],
		         zr_line_new_json(a, l, i, &o));
	case_add(c, FILE_CSV, l->levels, zr_line_new_csv(a, l, &o));
	c->file[FILE_RAW_A].view =
		zr_view_new_bin(&c->source, l->leaves, zr_bin_new_leaf(l, 0), &none);
	c->file[FILE_RAW].view = zr_view_new_bin(&c->source, l->levels,
	                                         zr_bin_new_record(&a->type), &none);
}

/* All but the views' parts of the array: also for arrays of other types. */
static void case_open(struct array_case *c)
{
	const struct zr_render_opts o = {0};
	bool indexed[CASE_FILES] = {0};
	struct zr_array *a = c->meta.array;

	CHECK_STR(c->meta.why.text, "");
	c->cache = zr_cache_new(c->spec->budget ? c->spec->budget : 1 << 20);
	c->gate = zr_gate_new(2);
	c->queue = zr_queue_new();
	CHECK(c->cache && c->gate && c->queue);
	CHECK_INT(zr_layout_build(&a->type, &c->layout), 0);
	CHECK_INT(zr_source_init(&c->source, &c->store.base, "a", a, c->cache, c->gate, 1,
	                         c->spec->missing_is_error),
	          0);
	c->measure = zr_measure_new(a, &c->layout, &o);
	CHECK(c->measure);
	for (uint32_t i = c->layout.nleaves; i < zr_measure_files(c->measure); i++)
		indexed[i] =
			a->ndim > 1 && (c->layout.is_struct || i > c->layout.nleaves);
	c->sizes = zr_sizes_new(&c->source, c->measure, indexed, c->queue,
	                        c->spec->wait ? c->spec->wait : 60, NULL);
	CHECK(c->sizes);
}

static inline struct array_case *case_new(const struct case_spec *spec)
{
	struct array_case *c = calloc(1, sizeof(*c));

	CHECK(c);
	c->spec = spec;
	c->store = (struct fake_store){.base = {.ops = &fake_ops, .refs = 1},
	                               .objects = c->objects};
	c->meta = parse_v3((struct doc_v3){.shape = spec->shape,
	                                   .chunks = spec->chunks,
	                                   .codecs = spec->codecs,
	                                   .type = CASE_TYPE,
	                                   .fill = CASE_FILL});
	case_open(c);
	case_add_views(c);
	case_store(c);
	for (int i = 0; i < CASE_FILES; i++)
		if (spec->files == 0 || spec->files >> i & 1)
			case_render(c, i);
	return c;
}

static void case_free(struct array_case *c)
{
	zr_queue_free(c->queue);
	for (int i = 0; i < CASE_FILES; i++) {
		zr_view_free(c->file[i].view);
		zr_buf_done(&c->file[i].want);
		zr_buf_done(&c->file[i].bad);
	}
	zr_sizes_free(c->sizes);
	zr_measure_free(c->measure);
	zr_source_done(&c->source);
	zr_layout_done(&c->layout);
	zr_meta_done(&c->meta);
	zr_cache_free(c->cache);
	zr_gate_free(c->gate);
	for (size_t i = 0; i < c->store.count; i++) {
		free((char *)c->objects[i].key);
		free((void *)c->objects[i].data);
	}
	free(c);
}

/* --- asking ------------------------------------------------------------------------
 */

/* As an operation of the file system would: asks again for as long as it has to. */
static inline int case_read(struct zr_view *v, uint64_t offset, size_t len, uint8_t *out,
                            size_t *ret_len)
{
	struct zr_ticket ticket = {0};
	int r;

	while ((r = zr_view_read(v, offset, len, &ticket, NULL, out, ret_len)) ==
	       -EINPROGRESS)
		usleep(200);
	return r;
}

static inline int case_size(struct zr_view *v, uint64_t *ret)
{
	struct zr_ticket ticket = {0};
	int r;

	while ((r = zr_view_size(v, &ticket, ret)) == -EINPROGRESS)
		usleep(200);
	return r;
}
