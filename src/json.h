/* SPDX-License-Identifier: MIT */
/*
 * json.h - JSON as stores really hold it
 *
 * jansson refuses what real documents contain: bare NaN and Infinity, integers beyond
 * int64, lone surrogates, NULs in keys. The scanner here stands in front of it: it
 * checks a document against RFC 8259 plus those, bounds its depth, finds members without
 * parsing the rest (attributes are served as they were stored), and respells what
 * jansson would refuse, without loss: strings that need it as MARK 'x' hexadecimal
 * bytes, numbers as MARK 'n' their own text, where MARK is U+0001 (a string that begins
 * with U+0001 by itself is respelled as well). zr_json_string() and zr_json_number()
 * read both spellings back.
 *
 * json.c is the scanner, json_token.c its strings and numbers, json_value.c what is done
 * with parsed values.
 *
 * Layer 1. May include layer 0.
 *
 * Threads: no state; any.
 */
#pragma once

#include <jansson.h>

#include "buf.h"
#include "err.h"

/* A piece of a document. data NULL: not there. Borrowed from the document. */
struct zr_json_slice {
	const char *data;
	size_t len;
};

/* Checks that text is one JSON value, whole, of any depth (attributes are served as they
 * are; nothing here recurses). A byte order mark in front is skipped. -EINVAL with line,
 * column and cause, also for invalid UTF-8; -ENOMEM. */
ZR_MUST_CHECK int zr_json_check(const char *text, size_t len, struct zr_err *reterr);

/* The value of a member of the object `text` (the last one of that name), whose text was
 * checked before. {NULL, 0} if it is no object or has no such member. */
struct zr_json_slice zr_json_member(const char *text, size_t len, const char *key);

/* Likewise of several members, in one pass over the text. keys: NULL-terminated; ret: one
 * for each of them. */
void zr_json_members(const char *text, size_t len, const char *const *keys,
                     struct zr_json_slice *ret);

/* Walks through the members of an object or the elements of a list, whose text was
 * checked before, without parsing them: one pass over the text in all. */
struct zr_json_walk {
	const char *text; /* borrowed */
	size_t len;
	size_t at; /* the bracket or comma in front of the next one */
	bool object;
};

struct zr_json_walk zr_json_walk(const char *text, size_t len);

/* The next one; false when there is none, at once for what is neither object nor list.
 * *ret_key (may be NULL): the inside of the member's name as written, for
 * zr_json_unescape(); of an element {NULL, 0}. */
bool zr_json_next(struct zr_json_walk *w, struct zr_json_slice *ret_key,
                  struct zr_json_slice *ret_value);

/* The bytes that the inside of a checked string stands for, as zr_json_string() gives
 * them; never more than were written, so that `out` may be where it lies. Returns how
 * many. */
size_t zr_json_unescape(struct zr_json_slice inside, char *out);

/* Appends n of those bytes; what is no UTF-8 (lone surrogates) becomes U+FFFD. */
void zr_json_add_scalars(struct zr_buf *ret, const void *text, size_t n);

/*
 * Parse a value. Members of the *top-level* object that `skip` (NULL-terminated; may be
 * NULL) names are checked but left out. -EINVAL as above, and for nesting beyond
 * ZR_MAX_JSON_DEPTH elsewhere than in those; -ENOMEM.
 */
ZR_MUST_CHECK int zr_json_parse(const char *text, size_t len, const char *const *skip,
                                json_t **ret, struct zr_err *reterr);

/* The bytes of a string or key, true to the document (lone surrogates as three bytes, in
 * the manner of UTF-8), appended to an empty buffer, plus a NUL that len does not count.
 * -EINVAL when v is no string. */
ZR_MUST_CHECK int zr_json_string(const json_t *v, struct zr_buf *ret);
ZR_MUST_CHECK int zr_json_key(const char *key, struct zr_buf *ret);

/* The text of a number as written: in particular of "NaN", "Infinity", "-Infinity" and
 * of integers beyond int64. NULL when v is no respelled number. Borrowed from v. */
const char *zr_json_number(const json_t *v);

/* Member of an object by its true name; *ret is borrowed, NULL if there is none. Only
 * -ENOMEM. */
ZR_MUST_CHECK int zr_json_get(const json_t *object, const char *name, size_t len,
                              const json_t **ret);

/* Appends a parsed value as compact, strict JSON: members in their order, whole numbers
 * as written, others as Python's repr spells them, null for what is not finite, U+FFFD
 * for lone surrogates, \u00NN for control characters (C0, DEL, C1) that have no short
 * escape. -ENOMEM. */
ZR_MUST_CHECK int zr_json_compact(const json_t *v, struct zr_buf *ret);
