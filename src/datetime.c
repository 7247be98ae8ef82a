/* SPDX-License-Identifier: MIT */
#include "datetime.h"

#include "number.h"

__extension__ typedef __int128 i128;
__extension__ typedef unsigned __int128 u128;

#define FIRST_DAY (-719528) /* 0000-01-01 */
#define LAST_DAY 2932896    /* 9999-12-31 */
#define TWO_63 ((i128)1 << 63)

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
	i128 year;
	uint32_t month;
	uint32_t day;
	uint32_t rest;     /* of the day, in the unit or in seconds */
	uint64_t fraction; /* of the second, in units */
};

/* *n is divided by d (1 to 10^18), rounding down; returns the remainder. Most counts need
 * no division of 128 bits, and by a constant none at all. */
static inline __attribute__((always_inline)) uint64_t divide(i128 *n, uint64_t d)
{
	i128 q, r;

	if (*n == (int64_t)*n) {
		int64_t small = (int64_t)*n, divisor = (int64_t)d;
		int64_t rest = small % divisor;

		*n = small / divisor - (rest < 0);
		return (uint64_t)(rest < 0 ? rest + divisor : rest);
	}
	q = *n / (i128)d;
	r = *n % (i128)d;
	*n = q - (r < 0);
	return (uint64_t)(r < 0 ? r + (i128)d : r);
}

/* Takes the fraction off a count of fractions of a second. */
static uint64_t divide_fraction(i128 *n, unsigned int digits)
{
	switch (digits) {
	case 3:
		return divide(n, 1000);
	case 6:
		return divide(n, 1000000);
	case 9:
		return divide(n, 1000000000);
	default:
		return divide(n, zr_powers_of_10[digits]);
	}
}

/* Eras of 400 years from 0000-03-01, so that a leap day is the last of its year. */
static void civil(i128 days, struct date *d)
{
	i128 era = days + 719468;
	uint32_t day = (uint32_t)divide(&era, 146097);
	uint32_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	uint32_t month;

	day -= 365 * year + year / 4 - year / 100;
	month = (5 * day + 2) / 153;
	d->day = day - (153 * month + 2) / 5 + 1;
	d->month = month < 10 ? month + 3 : month - 9;
	d->year = 400 * era + year + (month > 9);
}

static struct date date_split(int64_t n, enum zr_unit unit, uint32_t scale)
{
	const struct unit *u = &units[unit];
	i128 count = (i128)n * scale;
	struct date d = {.month = 1, .day = 1};

	if (unit == ZR_MONTH)
		d.month = 1 + (uint32_t)divide(&count, 12);
	if (!u->per_day) {
		d.year = 1970 + count;
		return d;
	}
	if (unit == ZR_WEEK)
		count *= 7;
	if (u->digits)
		d.fraction = divide_fraction(&count, u->digits);
	if (u->per_day == 86400)
		d.rest = (uint32_t)divide(&count, 86400);
	else
		d.rest = (uint32_t)divide(&count, u->per_day);
	civil(count, &d);
	return d;
}

static unsigned int year_len(i128 year)
{
	u128 magnitude = year < 0 ? -(u128)year : (u128)year;
	unsigned int n = 0;

	for (; magnitude > UINT64_MAX; n++)
		magnitude /= 10;
	n += zr_u64_len((uint64_t)magnitude);
	return (year < 0) + ZR_MAX(n, 4U);
}

static char *put_year(char *out, i128 year)
{
	u128 magnitude = year < 0 ? -(u128)year : (u128)year;
	char *end, *p;

	if (magnitude <= 9999 && year >= 0)
		return zr_put_digits(out, (uint64_t)magnitude, 4);
	end = p = out + year_len(year);
	if (year < 0)
		*out++ = '-';
	for (; magnitude > UINT64_MAX; magnitude /= 10)
		*--p = (char)('0' + (unsigned int)(magnitude % 10));
	zr_put_digits(out, (uint64_t)magnitude, (unsigned int)(p - out));
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

/* The first and the last count whose date lies in a range of `unit`s as 128 bits. */
static void date_bounds(i128 first, i128 last, uint64_t scale, int64_t *ret_first,
                        int64_t *ret_last)
{
	uint64_t rest = divide(&first, scale);

	first += rest != 0;
	divide(&last, scale);
	*ret_first = (int64_t)ZR_MAX(first, -TWO_63);
	*ret_last = (int64_t)ZR_MIN(last, TWO_63 - 1);
}

unsigned int zr_date_common_len(enum zr_unit unit, uint32_t scale, int64_t *ret_first,
                                int64_t *ret_last)
{
	const struct unit *u = &units[unit];
	i128 first = FIRST_DAY, last = LAST_DAY + 1;
	i128 per_day;

	*ret_first = 0;
	*ret_last = -1;
	if (unit == ZR_GENERIC)
		return 0;
	if (!u->per_day) {
		per_day = unit == ZR_MONTH ? 12 : 1;
		first = -1970 * per_day;
		last = 8030 * per_day - 1;
	} else {
		per_day = (i128)u->per_day * (i128)zr_powers_of_10[u->digits];
		first *= per_day;
		last = last * per_day - 1;
	}
	date_bounds(first, last, (uint64_t)scale * (unit == ZR_WEEK ? 7 : 1), ret_first,
	            ret_last);
	return 4 + u->tail;
}

unsigned int zr_date_max_len(enum zr_unit unit, uint32_t scale)
{
	unsigned int low = zr_date_len(INT64_MIN, unit, scale);
	unsigned int high = zr_date_len(INT64_MAX, unit, scale);

	return ZR_MAX(low, high);
}
