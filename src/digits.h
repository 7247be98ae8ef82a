/* SPDX-License-Identifier: MIT */
/*
 * digits.h - eight and sixteen decimal digits at once, without a branch
 *
 *   store bytes -> codec -> chunk cache -> view -> [ render ] -> fuse reply
 *
 * A number is halved three times (four digits each, two, one), in all its parts at the
 * same time. A quotient is the high part of a product with the reciprocal, which is exact
 * for all numbers of so many digits. With SSE2, which every x86-64 has, the parts lie in
 * a vector; elsewhere in the bytes of a word.
 *
 * Layer 1. May include layer 0. Threads: no state; any.
 */
#pragma once

#include "util.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define ZR_BYTES_OF(c) (UINT64_C(0x0101010101010101) * (uint8_t)(c))

/* The lowest byte first, whatever the machine does. */
static inline void zr_store_chars(char *out, uint64_t w)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	w = __builtin_bswap64(w);
#endif
	memcpy(out, &w, 8);
}

#ifdef __SSE2__

/* Sixteen characters, the first one lowest. */
typedef __m128i zr_chars16;

/* Digits 0 to 9 as bytes: eight of `high`, eight of `low`, which are below 10^8. */
static inline __m128i zr_digits16(uint32_t high, uint32_t low)
{
	__m128i x = _mm_set_epi32(0, (int)low, 0, (int)high), q;

	/* 109951163 / 2^40, 5243 / 2^19, 6554 / 2^16 */
	q = _mm_srli_epi64(_mm_mul_epu32(x, _mm_set1_epi32(109951163)), 40);
	x = _mm_sub_epi32(x, _mm_mul_epu32(q, _mm_set1_epi32(10000)));
	x = _mm_or_si128(q, _mm_slli_epi64(x, 32));
	q = _mm_srli_epi16(_mm_mulhi_epu16(x, _mm_set1_epi16(5243)), 3);
	x = _mm_sub_epi16(x, _mm_mullo_epi16(q, _mm_set1_epi16(100)));
	x = _mm_or_si128(q, _mm_slli_epi32(x, 16));
	q = _mm_mulhi_epu16(x, _mm_set1_epi16(6554));
	x = _mm_sub_epi16(x, _mm_mullo_epi16(q, _mm_set1_epi16(10)));
	return _mm_or_si128(q, _mm_slli_epi16(x, 8));
}

/* Digits 0 to 9 of v, below 10^8, as bytes, the first one lowest. */
static inline uint64_t zr_digits8(uint32_t v)
{
	uint64_t w;

	_mm_storel_epi64((__m128i *)(void *)&w, zr_digits16(v, 0));
	return w;
}

/* The digits of both, below 10^8, as text. */
static inline zr_chars16 zr_chars16_of(uint32_t high, uint32_t low)
{
	return _mm_add_epi8(zr_digits16(high, low), _mm_set1_epi8('0'));
}

/* Moves all but the first n of 0 to 16 one place on; the last one falls out, and what
 * comes to stand at n means nothing. */
static inline zr_chars16 zr_chars16_part(zr_chars16 c, unsigned int n)
{
	static const uint8_t ones[32] = {[0 ... 15] = 0xff};
	__m128i first = _mm_loadu_si128((const __m128i *)(const void *)(ones + 16 - n));

	return _mm_or_si128(_mm_and_si128(first, c),
	                    _mm_andnot_si128(first, _mm_slli_si128(c, 1)));
}

static inline void zr_chars16_store(char *out, zr_chars16 c)
{
	_mm_storeu_si128((__m128i *)(void *)out, c);
}

#else

typedef struct {
	uint64_t w[2];
} zr_chars16;

static inline uint64_t zr_digits8(uint32_t v)
{
	uint64_t high = v / 10000, x = high | (uint64_t)(v % 10000) << 32, q;

	/* 10486 / 2^20, 103 / 2^10 */
	q = x * 10486 >> 20 & UINT64_C(0x0000007f0000007f);
	x = q | (x - 100 * q) << 16;
	q = x * 103 >> 10 & UINT64_C(0x000f000f000f000f);
	return q | (x - 10 * q) << 8;
}

static inline zr_chars16 zr_chars16_of(uint32_t high, uint32_t low)
{
	return (zr_chars16){{zr_digits8(high) + ZR_BYTES_OF('0'),
	                     zr_digits8(low) + ZR_BYTES_OF('0')}};
}

static inline zr_chars16 zr_chars16_part(zr_chars16 c, unsigned int n)
{
	uint64_t low = n < 8 ? (UINT64_C(1) << 8 * n) - 1 : UINT64_MAX;
	uint64_t high = n <= 8   ? 0
	                : n < 16 ? (UINT64_C(1) << 8 * (n - 8)) - 1
	                         : UINT64_MAX;

	return (zr_chars16){{(c.w[0] & low) | (c.w[0] << 8 & ~low),
	                     (c.w[1] & high) | ((c.w[1] << 8 | c.w[0] >> 56) & ~high)}};
}

static inline void zr_chars16_store(char *out, zr_chars16 c)
{
	zr_store_chars(out, c.w[0]);
	zr_store_chars(out + 8, c.w[1]);
}

#endif
