/* SPDX-License-Identifier: MIT */
#include "blocks.h"

#include <errno.h>

#include "test.h"

#define FILES 3

static const uint64_t fill_len[FILES] = {4, 9, 20};
static const bool indexed[FILES] = {false, false, true};

static void make(struct zr_array *a, struct zr_grid *g, uint32_t ndim,
                 const uint64_t *shape, const uint64_t *chunk)
{
	*a = (struct zr_array){.ndim = ndim, .nlevels = 1, .nrecords = 1};
	for (uint32_t k = 0; k < ndim; k++) {
		a->shape[k] = shape[k];
		a->nrecords *= shape[k];
		a->levels[0].chunk[k] = chunk[k];
		a->levels[0].axis[k] = (uint8_t)k;
	}
	zr_grid_init(g, a);
}

static bool is_stored(const struct zr_present *p, const struct zr_grid *g,
                      uint64_t record)
{
	struct zr_run run;

	zr_grid_run(g, record, &run);
	return zr_present_next(p, run.object) == run.object;
}

/* Length of a stored record's line, index digits not. */
static uint64_t stored_len(uint32_t file, uint64_t record)
{
	return 1 + (record * 2654435761u >> 7) % (10 + file);
}

static void add_stored(struct zr_blocks *b, const struct zr_present *p, uint64_t record)
{
	uint64_t lens[FILES];

	if (!is_stored(p, b->grid, record))
		return;
	for (uint32_t f = 0; f < FILES; f++)
		lens[f] = stored_len(f, record);
	zr_blocks_add(b, record, 1, lens);
}

/* What a reader would count, line by line. */
static uint64_t line_len(const struct zr_blocks *b, const struct zr_present *p,
                         uint32_t file, uint64_t record)
{
	uint64_t index[ZR_MAX_DIMS];
	uint64_t len =
		is_stored(p, b->grid, record) ? stored_len(file, record) : fill_len[file];

	zr_grid_index(b->grid, record, index);
	return len + (indexed[file] ? zr_grid_digits(b->grid, index) : 0);
}

/* Every byte of every file is located in a line that begins where counting says. */
static void check_all(const struct zr_blocks *b, const struct zr_present *p)
{
	for (uint32_t f = 0; f < FILES; f++) {
		uint64_t offset = 0;

		for (uint64_t r = 0; r < b->grid->nrecords; r++) {
			uint64_t len = line_len(b, p, f, r), record, at;

			if (zr_blocks_has(b, r))
				CHECK_INT(zr_blocks_offset(b, f, r), offset);
			for (uint64_t byte = offset; byte < offset + len;
			     byte += len - 1) {
				CHECK(zr_blocks_locate(b, f, byte, &record, &at));
				CHECK(record <= r && at <= byte);
				CHECK(r - record < (uint64_t)1 << b->shift);
				for (uint64_t k = record; k < r; k++)
					at += line_len(b, p, f, k);
				CHECK_INT(at, offset);
				if (len == 1)
					break;
			}
			offset += len;
		}
		CHECK_INT(zr_blocks_total(b, f), offset);
	}
}

static void offsets_are_those_of_counting_line_by_line(void)
{
	static const struct {
		uint32_t ndim;
		uint64_t shape[3], chunk[3];
		uint64_t ids[6];
		size_t count;
		uint64_t record_bytes; /* larger ones make smaller blocks */
	} row[] = {
		{1, {100}, {7}, {0, 3, 4, 14}, 4, 65536 / 4},
		{1, {100}, {7}, {0}, 0, 65536 / 4},
		{1, {100}, {100}, {0}, 1, 65536},
		{1, {2000}, {1000}, {1}, 1, 100},
		{2, {11, 13}, {4, 5}, {0, 2, 4, 8}, 4, 65536 / 8},
		{2, {11, 13}, {4, 5}, {5}, 1, 65536},
		{3, {4, 5, 6}, {2, 2, 4}, {1, 5, 11}, 3, 65536 / 2},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_present p = {.ids = (uint64_t *)row[i].ids,
		                       .count = row[i].count};
		struct zr_blocks b;
		struct zr_array a;
		struct zr_grid g;

		make(&a, &g, row[i].ndim, row[i].shape, row[i].chunk);
		p.nobjects = g.nobjects;
		CHECK_INT(zr_blocks_init(&b, &g, &p, row[i].record_bytes, FILES, fill_len,
		                         indexed, NULL),
		          0);
		/* In any order: here from the end. */
		for (uint64_t r = g.nrecords; r-- > 0;)
			add_stored(&b, &p, r);
		zr_blocks_settle(&b, g.nrecords);
		check_all(&b, &p);
		zr_blocks_done(&b);
	}
}

