/* SPDX-License-Identifier: MIT */
/*
 * Expected texts come from Python: repr() of a float for float64; the digits of
 * numpy.format_float_scientific(x, unique=True), laid out as repr() does, for float32.
 * The sums are FNV-1a (64 bits) of the lines that Python made of the same numbers.
 */
#include "test.h"
#include "number.h"
#include "shortest.h"

#define FNV_START UINT64_C(0xcbf29ce484222325)

/* xorshift64*, as the Python that made the expected sums has it. */
static uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * UINT64_C(0x2545F4914F6CDD1D);
}

static uint64_t fnv(uint64_t hash, const char *p, const char *end)
{
	for (; p < end; p++)
		hash = (hash ^ (uint8_t)*p) * UINT64_C(0x100000001b3);
	return hash;
}

static char *put_float(char *out, struct zr_decimal d)
{
	if (d.cls == ZR_NAN)
		return stpcpy(out, "nan");
	if (d.cls == ZR_INFINITE)
		return stpcpy(out, d.negative ? "-inf" : "inf");
	return zr_put_decimal(out, d);
}

static void float64_is_as_repr_has_it(void)
{
	static const struct {
		uint64_t bits;
		const char *want;
	} row[] = {
		{UINT64_C(0x0000000000000000), "0.0"},
		{UINT64_C(0x8000000000000000), "-0.0"},
		{UINT64_C(0x0000000000000001), "5e-324"},
		{UINT64_C(0x0000000000000002), "1e-323"},
		{UINT64_C(0x0000000000000003), "1.5e-323"},
		{UINT64_C(0x000fffffffffffff), "2.225073858507201e-308"},
		{UINT64_C(0x0010000000000000), "2.2250738585072014e-308"},
		{UINT64_C(0x0010000000000001), "2.225073858507202e-308"},
		{UINT64_C(0x7fefffffffffffff), "1.7976931348623157e+308"},
		{UINT64_C(0x7ff0000000000000), "inf"},
		{UINT64_C(0xfff0000000000000), "-inf"},
		{UINT64_C(0x7ff8000000000000), "nan"},
		{UINT64_C(0xfff8000000000001), "nan"},
		{UINT64_C(0x7ff0000000000001), "nan"},
		{UINT64_C(0x4014000000000000), "5.0"},
		{UINT64_C(0x3fb999999999999a), "0.1"},
		{UINT64_C(0xbfb999999999999a), "-0.1"},
		{UINT64_C(0x3ee4f8b588e368f1), "1e-05"},
		{UINT64_C(0x3f1a36e2eb1c432d), "0.0001"},
		{UINT64_C(0x3f1a36371ea531a8), "9.999e-05"},
		{UINT64_C(0x430c6bf526340000), "1000000000000000.0"},
		{UINT64_C(0x4341c37937e08000), "1e+16"},
		{UINT64_C(0x433fffffffffffff), "9007199254740991.0"},
		{UINT64_C(0x4340000000000000), "9007199254740992.0"},
		{UINT64_C(0x4340000000000001), "9007199254740994.0"},
		{UINT64_C(0x4480f0cf064dd592), "1e+22"},
		{UINT64_C(0x44b52d02c7e14af6), "1e+23"},
		{UINT64_C(0x437b69b4ba630f35), "1.2345678901234568e+17"},
		{UINT64_C(0x3fd3333333333333), "0.3"},
		{UINT64_C(0x3fe5555555555555), "0.6666666666666666"},
		{UINT64_C(0x54b249ad2594c37d), "1e+100"},
		{UINT64_C(0x2b2bff2ee48e0530), "1e-100"},
		{UINT64_C(0x547d42aea2879f2e), "1e+99"},
		{UINT64_C(0x2b617f7d4ed8c33e), "1e-99"},
		{UINT64_C(0x4330000000000000), "4503599627370496.0"},
		{UINT64_C(0x4330000000000002), "4503599627370498.0"},
		{UINT64_C(0x4059000000000000), "100.0"},
		{UINT64_C(0x43118b54f22aeb03), "1234567890123456.8"},
		{UINT64_C(0xbf202e85be180b74), "-0.00012345678901234567"},
		{UINT64_C(0x4341c37937e07fff), "9999999999999998.0"},
		{UINT64_C(0x3fe0000000000000), "0.5"},
		{UINT64_C(0x444b1ae4d6e2ef50), "1e+21"},
		{UINT64_C(0x41b1de784a000000), "299792458.0"},
		{UINT64_C(0x44dfe185ca57c517), "6.02214076e+23"},
		{UINT64_C(0xbff8000000000000), "-1.5"},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		char line[64];

		*put_float(line, zr_shortest_f64(row[i].bits)) = '\0';
		CHECK_STR(line, row[i].want);
	}
}

