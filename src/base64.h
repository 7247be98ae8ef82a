/* SPDX-License-Identifier: MIT */
/*
 * base64.h - RFC 4648 section 4: standard alphabet, padded, no line breaks
 *
 * Layer 0. May include util.h. Threads: no state; any.
 */
#pragma once

#include "util.h"

/* Characters that n bytes become. */
static inline uint64_t zr_base64_len(uint64_t n)
{
	return (n + 2) / 3 * 4;
}

/* Writes zr_base64_len(n) characters, no NUL; returns the end. */
char *zr_base64_encode(const uint8_t *in, size_t n, char *out);

/*
 * Decode n characters into out (room for n / 4 * 3 bytes). -EINVAL for anything that the
 * encoder would not have written: other characters, wrong padding or length, stray bits.
 */
ZR_MUST_CHECK int zr_base64_decode(const char *in, size_t n, uint8_t *out,
                                   size_t *ret_len);
