/* SPDX-License-Identifier: MIT */
/*
 * render_case.h - arrays for the tests of rendering: read from a file, or random
 *
 * The file data/render_cases.txt was made in Python by the reference model of a mount,
 * which shares nothing with this program: random types and records, and what the model
 * makes of them. A case is
 *
 *   case NDIM SHAPE... dims|nodims NAME...     ~ for a dimension without a name
 *   type KIND SIZE BIG UNIT SCALE              UNIT as enum zr_unit
 *      | struct N {NAME HIDDEN NDIM SHAPE... TYPE}...
 *   row RECORD                                 as stored, in C order
 *   text, jsonl, csv, bin, record FILE         whole files: of each leaf, each level, ...
 *   end
 *
 * Names, records and files are hexadecimal, - for nothing.
 */
#pragma once

#include "test.h"
#include "array.h"
#include "buf.h"
#include "layout.h"

#define RENDER_CASES "tests/unit/data/render_cases.txt"
#define CASE_MAX_FILES 64

struct render_case {
	struct zr_array a;
	struct zr_layout l;
	uint64_t n;            /* records */
	uint8_t *rec;          /* owned: n * a.type.size bytes, not one more */
	struct zr_buf stored;  /* rows as read */
	uint64_t row_len[512]; /* of each row */
	struct zr_buf text[CASE_MAX_FILES], json[CASE_MAX_FILES], bin[CASE_MAX_FILES];
	struct zr_buf csv, record;
	uint32_t ntext, njson, nbin;
};

/* ---- random ---- */

static inline uint64_t random_u64(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * UINT64_C(0x2545F4914F6CDD1D);
}

static inline uint64_t random_below(uint64_t *state, uint64_t n)
{
	return (random_u64(state) >> 16) % n;
}

/* ---- reading ---- */

static inline char *case_word(char **at)
{
	char *w = strsep(at, " \n");

	CHECK(w);
	return w;
}

static inline uint64_t case_number(char **at)
{
	return strtoull(case_word(at), NULL, 10);
}

/* Hexadecimal digits to bytes at the end of the buffer; returns how many. */
static inline size_t case_hex(const char *s, struct zr_buf *b)
{
	size_t n = strcmp(s, "-") == 0 ? 0 : strlen(s) / 2;

	CHECK(zr_buf_reserve(b, n + 1) == 0);
	for (size_t i = 0; i < n; i++) {
		unsigned int byte;

		CHECK(sscanf(s + 2 * i, "%2x", &byte) == 1);
		b->data[b->len + i] = (uint8_t)byte;
	}
	b->len += n;
	return n;
}

static inline void case_name(const char *s, char **ret, size_t *ret_len)
{
	struct zr_buf b = {0};

	*ret_len = case_hex(s, &b);
	b.data[b.len] = '\0';
	*ret = (char *)b.data;
}

static inline enum zr_kind case_kind(const char *s)
{
	static const char *const names[] = {
		"bool", "int",  "uint",  "float",  "complex", "utf32",  "chars",
		"raw",  "date", "delta", "struct", "string",  "vbytes", "json"};

	for (size_t i = 0; i < ZR_COUNT(names); i++)
		if (strcmp(s, names[i]) == 0)
			return (enum zr_kind)i;
	CHECK(!"a kind");
	return ZR_BOOL;
}

static inline void case_type(char **at, struct zr_type *t);

static inline void case_fields(char **at, struct zr_type *t)
{
	t->nfields = (uint32_t)case_number(at);
	t->fields = calloc(t->nfields, sizeof(*t->fields));
	CHECK(t->fields);
	for (uint32_t i = 0; i < t->nfields; i++) {
		struct zr_field *f = &t->fields[i];

		case_name(case_word(at), &f->name, &f->name_len);
		f->hidden = case_number(at);
		f->ndim = (uint32_t)case_number(at);
		f->shape = calloc(f->ndim + 1, sizeof(*f->shape));
		CHECK(f->shape);
		f->count = 1;
		for (uint32_t k = 0; k < f->ndim; k++) {
			f->shape[k] = case_number(at);
			f->count *= f->shape[k];
		}
		case_type(at, &f->type);
		f->offset = t->size;
		t->size += f->count * f->type.size;
	}
}

