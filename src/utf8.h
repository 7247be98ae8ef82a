/* SPDX-License-Identifier: MIT */
/*
 * utf8.h - one character at a time, trusting nothing
 *
 * Valid is what Unicode 15, table 3-7 says: no overlong forms, no surrogates, nothing
 * beyond U+10FFFF.
 *
 * Layer 0. May include util.h. Threads: no state; any.
 */
#pragma once

#include "util.h"

/*
 * Length in bytes (1 to 4) of the valid character at p, of which n >= 1 bytes may be
 * read; 0 if there is none. *ret_cp: its code point (written when the result is not 0).
 */
unsigned int zr_utf8_decode(const uint8_t *p, size_t n, uint32_t *ret_cp);

/*
 * The same for a name out of JSON, which may hold lone surrogates (in three bytes, in the
 * manner of UTF-8): a result of 0 becomes such a surrogate, or 1 and U+DC00 + byte, as
 * Python's surrogateescape has it.
 */
unsigned int zr_utf8_decode_name(const uint8_t *p, size_t n, uint32_t *ret_cp);

/* Writes a code point (a Unicode scalar value) as 1 to 4 bytes; returns how many. */
unsigned int zr_utf8_encode(uint32_t cp, uint8_t *out);

/* How many bytes zr_utf8_encode() would write. */
static inline unsigned int zr_utf8_size(uint32_t cp)
{
	return cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
}

/* Whether it may stand in UTF-8: at most U+10FFFF and no surrogate. */
static inline bool zr_is_scalar(uint32_t cp)
{
	return cp < 0xd800 || (cp > 0xdfff && cp <= 0x10ffff);
}

/* C0, DEL or C1. */
static inline bool zr_is_control(uint32_t cp)
{
	return cp < 0x20 || (cp >= 0x7f && cp <= 0x9f);
}

/* Length of the longest valid prefix of n bytes; n when all of it is valid. */
size_t zr_utf8_valid_prefix(const uint8_t *p, size_t n);

/*
 * Make a line for a person out of whatever a store or a user wrote: control characters
 * and bytes that are no UTF-8 become '?', so that it can neither write lines of its own
 * into a log nor escape sequences onto a terminal.
 */
void zr_utf8_clean(char *s);

/* Removes the beginning of a character at the end of a text that was cut to fit. */
void zr_utf8_trim(char *s);
