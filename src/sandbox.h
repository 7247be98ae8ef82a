/* SPDX-License-Identifier: MIT */
/*
 * sandbox.h - what the process can still do, once it serves a store
 *
 * Two walls, each as far as the kernel has it. Landlock: no file is opened but below the
 * places that are named, no process outside is reached, no network. seccomp: no system
 * call but those that serving takes (sandbox_calls.c); whatever else is asked for is
 * answered with ENOSYS. What is open already can be used as before.
 *
 * Layer 0. May include log.h and util.h.
 *
 * Threads: call it while there is one; those that start later inherit it.
 */
#pragma once

#include "util.h"

struct zr_sandbox_place {
	int fd;     /* a directory with all below, or a file; O_PATH will do */
	bool write; /* files may be made, changed and removed in it, too */
};

enum zr_sandbox_wall { ZR_SANDBOX_FILES = 1 << 0, ZR_SANDBOX_CALLS = 1 << 1 };

/* Returns which of the walls stand, bits of enum zr_sandbox_wall; why not the others is
 * in the log, at level debug. There is no way back. */
unsigned int zr_sandbox_enter(const struct zr_sandbox_place *places, size_t n);

/* For zr_sandbox_enter() and its test: 0 or -errno. */
ZR_MUST_CHECK int zr_sandbox_files(const struct zr_sandbox_place *places, size_t n);
ZR_MUST_CHECK int zr_sandbox_calls(void);

/* The sanitizers look at the process from inside when it ends, which takes more than
 * serving does. In no build that users get. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ZR_SANDBOX_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ZR_SANDBOX_SANITIZED 1
#endif
#endif
#ifndef ZR_SANDBOX_SANITIZED
#define ZR_SANDBOX_SANITIZED 0
#endif
