/* SPDX-License-Identifier: MIT */
#include "grid.h"
#include "test.h"

/* shape, outer chunk, inner chunk (or the same), storage order of the bottom level. */
static void make(struct zr_array *a, struct zr_grid *g, uint32_t ndim,
                 const uint64_t *shape, const uint64_t *outer, const uint64_t *inner,
                 const uint8_t *axis)
{
	*a = (struct zr_array){
		.ndim = ndim, .nlevels = inner == outer ? 1 : 2, .nrecords = 1};
	for (uint32_t k = 0; k < ndim; k++) {
		a->shape[k] = shape[k];
		a->nrecords *= shape[k];
		a->levels[0].chunk[k] = outer[k];
		a->levels[a->nlevels - 1].chunk[k] = inner[k];
		a->levels[0].axis[k] = (uint8_t)k;
		a->levels[a->nlevels - 1].axis[k] = axis ? axis[k] : (uint8_t)k;
	}
	zr_grid_init(g, a);
}

static unsigned int digits(uint64_t v)
{
	char text[24];

	return (unsigned int)snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
}

/* Every record of small grids, one by one, against the definition. */
static void runs_cover_every_record_once_in_order(void)
{
	static const uint64_t shape[] = {3, 5, 7}, outer[] = {2, 4, 6},
			      inner[] = {1, 2, 3};
	static const uint8_t axis[] = {2, 0, 1};
	struct zr_array a;
	struct zr_grid g;
	uint64_t record = 0, before = 0;

	make(&a, &g, 3, shape, outer, inner, axis);
	CHECK_INT(g.cell_records, 6);
	CHECK_INT(g.cells_per_object, 8);
	while (record < g.nrecords) {
		struct zr_run run;
		uint64_t at[ZR_MAX_DIMS], index[ZR_MAX_DIMS];

		zr_grid_run(&g, record, &run);
		CHECK(run.count >= 1 && run.count <= 3);
		zr_grid_cell_at(&g, run.cell, at);
		zr_grid_index(&g, record, index);
		for (uint32_t k = 0; k < 3; k++) {
			CHECK_INT(run.index[k], index[k]);
			CHECK_INT(at[k], index[k] / inner[k]);
		}
		/* Encoded axes (2, 0, 1) of a cell of 1 x 2 x 3: lengths 3, 1, 2. */
		CHECK_INT(run.first, index[2] % 3 * 2 + index[0] % 1 * 2 + index[1] % 2);
		CHECK_INT(run.step, 2);
		CHECK_INT(zr_grid_record(&g, index), record);
		for (uint64_t i = 0; i < run.count; i++) {
			CHECK_INT(zr_grid_digits_before(&g, record), before);
			zr_grid_index(&g, record, index);
			CHECK_INT(zr_grid_digits(&g, index),
			          digits(index[0]) + digits(index[1]) + digits(index[2]));
			before += zr_grid_digits(&g, index);
			record++;
		}
	}
	CHECK_INT(record, 105);
	CHECK_INT(zr_grid_digits_before(&g, record), before);
}

static void cells_of_an_object_are_those_inside_the_array(void)
{
	static const uint64_t shape[] = {3, 5}, outer[] = {2, 4}, inner[] = {1, 2};
	struct zr_array a;
	struct zr_grid g;
	unsigned int inside = 0, seen[3 * 3] = {0};

	make(&a, &g, 2, shape, outer, inner, NULL);
	CHECK_INT(g.nobjects, 4);
	for (uint64_t o = 0; o < g.nobjects; o++) {
		for (uint64_t i = 0; i < g.cells_per_object; i++) {
			uint64_t cell = zr_grid_nth_cell(&g, o, i);
			struct zr_box box;

			if (cell == UINT64_MAX)
				continue;
			CHECK(cell < 9);
			seen[cell]++;
			inside++;
			zr_grid_cell_box(&g, cell, &box);
			CHECK(box.extent[0] == 1 && box.extent[1] >= 1);
			CHECK(box.start[1] + box.extent[1] <= 5);
		}
	}
	CHECK_INT(inside, 9); /* 3 x 3 cells */
	for (unsigned int i = 0; i < 9; i++)
		CHECK_INT(seen[i], 1);
}

