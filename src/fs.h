/* SPDX-License-Identifier: MIT */
/*
 * fs.h - the FUSE operations
 *
 *   store bytes -> codec -> chunk cache -> view -> render -> [ fuse reply ]
 *
 * The only module besides main.c that includes a FUSE header. One reply a request,
 * errno mapping, size and attribute rules (DESIGN, section 2); nothing else. No handler
 * blocks: what needs the store, a chunk or a size is a job of the queue (request.h).
 *
 * Layer 5. May include everything below.
 *
 * Memory: whoever makes it frees it, after the session has ended.
 */
#pragma once

#include "err.h"
#include "opts.h"
#include "store.h"

struct fuse_lowlevel_ops;
struct zr_engine;
struct zr_fs;

/*
 * Look at the store's root and make a file system of it; `opts` is borrowed and must
 * outlive it. Starts no thread (the process may still fork): threads start with the
 * session's first request. on_ready (may be NULL) is called once the kernel's INIT was
 * answered, which is when the mount answers.
 * -EINVAL and others with one line in reterr: no Zarr store there.
 */
ZR_MUST_CHECK int zr_fs_new(struct zr_store *store, const struct zr_opts *opts,
                            void (*on_ready)(void *arg), void *arg, struct zr_fs **ret,
                            struct zr_err *reterr);

/* For fuse_session_new(), with the zr_fs as user data. */
const struct fuse_lowlevel_ops *zr_fs_ops(void);

/* What it stands on. Borrowed. */
const struct zr_engine *zr_fs_engine(const struct zr_fs *fs);

/* Stops all work. NULL is allowed. */
void zr_fs_free(struct zr_fs *fs);
