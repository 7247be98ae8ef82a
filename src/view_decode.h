/* SPDX-License-Identifier: MIT */
/*
 * view_decode.h - chunks that a sequential reader will come to next, decoded ahead
 *
 * Layer 3, private to view_*.c.
 *
 * Memory: part of a view; borrows the source.
 * Threads: all functions from any thread.
 */
#pragma once

#include "ahead.h"
#include "chunk.h"

struct zr_decode {
	struct zr_ahead ahead;
	struct zr_source *source;
	uint64_t first, bytes; /* of each record, that will be wanted */
	uint64_t records;      /* in a piece: about a chunk's */
	uint64_t pieces_ahead;
};

/* first, bytes: as zr_source_get_part(). */
void zr_decode_init(struct zr_decode *d, struct zr_source *source, uint64_t first,
                    uint64_t bytes);
void zr_decode_done(struct zr_decode *d);

/* The reader of whom `ahead` was told last will come to `record` soon. */
void zr_decode_run(struct zr_decode *d, uint64_t record);
