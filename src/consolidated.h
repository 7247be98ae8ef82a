/* SPDX-License-Identifier: MIT */
/*
 * consolidated.h - a store, and besides what its groups' consolidated metadata hold
 *
 *   [ store ] bytes -> codec -> chunk cache -> view -> render -> fuse reply
 *
 * Consolidated metadata are copies of the documents of all nodes below a group, in one
 * document: the member consolidated_metadata of its zarr.json (v3), or .zmetadata beside
 * its .zgroup (v2; `zmetadata` has been seen). This store lies on top of another one. It
 * answers like that one, and where a document is not there but a group above has a copy
 * of it, with the copy.
 *
 * A copy may be out of date. So a node that has any document of its own (zarr.json,
 * .zarray, .zgroup) is described by its own ones alone, and a node of which there is no
 * copy is found as ever: copies add nodes, they hide none. What a copy proves is only
 * that the node is shown, without a look at its directory.
 *
 * Of several groups above a node the outermost one counts, as it does for zarr-python.
 *
 * Layer 1. May include store.h, json.h and layer 0.
 *
 * Memory: the text of a consolidated document is kept, with an index of its parts sorted
 *         by path; all of a store together at most ZR_MAX_CONSOLIDATED bytes.
 * Threads: all functions from any thread, in parallel. They may block on I/O.
 */
#pragma once

#include "store.h"

/* Takes the reference of the store below. NULL: no memory (the reference is given back).
 */
struct zr_store *zr_consolidated_new(struct zr_store *own_base);

/*
 * Looks whether the group at `path` has consolidated metadata; from then on its copies
 * are there. Without effect on other kinds of store, and when it was done before. Where
 * what is there makes no sense, or is too large, that is 0 too, with a text in reterr
 * that goes on from "is not used": it is as if it were not there.
 *
 * -ENOMEM; others when the store does not answer.
 */
ZR_MUST_CHECK int zr_consolidated_learn(struct zr_store *s, const char *path,
                                        struct zr_err *reterr);

/* Whether there is a copy of a document that makes `path` a node. No I/O. */
bool zr_consolidated_has(struct zr_store *s, const char *path);
