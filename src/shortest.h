/* SPDX-License-Identifier: MIT */
/*
 * shortest.h - the fewest decimal digits that read back as the same binary float
 *
 *   store bytes -> codec -> chunk cache -> view -> [ render ] -> fuse reply
 *
 * For float64 and float32, by dragonbox; smallfloat.h has the narrower formats. Among
 * the decimals with the fewest digits the one nearest to the exact value. How digits
 * are laid out is for number.h.
 *
 * Layer 0. May include util.h. Threads: no state; any.
 */
#pragma once

#include "util.h"

#ifdef __cplusplus
extern "C" {
#endif

enum zr_float_class { ZR_FINITE, ZR_INFINITE, ZR_NAN };

/* A float as decimal: digits * 10^exponent. 16 bytes: returned in registers. */
struct zr_decimal {
	uint64_t digits; /* 0 for zero; trailing zeros only where exponent is 0 */
	int16_t exponent;
	uint8_t cls;   /* enum zr_float_class; the others mean nothing unless finite */
	bool negative; /* of infinities and of zero, too; never of NaN */
};

struct zr_decimal zr_shortest_f64(uint64_t bits);
struct zr_decimal zr_shortest_f32(uint32_t bits);

#ifdef __cplusplus
}
#endif
