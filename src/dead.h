/* SPDX-License-Identifier: MIT */
/*
 * dead.h - a mount that nobody serves any more
 *
 * Its daemon was killed, and whoever looks gets ENOTCONN ("Transport endpoint is not
 * connected") until it is taken away.
 *
 * Layer 0. May include util.h.
 */
#pragma once

#include "util.h"

/* Whether there is one at `point`. Asks whoever serves the mount, and waits for it. */
bool zr_dead_mount(const char *point);

/* Whether the mount at `point` (absolute, without symbolic links), dead or not, is of
 * this type. It is not touched. */
bool zr_dead_is_type(const char *point, const char *type);

/* Takes a dead mount away, lazily: by umount2(), or by fusermount3 for users other than
 * root. Does nothing to any other. */
void zr_dead_remove(const char *point);
