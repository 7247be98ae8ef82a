/* SPDX-License-Identifier: MIT */
#include "utf8.h"

static bool utf8_tail(uint8_t b)
{
	return (b & 0xc0) == 0x80;
}

unsigned int zr_utf8_decode(const uint8_t *p, size_t n, uint32_t *ret_cp)
{
	uint32_t cp;

	if (p[0] < 0x80) {
		*ret_cp = p[0];
		return 1;
	}
	if (p[0] < 0xc2 || p[0] > 0xf4 || n < 2 || !utf8_tail(p[1]))
		return 0;

	cp = (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu);
	if (p[0] < 0xe0) {
		*ret_cp = cp;
		return 2;
	}
	if (n < 3 || !utf8_tail(p[2]))
		return 0;

	cp = (p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
	if (p[0] < 0xf0) {
		if (cp < 0x800 || !zr_is_scalar(cp))
			return 0;
		*ret_cp = cp;
		return 3;
	}
	if (n < 4 || !utf8_tail(p[3]))
		return 0;

	cp = (p[0] & 0x07u) << 18 | (p[1] & 0x3fu) << 12 | (p[2] & 0x3fu) << 6 |
	     (p[3] & 0x3fu);
	if (cp < 0x10000 || !zr_is_scalar(cp))
		return 0;
	*ret_cp = cp;
	return 4;
}

unsigned int zr_utf8_decode_name(const uint8_t *p, size_t n, uint32_t *ret_cp)
{
	unsigned int len = zr_utf8_decode(p, n, ret_cp);

	if (len > 0)
		return len;
	if (n >= 3 && p[0] == 0xed && p[1] >= 0xa0 && p[1] <= 0xbf &&
	    (p[2] & 0xc0) == 0x80) {
		*ret_cp = 0xd000 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
		return 3;
	}
	*ret_cp = 0xdc00u + p[0];
	return 1;
}

unsigned int zr_utf8_encode(uint32_t cp, uint8_t *out)
{
	unsigned int n = zr_utf8_size(cp);

	if (n == 1) {
		out[0] = (uint8_t)cp;
		return 1;
	}
	for (unsigned int i = n - 1; i > 0; i--) {
		out[i] = (uint8_t)(0x80 | (cp & 0x3f));
		cp >>= 6;
	}
	/* As many ones as there are bytes, then a zero. */
	out[0] = (uint8_t)(0xf00u >> n | cp);
	return n;
}

size_t zr_utf8_valid_prefix(const uint8_t *p, size_t n)
{
	const uint64_t high = UINT64_C(0x8080808080808080);
	size_t at = 0;

	while (at < n) {
		unsigned int len;
		uint32_t cp;

		/* Nearly all text is ASCII: eight bytes at a time. */
		if (n - at >= 8 && !(zr_load_u64(p + at, false) & high)) {
			at += 8;
			continue;
		}
		len = zr_utf8_decode(p + at, n - at, &cp);
		if (!len)
			break;
		at += len;
	}
	return at;
}

void zr_utf8_clean(char *s)
{
	uint8_t *p = (uint8_t *)s;
	size_t n = strlen(s);

	while (n > 0) {
		uint32_t cp = 0;
		unsigned int len = zr_utf8_decode(p, n, &cp);

		if (!len || zr_is_control(cp)) {
			len = len ? len : 1;
			memset(p, '?', len);
		}
		p += len;
		n -= len;
	}
}

void zr_utf8_trim(char *s)
{
	size_t n = strlen(s), at = n;
	uint32_t cp;

	while (at > 0 && n - at < 3 && utf8_tail((uint8_t)s[at - 1]))
		at--;
	if (at == 0 || (uint8_t)s[at - 1] < 0xc0)
		return;
	at--;
	if (!zr_utf8_decode((uint8_t *)s + at, n - at, &cp))
		s[at] = '\0';
}
