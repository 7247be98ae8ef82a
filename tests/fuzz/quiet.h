/* SPDX-License-Identifier: MIT */
/*
 * quiet.h - the log of the code under test in memory, where it can be looked at
 *
 * For one file of a target: it has state, for as long as the process lives.
 */
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "log.h"

static int quiet_fd = -1;

static void quiet_begin(void)
{
	char path[64];

	if (quiet_fd >= 0)
		return;
	quiet_fd = memfd_create("log", MFD_CLOEXEC);
	CHECK(quiet_fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", quiet_fd);
	CHECK_INT(zr_log_to_file(path), 0);
}

/* Lines of clean text and nothing else, whatever names the input has. */
static void quiet_end(void)
{
	static char text[1 << 16];
	ssize_t n = pread(quiet_fd, text, sizeof(text), 0);

	CHECK(n >= 0);
	while (n > 0 && text[n - 1] != '\n')
		n--;
	check_clean(text, (size_t)n, "\n");
	CHECK_INT(ftruncate(quiet_fd, 0), 0);
}
