/* SPDX-License-Identifier: MIT */
/*
 * A *piece* is the text of 2^piece_shift records, cut where the block index knows the
 * offsets, so each can be made without the others. A sequential reader is served from
 * pieces: several are made at a time, by all cores, while it is still busy with those
 * before. They are kept in the cache until the reader has passed them; from then on the
 * kernel has them.
 */
#include <errno.h>

#include "request.h"
#include "view_impl.h"

/* A file of less is not worth it. */
#define LEAST_BYTES ((uint64_t)1 << 20)
/* So many are made ahead, if that is not too large a part of the cache: as many as are
 * made at a time. More are no faster, and leave the processor's caches before they are
 * read. */
#define PIECES_AHEAD ZR_KEY_THREADS
#define CACHE_PART 8
/* Once in so many pieces. */
#define SELDOM 16

#define NO_PIECES (-1)

struct piece {
	struct zr_text *t;
	const atomic_bool *cancel;
	uint64_t record, last; /* of its lines: the first, and the one behind them */
	uint64_t begin, end;   /* their bytes */
};

/* --- what they are ---------------------------------------------------------------------
 */

void zr_pieces_settle(struct zr_text *t, uint64_t line)
{
	uint64_t nrecords = t->source->grid.nrecords;
	unsigned int shift;
	int unknown = 0, settled = NO_PIECES;

	line = ZR_MAX(line, (uint64_t)1);
	if (!zr_sizes_block_shift(t->sizes, t->file, &shift))
		return;
	while (shift < 63 && line << shift < ZR_PIECE_BYTES)
		shift++;
	if (shift > 0 && line <= ZR_PIECE_MOST >> shift && nrecords > LEAST_BYTES / line)
		settled = (int)shift;
	atomic_compare_exchange_strong(&t->piece_shift, &unknown, settled);
}

/* False: there are none, or not yet. */
static bool pieces_known(struct zr_text *t)
{
	uint64_t size;

	if (atomic_load(&t->piece_shift) == 0 && t->source->grid.nrecords > 0 &&
	    zr_sizes_peek(t->sizes, t->file, &size))
		zr_pieces_settle(t, size / t->source->grid.nrecords);
	return atomic_load(&t->piece_shift) > 0;
}

static uint64_t piece_count(const struct zr_text *t)
{
	return ((t->source->grid.nrecords - 1) >> t->piece_shift) + 1;
}

static bool piece_find(struct zr_text *t, uint64_t n, struct piece *ret)
{
	uint64_t nrecords = t->source->grid.nrecords, size;
	int shift = atomic_load(&t->piece_shift);

	if (n >= piece_count(t))
		return false;
	*ret = (struct piece){.t = t, .record = n << shift};
	size = ZR_MIN(nrecords - ret->record, (uint64_t)1 << shift);
	ret->last = ret->record + size;
	return zr_sizes_offset(t->sizes, t->file, ret->record, &ret->begin) &&
	       zr_sizes_offset(t->sizes, t->file, ret->last, &ret->end) &&
	       ret->end - ret->begin <= ZR_PIECE_MOST;
}

/* --- making them -----------------------------------------------------------------------
 */

/* zr_cache_load */
static int piece_load(void *arg, struct zr_chunk *chunk, struct zr_err *reterr)
{
	const struct piece *p = arg;
	size_t len = (size_t)(p->end - p->begin);
	struct zr_walk w = {.t = p->t,
	                    .record = p->record,
	                    .offset = p->begin,
	                    .last = p->last,
	                    .target = p->begin};
	int r = zr_buf_reserve(&chunk->data, len);

	(void)reterr;
	if (r < 0)
		return r;
	w.out = chunk->data.data;
	w.end = w.out + len;
	r = zr_walk_run(&w, p->cancel);
	zr_buf_done(&w.scratch);
	if (r < 0)
		return r;
	chunk->data.len = len;
	/* Else the text is not as long as measured: who reads it is told so. */
	return w.out == w.end && w.record == p->last ? 0 : -EIO;
}

static int piece_get(struct piece *p, uint64_t n, struct zr_chunk **ret)
{
	return zr_source_keep(p->t->source, p->t->piece_what, n, piece_load, p, ret);
}

/* zr_ahead_make */
static void piece_make(void *arg, uint64_t n, const atomic_bool *cancel)
{
	ZR_CLEANUP(zr_chunk_unrefp) struct zr_chunk *chunk = NULL;
	struct piece p;

	if (!piece_find(arg, n, &p))
		return;
	p.cancel = cancel;
	if (piece_get(&p, n, &chunk) < 0)
		return; /* the reader will meet it */
}

/* --- reading them ----------------------------------------------------------------------
 */

