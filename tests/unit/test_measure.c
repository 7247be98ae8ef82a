/* SPDX-License-Identifier: MIT */
#include "render_case.h"
#include "render.h"

static const struct zr_render_opts opts = {.nonfinite = ZR_NONFINITE_NULL};
static const struct zr_render_opts strings = {.nonfinite = ZR_NONFINITE_STRING};

/* The sums that the lines themselves give; they are tested by test_render.c. */
static void add_line(struct zr_line *own_line, const struct render_case *c,
                     uint64_t stride, uint64_t *sum)
{
	CHECK(own_line);
	for (uint64_t i = 0; i < c->n; i++)
		*sum += zr_line_len(own_line, c->rec + i * stride);
	zr_line_free(own_line);
}

static void check_case(const struct render_case *c, uint64_t stride,
                       const struct zr_render_opts *o)
{
	struct zr_measure *m = zr_measure_new(&c->a, &c->l, o);
	uint64_t got[2 * CASE_MAX_FILES] = {0}, want[2 * CASE_MAX_FILES] = {0};
	uint32_t file = 0, files;

	CHECK(m);
	files = zr_measure_files(m);
	CHECK_INT(files, c->l.nleaves + c->l.nlevels + 1);
	CHECK(files <= ZR_COUNT(got));
	zr_measure_run(m, c->rec, stride, c->n, got);
	for (uint32_t i = 0; i < c->l.nleaves; i++)
		add_line(zr_line_new_text(&c->l, i, o), c, stride, &want[file++]);
	for (uint32_t i = 0; i < c->l.nlevels; i++)
		add_line(zr_line_new_json(&c->a, &c->l, i, o), c, stride, &want[file++]);
	add_line(zr_line_new_csv(&c->a, &c->l, o), c, stride, &want[file]);
	for (uint32_t i = 0; i < files; i++)
		CHECK_INT(got[i], want[i]);
	zr_measure_free(m);
}

static void sums_are_those_of_the_lines_for_the_arrays_of_the_model(void)
{
	FILE *f = fopen(RENDER_CASES, "r");
	struct render_case c;
	int cases = 0;

	CHECK(f);
	for (; case_read(f, &c); cases++) {
		check_case(&c, c.a.type.size, &opts);
		check_case(&c, c.a.type.size, &strings);
		check_case(&c, 0, &opts);
		case_done(&c);
	}
	fclose(f);
	CHECK(cases > 100);
}

static void sums_are_those_of_the_lines_for_random_arrays(void)
{
	uint64_t state = 42;

	for (int i = 0; i < 150; i++) {
		struct render_case c;

		case_random(&state, &c);
		check_case(&c, c.a.type.size, i % 2 ? &opts : &strings);
		check_case(&c, 0, &opts);
		case_done(&c);
	}
}

/* Of the model's files without an index, the sizes; header lines not counted. */
static void sums_are_the_sizes_of_the_models_files(void)
{
	FILE *f = fopen(RENDER_CASES, "r");
	struct render_case c;

	CHECK(f);
	while (case_read(f, &c)) {
		struct zr_measure *m = zr_measure_new(&c.a, &c.l, &opts);
		uint64_t got[2 * CASE_MAX_FILES] = {0};

		CHECK(m);
		/* In two runs: sums are added to. */
		zr_measure_run(m, c.rec, c.a.type.size, 1, got);
		zr_measure_run(m, c.rec + c.a.type.size, c.a.type.size, c.n - 1, got);
		for (uint32_t i = 0; i < c.l.nleaves; i++)
			CHECK_INT(got[i], c.text[i].len);
		for (uint32_t i = 0; i < c.l.nlevels && c.a.ndim < 2; i++)
			CHECK_INT(got[c.l.nleaves + i], c.json[i].len);
		zr_measure_free(m);
		case_done(&c);
	}
	fclose(f);
}

static void a_fill_run_of_any_length_takes_no_time(void)
{
	struct zr_type t = {.kind = ZR_UTF32, .size = 4 * 100};
	struct zr_array a = {.type = t, .ndim = 1, .shape = {UINT64_C(1) << 60}};
	ZR_CLEANUP(zr_layout_done) struct zr_layout l = {0};
	uint8_t rec[400] = {0};
	uint64_t n = UINT64_C(1) << 60, sums[3] = {0};
	struct zr_measure *m;

	CHECK_INT(zr_layout_build(&t, &l), 0);
	m = zr_measure_new(&a, &l, &opts);
	CHECK(m);
	zr_measure_run(m, rec, 0, n, sums);
	CHECK(sums[0] == n);     /* LF */
	CHECK(sums[1] == 3 * n); /* "" LF */
	CHECK(sums[2] == 3 * n);
	/* Too long for any file: it stays at the top instead of coming round. */
	for (uint32_t i = 0; i < 100; i++)
		rec[4 * i] = rec[4 * i + 3] = 'x';
	zr_measure_run(m, rec, 0, n, sums);
	CHECK(sums[0] == UINT64_MAX);
	zr_measure_run(m, rec, 0, 1, sums);
	CHECK(sums[0] == UINT64_MAX);
	zr_measure_free(m);
}

int main(void)
{
	RUN(sums_are_those_of_the_lines_for_the_arrays_of_the_model);
	RUN(sums_are_those_of_the_lines_for_random_arrays);
	RUN(sums_are_the_sizes_of_the_models_files);
	RUN(a_fill_run_of_any_length_takes_no_time);
	return EXIT_SUCCESS;
}
