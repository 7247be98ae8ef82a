/* SPDX-License-Identifier: MIT */
/*
 * allocations.h - how often this thread has asked for memory
 *
 * The linker leads the program's calls here (`--wrap`, for every test_*_allocations: see
 * tests/CMakeLists.txt). Those that libraries make for themselves are not counted.
 */
#pragma once

#include "test.h"
#include "util.h"

static _Thread_local uint64_t allocations;

/* Each of them, as `result`, with `params` passed on as `args`. */
#define COUNTED(result, name, params, args)                                              \
	result __real_##name params;                                                     \
	result __wrap_##name params;                                                     \
	result __wrap_##name params                                                      \
	{                                                                                \
		allocations++;                                                           \
		return __real_##name args;                                               \
	}

COUNTED(void *, malloc, (size_t size), (size))
COUNTED(void *, calloc, (size_t n, size_t size), (n, size))
COUNTED(void *, realloc, (void *p, size_t size), (p, size))
COUNTED(void *, reallocarray, (void *p, size_t n, size_t size), (p, n, size))
COUNTED(void *, aligned_alloc, (size_t align, size_t size), (align, size))
COUNTED(int, posix_memalign, (void **p, size_t align, size_t size), (p, align, size))
COUNTED(char *, strdup, (const char *s), (s))
COUNTED(char *, strndup, (const char *s, size_t n), (s, n))
