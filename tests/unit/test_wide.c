/* SPDX-License-Identifier: MIT */
#include "test.h"
#include "wide.h"

#include "data/wide.inc"

static bool same(struct zr_wide a, struct zr_wide b)
{
	return a.hi == b.hi && a.lo == b.lo;
}

static void products_and_quotients(void)
{
	for (size_t i = 0; i < ZR_COUNT(products); i++) {
		struct zr_wide n = products[i].n;

		CHECK(same(zr_wide_mul(n, products[i].by), products[i].product));
		CHECK(zr_wide_divide(&n, products[i].by) == products[i].rest);
		CHECK(same(n, products[i].quotient));
	}
}

static void shifts(void)
{
	for (size_t i = 0; i < ZR_COUNT(shifted); i++) {
		struct zr_wide n = shifted[i].n;
		uint64_t lost = 0;

		CHECK(same(zr_wide_shift_left(n, shifted[i].by), shifted[i].left));
		CHECK(same(zr_wide_shift_right(n, shifted[i].by, &lost),
		           shifted[i].right));
		CHECK((lost != 0) == shifted[i].lost);
	}
}

static void sums_and_what_64_bits_hold(void)
{
	for (size_t i = 0; i < ZR_COUNT(sums); i++) {
		struct zr_wide n = sums[i].n;
		int64_t small;

		CHECK(same(zr_wide_add(n, sums[i].more), sums[i].sum));
		CHECK(same(zr_wide_negate(n), sums[i].negative));
		CHECK(zr_wide_clamp(n) == sums[i].nearest);
		CHECK(zr_wide_small(n, &small) == same(n, zr_wide_of(sums[i].nearest)));
	}
}

static void what_was_shifted_out_before_is_remembered(void)
{
	uint64_t lost = 1;

	zr_wide_shift_right((struct zr_wide){0, 4}, 2, &lost);
	CHECK(lost != 0);
}

int main(void)
{
	RUN(products_and_quotients);
	RUN(shifts);
	RUN(sums_and_what_64_bits_hold);
	RUN(what_was_shifted_out_before_is_remembered);
	return EXIT_SUCCESS;
}
