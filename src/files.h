/* SPDX-License-Identifier: MIT */
/*
 * files.h - which files the mount shows of one node, and the views behind them
 *
 *   store bytes -> codec -> chunk cache -> view -> render -> fuse reply
 *
 * A node (a group or an array) is seen in five trees: the text and four other forms, one
 * at the mount's root and the others beside it. Within a node and tree, directories and
 * files are *entries*, numbered from the metadata alone, so that the same document always
 * gives the same numbers:
 *
 *     0                          the node's own directory (level 0 of a struct)
 *     1 .. nlevels - 1           directories of nested structs
 *     nlevels + leaf             a field's file
 *     nlevels + nleaves + level  records.jsonl, records.csv, records, records.npy
 *     ZR_ENTRY_DOC + enum zr_doc_file
 *
 * Children of groups are not entries but nodes: tree.h.
 *
 * Layer 4. May include view.h, meta.h, names.h and below.
 *
 * Memory: shared by reference. Views are made when they are first asked for and live as
 *         long as the zr_files.
 * Threads: all functions from any thread. zr_files_load() blocks on I/O.
 */
#pragma once

#include "meta.h"
#include "view.h"

enum zr_tree_form {
	ZR_TREE_TEXT,
	ZR_TREE_CSV,
	ZR_TREE_RAW,
	ZR_TREE_NPY,
	ZR_TREE_ZARR,
	ZR_NTREES
};

/* Entries that are no part of a record. */
enum zr_doc_file {
	ZR_DOC_UNREADABLE,
	ZR_DOC_ZARR_JSON,
	ZR_DOC_ZGROUP,
	ZR_DOC_ZARRAY,
	ZR_DOC_ZATTRS,
	ZR_DOC_ATTRIBUTES,
	ZR_DOC_SCHEMA,
	ZR_DOC_CHUNKS,
	ZR_NDOCS
};

#define ZR_ENTRY_BITS 21
#define ZR_ENTRY_DOC (((uint32_t)1 << ZR_ENTRY_BITS) - 64)

struct zr_index;
struct zr_queue;

/* What all arrays of a mount share. Borrowed by each. */
struct zr_env {
	struct zr_store *store;
	struct zr_cache *cache;
	struct zr_gate *gate;
	struct zr_queue *queue;
	struct zr_index *index; /* NULL: nothing is kept on disk */
	struct zr_render_opts render;
	unsigned int size_wait; /* seconds */
	bool missing_is_error;
	enum zr_tree_form root; /* the tree that the mount's root is */
	unsigned int beside;    /* the trees in it: bits, 1 << enum zr_tree_form */
};

struct zr_files;

/* Sizes of a node's files that had to be found out, kept while its zr_files come and go.
 */
struct zr_known_sizes {
	uint64_t *sizes; /* of text files. Owned; NULL: not known */
	uint32_t count;
	struct zr_shown shown[ZR_SOLOS]; /* of these text files, if not of all */
	unsigned int nshown;
	bool has_chunks;
	uint64_t chunks; /* of chunks.tsv */
	bool told;       /* why the node cannot be shown was logged */
};

/*
 * Reads the documents of the node at `path` and looks at what they say. `owner`: unique
 * to the node for the life of the cache. A node that cannot be shown is no failure: it
 * has unreadable.txt. -EIO and others when the store does not answer.
 */
ZR_MUST_CHECK int zr_files_load(const struct zr_env *env, const char *path,
                                uint64_t owner, const struct zr_known_sizes *known,
                                struct zr_files **ret);

struct zr_files *zr_files_ref(struct zr_files *f);
void zr_files_unref(struct zr_files *f); /* NULL is allowed */

bool zr_files_is_group(const struct zr_files *f);

/* One line: why the node cannot be shown; NULL if it can. */
const char *zr_files_why(const struct zr_files *f);

/* Whether documents of version 2 lie beside the zarr.json that is shown. */
bool zr_files_has_older(const struct zr_files *f);

/* What an array's records are and where they come from; NULL if the node is none, or
 * cannot be shown. Borrowed, valid as long as the zr_files. */
struct zr_source *zr_files_source(struct zr_files *f);
const struct zr_layout *zr_files_layout(const struct zr_files *f);

/* The sizes of its text files; likewise. */
struct zr_sizes *zr_files_sizes(struct zr_files *f);

/* The codecs' names: a JSON list, as in schema.json. Borrowed; of an array only. */
const struct zr_buf *zr_files_codecs(const struct zr_files *f);

struct zr_child {
	const char *name; /* file name; borrowed from the zr_files */
	uint32_t entry;
	bool is_dir;
};

/* How many entries directory `dir` has in a tree, and the nth, in declared order. A
 * directory that is not in that tree has none. -ENOMEM; -ENOENT: no such entry. */
ZR_MUST_CHECK int zr_files_count(struct zr_files *f, enum zr_tree_form tree, uint32_t dir,
                                 size_t *ret);
ZR_MUST_CHECK int zr_files_nth(struct zr_files *f, enum zr_tree_form tree, uint32_t dir,
                               size_t nth, struct zr_child *ret);
ZR_MUST_CHECK int zr_files_find(struct zr_files *f, enum zr_tree_form tree, uint32_t dir,
                                const char *name, struct zr_child *ret);

/* Whether an entry is a directory; -ENOENT: no such entry. */
ZR_MUST_CHECK int zr_files_is_dir(struct zr_files *f, uint32_t entry, bool *ret);

/* The view of a file; borrowed, valid as long as the zr_files. -ENOENT, -ENOMEM, -EISDIR.
 */
ZR_MUST_CHECK int zr_files_view(struct zr_files *f, enum zr_tree_form tree,
                                uint32_t entry, struct zr_view **ret);

/* What the queue wakes when a size that was -EINPROGRESS may be known. */
const void *zr_files_wait_on(struct zr_files *f);

/* Whether nobody but the caller, who has the only reference, has to do with it: neither
 * another reference nor a measuring pass. */
bool zr_files_idle(struct zr_files *f);

/* Adds the sizes that are known by now. */
void zr_files_save_sizes(struct zr_files *f, struct zr_known_sizes *ret);

/* Bytes of memory it takes, about. */
size_t zr_files_bytes(struct zr_files *f);
