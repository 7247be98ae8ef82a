/* SPDX-License-Identifier: MIT */
/*
 * failing_alloc.h - allocations that fail when a test says so
 *
 * The linker puts these in place of what the objects of the project and of the test call
 * (--wrap in CMakeLists.txt). What a library allocates for itself is not affected:
 * jansson overlooks that memory ran out (it loses a byte of the token then), libzip and
 * blosc are not ours either. What they give NULL for is wrapped like an allocator.
 *
 * For one file of a test: it has state. One thread at a time.
 */
#pragma once

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
	unsigned long nth; /* which one fails; 0: none */
	bool all_after;    /* and all behind it */
	bool armed, happened;
	unsigned long count; /* while armed */
} alloc;

static void alloc_arm(unsigned long nth, bool all_after)
{
	alloc.nth = nth;
	alloc.armed = nth > 0;
	alloc.all_after = all_after;
	alloc.happened = false;
	alloc.count = 0;
}

/* Whether one has failed since it was armed. */
static bool alloc_disarm(void)
{
	alloc.armed = false;
	return alloc.happened;
}

static bool alloc_fails(void)
{
	if (!alloc.armed || ++alloc.count < alloc.nth ||
	    (alloc.happened && !alloc.all_after))
		return false;
	alloc.happened = true;
	errno = ENOMEM;
	return true;
}

/* Puts a function that returns a pointer behind alloc_fails(). */
#define FAILING(type, name, params, args)                                                \
	type __real_##name params;                                                       \
	type __wrap_##name params;                                                       \
	type __wrap_##name params                                                        \
	{                                                                                \
		return alloc_fails() ? NULL : __real_##name args;                        \
	}

FAILING(void *, malloc, (size_t n), (n))
FAILING(void *, calloc, (size_t n, size_t size), (n, size))
FAILING(void *, realloc, (void *p, size_t n), (p, n))
FAILING(void *, reallocarray, (void *p, size_t n, size_t size), (p, n, size))
FAILING(char *, strdup, (const char *s), (s))
FAILING(char *, strndup, (const char *s, size_t n), (s, n))
FAILING(DIR *, fdopendir, (int fd), (fd))

struct libdeflate_decompressor;
struct ZSTD_DCtx_s;
FAILING(struct libdeflate_decompressor *, libdeflate_alloc_decompressor, (void), ())
FAILING(struct ZSTD_DCtx_s *, ZSTD_createDCtx, (void), ())

struct json_t;
struct json_error_t;
FAILING(struct json_t *, json_loadb,
        (const char *text, size_t len, size_t flags, struct json_error_t *e),
        (text, len, flags, e))

int __wrap_asprintf(char **ret, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int __wrap_asprintf(char **ret, const char *format, ...)
{
	va_list ap;
	int n;

	if (alloc_fails())
		return -1;
	va_start(ap, format);
	n = vasprintf(ret, format, ap);
	va_end(ap);
	return n;
}

/* The same with _FORTIFY_SOURCE. */
int __wrap___asprintf_chk(char **ret, int flag, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int __wrap___asprintf_chk(char **ret, int flag, const char *format, ...)
{
	va_list ap;
	int n;

	(void)flag;
	if (alloc_fails())
		return -1;
	va_start(ap, format);
	n = vasprintf(ret, format, ap);
	va_end(ap);
	return n;
}
