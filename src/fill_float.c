/* SPDX-License-Identifier: MIT */
/*
 * One routine for all formats but float64: the value is scaled so that one unit is the
 * spacing of the format's numbers around it, which is exact, and rounded there.
 */
#include "meta_impl.h"

#include <math.h>

/* What the codes above the largest finite number are. */
enum top {
	TOP_IEEE,  /* infinity, then NaNs */
	TOP_NAN,   /* one NaN, no infinity */
	TOP_FNUZ,  /* all finite; the code of -0 is the NaN */
	TOP_FINITE /* all finite, no NaN; what is beyond becomes the largest */
};

struct format {
	uint8_t exp_bits;
	uint8_t man_bits;
	int16_t bias;
	enum top top;
};

static const struct format formats[] = {
	[ZR_F32] = {8, 23, 127, TOP_IEEE},
	[ZR_F16] = {5, 10, 15, TOP_IEEE},
	[ZR_BF16] = {8, 7, 127, TOP_IEEE},
	[ZR_F8_E3M4] = {3, 4, 3, TOP_IEEE},
	[ZR_F8_E4M3] = {4, 3, 7, TOP_IEEE},
	[ZR_F8_E4M3B11FNUZ] = {4, 3, 11, TOP_FNUZ},
	[ZR_F8_E4M3FNUZ] = {4, 3, 8, TOP_FNUZ},
	[ZR_F8_E5M2] = {5, 2, 15, TOP_IEEE},
	[ZR_F8_E5M2FNUZ] = {5, 2, 16, TOP_FNUZ},
	[ZR_F8_E4M3FN] = {4, 3, 7, TOP_NAN},
	[ZR_F6_E2M3FN] = {2, 3, 1, TOP_FINITE},
	[ZR_F6_E3M2FN] = {3, 2, 3, TOP_FINITE},
	[ZR_F4_E2M1FN] = {2, 1, 1, TOP_FINITE},
};

/* 2^(code-127): no sign, no zero, no fraction, and 255 for all that it cannot be. Half
 * way between two numbers is the larger one. */
static uint64_t e8m0_from_double(double v)
{
	double m;
	int e;

	if (!isfinite(v) || v <= 0)
		return 0xff;
	m = frexp(v, &e) * 2; /* v = m * 2^(e-1), 1 <= m < 2 */
	e += 126 + (m >= 1.5);
	return e > 254 ? 0xff : (uint64_t)ZR_MAX(e, 0);
}

/* The code of |v|, v finite; meaningless beyond the format's largest. */
static uint64_t magnitude(const struct format *m, double v)
{
	int e, lowest;
	uint64_t n;

	if (v == 0)
		return 0;
	frexp(v, &e); /* |v| < 2^e */
	/* The exponent of the last bit; all numbers below 2^(1-bias) share it. */
	lowest = ZR_MAX(e - 1, 1 - m->bias) - m->man_bits;
	n = (uint64_t)nearbyint(ldexp(fabs(v), -lowest));
	/* n has a leading bit that is not stored, unless it is subnormal; a carry into
	 * the next power of two comes out right by itself. */
	return n + ((uint64_t)(lowest + m->man_bits + m->bias - 1) << m->man_bits);
}

bool zr_float_from_double(enum zr_float f, double v, uint64_t *ret)
{
	const struct format *m = &formats[f];
	uint64_t sign, one, top, code;

	if (f == ZR_F64) {
		memcpy(ret, &v, sizeof(v));
		return true;
	}
	if (f == ZR_F8_E8M0FNU) {
		*ret = e8m0_from_double(v);
		return true;
	}
	if (m->top == TOP_FINITE && !isfinite(v))
		return false;

	one = (uint64_t)1 << m->man_bits;
	sign = (uint64_t)1 << (m->exp_bits + m->man_bits);
	top = sign - 1; /* of the finite ones */
	if (m->top == TOP_IEEE)
		top -= one;
	else if (m->top == TOP_NAN)
		top--;

	code = isfinite(v) ? magnitude(m, v) : top + 1;
	if (isnan(v) && m->top == TOP_IEEE)
		code |= one >> 1; /* the quiet one */
	if (code > top)
		code = m->top == TOP_FINITE ? top : isnan(v) ? code : top + 1;
	if (m->top == TOP_FNUZ)
		*ret = code > top ? sign : code && signbit(v) ? sign | code : code;
	else
		*ret = signbit(v) && !isnan(v) ? sign | code : code;
	return true;
}
