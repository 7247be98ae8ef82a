/* SPDX-License-Identifier: MIT */
/*
 * keeper.h - a process that takes the mount away when the daemon has ended
 *
 * The daemon itself can not: unmounting takes CAP_SYS_ADMIN, which is nearly all of
 * root's power, or for other users a helper with its set-uid bit, which no_new_privs
 * rules out. So the right to unmount stays with a second process, which does nothing but
 * wait for a word on a pipe, or for its end, and looks at nothing that comes from a
 * store. The daemon may thus also crash or be killed: no dead mount stays.
 *
 * Layer 0. May include dead.h, err.h, privilege.h and util.h.
 */
#pragma once

#include <sys/types.h>

#include "err.h"
#include "util.h"

struct zr_keeper {
	pid_t pid; /* 0: there is none */
	int fd;    /* its pipe; closed when its process ends, however */
};

/* Once the mount at `point` (absolute) is made, while there is one thread, and before any
 * right is given up. */
ZR_MUST_CHECK int zr_keeper_start(const char *point, struct zr_keeper *ret,
                                  struct zr_err *reterr);

/*
 * Waits until it has done its part and ended. gone: somebody else has unmounted, and what
 * is at `point` now is not ours. Else the mount must be dead: whoever answers for it has
 * been closed. After that k->fd, which stays open, is a pipe that nobody reads.
 */
void zr_keeper_end(struct zr_keeper *k, bool gone);
