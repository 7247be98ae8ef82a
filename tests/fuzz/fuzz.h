/* SPDX-License-Identifier: MIT */
/*
 * fuzz.h - what all fuzz targets share: the entry point, and reading an input piece by
 * piece
 *
 * A target turns the bytes of an input into a call of what it tests and checks what must
 * hold whatever the bytes are. The `fuzz` preset links it with libFuzzer, which makes
 * inputs up; all others with replay.c, which reads them from files.
 */
#pragma once

#include <errno.h>

#include "err.h"
#include "test.h"
#include "util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is left of an input. Behind its end there are zeros. */
struct input {
	const uint8_t *p;
	size_t left;
};

static inline uint64_t take_uint(struct input *in, unsigned int bytes)
{
	uint64_t v = 0;

	for (unsigned int i = 0; i < bytes; i++) {
		v |= (uint64_t)(in->left ? *in->p : 0) << (8 * i);
		in->p += in->left > 0;
		in->left -= in->left > 0;
	}
	return v;
}

static inline unsigned int take_byte(struct input *in)
{
	return (unsigned int)take_uint(in, 1);
}

/* A number below n. */
static inline unsigned int take_below(struct input *in, unsigned int n)
{
	return take_byte(in) % n;
}

/* At most n bytes, in a block of their own of exactly that size: AddressSanitizer sees a
 * read behind them. To be freed. */
static inline uint8_t *take_block(struct input *in, size_t n, size_t *ret_len)
{
	uint8_t *block;

	n = ZR_MIN(n, in->left);
	block = malloc(n + (n == 0));
	CHECK(block);
	if (n > 0)
		memcpy(block, in->p, n);
	in->p += n;
	in->left -= n;
	*ret_len = n;
	return block;
}

/* The same, up to `end`, which is left out; with a NUL behind. */
static inline char *take_text(struct input *in, char end, size_t *ret_len)
{
	const uint8_t *found = in->left ? memchr(in->p, end, in->left) : NULL;
	size_t n = found ? (size_t)(found - in->p) : in->left;
	char *text = malloc(n + 1);

	CHECK(text);
	if (n > 0)
		memcpy(text, in->p, n);
	text[n] = '\0';
	n += found != NULL;
	in->p += n;
	in->left -= n;
	*ret_len = n - (found != NULL);
	return text;
}