static void what_is_settled_is_known_before_the_rest(void)
{
	static const uint64_t shape[] = {100}, chunk[] = {10};
	static uint64_t ids[] = {0, 1, 5, 9};
	struct zr_present p = {.ids = ids, .count = 4, .nobjects = 10};
	struct zr_blocks b;
	struct zr_array a;
	struct zr_grid g;
	uint64_t record, at, offset = 0;

	make(&a, &g, 1, shape, chunk);
	CHECK_INT(zr_blocks_init(&b, &g, &p, 65536 / 4, FILES, fill_len, indexed, NULL),
	          0);
	for (uint64_t r = 0; r < 20; r++)
		add_stored(&b, &p, r);
	/* The next stored record is 50: nothing before it can change any more. */
	zr_blocks_settle(&b, 50);
	CHECK_INT(zr_blocks_known(&b), 48);
	for (uint64_t r = 0; r < 20; r++)
		offset += line_len(&b, &p, 0, r);
	CHECK_INT(b.shift, 2);
	CHECK_INT(zr_blocks_offset(&b, 0, 20), offset);
	CHECK(zr_blocks_locate(&b, 0, offset + 4, &record, &at));
	CHECK_INT(at <= offset + 4, 1);
	/* Far behind: nobody knows yet. */
	CHECK(!zr_blocks_locate(&b, 0, offset + 90 * 20, &record, &at));
	CHECK(!zr_blocks_has(&b, 99));
	zr_blocks_done(&b);
}

/* 10^12 records, three chunks written: few rows, all between them closed form. */
static void never_written_records_cost_nothing(void)
{
	static const uint64_t shape[] = {1000000000000}, chunk[] = {1000};
	static uint64_t ids[] = {0, 500000000, 999999999};
	struct zr_present p = {.ids = ids, .count = 3, .nobjects = 1000000000};
	struct zr_blocks b;
	struct zr_array a;
	struct zr_grid g;
	uint64_t record, at, sum = 0;

	make(&a, &g, 1, shape, chunk);
	CHECK_INT(zr_blocks_init(&b, &g, &p, 61, FILES, fill_len, indexed, NULL), 0);
	CHECK(b.nrows <= 6);
	CHECK(b.shift <= 12);
	for (size_t i = 0; i < 3; i++) {
		for (uint64_t r = ids[i] * 1000; r < ids[i] * 1000 + 1000; r++) {
			add_stored(&b, &p, r);
			sum += stored_len(0, r);
		}
	}
	zr_blocks_settle(&b, g.nrecords);
	CHECK_INT(zr_blocks_total(&b, 0), sum + (g.nrecords - 3000) * 4);
	/* A byte in the middle of nowhere belongs to just that record. */
	CHECK(zr_blocks_locate(&b, 0, 400000000001, &record, &at));
	CHECK(at <= 400000000001 && 400000000001 - at < 4);
	zr_blocks_done(&b);
}

/* Chunks side by side touch the same blocks: each is counted once. */
static void neighbours_share_their_rows(void)
{
	static const uint64_t shape[] = {2000, 1 << 18}, chunk[] = {150, 64};
	size_t count = 2 * 4096; /* two rows of chunks */
	uint64_t *ids = calloc(count, sizeof(*ids)), lens[FILES] = {7, 7, 7};
	struct zr_present p = {.ids = ids, .count = count, .nobjects = 14 * 4096};
	struct zr_blocks b;
	struct zr_array a;
	struct zr_grid g;

	CHECK(ids);
	for (size_t i = 0; i < count; i++)
		ids[i] = i;
	make(&a, &g, 2, shape, chunk);
	CHECK_INT(zr_blocks_init(&b, &g, &p, 16, FILES, fill_len, indexed, NULL), 0);
	CHECK_INT(b.nrows, 300 * 64); /* blocks of 4,096 records */
	for (size_t i = 1; i < b.nrows; i++)
		CHECK(b.ids[i] > b.ids[i - 1]);
	zr_blocks_add(&b, 299 << 18, 1 << 18, lens);
	zr_blocks_settle(&b, g.nrecords);
	CHECK_INT(zr_blocks_total(&b, 0), ((uint64_t)1999 << 18) * 4 + 7);
	zr_blocks_done(&b);
	free(ids);
}