static inline void case_type(char **at, struct zr_type *t)
{
	uint64_t part;

	*t = (struct zr_type){.kind = case_kind(case_word(at))};
	if (t->kind == ZR_STRUCT) {
		case_fields(at, t);
		return;
	}
	t->size = case_number(at);
	t->big = case_number(at);
	t->unit = (enum zr_unit)case_number(at);
	t->scale = (uint32_t)case_number(at);
	t->bits = (uint8_t)(8 * t->size);
	part = t->kind == ZR_COMPLEX ? t->size / 2 : t->size;
	t->flt = part == 8 ? ZR_F64 : part == 4 ? ZR_F32 : ZR_F16;
	if (zr_type_is_variable(t))
		t->size = sizeof(struct zr_item);
}

static inline void case_head(char **at, struct render_case *c)
{
	struct zr_array *a = &c->a;

	a->ndim = (uint32_t)case_number(at);
	a->nrecords = 1;
	for (uint32_t i = 0; i < a->ndim; i++) {
		a->shape[i] = case_number(at);
		a->nrecords *= a->shape[i];
	}
	if (strcmp(case_word(at), "nodims") == 0)
		return;
	a->dims = calloc(a->ndim, sizeof(*a->dims));
	CHECK(a->dims);
	for (uint32_t i = 0; i < a->ndim; i++) {
		char *name = case_word(at);

		if (strcmp(name, "~") != 0)
			case_name(name, &a->dims[i].data, &a->dims[i].len);
	}
}

static inline void case_records(struct render_case *c)
{
	const uint8_t *from = c->stored.data;

	CHECK_INT(c->n, c->a.nrecords);
	c->rec = malloc(c->n * c->a.type.size + (c->a.type.size == 0));
	CHECK(c->rec);
	for (uint64_t i = 0; i < c->n; i++) {
		struct zr_item item = {from, c->row_len[i]};

		if (zr_type_is_variable(&c->a.type)) {
			memcpy(c->rec + i * sizeof(item), &item, sizeof(item));
		} else {
			CHECK_INT(c->row_len[i], c->a.type.size);
			if (c->a.type.size)
				memcpy(c->rec + i * c->a.type.size, from, item.len);
		}
		from += item.len;
	}
}

/* The next case of the file; false at its end. */
static inline bool case_read(FILE *f, struct render_case *c)
{
	ZR_CLEANUP(zr_freep) char *line = NULL;
	size_t cap = 0;

	memset(c, 0, sizeof(*c));
	while (getline(&line, &cap, f) > 0) {
		char *at = line, *what = case_word(&at);

		if (strcmp(what, "case") == 0)
			case_head(&at, c);
		else if (strcmp(what, "type") == 0)
			case_type(&at, &c->a.type);
		else if (strcmp(what, "row") == 0)
			c->row_len[c->n++] = case_hex(case_word(&at), &c->stored);
		else if (strcmp(what, "text") == 0)
			case_hex(case_word(&at), &c->text[c->ntext++]);
		else if (strcmp(what, "jsonl") == 0)
			case_hex(case_word(&at), &c->json[c->njson++]);
		else if (strcmp(what, "bin") == 0)
			case_hex(case_word(&at), &c->bin[c->nbin++]);
		else if (strcmp(what, "csv") == 0)
			case_hex(case_word(&at), &c->csv);
		else if (strcmp(what, "record") == 0)
			case_hex(case_word(&at), &c->record);
		else
			break;
	}
	if (c->n == 0)
		return false;
	case_records(c);
	CHECK_INT(zr_layout_build(&c->a.type, &c->l), 0);
	return true;
}

static inline void case_done(struct render_case *c)
{
	for (uint32_t i = 0; i < CASE_MAX_FILES; i++) {
		zr_buf_done(&c->text[i]);
		zr_buf_done(&c->json[i]);
		zr_buf_done(&c->bin[i]);
	}
	zr_buf_done(&c->csv);
	zr_buf_done(&c->record);
	zr_buf_done(&c->stored);
	for (uint32_t i = 0; c->a.dims && i < c->a.ndim; i++)
		free(c->a.dims[i].data);
	free(c->a.dims);
	free(c->rec);
	zr_layout_done(&c->l);
	zr_type_done(&c->a.type);
}

/* ---- making ---- */

