/* SPDX-License-Identifier: MIT */
/*
 * Copies by the group that holds them, in a table that only grows. A key is asked for in
 * the store below first, always; the copies are looked through only when it is not there.
 * Whether a node has documents of its own is found out when the first of its copies is
 * wanted, and remembered with that copy.
 */
#include "consolidated.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "bounds.h"
#include "copies.h"

enum { STATE_UNKNOWN, STATE_USED, STATE_OWN };
enum { FROM_ZARR_JSON, FROM_ZMETADATA, NSOURCES };

/* What a group holds. */
struct group {
	char *path; /* owned; what it is found by */
	struct zr_copies copies[NSOURCES];
	struct timespec mtime[NSOURCES];
	struct zr_turn turn; /* while it is read */
	UT_hash_handle hh;
};

struct consolidated {
	struct zr_store store; /* first: others see only this */
	struct zr_store *base; /* one reference */

	pthread_rwlock_t lock; /* guards what follows; groups in it are immutable */
	struct group *groups;
	size_t bytes; /* of all their texts */
};

static void groupp_free(struct group **g)
{
	if (!*g)
		return;
	for (size_t i = 0; i < NSOURCES; i++)
		zr_copies_done(&(*g)->copies[i]);
	free((*g)->path);
	free(*g);
}

/* --- looking through the copies -------------------------------------------------------
 */

/* Gets the copies of a group, and the rest of the path, relative to the group. True: that
 * will do. */
typedef bool (*visit_fn)(const struct zr_copies *c, const struct timespec *mtime,
                         const char *rest, size_t len, void *arg);

/* With the lock held: all copies of the group whose path is `len` bytes of `path`. */
static bool visit_group(struct consolidated *c, const char *path, size_t len,
                        const char *rest, size_t rest_len, visit_fn visit, void *arg)
{
	struct group *g;

	HASH_FIND(hh, c->groups, path, len, g);
	for (size_t i = 0; g && i < NSOURCES; i++)
		if (g->copies[i].count > 0 &&
		    visit(&g->copies[i], &g->mtime[i], rest, rest_len, arg))
			return true;
	return false;
}

/* The copies of all groups above a path, and at it, the outermost first, until one will
 * do. Whether one did. */
static bool visit_all(struct consolidated *c, const char *path, size_t len,
                      visit_fn visit, void *arg)
{
	size_t end = 0, rest = 0;
	bool done;

	pthread_rwlock_rdlock(&c->lock);
	for (;;) {
		const char *slash;

		done = visit_group(c, path, end, path + rest, len - rest, visit, arg);
		if (done || end >= len)
			break;
		slash = memchr(path + rest, '/', len - rest);
		end = slash ? (size_t)(slash - path) : len;
		rest = ZR_MIN(end + 1, len);
	}
	pthread_rwlock_unlock(&c->lock);
	return done;
}

struct wanted {
	enum zr_copy_doc doc;
	struct zr_copy *copy; /* what was found */
	struct timespec mtime;
};

static bool visit_find(const struct zr_copies *c, const struct timespec *mtime,
                       const char *rest, size_t len, void *arg)
{
	struct wanted *w = arg;

	w->copy = zr_copies_find(c, rest, len, w->doc);
	w->mtime = *mtime;
	return w->copy;
}

static bool visit_has(const struct zr_copies *c, const struct timespec *mtime,
                      const char *rest, size_t len, void *arg)
{
	(void)mtime;
	(void)arg;
	return zr_copies_has(c, rest, len);
}

/* 1 if the node, whose path is `len` bytes, has any document of its own, 0 if not. */
static int has_own(struct consolidated *c, const char *path, size_t len)
{
	for (unsigned int d = 0; d < ZR_COPY_ZATTRS; d++) {
		ZR_CLEANUP(zr_freep) char *key = NULL;
		struct zr_stat st;
		int r;

		if (asprintf(&key, "%.*s%s%s", (int)len, path, len ? "/" : "",
		             zr_copy_name(d)) < 0) {
			key = NULL;
			return -ENOMEM;
		}
		r = zr_store_stat(c->base, key, &st, NULL);
		if (r == -EIO || r == -ENOMEM || r == -EMFILE || r == -ENFILE)
			return r;
		/* What cannot be read is a document as well. A node may be called so. */
		if (r != -ENOENT && r != -ENOTDIR && r != -EISDIR)
			return 1;
	}
	return 0;
}

