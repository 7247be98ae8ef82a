/* SPDX-License-Identifier: MIT */
#include "test.h"
#include "digits.h"

#include <stdio.h>

static void check_8(uint32_t v)
{
	char want[16], got[8];

	snprintf(want, sizeof(want), "%08u", v);
	zr_store_chars(got, zr_digits8(v) + ZR_BYTES_OF('0'));
	CHECK_MEM(got, 8, want, 8);
}

/* A quotient by multiplication never falls when the number grows: if it is right on both
 * sides of each step, it is right in between. */
static void eight_digits_are_those_of_the_number(void)
{
	for (uint32_t v = 0; v < 10000; v++) {
		check_8(v);
		check_8(v * 10000);
		check_8(v * 10000 + 9999);
		check_8(v * 10000 + v);
	}
}

static void sixteen_digits_are_those_of_both_numbers(void)
{
	for (uint32_t v = 0; v < 10000; v++) {
		uint32_t high = v * 10000 + 9999 - v, low = 99999999 - high;
		char want[32], got[16];

		snprintf(want, sizeof(want), "%08u%08u", high, low);
		zr_chars16_store(got, zr_chars16_of(high, low));
		CHECK_MEM(got, 16, want, 16);
	}
}

static void a_part_stays_and_the_rest_moves_by_one(void)
{
	static const char text[] = "1234567890123456";

	for (unsigned int n = 0; n <= 16; n++) {
		char want[17], got[16];

		memcpy(want, text, n);
		memcpy(want + n + 1, text + n, 16 - n);
		zr_chars16_store(got,
		                 zr_chars16_part(zr_chars16_of(12345678, 90123456), n));
		if (n < 16)
			want[n] = got[n];
		CHECK_MEM(got, 16, want, 16);
	}
}

int main(void)
{
	RUN(eight_digits_are_those_of_the_number);
	RUN(sixteen_digits_are_those_of_both_numbers);
	RUN(a_part_stays_and_the_rest_moves_by_one);
	return EXIT_SUCCESS;
}
