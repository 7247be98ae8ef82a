/* SPDX-License-Identifier: MIT */
/*
 * probe.h - whether something in a store is a node, or leads to nodes
 *
 *   store bytes -> codec -> chunk cache -> view -> render -> fuse reply
 *
 * A directory with a zarr.json, .zarray or .zgroup is a node, whatever the document says.
 * One without that has nodes somewhere below it is shown as a plain directory.
 *
 * Layer 2. May include store.h and layer 0.
 *
 * Threads: no state; any. All functions block on I/O.
 * Errors: -ENOMEM, -EIO and others when the store does not answer.
 */
#pragma once

#include "store.h"

/* 1 if the directory holds a node document (*ret_mtime: its time), 0 if not. What stands
 * there under such a name but cannot be read is a document too: a broken one. */
ZR_MUST_CHECK int zr_probe_document(struct zr_store *store, const char *path,
                                    struct timespec *ret_mtime);

/* Likewise 1 for a directory that leads to nodes. The search is bounded; what is too
 * large to be searched is shown. */
ZR_MUST_CHECK int zr_probe_child(struct zr_store *store, const char *path,
                                 struct timespec *ret_mtime);

/* The same for one of many: all of a listing together look at *left more entries, which
 * counts down from ZR_PROBE_LISTING. What then remains is shown without a search. */
#define ZR_PROBE_LISTING 50000
ZR_MUST_CHECK int zr_probe_among(struct zr_store *store, const char *path,
                                 unsigned int *left, struct timespec *ret_mtime);

/* 0 if the root of the store can be shown. -EINVAL: it is none; one line in reterr. */
ZR_MUST_CHECK int zr_probe_root(struct zr_store *store, struct timespec *ret_mtime,
                                struct zr_err *reterr);
