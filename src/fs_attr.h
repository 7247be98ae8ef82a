/* SPDX-License-Identifier: MIT */
/*
 * fs_attr.h - what the kernel is told of a file or directory: attributes and sizes
 *
 *   store bytes -> codec -> chunk cache -> view -> render -> [ fuse reply ]
 *
 * Layer 5, private to fs.c. May include tree.h, opts.h and below.
 *
 * Threads: no state; any.
 */
#pragma once

#include <fuse_lowlevel.h>
#include <sys/stat.h>

#include "opts.h"
#include "tree.h"

#define ZR_FS_FOREVER 1e9 /* seconds that the kernel may keep an answer */

void zr_fs_fill_attr(struct zr_tree *t, const struct zr_opts *o, const struct zr_place *p,
                     bool is_dir, uint64_t size, struct stat *st);

/* The size of an entry if that takes no work. -ENODATA: it does. */
ZR_MUST_CHECK int zr_fs_peek_size(const struct zr_entry *e, uint64_t *ret);

/* What LOOKUP says of a child. A size that is not known yet is a bound that the kernel
 * must not keep. Errors as zr_files_view(). */
ZR_MUST_CHECK int zr_fs_fill_entry(struct zr_tree *t, const struct zr_opts *o,
                                   const struct zr_entry *e,
                                   struct fuse_entry_param *ret);
