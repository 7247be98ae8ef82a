/* SPDX-License-Identifier: MIT */
/*
 * stash.h - a directory of our own with small files that are kept between runs
 *
 * Files may vanish at any time, and what is read is not to be trusted: whoever reads
 * looks whether it is what was written. A file is replaced as a whole or not at all.
 * Whoever writes keeps the directory within its bounds: what was written (or used,
 * zr_stash_touch()) longest ago is removed first. Names are ZR_STASH_NAME lower-case
 * hexadecimal digits; what has another name is nobody's business here, and left alone.
 *
 * Layer 1. May include layer 0.
 *
 * Threads: all functions from any thread; processes may share a directory.
 */
#pragma once

#include "buf.h"
#include "err.h"
#include "privilege.h"
#include "util.h"

#define ZR_STASH_NAME 32

struct zr_stash;

/*
 * Opens a directory for `who`, as whom we are or shall be; makes it (and the one above
 * it) if it is not there, for him alone. Refused, with one line: one that is not his,
 * that others may write to, or that is reached by a symbolic link. bytes, files: how much
 * it may hold.
 */
ZR_MUST_CHECK int zr_stash_open(const char *path, const struct zr_who *who,
                                uint64_t bytes, size_t files, struct zr_stash **ret,
                                struct zr_err *reterr);
/* Its descriptor, for the sandbox. */
int zr_stash_dir(const struct zr_stash *s);
void zr_stash_free(struct zr_stash *s); /* NULL is allowed */

/* 0, if files can be written to it. */
ZR_MUST_CHECK int zr_stash_writable(const struct zr_stash *s);

/* Where programs keep such files: `name` in $XDG_CACHE_HOME, else for root in /var/cache,
 * for others in ~/.cache. If `who` is another, a directory in that, called by his number:
 * users do not share one, since what each finds there he takes for his own. -ENOENT:
 * there is no such place; -ENOMEM. */
ZR_MUST_CHECK int zr_stash_place(const char *name, const struct zr_who *who, char **ret);

/*
 * The first bytes of a file, at most `max`; *ret_size: how many it has. *ret must be
 * empty. -ENOENT: there is none; -EPERM: it is not a file of ours that others cannot
 * write to; or as the system says.
 */
ZR_MUST_CHECK int zr_stash_read(const struct zr_stash *s, const char *name, size_t max,
                                struct zr_buf *ret, uint64_t *ret_size);

/* Sets or replaces a file. -E2BIG: it is more than the whole directory may hold; or as
 * the system says. */
ZR_MUST_CHECK int zr_stash_write(struct zr_stash *s, const char *name, const void *data,
                                 size_t len);

/* The file was of use: it counts as written now. */
void zr_stash_touch(const struct zr_stash *s, const char *name);

void zr_stash_remove(struct zr_stash *s, const char *name);