/* The copy that stands for an object that is not in the store below; -ENOENT: none does.
 */
static int find_copy(struct consolidated *c, const char *key, struct wanted *ret)
{
	const char *slash = strrchr(key, '/'), *name = slash ? slash + 1 : key;
	size_t len = slash ? (size_t)(slash - key) : 0;
	unsigned int state;
	int r;

	for (unsigned int d = 0; d < ZR_NCOPY_DOCS; d++) {
		*ret = (struct wanted){.doc = d};
		if (strcmp(name, zr_copy_name(d)) == 0)
			break;
		if (d + 1 == ZR_NCOPY_DOCS)
			return -ENOENT;
	}
	if (!visit_all(c, key, len, visit_find, ret))
		return -ENOENT;
	state = atomic_load(&ret->copy->state);
	if (state == STATE_UNKNOWN) {
		r = has_own(c, key, len);
		if (r < 0)
			return r;
		state = r ? STATE_OWN : STATE_USED;
		atomic_store(&ret->copy->state, (unsigned char)state);
	}
	return state == STATE_USED ? 0 : -ENOENT;
}

/* --- the operations --------------------------------------------------------------------
 */

/* Whether the store below says that there is no such thing. */
static bool is_missing(int r)
{
	return r == -ENOENT || r == -ENOTDIR;
}

/* What to answer after the store below failed: 0 with a copy, or what it said. */
static int copy_instead(struct consolidated *c, int r, const struct zr_err *err,
                        const char *key, struct wanted *ret, struct zr_err *reterr)
{
	int found = is_missing(r) ? find_copy(c, key, ret) : -ENOENT;

	if (found == 0)
		return 0;
	if (found != -ENOENT)
		return zr_store_failed(reterr, key, found);
	if (err->code)
		zr_err_set(reterr, r, "%s", err->text);
	return r;
}

static int consolidated_get(struct zr_store *s, const char *key, uint64_t max,
                            struct zr_buf *ret, struct zr_err *reterr)
{
	struct consolidated *c = (struct consolidated *)s;
	struct zr_err err = {0};
	struct wanted w;
	int r = zr_store_get(c->base, key, max, ret, &err);

	if (r == 0)
		return 0;
	r = copy_instead(c, r, &err, key, &w, reterr);
	if (r < 0)
		return r;
	if (w.copy->len > max)
		return zr_store_too_large(reterr, key, w.copy->len, max);
	zr_buf_add(ret, w.copy->data, w.copy->len);
	return zr_buf_check(ret) < 0 ? zr_store_failed(reterr, key, -ENOMEM) : 0;
}

static int consolidated_get_range(struct zr_store *s, const char *key, uint64_t offset,
                                  size_t len, void *out, struct zr_err *reterr)
{
	struct consolidated *c = (struct consolidated *)s;
	struct zr_err err = {0};
	struct wanted w;
	int r = zr_store_get_range(c->base, key, offset, len, out, &err);

	if (r == 0)
		return 0;
	r = copy_instead(c, r, &err, key, &w, reterr);
	if (r < 0)
		return r;
	if (len > w.copy->len || offset > w.copy->len - len)
		return zr_store_too_short(reterr, key, w.copy->len, offset, len);
	memcpy(out, w.copy->data + offset, len);
	return 0;
}

static int consolidated_verify(struct zr_store *s, const char *key, struct zr_err *reterr)
{
	return zr_store_verify(((struct consolidated *)s)->base, key, reterr);
}

static int consolidated_stat(struct zr_store *s, const char *key, struct zr_stat *ret,
                             struct zr_err *reterr)
{
	struct consolidated *c = (struct consolidated *)s;
	struct zr_err err = {0};
	struct wanted w;
	int r = zr_store_stat(c->base, key, ret, &err);

	if (r == 0)
		return 0;
	r = copy_instead(c, r, &err, key, &w, reterr);
	if (r < 0)
		return r;
	*ret = (struct zr_stat){.size = w.copy->len, .mtime = w.mtime, .ctime = w.mtime};
	return 0;
}

struct listing {
	struct zr_dirlist *list;
	bool there; /* there is such a directory */
	int r;
};

