/* SPDX-License-Identifier: MIT */
/*
 * The scanner is a loop, not a recursion: what it is inside of is one bit a level (set:
 * an object). While it checks it may copy to `out`, without white space, what jansson is
 * to see; members that are left out are checked as well, at any depth.
 */
#include "json_impl.h"

#include <errno.h>

#include "bounds.h"

enum { SCAN_END, SCAN_MORE, SCAN_DONE };

static void scan_done(struct zr_scan *s)
{
	zr_buf_done(&s->objects);
}

static void scan_start(struct zr_scan *s)
{
	/* A byte order mark is no part of JSON, but Python and jq skip one. */
	if (s->len >= 3 && memcmp(s->text, "\xef\xbb\xbf", 3) == 0)
		s->at = 3;
	zr_scan_space(s);
}

static void scan_put(const struct zr_scan *s, const void *p, size_t n)
{
	if (zr_scan_out(s))
		zr_buf_add(s->out, p, n);
}

static bool in_object(const struct zr_scan *s)
{
	return s->objects.data[(s->depth - 1) / 8] >> ((s->depth - 1) % 8) & 1;
}

/* Steps into the object or list whose bracket is at `at`. */
static int scan_open(struct zr_scan *s)
{
	bool object = s->text[s->at] == '{';
	size_t byte = s->depth / 8;
	uint8_t bit = (uint8_t)(1 << (s->depth % 8));

	if (s->depth >= s->max_depth && !s->skipping)
		return zr_scan_fail(s, "nested too deeply");
	if (byte == s->objects.len)
		zr_buf_addc(&s->objects, 0);
	if (zr_buf_check(&s->objects) < 0)
		return -ENOMEM;
	s->objects.data[byte] =
		(uint8_t)((s->objects.data[byte] & ~bit) | (object ? bit : 0));
	s->depth++;
	scan_put(s, s->text + s->at++, 1);
	return 0;
}

static int scan_key(struct zr_scan *s)
{
	struct zr_token key;
	int r;

	zr_scan_space(s);
	if (zr_scan_peek(s) != '"')
		return zr_scan_fail(s, "a member name in quotation marks is expected");
	r = zr_scan_string(s, &key);
	if (r < 0)
		return r;
	zr_scan_space(s);
	if (zr_scan_peek(s) != ':')
		return zr_scan_fail(s, "a colon is expected");
	s->at++;

	for (size_t i = 0; s->depth == 1 && s->skip && s->skip[i]; i++)
		if (zr_token_is(&key, s->skip[i]))
			s->skipping = true;
	/* Looks at what is written, not at what was read: the member before may have
	 * been left out. */
	if (zr_scan_out(s) && s->out->len && s->out->data[s->out->len - 1] != '{')
		scan_put(s, ",", 1);
	zr_scan_put_string(s, &key);
	scan_put(s, ":", 1);
	return 0;
}

/* Reads a scalar or an empty container (SCAN_DONE), or steps into another (SCAN_MORE). */
static int scan_value(struct zr_scan *s)
{
	static const char *const word[] = {"true", "false", "null"};
	struct zr_token t;
	int c, r;

	zr_scan_space(s);
	c = zr_scan_peek(s);
	if (c == '{' || c == '[') {
		r = scan_open(s);
		if (r < 0)
			return r;
		zr_scan_space(s);
		if (zr_scan_peek(s) == (c == '{' ? '}' : ']'))
			return SCAN_DONE;
		r = c == '{' ? scan_key(s) : 0;
		return r < 0 ? r : SCAN_MORE;
	}
	if (c == '"') {
		r = zr_scan_string(s, &t);
		if (r < 0)
			return r;
		zr_scan_put_string(s, &t);
		return SCAN_DONE;
	}
	for (size_t i = 0; i < ZR_COUNT(word); i++) {
		if (zr_scan_word(s, word[i])) {
			scan_put(s, word[i], strlen(word[i]));
			return SCAN_DONE;
		}
	}
	r = zr_scan_number(s);
	return r < 0 ? r : SCAN_DONE;
}

/* What may follow a value: the ends of its containers, or the next value. */
static int scan_after(struct zr_scan *s)
{
	for (;;) {
		int c;

		if (s->depth <= 1)
			s->skipping = false;
		zr_scan_space(s);
		c = zr_scan_peek(s);
		if (s->depth == 0)
			return c < 0 ? SCAN_END
			             : zr_scan_fail(s, "text behind the value");
		if (c == ',') {
			s->at++;
			if (in_object(s)) {
				int r = scan_key(s);

				return r < 0 ? r : SCAN_MORE;
			}
			scan_put(s, ",", 1);
			return SCAN_MORE;
		}
		if (c != (in_object(s) ? '}' : ']'))
			return zr_scan_fail(s, in_object(s) ? "a comma or } is expected"
			                                    : "a comma or ] is expected");
		s->depth--;
		scan_put(s, s->text + s->at++, 1);
	}
}

