/* SPDX-License-Identifier: MIT */
#include "err.h"

#include <stdarg.h>
#include <stdio.h>

/* Control characters become '?', so that a store cannot write lines of its own into a
 * log or escape sequences onto a terminal; C1 controls are C2 80 to C2 9F in UTF-8. */
static void err_clean(char *s)
{
	for (unsigned char *p = (unsigned char *)s; *p; p++) {
		if (*p < 0x20 || *p == 0x7f)
			*p = '?';
		else if (p[0] == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f)
			p[0] = p[1] = '?';
		else if (*p >= 0x80 && *p <= 0x9f && p == (unsigned char *)s)
			*p = '?';
	}
}

/* Removes a character that was cut in the middle at the end of a full buffer. */
static void err_whole_characters(char *s, size_t len)
{
	size_t at = len;

	while (at > 0 && len - at < 4 && ((unsigned char)s[at - 1] & 0xc0) == 0x80)
		at--;
	if (at > 0 && (unsigned char)s[at - 1] >= 0xc0)
		s[at - 1] = '\0';
}

int zr_err_set(struct zr_err *reterr, int code, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (!reterr || reterr->code)
		return code;

	reterr->code = code;
	va_start(ap, fmt);
	n = vsnprintf(reterr->text, sizeof(reterr->text), fmt, ap);
	va_end(ap);
	if (n >= (int)sizeof(reterr->text))
		err_whole_characters(reterr->text, sizeof(reterr->text) - 1);
	err_clean(reterr->text);
	return code;
}