/*
 * Whoever makes a piece holds a chunk, or shares it with who makes the next piece, and
 * asks for ZR_LOAD times as much while it is loaded. More of them than the cache has room
 * for would throw out each other's chunks. Where it has room for one load at most, those
 * that are made together shall seldom be of two chunks.
 */
static uint64_t pieces_ahead(const struct zr_text *t)
{
	uint64_t budget = zr_cache_budget(t->source->cache);
	uint64_t chunk = zr_text_chunk(t), load = zr_mul_most(chunk, ZR_LOAD);
	uint64_t piece =
		zr_mul_most(t->source->array->type.size, (uint64_t)1 << t->piece_shift);
	uint64_t fit;

	piece = ZR_MAX(ZR_MIN(piece, chunk), (uint64_t)1);
	if (load < budget)
		fit = 1 + (budget - load) / zr_mul_most(piece, ZR_LOAD);
	else
		fit = chunk / piece / SELDOM;
	fit = ZR_MIN(fit, budget / CACHE_PART / ZR_PIECE_BYTES);
	return ZR_MIN(fit, (uint64_t)PIECES_AHEAD);
}

/* The part of the range that lies in piece n, if that is made; *ret_len: its bytes. */
static bool piece_lend(struct zr_text *t, uint64_t n, uint64_t offset, size_t len,
                       struct zr_lent *ret, size_t *ret_len)
{
	struct zr_chunk *chunk = zr_source_peek_derived(t->source, t->piece_what, n);
	struct piece p;

	/* Of another length: the store was changed meanwhile. */
	if (!chunk || !piece_find(t, n, &p) || offset < p.begin || offset >= p.end ||
	    chunk->data.len != p.end - p.begin) {
		zr_chunk_unref(chunk);
		return false;
	}
	*ret_len = (size_t)ZR_MIN((uint64_t)len, p.end - offset);
	return zr_lent_add(ret, chunk, chunk->data.data + (offset - p.begin), *ret_len);
}

/* Makes the pieces of a range, from the n-th on, one after the other: who waits for one
 * must not hold another (cache.h). */
static void pieces_make(struct zr_text *t, uint64_t n, uint64_t offset, size_t len,
                        const atomic_bool *cancel)
{
	struct piece p;

	for (; piece_find(t, n, &p) && p.begin < offset + len; n++) {
		struct zr_chunk *chunk = NULL;

		p.cancel = cancel;
		if (piece_get(&p, n, &chunk) < 0)
			return; /* the reader is told when it is read in the common way */
		zr_chunk_unref(chunk);
	}
}

static bool piece_is_made(struct zr_text *t, uint64_t n)
{
	ZR_CLEANUP(zr_chunk_unrefp)
	struct zr_chunk *chunk = zr_source_peek_derived(t->source, t->piece_what, n);

	return chunk;
}

/* The reader, who goes on and on, is at piece n. */
static void pieces_run(struct zr_text *t, uint64_t n)
{
	uint64_t end = ZR_MIN(n + 1 + pieces_ahead(t), piece_count(t));

	zr_ahead_run(&t->ahead, n + 1, end);
	if (!piece_is_made(t, end - 1))
		zr_decode_run(&t->decode, end << t->piece_shift);
	/* Where the reader was, only one who was overtaken may still come. */
	if (n >= 2)
		zr_source_drop(t->source, t->piece_what, n - 2);
}

bool zr_pieces_lend(struct zr_text *t, uint64_t offset, size_t len, bool wait,
                    const atomic_bool *cancel, struct zr_lent *ret)
{
	bool follows = zr_ahead_follows(&t->ahead, offset, len);
	uint64_t record, begin, n;
	size_t done;

	zr_ahead_follows(&t->decode.ahead, offset, len);
	if (!pieces_known(t) ||
	    !zr_sizes_peek_locate(t->sizes, t->file, offset, &record, &begin))
		return false;
	n = record >> t->piece_shift;
	if (follows)
		pieces_run(t, n);
	if (follows && wait)
		pieces_make(t, n, offset, len, cancel);
	while (len > 0) {
		if (!piece_lend(t, n, offset, len, ret, &done)) {
			zr_lent_done(ret);
			return false;
		}
		n++;
		offset += done;
		len -= done;
	}
	return true;
}

void zr_pieces_init(struct zr_text *t)
{
	t->piece_what = zr_source_new_what(t->source);
	zr_ahead_init(&t->ahead, t->source->ahead, piece_make, t);
	zr_decode_init(&t->decode, t->source, t->first, t->bytes);
	zr_keep_init(t);
}

void zr_pieces_done(struct zr_text *t)
{
	zr_keep_done(t);
	zr_decode_done(&t->decode);
	zr_ahead_done(&t->ahead);
}
