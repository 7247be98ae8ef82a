/* SPDX-License-Identifier: MIT */
/*
 * tree.h - the name space of a mount: nodes, inode numbers, listings
 *
 *   store bytes -> codec -> chunk cache -> view -> render -> fuse reply
 *
 * Filled in lazily. Listing a group costs one directory read and an existence check a
 * child; a document is parsed at the first lookup or listing *inside* its node. A listing
 * is a snapshot: the store is taken as unchanging while mounted. Nodes are never freed,
 * so those that symbolic links lead to have a bound (ZR_MAX_LINKED): there may be more
 * paths than directories. What was parsed (files.h) is kept in an LRU.
 *
 * An inode number is computed from node, tree and entry, so it is the same for the
 * mount's life, and needs no table: FORGET does nothing.
 *
 * Layer 4. May include files.h and below.
 *
 * Memory: nodes belong to the tree. zr_tree_files() hands out a reference. What
 *         somebody has a reference of stays in the LRU: there are never two zr_files of a
 *         node at a time.
 * Threads: all functions from any thread. Those that may block say so.
 */
#pragma once

#include "files.h"
#include "names.h"

struct zr_tree;
struct zr_node;

/* What an inode number says. */
struct zr_place {
	struct zr_node *node;
	enum zr_tree_form tree;
	uint32_t entry; /* files.h; 0: the node's own directory */
};

#define ZR_ROOT_INO 1

/* Looks at the store's root. env is borrowed. With one line in reterr: -EINVAL, no Zarr
 * store is there; -EOPNOTSUPP, something else that is known (foreign.h). May block. */
ZR_MUST_CHECK int zr_tree_new(const struct zr_env *env, struct zr_tree **ret,
                              struct zr_err *reterr);
void zr_tree_free(struct zr_tree *t); /* NULL is allowed */

uint64_t zr_tree_ino(const struct zr_tree *t, const struct zr_place *p);

/* -ESTALE: no such inode was ever handed out. */
ZR_MUST_CHECK int zr_tree_place(struct zr_tree *t, uint64_t ino, struct zr_place *ret);

/* The documents of a node, parsed; a reference. May block unless zr_tree_peek() has it.
 */
ZR_MUST_CHECK int zr_tree_files(struct zr_tree *t, struct zr_node *node,
                                struct zr_files **ret);
struct zr_files *zr_tree_peek(struct zr_tree *t, struct zr_node *node);

struct zr_entry {
	char name[ZR_NAME_MAX + 1]; /* file name */
	struct zr_place place;
	bool is_dir;
	struct zr_files *files; /* of a file: a reference of its node's documents */
};
void zr_entry_done(struct zr_entry *e);

/*
 * The child of directory `dir` by that file name. -ENOENT, -ENOTDIR. With `wait` it may
 * block; without it the answer is -EAGAIN where it would have to.
 */
ZR_MUST_CHECK int zr_tree_lookup(struct zr_tree *t, const struct zr_place *dir,
                                 const char *name, bool wait, struct zr_entry *ret);

/* The nth child of a directory; -ENOENT behind the last one. Likewise. */
ZR_MUST_CHECK int zr_tree_nth(struct zr_tree *t, const struct zr_place *dir, uint64_t nth,
                              bool wait, struct zr_entry *ret);

/* The directory above. */
struct zr_place zr_tree_parent(const struct zr_tree *t, const struct zr_place *p);

/* When the node's document was written; the root's or the parent's where it has none. */
struct timespec zr_tree_mtime(const struct zr_node *node);
