/* SPDX-License-Identifier: MIT */
/*
 * The scanner is a loop, not a recursion: what it is inside of is one bit a level (set:
 * an object). While it checks it may copy to `out`, without white space, what jansson is
 * to see; members that are left out are checked as well, at any depth.
 */
#include "json.h"

#include <errno.h>
#include <math.h>

#include "limits.h"
#include "utf8.h"

#define MARK 1 /* U+0001 */
#define MARK_TEXT "\\u0001"

struct scan {
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

struct token {
	const uint8_t *p;
	size_t len;
	bool odd; /* jansson would refuse it, or take it for a respelling */
};

enum { SCAN_END, SCAN_MORE, SCAN_DONE };

static void scan_done(struct scan *s)
{
	zr_buf_done(&s->objects);
}

static int scan_fail(struct scan *s, const char *cause)
{
	size_t line = 1, column = 1;

	for (size_t i = 0; i < s->at && i < s->len; i++) {
		if (s->text[i] == '\n') {
			line++;
			column = 1;
		} else if ((s->text[i] & 0xc0) != 0x80) {
			column++;
		}
	}
	return zr_err_set(s->reterr, -EINVAL, "line %zu column %zu: %s", line, column,
	                  s->at >= s->len ? "the text ends too early" : cause);
}

/* The next byte, or -1 at the end. */
static int scan_peek(const struct scan *s)
{
	return s->at < s->len ? s->text[s->at] : -1;
}

static void scan_space(struct scan *s)
{
	while (s->at < s->len && s->text[s->at] <= ' ' && s->text[s->at] != '\0' &&
	       strchr(" \t\n\r", s->text[s->at]))
		s->at++;
}

static void scan_start(struct scan *s)
{
	/* A byte order mark is no part of JSON, but Python and jq skip one. */
	if (s->len >= 3 && memcmp(s->text, "\xef\xbb\xbf", 3) == 0)
		s->at = 3;
	scan_space(s);
}

static struct zr_buf *scan_out(const struct scan *s)
{
	return s->skipping ? NULL : s->out;
}

static void scan_put(const struct scan *s, const void *p, size_t n)
{
	if (scan_out(s))
		zr_buf_add(s->out, p, n);
}

static int hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The number of \uXXXX at p, of which n bytes may be read, or -1. */
static int32_t hex_escape(const uint8_t *p, size_t n)
{
	int32_t v = 0;

	if (n < 6 || p[0] != '\\' || p[1] != 'u')
		return -1;
	for (int i = 2; i < 6; i++) {
		int d = hex_digit(p[i]);

		if (d < 0)
			return -1;
		v = v * 16 + d;
	}
	return v;
}

/*
 * One character of the inside of a checked string: its bytes, lone surrogates as three in
 * the manner of UTF-8. Returns how many, and moves *p behind it.
 */
static unsigned int unescape(const uint8_t **p, const uint8_t *end, uint8_t out[4])
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
	int32_t cp, low;

	if (**p != '\\') {
		out[0] = *(*p)++;
		return 1;
	}
	cp = hex_escape(*p, (size_t)(end - *p));
	if (cp < 0) {
		const char *which = strchr(from, (*p)[1]);

		out[0] = which ? (uint8_t)to[which - from] : (*p)[1];
		*p += 2;
		return 1;
	}
	*p += 6;
	if (cp >= 0xd800 && cp <= 0xdbff) {
		low = hex_escape(*p, (size_t)(end - *p));
		if (low >= 0xdc00 && low <= 0xdfff) {
			*p += 6;
			cp = 0x10000 + ((cp - 0xd800) << 10) + (low - 0xdc00);
		}
	}
	if (cp >= 0xd800 && cp <= 0xdfff) {
		out[0] = 0xed;
		out[1] = (uint8_t)(0x80 | (cp >> 6 & 0x3f));
		out[2] = (uint8_t)(0x80 | (cp & 0x3f));
		return 3;
	}
	return zr_utf8_encode((uint32_t)cp, out);
}

/* Checks the escape at `at` and moves behind it. */
static int scan_escape(struct scan *s, struct token *t)
{
	const uint8_t *p = s->text + s->at;
	size_t left = s->len - s->at;
	int32_t cp, low;

	if (left >= 2 && p[1] != 'u') {
		if (p[1] == '\0' || !strchr("\"\\/bfnrt", p[1]))
			return scan_fail(s, "no such escape in a string");
		s->at += 2;
		return 0;
	}
	cp = hex_escape(p, left);
	if (cp < 0)
		return scan_fail(s, "\\u without four hexadecimal digits");
	s->at += 6;
	if (cp == 0 || (cp == MARK && p == t->p))
		t->odd = true;
	if (cp < 0xd800 || cp > 0xdfff)
		return 0;

	low = cp <= 0xdbff ? hex_escape(p + 6, left - 6) : -1;
	if (low >= 0xdc00 && low <= 0xdfff)
		s->at += 6;
	else
		t->odd = true;
	return 0;
}

