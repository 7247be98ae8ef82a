/* SPDX-License-Identifier: MIT */
/*
 * serve.h - takes the kernel's requests until there is no mount any more
 *
 *   store bytes -> codec -> chunk cache -> view -> render -> [ fuse reply ]
 *
 * Two threads take requests, in turns: a handler (fs.h) answers at once, or hands a job
 * to the workers of request.h, and never waits. But what is answered at once is mostly
 * copied by the kernel meanwhile, 128 KiB of a file's text, and of one sequential reader
 * two such requests are under way.
 *
 * Layer 5. May include layer 0 and libfuse. Threads: one calls; handlers run in both.
 */
#pragma once

#include <stdbool.h>

#include "util.h"

struct fuse_session;

struct zr_serve {
	struct fuse_session *session; /* borrowed */
	int stop;     /* eventfd: readable once one of the two has ended */
	int polls[2]; /* epoll, one for each thread */
};

/* Opens what is waited at; `signals` (borrowed) is looked at by the thread that calls.
 * -errno. To be closed in any case. */
ZR_MUST_CHECK int zr_serve_open(struct zr_serve *v, struct fuse_session *session,
                                int signals);
void zr_serve_close(struct zr_serve *v);

/* Until the file system is unmounted, or on_signal() says true: 0. -errno: the kernel
 * gives no requests any more, or they cannot be waited for. */
ZR_MUST_CHECK int zr_serve_run(struct zr_serve *v, bool (*on_signal)(void *arg),
                               void *arg);
