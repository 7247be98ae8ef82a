/* SPDX-License-Identifier: MIT */
#include "number.h"

/* See number.h. */
#define FIXED(digits) ((uint64_t)(digits) << 32)
#define CARRY(digits, power) (((uint64_t)(digits) << 32) + ((uint64_t)1 << 32) - (power))

const uint64_t zr_digits_by_bit[32] = {
	FIXED(1),       FIXED(1),          FIXED(1),
	CARRY(1, 10),   FIXED(2),          FIXED(2),
	CARRY(2, 100),  FIXED(3),          FIXED(3),
	CARRY(3, 1000), FIXED(4),          FIXED(4),
	FIXED(4),       CARRY(4, 10000),   FIXED(5),
	FIXED(5),       CARRY(5, 100000),  FIXED(6),
	FIXED(6),       CARRY(6, 1000000), FIXED(7),
	FIXED(7),       FIXED(7),          CARRY(7, 10000000),
	FIXED(8),       FIXED(8),          CARRY(8, 100000000),
	FIXED(9),       FIXED(9),          CARRY(9, 1000000000),
	FIXED(10),      FIXED(10),
};

const uint64_t zr_powers_of_10[20] = {
	1,
	10,
	100,
	1000,
	10000,
	100000,
	1000000,
	10000000,
	100000000,
	1000000000,
	10000000000,
	100000000000,
	1000000000000,
	10000000000000,
	100000000000000,
	1000000000000000,
	10000000000000000,
	100000000000000000,
	1000000000000000000,
	10000000000000000000U,
};

static const char digit_pairs[] = "00010203040506070809"
				  "10111213141516171819"
				  "20212223242526272829"
				  "30313233343536373839"
				  "40414243444546474849"
				  "50515253545556575859"
				  "60616263646566676869"
				  "70717273747576777879"
				  "80818283848586878889"
				  "90919293949596979899";

/* Eight digits, independent of each other: two halves of two pairs each. */
static inline void put_8(char *out, uint32_t v)
{
	uint32_t high = v / 10000, low = v % 10000;

	memcpy(out, digit_pairs + high / 100 * 2, 2);
	memcpy(out + 2, digit_pairs + high % 100 * 2, 2);
	memcpy(out + 4, digit_pairs + low / 100 * 2, 2);
	memcpy(out + 6, digit_pairs + low % 100 * 2, 2);
}

char *zr_put_digits(char *out, uint64_t v, unsigned int len)
{
	char *end = out + len;
	char *p = end;
	uint32_t rest;

	while (len > 8) {
		p -= 8;
		len -= 8;
		put_8(p, (uint32_t)(v % 100000000));
		v /= 100000000;
	}
	rest = (uint32_t)v;
	for (; len >= 2; len -= 2) {
		p -= 2;
		memcpy(p, digit_pairs + rest % 100 * 2, 2);
		rest /= 100;
	}
	if (len)
		*--p = (char)('0' + rest);
	return end;
}

char *zr_put_long(char *out, uint64_t v)
{
	uint32_t last = (uint32_t)(v % 100000000);

	v /= 100000000;
	if (v < 100) { /* as of 32 bits */
		*out = (char)('0' + v / 10);
		out += v >= 10;
		*out++ = (char)('0' + v % 10);
	} else if (v < 100000000) {
		out = zr_put_short(out, (uint32_t)v);
	} else {
		out = zr_put_short(out, (uint32_t)(v / 100000000));
		zr_store_chars(out,
		               zr_digits8((uint32_t)(v % 100000000)) + ZR_BYTES_OF('0'));
		out += 8;
	}
	zr_store_chars(out, zr_digits8(last) + ZR_BYTES_OF('0'));
	return out + 8;
}

/* repr() writes an exponent for anything outside of [1e-4, 1e16). */
static bool decimal_is_plain(int magnitude)
{
	return magnitude >= -4 && magnitude < 16;
}

unsigned int zr_decimal_len(struct zr_decimal d)
{
	unsigned int n = zr_u64_len(d.digits);
	int e = (int)n - 1 + d.exponent;

	if (!decimal_is_plain(e))
		return d.negative + n + (n > 1) + (e <= -100 || e >= 100 ? 5 : 4);
	if (d.exponent >= 0)
		return d.negative + (unsigned int)e + 3;
	return d.negative + n + 1 + (e < 0 ? (unsigned int)-e : 0);
}

static char *put_scientific(char *out, uint64_t digits, unsigned int n, int e)
{
	unsigned int magnitude = (unsigned int)(e < 0 ? -e : e);

	zr_put_digits(out + 1, digits, n);
	out[0] = out[1];
	out[1] = '.';
	out += n > 1 ? n + 1 : 1;
	*out++ = 'e';
	*out++ = e < 0 ? '-' : '+';
	return zr_put_digits(out, magnitude, magnitude >= 100 ? 3 : 2);
}

/*
 * Where the digits of a plain decimal go, by its magnitude: below 1 behind zeros and the
 * point, else with the point among them.
 */
struct plain {
	uint8_t skip;   /* what stands before the digits: 0.000 */
	uint8_t stay;   /* digits behind the first one that the point does not move */
	uint8_t point;  /* where it is */
	uint8_t points; /* 1 if it is among the digits, else 0 */
	uint8_t least; /* length, at least: 5.0 has a digit of its own behind the point */
};

#define BELOW_1(zeros)                                                                   \
	{                                                                                \
		.skip = (zeros) + 2, .stay = 16, .point = 1                              \
	}
#define FROM_1(n)                                                                        \
	{                                                                                \
		.stay = (n)-1, .point = (n), .points = 1, .least = (n) + 2               \
	}

static const struct plain plains[20] = {
	BELOW_1(3), BELOW_1(2), BELOW_1(1), BELOW_1(0), FROM_1(1),
	FROM_1(2),  FROM_1(3),  FROM_1(4),  FROM_1(5),  FROM_1(6),
	FROM_1(7),  FROM_1(8),  FROM_1(9),  FROM_1(10), FROM_1(11),
	FROM_1(12), FROM_1(13), FROM_1(14), FROM_1(15), FROM_1(16),
};

/* Always 17 digits; those that are too many are zeros, and lie behind the end. */
static char *put_plain(char *out, uint64_t digits, unsigned int n, int magnitude)
{
	const struct plain *p = &plains[magnitude + 4];
	uint64_t all = digits * zr_powers_of_10[17 - n];
	uint64_t behind = all % 10000000000000000;
	zr_chars16 c = zr_chars16_of((uint32_t)(behind / 100000000),
	                             (uint32_t)(behind % 100000000));
	char *to = out + p->skip;

	memcpy(out, "0.000000", 8);
	*to++ = (char)('0' + all / 10000000000000000);
	zr_chars16_store(to + 1, c); /* of which the last one stays, if it is moved */
	zr_chars16_store(to, zr_chars16_part(c, p->stay));
	out[p->point] = '.';
	n += p->points;
	return to - 1 + ZR_MAX(n, (unsigned int)p->least);
}

char *zr_put_decimal(char *out, struct zr_decimal d)
{
	unsigned int n = zr_u64_len(d.digits);
	int e = (int)n - 1 + d.exponent;

	*out = '-';
	out += d.negative;
	if (__builtin_expect(decimal_is_plain(e), 1))
		return put_plain(out, d.digits, n, e);
	return put_scientific(out, d.digits, n, e);
}
