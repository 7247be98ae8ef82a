/* SPDX-License-Identifier: MIT */
/*
 * wide.h - whole numbers of 128 bits, where 64 are not enough
 *
 * In two's complement; what does not fit is cut off at the top, as with unsigned numbers
 * of C. Not every compiler has __int128 (none for 32-bit machines has), and what few
 * places need of it is little: factors and divisors have 32 bits.
 *
 * Layer 0. May include util.h.
 */
#pragma once

#include "util.h"

struct zr_wide {
	uint64_t hi;
	uint64_t lo;
};

static inline struct zr_wide zr_wide_of(int64_t v)
{
	return (struct zr_wide){v < 0 ? UINT64_MAX : 0, (uint64_t)v};
}

static inline bool zr_wide_is_negative(struct zr_wide w)
{
	return w.hi >> 63;
}

/* Whether *ret could be set to the number. */
static inline bool zr_wide_small(struct zr_wide w, int64_t *ret)
{
	*ret = (int64_t)w.lo;
	return w.hi == (*ret < 0 ? UINT64_MAX : 0);
}

/* The nearest number of 64 bits. */
static inline int64_t zr_wide_clamp(struct zr_wide w)
{
	int64_t v;

	if (zr_wide_small(w, &v))
		return v;
	return zr_wide_is_negative(w) ? INT64_MIN : INT64_MAX;
}

static inline struct zr_wide zr_wide_add(struct zr_wide w, int64_t v)
{
	struct zr_wide sum = zr_wide_of(v);

	sum.lo += w.lo;
	sum.hi += w.hi + (sum.lo < w.lo);
	return sum;
}

static inline struct zr_wide zr_wide_negate(struct zr_wide w)
{
	return zr_wide_add((struct zr_wide){~w.hi, ~w.lo}, 1);
}

static inline struct zr_wide zr_wide_mul(struct zr_wide w, uint32_t m)
{
	uint64_t low = (w.lo & UINT32_MAX) * m;
	uint64_t middle = (w.lo >> 32) * m + (low >> 32);

	return (struct zr_wide){w.hi * m + (middle >> 32),
	                        middle << 32 | (low & UINT32_MAX)};
}

static inline struct zr_wide zr_wide_shift_left(struct zr_wide w, unsigned int n)
{
	if (n >= 64)
		return (struct zr_wide){w.lo << (n - 64), 0};
	return n ? (struct zr_wide){w.hi << n | w.lo >> (64 - n), w.lo << n} : w;
}

/* What is shifted out is ORed to *lost. The number counts as not negative. */
static inline struct zr_wide zr_wide_shift_right(struct zr_wide w, unsigned int n,
                                                 uint64_t *lost)
{
	if (n >= 64) {
		*lost |= w.lo;
		w = (struct zr_wide){0, w.hi};
		n -= 64;
	}
	if (n == 0)
		return w;
	*lost |= w.lo << (64 - n);
	return (struct zr_wide){w.hi >> n, w.hi << (64 - n) | w.lo >> n};
}

/* *w, which counts as not negative, is divided by d, which is not 0; returns what is
 * left. */
static inline uint32_t zr_wide_divide_unsigned(struct zr_wide *w, uint32_t d)
{
	uint64_t a = w->hi >> 32;
	uint64_t b = (a % d) << 32 | (w->hi & UINT32_MAX);
	uint64_t c = (b % d) << 32 | w->lo >> 32;
	uint64_t e = (c % d) << 32 | (w->lo & UINT32_MAX);

	*w = (struct zr_wide){(a / d) << 32 | b / d, (c / d) << 32 | e / d};
	return (uint32_t)(e % d);
}

/* *w is divided by d, which is not 0, rounding down; returns what is left, 0 to d - 1. */
static inline uint32_t zr_wide_divide(struct zr_wide *w, uint32_t d)
{
	uint32_t rest;

	if (!zr_wide_is_negative(*w))
		return zr_wide_divide_unsigned(w, d);
	*w = (struct zr_wide){~w->hi, ~w->lo}; /* -1 - w */
	rest = zr_wide_divide_unsigned(w, d);
	*w = (struct zr_wide){~w->hi, ~w->lo};
	return d - 1 - rest;
}