/* Adds the directories below a path that lead to copies. */
static bool visit_list(const struct zr_copies *c, const struct timespec *mtime,
                       const char *rest, size_t len, void *arg)
{
	struct listing *l = arg;
	size_t at, end, skip = len > 0 ? len + 1 : 0;

	(void)mtime;
	zr_copies_below(c, rest, len, &at, &end);
	l->there |= at < end || zr_copies_has(c, rest, len);
	while (at < end && l->r == 0) {
		const struct zr_copy *m = &c->copies[at];
		const char *name = m->path + skip;
		const char *slash = memchr(name, '/', m->path_len - skip);
		size_t n = slash ? (size_t)(slash - name) : m->path_len - skip;
		size_t first;

		l->r = zr_dirlist_add(l->list, name, n, true);
		if (slash)
			zr_copies_below(c, m->path, skip + n, &first, &at);
		else
			at++;
	}
	return l->r < 0;
}

static int consolidated_list(struct zr_store *s, const char *key, struct zr_dirlist *ret,
                             struct zr_err *reterr)
{
	struct consolidated *c = (struct consolidated *)s;
	ZR_CLEANUP(zr_dirlist_done) struct zr_dirlist list = {0};
	struct listing l = {.list = &list};
	struct zr_err err = {0};
	int r = zr_store_list(c->base, key, &list, &err);

	if (r == 0 || is_missing(r))
		visit_all(c, key, strlen(key), visit_list, &l);
	if (l.r < 0)
		return zr_store_failed(reterr, key, l.r);
	if (r < 0 && !l.there) {
		if (err.code)
			zr_err_set(reterr, r, "%s", err.text);
		return r;
	}
	zr_dirlist_sort(&list);
	*ret = list;
	list = (struct zr_dirlist){0};
	return 0;
}

static void consolidated_free(struct zr_store *s)
{
	struct consolidated *c = (struct consolidated *)s;
	struct group *g, *next;

	HASH_ITER(hh, c->groups, g, next)
	{
		HASH_DEL(c->groups, g);
		groupp_free(&g);
	}
	pthread_rwlock_destroy(&c->lock);
	zr_store_unref(c->base);
	free(c);
}

static const struct zr_store_ops consolidated_ops = {
	.get = consolidated_get,
	.get_range = consolidated_get_range,
	.verify = consolidated_verify,
	.stat = consolidated_stat,
	.list = consolidated_list,
	.free = consolidated_free,
};

struct zr_store *zr_consolidated_new(struct zr_store *own_base)
{
	struct consolidated *c = calloc(1, sizeof(*c));

	if (!c) {
		zr_store_unref(own_base);
		return NULL;
	}
	zr_store_init(&c->store, &consolidated_ops);
	c->store.sums = own_base->sums;
	c->base = own_base;
	pthread_rwlock_init(&c->lock, NULL);
	return &c->store;
}

/* --- learning --------------------------------------------------------------------------
 */

/* Whether a failure tells of the document, and not of the store. */
static bool is_broken(int r)
{
	return r == -EINVAL || r == -EFBIG || r == -EUCLEAN || r == -ELOOP ||
	       r == -EOPNOTSUPP;
}

/* The text of a consolidated document; -ENOENT: there is none. */
static int read_text(struct consolidated *c, struct group *g, const char *name,
                     struct zr_buf *ret, struct timespec *ret_mtime,
                     struct zr_err *reterr)
{
	ZR_CLEANUP(zr_freep) char *key = NULL;
	struct zr_stat st = {0};
	int r;

	if (asprintf(&key, "%s%s%s", g->path, *g->path ? "/" : "", name) < 0) {
		key = NULL;
		return -ENOMEM;
	}
	r = zr_store_get_doc(&c->store, key, &g->turn, ret, reterr);
	if (is_missing(r) || r == -EISDIR) /* a node may be called so */
		return -ENOENT;
	if (r == 0)
		r = zr_store_stat(&c->store, key, &st, reterr);
	*ret_mtime = st.mtime;
	return r;
}

