/* SPDX-License-Identifier: MIT */
#include "datetime.h"

#include "number.h"
#include "wide.h"

#define FIRST_DAY (-719528) /* 0000-01-01 */
#define LAST_DAY 2932896    /* 9999-12-31 */

/* Per unit: what a day holds of it, or of the seconds that it divides by 10^digits. */
struct unit {
	uint32_t per_day; /* 0: not made of days */
	uint8_t digits;   /* of the fraction of a second */
	uint8_t tail;     /* bytes behind the year */
};

static const struct unit units[] = {
	[ZR_YEAR] = {0, 0, 0},        [ZR_MONTH] = {0, 0, 3},
	[ZR_WEEK] = {1, 0, 6},        [ZR_DAY] = {1, 0, 6},
	[ZR_HOUR] = {24, 0, 9},       [ZR_MINUTE] = {1440, 0, 12},
	[ZR_SECOND] = {86400, 0, 15}, [ZR_MS] = {86400, 3, 19},
	[ZR_US] = {86400, 6, 22},     [ZR_NS] = {86400, 9, 25},
	[ZR_PS] = {86400, 12, 28},    [ZR_FS] = {86400, 15, 31},
	[ZR_AS] = {86400, 18, 34},
};

struct date {
	struct zr_wide year;
	uint32_t month;
	uint32_t day;
	uint32_t rest;     /* of the day, in the unit or in seconds */
	uint64_t fraction; /* of the second, in units */
};

/* *n is divided by d, rounding down; returns the remainder. Most counts need no division
 * of 128 bits, and by a constant none at all. */
static inline __attribute__((always_inline)) uint32_t divide(struct zr_wide *n,
                                                             uint32_t d)
{
	int64_t small, rest;

	if (!zr_wide_small(*n, &small))
		return zr_wide_divide(n, d);
	rest = small % d;
	*n = zr_wide_of(small / d - (rest < 0));
	return (uint32_t)(rest < 0 ? rest + d : rest);
}

/* Takes the fraction off a count of fractions of a second. */
static uint64_t divide_fraction(struct zr_wide *n, unsigned int digits)
{
	uint64_t low;

	switch (digits) {
	case 3:
		return divide(n, 1000);
	case 6:
		return divide(n, 1000000);
	case 9:
		return divide(n, 1000000000);
	default:
		low = divide(n, 1000000000);
		return low + UINT64_C(1000000000) *
		                     divide(n, (uint32_t)zr_powers_of_10[digits - 9]);
	}
}

/* Eras of 400 years from 0000-03-01, so that a leap day is the last of its year. */
static void civil(struct zr_wide days, struct date *d)
{
	struct zr_wide era = zr_wide_add(days, 719468);
	uint32_t day = divide(&era, 146097);
	uint32_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	uint32_t month;

	day -= 365 * year + year / 4 - year / 100;
	month = (5 * day + 2) / 153;
	d->day = day - (153 * month + 2) / 5 + 1;
	d->month = month < 10 ? month + 3 : month - 9;
	d->year = zr_wide_add(zr_wide_mul(era, 400), year + (month > 9));
}

static struct date date_split(int64_t n, enum zr_unit unit, uint32_t scale)
{
	const struct unit *u = &units[unit];
	struct zr_wide count = zr_wide_mul(zr_wide_of(n), scale);
	struct date d = {.month = 1, .day = 1};

	if (unit == ZR_MONTH)
		d.month = 1 + divide(&count, 12);
	if (!u->per_day) {
		d.year = zr_wide_add(count, 1970);
		return d;
	}
	if (unit == ZR_WEEK)
		count = zr_wide_mul(count, 7);
	if (u->digits)
		d.fraction = divide_fraction(&count, u->digits);
	if (u->per_day == 86400)
		d.rest = divide(&count, 86400);
	else
		d.rest = divide(&count, u->per_day);
	civil(count, &d);
	return d;
}

static struct zr_wide magnitude_of(struct zr_wide year)
{
	return zr_wide_is_negative(year) ? zr_wide_negate(year) : year;
}

static unsigned int year_len(struct zr_wide year)
{
	struct zr_wide magnitude = magnitude_of(year);
	unsigned int n = 0;

	for (; magnitude.hi; n++)
		zr_wide_divide_unsigned(&magnitude, 10);
	n += zr_u64_len(magnitude.lo);
	return zr_wide_is_negative(year) + ZR_MAX(n, 4U);
}

