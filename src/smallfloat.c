/* SPDX-License-Identifier: MIT */
/*
 * All arithmetic is exact. A finite value is m * 2^e with a small m, and the decimals
 * that read back as it lie between the midpoints to its neighbours. Value and midpoints
 * are expressed in units of 10^q, with q so that the value has six digits there: one more
 * than the most that any of the formats needs (float16: five), so that the midpoint
 * between two candidates is a whole number, too. Every intermediate result fits into 128
 * bits.
 */
#include "smallfloat.h"

#include "wide.h"

#define MAX_DIGITS 5 /* float16: 1 + ceil(11 * log10(2)) */

enum specials {
	IEEE, /* highest exponent: infinity, NaN */
	FN,   /* all bits but the sign set: NaN. No infinity */
	FNUZ, /* -0 is the only NaN. No infinity */
	PLAIN /* every code is a number */
};

struct format {
	uint8_t mantissa; /* stored bits */
	uint8_t exponent; /* bits */
	int16_t bias;
	uint8_t specials;
	bool is_unsigned;
};

static const struct format formats[] = {
	[ZR_F16] = {10, 5, 15, IEEE, false},
	[ZR_BF16] = {7, 8, 127, IEEE, false},
	[ZR_F8_E3M4] = {4, 3, 3, IEEE, false},
	[ZR_F8_E4M3] = {3, 4, 7, IEEE, false},
	[ZR_F8_E4M3B11FNUZ] = {3, 4, 11, FNUZ, false},
	[ZR_F8_E4M3FNUZ] = {3, 4, 8, FNUZ, false},
	[ZR_F8_E5M2] = {2, 5, 15, IEEE, false},
	[ZR_F8_E5M2FNUZ] = {2, 5, 16, FNUZ, false},
	[ZR_F8_E8M0FNU] = {0, 8, 127, FN, true},
	[ZR_F8_E4M3FN] = {3, 4, 7, FN, false},
	[ZR_F6_E2M3FN] = {3, 2, 1, PLAIN, false},
	[ZR_F6_E3M2FN] = {2, 3, 3, PLAIN, false},
	[ZR_F4_E2M1FN] = {1, 2, 1, PLAIN, false},
};

/* A number in units of 10^q: whole part, and whether that is all of it. */
struct scaled {
	uint32_t whole;
	bool exact;
};

#define FIVE_13 1220703125U /* 5^13, the highest power with 32 bits */

static const uint32_t five[] = {1,       5,        25,        125,    625,
                                3125,    15625,    78125,     390625, 1953125,
                                9765625, 48828125, 244140625, FIVE_13};

/* x * 2^e / 10^q, where x < 2^13 and the result has at most eight digits. */
static struct scaled scale_wide(uint32_t x, int e, int q)
{
	struct zr_wide v = {0, x};
	uint64_t rest = 0;
	int shift = e - q;
	int n = q > 0 ? 0 : -q; /* of the factors 5 */

	for (; n > 13; n -= 13)
		v = zr_wide_mul(v, FIVE_13);
	v = zr_wide_mul(v, five[n]);
	if (shift >= 0)
		v = zr_wide_shift_left(v, (unsigned int)shift);
	if (q > 0) {
		for (n = q; n > 13; n -= 13)
			rest |= zr_wide_divide_unsigned(&v, FIVE_13);
		rest |= zr_wide_divide_unsigned(&v, five[n]);
	}
	if (shift < 0)
		v = zr_wide_shift_right(v, (unsigned int)-shift, &rest);
	return (struct scaled){(uint32_t)v.lo, rest == 0};
}

/* The same where 64 bits are enough: all of float16, whose q is -13 to 0. */
static inline struct scaled scale(uint32_t x, int e, int q)
{
	int shift = e - q;
	uint64_t v;

	if (q > 0 || q < -13)
		return scale_wide(x, e, q);
	v = (uint64_t)x * five[-q];
	if (shift >= 0)
		return (struct scaled){(uint32_t)(v << shift), true};
	return (struct scaled){(uint32_t)(v >> -shift),
	                       (v & ((UINT64_C(1) << -shift) - 1)) == 0};
}

/* Whether d lies between the midpoints; on one only where ties go to this value. */
static inline bool reads_back(uint32_t d, struct scaled low, struct scaled high,
                              bool even)
{
	bool above = d > low.whole || (even && low.exact && d == low.whole);
	bool below = d < high.whole || (d == high.whole && (even || !high.exact));

	return above && below;
}