/* Checks the string at `at`, which begins with a quotation mark; *t: its inside. */
static int scan_string(struct scan *s, struct token *t)
{
	*t = (struct token){.p = s->text + ++s->at};
	while (s->at < s->len) {
		uint8_t c = s->text[s->at];
		uint32_t cp;
		unsigned int n;
		int r;

		if (c == '"') {
			t->len = (size_t)(s->text + s->at++ - t->p);
			return 0;
		}
		if (c < 0x20)
			return scan_fail(s, "a control character in a string");
		if (c == '\\') {
			r = scan_escape(s, t);
			if (r < 0)
				return r;
			continue;
		}
		n = c < 0x80 ? 1 : zr_utf8_decode(s->text + s->at, s->len - s->at, &cp);
		if (n == 0)
			return scan_fail(s, "invalid UTF-8 in a string");
		s->at += n;
	}
	return scan_fail(s, "a string without end");
}

static void put_string(const struct scan *s, const struct token *t)
{
	static const char digit[] = "0123456789abcdef";
	const uint8_t *p = t->p, *end = t->p + t->len;

	if (!scan_out(s))
		return;
	zr_buf_addc(s->out, '"');
	if (!t->odd) {
		zr_buf_add(s->out, t->p, t->len);
	} else {
		zr_buf_adds(s->out, MARK_TEXT "x");
		while (p < end) {
			uint8_t c[4];
			unsigned int n = unescape(&p, end, c);

			for (unsigned int i = 0; i < n; i++) {
				zr_buf_addc(s->out, digit[c[i] >> 4]);
				zr_buf_addc(s->out, digit[c[i] & 15]);
			}
		}
	}
	zr_buf_addc(s->out, '"');
}

static size_t scan_digits(struct scan *s)
{
	size_t from = s->at;

	while (s->at < s->len && s->text[s->at] >= '0' && s->text[s->at] <= '9')
		s->at++;
	return s->at - from;
}

/* Writes a number, and writes it again as a string where it fits neither int64 nor
 * double. */
static void put_number(const struct scan *s, const struct token *t, bool real)
{
	size_t from;
	const char *text;

	if (!scan_out(s))
		return;
	from = s->out->len;
	zr_buf_add(s->out, t->p, t->len);
	if (!t->odd) {
		if (!real && t->len <= 18)
			return;
		zr_buf_addc(s->out, '\0');
		if (zr_buf_check(s->out) < 0)
			return;
		s->out->len--;
		text = (const char *)s->out->data + from;
		errno = 0;
		if (real ? isfinite(strtod(text, NULL))
		         : (strtoll(text, NULL, 10), !errno))
			return;
	}
	s->out->len = from;
	zr_buf_adds(s->out, "\"" MARK_TEXT "n");
	zr_buf_add(s->out, t->p, t->len);
	zr_buf_addc(s->out, '"');
}

static bool scan_word(struct scan *s, const char *word)
{
	size_t n = strlen(word);

	if (s->len - s->at < n || memcmp(s->text + s->at, word, n) != 0)
		return false;
	s->at += n;
	return true;
}

static int scan_number(struct scan *s)
{
	struct token t = {.p = s->text + s->at};
	bool real = false;

	if (scan_word(s, "NaN") || scan_word(s, "Infinity") ||
	    scan_word(s, "-Infinity")) {
		t.odd = true;
	} else {
		if (scan_peek(s) == '-')
			s->at++;
		if (scan_peek(s) == '0')
			s->at++;
		else if (scan_digits(s) == 0)
			return scan_fail(s, "a value is expected");
		if (scan_peek(s) == '.') {
			real = true;
			s->at++;
			if (scan_digits(s) == 0)
				return scan_fail(s, "a digit is expected");
		}
		if (scan_peek(s) == 'e' || scan_peek(s) == 'E') {
			real = true;
			s->at++;
			if (scan_peek(s) == '+' || scan_peek(s) == '-')
				s->at++;
			if (scan_digits(s) == 0)
				return scan_fail(s, "a digit is expected");
		}
	}
	t.len = (size_t)(s->text + s->at - t.p);
	put_number(s, &t, real);
	return 0;
}

static bool in_object(const struct scan *s)
{
	return s->objects.data[(s->depth - 1) / 8] >> ((s->depth - 1) % 8) & 1;
}

