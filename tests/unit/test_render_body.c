/* SPDX-License-Identifier: MIT */
/* Blocks of records: the same lines as one by one. */
#include "render_case.h"
#include "render.h"

#define FIELDS 150
#define RECORDS 300

static const struct zr_render_opts opts = {.nonfinite = ZR_NONFINITE_NULL};

/* A struct of n fields, of which nothing is known yet. */
static struct zr_type *struct_of(struct render_case *c, uint32_t n)
{
	memset(c, 0, sizeof(*c));
	c->a.type = (struct zr_type){.kind = ZR_STRUCT, .nfields = n};
	c->a.type.fields = calloc(n, sizeof(*c->a.type.fields));
	CHECK(c->a.type.fields);
	return &c->a.type;
}

/* RECORDS of them, zeros. */
static void make_records(struct render_case *c)
{
	c->n = c->a.nrecords = RECORDS;
	c->rec = calloc(RECORDS, c->a.type.size);
	CHECK(c->rec);
	CHECK_INT(zr_layout_build(&c->a.type, &c->l), 0);
}

/* A struct of FIELDS integers of 16 bits, some of them in pairs or in none. */
static void wide_array(struct render_case *c, uint32_t ndim)
{
	struct zr_type *t = struct_of(c, FIELDS);

	for (uint32_t i = 0; i < FIELDS; i++) {
		struct zr_field *f = &t->fields[i];

		f->name = malloc(8);
		f->shape = calloc(1, sizeof(*f->shape));
		CHECK(f->name && f->shape);
		f->name_len = (size_t)snprintf(f->name, 8, "f%u", i);
		f->ndim = i % 5 == 2;
		f->count = f->ndim ? i % 3 : 1;
		f->shape[0] = f->count;
		f->type = (struct zr_type){.kind = ZR_INT, .size = 2, .bits = 16};
		f->offset = t->size;
		t->size += f->count * f->type.size;
	}
	c->a.ndim = ndim;
	c->a.shape[0] = ndim == 2 ? 1 : RECORDS;
	c->a.shape[1] = RECORDS;
	make_records(c);
}

/* The last element of a field in the k-th record. */
static void set_last(struct render_case *c, uint32_t field, uint64_t k, uint64_t v)
{
	const struct zr_field *f = &c->a.type.fields[field];

	memcpy(c->rec + k * c->a.type.size + f->offset + 2 * (f->count - 1), &v, 2);
}

/* The first `odd` fields that are not empty change from record to record, by so much that
 * they get longer and shorter; of the others, some change every now and then. */
static void fill(struct render_case *c, uint64_t *state, uint32_t odd)
{
	memset(c->rec, 0, RECORDS * c->a.type.size);
	for (uint32_t i = 0; i < FIELDS; i++) {
		uint64_t v = 0, often = odd > 0 ? 1 : i % 3 ? RECORDS : 20 + i;

		if (c->a.type.fields[i].count == 0)
			continue;
		for (uint64_t k = 0; k < RECORDS; k++) {
			if (k % often == 0)
				v = random_u64(state) >> (40 + v % 24);
			set_last(c, i, k, v);
		}
		odd -= odd > 0;
	}
}

static void check_line(struct zr_line *own_line, const struct render_case *c)
{
	uint64_t index[ZR_MAX_DIMS] = {0}, size = c->a.type.size;
	size_t room = RECORDS * zr_line_max(own_line) + ZR_LINE_SPARE;
	char *want = malloc(room), *got = malloc(room), *w = want, *g = got;
	uint32_t last = c->a.ndim - 1;

	CHECK(want && got);
	for (; index[last] < RECORDS; index[last]++)
		w = zr_line_put_one(own_line, c->rec + index[last] * size, index, w);
	/* In two runs: the second one has a block that is not full. */
	index[last] = 0;
	CHECK_INT(zr_line_put_run(own_line, c->rec, size, 140, index, &g, got + room),
	          140);
	index[last] = 140;
	CHECK_INT(zr_line_put_run(own_line, c->rec + 140 * size, size, RECORDS - 140,
	                          index, &g, got + room),
	          RECORDS - 140);
	CHECK_MEM(got, (size_t)(g - got), want, (size_t)(w - want));
	free(want);
	free(got);
	zr_line_free(own_line);
}

/* None, some, and all of the fields change, and as many as there are steps for. */
static void blocks_are_their_lines(void)
{
	static const uint32_t odd[] = {0, 1, 3, 40, 95, 96, 97, 98, FIELDS};
	uint64_t state = 30;

	for (uint32_t ndim = 1; ndim <= 2; ndim++) {
		struct render_case c;

		wide_array(&c, ndim);
		for (size_t i = 0; i < ZR_COUNT(odd); i++) {
			fill(&c, &state, odd[i]);
			check_line(zr_line_new_json(&c.a, &c.l, 0, &opts), &c);
			check_line(zr_line_new_csv(&c.a, &c.l, &opts), &c);
		}
		case_done(&c);
	}
}