static int scan_document(struct zr_scan *s)
{
	int r;

	scan_start(s);
	do {
		r = scan_value(s);
		if (r == SCAN_DONE)
			r = scan_after(s);
	} while (r == SCAN_MORE);
	return r;
}

/* An empty document may be nowhere. */
static const uint8_t *text_of(const char *text, size_t len)
{
	return (const uint8_t *)(len > 0 ? text : "");
}

int zr_json_check(const char *text, size_t len, struct zr_err *reterr)
{
	ZR_CLEANUP(scan_done)
	struct zr_scan s = {.text = text_of(text, len),
	                    .len = len,
	                    .reterr = reterr,
	                    .max_depth = SIZE_MAX};

	return scan_document(&s);
}

int zr_json_parse(const char *text, size_t len, const char *const *skip, json_t **ret,
                  struct zr_err *reterr)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf out = {0};
	ZR_CLEANUP(scan_done)
	struct zr_scan s = {.text = text_of(text, len),
	                    .len = len,
	                    .reterr = reterr,
	                    .max_depth = ZR_MAX_JSON_DEPTH,
	                    .skip = skip,
	                    .out = &out};
	json_t *v;
	int r;

	r = scan_document(&s);
	if (r < 0)
		return r;
	r = zr_buf_check(&out);
	if (r < 0)
		return r;
	v = json_loadb((const char *)out.data, out.len, JSON_DECODE_ANY, NULL);
	/* It was checked, so it is that jansson has no memory, whatever it says then. */
	if (!v)
		return -ENOMEM;
	*ret = v;
	return 0;
}

/* Moves behind a string of a checked text; its inside. */
static struct zr_json_slice skip_string(struct zr_scan *s)
{
	size_t from = ++s->at, end;

	while (s->at < s->len && s->text[s->at] != '"')
		s->at += s->text[s->at] == '\\' ? 2 : 1;
	end = ZR_MIN(s->at, s->len);
	s->at = ZR_MIN(end + 1, s->len);
	return (struct zr_json_slice){(const char *)s->text + from, end - from};
}

/* Moves behind a value of a checked text. */
static void skip_value(struct zr_scan *s)
{
	size_t depth = 0;

	do {
		int c = zr_scan_peek(s);

		if (c < 0)
			return;
		if (c == '"') {
			skip_string(s);
			continue;
		}
		depth += c == '{' || c == '[';
		depth -= c == '}' || c == ']';
		s->at++;
	} while (depth > 0 || (s->at < s->len && !strchr(",]} \t\n\r", s->text[s->at])));
}

struct zr_json_walk zr_json_walk(const char *text, size_t len)
{
	struct zr_scan s = {.text = (const uint8_t *)text, .len = len};
	int c;

	scan_start(&s);
	c = zr_scan_peek(&s);
	return (struct zr_json_walk){.text = text,
	                             .len = len,
	                             .at = c == '{' || c == '[' ? s.at : len,
	                             .object = c == '{'};
}

bool zr_json_next(struct zr_json_walk *w, struct zr_json_slice *ret_key,
                  struct zr_json_slice *ret_value)
{
	struct zr_scan s = {
		.text = (const uint8_t *)w->text, .len = w->len, .at = w->at + 1};
	struct zr_json_slice key = {0};
	size_t from;
	int c;

	if (w->at >= w->len || strchr("}]", w->text[w->at]))
		return false;
	zr_scan_space(&s);
	c = zr_scan_peek(&s);
	w->at = w->len;
	if (c < 0 || c == '}' || c == ']')
		return false;
	if (w->object) {
		if (c != '"')
			return false;
		key = skip_string(&s);
		zr_scan_space(&s);
		s.at++; /* the colon */
		zr_scan_space(&s);
	}
	from = s.at;
	skip_value(&s);
	*ret_value = (struct zr_json_slice){w->text + from, s.at - from};
	if (ret_key)
		*ret_key = key;
	zr_scan_space(&s);
	w->at = s.at;
	return true;
}

void zr_json_members(const char *text, size_t len, const char *const *keys,
                     struct zr_json_slice *ret)
{
	struct zr_json_walk w = zr_json_walk(text, len);
	struct zr_json_slice name, value;

	for (size_t i = 0; keys[i]; i++)
		ret[i] = (struct zr_json_slice){0};
	while (w.object && zr_json_next(&w, &name, &value)) {
		struct zr_token t = {.p = (const uint8_t *)name.data, .len = name.len};

		for (size_t i = 0; keys[i]; i++)
			if (zr_token_is(&t, keys[i]))
				ret[i] = value;
	}
}

struct zr_json_slice zr_json_member(const char *text, size_t len, const char *key)
{
	const char *const keys[] = {key, NULL};
	struct zr_json_slice found;

	zr_json_members(text, len, keys, &found);
	return found;
}
