/* SPDX-License-Identifier: MIT */
/*
 * number.h - integers and decimals as text, and how long that is
 *
 *   store bytes -> codec -> chunk cache -> view -> [ render ] -> fuse reply
 *
 * Writers return the end of their text, which is as long as their length twin says, and
 * has no NUL. Since how long it will be is not known when its digits are, they write
 * whole words: up to ZR_PUT_SPARE bytes behind the end are overwritten, and mean nothing.
 * Decimals are laid out as Python's repr() does: 5.0, 0.1, 1e-05, 1e+16.
 *
 * Layer 1. May include digits.h, shortest.h and layer 0. Threads: no state; any.
 */
#pragma once

#include "digits.h"
#include "shortest.h"

#define ZR_PUT_SPARE 24

#define ZR_U64_MAX_LEN 20 /* 18446744073709551615 */
#define ZR_I64_MAX_LEN 20 /* -9223372036854775808 */
#define ZR_DECIMAL_MAX_LEN 24

extern const uint64_t zr_powers_of_10[20];

/* The number of the highest bit of v, which is not 0. */
static inline unsigned int zr_top_bit(uint64_t v)
{
#if defined(__x86_64__) && !defined(__LZCNT__)
	/* The processor believes that BSR needs what is in its destination, and would
	 * wait for whatever was computed there before. */
	uint64_t bit = 0;

	__asm__("bsrq %1, %0" : "+r"(bit) : "r"(v));
	return (unsigned int)bit;
#else
	return 63 - (unsigned int)__builtin_clzll(v);
#endif
}

/* Digits of v: 1 to 20. */
static inline unsigned int zr_u64_len(uint64_t v)
{
	/* 1233 / 4096 is log10(2). Of 64 it makes 19, which is in the table. */
	unsigned int guess = (zr_top_bit(v | 1) + 1) * 1233 >> 12;

	return guess + ((v | 1) >= zr_powers_of_10[guess]);
}

/*
 * The same for 32 bits, where one addition does it: entry k, for numbers whose highest
 * bit is k, is such that the sum carries into bit 32 as often as there are digits. Let
 * d be the digits of 2^k: (d << 32) + 2^32 - 10^d, or d << 32 where all of them have d.
 */
extern const uint64_t zr_digits_by_bit[32];

static inline unsigned int zr_u32_len(uint32_t v)
{
	return (unsigned int)((v + zr_digits_by_bit[zr_top_bit(v | 1)]) >> 32);
}

/* Of 16 bits and less: four comparisons at once are faster than a look into a table. */
static inline unsigned int zr_u16_len(uint32_t v)
{
	return 1 + (v > 9) + (v > 99) + (v > 999) + (v > 9999);
}

static inline unsigned int zr_i16_len(int32_t v)
{
	return (v < 0) + zr_u16_len((uint32_t)(v < 0 ? -v : v));
}

static inline unsigned int zr_i32_len(int32_t v)
{
	return (v < 0) + zr_u32_len(v < 0 ? -(uint32_t)v : (uint32_t)v);
}

/* Of -2^63 too. */
static inline uint64_t zr_magnitude(int64_t v)
{
	return v < 0 ? -(uint64_t)v : (uint64_t)v;
}

static inline unsigned int zr_i64_len(int64_t v)
{
	return (v < 0) + zr_u64_len(zr_magnitude(v));
}

/* Writes `len` digits, which is zr_u64_len(v), or more for leading zeros; and no more. */
char *zr_put_digits(char *out, uint64_t v, unsigned int len);

/* v has less than nine digits. */
static inline char *zr_put_short(char *out, uint32_t v)
{
	uint64_t digits = zr_digits8(v);
	/* Bits of leading zeros; the last digit is one in any case. */
	unsigned int zeros = __builtin_ctzll(digits | (uint64_t)1 << 56) & ~7u;

	zr_store_chars(out, (digits + ZR_BYTES_OF('0')) >> zeros);
	return out + 8 - zeros / 8;
}

/* v has more than eight digits. */
char *zr_put_long(char *out, uint64_t v);

static inline char *zr_put_u64(char *out, uint64_t v)
{
	return v < 100000000 ? zr_put_short(out, (uint32_t)v) : zr_put_long(out, v);
}

static inline char *zr_put_i64(char *out, int64_t v)
{
	*out = '-';
	return zr_put_u64(out + (v < 0), zr_magnitude(v));
}

/* Finite ones only, of up to 17 digits; whoever knows the form writes the others. */
unsigned int zr_decimal_len(struct zr_decimal d);
char *zr_put_decimal(char *out, struct zr_decimal d);
