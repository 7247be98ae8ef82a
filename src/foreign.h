/* SPDX-License-Identifier: MIT */
/*
 * foreign.h - what holds Zarr data but is no Zarr store
 *
 *   [ store ] bytes -> codec -> chunk cache -> view -> render -> fuse reply
 *
 * Databases, reference files, other formats and drafts, known by a file or two. They are
 * told apart so that the error says what was met and what would help; none is read.
 *
 * Layer 1. May include store.h, json.h and layer 0.
 *
 * Threads: no state; any. Both block on I/O.
 */
#pragma once

#include "store.h"

/* -EOPNOTSUPP and a line in reterr, without a path, when the store's root is something
 * else. 0: it is not, or who knows; -ENOMEM. */
ZR_MUST_CHECK int zr_foreign_check(struct zr_store *store, struct zr_err *reterr);

/* What the first bytes of a regular file tell, NULL if nothing. They must not hold a zip
 * archive. */
const char *zr_foreign_file(const uint8_t *head, size_t len);

/* What a path that leads to nothing tells: of a URL; NULL of any other. */
const char *zr_foreign_url(const char *path);
