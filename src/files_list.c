/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "files.h"
#include "files_impl.h"
#include "names.h"

/* What the records are called in each tree; NULL: there are none. */
static const char *const records_name[ZR_NTREES] = {
	[ZR_TREE_TEXT] = "records.jsonl",
	[ZR_TREE_CSV] = "records.csv",
	[ZR_TREE_RAW] = "records",
	[ZR_TREE_NPY] = "records.npy",
};

void zr_files_dirs_done(struct zr_files_dir *dirs, uint32_t ndirs)
{
	for (uint32_t i = 0; dirs && i < ndirs; i++) {
		for (size_t k = 0; k < dirs[i].count; k++)
			free((char *)dirs[i].children[k].name);
		free(dirs[i].children);
		free(dirs[i].by_name);
	}
	free(dirs);
}

/* --- making a listing
 * ------------------------------------------------------------------- */

static int dir_add(struct zr_files_dir *d, const char *name, uint32_t entry, bool is_dir)
{
	char *copy;

	/* Doubled at each power of two, from 8 on. */
	if (d->count == 0 || (d->count >= 8 && (d->count & (d->count - 1)) == 0)) {
		size_t cap = d->count ? 2 * d->count : 8;
		struct zr_child *more = reallocarray(d->children, cap, sizeof(*more));

		if (!more)
			return -ENOMEM;
		d->children = more;
	}
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	d->children[d->count++] =
		(struct zr_child){.name = copy, .entry = entry, .is_dir = is_dir};
	return 0;
}

static int dir_add_doc(struct zr_files_dir *d, enum zr_doc_file doc)
{
	return dir_add(d, zr_files_doc_name(doc), ZR_ENTRY_DOC + doc, false);
}

static int dir_add_column(struct zr_files_dir *d, const struct zr_column *c,
                          enum zr_name_form form, uint32_t entry)
{
	char name[ZR_NAME_MAX + 1];

	zr_name_escape(c->name, c->name_len, form, name);
	return dir_add(d, name, entry, form == ZR_NAME_NESTED);
}

/* Fields of a level in declared order: leaves and nested levels are each numbered so, and
 * the offset in the record tells which comes first. */
static int list_fields(struct zr_files *f, enum zr_tree_form tree, uint32_t level,
                       struct zr_files_dir *d)
{
	const struct zr_layout *l = &f->layout;
	enum zr_name_form form = tree == ZR_TREE_NPY ? ZR_NAME_NPY : ZR_NAME_PLAIN;
	uint32_t leaf = 0, sub = 1;
	int r = 0;

	while (r == 0) {
		while (leaf < l->nleaves && l->leaves[leaf].parent != level)
			leaf++;
		while (sub < l->nlevels && l->levels[sub].parent != level)
			sub++;
		if (leaf >= l->nleaves && sub >= l->nlevels)
			return 0;
		if (sub >= l->nlevels ||
		    (leaf < l->nleaves &&
		     l->leaves[leaf].offset <= l->levels[sub].offset)) {
			r = dir_add_column(d, &l->leaves[leaf], form, l->nlevels + leaf);
			leaf++;
		} else {
			r = dir_add_column(d, &l->levels[sub], ZR_NAME_NESTED, sub);
			sub++;
		}
	}
	return r;
}

static int list_level(struct zr_files *f, enum zr_tree_form tree, uint32_t level,
                      struct zr_files_dir *d)
{
	const struct zr_layout *l = &f->layout;
	bool binary = tree == ZR_TREE_RAW || tree == ZR_TREE_NPY;
	int r = 0;

	if (binary && zr_type_is_variable(&f->meta.array->type))
		return 0;
	if (tree != ZR_TREE_CSV)
		r = list_fields(f, tree, level, d);
	if (r == 0 && (tree == ZR_TREE_TEXT || level == 0) && (!binary || l->is_struct))
		r = dir_add(d, records_name[tree], l->nlevels + l->nleaves + level,
		            false);
	return r;
}

static int list_docs(struct zr_files *f, struct zr_files_dir *d)
{
	int r = 0;

	for (unsigned int doc = ZR_DOC_ZARR_JSON; r == 0 && doc < ZR_DOC_ATTRIBUTES;
	     doc++)
		if (f->has_doc[doc])
			r = dir_add_doc(d, doc);
	if (r == 0 && f->meta.has_attributes)
		r = dir_add_doc(d, ZR_DOC_ATTRIBUTES);
	if (r == 0 && f->sizes)
		r = dir_add_doc(d, ZR_DOC_SCHEMA);
	if (r == 0 && f->sizes)
		r = dir_add_doc(d, ZR_DOC_CHUNKS);
	return r;
}

