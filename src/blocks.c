/* SPDX-License-Identifier: MIT */
#include "blocks.h"

#include <errno.h>

#include "dtype.h"

/* --- which blocks are touched ----------------------------------------------------------
 */

/* Chunks that lie side by side touch the same blocks: what was added not long ago is
 * found in `recent`, a table of ids + 1, and not added again and again. */
#define RECENT_BITS 16

struct touched {
	const struct zr_grid *g;
	uint64_t *ids;
	size_t count, cap, limit;
	unsigned int shift;
	uint64_t recent[1 << RECENT_BITS];
};

static int compare_ids(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void touched_unique(struct touched *t)
{
	size_t kept = 0;

	qsort(t->ids, t->count, sizeof(*t->ids), compare_ids);
	for (size_t i = 0; i < t->count; i++)
		if (kept == 0 || t->ids[i] != t->ids[kept - 1])
			t->ids[kept++] = t->ids[i];
	t->count = kept;
}

/* Coarser blocks until at most `limit` are left. */
static void touched_reduce(struct touched *t, size_t limit)
{
	touched_unique(t);
	while (t->count > limit) {
		for (size_t i = 0; i < t->count; i++)
			t->ids[i] >>= 1;
		t->shift++;
		touched_unique(t);
	}
	memset(t->recent, 0, sizeof(t->recent));
}

static uint64_t *touched_recent(struct touched *t, uint64_t id)
{
	return &t->recent[id * UINT64_C(0x9e3779b97f4a7c15) >> (64 - RECENT_BITS)];
}

/* The blocks of records first to last. */
static void touched_add(struct touched *t, uint64_t first, uint64_t last)
{
	for (uint64_t r = first; r <= last;) {
		uint64_t id = r >> t->shift;

		if (*touched_recent(t, id) != id + 1) {
			if (t->count == t->cap)
				touched_reduce(t, t->limit);
			id = r >> t->shift;
			t->ids[t->count++] = id;
			*touched_recent(t, id) = id + 1;
		}
		r = (id + 1) << t->shift;
	}
}

/* The blocks of a box: row by row, but as many rows at once as fit a block. At most ndim
 * deep. */
static void touched_box(struct touched *t, const struct zr_box *box, uint32_t k,
                        uint64_t record)
{
	const struct zr_grid *g = t->g;
	uint64_t first = record + box->start[k] * g->behind[k];

	if (k + 1 == g->ndim) {
		touched_add(t, first, first + box->extent[k] - 1);
		return;
	}
	for (uint64_t i = 0; i < box->extent[k];) {
		uint64_t rows = ((uint64_t)1 << t->shift) / g->behind[k];

		if (rows >= 1) {
			rows = ZR_MIN(rows, box->extent[k] - i);
			touched_add(t, first + i * g->behind[k],
			            first + (i + rows) * g->behind[k] - 1);
		} else {
			touched_box(t, box, k + 1, first + i * g->behind[k]);
			rows = 1;
		}
		i += rows;
	}
}

/* About 64 KiB of records in a block, but no fewer than one and no more than 4,096. */
static unsigned int finest_shift(uint64_t record_bytes)
{
	unsigned int shift = 12;

	while (shift > 0 && record_bytes << shift > 65536)
		shift--;
	return shift;
}

static size_t rows_limit(uint32_t nfiles)
{
	size_t limit = ZR_MAX_BLOCK_BYTES / (8 * ((size_t)nfiles + 1));

	return ZR_MAX(ZR_MIN(limit, (size_t)ZR_MAX_BLOCKS), (size_t)1);
}

static uint64_t blocks_needed(uint64_t nrecords, unsigned int shift)
{
	return nrecords == 0 ? 0 : ((nrecords - 1) >> shift) + 1;
}

/* One row for each touched block, in ids. */
static int blocks_choose_sparse(struct zr_blocks *b, const struct zr_present *present,
                                size_t limit, const atomic_bool *cancel)
{
	ZR_CLEANUP(zr_freep) struct touched *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->g = b->grid;
	t->limit = limit;
	t->cap = 4 * limit;
	t->shift = b->shift;
	t->ids = b->ids = reallocarray(NULL, t->cap, sizeof(*t->ids));
	if (!t->ids)
		return -ENOMEM;
	for (size_t i = 0; i < present->count; i++) {
		struct zr_box box;

		if (cancel && atomic_load(cancel))
			return -EINTR;
		zr_grid_object_box(b->grid, present->ids[i], &box);
		touched_box(t, &box, 0, 0);
	}
	touched_reduce(t, limit);
	b->nrows = t->count;
	b->shift = t->shift;
	return 0;
}

static int blocks_choose(struct zr_blocks *b, const struct zr_present *present,
                         size_t limit, const atomic_bool *cancel)
{
	const struct zr_grid *g = b->grid;
	bool dense = present->all || present->count == g->nobjects || g->ndim == 0;

	if (!dense && blocks_needed(g->nrecords, b->shift) > limit)
		return blocks_choose_sparse(b, present, limit, cancel);
	while (blocks_needed(g->nrecords, b->shift) > limit)
		b->shift++;
	b->nrows = (size_t)blocks_needed(g->nrecords, b->shift);
	return 0;
}

int zr_blocks_init(struct zr_blocks *b, const struct zr_grid *g,
                   const struct zr_present *present, uint64_t record_bytes,
                   uint32_t nfiles, const uint64_t *fill_len, const bool *indexed,
                   const atomic_bool *cancel)
{
	int r;

	*b = (struct zr_blocks){
		.grid = g, .nfiles = nfiles, .shift = finest_shift(record_bytes)};
	b->fill_len = reallocarray(NULL, nfiles, sizeof(*b->fill_len));
	b->indexed = reallocarray(NULL, nfiles, sizeof(*b->indexed));
	r = b->fill_len && b->indexed
	            ? blocks_choose(b, present, rows_limit(nfiles), cancel)
	            : -ENOMEM;
	if (r == 0) {
		b->rows = calloc((b->nrows + 1) * ((size_t)nfiles + 1), sizeof(*b->rows));
		if (!b->rows)
			r = -ENOMEM;
	}
	if (r < 0) {
		zr_blocks_done(b);
		return r;
	}
	memcpy(b->fill_len, fill_len, nfiles * sizeof(*fill_len));
	memcpy(b->indexed, indexed, nfiles * sizeof(*indexed));
	return 0;
}

void zr_blocks_done(struct zr_blocks *b)
{
	free(b->fill_len);
	free(b->indexed);
	free(b->ids);
	free(b->rows);
	*b = (struct zr_blocks){0};
}

/* --- rows ------------------------------------------------------------------------------
 */

static uint64_t *row_at(const struct zr_blocks *b, size_t row)
{
	return b->rows + row * ((size_t)b->nfiles + 1);
}

static uint64_t block_of_row(const struct zr_blocks *b, size_t row)
{
	return b->ids ? b->ids[row] : row;
}

static uint64_t row_begin(const struct zr_blocks *b, size_t row)
{
	return row == b->nrows ? b->grid->nrecords : block_of_row(b, row) << b->shift;
}

static uint64_t row_end(const struct zr_blocks *b, size_t row)
{
	return ZR_MIN(b->grid->nrecords, (block_of_row(b, row) + 1) << b->shift);
}

/* The first row that begins at or behind `record`; nrows if none does. */
static size_t row_from(const struct zr_blocks *b, uint64_t record)
{
	size_t low = 0, high = b->nrows;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (row_begin(b, mid) < record)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

void zr_blocks_add(struct zr_blocks *b, uint64_t record, uint64_t n, const uint64_t *lens)
{
	uint64_t begin = record >> b->shift << b->shift;
	uint64_t *row = row_at(b, row_from(b, begin));

	row[0] += n;
	for (uint32_t f = 0; f < b->nfiles; f++)
		row[1 + f] += lens[f];
}

void zr_blocks_settle(struct zr_blocks *b, uint64_t record)
{
	size_t width = (size_t)b->nfiles + 1;

	while (b->settled < b->nrows && row_end(b, b->settled) <= record) {
		uint64_t *row = row_at(b, b->settled), *carry = row_at(b, b->nrows);

		/* The last row, which is no block's, carries the sum. */
		for (size_t i = 0; i < width; i++) {
			uint64_t own = row[i];

			row[i] = carry[i];
			carry[i] += own;
		}
		b->settled++;
	}
}

uint64_t zr_blocks_known(const struct zr_blocks *b)
{
	return row_begin(b, b->settled);
}

/* Sums of all rows before `row`, which is at most `settled`. */
static const uint64_t *sums_before(const struct zr_blocks *b, size_t row)
{
	return row_at(b, row < b->settled ? row : b->nrows);
}

/* Offset of a record that has exactly the rows before `row` in front of it; UINT64_MAX
 * where it would be more. */
static uint64_t offset_behind(const struct zr_blocks *b, uint32_t file, size_t row,
                              uint64_t record)
{
	const uint64_t *sums = sums_before(b, row);
	uint64_t filled = zr_mul_most(record - sums[0], b->fill_len[file]);
	uint64_t offset = zr_add_most(sums[1 + file], filled);

	if (b->indexed[file])
		offset = zr_add_most(offset, zr_grid_digits_before(b->grid, record));
	return offset;
}

static uint64_t saturate(uint64_t v)
{
	return ZR_MIN(v, ZR_MAX_FILE);
}

bool zr_blocks_has(const struct zr_blocks *b, uint64_t record)
{
	size_t row;

	if (record > zr_blocks_known(b))
		return false;
	row = row_from(b, record);
	return row == 0 || row_end(b, row - 1) <= record;
}

uint64_t zr_blocks_offset(const struct zr_blocks *b, uint32_t file, uint64_t record)
{
	return saturate(offset_behind(b, file, row_from(b, record), record));
}

uint64_t zr_blocks_total(const struct zr_blocks *b, uint32_t file)
{
	return saturate(offset_behind(b, file, b->nrows, b->grid->nrecords));
}

/* Between rows: the last record from `low` to `high` whose offset is at most `offset`. */
static uint64_t last_record_before(const struct zr_blocks *b, uint32_t file, size_t row,
                                   uint64_t low, uint64_t high, uint64_t offset)
{
	while (low < high) {
		uint64_t mid = low + (high - low + 1) / 2;

		if (offset_behind(b, file, row, mid) <= offset)
			low = mid;
		else
			high = mid - 1;
	}
	return low;
}

bool zr_blocks_locate(const struct zr_blocks *b, uint32_t file, uint64_t offset,
                      uint64_t *ret_record, uint64_t *ret_offset)
{
	size_t low = 0,
	       high = b->settled; /* row that begins last before the offset, + 1 */
	uint64_t record;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (offset_behind(b, file, mid, row_begin(b, mid)) <= offset)
			low = mid + 1;
		else
			high = mid;
	}
	/* Behind the end of row low - 1, nothing is stored until row `low` begins. */
	record = low == 0 ? 0 : row_end(b, low - 1);
	if (offset_behind(b, file, low, record) > offset) {
		record = row_begin(b, low - 1);
		low--;
	} else {
		record = last_record_before(b, file, low, record, row_begin(b, low),
		                            offset);
		if (record == row_begin(b, low) && low < b->nrows)
			return false; /* in a row that is not settled */
	}
	*ret_record = record;
	*ret_offset = saturate(offset_behind(b, file, low, record));
	return true;
}
