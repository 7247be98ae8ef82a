/* SPDX-License-Identifier: MIT */
#include "view_decode.h"

/* Decoded bytes in a piece, at least: several small chunks. */
#define PIECE_BYTES ((uint64_t)4 << 20)
#define PIECES_AHEAD 2
/* What is decoded ahead may take that part of the cache. */
#define CACHE_PART 8
/* Where rows of a chunk are shorter, looking for what comes next takes too long. */
#define LEAST_RUN 64

/* zr_ahead_make */
static void decode_piece(void *arg, uint64_t piece, const atomic_bool *cancel)
{
	struct zr_decode *d = arg;
	const struct zr_grid *g = &d->source->grid;
	uint64_t record = piece * d->records, last = UINT64_MAX, size;
	uint64_t end = record + ZR_MIN(d->records, g->nrecords - record);
	struct zr_chunk *chunk = NULL;
	struct zr_run run;

	for (; record < end && !atomic_load(cancel); record += run.count) {
		zr_grid_run(g, record, &run);
		if (run.count < LEAST_RUN && run.count < end - record)
			return;
		if (run.cell == last || zr_source_unstored(d->source, &run) > 0)
			continue;
		last = run.cell;
		/* Errors are met by the reader when it comes there. */
		if (zr_source_get_part(d->source, run.cell, d->first, d->bytes, &chunk,
		                       &size) == 0)
			zr_chunk_unref(chunk);
	}
}

void zr_decode_init(struct zr_decode *d, struct zr_source *source, uint64_t first,
                    uint64_t bytes)
{
	uint64_t size = source->array->type.size, cell = source->grid.cell_records;
	uint64_t piece, budget = zr_cache_budget(source->cache);

	*d = (struct zr_decode){.source = source, .first = first, .bytes = bytes};
	d->records = ZR_MAX(PIECE_BYTES / size, (uint64_t)1);
	if (source->grid.ndim == 1) /* then cells are pieces */
		d->records = ZR_MAX(d->records / cell, (uint64_t)1) * cell;
	piece = ZR_MAX(PIECE_BYTES, cell * size);
	d->pieces_ahead = ZR_MIN(budget / CACHE_PART / piece, (uint64_t)PIECES_AHEAD);
	zr_ahead_init(&d->ahead, source->ahead, decode_piece, d);
}

void zr_decode_done(struct zr_decode *d)
{
	zr_ahead_done(&d->ahead);
}

void zr_decode_run(struct zr_decode *d, uint64_t record)
{
	uint64_t nrecords = d->source->grid.nrecords, next, end;

	if (nrecords == 0)
		return;
	next = ZR_MIN(record, nrecords - 1) / d->records + 1;
	end = ZR_MIN(next + d->pieces_ahead, (nrecords - 1) / d->records + 1);
	zr_ahead_run(&d->ahead, next, end);
}