static inline void case_random_scalar(uint64_t *state, struct zr_type *t)
{
	static const uint8_t widths[] = {2, 4, 8, 16, 32, 64};

	*t = (struct zr_type){.kind = (enum zr_kind)random_below(state, ZR_STRUCT),
	                      .big = random_below(state, 2),
	                      .size = 8};
	switch (t->kind) {
	case ZR_BOOL:
		t->size = 1;
		break;
	case ZR_INT:
	case ZR_UINT:
		t->bits = widths[random_below(state, 6)];
		t->size = t->bits < 8 ? 1 : t->bits / 8;
		break;
	case ZR_FLOAT:
	case ZR_COMPLEX:
		t->flt = (enum zr_float)random_below(state, ZR_F4_E2M1FN + 1);
		t->size = zr_float_size(t->flt) * (t->kind == ZR_COMPLEX ? 2 : 1);
		break;
	case ZR_UTF32:
		t->size = 4 * random_below(state, 40);
		break;
	case ZR_CHARS:
	case ZR_RAW:
		t->size = random_below(state, 40);
		break;
	default:
		t->unit = (enum zr_unit)random_below(state, ZR_AS + 1);
		t->scale = random_below(state, 3)
		                   ? 1
		                   : 1 + (uint32_t)random_below(state, 999);
		break;
	}
}

static inline void case_random_struct(uint64_t *state, struct zr_type *t, int depth)
{
	*t = (struct zr_type){.kind = ZR_STRUCT,
	                      .nfields = 1 + (uint32_t)random_below(state, 4)};
	t->fields = calloc(t->nfields, sizeof(*t->fields));
	CHECK(t->fields);
	for (uint32_t i = 0; i < t->nfields; i++) {
		struct zr_field *f = &t->fields[i];

		f->name = malloc(8);
		CHECK(f->name);
		f->name_len =
			(size_t)snprintf(f->name, 8, "%s%u", i % 2 ? "\"," : "f", i);
		f->ndim =
			random_below(state, 3) ? 0 : 1 + (uint32_t)random_below(state, 3);
		f->shape = calloc(4, sizeof(*f->shape));
		CHECK(f->shape);
		f->count = 1;
		for (uint32_t k = 0; k < f->ndim; k++) {
			f->shape[k] =
				random_below(state, 12) ? 1 + random_below(state, 3) : 0;
			f->count *= f->shape[k];
		}
		if (depth < 3 && random_below(state, 4) == 0)
			case_random_struct(state, &f->type, depth + 1);
		else
			case_random_scalar(state, &f->type);
		f->offset = t->size;
		t->size += f->count * f->type.size;
	}
}

/* Bytes that often are something: zeros, ASCII, the rest at random. */
static inline void case_random_bytes(uint64_t *state, uint8_t *p, uint64_t n)
{
	uint64_t mode = 0;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t r = random_u64(state);

		if (i % 16 == 0)
			mode = r >> 60;
		p[i] = (uint8_t)(mode < 5            ? 0
		                 : mode < 9 && i % 4 ? 0
		                 : mode < 13         ? 32 + (r >> 20) % 96
		                                     : r >> 40);
	}
}

/* Most arrays: part of each record is what it is in the first one, but for one of them.
 */
static inline void case_random_same(uint64_t *state, struct render_case *c)
{
	uint64_t size = c->a.type.size, odd = random_below(state, c->n);

	for (uint64_t part = random_below(state, 4); size > 0 && part > 0; part--) {
		uint64_t from = random_below(state, size);
		uint64_t len = 1 + random_below(state, size - from);

		for (uint64_t i = 1; i < c->n; i++)
			if (i != odd)
				memcpy(c->rec + i * size + from, c->rec + from, len);
	}
}

/* An array of random type, shape and content. */
static inline void case_random(uint64_t *state, struct render_case *c)
{
	struct zr_array *a = &c->a;

	memset(c, 0, sizeof(*c));
	if (random_below(state, 3))
		case_random_struct(state, &a->type, 0);
	else
		case_random_scalar(state, &a->type);
	a->ndim = (uint32_t)random_below(state, 4);
	a->nrecords = 1;
	for (uint32_t i = 0; i < a->ndim; i++) {
		a->shape[i] = 1 + random_below(state, i + 1 < a->ndim          ? 2
		                                      : random_below(state, 4) ? 9
		                                                               : 120);
		a->nrecords *= a->shape[i];
	}
	c->n = a->nrecords;
	c->rec = malloc(c->n * a->type.size + (a->type.size == 0));
	CHECK(c->rec);
	case_random_bytes(state, c->rec, c->n * a->type.size);
	case_random_same(state, c);
	CHECK_INT(zr_layout_build(&a->type, &c->l), 0);
}
