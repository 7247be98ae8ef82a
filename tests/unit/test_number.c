/* SPDX-License-Identifier: MIT */
#include "test.h"
#include "number.h"

#include <inttypes.h>

static void check_u64(uint64_t v)
{
	char want[32], got[32];

	snprintf(want, sizeof(want), "%" PRIu64, v);
	*zr_put_u64(got, v) = '\0';
	CHECK_STR(got, want);
	CHECK_INT(zr_u64_len(v), strlen(want));
}

static void check_i64(int64_t v)
{
	char want[32], got[32];

	snprintf(want, sizeof(want), "%" PRId64, v);
	*zr_put_i64(got, v) = '\0';
	CHECK_STR(got, want);
	CHECK_INT(zr_i64_len(v), strlen(want));
}

static void integers_around_each_power_have_all_their_digits(void)
{
	for (int i = 0; i < 20; i++)
		for (uint64_t d = 0; d < 3; d++)
			check_u64(zr_powers_of_10[i] + d - 1);
	for (int i = 0; i < 64; i++) {
		check_u64((UINT64_C(1) << i) - 1);
		check_u64(UINT64_C(1) << i);
	}
	check_u64(UINT64_MAX);
	for (uint64_t v = 0; v < 20000; v++)
		check_u64(v);
}

static void negative_integers_reach_the_smallest(void)
{
	static const int64_t row[] = {0,    -1,        1,         -9,        -10,     -99,
	                              -100, INT64_MIN, INT64_MAX, INT32_MIN, INT8_MIN};

	for (size_t i = 0; i < ZR_COUNT(row); i++)
		check_i64(row[i]);
}

static void nothing_is_written_behind_the_end(void)
{
	char out[32];

	for (unsigned int n = 1; n <= 20; n++) {
		memset(out, 'x', sizeof(out));
		CHECK(zr_put_digits(out, 7, n) == out + n);
		CHECK(out[n - 1] == '7' && out[n] == 'x');
		for (unsigned int i = 0; i + 1 < n; i++)
			CHECK(out[i] == '0');
	}
}

/* Texts are Python's repr() of the same decimal as a float. */
static void decimals_are_laid_out_as_repr_does(void)
{
	static const struct {
		uint64_t digits;
		int exponent;
		bool negative;
		const char *want;
	} row[] = {
		{0, 0, false, "0.0"},
		{0, 0, true, "-0.0"},
		{5, 0, false, "5.0"},
		{1, -1, false, "0.1"},
		{1, -4, false, "0.0001"},
		{1, -5, false, "1e-05"},
		{12, -5, true, "-0.00012"},
		{12, -6, true, "-1.2e-05"},
		{1, 15, false, "1000000000000000.0"},
		{1, 16, false, "1e+16"},
		{12, 14, false, "1200000000000000.0"},
		{12, 15, false, "1.2e+16"},
		{123, -2, false, "1.23"},
		{123, -1, true, "-12.3"},
		{123, -3, false, "0.123"},
		{1234567890123456, -1, false, "123456789012345.6"},
		{12345678901234568, -1, false, "1234567890123456.8"},
		{12345678901234568, 1, false, "1.2345678901234568e+17"},
		{1, 100, false, "1e+100"},
		{1, 99, false, "1e+99"},
		{1, -99, false, "1e-99"},
		{1, -100, true, "-1e-100"},
		{22250738585072014, -324, true, "-2.2250738585072014e-308"},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_decimal d = {.digits = row[i].digits,
		                       .exponent = (int16_t)row[i].exponent,
		                       .negative = row[i].negative};
		char got[64];

		memset(got, 0, sizeof(got));
		*zr_put_decimal(got, d) = '\0';
		CHECK_STR(got, row[i].want);
		CHECK_INT(zr_decimal_len(d), strlen(row[i].want));
	}
}

static void short_integers_are_counted_like_long_ones(void)
{
	for (unsigned int bit = 0; bit < 32; bit++)
		for (int d = -2; d <= 2; d++)
			CHECK_INT(zr_u32_len(((uint32_t)1 << bit) + (uint32_t)d),
			          zr_u64_len(((uint32_t)1 << bit) + (uint32_t)d));
	for (uint64_t p = 1; p < (uint64_t)1 << 32; p *= 10)
		for (int d = -1; d <= 1; d++)
			CHECK_INT(zr_u32_len((uint32_t)p + (uint32_t)d),
			          zr_u64_len((uint32_t)p + (uint32_t)d));
	for (int v = INT16_MIN; v <= INT16_MAX; v++)
		CHECK_INT(zr_i16_len(v), zr_i64_len(v));
	for (unsigned int v = 0; v <= UINT16_MAX; v++)
		CHECK_INT(zr_u16_len(v), zr_u64_len(v));
	CHECK_INT(zr_i32_len(INT32_MIN), 11);
	CHECK_INT(zr_i32_len(-1), 2);
	CHECK_INT(zr_i32_len(0), 1);
}

int main(void)
{
	RUN(integers_around_each_power_have_all_their_digits);
	RUN(negative_integers_reach_the_smallest);
	RUN(nothing_is_written_behind_the_end);
	RUN(decimals_are_laid_out_as_repr_does);
	RUN(short_integers_are_counted_like_long_ones);
	return EXIT_SUCCESS;
}