/* A struct of a field of each of these types. */
static void array_of(struct render_case *c, const struct zr_type *types, uint32_t n)
{
	struct zr_type *t = struct_of(c, n);

	for (uint32_t i = 0; i < n; i++) {
		struct zr_field *f = &t->fields[i];

		f->name = malloc(8);
		CHECK(f->name);
		f->name_len = (size_t)snprintf(f->name, 8, "f%u", i);
		f->count = 1;
		f->type = types[i];
		f->offset = t->size;
		t->size += f->type.size;
	}
	c->a.ndim = 1;
	c->a.shape[0] = RECORDS;
	make_records(c);
}

/* Text that fits a slot with nothing to spare, and that does not. */
static const struct zr_type scalars[] = {
	{.kind = ZR_BOOL, .size = 1},
	{.kind = ZR_INT, .size = 1, .bits = 8},
	{.kind = ZR_UINT, .size = 2, .bits = 16, .big = true},
	{.kind = ZR_INT, .size = 4, .bits = 32},
	{.kind = ZR_UINT, .size = 8, .bits = 64},
	{.kind = ZR_INT, .size = 8, .bits = 64, .big = true},
	{.kind = ZR_FLOAT, .flt = ZR_F16, .size = 2},
	{.kind = ZR_FLOAT, .flt = ZR_F32, .size = 4},
	{.kind = ZR_FLOAT, .flt = ZR_F64, .size = 8},
	{.kind = ZR_COMPLEX, .flt = ZR_F64, .size = 16},
	{.kind = ZR_DATETIME, .unit = ZR_NS, .scale = 1, .size = 8},
	{.kind = ZR_TIMEDELTA, .unit = ZR_SECOND, .scale = 1, .size = 8},
	{.kind = ZR_UTF32, .size = 4},
	{.kind = ZR_UTF32, .size = 32},
	{.kind = ZR_UTF32, .size = 84, .big = true},
	{.kind = ZR_CHARS, .size = 3},
	{.kind = ZR_CHARS, .size = 5},
	{.kind = ZR_CHARS, .size = 20},
	{.kind = ZR_CHARS, .size = 21},
	{.kind = ZR_CHARS, .size = 70},
	{.kind = ZR_RAW, .size = 1},
	{.kind = ZR_RAW, .size = 60},
	{.kind = ZR_RAW, .size = 95},
};

/* Code units below 256. */
static void make_latin(struct render_case *c, const struct zr_field *f)
{
	uint64_t low = f->type.big ? 3 : 0;

	for (uint64_t k = 0; f->type.kind == ZR_UTF32 && k < RECORDS; k++)
		for (uint64_t i = 0; i < f->type.size; i++)
			if (i % 4 != low)
				c->rec[k * c->a.type.size + f->offset + i] = 0;
}

/* Anything, and what is found in stores: short text, small numbers. */
static void blocks_of_any_type(void)
{
	uint64_t state = 31;
	struct render_case c;

	array_of(&c, scalars, ZR_COUNT(scalars));
	for (uint64_t mask = UINT64_MAX; mask > 0; mask >>= 9) {
		for (uint64_t i = 0; i < RECORDS * c.a.type.size; i++)
			c.rec[i] = (uint8_t)(random_u64(&state) & mask);
		for (uint32_t i = 0; i < c.a.type.nfields; i++)
			make_latin(&c, &c.a.type.fields[i]);
		check_line(zr_line_new_json(&c.a, &c.l, 0, &opts), &c);
		check_line(zr_line_new_csv(&c.a, &c.l, &opts), &c);
	}
	case_done(&c);
}

/* As long as they can be: no byte is written behind what may be overwritten. */
static void blocks_of_longest_lines(void)
{
	for (uint32_t i = 0; i < ZR_COUNT(scalars); i++) {
		struct render_case c;

		array_of(&c, (struct zr_type[]){scalars[i], scalars[i]}, 2);
		memset(c.rec, 1, RECORDS * c.a.type.size);
		for (uint64_t k = 0; k < RECORDS; k++)
			c.rec[k * c.a.type.size] = 2 + k % 2;
		check_line(zr_line_new_json(&c.a, &c.l, 0, &opts), &c);
		check_line(zr_line_new_csv(&c.a, &c.l, &opts), &c);
		case_done(&c);
	}
}

int main(void)
{
	RUN(blocks_are_their_lines);
	RUN(blocks_of_any_type);
	RUN(blocks_of_longest_lines);
	return EXIT_SUCCESS;
}
