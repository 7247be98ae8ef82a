/* SPDX-License-Identifier: MIT */
/*
 * same.h - which bytes of a record are the same in all records of a block
 *
 * Of wide records most fields hold, for many records on end, what they held before: a
 * trace header has 89 of them, a dozen of which change from trace to trace. What is the
 * same is rendered and measured once for all records of a block.
 *
 * Layer 1. May include layer 0.
 *
 * Threads: pure functions.
 */
#pragma once

#include "util.h"

/* Bytes of a record that are looked at; all behind them may differ. */
#define ZR_SAME_MAX 2048
/* A block spans so many bytes: they are looked at, and then used, while they are in the
 * first-level cache. */
#define ZR_BLOCK_BYTES ((uint64_t)24 << 10)
#define ZR_BLOCK_MIN 16

struct zr_same {
	uint64_t bytes;               /* that were looked at */
	uint8_t differs[ZR_SAME_MAX]; /* not 0: not the same in all records */
};

/* Looks at the first `bytes` bytes of n records, `stride` bytes apart; 0: one record n
 * times. Less than two records, or than 32 bytes, is not worth a look. */
void zr_same_find(struct zr_same *ret, const uint8_t *rec, uint64_t bytes,
                  uint64_t stride, uint64_t n);

/* Whether all records have the same there. Not, if in doubt. */
bool zr_same_has(const struct zr_same *s, uint64_t offset, uint64_t len);

/* Records of a block of `most` at most. */
static inline uint64_t zr_block_records(uint64_t stride, uint64_t most)
{
	return ZR_MAX(ZR_MIN(most, ZR_BLOCK_BYTES / ZR_MAX(stride, 1)), ZR_BLOCK_MIN);
}
