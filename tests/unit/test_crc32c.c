/* SPDX-License-Identifier: MIT */
#include "test.h"
#include "crc32c.h"

/* One bit at a time, as RFC 3720 defines it. */
static uint32_t bitwise(const uint8_t *p, size_t n)
{
	uint32_t crc = UINT32_MAX;

	while (n--) {
		crc ^= *p++;
		for (int i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0x82f63b78) : 0);
	}
	return ~crc;
}

static void both(const void *p, size_t n, uint32_t want)
{
	CHECK_INT(zr_crc32c(p, n), want);
	CHECK_INT(zr_crc32c_portable(p, n), want);
}

static void vectors_of_rfc_3720_hold(void)
{
	uint8_t p[32];

	both("", 0, 0);
	both("123456789", 9, 0xe3069283);
	memset(p, 0, sizeof(p));
	both(p, 32, 0x8a9136aa);
	memset(p, 0xff, sizeof(p));
	both(p, 32, 0x62a8ab43);
	for (unsigned int i = 0; i < 32; i++)
		p[i] = (uint8_t)i;
	both(p, 32, 0x46dd794e);
	for (unsigned int i = 0; i < 32; i++)
		p[i] = (uint8_t)(31 - i);
	both(p, 32, 0x113fdb5c);
}

static void every_length_and_alignment_agrees_with_the_definition(void)
{
	uint8_t p[80];
	uint32_t x = 1;

	for (size_t i = 0; i < sizeof(p); i++) {
		x = x * 1103515245 + 12345;
		p[i] = (uint8_t)(x >> 16);
	}
	for (size_t at = 0; at < 9; at++) {
		for (size_t n = 0; at + n <= sizeof(p); n++)
			both(p + at, n, bitwise(p + at, n));
	}
}

static void every_table_entry_is_right(void)
{
	/* A byte with 0 to 15 bytes behind it passes through each slice. */
	for (unsigned int b = 0; b < 256; b++) {
		for (size_t behind = 0; behind < 16; behind++) {
			uint8_t p[16] = {(uint8_t)b};

			both(p, behind + 1, bitwise(p, behind + 1));
		}
	}
}

int main(void)
{
	RUN(vectors_of_rfc_3720_hold);
	RUN(every_length_and_alignment_agrees_with_the_definition);
	RUN(every_table_entry_is_right);
	return EXIT_SUCCESS;
}
