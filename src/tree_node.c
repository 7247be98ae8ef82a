/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <utlist.h>

#include "bounds.h"
#include "consolidated.h"
#include "log.h"
#include "probe.h"
#include "tree_impl.h"

#define DATE_SINGLY 32 /* children that are dated one by one, before all are */
#define FILES_BUDGET ((size_t)16 << 20) /* bytes of parsed documents that are kept */

/* --- nodes -----------------------------------------------------------------------------
 */

void zr_node_free(struct zr_node *n)
{
	zr_files_unref(n->files);
	pthread_mutex_destroy(&n->lock);
	free(n->known.sizes);
	free(n->children);
	free(n->path);
	free(n->file_name);
	free(n);
}

/* A new node, without a number yet. mtime NULL: see zr_node_date(). */
struct zr_node *zr_node_new(struct zr_node *parent, char *own_path, const char *file_name,
                            const struct timespec *mtime)
{
	struct zr_node *n = own_path ? calloc(1, sizeof(*n)) : NULL;

	if (!n) {
		free(own_path);
		return NULL;
	}
	pthread_mutex_init(&n->lock, NULL);
	n->parent = parent;
	n->path = own_path;
	n->file_name = strdup(file_name);
	if (!n->file_name) {
		zr_node_free(n);
		return NULL;
	}
	if (mtime)
		n->mtime = *mtime;
	n->dated = mtime != NULL;
	return n;
}

/* Gives numbers to new nodes: to all, or to none (-ENOMEM). */
int zr_tree_add(struct zr_tree *t, struct zr_node *const *nodes, size_t count)
{
	int r = 0;

	pthread_mutex_lock(&t->lock);
	if (count > t->nodes_cap - t->nnodes) {
		size_t cap = ZR_MAX(2 * t->nodes_cap, t->nnodes + count);
		struct zr_node **more =
			reallocarray(t->nodes, cap, sizeof(struct zr_node *));

		if (more) {
			t->nodes = more;
			t->nodes_cap = cap;
		} else {
			r = -ENOMEM;
		}
	}
	for (size_t i = 0; r == 0 && i < count; i++) {
		nodes[i]->id = t->nnodes;
		t->nodes[t->nnodes++] = nodes[i];
	}
	pthread_mutex_unlock(&t->lock);
	return r;
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

/* Adds the child `e` to `children` if it is one. Of what consolidated metadata tell that
 * it is a node the directory is not looked at. */
static int list_child(struct zr_tree *t, struct zr_node *n, const struct zr_dirent *e,
                      unsigned int *left, struct zr_node **children, size_t *count)
{
	ZR_CLEANUP(zr_freep) char *path = path_below(n->path, e->name);
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
	zr_name_escape(e->name, strlen(e->name), ZR_NAME_PLAIN, file_name);
	child = zr_node_new(n, ZR_TAKE(path), file_name, known ? NULL : &mtime);
	if (!child)
		return -ENOMEM;
	child->linked = n->linked || e->is_link;
	children[(*count)++] = child;
	return 0;
}

/* Finds out mtime, where listing did not: before anybody is shown it. */
static int date_child(struct zr_tree *t, struct zr_node *n)
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
int zr_node_date(struct zr_tree *t, struct zr_node *n, struct zr_node *child, bool wait)
{
	int r;

	if (atomic_load(&child->dated))
		return 0;
	if (!wait)
		return -EAGAIN;
	r = date_child(t, child);
	if (r < 0 || atomic_fetch_add(&n->ndated, 1) != DATE_SINGLY)
		return r;
	for (size_t i = 0; r == 0 && i < n->nchildren; i++)
		r = date_child(t, n->children[i]);
	return r;
}

/* What the group says of the nodes below it. */
int zr_node_learn(struct zr_tree *t, const char *path)
{
	struct zr_err err = {0};
	int r = zr_consolidated_learn(t->env->store, path, &err);

	if (r == 0 && err.code)
		zr_warning("consolidated metadata of group '/%s' is not used%s", path,
		           err.text);
	else if (r < 0)
		zr_error("consolidated metadata of group '/%s' cannot be read: %s", path,
		         strerror(-r));
	return r;
}

/* Sorts them. Nodes whose file names are the same, cut and with the hash of both, are the
 * work of somebody who made such names: the first is shown. Returns how many are left. */
static size_t sort_children(struct zr_node **children, size_t count)
{
	size_t kept = 0;

	qsort(children, count, sizeof(struct zr_node *), compare_nodes);
	for (size_t i = 0; i < count; i++) {
		if (kept && compare_nodes(&children[kept - 1], &children[i]) == 0) {
			zr_error("'/%s' is not shown: its file name would be that of "
			         "another node",
			         children[i]->path);
			zr_node_free(children[i]);
			continue;
		}
		children[kept++] = children[i];
	}
	return kept;
}

/* What a directory holds is bounded by what is stored; what links make of a few of them
 * is not. -ELOOP: that would be too much. */
static int linked_add(struct zr_tree *t, struct zr_node *const *nodes, size_t count)
{
	size_t bytes = 0;
	bool fits;

	for (size_t i = 0; i < count; i++)
		bytes += sizeof(*nodes[i]) + 2 * sizeof(nodes[i]) +
		         strlen(nodes[i]->path) + strlen(nodes[i]->file_name);
	pthread_mutex_lock(&t->lock);
	fits = bytes <= ZR_MAX_LINKED - t->linked;
	t->linked += fits ? bytes : 0;
	pthread_mutex_unlock(&t->lock);
	return fits ? 0 : -ELOOP;
}

/* All children, or none: what is made of a listing that fails half-way would be made
 * again, and kept, each time. */
static int list_children(struct zr_tree *t, struct zr_node *n,
                         const struct zr_dirlist *list, struct zr_node **children,
                         size_t *ret_count)
{
	unsigned int left = ZR_PROBE_LISTING;
	size_t count = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < list->count; i++)
		if (list->entries[i].is_dir)
			r = list_child(t, n, &list->entries[i], &left, children, &count);
	if (r == 0) {
		count = sort_children(children, count);
		r = n->linked ? linked_add(t, children, count) : 0;
	}
	if (r == 0)
		r = zr_tree_add(t, children, count);
	if (r < 0) {
		while (count > 0)
			zr_node_free(children[--count]);
		return r;
	}
	*ret_count = count;
	return 0;
}

