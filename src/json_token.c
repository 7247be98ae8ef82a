/* SPDX-License-Identifier: MIT */
#include "json_impl.h"

#include <errno.h>
#include <math.h>

#include "utf8.h"

#define MARK_TEXT "\\u0001" /* ZR_JSON_MARK as JSON writes it */

int zr_scan_fail(struct zr_scan *s, const char *cause)
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

void zr_scan_space(struct zr_scan *s)
{
	while (s->at < s->len && (s->text[s->at] == ' ' || s->text[s->at] == '\n' ||
	                          s->text[s->at] == '\t' || s->text[s->at] == '\r'))
		s->at++;
}

#define ALL(byte) (UINT64_C(0x0101010101010101) * (uint8_t)(byte))

/* Whether one of eight bytes is beyond ASCII, a control character, or one of "\\. */
static bool any_special(const uint8_t *p)
{
	uint64_t w = zr_load_u64(p, false), quote = w ^ ALL('"'), slash = w ^ ALL('\\');

	return (w | (w - ALL(0x20)) | (quote - ALL(1)) | (slash - ALL(1))) & ALL(0x80);
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
static int scan_escape(struct zr_scan *s, struct zr_token *t)
{
	const uint8_t *p = s->text + s->at;
	size_t left = s->len - s->at;
	int32_t cp, low;

	if (left >= 2 && p[1] != 'u') {
		if (p[1] == '\0' || !strchr("\"\\/bfnrt", p[1]))
			return zr_scan_fail(s, "no such escape in a string");
		s->at += 2;
		return 0;
	}
	cp = hex_escape(p, left);
	if (cp < 0)
		return zr_scan_fail(s, "\\u without four hexadecimal digits");
	s->at += 6;
	if (cp == 0 || (cp == ZR_JSON_MARK && p == t->p))
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
int zr_scan_string(struct zr_scan *s, struct zr_token *t)
{
	*t = (struct zr_token){.p = s->text + ++s->at};
	while (s->at < s->len) {
		uint8_t c;
		uint32_t cp;
		unsigned int n;
		int r;

		while (s->len - s->at >= 8 && !any_special(s->text + s->at))
			s->at += 8;
		if (s->at == s->len)
			break;
		c = s->text[s->at];
		if (c == '"') {
			t->len = (size_t)(s->text + s->at++ - t->p);
			return 0;
		}
		if (c < 0x20)
			return zr_scan_fail(s, "a control character in a string");
		if (c == '\\') {
			r = scan_escape(s, t);
			if (r < 0)
				return r;
			continue;
		}
		n = c < 0x80 ? 1 : zr_utf8_decode(s->text + s->at, s->len - s->at, &cp);
		if (n == 0)
			return zr_scan_fail(s, "invalid UTF-8 in a string");
		s->at += n;
	}
	return zr_scan_fail(s, "a string without end");
}

void zr_scan_put_string(const struct zr_scan *s, const struct zr_token *t)
{
	static const char digit[] = "0123456789abcdef";
	const uint8_t *p = t->p, *end = t->p + t->len;

	if (!zr_scan_out(s))
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

static size_t scan_digits(struct zr_scan *s)
{
	size_t from = s->at;

	while (s->at < s->len && s->text[s->at] >= '0' && s->text[s->at] <= '9')
		s->at++;
	return s->at - from;
}

/* Writes a number, and writes it again as a string where it fits neither int64 nor
 * double. */
static void put_number(const struct zr_scan *s, const struct zr_token *t, bool real)
{
	size_t from;
	const char *text;

	if (!zr_scan_out(s))
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

bool zr_scan_word(struct zr_scan *s, const char *word)
{
	size_t n = strlen(word);

	if (s->len - s->at < n || memcmp(s->text + s->at, word, n) != 0)
		return false;
	s->at += n;
	return true;
}

int zr_scan_number(struct zr_scan *s)
{
	struct zr_token t = {.p = s->text + s->at};
	bool real = false;

	if (zr_scan_word(s, "NaN") || zr_scan_word(s, "Infinity") ||
	    zr_scan_word(s, "-Infinity")) {
		t.odd = true;
	} else {
		if (zr_scan_peek(s) == '-')
			s->at++;
		if (zr_scan_peek(s) == '0')
			s->at++;
		else if (scan_digits(s) == 0)
			return zr_scan_fail(s, "a value is expected");
		if (zr_scan_peek(s) == '.') {
			real = true;
			s->at++;
			if (scan_digits(s) == 0)
				return zr_scan_fail(s, "a digit is expected");
		}
		if (zr_scan_peek(s) == 'e' || zr_scan_peek(s) == 'E') {
			real = true;
			s->at++;
			if (zr_scan_peek(s) == '+' || zr_scan_peek(s) == '-')
				s->at++;
			if (scan_digits(s) == 0)
				return zr_scan_fail(s, "a digit is expected");
		}
	}
	t.len = (size_t)(s->text + s->at - t.p);
	put_number(s, &t, real);
	return 0;
}

bool zr_token_is(const struct zr_token *t, const char *name)
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

size_t zr_json_unescape(struct zr_json_slice inside, char *out)
{
	const uint8_t *p = (const uint8_t *)inside.data, *end = p + inside.len;
	char *to = out;

	while (p < end) {
		uint8_t c[4];
		unsigned int n = unescape(&p, end, c);

		memcpy(to, c, n);
		to += n;
	}
	return (size_t)(to - out);
}
