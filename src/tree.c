/* SPDX-License-Identifier: MIT */
#include "tree.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <utlist.h>

#include "consolidated.h"
#include "foreign.h"
#include "log.h"
#include "probe.h"

/* Inode number = (node << 24 | tree << 21 | entry) + 1, where the tree at the mount's
 * root and number 0 have changed places, so that the root's is 1. */
#define TREE_SHIFT ZR_ENTRY_BITS
#define NODE_SHIFT (ZR_ENTRY_BITS + 3)

#define DATE_SINGLY 32 /* children that are dated one by one, before all are */
#define FILES_BUDGET ((size_t)16 << 20) /* bytes of parsed documents that are kept */

struct zr_node {
	uint64_t id; /* immutable, as is all down to `lock` */
	struct zr_node *parent;
	char *path;      /* owned: key of its directory in the store */
	char *file_name; /* owned */

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
	struct zr_node *lru; /* most recent first */
	size_t bytes;
};

static const char *const tree_names[ZR_NTREES] = {
	[ZR_TREE_CSV] = ".csv",
	[ZR_TREE_RAW] = ".raw",
	[ZR_TREE_NPY] = ".npy",
	[ZR_TREE_ZARR] = ".zarr",
};

/* --- nodes -----------------------------------------------------------------------------
 */

static void node_free(struct zr_node *n)
{
	zr_files_unref(n->files);
	pthread_mutex_destroy(&n->lock);
	free(n->known.sizes);
	free(n->children);
	free(n->path);
	free(n->file_name);
	free(n);
}

/* A new node with the next number. mtime NULL: see node_date(). */
static struct zr_node *node_new(struct zr_tree *t, struct zr_node *parent, char *own_path,
                                const char *file_name, const struct timespec *mtime)
{
	struct zr_node *n = calloc(1, sizeof(*n));

	if (!n || !own_path) {
		free(own_path);
		free(n);
		return NULL;
	}
	pthread_mutex_init(&n->lock, NULL);
	n->parent = parent;
	n->path = own_path;
	n->file_name = strdup(file_name);
	if (mtime)
		n->mtime = *mtime;
	n->dated = mtime != NULL;
	pthread_mutex_lock(&t->lock);
	if (t->nnodes == t->nodes_cap) {
		size_t cap = t->nodes_cap ? 2 * t->nodes_cap : 64;
		struct zr_node **more =
			reallocarray(t->nodes, cap, sizeof(struct zr_node *));

		if (more) {
			t->nodes = more;
			t->nodes_cap = cap;
		}
	}
	if (n->file_name && t->nnodes < t->nodes_cap) {
		n->id = t->nnodes;
		t->nodes[t->nnodes++] = n;
		pthread_mutex_unlock(&t->lock);
		return n;
	}
	pthread_mutex_unlock(&t->lock);
	node_free(n);
	return NULL;
}

static char *path_below(const char *path, const char *name)
{
	char *below;

	return asprintf(&below, "%s%s%s", path, *path ? "/" : "", name) < 0 ? NULL
	                                                                    : below;
}

/* --- listing a group
 * -------------------------------------------------------------------- */

static int compare_nodes(const void *a, const void *b)
{
	return strcmp((*(struct zr_node *const *)a)->file_name,
	              (*(struct zr_node *const *)b)->file_name);
}

/* Adds the child `name` to `children` if it is one. Of what consolidated metadata tell
 * that it is a node the directory is not looked at. */
static int list_child(struct zr_tree *t, struct zr_node *n, const char *name,
                      unsigned int *left, struct zr_node **children, size_t *count)
{
	ZR_CLEANUP(zr_freep) char *path = path_below(n->path, name);
	struct timespec mtime = n->mtime;
	char file_name[ZR_NAME_MAX + 1];
	struct zr_node *child;
	bool known;
	int r;

	if (!path)
		return -ENOMEM;
	known = zr_consolidated_has(t->env->store, path);
	r = known ? 1 : zr_probe_among(t->env->store, path, left, &mtime);
	if (r <= 0)
		return r;
	zr_name_escape(name, strlen(name), ZR_NAME_PLAIN, file_name);
	child = node_new(t, n, ZR_TAKE(path), file_name, known ? NULL : &mtime);
	if (!child)
		return -ENOMEM;
	children[(*count)++] = child;
	return 0;
}

/* Finds out mtime, where listing did not: before anybody is shown it. */
static int node_date(struct zr_tree *t, struct zr_node *n)
{
	int r = 0;

	if (atomic_load(&n->dated))
		return 0;
	pthread_mutex_lock(&n->lock);
	if (!atomic_load(&n->dated)) {
		n->mtime = n->parent->mtime;
		r = zr_probe_document(t->env->store, n->path, &n->mtime);
		if (r >= 0) {
			atomic_store(&n->dated, true);
			atomic_fetch_sub(&n->parent->undated, 1);
		}
	}
	pthread_mutex_unlock(&n->lock);
	return ZR_MIN(r, 0);
}