static void float32_has_the_digits_of_its_own_width(void)
{
	static const struct {
		uint32_t bits;
		const char *want;
	} row[] = {
		{0x00000000, "0.0"},           {0x80000000, "-0.0"},
		{0x00000001, "1e-45"},         {0x00000002, "3e-45"},
		{0x00000003, "4e-45"},         {0x007fffff, "1.1754942e-38"},
		{0x00800000, "1.1754944e-38"}, {0x7f7fffff, "3.4028235e+38"},
		{0x7f800000, "inf"},           {0xff800000, "-inf"},
		{0x7fc00000, "nan"},           {0xffc00001, "nan"},
		{0x4b800000, "16777216.0"},    {0x5a0e1bca, "1e+16"},
		{0x4b7fffff, "16777215.0"},    {0x4b800001, "16777218.0"},
		{0x4ceb79a3, "123456790.0"},   {0x5a0e1bc9, "9999999000000000.0"},
		{0x3dcccccd, "0.1"},           {0x3727c5ac, "1e-05"},
		{0x38d1b717, "0.0001"},        {0xb9017428, "-0.0001234567"},
		{0x40a00000, "5.0"},           {0x3e99999a, "0.3"},
		{0x50000026, "8589974000.0"},  {0x501502f9, "10000000000.0"},
		{0x4c000000, "33554432.0"},    {0x4a000001, "2097152.2"},
		{0x4a000002, "2097152.5"},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		char line[64];

		*put_float(line, zr_shortest_f32(row[i].bits)) = '\0';
		CHECK_STR(line, row[i].want);
	}
}

/* Adds a line to the hash; the length twin has to agree on the way. */
static uint64_t hash_line(uint64_t hash, struct zr_decimal d)
{
	char line[64];
	char *end = put_float(line, d);

	CHECK(end - line <= ZR_DECIMAL_MAX_LEN);
	if (d.cls == ZR_FINITE)
		CHECK_INT(zr_decimal_len(d), end - line);
	*end++ = '\n';
	return fnv(hash, line, end);
}

static void random_floats_are_as_python_has_them(void)
{
	uint64_t state = 1, hash = FNV_START;

	for (int i = 0; i < 20000; i++)
		hash = hash_line(hash, zr_shortest_f64(random_next(&state)));
	CHECK(hash == UINT64_C(0x6273b0358fef1c3e));

	hash = FNV_START;
	for (int i = 0; i < 20000; i++)
		hash = hash_line(hash,
		                 zr_shortest_f32((uint32_t)(random_next(&state) >> 32)));
	CHECK(hash == UINT64_C(0xe3ff7ff9d0737ff3));

	/* Numbers with few digits: (r >> 20) % 10^(1 + r % 17) / 10^((r >> 8) % 20). */
	hash = FNV_START;
	for (int i = 0; i < 20000; i++) {
		uint64_t r = random_next(&state), bits;
		double x = (double)((r >> 20) % zr_powers_of_10[1 + r % 17]) /
		           (double)zr_powers_of_10[(r >> 8) % 20];

		memcpy(&bits, &x, sizeof(bits));
		hash = hash_line(hash, zr_shortest_f64(bits));
	}
	CHECK(hash == UINT64_C(0x4e47bcc6be7c00c1));
}

int main(void)
{
	RUN(float64_is_as_repr_has_it);
	RUN(float32_has_the_digits_of_its_own_width);
	RUN(random_floats_are_as_python_has_them);
	return EXIT_SUCCESS;
}
