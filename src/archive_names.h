/* SPDX-License-Identifier: MIT */
/*
 * archive_names.h - whether the names in a zip archive were made to collide
 *
 *   [ store ] bytes -> codec -> chunk cache -> view -> render -> fuse reply
 *
 * libzip puts all names into a hash table before it gives an archive to anybody. Its hash
 * is known, and names that all have the same one are quickly made: 65,000 of them take
 * 20 s, a million more than an hour. So their number is known before it is asked.
 *
 * Layer 1. May include store.h and layer 0.
 */
#pragma once

#include "err.h"
#include "util.h"

/*
 * Looks through whatever libzip may take for the central directory of the archive `fd`,
 * of so many bytes. 0: it can be opened, or is no archive. One line in reterr, that
 * begins with the path:
 *
 * -EFBIG  its names collide, or it has more than ZR_MAX_MEMBERS, or so many directories
 *         that reading them would not end
 * -ENOMEM; or the file cannot be read
 */
ZR_MUST_CHECK int zr_archive_check_names(int fd, uint64_t size, const char *path,
                                         struct zr_err *reterr);