/* Dates a child that was asked for. Who asks for more than a few asks for all. */
static int child_date(struct zr_tree *t, struct zr_node *n, struct zr_node *child)
{
	int r;

	if (atomic_load(&child->dated))
		return 0;
	r = node_date(t, child);
	if (r < 0 || atomic_fetch_add(&n->ndated, 1) != DATE_SINGLY)
		return r;
	for (size_t i = 0; r == 0 && i < n->nchildren; i++)
		r = node_date(t, n->children[i]);
	return r;
}

/* What the group says of the nodes below it. */
static int node_learn(struct zr_tree *t, const char *path)
{
	struct zr_err err = {0};
	int r = zr_consolidated_learn(t->env->store, path, &err);

	if (r == 0 && err.code)
		zr_warning("consolidated metadata of group '/%s' is not used: %s", path,
		           err.text);
	else if (r < 0)
		zr_error("consolidated metadata of group '/%s' cannot be read: %s", path,
		         err.code ? err.text : strerror(-r));
	return r;
}

/* With the node's lock held. */
static int node_list(struct zr_tree *t, struct zr_node *n)
{
	ZR_CLEANUP(zr_dirlist_done) struct zr_dirlist list = {0};
	ZR_CLEANUP(zr_freep) struct zr_node **children = NULL;
	struct zr_err err = {0};
	unsigned int left = ZR_PROBE_LISTING;
	size_t count = 0, undated = 0;
	int r = n->parent ? node_learn(t, n->path) : 0; /* the root's: zr_tree_new() */

	if (r < 0)
		return r == -ENOMEM ? r : -EIO;
	r = zr_store_list(t->env->store, n->path, &list, &err);
	if (r < 0) {
		zr_error("group '/%s' cannot be listed: %s", n->path,
		         err.code ? err.text : strerror(-r));
		return r == -ENOMEM ? r : -EIO;
	}
	children = calloc(list.count + 1, sizeof(struct zr_node *));
	if (!children)
		return -ENOMEM;
	for (size_t i = 0; i < list.count; i++) {
		if (!list.entries[i].is_dir)
			continue;
		r = list_child(t, n, list.entries[i].name, &left, children, &count);
		if (r < 0)
			return r;
	}
	qsort(children, count, sizeof(struct zr_node *), compare_nodes);
	for (size_t i = 0; i < count; i++)
		undated += !atomic_load(&children[i]->dated);
	atomic_store(&n->undated, undated);
	n->children = ZR_TAKE(children);
	n->nchildren = count;
	atomic_store(&n->listed, true);
	return 0;
}

static int node_children(struct zr_tree *t, struct zr_node *n)
{
	int r = 0;

	if (atomic_load(&n->listed))
		return 0;
	pthread_mutex_lock(&n->lock);
	if (!atomic_load(&n->listed))
		r = node_list(t, n);
	pthread_mutex_unlock(&n->lock);
	return r;
}

/* --- parsed documents
 * ------------------------------------------------------------------- */

/* With the tree's lock held, which is dropped in between. */
static void files_evict(struct zr_tree *t)
{
	struct zr_node *n = t->lru ? t->lru->prev : NULL;

	while (n && t->bytes > FILES_BUDGET) {
		struct zr_node *before = n == t->lru ? NULL : n->prev;
		struct zr_files *files = n->files;

		if (before && !zr_files_busy(files)) {
			zr_files_save_sizes(files, &n->known);
			n->files = NULL;
			t->bytes -= n->bytes;
			DL_DELETE(t->lru, n);
			pthread_mutex_unlock(&t->lock);
			zr_files_unref(files);
			pthread_mutex_lock(&t->lock);
			n = t->lru ? t->lru->prev : NULL;
			continue;
		}
		n = before;
	}
}

/* With the tree's lock held. */
static struct zr_files *files_use(struct zr_tree *t, struct zr_node *n)
{
	if (!n->files)
		return NULL;
	DL_DELETE(t->lru, n);
	DL_PREPEND(t->lru, n);
	/* A block index and views may have come since it was counted. */
	t->bytes -= n->bytes;
	n->bytes = zr_files_bytes(n->files);
	t->bytes += n->bytes;
	return zr_files_ref(n->files);
}

struct zr_files *zr_tree_peek(struct zr_tree *t, struct zr_node *node)
{
	struct zr_files *files;

	pthread_mutex_lock(&t->lock);
	files = files_use(t, node);
	pthread_mutex_unlock(&t->lock);
	return files;
}

