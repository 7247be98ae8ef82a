/* SPDX-License-Identifier: MIT */
/*
 * The expected lines of every code of every format were made in Python: the codes were
 * decoded by ml_dtypes 0.6 (float16: NumPy), and for each value the decimals of 1, 2, ...
 * digits around it were tried with fractions.Fraction until one lay between the midpoints
 * to the values of the neighbouring codes (on a midpoint: only of even codes); of two,
 * the nearer one; laid out as repr() does. The lines of float16 equal what
 * numpy.format_float_scientific(x, unique=True) gives. Below the smallest e8m0 its half
 * is taken for the neighbour. What is stored here is FNV-1a (64 bits) of all lines in the
 * order of the codes, each with its LF.
 */
#include "test.h"
#include "number.h"
#include "smallfloat.h"

static char *put_line(char *out, struct zr_decimal d)
{
	if (d.cls == ZR_NAN)
		return stpcpy(out, "nan");
	if (d.cls == ZR_INFINITE)
		return stpcpy(out, d.negative ? "-inf" : "inf");
	return zr_put_decimal(out, d);
}

static void every_code_has_the_shortest_digits(void)
{
	static const struct {
		enum zr_float f;
		unsigned int bits;
		uint64_t want;
	} row[] = {
		{ZR_F16, 16, UINT64_C(0x8fdc0cdb66537744)},
		{ZR_BF16, 16, UINT64_C(0x4f073cba0cd21162)},
		{ZR_F8_E3M4, 8, UINT64_C(0xf68ae987e5c30dea)},
		{ZR_F8_E4M3, 8, UINT64_C(0x3c97b55423183cfc)},
		{ZR_F8_E4M3B11FNUZ, 8, UINT64_C(0xfb47e1142f606d9d)},
		{ZR_F8_E4M3FNUZ, 8, UINT64_C(0x78bd010304b03ceb)},
		{ZR_F8_E5M2, 8, UINT64_C(0x4369ff25c306f4dc)},
		{ZR_F8_E5M2FNUZ, 8, UINT64_C(0x11609e5820cad7f5)},
		{ZR_F8_E8M0FNU, 8, UINT64_C(0xfeac88fb33b34a5b)},
		{ZR_F8_E4M3FN, 8, UINT64_C(0x98aae69deec2c60c)},
		{ZR_F6_E2M3FN, 6, UINT64_C(0x5cd0225d8da830a9)},
		{ZR_F6_E3M2FN, 6, UINT64_C(0x471cb510561d7e73)},
		{ZR_F4_E2M1FN, 4, UINT64_C(0xf3f785d8067c4fd3)},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		uint64_t hash = UINT64_C(0xcbf29ce484222325);

		for (uint32_t code = 0; code < 1U << row[i].bits; code++) {
			char line[64];
			char *end = put_line(line, zr_shortest_small(row[i].f, code));

			*end++ = '\n';
			for (char *p = line; p < end; p++)
				hash = (hash ^ (uint8_t)*p) * UINT64_C(0x100000001b3);
		}
		if (hash != row[i].want)
			fprintf(stderr, "format %d\n", (int)row[i].f);
		CHECK(hash == row[i].want);
	}
}

static void some_codes_can_be_read_here(void)
{
	static const struct {
		enum zr_float f;
		uint32_t code;
		const char *want;
	} row[] = {
		{ZR_F16, 0x0001, "6e-08"},     {ZR_F16, 0x2e66, "0.1"},
		{ZR_F16, 0x7bff, "65500.0"},   {ZR_F16, 0x8000, "-0.0"},
		{ZR_F16, 0xfc00, "-inf"},      {ZR_F16, 0xfe00, "nan"},
		{ZR_F16, 0x3c01, "1.001"},     {ZR_BF16, 0x3f80, "1.0"},
		{ZR_BF16, 0x7f7f, "3.39e+38"}, {ZR_BF16, 0x0001, "9e-41"},
		{ZR_F8_E4M3FN, 0x7e, "450.0"}, /* 448: between 432 and 464 */
		{ZR_F8_E4M3FN, 0xff, "nan"},   {ZR_F8_E4M3FNUZ, 0x80, "nan"},
		{ZR_F8_E8M0FNU, 0x7f, "1.0"},  {ZR_F8_E8M0FNU, 0xff, "nan"},
		{ZR_F4_E2M1FN, 0x1, "0.5"},    {ZR_F4_E2M1FN, 0xf, "-6.0"},
		{ZR_F4_E2M1FN, 0xf1, "0.5"}, /* upper bits are ignored */
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		char line[64];

		*put_line(line, zr_shortest_small(row[i].f, row[i].code)) = '\0';
		CHECK_STR(line, row[i].want);
	}
}

int main(void)
{
	RUN(every_code_has_the_shortest_digits);
	RUN(some_codes_can_be_read_here);
	return EXIT_SUCCESS;
}
