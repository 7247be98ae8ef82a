/* SPDX-License-Identifier: MIT */
#include "base64.h"

#include <errno.h>

static const char base64_chars[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *zr_base64_encode(const uint8_t *in, size_t n, char *out)
{
	while (n >= 3) {
		uint32_t v = (uint32_t)in[0] << 16 | (uint32_t)in[1] << 8 | in[2];

		out[0] = base64_chars[v >> 18];
		out[1] = base64_chars[v >> 12 & 63];
		out[2] = base64_chars[v >> 6 & 63];
		out[3] = base64_chars[v & 63];
		in += 3;
		out += 4;
		n -= 3;
	}
	if (n > 0) {
		uint32_t v = (uint32_t)in[0] << 16 | (n > 1 ? (uint32_t)in[1] << 8 : 0);

		out[0] = base64_chars[v >> 18];
		out[1] = base64_chars[v >> 12 & 63];
		out[2] = n > 1 ? base64_chars[v >> 6 & 63] : '=';
		out[3] = '=';
		out += 4;
	}
	return out;
}

/* 0 to 63, or 64 for what is not of the alphabet. */
static uint32_t base64_value(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (uint32_t)(c - 'A');
	if (c >= 'a' && c <= 'z')
		return (uint32_t)(c - 'a' + 26);
	if (c >= '0' && c <= '9')
		return (uint32_t)(c - '0' + 52);
	return c == '+' ? 62 : c == '/' ? 63 : 64;
}

int zr_base64_decode(const char *in, size_t n, uint8_t *out, size_t *ret_len)
{
	size_t pad = 0, len;

	if (n % 4 != 0)
		return -EINVAL;
	if (n > 0 && in[n - 1] == '=')
		pad = in[n - 2] == '=' ? 2 : 1;
	len = n / 4 * 3 - pad;

	for (size_t at = 0; at < n; at += 4) {
		size_t have = at + 4 == n ? 4 - pad : 4; /* characters of this group */
		uint32_t v = 0;

		for (size_t i = 0; i < 4; i++) {
			uint32_t c = i < have ? base64_value(in[at + i]) : 0;

			if (c > 63)
				return -EINVAL;
			v = v << 6 | c;
		}
		/* Bits behind the last whole byte: two spellings of one value. */
		if (v & ((UINT32_C(1) << 8 * (4 - have)) - 1))
			return -EINVAL;
		for (size_t i = 0; i < have - 1; i++)
			*out++ = (uint8_t)(v >> (16 - 8 * i));
	}
	*ret_len = len;
	return 0;
}
