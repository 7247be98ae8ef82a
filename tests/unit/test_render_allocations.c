/* SPDX-License-Identifier: MIT */
/* Writing, skipping and measuring lines takes no memory, whatever the type. */
#include "allocations.h"
#include "render.h"

#include "render_case.h"

static const struct zr_render_opts opts = {.nonfinite = ZR_NONFINITE_STRING};
static uint64_t records; /* that were rendered, for the test of the test */

/* In windows too small for all, so that the way through one line at a time is taken. */
static void use_line(const struct render_case *c, struct zr_line *own_line)
{
	static char window[8192];
	const uint64_t index[ZR_MAX_DIMS] = {0};
	uint64_t before, bytes, n, state = 5;

	CHECK(own_line);
	before = allocations;
	for (uint64_t i = 0; i < c->n; i += n) {
		const uint8_t *rec = c->rec + i * c->a.type.size;
		char *out = window, *end = window + random_below(&state, sizeof(window));

		n = zr_line_put_run(own_line, rec, c->a.type.size, c->n - i, index, &out,
		                    end);
		if (n > 0)
			continue;
		n = 1;
		if (zr_line_len(own_line, rec) + 20 * ZR_MAX_DIMS + ZR_LINE_SPARE <=
		    sizeof(window))
			zr_line_put_one(own_line, rec, index, window);
	}
	zr_line_skip_run(own_line, c->rec, c->a.type.size, c->n, index, UINT64_MAX,
	                 &bytes);
	CHECK_INT(allocations, before);
	records += c->n;
	zr_line_free(own_line);
}

static void use_bin(const struct render_case *c, struct zr_bin *own_bin)
{
	uint8_t *out;
	uint64_t before;

	CHECK(own_bin);
	out = malloc(zr_bin_len(own_bin) * c->n + 1);
	CHECK(out);
	before = allocations;
	zr_bin_put_run(own_bin, c->rec, c->a.type.size, c->n, out);
	CHECK_INT(allocations, before);
	free(out);
	zr_bin_free(own_bin);
}

static void use_measure(const struct render_case *c)
{
	struct zr_measure *m = zr_measure_new(&c->a, &c->l, &opts);
	uint64_t *sums, before;

	CHECK(m);
	sums = calloc(zr_measure_files(m), sizeof(*sums));
	CHECK(sums);
	before = allocations;
	zr_measure_run(m, c->rec, c->a.type.size, c->n, sums);
	CHECK_INT(allocations, before);
	free(sums);
	zr_measure_free(m);
}

static void use_all(const struct render_case *c)
{
	for (uint32_t i = 0; i < c->l.nleaves; i++) {
		use_line(c, zr_line_new_text(&c->l, i, &opts));
		if (zr_type_is_variable(&c->a.type))
			continue;
		use_bin(c, zr_bin_new_leaf(&c->l, i));
		use_bin(c, zr_bin_new_text(&c->l, i, &opts));
	}
	for (uint32_t i = 0; i < c->l.nlevels; i++)
		use_line(c, zr_line_new_json(&c->a, &c->l, i, &opts));
	use_line(c, zr_line_new_csv(&c->a, &c->l, &opts));
	if (!zr_type_is_variable(&c->a.type))
		use_bin(c, zr_bin_new_record(&c->a.type));
	use_measure(c);
}

static void known_records_take_no_memory(void)
{
	FILE *f = fopen(RENDER_CASES, "r");
	struct render_case c;

	CHECK(f);
	while (case_read(f, &c)) {
		use_all(&c);
		case_done(&c);
	}
	fclose(f);
	CHECK(records > 1000);
}

static void random_records_take_no_memory(void)
{
	uint64_t state = 7;

	for (int i = 0; i < 300; i++) {
		struct render_case c;

		case_random(&state, &c);
		use_all(&c);
		case_done(&c);
	}
}

/* Else the tests above would find nothing. */
static void allocations_are_counted(void)
{
	uint64_t before = allocations;
	struct zr_buf b = {0};

	zr_buf_addc(&b, 'x');
	zr_buf_done(&b);
	CHECK(allocations > before);
}

int main(void)
{
	RUN(allocations_are_counted);
	RUN(known_records_take_no_memory);
	RUN(random_records_take_no_memory);
	return EXIT_SUCCESS;
}
