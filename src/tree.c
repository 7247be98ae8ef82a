/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>

#include "foreign.h"
#include "probe.h"
#include "tree_impl.h"

/* Inode number = (node << 24 | tree << 21 | entry) + 1, where the tree at the mount's
 * root and number 0 have changed places, so that the root's is 1. */
#define TREE_SHIFT ZR_ENTRY_BITS
#define NODE_SHIFT (ZR_ENTRY_BITS + 3)

static const char *const tree_names[ZR_NTREES] = {
	[ZR_TREE_CSV] = ".csv",
	[ZR_TREE_RAW] = ".raw",
	[ZR_TREE_NPY] = ".npy",
	[ZR_TREE_ZARR] = ".zarr",
};

/* --- the tree --------------------------------------------------------------------------
 */

int zr_tree_new(const struct zr_env *env, struct zr_tree **ret, struct zr_err *reterr)
{
	struct zr_tree *t = calloc(1, sizeof(*t));
	struct timespec mtime = {0};
	int r;

	if (!t)
		return -ENOMEM;
	t->env = env;
	pthread_mutex_init(&t->lock, NULL);
	r = zr_foreign_check(env->store, reterr);
	if (r == 0)
		r = zr_node_learn(t, "");
	if (r == 0)
		r = zr_probe_root(env->store, &mtime, reterr);
	if (r == 0) {
		t->root = zr_node_new(NULL, strdup(""), "", &mtime);
		r = t->root ? zr_tree_add(t, &t->root, 1) : -ENOMEM;
		if (r < 0 && t->root)
			zr_node_free(t->root);
	}
	if (r < 0) {
		zr_err_set(reterr, r, "%s", strerror(-r));
		zr_tree_free(t);
		return r;
	}
	*ret = t;
	return 0;
}

void zr_tree_free(struct zr_tree *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nnodes; i++)
		zr_node_free(t->nodes[i]);
	free(t->nodes);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

/* The number of a tree in inode numbers, and back. */
static unsigned int tree_number(const struct zr_tree *t, unsigned int tree)
{
	unsigned int root = t->env->root;

	return tree == root ? 0 : tree == 0 ? root : tree;
}

uint64_t zr_tree_ino(const struct zr_tree *t, const struct zr_place *p)
{
	return (p->node->id << NODE_SHIFT |
	        (uint64_t)tree_number(t, p->tree) << TREE_SHIFT | p->entry) +
	       1;
}

int zr_tree_place(struct zr_tree *t, uint64_t ino, struct zr_place *ret)
{
	uint64_t v = ino - 1, id = v >> NODE_SHIFT;
	unsigned int tree = v >> TREE_SHIFT & 7;

	pthread_mutex_lock(&t->lock);
	ret->node = id < t->nnodes ? t->nodes[id] : NULL;
	pthread_mutex_unlock(&t->lock);
	if (!ret->node || tree >= ZR_NTREES)
		return -ESTALE;
	ret->tree = tree_number(t, tree);
	ret->entry = v & (((uint32_t)1 << ZR_ENTRY_BITS) - 1);
	return 0;
}

struct zr_place zr_tree_parent(const struct zr_tree *t, const struct zr_place *p)
{
	struct zr_place above = *p;

	/* Nested structs are resolved by the kernel, which knows the way it came; what is
	 * asked here is only ever the ".." of a listing. */
	above.entry = 0;
	if (p->entry != 0)
		return above;
	if (p->node->parent)
		above.node = p->node->parent;
	else
		above.tree = t->env->root;
	return above;
}

struct timespec zr_tree_mtime(const struct zr_node *node)
{
	return atomic_load(&node->dated) ? node->mtime : (struct timespec){0};
}

/* --- children: the other trees at the root, then entries, then nodes
 * ---------------------- */

/* The trees that are directories of `dir`: bits, none but in the mount's root. */
static unsigned int trees_in(const struct zr_tree *t, const struct zr_place *dir)
{
	bool is_root = !dir->node->parent && dir->tree == t->env->root && dir->entry == 0;

	return is_root ? t->env->beside : 0;
}

static void fill_tree(const struct zr_place *dir, enum zr_tree_form tree,
                      struct zr_entry *ret)
{
	*ret = (struct zr_entry){.place = {.node = dir->node, .tree = tree},
	                         .is_dir = true};
	strcpy(ret->name, tree_names[tree]);
}

