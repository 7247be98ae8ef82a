/* SPDX-License-Identifier: MIT */
/*
 * engine.h - what it takes to serve one store: cache, gate, queue, and the tree
 *
 *   store bytes -> codec -> chunk cache -> view -> render -> fuse reply
 *
 * A mount (fs.h) and each verb (cmd.h) stand on one of these. It knows neither FUSE nor
 * what is done with the files.
 *
 * Layer 5. May include opts.h and below.
 *
 * Memory: one owner. Whatever was got from the tree must have been given back when the
 *         engine is freed.
 */
#pragma once

#include "err.h"
#include "files.h"
#include "opts.h"
#include "tree.h"

struct zr_engine {
	struct zr_env env; /* owns what it points to */
	struct zr_tree *tree;
};

/* Look at the store's root and build what stands on it. A reference of the store is
 * taken. Starts no thread: the process may still fork. -EINVAL and others with one line
 * in reterr: no Zarr store is there. */
ZR_MUST_CHECK int zr_engine_new(struct zr_store *store, const struct zr_opts *opts,
                                struct zr_engine **ret, struct zr_err *reterr);

/* Keeps sizes on disk, unless opts say not to; a failure is logged. Before anything but
 * the tree's names is looked at. */
void zr_engine_use_index(struct zr_engine *e, const struct zr_opts *opts);

/* The same for a verb that is there for just that: a failure is an error. */
ZR_MUST_CHECK int zr_engine_need_index(struct zr_engine *e, const struct zr_opts *opts,
                                       struct zr_err *reterr);

/* Makes queue and gate, before anything but the tree's names is looked at. -ENOMEM. */
ZR_MUST_CHECK int zr_engine_start(struct zr_engine *e);

/* Opens opts->store, and does what a verb needs: without an index. A wait for a size has
 * no end then: that is for readers of a mount, who cannot see why nothing comes. */
ZR_MUST_CHECK int zr_engine_open(const struct zr_opts *opts, struct zr_engine **ret,
                                 struct zr_err *reterr);

/* Stops all work. NULL is allowed. */
void zr_engine_free(struct zr_engine *e);

static inline void zr_engine_freep(struct zr_engine **e)
{
	zr_engine_free(*e);
}
