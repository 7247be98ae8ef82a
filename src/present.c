/* SPDX-License-Identifier: MIT */
#include "present.h"

#include <errno.h>
#include <stdio.h>

/* Directories that are listed beside four for each chunk that was found: links can make
 * a few directories as many as there are ways through them. */
#define FREE_LISTS 50000

/* So many are taken of ZR_MAX_PRESENT_ALL at a time; the first ones are free. */
#define SOME ((size_t)1 << 16)

struct lister {
	struct zr_store *store;
	const struct zr_array *a;
	const struct zr_grid *g;
	struct zr_buf ids; /* of uint64_t */
	size_t counted;    /* in the store */
	size_t lists;      /* directories that were listed */
	bool full;
};

static void present_release(struct zr_store *store, size_t counted)
{
	if (counted > 0)
		atomic_fetch_sub(&store->present, counted);
}

/* Whether there may be another one, of this array and of all together. */
static bool lister_has_room(struct lister *l)
{
	size_t count = l->ids.len / sizeof(uint64_t);

	if (count >= ZR_MAX_PRESENT)
		return false;
	if (count < l->counted + SOME)
		return true;
	if (atomic_fetch_add(&l->store->present, SOME) + SOME > ZR_MAX_PRESENT_ALL) {
		present_release(l->store, SOME);
		return false;
	}
	l->counted += SOME;
	return true;
}

static void lister_add(struct lister *l, const uint64_t *at)
{
	uint64_t id = zr_grid_object(l->g, at);

	l->full = l->full || !lister_has_room(l);
	if (!l->full)
		zr_buf_add(&l->ids, &id, sizeof(id));
}

/* A decimal number below `limit`, as a writer spells it: no sign, no leading zero. The
 * end of it, or NULL. */
static const char *parse_number(const char *s, uint64_t limit, uint64_t *ret)
{
	uint64_t v = 0;

	if (*s < '0' || *s > '9' || (*s == '0' && s[1] >= '0' && s[1] <= '9'))
		return NULL;
	for (; *s >= '0' && *s <= '9'; s++) {
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v))
			return NULL;
	}
	if (v >= limit)
		return NULL;
	*ret = v;
	return s;
}

/* "c.0.1" or "0.1": all coordinates in one name. */
static bool parse_dotted(const struct lister *l, const char *s, uint64_t *at)
{
	if (!l->a->v2_keys) {
		if (*s++ != 'c')
			return false;
		if (*s != '.')
			return false;
		s++;
	}
	for (uint32_t k = 0; k < l->g->ndim; k++) {
		s = parse_number(s, l->g->objects[k], &at[k]);
		if (!s || *s != (k + 1 < l->g->ndim ? '.' : '\0'))
			return false;
		s++;
	}
	return true;
}

static int list_dotted(struct lister *l, const char *path, struct zr_err *reterr)
{
	ZR_CLEANUP(zr_dirlist_done) struct zr_dirlist list = {0};
	uint64_t at[ZR_MAX_DIMS] = {0};
	int r = zr_store_list(l->store, path, &list, reterr);

	if (r < 0)
		return r;
	for (size_t i = 0; i < list.count && !l->full; i++)
		if (parse_dotted(l, list.entries[i].name, at))
			lister_add(l, at);
	return 0;
}

/* Whether a directory that cannot be listed will never be: a link that leads out of the
 * store or nowhere. A store that fails just now is asked again instead. */
static bool is_damaged_dir(int r)
{
	return r == -ELOOP || r == -EUCLEAN;
}

/* All objects whose first k coordinates are those of `at`: what lies below a directory
 * that cannot be listed may be stored, so whoever reads it is told what is wrong. */
static void lister_add_below(struct lister *l, uint32_t k, uint64_t *at)
{
	if (k == l->g->ndim) {
		lister_add(l, at);
		return;
	}
	for (at[k] = 0; at[k] < l->g->objects[k] && !l->full; at[k]++)
		lister_add_below(l, k + 1, at);
}

/* Axis k is named by the entries of `path`, the axes behind it by what lies below them.
 * At most ndim deep. */
static int list_nested(struct lister *l, const char *path, uint32_t k, uint64_t *at,
                       struct zr_err *reterr)
{
	ZR_CLEANUP(zr_dirlist_done) struct zr_dirlist list = {0};
	struct zr_err err = {0};
	int r;

