/* SPDX-License-Identifier: MIT */
/*
 * Depth first, with a stack of directories that are being listed. A link may lead back to
 * a directory above, so the depth has a bound.
 */
#include "visit.h"

#include <errno.h>

#include "log.h"

#define MAX_DEPTH 256

int zr_visit_find(struct zr_tree *t, const char *path, struct zr_place *ret)
{
	struct zr_entry e = {.is_dir = true};
	int r = zr_tree_place(t, ZR_ROOT_INO, &e.place);

	while (r == 0) {
		size_t len;
		char name[ZR_NAME_MAX + 1];
		struct zr_place dir = e.place;

		path += strspn(path, "/");
		len = strcspn(path, "/");
		if (len == 0)
			break;
		if (len == 1 && *path == '.') {
			path++;
			continue;
		}
		if (len > ZR_NAME_MAX) {
			r = -ENAMETOOLONG;
			break;
		}
		memcpy(name, path, len);
		name[len] = '\0';
		path += len;
		r = e.is_dir ? zr_tree_lookup(t, &dir, name, true, &e) : -ENOTDIR;
	}
	if (r == 0)
		*ret = e.place;
	zr_entry_done(&e);
	return r;
}

/* A directory that is being listed. */
struct level {
	struct zr_place dir;
	uint64_t nth;
	size_t path_len; /* of its path */
};

struct zr_visit {
	struct zr_tree *tree;
	struct zr_buf path; /* NUL-terminated */
	struct zr_place next;
	bool has_next;
	struct zr_files *files; /* of the last step */
	unsigned int depth;     /* levels in use */
	struct level levels[MAX_DEPTH];
};

struct zr_visit *zr_visit_new(struct zr_tree *t, const struct zr_place *from,
                              const char *path)
{
	struct zr_visit *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->tree = t;
	w->next = *from;
	w->has_next = true;
	/* Without the slashes and dots that zr_visit_find() passed over. */
	while (*path) {
		size_t len = strcspn(path, "/");

		if (len > 0 && !(len == 1 && *path == '.')) {
			if (w->path.len > 0)
				zr_buf_addc(&w->path, '/');
			zr_buf_add(&w->path, path, len);
		}
		path += len + (path[len] == '/');
	}
	zr_buf_addc(&w->path, '\0');
	if (zr_buf_check(&w->path) < 0) {
		zr_visit_free(w);
		return NULL;
	}
	return w;
}

void zr_visit_free(struct zr_visit *w)
{
	if (!w)
		return;
	zr_files_unref(w->files);
	zr_buf_done(&w->path);
	free(w);
}

/* The next child node of the innermost directory, on whose path it ends then; else leaves
 * that directory. */
static int visit_child(struct zr_visit *w)
{
	struct level *l = &w->levels[w->depth - 1];
	struct zr_entry e;
	int r = zr_tree_nth(w->tree, &l->dir, l->nth++, true, &e);

	if (r == -ENOENT) {
		w->depth--;
		return 0;
	}
	if (r < 0)
		return r;
	zr_entry_done(&e);
	/* Files, and the other trees at the root, are no nodes of their own. */
	if (e.place.entry != 0 || e.place.node == l->dir.node)
		return 0;
	w->path.len = l->path_len;
	if (l->path_len > 0)
		zr_buf_addc(&w->path, '/');
	zr_buf_add(&w->path, e.name, strlen(e.name) + 1);
	w->next = e.place;
	w->has_next = true;
	return zr_buf_check(&w->path);
}

/* Makes the node of a step the innermost directory. */
static void visit_enter(struct zr_visit *w, struct zr_step *s)
{
	struct zr_entry e;

	if (!zr_files_is_group(s->files))
		return;
	if (w->depth == MAX_DEPTH) {
		zr_error("'/%s' is too deep: more than %d groups in groups", s->path,
		         MAX_DEPTH);
		s->error = -ELOOP;
		return;
	}
	/* Behind the last child: so it is listed now, and trouble with that is its own.
	 */
	s->error = zr_tree_nth(w->tree, &w->next, UINT64_MAX, true, &e);
	if (s->error == -ENOENT)
		s->error = 0;
	if (s->error < 0)
		return;
	w->levels[w->depth++] =
		(struct level){.dir = w->next, .path_len = strlen(s->path)};
}

static void visit_step(struct zr_visit *w, struct zr_step *ret)
{
	const char *path = (const char *)w->path.data, *slash = strrchr(path, '/');

	*ret = (struct zr_step){.path = path,
	                        .name = slash ? slash + 1 : path,
	                        .depth = w->depth,
	                        .node = w->next.node};
	ret->error = zr_tree_files(w->tree, w->next.node, &w->files);
	if (ret->error < 0)
		return;
	ret->files = w->files;
	visit_enter(w, ret);
}

int zr_visit_next(struct zr_visit *w, struct zr_step *ret)
{
	zr_files_unref(ZR_TAKE(w->files));
	while (!w->has_next) {
		int r;

		if (w->depth == 0)
			return 0;
		r = visit_child(w);
		if (r < 0)
			return r;
	}
	w->has_next = false;
	visit_step(w, ret);
	return 1;
}
