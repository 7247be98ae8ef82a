/* SPDX-License-Identifier: MIT */
#include "err.h"

#include <stdarg.h>
#include <stdio.h>

#include "utf8.h"

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
	if (n < 0)
		reterr->text[0] = '\0';
	/* Trimmed before it is cleaned, which would make a '?' of half a character. */
	if (n >= (int)sizeof(reterr->text))
		zr_utf8_trim(reterr->text);
	zr_utf8_clean(reterr->text);
	return code;
}