/* The exponent and the scaled value and midpoints of m * 2^e. */
static int scale_all(uint32_t m, int e, bool binade, struct scaled s[3])
{
	int bits = 32 - __builtin_clz(m);
	/* 1233 / 4096 is log10(2), so that q is right or one too small. */
	int q = ((bits + e - 1) * 1233 >> 12) - MAX_DIGITS;

	for (;; q++) {
		/* Quarters of m, since below a power of two the neighbours are closer. */
		s[1] = scale(4 * m, e - 2, q);
		if (s[1].whole >= 1000000)
			continue;
		s[0] = scale(4 * m - (binade ? 1 : 2), e - 2, q);
		s[2] = scale(4 * m + 2, e - 2, q);
		return q;
	}
}

/* Whether a multiple of `unit` reads back; the nearer one if two do. */
static inline __attribute__((always_inline)) bool
try_unit(const struct scaled s[3], bool even, uint32_t unit, uint64_t *ret)
{
	uint32_t low = s[1].whole / unit;
	uint32_t middle = low * unit + unit / 2;
	bool low_ok = reads_back(low * unit, s[0], s[2], even);
	bool high_ok = reads_back((low + 1) * unit, s[0], s[2], even);
	bool nearer_low = s[1].whole < middle ||
	                  (s[1].whole == middle && s[1].exact && low % 2 == 0);

	*ret = low_ok && (nearer_low || !high_ok) ? low : low + 1;
	return low_ok || high_ok;
}

static void shortest_digits(uint32_t m, int e, bool binade, bool even,
                            struct zr_decimal *d)
{
	struct scaled s[3];
	int q = scale_all(m, e, binade, s);

	/* Units are constants, so that nothing is divided. */
	if (try_unit(s, even, 100000, &d->digits))
		q += 5;
	else if (try_unit(s, even, 10000, &d->digits))
		q += 4;
	else if (try_unit(s, even, 1000, &d->digits))
		q += 3;
	else if (try_unit(s, even, 100, &d->digits))
		q += 2;
	else if (try_unit(s, even, 10, &d->digits))
		q += 1;
	for (; d->digits % 10 == 0; q++)
		d->digits /= 10;
	d->exponent = (int16_t)q;
}

/* Sets the class of what is no number; false for numbers. */
static bool is_special(const struct format *f, uint32_t magnitude, struct zr_decimal *d)
{
	uint32_t top = (1U << f->exponent) - 1;
	uint32_t mantissa = magnitude & ((1U << f->mantissa) - 1);

	if (f->specials == FNUZ && magnitude == 0 && d->negative) {
		d->cls = ZR_NAN;
	} else if (magnitude >> f->mantissa == top) {
		if (f->specials == IEEE)
			d->cls = mantissa ? ZR_NAN : ZR_INFINITE;
		else if (f->specials == FN && mantissa == (1U << f->mantissa) - 1)
			d->cls = ZR_NAN;
	}
	d->negative = d->negative && d->cls != ZR_NAN;
	return d->cls != ZR_FINITE;
}

struct zr_decimal zr_shortest_small(enum zr_float f, uint32_t bits)
{
	const struct format *fmt = &formats[f];
	unsigned int width = fmt->mantissa + fmt->exponent;
	uint32_t magnitude = bits & ((1U << width) - 1);
	uint32_t m = magnitude & ((1U << fmt->mantissa) - 1);
	uint32_t e = magnitude >> fmt->mantissa;
	struct zr_decimal d = {.cls = ZR_FINITE,
	                       .negative = !fmt->is_unsigned && (bits >> width & 1)};
	bool binade;
	int exponent;

	if (is_special(fmt, magnitude, &d))
		return d;
	if (magnitude == 0 && !fmt->is_unsigned)
		return d;
	/* e8m0 has neither zero nor subnormal numbers. */
	binade = m == 0 && (e > 1 || fmt->is_unsigned);
	if (e != 0 || fmt->is_unsigned)
		m |= 1U << fmt->mantissa;
	else
		e = 1;
	exponent = (int)e - fmt->bias - fmt->mantissa;
	/* Whole numbers that are at most 1 apart are their own digits, as in shortest.cc.
	 */
	if (exponent <= 0 && exponent >= -fmt->mantissa && fmt->mantissa > 0 &&
	    (m & ((1U << -exponent) - 1)) == 0) {
		d.digits = m >> -exponent;
		return d;
	}
	shortest_digits(m, exponent, binade, magnitude % 2 == 0, &d);
	return d;
}
