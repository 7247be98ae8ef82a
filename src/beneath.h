/* SPDX-License-Identifier: MIT */
/*
 * beneath.h - open what a key names, and nothing outside of the directory it belongs to
 *
 *   [ store ] bytes -> codec -> chunk cache -> view -> render -> fuse reply
 *
 * What store_dir.c stands on: which file a key leads to, over whatever links. Reading is
 * not its business.
 *
 * Layer 1. May include store.h and layer 0.
 *
 * Memory: zr_beneath_done() closes the directory.
 * Threads: immutable once open; all functions from any thread.
 * Errors: as in store.h, with a text in reterr for all but -ENOENT.
 */
#pragma once

#include "err.h"
#include "util.h"

struct zr_beneath {
	int root;         /* O_PATH; -1: none */
	bool follow;      /* symbolic links may lead out of it */
	bool has_openat2; /* not an old kernel, nor a sandbox that forbids it */
};

/* -errno, without a text. */
ZR_MUST_CHECK int zr_beneath_init(struct zr_beneath *b, const char *path, bool follow);
void zr_beneath_done(struct zr_beneath *b);

/*
 * A descriptor of what `key` names ("": the directory itself), opened with `flags`, or:
 *
 * -ENOENT  it is not there. A plain file in the middle of a key counts as such, a
 *          component too long for the file system too
 * -ENOTDIR O_DIRECTORY was asked for, and it is no directory
 * -ELOOP   a symbolic link leads out of the directory, or nowhere
 * -EUCLEAN a dangling symbolic link; a socket or a device, which cannot be opened
 * -EIO     the directory itself was removed
 */
ZR_MUST_CHECK int zr_beneath_open(const struct zr_beneath *b, const char *key, int flags,
                                  struct zr_err *reterr);

/* What a lookup that found nothing answers: -ENOENT, but -EIO (and a text) when the
 * directory itself is gone, which says nothing about any key. */
ZR_MUST_CHECK int zr_beneath_missing(const struct zr_beneath *b, struct zr_err *reterr);

/* Sets the text for what is neither a regular file nor a directory; -EUCLEAN. */
int zr_beneath_irregular(struct zr_err *reterr, const char *key);