/* With the node's lock held: it is not in the LRU. */
static int files_load(struct zr_tree *t, struct zr_node *n, struct zr_files **ret)
{
	struct zr_files *files;
	int r = zr_files_load(t->env, n->path, n->id, &n->known, &files);

	if (r < 0)
		return r == -ENOMEM ? r : -EIO;
	if (zr_files_has_older(files) && !atomic_exchange(&t->told_older, true))
		zr_warning("'/%s' has documents of versions 2 and 3: what zarr.json says "
		           "is shown, here and wherever that is so",
		           n->path);
	pthread_mutex_lock(&t->lock);
	n->files = zr_files_ref(files);
	n->bytes = zr_files_bytes(files);
	t->bytes += n->bytes;
	DL_PREPEND(t->lru, n);
	files_evict(t);
	pthread_mutex_unlock(&t->lock);
	*ret = files;
	return 0;
}

int zr_tree_files(struct zr_tree *t, struct zr_node *node, struct zr_files **ret)
{
	int r = 0;

	*ret = zr_tree_peek(t, node);
	if (*ret)
		return 0;
	pthread_mutex_lock(&node->lock);
	*ret = zr_tree_peek(t, node);
	if (!*ret)
		r = files_load(t, node, ret);
	pthread_mutex_unlock(&node->lock);
	return r;
}

bool zr_tree_ready(struct zr_tree *t, struct zr_node *node)
{
	struct zr_files *files = zr_tree_peek(t, node);
	bool ready = files &&
	             (!zr_files_is_group(files) ||
	              (atomic_load(&node->listed) && atomic_load(&node->undated) == 0));

	zr_files_unref(files);
	return ready;
}

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
		r = node_learn(t, "");
	if (r == 0)
		r = zr_probe_root(env->store, &mtime, reterr);
	if (r == 0) {
		t->root = node_new(t, NULL, strdup(""), "", &mtime);
		r = t->root ? 0 : -ENOMEM;
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
		node_free(t->nodes[i]);
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

static void fill_entry(const struct zr_place *dir, const struct zr_child *c,
                       struct zr_entry *ret)
{
	*ret = (struct zr_entry){
		.place = {.node = dir->node, .tree = dir->tree, .entry = c->entry},
		.is_dir = c->is_dir};
	snprintf(ret->name, sizeof(ret->name), "%s", c->name);
}

static void fill_node(const struct zr_place *dir, struct zr_node *n, struct zr_entry *ret)
{
	*ret = (struct zr_entry){.place = {.node = n, .tree = dir->tree}, .is_dir = true};
	snprintf(ret->name, sizeof(ret->name), "%s", n->file_name);
}

static int find_node(const struct zr_place *dir, const char *name, struct zr_entry *ret)
{
	struct zr_node key = {.file_name = (char *)name}, *key_ptr = &key, **found;

	found = bsearch(&key_ptr, dir->node->children, dir->node->nchildren,
	                sizeof(struct zr_node *), compare_nodes);
	if (!found)
		return -ENOENT;
	fill_node(dir, *found, ret);
	return 0;
}

int zr_tree_lookup(struct zr_tree *t, const struct zr_place *dir, const char *name,
                   struct zr_entry *ret)
{
	struct zr_files *files;
	struct zr_child child;
	int r;

	if (find_tree(t, dir, name, ret) == 0)
		return 0;
	r = zr_tree_files(t, dir->node, &files);
	if (r < 0)
		return r;
	r = zr_files_find(files, dir->tree, dir->entry, name, &child);
	if (r == 0)
		fill_entry(dir, &child, ret);
	if (r == -ENOENT && dir->entry == 0 && zr_files_is_group(files)) {
		r = node_children(t, dir->node);
		if (r == 0)
			r = find_node(dir, name, ret);
		if (r == 0)
			r = child_date(t, dir->node, ret->place.node);
	}
	zr_files_unref(files);
	return r;
}

int zr_tree_nth(struct zr_tree *t, const struct zr_place *dir, uint64_t nth,
                struct zr_entry *ret)
{
	struct zr_files *files;
	struct zr_child child;
	size_t entries;
	int r;

	if (nth_tree(t, dir, &nth, ret) == 0)
		return 0;
	r = zr_tree_files(t, dir->node, &files);
	if (r < 0)
		return r;
	r = zr_files_count(files, dir->tree, dir->entry, &entries);
	if (r == 0 && nth < entries) {
		r = zr_files_nth(files, dir->tree, dir->entry, nth, &child);
		if (r == 0)
			fill_entry(dir, &child, ret);
	} else if (r == 0 && dir->entry == 0 && zr_files_is_group(files)) {
		r = node_children(t, dir->node);
		if (r == 0 && nth - entries < dir->node->nchildren)
			fill_node(dir, dir->node->children[nth - entries], ret);
		else if (r == 0)
			r = -ENOENT;
	} else if (r == 0) {
		r = -ENOENT;
	}
	zr_files_unref(files);
	return r;
}
