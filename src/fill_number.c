/* SPDX-License-Identifier: MIT */
#include "meta_impl.h"

#include <math.h>
#include <strings.h>

static void number_from_double(double v, struct zr_number *n)
{
	n->real = v;
	n->negative = signbit(v);
	n->whole = isfinite(v) && trunc(v) == v;
	n->too_large = n->whole && fabs(v) >= 0x1p64;
	n->magnitude = n->whole && !n->too_large ? (uint64_t)fabs(v) : 0;
}

static bool number_from_word(const char *s, struct zr_number *n)
{
	bool negative = *s == '-';
	double v;

	s += *s == '-' || *s == '+';
	if (strcasecmp(s, "nan") == 0)
		v = NAN;
	else if (strcasecmp(s, "infinity") == 0 || strcasecmp(s, "inf") == 0)
		v = INFINITY;
	else
		return false;
	number_from_double(negative ? -v : v, n);
	return true;
}

static bool number_from_text(const char *s, struct zr_number *n)
{
	const char *digits = s + (*s == '-' || *s == '+');
	char *end;

	if (number_from_word(s, n))
		return true;
	/* Before strtod(), which takes hexadecimal and more. */
	if (*s == '\0' || s[strspn(s, "0123456789.eE+-")] != '\0')
		return false;
	number_from_double(strtod(s, &end), n);
	if (*end != '\0')
		return false;
	if (digits[strspn(digits, "0123456789")] == '\0') {
		errno = 0;
		n->whole = true;
		n->magnitude = strtoull(digits, NULL, 10);
		n->too_large = errno != 0;
	}
	return true;
}

bool zr_number_read(const json_t *v, struct zr_number *ret)
{
	struct zr_number n = {.whole = true};
	const char *text = zr_json_number(v);

	if (json_is_integer(v)) {
		json_int_t i = json_integer_value(v);

		n.negative = i < 0;
		n.magnitude = i < 0 ? -(uint64_t)i : (uint64_t)i;
		n.real = (double)i;
	} else if (json_is_boolean(v)) {
		n.magnitude = json_is_true(v);
		n.real = (double)n.magnitude;
	} else if (json_is_real(v)) {
		number_from_double(json_real_value(v), &n);
	} else if (!json_is_string(v) ||
	           !number_from_text(text ? text : json_string_value(v), &n)) {
		return false;
	}
	*ret = n;
	return true;
}

bool zr_float_bits_read(const json_t *v, unsigned int size, uint64_t *ret)
{
	const char *s = json_string_value(v);
	size_t n;

	if (!s || s[0] != '0' || s[1] != 'x')
		return false;
	n = strlen(s + 2);
	if (n < 1 || n > 2 * (size_t)size || strspn(s + 2, "0123456789abcdefABCDEF") != n)
		return false;
	*ret = strtoull(s + 2, NULL, 16);
	return true;
}