/* reterr: how far what was found cannot be used. Returns r, or 0 if it is that. */
static int learnt(int r, const struct zr_err *err, const char *name,
                  const struct zr_copies *copies, struct zr_err *reterr)
{
	if (is_broken(r))
		zr_err_set(reterr, r, ": %s%s", err->text, name);
	else if (r == 0 && copies->too_long)
		zr_err_set(reterr, -EFBIG,
		           " where the path of a node has over %d bytes (%zu documents)",
		           ZR_COPY_MAX_PATH, copies->too_long);
	return is_broken(r) ? 0 : r;
}

/* What is wrong with zarr.json itself is for whoever shows the group. */
static int learn_v3(struct consolidated *c, struct group *g, struct zr_err *reterr)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf text = {0};
	struct zr_err err = {0};
	int r = read_text(c, g, "zarr.json", &text, &g->mtime[FROM_ZARR_JSON], &err);

	if (r == -ENOENT || is_broken(r))
		return 0;
	if (r < 0)
		return r;
	r = zr_copies_read_v3(&text, &g->copies[FROM_ZARR_JSON], &err);
	return learnt(r, &err, "", &g->copies[FROM_ZARR_JSON], reterr);
}

static int learn_v2(struct consolidated *c, struct group *g, struct zr_err *reterr)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf text = {0};
	struct timespec *mtime = &g->mtime[FROM_ZMETADATA];
	const char *name = ".zmetadata";
	struct zr_err err = {0};
	int r = read_text(c, g, name, &text, mtime, &err);

	if (r == -ENOENT && !*g->path) {
		name = "zmetadata"; /* as has been seen at roots */
		r = read_text(c, g, name, &text, mtime, &err);
	}
	if (r == 0)
		r = zr_copies_read_v2(&text, &g->copies[FROM_ZMETADATA], &err);
	if (r == -ENOENT)
		return 0;
	return learnt(r, &err, *name == '.' ? " (.zmetadata)" : " (zmetadata)",
	              &g->copies[FROM_ZMETADATA], reterr);
}

static int group_add(struct consolidated *c, struct group *own_g, struct zr_err *reterr)
{
	ZR_CLEANUP(groupp_free) struct group *g = own_g;
	struct group *other;
	size_t len = strlen(g->path), bytes = 0;
	bool fits, added = true;

	for (size_t i = 0; i < NSOURCES; i++)
		bytes += g->copies[i].text.cap +
		         g->copies[i].count * sizeof(struct zr_copy);
	pthread_rwlock_wrlock(&c->lock);
	fits = bytes <= ZR_MAX_CONSOLIDATED - c->bytes;
	HASH_FIND(hh, c->groups, g->path, len, other);
	if (fits && !other) {
		HASH_ADD_KEYPTR(hh, c->groups, g->path, len, g);
		added = g->hh.tbl;
		c->bytes += added ? bytes : 0;
		g = added ? NULL : g;
	}
	pthread_rwlock_unlock(&c->lock);
	if (!fits)
		zr_err_set(reterr, -EFBIG, ": those of the store would be over %zu MiB",
		           ZR_MAX_CONSOLIDATED >> 20);
	return added ? 0 : -ENOMEM;
}

static bool group_is_known(struct consolidated *c, const char *path)
{
	struct group *g;

	pthread_rwlock_rdlock(&c->lock);
	HASH_FIND(hh, c->groups, path, strlen(path), g);
	pthread_rwlock_unlock(&c->lock);
	return g;
}

int zr_consolidated_learn(struct zr_store *s, const char *path, struct zr_err *reterr)
{
	struct consolidated *c = (struct consolidated *)s;
	ZR_CLEANUP(groupp_free) struct group *g = NULL;
	int r;

	if (s->ops != &consolidated_ops || group_is_known(c, path))
		return 0;
	g = calloc(1, sizeof(*g));
	if (!g)
		return -ENOMEM;
	g->path = strdup(path);
	r = g->path ? learn_v3(c, g, reterr) : -ENOMEM;
	if (r == 0)
		r = learn_v2(c, g, reterr);
	zr_turn_done(&g->turn);
	if (r == 0 &&
	    g->copies[FROM_ZARR_JSON].count + g->copies[FROM_ZMETADATA].count > 0)
		r = group_add(c, ZR_TAKE(g), reterr);
	return r;
}

bool zr_consolidated_has(struct zr_store *s, const char *path)
{
	return s->ops == &consolidated_ops &&
	       visit_all((struct consolidated *)s, path, strlen(path), visit_has, NULL);
}