static void a_long_choice_can_be_given_up(void)
{
	static const uint64_t shape[] = {(uint64_t)1 << 40}, chunk[] = {1};
	static uint64_t ids[] = {5};
	struct zr_present p = {.ids = ids, .count = 1, .nobjects = shape[0]};
	atomic_bool cancel = true;
	struct zr_blocks b;
	struct zr_array a;
	struct zr_grid g;

	make(&a, &g, 1, shape, chunk);
	CHECK_INT(zr_blocks_init(&b, &g, &p, 8, FILES, fill_len, indexed, &cancel),
	          -EINTR);
}

/* 2^20 x 2^20 with two chunks of 2^10 x 2^10: rows are merged into blocks. */
static void a_huge_square_has_few_rows(void)
{
	static const uint64_t shape[] = {1 << 20, 1 << 20}, chunk[] = {1 << 10, 1 << 10};
	static uint64_t ids[] = {5, 1024 * 1024 - 1};
	struct zr_present p = {.ids = ids, .count = 2, .nobjects = 1 << 20};
	struct zr_blocks b;
	struct zr_array a;
	struct zr_grid g;
	uint64_t record, at;

	make(&a, &g, 2, shape, chunk);
	CHECK_INT(zr_blocks_init(&b, &g, &p, 16, FILES, fill_len, indexed, NULL), 0);
	CHECK(b.nrows >= 1024 && b.nrows <= 4096);
	zr_blocks_settle(&b, g.nrecords);
	CHECK(zr_blocks_locate(&b, 2, (uint64_t)1 << 44, &record, &at));
	CHECK(((uint64_t)1 << 44) - at < 40);
	zr_blocks_done(&b);
}

/* More stored chunks than rows may be: the range doubles until they fit. */
static void the_number_of_rows_is_bounded(void)
{
	static const uint64_t shape[] = {(uint64_t)1 << 40}, chunk[] = {1};
	size_t count = 300000;
	uint64_t *ids = calloc(count, sizeof(*ids)), lens[FILES] = {7, 7, 7};
	struct zr_present p = {.ids = ids, .count = count, .nobjects = shape[0]};
	struct zr_blocks b;
	struct zr_array a;
	struct zr_grid g;

	CHECK(ids);
	for (size_t i = 0; i < count; i++)
		ids[i] = i * 3000000 + i % 17;
	make(&a, &g, 1, shape, chunk);
	CHECK_INT(zr_blocks_init(&b, &g, &p, 8, FILES, fill_len, indexed, NULL), 0);
	CHECK(b.nrows <= ZR_MAX_BLOCKS && b.nrows > ZR_MAX_BLOCKS / 4);
	for (size_t i = 0; i < count; i++)
		zr_blocks_add(&b, ids[i], 1, lens);
	zr_blocks_settle(&b, g.nrecords);
	CHECK_INT(zr_blocks_total(&b, 0), 7 * count + (shape[0] - count) * 4);
	zr_blocks_done(&b);
	free(ids);
}

static void an_array_without_records_has_empty_files(void)
{
	static const uint64_t shape[] = {0}, chunk[] = {1};
	struct zr_present p = {0};
	struct zr_blocks b;
	struct zr_array a;
	struct zr_grid g;

	make(&a, &g, 1, shape, chunk);
	CHECK_INT(zr_blocks_init(&b, &g, &p, 8, FILES, fill_len, indexed, NULL), 0);
	zr_blocks_settle(&b, 0);
	CHECK_INT(zr_blocks_total(&b, 0), 0);
	zr_blocks_done(&b);
}

int main(void)
{
	RUN(offsets_are_those_of_counting_line_by_line);
	RUN(what_is_settled_is_known_before_the_rest);
	RUN(never_written_records_cost_nothing);
	RUN(neighbours_share_their_rows);
	RUN(a_long_choice_can_be_given_up);
	RUN(a_huge_square_has_few_rows);
	RUN(the_number_of_rows_is_bounded);
	RUN(an_array_without_records_has_empty_files);
	return EXIT_SUCCESS;
}
