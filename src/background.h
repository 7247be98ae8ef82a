/* SPDX-License-Identifier: MIT */
/*
 * background.h - the way into the background, and the word that the mount answers
 *
 * The parent is the process that the user waits for; it does nothing but wait. The child
 * mounts and serves. Until the mount answers the child keeps the terminal: its errors are
 * seen, and ^C ends it.
 *
 * Layer 0. May include dead.h, err.h and util.h.
 *
 * Errors: 0 on success, -errno on failure, with one line in reterr where it takes one.
 */
#pragma once

#include <sys/types.h>

#include "err.h"
#include "util.h"

struct zr_background {
	pid_t child; /* 0 in the child */
	int fd;      /* this side's end of a pipe */
	int null;    /* /dev/null, or -1 */
};

/* No other thread may run yet. */
ZR_MUST_CHECK int zr_background_fork(struct zr_background *ret, struct zr_err *reterr);

/*
 * In the parent: wait until the mount at `point` answers (NULL: it has no path that could
 * be asked). When the child ends before that, nothing stays mounted; -ECHILD with an
 * empty reterr if the child has said itself what was wrong.
 */
ZR_MUST_CHECK int zr_background_wait(struct zr_background *b, const char *point,
                                     struct zr_err *reterr);

/* In the child: opens what zr_background_ready() needs, while that can be opened. */
void zr_background_prepare(struct zr_background *b);

/* In the child: the mount answers. Leaves the terminal and tells the parent. -EPIPE when
 * nobody waits any more: the user has changed his mind. SIGPIPE must be ignored. */
ZR_MUST_CHECK int zr_background_ready(struct zr_background *b);

/* The way to systemd, if it waits for a word ($NOTIFY_SOCKET); -1: it does not. */
int zr_notify_open(void);
/* Tells it that the service is ready, and closes the way. -1 is allowed. */
void zr_notify_ready(int fd);
