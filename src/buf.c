/* SPDX-License-Identifier: MIT */
#include "buf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int zr_buf_reserve(struct zr_buf *b, size_t more)
{
	size_t need, cap;
	uint8_t *data;

	if (b->failed || __builtin_add_overflow(b->len, more, &need)) {
		b->failed = true;
		return -ENOMEM;
	}
	if (need <= b->cap)
		return 0;

	/* An empty buffer is made as large as asked for: most know their size. */
	cap = b->cap ? ZR_MAX(need, b->cap + b->cap / 2) : need;
	data = realloc(b->data, cap);
	if (!data) {
		b->failed = true;
		return -ENOMEM;
	}
	b->data = data;
	b->cap = cap;
	return 0;
}

void zr_buf_add(struct zr_buf *b, const void *p, size_t n)
{
	if (n == 0 || zr_buf_reserve(b, n) < 0)
		return;
	memcpy(b->data + b->len, p, n);
	b->len += n;
}

void zr_buf_adds(struct zr_buf *b, const char *s)
{
	zr_buf_add(b, s, strlen(s));
}

void zr_buf_addc(struct zr_buf *b, char c)
{
	zr_buf_add(b, &c, 1);
}

void zr_buf_addf(struct zr_buf *b, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0 || zr_buf_reserve(b, (size_t)n + 1) < 0) {
		b->failed = true;
		return;
	}
	va_start(ap, fmt);
	vsnprintf((char *)b->data + b->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)n;
}

int zr_buf_check(const struct zr_buf *b)
{
	return b->failed ? -ENOMEM : 0;
}

void zr_buf_done(struct zr_buf *b)
{
	if (!b)
		return;
	free(b->data);
	*b = (struct zr_buf){0};
}