static int list_dir(struct zr_files *f, enum zr_tree_form tree, uint32_t dir,
                    struct zr_files_dir *d)
{
	if (tree == ZR_TREE_ZARR)
		return dir == 0 ? list_docs(f, d) : 0;
	if (f->meta.why.code)
		return tree == f->env->root ? dir_add_doc(d, ZR_DOC_UNREADABLE) : 0;
	return f->sizes ? list_level(f, tree, dir, d) : 0;
}

static int compare_names(const void *a, const void *b, void *arg)
{
	const struct zr_child *children = arg;

	return strcmp(children[*(const uint32_t *)a].name,
	              children[*(const uint32_t *)b].name);
}

/* With the lock held: the directory, listed. */
static int dir_get(struct zr_files *f, enum zr_tree_form tree, uint32_t dir,
                   struct zr_files_dir **ret)
{
	struct zr_files_dir made = {0};
	int r;

	if (dir >= f->ndirs)
		return -ENOENT;
	if (!f->dirs[tree])
		f->dirs[tree] = calloc(f->ndirs, sizeof(*f->dirs[tree]));
	if (!f->dirs[tree])
		return -ENOMEM;
	*ret = &f->dirs[tree][dir];
	if ((*ret)->listed)
		return 0;
	r = list_dir(f, tree, dir, &made);
	made.by_name = reallocarray(NULL, made.count + 1, sizeof(*made.by_name));
	if (r == 0 && !made.by_name)
		r = -ENOMEM;
	if (r == 0) {
		for (size_t i = 0; i < made.count; i++)
			made.by_name[i] = (uint32_t)i;
		qsort_r(made.by_name, made.count, sizeof(*made.by_name), compare_names,
		        made.children);
		made.listed = true;
	} else {
		for (size_t i = 0; i < made.count; i++)
			free((char *)made.children[i].name);
		free(made.children);
		free(made.by_name);
		return r;
	}
	**ret = made;
	return 0;
}

/* --- asking
 * ----------------------------------------------------------------------------- */

int zr_files_count(struct zr_files *f, enum zr_tree_form tree, uint32_t dir, size_t *ret)
{
	struct zr_files_dir *d;
	int r;

	pthread_mutex_lock(&f->lock);
	r = dir_get(f, tree, dir, &d);
	if (r == 0)
		*ret = d->count;
	pthread_mutex_unlock(&f->lock);
	return r;
}

int zr_files_nth(struct zr_files *f, enum zr_tree_form tree, uint32_t dir, size_t nth,
                 struct zr_child *ret)
{
	struct zr_files_dir *d;
	int r;

	pthread_mutex_lock(&f->lock);
	r = dir_get(f, tree, dir, &d);
	if (r == 0 && nth >= d->count)
		r = -ENOENT;
	if (r == 0)
		*ret = d->children[nth];
	if (r == 0 && nth == 0 && f->sizes)
		zr_sizes_expect(f->sizes);
	pthread_mutex_unlock(&f->lock);
	return r;
}

static int dir_find(const struct zr_files_dir *d, const char *name, struct zr_child *ret)
{
	size_t low = 0, high = d->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct zr_child *c = &d->children[d->by_name[mid]];
		int order = strcmp(c->name, name);

		if (order == 0) {
			*ret = *c;
			return 0;
		}
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return -ENOENT;
}

int zr_files_find(struct zr_files *f, enum zr_tree_form tree, uint32_t dir,
                  const char *name, struct zr_child *ret)
{
	struct zr_files_dir *d;
	int r;

	pthread_mutex_lock(&f->lock);
	r = dir_get(f, tree, dir, &d);
	if (r == 0)
		r = dir_find(d, name, ret);
	pthread_mutex_unlock(&f->lock);
	return r;
}

int zr_files_is_dir(struct zr_files *f, uint32_t entry, bool *ret)
{
	uint32_t entries = f->sizes ? 2 * f->layout.nlevels + f->layout.nleaves : 1;

	if (entry >= entries &&
	    (entry < ZR_ENTRY_DOC || entry >= ZR_ENTRY_DOC + ZR_NDOCS))
		return -ENOENT;
	*ret = entry < f->ndirs;
	return 0;
}