static int find_tree(const struct zr_tree *t, const struct zr_place *dir,
                     const char *name, struct zr_entry *ret)
{
	unsigned int trees = trees_in(t, dir);

	for (unsigned int tree = ZR_TREE_CSV; tree < ZR_NTREES; tree++) {
		if (!(trees >> tree & 1) || strcmp(name, tree_names[tree]) != 0)
			continue;
		fill_tree(dir, tree, ret);
		return 0;
	}
	return -ENOENT;
}

/* The nth of them; otherwise *nth is counted from behind them. */
static int nth_tree(const struct zr_tree *t, const struct zr_place *dir, uint64_t *nth,
                    struct zr_entry *ret)
{
	unsigned int trees = trees_in(t, dir);

	for (unsigned int tree = ZR_TREE_CSV; tree < ZR_NTREES; tree++) {
		if (!(trees >> tree & 1))
			continue;
		if (*nth == 0) {
			fill_tree(dir, tree, ret);
			return 0;
		}
		--*nth;
	}
	return -ENOENT;
}

void zr_entry_done(struct zr_entry *e)
{
	zr_files_unref(e->files);
	e->files = NULL;
}

static void fill_entry(const struct zr_place *dir, struct zr_files *files,
                       const struct zr_child *c, struct zr_entry *ret)
{
	*ret = (struct zr_entry){
		.place = {.node = dir->node, .tree = dir->tree, .entry = c->entry},
		.is_dir = c->is_dir,
		.files = c->is_dir ? NULL : zr_files_ref(files)};
	snprintf(ret->name, sizeof(ret->name), "%s", c->name);
}

static void fill_node(const struct zr_place *dir, struct zr_node *n, struct zr_entry *ret)
{
	*ret = (struct zr_entry){.place = {.node = n, .tree = dir->tree}, .is_dir = true};
	snprintf(ret->name, sizeof(ret->name), "%s", n->file_name);
}

static int find_node(const struct zr_place *dir, const char *name, struct zr_entry *ret)
{
	struct zr_node *n = zr_node_find(dir->node, name);

	if (!n)
		return -ENOENT;
	fill_node(dir, n, ret);
	return 0;
}

int zr_tree_lookup(struct zr_tree *t, const struct zr_place *dir, const char *name,
                   bool wait, struct zr_entry *ret)
{
	struct zr_files *files;
	struct zr_child child;
	int r;

	if (find_tree(t, dir, name, ret) == 0)
		return 0;
	r = zr_node_files(t, dir->node, wait, &files);
	if (r < 0)
		return r;
	r = zr_files_find(files, dir->tree, dir->entry, name, &child);
	if (r == 0)
		fill_entry(dir, files, &child, ret);
	if (r == -ENOENT && dir->entry == 0 && zr_files_is_group(files)) {
		r = zr_node_children(t, dir->node, wait);
		if (r == 0)
			r = find_node(dir, name, ret);
		if (r == 0)
			r = zr_node_date(t, dir->node, ret->place.node, wait);
	}
	zr_files_unref(files);
	return r;
}

/* The nth child that is a node. */
static int nth_node(struct zr_tree *t, const struct zr_place *dir, uint64_t nth,
                    bool wait, struct zr_entry *ret)
{
	int r = zr_node_children(t, dir->node, wait);

	if (r == 0 && nth >= dir->node->nchildren)
		r = -ENOENT;
	if (r == 0)
		fill_node(dir, dir->node->children[nth], ret);
	return r;
}

int zr_tree_nth(struct zr_tree *t, const struct zr_place *dir, uint64_t nth, bool wait,
                struct zr_entry *ret)
{
	struct zr_files *files;
	struct zr_child child;
	size_t entries;
	int r;

	if (nth_tree(t, dir, &nth, ret) == 0)
		return 0;
	r = zr_node_files(t, dir->node, wait, &files);
	if (r < 0)
		return r;
	r = zr_files_count(files, dir->tree, dir->entry, &entries);
	if (r == 0 && nth < entries) {
		r = zr_files_nth(files, dir->tree, dir->entry, nth, &child);
		if (r == 0)
			fill_entry(dir, files, &child, ret);
	} else if (r == 0 && dir->entry == 0 && zr_files_is_group(files)) {
		r = nth_node(t, dir, nth - entries, wait, ret);
	} else if (r == 0) {
		r = -ENOENT;
	}
	zr_files_unref(files);
	return r;
}
