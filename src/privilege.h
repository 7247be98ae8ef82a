/* SPDX-License-Identifier: MIT */
/*
 * privilege.h - as whom the daemon goes on, and with what rights
 *
 * Mounting needs root's rights, or the helper that lends them; serving a store needs
 * none. So root gives them up for good once the mount is made: for those of the user that
 * was named or that the store belongs to, or, as root, for the one of reading what
 * permissions forbid.
 *
 * Layer 0. May include err.h and util.h.
 *
 * Threads: only while there is one; those that start later inherit it.
 */
#pragma once

#include <sys/types.h>

#include "err.h"
#include "util.h"

struct zr_who {
	uid_t uid;
	gid_t gid;
};

/*
 * The user called `user` (a name, or a number), or if it is NULL: for root that can
 * become another, whom the store at the path `store` belongs to, if he may list it; for
 * others themselves.
 * One line when there is no such user, or when it is another and we are not root.
 */
ZR_MUST_CHECK int zr_privilege_pick(const char *user, const char *store,
                                    struct zr_who *ret, struct zr_err *reterr);

/*
 * Goes on as that user, with the groups that it has, without any capability; where root
 * stays root, with CAP_DAC_READ_SEARCH only. In any case nothing that is executed can
 * have more rights from here on.
 */
ZR_MUST_CHECK int zr_privilege_drop(const struct zr_who *who, struct zr_err *reterr);

/* Keeps those of the capabilities (bits, 1 << CAP_...) that there are, and no other. */
ZR_MUST_CHECK int zr_privilege_keep(uint64_t capabilities);
