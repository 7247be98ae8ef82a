/* SPDX-License-Identifier: MIT */
/*
 * Views are made when they are first asked for, and found by entry and tree.
 */
#include <errno.h>

#include "files_impl.h"
#include "npy.h"
#include "schema.h"

#define VIEW_BYTES 1000 /* of memory that a view takes, about */

/* zarr.json and the like, as stored. */
static int view_stored(struct zr_files *f, enum zr_doc_file d, struct zr_view **ret)
{
	ZR_CLEANUP(zr_freep) char *key = zr_files_key(f->path, zr_files_doc_name(d));

	if (!f->has_doc[d])
		return -ENOENT;
	if (!key)
		return -ENOMEM;
	*ret = zr_view_new_object(f->env->store, key, f->doc_size[d]);
	return *ret ? 0 : -ENOMEM;
}

/* Bytes that are made once and kept: taken out of `text` if all goes well. */
static int view_made(struct zr_files *f, struct zr_buf *text, struct zr_view **ret)
{
	if (zr_buf_check(text) < 0)
		return -ENOMEM;
	atomic_fetch_add(&f->held, text->cap);
	*ret = zr_view_new_bytes(text);
	return *ret ? 0 : -ENOMEM;
}

static int view_text_doc(struct zr_files *f, enum zr_doc_file d, struct zr_view **ret)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf text = {0};
	int r;

	if (d == ZR_DOC_UNREADABLE && f->meta.why.code) {
		zr_buf_addf(&text, "%s\n", f->meta.why.text);
	} else if (d == ZR_DOC_ATTRIBUTES && f->meta.has_attributes) {
		zr_buf_add(&text, f->meta.attributes.data, f->meta.attributes.len);
		zr_buf_addc(&text, '\n');
	} else if (d == ZR_DOC_SCHEMA && f->sizes) {
		r = zr_schema(f->path, &f->meta, &f->layout, &f->env->render, &text);
		if (r < 0)
			return r;
	} else {
		return -ENOENT;
	}
	return view_made(f, &text, ret);
}

static int view_doc(struct zr_files *f, enum zr_tree_form tree, enum zr_doc_file d,
                    struct zr_view **ret)
{
	enum zr_tree_form home = d == ZR_DOC_UNREADABLE ? f->env->root : ZR_TREE_ZARR;

	if (d >= ZR_NDOCS || tree != home)
		return -ENOENT;
	if (d >= ZR_DOC_ZARR_JSON && d <= ZR_DOC_ZATTRS)
		return view_stored(f, d, ret);
	if (d != ZR_DOC_CHUNKS)
		return view_text_doc(f, d, ret);
	if (!f->sizes)
		return -ENOENT;
	*ret = zr_view_new_chunks(&f->source, f->env->size_wait,
	                          f->known.has_chunks ? &f->known.chunks : NULL,
	                          &f->held);
	return *ret ? 0 : -ENOMEM;
}

static int view_leaf(struct zr_files *f, enum zr_tree_form tree, uint32_t leaf,
                     struct zr_view **ret)
{
	const struct zr_column *c = &f->layout.leaves[leaf];
	const struct zr_render_opts *o = &f->env->render;
	bool variable = zr_type_is_variable(c->type);
	ZR_CLEANUP(zr_buf_done) struct zr_buf header = {0};
	int r;

	if (tree == ZR_TREE_TEXT && (variable || !o->fixed_text)) {
		*ret = zr_view_new_text(&f->source, f->sizes, leaf, c,
		                        zr_line_new_text(&f->layout, leaf, o), &header);
		return *ret ? 0 : -ENOMEM;
	}
	if (variable || tree == ZR_TREE_CSV || tree == ZR_TREE_ZARR)
		return -ENOENT;
	r = tree == ZR_TREE_NPY ? zr_npy_leaf(f->meta.array, c, &header) : 0;
	if (r < 0)
		return r;
	*ret = zr_view_new_bin(&f->source, c,
	                       tree == ZR_TREE_TEXT ? zr_bin_new_text(&f->layout, leaf, o)
	                                            : zr_bin_new_leaf(&f->layout, leaf),
	                       &header);
	return *ret ? 0 : -ENOMEM;
}

