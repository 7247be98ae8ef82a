/* SPDX-License-Identifier: MIT */
#include "engine.h"

#include <errno.h>

#include "cache.h"
#include "index.h"
#include "log.h"
#include "request.h"
#include "store.h"

/* A sixteenth of what the cache may take is left for what chunks of unequal sizes leave
 * between them in the heap. */
static size_t cache_budget(uint64_t bytes)
{
	return (size_t)ZR_MIN(bytes - bytes / 16, SIZE_MAX / 2);
}

int zr_engine_new(struct zr_store *store, const struct zr_opts *opts,
                  struct zr_engine **ret, struct zr_err *reterr)
{
	struct zr_engine *e = calloc(1, sizeof(*e));
	struct zr_err why = {0};
	int r;

	if (!e)
		return zr_err_set(reterr, -ENOMEM, "out of memory");
	e->env = (struct zr_env){.store = zr_store_ref(store),
	                         .cache = zr_cache_new(cache_budget(opts->cache_bytes)),
	                         .render = opts->render,
	                         .size_wait = opts->size_wait,
	                         .missing_is_error = opts->missing_is_error,
	                         .root = opts->view,
	                         .beside = opts->views};
	r = e->env.cache ? zr_tree_new(&e->env, &e->tree, &why) : -ENOMEM;
	if (r < 0) {
		zr_engine_free(e);
		return zr_err_set(reterr, r, "%s: %s", opts->store,
		                  why.code ? why.text : strerror(-r));
	}
	*ret = e;
	return 0;
}

void zr_engine_use_index(struct zr_engine *e, const struct zr_opts *opts)
{
	struct zr_err err = {0};

	if (!opts->index_off && zr_index_open(opts->index_dir, &opts->who, opts->store,
	                                      &e->env.index, &err) < 0)
		zr_warning("sizes are not kept for the next mount: %s", err.text);
}

int zr_engine_need_index(struct zr_engine *e, const struct zr_opts *opts,
                         struct zr_err *reterr)
{
	struct zr_err err = {0};
	int r = zr_index_open(opts->index_dir, &opts->who, opts->store, &e->env.index,
	                      &err);

	if (r == 0)
		r = zr_index_writable(e->env.index, &err);
	return r < 0 ? zr_err_set(reterr, r, "sizes cannot be kept: %s", err.text) : 0;
}

int zr_engine_start(struct zr_engine *e)
{
	e->env.queue = zr_queue_new();
	e->env.gate = zr_gate_new(0);
	return e->env.queue && e->env.gate ? 0 : -ENOMEM;
}

int zr_engine_open(const struct zr_opts *opts, struct zr_engine **ret,
                   struct zr_err *reterr)
{
	ZR_CLEANUP(zr_engine_freep) struct zr_engine *e = NULL;
	struct zr_store *store;
	int r = zr_store_open(opts->store, opts->follow_symlinks, &store, reterr);

	if (r < 0)
		return r;
	r = zr_engine_new(store, opts, &e, reterr);
	zr_store_unref(store);
	if (r < 0)
		return r;
	e->env.size_wait = UINT32_MAX;
	r = zr_engine_start(e);
	if (r < 0)
		return zr_err_set(reterr, r, "no memory or threads to start with");
	*ret = ZR_TAKE(e);
	return 0;
}

void zr_engine_free(struct zr_engine *e)
{
	if (!e)
		return;
	zr_queue_free(e->env.queue);
	zr_tree_free(e->tree);
	zr_gate_free(e->env.gate);
	zr_cache_free(e->env.cache);
	zr_index_free(e->env.index);
	zr_store_unref(e->env.store);
	free(e);
}
