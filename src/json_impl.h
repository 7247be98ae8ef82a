/* SPDX-License-Identifier: MIT */
/*
 * json_impl.h - what the files of the JSON scanner share: a place in a text, and the
 * strings and numbers there (json_token.c)
 *
 * Layer 1. May include json.h.
 */
#pragma once

#include "json.h"

#define ZR_JSON_MARK 1 /* U+0001 */

struct zr_scan {
	const uint8_t *text;
	size_t len;
	size_t at;
	struct zr_err *reterr;

	struct zr_buf objects; /* bit i: level i is an object */
	size_t depth;
	size_t max_depth; /* outside the members left out */

	const char *const *skip; /* names of members to leave out, or NULL */
	bool skipping;           /* inside one of them */
	struct zr_buf *out;      /* or NULL */
};

struct zr_token {
	const uint8_t *p;
	size_t len;
	bool odd; /* jansson would refuse it, or take it for a respelling */
};

/* Sets the error, with line and column of the place; returns -EINVAL. */
int zr_scan_fail(struct zr_scan *s, const char *cause);

/* The next byte, or -1 at the end. */
static inline int zr_scan_peek(const struct zr_scan *s)
{
	return s->at < s->len ? s->text[s->at] : -1;
}

void zr_scan_space(struct zr_scan *s);

/* Where to copy to, or NULL. */
static inline struct zr_buf *zr_scan_out(const struct zr_scan *s)
{
	return s->skipping ? NULL : s->out;
}

/* Checks the string at the place, which begins with a quotation mark, and moves behind
 * it; *t: its inside. */
ZR_MUST_CHECK int zr_scan_string(struct zr_scan *s, struct zr_token *t);

/* Copies a string for jansson, respelled where it must be. */
void zr_scan_put_string(const struct zr_scan *s, const struct zr_token *t);

/* Checks and copies the number at the place, and moves behind it. */
ZR_MUST_CHECK int zr_scan_number(struct zr_scan *s);

/* Moves behind `word` if it is there. */
bool zr_scan_word(struct zr_scan *s, const char *word);

/* Whether the inside of a checked string spells `name`. */
bool zr_token_is(const struct zr_token *t, const char *name);
