/* SPDX-License-Identifier: MIT */
/*
 * archive_header.h - what stands in front of a member's bytes in a zip archive
 *
 *   [ store ] bytes -> codec -> chunk cache -> view -> render -> fuse reply
 *
 * libzip goes by the central directory alone, and takes what lies at the offset that is
 * given there, whatever the header there says. A member that is read whole has its CRC-32
 * to show that it is the right one; a part of it has nothing but this header.
 *
 * Layer 1. May include store.h and layer 0.
 */
#pragma once

#include "util.h"

/*
 * Whether the header that ends at byte `end` of the archive is that of a member called
 * `name`.
 *
 * -EUCLEAN it is not
 */
ZR_MUST_CHECK int zr_archive_header_check(int fd, uint64_t end, const char *name);
