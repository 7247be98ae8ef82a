/* SPDX-License-Identifier: MIT */
/*
 * visit.h - paths as a mount has them, and every node below one
 *
 * Layer 4. May include tree.h and below.
 *
 * Memory: a visit owns what zr_visit_next() shows, until the next call.
 * Threads: one visit, one thread at a time. May block.
 */
#pragma once

#include "tree.h"

/* Looks up a path from the mount's root: names with '/' between; "", "." and doubled or
 * closing slashes change nothing. -ENOENT, -ENOTDIR; others as the tree's. */
ZR_MUST_CHECK int zr_visit_find(struct zr_tree *t, const char *path,
                                struct zr_place *ret);

struct zr_visit;

struct zr_step {
	const char *path;   /* from the mount's root; "" is the root itself */
	const char *name;   /* the last part of it */
	unsigned int depth; /* below where the visit began */
	struct zr_node *node;
	struct zr_files *files; /* whoever keeps it takes a reference */
	int error;              /* 0; or what is wrong with the node (it was logged): then
	                         * there are no files, or what is in it cannot be listed */
};

/* A visit to the node at `from` and all below it, whose path is `path`: each node before
 * those in it, those in the order of a listing. NULL: no memory. */
struct zr_visit *zr_visit_new(struct zr_tree *t, const struct zr_place *from,
                              const char *path);

/* The next node: 1; 0 when there is none; -ENOMEM, or what the store said in the middle
 * of a listing. A node that is in trouble is a step, and the visit goes on behind it. */
ZR_MUST_CHECK int zr_visit_next(struct zr_visit *w, struct zr_step *ret);

void zr_visit_free(struct zr_visit *w); /* NULL is allowed */

static inline void zr_visit_freep(struct zr_visit **w)
{
	zr_visit_free(*w);
}
