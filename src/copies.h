/* SPDX-License-Identifier: MIT */
/*
 * copies.h - the documents of other nodes that one consolidated document holds
 *
 *   [ store ] bytes -> codec -> chunk cache -> view -> render -> fuse reply
 *
 * v3: the member consolidated_metadata of a group's zarr.json, {"kind": "inline",
 * "must_understand": false, "metadata": {path: zarr.json of that node}}. v2: .zmetadata,
 * {"zarr_consolidated_format": 1, "metadata": {path/name: document of that name}}. Paths
 * are relative to the group. Nothing is parsed: the text is kept, and an index of its
 * parts, sorted by path, made in one pass over it.
 *
 * Layer 1. May include json.h and layer 0, and store.h for what a key is.
 *
 * Memory: the copies own the text, all else points into it.
 * Threads: immutable once read, but for `state`.
 */
#pragma once

#include <stdatomic.h>

#include "buf.h"
#include "err.h"

enum zr_copy_doc {
	ZR_COPY_ZARR_JSON,
	ZR_COPY_ZARRAY,
	ZR_COPY_ZGROUP,
	ZR_COPY_ZATTRS, /* makes no node by itself */
	ZR_NCOPY_DOCS
};

/* "zarr.json" and so on. */
const char *zr_copy_name(enum zr_copy_doc doc);

#define ZR_COPY_MAX_PATH 4096 /* bytes, as in archives */

struct zr_copy {
	const char *path; /* of the node, path_len bytes; no NUL in it or behind it */
	const char *data; /* the document */
	uint32_t path_len;
	uint32_t len;
	uint8_t doc;
	atomic_uchar state; /* for the user; 0 at first */
};

struct zr_copies {
	struct zr_buf text;
	struct zr_copy *copies; /* owned; sorted by path and document, each once */
	size_t count;
	size_t too_long; /* documents left out because of their paths */
};

/* Of the text of a zarr.json, or of a .zmetadata, which is consumed in any case. No
 * copies at all if there is no consolidated metadata in it, or null. -EINVAL: it makes no
 * sense; -EFBIG: too many; -ENOMEM. */
ZR_MUST_CHECK int zr_copies_read_v3(struct zr_buf *own_text, struct zr_copies *ret,
                                    struct zr_err *reterr);
ZR_MUST_CHECK int zr_copies_read_v2(struct zr_buf *own_text, struct zr_copies *ret,
                                    struct zr_err *reterr);
void zr_copies_done(struct zr_copies *c); /* NULL is allowed */

/* The copy of a document of the node at `path`, or NULL. */
struct zr_copy *zr_copies_find(const struct zr_copies *c, const char *path, size_t len,
                               enum zr_copy_doc doc);

/* Whether there is a copy that makes `path` a node. */
bool zr_copies_has(const struct zr_copies *c, const char *path, size_t len);

/* The copies of nodes below `path`: *ret_lo <= i < *ret_hi. */
void zr_copies_below(const struct zr_copies *c, const char *path, size_t len,
                     size_t *ret_lo, size_t *ret_hi);
