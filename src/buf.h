/* SPDX-License-Identifier: MIT */
/*
 * buf.h - a growable byte buffer
 *
 * The first failed allocation sticks (`failed`), so a builder appends without
 * looking and checks once, at the end. All zero is an empty buffer.
 *
 * Layer 0. May include util.h.
 *
 * Memory: the buffer owns its bytes; zr_buf_done() gives them back, ZR_TAKE()
 *         of `data` hands them out (free() then).
 * Threads: none of its own; one owner at a time.
 */
#pragma once

#include "util.h"

struct zr_buf {
	uint8_t *data;
	size_t len; /* bytes in use */
	size_t cap; /* bytes allocated */
	bool failed;
};

/* Makes room for `more` bytes behind len. 0, or -ENOMEM (and `failed` is set). */
int zr_buf_reserve(struct zr_buf *b, size_t more);

/* Appends; a failure sticks. */
void zr_buf_add(struct zr_buf *b, const void *p, size_t n);
void zr_buf_adds(struct zr_buf *b, const char *s);
void zr_buf_addc(struct zr_buf *b, char c);
void zr_buf_addf(struct zr_buf *b, const char *fmt, ...) ZR_PRINTF(2, 3);

/* 0, or -ENOMEM if anything failed since the buffer was empty. */
ZR_MUST_CHECK int zr_buf_check(const struct zr_buf *b);

/* Frees the bytes; the buffer is empty again. NULL is allowed. */
void zr_buf_done(struct zr_buf *b);