static char *put_year(char *out, struct zr_wide year)
{
	struct zr_wide magnitude = magnitude_of(year);
	char *end, *p;

	if (year.hi == 0 && year.lo <= 9999)
		return zr_put_digits(out, year.lo, 4);
	end = p = out + year_len(year);
	if (zr_wide_is_negative(year))
		*out++ = '-';
	while (magnitude.hi)
		*--p = (char)('0' + zr_wide_divide_unsigned(&magnitude, 10));
	zr_put_digits(out, magnitude.lo, (unsigned int)(p - out));
	return end;
}

static inline char *put_2(char *out, char before, uint32_t v)
{
	*out++ = before;
	*out++ = (char)('0' + v / 10);
	*out++ = (char)('0' + v % 10);
	return out;
}

char *zr_put_date(char *out, int64_t n, enum zr_unit unit, uint32_t scale)
{
	const struct unit *u = &units[unit];
	struct date d;

	if (unit == ZR_GENERIC)
		return zr_put_i64(out, n);
	d = date_split(n, unit, scale);
	out = put_year(out, d.year);
	if (unit == ZR_YEAR)
		return out;
	out = put_2(out, '-', d.month);
	if (unit == ZR_MONTH)
		return out;
	out = put_2(out, '-', d.day);
	switch (u->per_day) {
	case 1:
		return out;
	case 24:
		return put_2(out, 'T', d.rest);
	case 1440:
		out = put_2(out, 'T', d.rest / 60);
		return put_2(out, ':', d.rest % 60);
	default:
		out = put_2(out, 'T', d.rest / 3600);
		out = put_2(out, ':', d.rest / 60 % 60);
		out = put_2(out, ':', d.rest % 60);
	}
	if (!u->digits)
		return out;
	*out++ = '.';
	return zr_put_digits(out, d.fraction, u->digits);
}

unsigned int zr_date_len(int64_t n, enum zr_unit unit, uint32_t scale)
{
	if (unit == ZR_GENERIC)
		return zr_i64_len(n);
	return year_len(date_split(n, unit, scale).year) + units[unit].tail;
}

/* The first and the last count of 64 bits whose date lies in a range of units. */
static void date_bounds(struct zr_wide first, struct zr_wide last, enum zr_unit unit,
                        uint32_t scale, int64_t *ret_first, int64_t *ret_last)
{
	const uint32_t divisor[] = {scale, unit == ZR_WEEK ? 7 : 1};
	bool rest = false;

	for (size_t i = 0; i < ZR_COUNT(divisor); i++) {
		rest |= zr_wide_divide(&first, divisor[i]) != 0;
		zr_wide_divide(&last, divisor[i]);
	}
	*ret_first = zr_wide_clamp(zr_wide_add(first, rest));
	*ret_last = zr_wide_clamp(last);
}

/* n days in a unit. */
static struct zr_wide days_in(int64_t n, const struct unit *u)
{
	unsigned int low = ZR_MIN(u->digits, 9U);
	struct zr_wide count = zr_wide_mul(zr_wide_of(n), u->per_day);

	count = zr_wide_mul(count, (uint32_t)zr_powers_of_10[low]);
	return zr_wide_mul(count, (uint32_t)zr_powers_of_10[u->digits - low]);
}

unsigned int zr_date_common_len(enum zr_unit unit, uint32_t scale, int64_t *ret_first,
                                int64_t *ret_last)
{
	const struct unit *u = &units[unit];
	struct zr_wide first, last;

	*ret_first = 0;
	*ret_last = -1;
	if (unit == ZR_GENERIC)
		return 0;
	if (!u->per_day) {
		int64_t per_year = unit == ZR_MONTH ? 12 : 1;

		first = zr_wide_of(-1970 * per_year);
		last = zr_wide_of(8030 * per_year - 1);
	} else {
		first = days_in(FIRST_DAY, u);
		last = zr_wide_add(days_in(LAST_DAY + 1, u), -1);
	}
	date_bounds(first, last, unit, scale, ret_first, ret_last);
	return 4 + u->tail;
}

unsigned int zr_date_max_len(enum zr_unit unit, uint32_t scale)
{
	unsigned int low = zr_date_len(INT64_MIN, unit, scale);
	unsigned int high = zr_date_len(INT64_MAX, unit, scale);

	return ZR_MAX(low, high);
}