/* The whole struct, packed. */
static int view_packed(struct zr_files *f, enum zr_tree_form tree, struct zr_view **ret)
{
	const struct zr_array *a = f->meta.array;
	ZR_CLEANUP(zr_buf_done) struct zr_buf header = {0};
	int r = tree == ZR_TREE_NPY ? zr_npy_records(a, &header) : 0;

	if (r < 0)
		return r;
	*ret = zr_view_new_bin(&f->source, f->layout.levels, zr_bin_new_record(&a->type),
	                       &header);
	return *ret ? 0 : -ENOMEM;
}

static int view_records(struct zr_files *f, enum zr_tree_form tree, uint32_t level,
                        struct zr_view **ret)
{
	const struct zr_array *a = f->meta.array;
	uint32_t file = f->layout.nleaves + level;
	ZR_CLEANUP(zr_buf_done) struct zr_buf header = {0};

	if (tree == ZR_TREE_TEXT) {
		*ret = zr_view_new_text(
			&f->source, f->sizes, file, &f->layout.levels[level],
			zr_line_new_json(a, &f->layout, level, &f->env->render), &header);
	} else if (level == 0 && tree == ZR_TREE_CSV) {
		int r = zr_csv_header(a, &f->layout, &header);

		if (r < 0)
			return r;
		*ret = zr_view_new_text(
			&f->source, f->sizes, file + f->layout.nlevels, f->layout.levels,
			zr_line_new_csv(a, &f->layout, &f->env->render), &header);
	} else if (level == 0 && tree != ZR_TREE_ZARR && f->layout.is_struct) {
		return view_packed(f, tree, ret);
	} else {
		return -ENOENT;
	}
	return *ret ? 0 : -ENOMEM;
}

/* With the lock held. */
static int view_make(struct zr_files *f, enum zr_tree_form tree, uint32_t entry,
                     struct zr_view **ret)
{
	if (entry >= ZR_ENTRY_DOC)
		return view_doc(f, tree, entry - ZR_ENTRY_DOC, ret);
	if (!f->sizes)
		return entry == 0 ? -EISDIR : -ENOENT;
	if (entry < f->layout.nlevels)
		return -EISDIR;
	entry -= f->layout.nlevels;
	if (entry < f->layout.nleaves)
		return view_leaf(f, tree, entry, ret);
	entry -= f->layout.nleaves;
	if (entry < f->layout.nlevels)
		return view_records(f, tree, entry, ret);
	return -ENOENT;
}

static uint32_t view_id(enum zr_tree_form tree, uint32_t entry)
{
	return entry << 3 | (uint32_t)tree;
}

/* With the lock held: the place of a view among those made so far, or where it belongs.
 */
static uint32_t view_find(const struct zr_files *f, uint32_t id)
{
	uint32_t low = 0, high = f->nviews;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (f->views[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct zr_view *zr_files_made(const struct zr_files *f, enum zr_tree_form tree,
                              uint32_t entry)
{
	uint32_t id = view_id(tree, entry), at = view_find(f, id);

	return at < f->nviews && f->views[at].id == id ? f->views[at].view : NULL;
}

/* With the lock held. */
static int view_get(struct zr_files *f, enum zr_tree_form tree, uint32_t entry,
                    struct zr_view **ret)
{
	uint32_t id = view_id(tree, entry), at = view_find(f, id);
	struct zr_view *view = NULL;
	int r;

	if (at < f->nviews && f->views[at].id == id) {
		*ret = f->views[at].view;
		return 0;
	}
	if (f->nviews == f->views_cap) {
		uint32_t cap = f->views_cap ? 2 * f->views_cap : 8;
		struct made_view *more = reallocarray(f->views, cap, sizeof(*more));

		if (!more)
			return -ENOMEM;
		f->views = more;
		f->views_cap = cap;
	}
	r = view_make(f, tree, entry, &view);
	if (r < 0)
		return r;
	memmove(f->views + at + 1, f->views + at, (f->nviews - at) * sizeof(*f->views));
	f->views[at] = (struct made_view){.id = id, .view = view};
	f->nviews++;
	atomic_fetch_add(&f->held, VIEW_BYTES);
	*ret = view;
	return 0;
}

int zr_files_view(struct zr_files *f, enum zr_tree_form tree, uint32_t entry,
                  struct zr_view **ret)
{
	int r;

	pthread_mutex_lock(&f->lock);
	r = view_get(f, tree, entry, ret);
	pthread_mutex_unlock(&f->lock);
	return r;
}