/* Steps into the object or list whose bracket is at `at`. */
static int scan_open(struct scan *s)
{
	bool object = s->text[s->at] == '{';
	size_t byte = s->depth / 8;
	uint8_t bit = (uint8_t)(1 << (s->depth % 8));

	if (s->depth >= s->max_depth && !s->skipping)
		return scan_fail(s, "nested too deeply");
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

/* Whether the inside of a string spells `name`. */
static bool token_is(const struct token *t, const char *name)
{
	const uint8_t *p = t->p, *end = t->p + t->len;
	size_t at = 0, len = strlen(name);

	while (p < end) {
		uint8_t c[4];
		unsigned int n = unescape(&p, end, c);

		if (n > len - at || memcmp(name + at, c, n) != 0)
			return false;
		at += n;
	}
	return at == len;
}

static int scan_key(struct scan *s)
{
	struct token key;
	int r;

	scan_space(s);
	if (scan_peek(s) != '"')
		return scan_fail(s, "a member name in quotation marks is expected");
	r = scan_string(s, &key);
	if (r < 0)
		return r;
	scan_space(s);
	if (scan_peek(s) != ':')
		return scan_fail(s, "a colon is expected");
	s->at++;

	for (size_t i = 0; s->depth == 1 && s->skip && s->skip[i]; i++)
		if (token_is(&key, s->skip[i]))
			s->skipping = true;
	/* Looks at what is written, not at what was read: the member before may have
	 * been left out. */
	if (scan_out(s) && s->out->len && s->out->data[s->out->len - 1] != '{')
		scan_put(s, ",", 1);
	put_string(s, &key);
	scan_put(s, ":", 1);
	return 0;
}

/* Reads a scalar or an empty container (SCAN_DONE), or steps into another (SCAN_MORE). */
static int scan_value(struct scan *s)
{
	static const char *const word[] = {"true", "false", "null"};
	struct token t;
	int c, r;

	scan_space(s);
	c = scan_peek(s);
	if (c == '{' || c == '[') {
		r = scan_open(s);
		if (r < 0)
			return r;
		scan_space(s);
		if (scan_peek(s) == (c == '{' ? '}' : ']'))
			return SCAN_DONE;
		r = c == '{' ? scan_key(s) : 0;
		return r < 0 ? r : SCAN_MORE;
	}
	if (c == '"') {
		r = scan_string(s, &t);
		if (r < 0)
			return r;
		put_string(s, &t);
		return SCAN_DONE;
	}
	for (size_t i = 0; i < ZR_COUNT(word); i++) {
		if (scan_word(s, word[i])) {
			scan_put(s, word[i], strlen(word[i]));
			return SCAN_DONE;
		}
	}
	r = scan_number(s);
	return r < 0 ? r : SCAN_DONE;
}

/* What may follow a value: the ends of its containers, or the next value. */
static int scan_after(struct scan *s)
{
	for (;;) {
		int c;

		if (s->depth <= 1)
			s->skipping = false;
		scan_space(s);
		c = scan_peek(s);
		if (s->depth == 0)
			return c < 0 ? SCAN_END : scan_fail(s, "text behind the value");
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
			return scan_fail(s, in_object(s) ? "a comma or } is expected"
			                                 : "a comma or ] is expected");
		s->depth--;
		scan_put(s, s->text + s->at++, 1);
	}
}

static int scan_document(struct scan *s)
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

int zr_json_check(const char *text, size_t len, struct zr_err *reterr)
{
	ZR_CLEANUP(scan_done)
	struct scan s = {.text = (const uint8_t *)text,
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
	struct scan s = {.text = (const uint8_t *)text,
	                 .len = len,
	                 .reterr = reterr,
	                 .max_depth = ZR_MAX_JSON_DEPTH,
	                 .skip = skip,
	                 .out = &out};
	json_error_t e;
	json_t *v;
	int r;

	r = scan_document(&s);
	if (r < 0)
		return r;
	r = zr_buf_check(&out);
	if (r < 0)
		return r;
	v = json_loadb((const char *)out.data, out.len, JSON_DECODE_ANY, &e);
	if (!v && json_error_code(&e) == json_error_out_of_memory)
		return -ENOMEM;
	if (!v)
		return zr_err_set(reterr, -EINVAL, "%s", e.text);
	*ret = v;
	return 0;
}

/* Moves behind a value of a checked text. */
static void skip_value(struct scan *s)
{
	size_t depth = 0;
	struct token t;

	do {
		int c = scan_peek(s);

		if (c < 0 || (c == '"' && scan_string(s, &t) < 0))
			return;
		if (c == '"')
			continue;
		depth += c == '{' || c == '[';
		depth -= c == '}' || c == ']';
		s->at++;
	} while (depth > 0 || (s->at < s->len && !strchr(",]} \t\n\r", s->text[s->at])));
}

struct zr_json_slice zr_json_member(const char *text, size_t len, const char *key)
{
	struct scan s = {.text = (const uint8_t *)text, .len = len};
	struct zr_json_slice found = {0};

	scan_start(&s);
	if (scan_peek(&s) != '{')
		return found;
	do {
		struct token t;
		size_t from;

		s.at++;
		scan_space(&s);
		if (scan_peek(&s) != '"' || scan_string(&s, &t) < 0)
			break;
		scan_space(&s);
		if (scan_peek(&s) != ':')
			break;
		s.at++;
		scan_space(&s);
		from = s.at;
		skip_value(&s);
		if (token_is(&t, key))
			found = (struct zr_json_slice){text + from, s.at - from};
		scan_space(&s);
	} while (scan_peek(&s) == ',');
	return found;
}
