/* SPDX-License-Identifier: MIT */
/*
 * datetime.h - counts of a unit since 1970 as ISO 8601 text
 *
 *   store bytes -> codec -> chunk cache -> view -> [ render ] -> fuse reply
 *
 * To the precision of the unit, in the proleptic Gregorian calendar, without a zone.
 * Exact for all 64 bits, all units and all scale factors: years have as many digits as
 * they need, at least four, and a sign when negative. The year 0 is 1 BC.
 *
 * Layer 1. May include dtype.h and layer 0. Threads: no state; any.
 */
#pragma once

#include "dtype.h"

/* Most bytes of any text: the year of 2^63 * (2^31 - 1) years has 29 digits. */
#define ZR_DATE_MAX_LEN 64

/*
 * Text of n * scale units; returns the end, and may overwrite what is behind as number.h
 * says. ZR_GENERIC has no unit: the bare count, not
 * scaled. What NaT (INT64_MIN) looks like is for the caller to say.
 */
char *zr_put_date(char *out, int64_t n, enum zr_unit unit, uint32_t scale);

/* How long what zr_put_date() writes is. */
unsigned int zr_date_len(int64_t n, enum zr_unit unit, uint32_t scale);

/*
 * Counts from *ret_first to *ret_last are dates of the years 0 to 9999, whose text has
 * the same length, which is returned. For ZR_GENERIC: 0 and an empty range.
 */
unsigned int zr_date_common_len(enum zr_unit unit, uint32_t scale, int64_t *ret_first,
                                int64_t *ret_last);

/* The longest text of any count. */
unsigned int zr_date_max_len(enum zr_unit unit, uint32_t scale);
