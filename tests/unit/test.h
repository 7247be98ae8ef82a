/* SPDX-License-Identifier: MIT */
/*
 * test.h - the whole unit-test harness: run each test, stop at the first failed check
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEST_SKIP 77

#define CHECK(cond)                                                                      \
	do {                                                                             \
		if (!(cond)) {                                                           \
			fprintf(stderr, "%s:%d: %s: not true: %s\n", __FILE__, __LINE__, \
			        __func__, #cond);                                        \
			exit(EXIT_FAILURE);                                              \
		}                                                                        \
	} while (0)

#define CHECK_INT(got, want)                                                             \
	do {                                                                             \
		long long got_ = (long long)(got), want_ = (long long)(want);            \
		if (got_ != want_) {                                                     \
			fprintf(stderr, "%s:%d: %s: %s is %lld, want %lld\n", __FILE__,  \
			        __LINE__, __func__, #got, got_, want_);                  \
			exit(EXIT_FAILURE);                                              \
		}                                                                        \
	} while (0)

#define CHECK_STR(got, want)                                                             \
	do {                                                                             \
		const char *got_ = (got), *want_ = (want);                               \
		if (strcmp(got_, want_) != 0) {                                          \
			fprintf(stderr, "%s:%d: %s: %s is \"%s\", want \"%s\"\n",        \
			        __FILE__, __LINE__, __func__, #got, got_, want_);        \
			exit(EXIT_FAILURE);                                              \
		}                                                                        \
	} while (0)

#define CHECK_MEM(got, got_len, want, want_len)                                          \
	do {                                                                             \
		CHECK_INT(got_len, want_len);                                            \
		CHECK(memcmp(got, want, want_len) == 0);                                 \
	} while (0)

#define RUN(test) (printf("%s\n", #test), fflush(stdout), test())
