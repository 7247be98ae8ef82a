/* SPDX-License-Identifier: MIT */
/*
 * view_impl.h - what view_text.c (where a read begins), view_walk.c (how it goes on) and
 * view_piece.c (what is made before it begins) share
 *
 * Layer 3, private.
 */
#pragma once

#include <pthread.h>

#include "ahead.h"
#include "view.h"
#include "view_decode.h"

#define ZR_ANCHORS 8

struct zr_anchor {
	uint64_t record;
	uint64_t offset; /* of its line, header not counted */
};

#define ZR_FRAGMENTS 16

/* Text of some records of a piece, made by the pass (view_keep.c). */
struct zr_fragment {
	uint64_t record, next; /* the first one, and the one behind them */
	struct zr_buf text;    /* owned; cap 0: none */
};

struct zr_text {
	struct zr_view view;
	struct zr_source *source;
	struct zr_sizes *sizes;
	uint32_t file;
	struct zr_line *line; /* owned */
	struct zr_buf header; /* owned */
	uint64_t fill_len;    /* of the fill value's line, index digits not */
	bool indexed;
	uint64_t first, bytes; /* of a record, that lines are made of */

	uint64_t what;                /* long lines, in the cache */
	_Atomic uint64_t long_record; /* of the one that was read last, + 1; 0: none */
	atomic_bool told;             /* that a line is too long */

	struct zr_ahead ahead;   /* makes pieces */
	struct zr_decode decode; /* what they will be made of */
	uint64_t piece_what;     /* its pieces, in the cache */
	atomic_int piece_shift;  /* records in one are 1 << this; 0: not known yet */
	struct zr_solo solo;
	atomic_size_t kept; /* bytes of pieces that the pass has put into the cache */

	pthread_mutex_t lock; /* guards what follows */
	struct zr_anchor anchors[ZR_ANCHORS];
	unsigned int nanchors, oldest;
	struct zr_fragment fragments[ZR_FRAGMENTS]; /* whose other ends are missing */
	unsigned int next_fragment;
};

/* One read on its way through the file. */
struct zr_walk {
	struct zr_text *t;
	uint64_t record, offset; /* where it is: begin of a line */
	uint64_t last;           /* record behind the last one that is wanted */
	bool adrift;             /* offsets count from where it began, wherever that is */
	uint64_t target;         /* first byte that is wanted */
	uint8_t *out, *end;      /* where the next wanted byte goes */
	struct zr_buf scratch;   /* owned; a line that is wanted in part */
};

/* Lines from the target on until the buffer is full or they end. -EINTR: *cancel (may be
 * NULL) became true. */
ZR_MUST_CHECK int zr_walk_run(struct zr_walk *w, const atomic_bool *cancel);

/* Bytes of a decoded chunk; and how many times as much one takes of the cache while it is
 * loaded, about: stored bytes, and what is made of them. */
static inline uint64_t zr_text_chunk(const struct zr_text *t)
{
	return zr_mul_most(t->source->grid.cell_records, t->source->array->type.size);
}
#define ZR_LOAD 4

/* About what is made at a time. Twice as much as one request of the kernel, at least. */
#define ZR_PIECE_BYTES ((uint64_t)512 << 10)
/* Much more than that is no piece: the blocks of the index are too coarse. */
#define ZR_PIECE_MOST ((uint64_t)8 << 20)

/* Settles how many records are in a piece, from how long a line is, about. */
void zr_pieces_settle(struct zr_text *t, uint64_t line);

/* The pass over this file alone makes its text, and keeps what the cache has room for. */
void zr_keep_init(struct zr_text *t);
void zr_keep_done(struct zr_text *t);

void zr_pieces_init(struct zr_text *t);
void zr_pieces_done(struct zr_text *t);

/*
 * Bytes of the lines, `offset` counted from the first one, for a reader who goes on from
 * where it had ended: from pieces, which are made ahead. False: it does not, or that is
 * not how to get them (a piece could not be made: parts of it may be readable).
 */
bool zr_pieces_lend(struct zr_text *t, uint64_t offset, size_t len, bool wait,
                    const atomic_bool *cancel, struct zr_lent *ret);
