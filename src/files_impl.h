/* SPDX-License-Identifier: MIT */
/*
 * files_impl.h - what files.c (documents), files_view.c (views) and files_list.c (names)
 * share
 *
 * Layer 4.
 */
#pragma once

#include <pthread.h>

#include "ahead.h"
#include "files.h"
#include "recall.h"

struct made_view {
	uint32_t id; /* entry and tree */
	struct zr_view *view;
};

/* One directory of one tree. */
struct zr_files_dir {
	struct zr_child *children; /* owned, in declared order; their names too */
	size_t count;
	uint32_t *by_name; /* owned: positions in children, sorted by name */
	bool listed;
};

struct zr_files {
	atomic_uint refs;
	const struct zr_env *env;
	char *path;
	struct zr_meta meta;
	bool has_doc[ZR_NDOCS];
	bool has_older;      /* beside its zarr.json */
	struct zr_turn turn; /* while it is loaded */
	uint64_t doc_size[ZR_NDOCS];

	/* Of an array that can be shown; else `sizes` is NULL. */
	struct zr_layout layout;
	struct zr_source source;
	struct zr_ahead_jobs ahead;
	struct zr_measure *measure;
	struct zr_recall recall; /* guarded by the lock of sizes */
	struct zr_sizes *sizes;
	uint32_t nfiles; /* text files, as zr_measure numbers them */

	struct zr_known_sizes known; /* what an earlier life found; sizes not owned */
	atomic_size_t held;          /* bytes that views hold */

	pthread_mutex_t lock;    /* guards what follows */
	struct made_view *views; /* by id */
	uint32_t nviews, views_cap;
	uint32_t ndirs; /* of a tree: levels, or 1 */
	struct zr_files_dir *dirs[ZR_NTREES];
};

const char *zr_files_doc_name(enum zr_doc_file d);

/* The key of `name` below `path`; NULL: no memory. */
char *zr_files_key(const char *path, const char *name);

/* With the lock held: the view, if it was made. */
struct zr_view *zr_files_made(const struct zr_files *f, enum zr_tree_form tree,
                              uint32_t entry);

void zr_files_dirs_done(struct zr_files_dir *dirs, uint32_t ndirs);
