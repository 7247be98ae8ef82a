/* SPDX-License-Identifier: MIT */
/*
 * err.h - why something could not be understood: a code and one line for a person
 *
 * Only functions that read what a store or a user wrote take one, as their last
 * argument `reterr`. It lives on the caller's stack. The text names what was met
 * and where ("codec 'foo' is unknown"), without the array's path, which only the
 * caller knows; it holds no line feed and no control character (whatever comes
 * from a store is cleaned when it is set).
 *
 * Layer 0. May include util.h.
 */
#pragma once

#include "util.h"

struct zr_err {
	int code;       /* 0, or -errno */
	char text[256]; /* UTF-8, NUL-terminated, cut at a character if too long */
};

/* Sets *reterr (which may be NULL) and returns `code`. The first text wins: an error
 * that is already set is left alone. */
int zr_err_set(struct zr_err *reterr, int code, const char *fmt, ...) ZR_PRINTF(3, 4);
