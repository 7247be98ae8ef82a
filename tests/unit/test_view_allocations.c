/* SPDX-License-Identifier: MIT */
/* Reading four times as many records takes not one allocation more. */
#include "allocations.h"
#include "view.h"

#include "array_case.h"

#define RECORDS 2048
#define MOST 8 /* for one read */

/* Bytes of the first n lines, or records. */
static size_t length_of(const struct case_file *f, int file, uint64_t n)
{
	const uint8_t *at = f->want.data;

	if (file == FILE_RAW_A)
		return 2 * n;
	if (file == FILE_RAW)
		return CASE_RECORD * n;
	for (n += file == FILE_CSV; n > 0; n--)
		at = memchr(at, '\n', f->want.len) + 1;
	return (size_t)(at - f->want.data);
}

/* Allocations that a read of n records takes, everything being in the cache. */
static uint64_t count_read(const struct case_file *f, int file, uint64_t n, uint8_t *out)
{
	size_t len = length_of(f, file, n), got;
	struct zr_ticket ticket = {0};
	uint64_t before = allocations;

	CHECK_INT(zr_view_read(f->view, 0, len, &ticket, NULL, out, &got), 0);
	before = allocations - before;
	CHECK_MEM(out, got, f->want.data, len);
	return before;
}

static void check_reads(const struct case_spec *spec)
{
	struct array_case *c = case_new(spec);

	for (int i = 0; i < CASE_FILES; i++) {
		const struct case_file *f = &c->file[i];
		uint8_t *out = malloc(f->want.len);
		uint64_t few, many, size;
		size_t got;

		CHECK(out);
		CHECK_INT(case_size(f->view, &size), 0);
		CHECK_INT(size, f->want.len);
		CHECK_INT(case_read(f->view, 0, f->want.len, out, &got), 0);
		few = count_read(f, i, RECORDS / 4, out);
		many = count_read(f, i, RECORDS, out);
		CHECK(many <= few);
		CHECK(many <= MOST);
		free(out);
	}
	case_free(c);
}

static void more_records_of_a_chunk_take_no_more_memory(void)
{
	static const struct case_spec spec = {"[2048]", "[2048]", NULL, NULL,
	                                      .budget = 0};

	check_reads(&spec);
}

static enum cell_state none(const uint64_t at[CASE_DIMS])
{
	(void)at;
	return MISSING;
}

static void more_fill_values_take_no_more_memory(void)
{
	static const struct case_spec spec = {"[2048]", "[2048]", NULL, none,
	                                      .budget = 0};

	check_reads(&spec);
}

static void rows_of_a_grid_take_no_more_memory(void)
{
	static const struct case_spec spec = {"[64,32]", "[64,32]", NULL, NULL,
	                                      .budget = 0};

	check_reads(&spec);
}

int main(void)
{
	RUN(more_records_of_a_chunk_take_no_more_memory);
	RUN(more_fill_values_take_no_more_memory);
	RUN(rows_of_a_grid_take_no_more_memory);
	return EXIT_SUCCESS;
}