	if (l->lists++ > FREE_LISTS + 4 * (l->ids.len / sizeof(uint64_t))) {
		l->full = true;
		return 0;
	}
	r = zr_store_list(l->store, path, &list, &err);
	if (r == -ENOENT || r == -ENOTDIR)
		return 0; /* nothing was written there */
	if (is_damaged_dir(r)) {
		lister_add_below(l, k, at);
		return 0;
	}
	if (r < 0)
		return zr_err_set(reterr, r, "%s", err.code ? err.text : strerror(-r));
	for (size_t i = 0; i < list.count && !l->full; i++) {
		ZR_CLEANUP(zr_freep) char *below = NULL;
		const char *end =
			parse_number(list.entries[i].name, l->g->objects[k], &at[k]);

		if (!end || *end)
			continue;
		if (k + 1 == l->g->ndim) {
			lister_add(l, at);
			continue;
		}
		/* What is no directory may be a link that should lead to one. */
		if (asprintf(&below, "%s%s%s", path, *path ? "/" : "",
		             list.entries[i].name) < 0) {
			below = NULL;
			return -ENOMEM;
		}
		r = list_nested(l, below, k + 1, at, reterr);
		if (r < 0)
			return r;
	}
	return 0;
}

static int list_slashed(struct lister *l, const char *path, struct zr_err *reterr)
{
	ZR_CLEANUP(zr_freep) char *top = NULL;
	uint64_t at[ZR_MAX_DIMS] = {0};

	if (l->a->v2_keys)
		return list_nested(l, path, 0, at, reterr);
	if (asprintf(&top, "%s%sc", path, *path ? "/" : "") < 0) {
		top = NULL;
		return -ENOMEM;
	}
	return list_nested(l, top, 0, at, reterr);
}

/* Without axes there is one chunk and one key. */
static int list_scalar(struct lister *l, const char *path)
{
	ZR_CLEANUP(zr_freep) char *key = NULL;
	uint64_t at[ZR_MAX_DIMS] = {0};
	struct zr_stat st;
	int r;

	if (asprintf(&key, "%s%s%s", path, *path ? "/" : "", l->a->v2_keys ? "0" : "c") <
	    0) {
		key = NULL;
		return -ENOMEM;
	}
	r = zr_store_stat(l->store, key, &st, NULL);
	if (r != -ENOENT) /* whoever reads it finds out what else it may be */
		lister_add(l, at);
	return 0;
}

static int compare_ids(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void ids_sort(struct zr_present *p)
{
	size_t kept = 0;

	if (p->count == 0)
		return;
	qsort(p->ids, p->count, sizeof(*p->ids), compare_ids);
	for (size_t i = 0; i < p->count; i++)
		if (kept == 0 || p->ids[i] != p->ids[kept - 1])
			p->ids[kept++] = p->ids[i];
	p->count = kept;
}

static int list_all(struct lister *l, const char *path, struct zr_err *reterr)
{
	int r;

	if (l->g->nobjects == 0)
		return 0;
	if (l->g->ndim == 0)
		return list_scalar(l, path);
	if (l->a->separator == '/')
		return list_slashed(l, path, reterr);
	r = list_dotted(l, path, reterr);
	if (r == 0 && l->a->try_slash)
		r = list_slashed(l, path, reterr);
	return r;
}

int zr_present_load(struct zr_store *store, const char *path, const struct zr_array *a,
                    const struct zr_grid *g, struct zr_present *ret,
                    struct zr_err *reterr)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf ids = {0};
	struct lister l = {.store = store, .a = a, .g = g};
	int r = list_all(&l, path, reterr);

	ids = l.ids;
	if (r == 0)
		r = zr_buf_check(&ids);
	if (r < 0 || l.full)
		present_release(store, l.counted);
	if (r < 0)
		return r;
	*ret = (struct zr_present){.nobjects = g->nobjects, .all = l.full};
	if (!l.full) {
		ret->count = ids.len / sizeof(uint64_t);
		ret->ids = (uint64_t *)ZR_TAKE(ids.data);
		ret->store = store;
		ret->counted = l.counted;
		ids_sort(ret);
	}
	return 0;
}

void zr_present_done(struct zr_present *p)
{
	free(p->ids);
	present_release(p->store, p->counted);
	*p = (struct zr_present){0};
}

uint64_t zr_present_next(const struct zr_present *p, uint64_t id)
{
	size_t low = 0, high = p->count;

	if (p->all)
		return id < p->nobjects ? id : UINT64_MAX;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (p->ids[mid] < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low < p->count ? p->ids[low] : UINT64_MAX;
}

uint64_t zr_present_count(const struct zr_present *p)
{
	return p->all ? p->nobjects : p->count;
}

uint64_t zr_present_nth(const struct zr_present *p, uint64_t nth)
{
	return p->all ? nth : p->ids[nth];
}