static void a_shard_larger_than_the_array_has_only_its_cells(void)
{
	static const uint64_t shape[] = {3, 2}, inner[] = {2, 1};
	static const uint64_t outer[] = {(uint64_t)1 << 30, (uint64_t)1 << 29};
	struct zr_array a;
	struct zr_grid g;

	make(&a, &g, 2, shape, outer, inner, NULL);
	CHECK_INT(g.cells_per_object, 4);
	for (uint64_t i = 0; i < 4; i++)
		CHECK_INT(zr_grid_nth_cell(&g, 0, i), i);
}

static void index_digits_are_counted_across_powers_of_ten(void)
{
	static const uint64_t shape[] = {12, 1003}, chunk[] = {5, 100};
	struct zr_array a;
	struct zr_grid g;
	uint64_t before = 0;

	make(&a, &g, 2, shape, chunk, chunk, NULL);
	for (uint64_t r = 0; r < g.nrecords; r++) {
		CHECK_INT(zr_grid_digits_before(&g, r), before);
		before += digits(r / 1003) + digits(r % 1003);
	}
	CHECK_INT(zr_grid_digits_before(&g, g.nrecords), before);
}

static void huge_shapes_do_not_overflow(void)
{
	static const uint64_t shape[] = {(uint64_t)1 << 30, (uint64_t)1 << 30};
	static const uint64_t chunk[] = {1024, 1024};
	struct zr_array a;
	struct zr_grid g;
	struct zr_run run;

	make(&a, &g, 2, shape, chunk, chunk, NULL);
	zr_grid_run(&g, g.nrecords - 1, &run);
	CHECK_INT(run.count, 1);
	CHECK_INT(run.cell, ((uint64_t)1 << 40) - 1);
	CHECK(zr_grid_digits_before(&g, g.nrecords) == ZR_MAX_FILE); /* saturated */
}

static void without_axes_there_is_one_record(void)
{
	struct zr_array a;
	struct zr_grid g;
	struct zr_run run;

	make(&a, &g, 0, NULL, NULL, NULL, NULL);
	CHECK_INT(g.nobjects, 1);
	CHECK_INT(zr_grid_nth_cell(&g, 0, 0), 0);
	zr_grid_run(&g, 0, &run);
	CHECK_INT(run.count, 1);
	CHECK_INT(run.cell, 0);
	CHECK_INT(zr_grid_digits_before(&g, 1), 0);
}

static void an_axis_of_length_zero_has_no_cells(void)
{
	static const uint64_t shape[] = {3, 0}, chunk[] = {2, 1};
	struct zr_array a;
	struct zr_grid g;

	make(&a, &g, 2, shape, chunk, chunk, NULL);
	CHECK_INT(g.nobjects, 0);
	CHECK_INT(g.nrecords, 0);
	CHECK_INT(zr_grid_digits_before(&g, 0), 0);
}

/* Zarr v3 core, "Chunk key encoding"; v2, "Chunks". */
static void keys_are_spelled_as_specified(void)
{
	static const struct {
		bool v2;
		uint32_t ndim;
		char separator;
		const char *want;
	} row[] = {
		{false, 3, '/', "c/1/23/45"}, {false, 3, '.', "c.1.23.45"},
		{false, 0, '/', "c"},         {true, 3, '.', "1.23.45"},
		{true, 3, '/', "1/23/45"},    {true, 0, '.', "0"},
	};
	static const uint64_t at[ZR_MAX_DIMS] = {1, 23, 45};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_array a = {.ndim = row[i].ndim, .v2_keys = row[i].v2};
		char key[ZR_KEY_MAX];

		zr_grid_key(&a, at, row[i].separator, key);
		CHECK_STR(key, row[i].want);
	}
}

static void the_longest_key_fits(void)
{
	struct zr_array a = {.ndim = ZR_MAX_DIMS};
	uint64_t at[ZR_MAX_DIMS];
	char key[ZR_KEY_MAX];

	for (uint32_t k = 0; k < ZR_MAX_DIMS; k++)
		at[k] = UINT64_MAX;
	zr_grid_key(&a, at, '/', key);
	CHECK_INT(strlen(key), 1 + ZR_MAX_DIMS * 21);
}

int main(void)
{
	RUN(runs_cover_every_record_once_in_order);
	RUN(cells_of_an_object_are_those_inside_the_array);
	RUN(a_shard_larger_than_the_array_has_only_its_cells);
	RUN(index_digits_are_counted_across_powers_of_ten);
	RUN(huge_shapes_do_not_overflow);
	RUN(without_axes_there_is_one_record);
	RUN(an_axis_of_length_zero_has_no_cells);
	RUN(keys_are_spelled_as_specified);
	RUN(the_longest_key_fits);
	return EXIT_SUCCESS;
}
