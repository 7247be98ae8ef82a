/* SPDX-License-Identifier: MIT */
#include "probe.h"

#include <errno.h>
#include <stdio.h>

#define SEARCH_DEPTH 32      /* how deep a plain directory is searched for nodes */
#define SEARCH_ENTRIES 10000 /* and how many entries are looked at for it */

static char *path_below(const char *path, const char *name)
{
	char *below;

	return asprintf(&below, "%s%s%s", path, *path ? "/" : "", name) < 0 ? NULL
	                                                                    : below;
}

int zr_probe_document(struct zr_store *store, const char *path,
                      struct timespec *ret_mtime)
{
	static const char *const docs[] = {"zarr.json", ".zarray", ".zgroup"};

	for (size_t i = 0; i < ZR_COUNT(docs); i++) {
		ZR_CLEANUP(zr_freep) char *key = path_below(path, docs[i]);
		struct zr_stat st = {0};
		int r;

		if (!key)
			return -ENOMEM;
		r = zr_store_stat(store, key, &st, NULL);
		if (r == -ENOENT || r == -EISDIR) /* a node may be called zarr.json */
			continue;
		if (r == -ENOMEM || r == -EIO || r == -EMFILE || r == -ENFILE)
			return r;
		if (r == 0)
			*ret_mtime = st.mtime;
		return 1;
	}
	return 0;
}

static int leads_to_nodes(struct zr_store *store, const char *path, unsigned int depth,
                          unsigned int *budget)
{
	ZR_CLEANUP(zr_dirlist_done) struct zr_dirlist list = {0};
	int r;

	if (depth == 0 || *budget == 0)
		return 1;
	r = zr_store_list(store, path, &list, NULL);
	if (r < 0)
		return r == -ENOMEM || r == -EIO ? r : 0;
	for (size_t i = 0; i < list.count; i++) {
		ZR_CLEANUP(zr_freep) char *below = NULL;
		struct timespec mtime;

		if (*budget == 0)
			return 1;
		--*budget;
		if (!list.entries[i].is_dir)
			continue;
		below = path_below(path, list.entries[i].name);
		if (!below)
			return -ENOMEM;
		r = zr_probe_document(store, below, &mtime);
		if (r == 0)
			r = leads_to_nodes(store, below, depth - 1, budget);
		if (r != 0)
			return r;
	}
	return 0;
}

int zr_probe_among(struct zr_store *store, const char *path, unsigned int *left,
                   struct timespec *ret_mtime)
{
	unsigned int begin = ZR_MIN(*left, SEARCH_ENTRIES), budget = begin;
	int r = zr_probe_document(store, path, ret_mtime);

	if (r == 0)
		r = leads_to_nodes(store, path, SEARCH_DEPTH, &budget);
	*left -= begin - budget;
	return r;
}

int zr_probe_child(struct zr_store *store, const char *path, struct timespec *ret_mtime)
{
	unsigned int left = SEARCH_ENTRIES;

	return zr_probe_among(store, path, &left, ret_mtime);
}

int zr_probe_root(struct zr_store *store, struct timespec *ret_mtime,
                  struct zr_err *reterr)
{
	int r = zr_probe_child(store, "", ret_mtime);

	if (r == 0)
		return zr_err_set(
			reterr, -EINVAL,
			"not a Zarr store: it has no zarr.json, .zgroup or .zarray, nor "
			"has any directory in it");
	return ZR_MIN(r, 0);
}
