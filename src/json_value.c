/* SPDX-License-Identifier: MIT */
#include "json_impl.h"

#include <errno.h>

#include "number.h"
#include "utf8.h"

static uint8_t hex_digit(char c)
{
	return (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* The bytes of a text as the scanner spelled it. */
static int value_bytes(const char *p, size_t n, struct zr_buf *ret)
{
	if (n == 0 || p[0] != ZR_JSON_MARK) {
		zr_buf_add(ret, p, n);
	} else {
		if (p[1] != 'x')
			return -EINVAL;
		for (size_t i = 2; i + 1 < n; i += 2)
			zr_buf_addc(ret,
			            (char)(hex_digit(p[i]) << 4 | hex_digit(p[i + 1])));
	}
	zr_buf_addc(ret, '\0');
	if (zr_buf_check(ret) < 0)
		return -ENOMEM;
	ret->len--;
	return 0;
}

int zr_json_string(const json_t *v, struct zr_buf *ret)
{
	if (!json_is_string(v))
		return -EINVAL;
	return value_bytes(json_string_value(v), json_string_length(v), ret);
}

int zr_json_key(const char *key, struct zr_buf *ret)
{
	return value_bytes(key, strlen(key), ret);
}

const char *zr_json_number(const json_t *v)
{
	const char *s = json_string_value(v);

	return s && s[0] == ZR_JSON_MARK && s[1] == 'n' ? s + 2 : NULL;
}

/* Whether the scanner respells a text of these bytes. */
static bool is_respelled(const char *p, size_t n)
{
	if (n == 0 || p[0] == ZR_JSON_MARK || memchr(p, '\0', n))
		return n != 0;
	for (size_t i = 0; i + 1 < n; i++)
		if ((uint8_t)p[i] == 0xed && (uint8_t)p[i + 1] >= 0xa0)
			return true;
	return false;
}

int zr_json_get(const json_t *object, const char *name, size_t len, const json_t **ret)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf key = {0};

	if (!is_respelled(name, len)) {
		zr_buf_add(&key, name, len);
	} else {
		zr_buf_addc(&key, ZR_JSON_MARK);
		zr_buf_addc(&key, 'x');
		for (size_t i = 0; i < len; i++)
			zr_buf_addf(&key, "%02x", (uint8_t)name[i]);
	}
	zr_buf_addc(&key, '\0');
	if (zr_buf_check(&key) < 0)
		return -ENOMEM;
	*ret = json_object_get(object, (char *)key.data);
	return 0;
}

void zr_json_add_scalars(struct zr_buf *ret, const void *text, size_t n)
{
	const uint8_t *p = (const uint8_t *)text;

	for (size_t at = 0; at < n;) {
		size_t good = at;
		uint32_t cp;
		unsigned int len;

		do {
			len = zr_utf8_decode(p + good, n - good, &cp);
			good += len;
		} while (len > 0 && good < n);
		zr_buf_add(ret, p + at, good - at);
		at = good;
		if (at < n) { /* a lone surrogate, which is three bytes */
			zr_buf_adds(ret, "\xef\xbf\xbd");
			at += ZR_MIN((size_t)3, n - at);
		}
	}
}

static void put_text(struct zr_buf *ret, const uint8_t *p, size_t n)
{
	static const char from[] = "\b\f\n\r\t\"\\", to[] = "bfnrt\"\\";

	zr_buf_addc(ret, '"');
	for (size_t at = 0; at < n;) {
		uint32_t cp;
		unsigned int len = zr_utf8_decode(p + at, n - at, &cp);
		const char *short_form;

		if (len == 0) { /* a lone surrogate, which is three bytes */
			zr_buf_adds(ret, "\xef\xbf\xbd");
			at += ZR_MIN((size_t)3, n - at);
			continue;
		}
		short_form = cp && cp < 0x80 ? strchr(from, (int)cp) : NULL;
		if (short_form) {
			zr_buf_addc(ret, '\\');
			zr_buf_addc(ret, to[short_form - from]);
		} else if (zr_is_control(cp)) {
			zr_buf_addf(ret, "\\u%04x", cp);
		} else {
			zr_buf_add(ret, p + at, len);
		}
		at += len;
	}
	zr_buf_addc(ret, '"');
}

static void put_real(struct zr_buf *ret, double v)
{
	char text[ZR_DECIMAL_MAX_LEN + ZR_PUT_SPARE];
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	zr_buf_add(ret, text,
	           (size_t)(zr_put_decimal(text, zr_shortest_f64(bits)) - text));
}

static int put_string(struct zr_buf *ret, const json_t *v, const char *key)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf text = {0};
	const char *number = zr_json_number(v);
	int r;

	if (number) {
		/* Not finite, or too large for a double: whole ones are kept. */
		if (number[strspn(number, "-0123456789")] == '\0')
			zr_buf_adds(ret, number);
		else
			zr_buf_adds(ret, "null");
		return 0;
	}
	r = key ? zr_json_key(key, &text) : zr_json_string(v, &text);
	if (r < 0)
		return r;
	put_text(ret, text.data, text.len);
	return 0;
}

/* As deep as the parser allows. */
static int put_value(struct zr_buf *ret, const json_t *v)
{
	const char *key, *comma = "";
	json_t *member;
	int r = 0;

	switch (json_typeof(v)) {
	case JSON_OBJECT:
		zr_buf_addc(ret, '{');
		json_object_foreach((json_t *)v, key, member)
		{
			zr_buf_adds(ret, comma);
			comma = ",";
			r = put_string(ret, NULL, key);
			if (r < 0)
				return r;
			zr_buf_addc(ret, ':');
			r = put_value(ret, member);
			if (r < 0)
				return r;
		}
		zr_buf_addc(ret, '}');
		return 0;
	case JSON_ARRAY:
		zr_buf_addc(ret, '[');
		for (size_t i = 0; r >= 0 && i < json_array_size(v); i++) {
			if (i > 0)
				zr_buf_addc(ret, ',');
			r = put_value(ret, json_array_get(v, i));
		}
		zr_buf_addc(ret, ']');
		return r;
	case JSON_STRING:
		return put_string(ret, v, NULL);
	case JSON_INTEGER:
		zr_buf_addf(ret, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
		return 0;
	case JSON_REAL:
		put_real(ret, json_real_value(v));
		return 0;
	default:
		zr_buf_adds(ret, json_is_null(v)   ? "null"
		                 : json_is_true(v) ? "true"
		                                   : "false");
		return 0;
	}
}

int zr_json_compact(const json_t *v, struct zr_buf *ret)
{
	int r = put_value(ret, v);

	return r < 0 ? r : zr_buf_check(ret);
}
