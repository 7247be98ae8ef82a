/* SPDX-License-Identifier: MIT */
/*
 * The only file in C++: dragonbox is a header of templates.
 */
#include "shortest.h"

#if __has_include(<dragonbox/dragonbox.h>)
#include <dragonbox/dragonbox.h>
#else /* where Debian 12 installs it */
#include <dragonbox-1.1.3/dragonbox/dragonbox.h>
#endif

namespace
{
namespace db = jkj::dragonbox;

/* Integers below 2^(mantissa bits + 1) are their own shortest digits: the neighbours are
 * at most 1 away, so nothing with fewer digits reads back. Values that count or number
 * something are common, and need no search. */
template <class Float, class Bits, int mantissa> zr_decimal shortest(Bits bits)
{
	constexpr int width = sizeof(Bits) * 8;
	constexpr Bits sign = Bits(1) << (width - 1);
	constexpr Bits infinity = (Bits(1) << (width - 1)) - (Bits(1) << mantissa);
	const Bits magnitude = bits & ~sign;
	zr_decimal d = {0, 0, ZR_FINITE, (bits & sign) != 0};
	Float x;

	if (magnitude >= infinity) {
		d.cls = magnitude == infinity ? ZR_INFINITE : ZR_NAN;
		d.negative = d.negative && d.cls == ZR_INFINITE;
		return d;
	}
	memcpy(&x, &magnitude, sizeof(x));
	if (x < Float(Bits(1) << (mantissa + 1))) {
		const auto whole = (int64_t)x;

		if (Float(whole) == x) {
			d.digits = (uint64_t)whole;
			return d;
		}
	}
	const auto r = db::to_decimal(x, db::policy::sign::ignore,
	                              db::policy::trailing_zero::remove);
	d.digits = r.significand;
	d.exponent = (int16_t)r.exponent;
	return d;
}
} // namespace

extern "C" zr_decimal zr_shortest_f64(uint64_t bits)
{
	return shortest<double, uint64_t, 52>(bits);
}

extern "C" zr_decimal zr_shortest_f32(uint32_t bits)
{
	return shortest<float, uint32_t, 23>(bits);
}
