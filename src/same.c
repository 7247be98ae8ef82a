/* SPDX-License-Identifier: MIT */
#include "same.h"

/* Bytes that are compared at once: two vectors. */
#define LANE 32

typedef uint64_t vector __attribute__((vector_size(16)));

static inline void lane_load(vector ret[2], const uint8_t *p)
{
	memcpy(ret, p, LANE);
}

static void lane_find(uint8_t *differs, const uint8_t *rec, uint64_t stride, uint64_t n)
{
	vector first[2], x[2], sum[2] = {0};

	lane_load(first, rec);
	for (uint64_t i = 1; i < n; i++) {
		rec += stride;
		lane_load(x, rec);
		sum[0] |= x[0] ^ first[0];
		sum[1] |= x[1] ^ first[1];
	}
	memcpy(differs, sum, LANE);
}

void zr_same_find(struct zr_same *ret, const uint8_t *rec, uint64_t bytes,
                  uint64_t stride, uint64_t n)
{
	bytes = ZR_MIN(bytes, ZR_SAME_MAX);
	if (stride == 0) {
		ret->bytes = bytes;
		memset(ret->differs, 0, bytes);
		return;
	}
	ret->bytes = n < 2 || bytes < LANE ? 0 : bytes;
	for (uint64_t at = 0; at < ret->bytes; at += LANE) {
		/* The last lane begins before the one in front of it ends. */
		uint64_t from = ZR_MIN(at, bytes - LANE);

		lane_find(ret->differs + from, rec + from, stride, n);
	}
}

bool zr_same_has(const struct zr_same *s, uint64_t offset, uint64_t len)
{
	uint8_t differs = 0;

	if (offset > s->bytes || len > s->bytes - offset)
		return false;
	for (uint64_t i = offset; i < offset + len; i++)
		differs |= s->differs[i];
	return !differs;
}