/* With the node's lock held. */
static int node_list(struct zr_tree *t, struct zr_node *n)
{
	ZR_CLEANUP(zr_dirlist_done) struct zr_dirlist list = {0};
	ZR_CLEANUP(zr_freep) struct zr_node **children = NULL;
	struct zr_err err = {0};
	size_t count = 0, undated = 0;
	int r = n->parent ? zr_node_learn(t, n->path) : 0; /* the root's: zr_tree_new() */

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
	r = list_children(t, n, &list, children, &count);
	if (r == -ELOOP)
		zr_error("group '/%s' cannot be listed: the nodes that symbolic links "
		         "lead to would take more than %zu MiB",
		         n->path, ZR_MAX_LINKED >> 20);
	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++)
		undated += !atomic_load(&children[i]->dated);
	atomic_store(&n->undated, undated);
	n->children = ZR_TAKE(children);
	n->nchildren = count;
	atomic_store(&n->listed, true);
	return 0;
}

int zr_node_children(struct zr_tree *t, struct zr_node *n, bool wait)
{
	int r = 0;

	if (atomic_load(&n->listed))
		return 0;
	if (!wait)
		return -EAGAIN;
	pthread_mutex_lock(&n->lock);
	if (!atomic_load(&n->listed))
		r = node_list(t, n);
	pthread_mutex_unlock(&n->lock);
	return r;
}

struct zr_node *zr_node_find(const struct zr_node *n, const char *name)
{
	struct zr_node key = {.file_name = (char *)name}, *key_ptr = &key, **found;

	found = bsearch(&key_ptr, n->children, n->nchildren, sizeof(struct zr_node *),
	                compare_nodes);
	return found ? *found : NULL;
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

		if (before && zr_files_idle(files)) {
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
	n->known.told = true;
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

/* As zr_tree_files(); without `wait` -EAGAIN unless they are there. */
int zr_node_files(struct zr_tree *t, struct zr_node *node, bool wait,
                  struct zr_files **ret)
{
	if (wait)
		return zr_tree_files(t, node, ret);
	*ret = zr_tree_peek(t, node);
	return *ret ? 0 : -EAGAIN;
}
