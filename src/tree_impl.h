/* SPDX-License-Identifier: MIT */
/*
 * tree_impl.h - what tree.c (names, inode numbers) and tree_node.c (nodes, what is kept
 * of them) share
 *
 * Layer 4, private.
 */
#pragma once

#include <pthread.h>

#include "tree.h"

struct zr_node {
	uint64_t id; /* immutable, as is all down to `lock` */
	struct zr_node *parent;
	char *path;      /* owned: key of its directory in the store */
	char *file_name; /* owned */
	bool linked;     /* a symbolic link is on the way to it */

	pthread_mutex_t
		lock; /* one listing or parse at a time; guards `children`, `mtime` */
	struct timespec mtime;
	atomic_bool dated;         /* mtime is known and will not change */
	atomic_size_t undated;     /* children of which it is not */
	atomic_uint ndated;        /* children that were dated one by one */
	atomic_bool listed;        /* children are there and will not change */
	struct zr_node **children; /* owned array, sorted by file name */
	size_t nchildren;

	/* Guarded by the tree's lock. */
	struct zr_files *files; /* one reference, or NULL */
	size_t bytes;           /* that it was counted with */
	struct zr_known_sizes known;
	struct zr_node *prev, *next; /* LRU of nodes with files */
};

struct zr_tree {
	const struct zr_env *env;
	struct zr_node *root;
	atomic_bool told_older; /* that a node has documents of both versions */

	pthread_mutex_t lock;   /* guards what follows */
	struct zr_node **nodes; /* by id */
	size_t nnodes, nodes_cap;
	size_t linked;       /* bytes of nodes that were found in linked ones */
	struct zr_node *lru; /* most recent first */
	size_t bytes;
};

/* A new node, without a number yet. mtime NULL: to be found out (zr_node_date()). NULL:
 * no memory; own_path is freed then. */
struct zr_node *zr_node_new(struct zr_node *parent, char *own_path, const char *file_name,
                            const struct timespec *mtime);
void zr_node_free(struct zr_node *n);

/* Gives numbers to new nodes: to all, or to none (-ENOMEM). */
ZR_MUST_CHECK int zr_tree_add(struct zr_tree *t, struct zr_node *const *nodes,
                              size_t count);

/* What the group at `path` says of the nodes below it is taken in. */
ZR_MUST_CHECK int zr_node_learn(struct zr_tree *t, const char *path);

/* The children of a group are there then. Without `wait` -EAGAIN if they are not now. */
ZR_MUST_CHECK int zr_node_children(struct zr_tree *t, struct zr_node *n, bool wait);

/* The child by that file name, once they are there; NULL: there is none. */
struct zr_node *zr_node_find(const struct zr_node *n, const char *name);

/* A child's mtime is known then. Without `wait` likewise. */
ZR_MUST_CHECK int zr_node_date(struct zr_tree *t, struct zr_node *n,
                               struct zr_node *child, bool wait);

/* As zr_tree_files(). Without `wait` likewise. */
ZR_MUST_CHECK int zr_node_files(struct zr_tree *t, struct zr_node *n, bool wait,
                                struct zr_files **ret);
