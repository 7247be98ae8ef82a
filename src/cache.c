/* SPDX-License-Identifier: MIT */
/*
 * Entries are in a hash by key. A loaded one is also in the LRU list, most recent first;
 * a loading one is not, and is kept alive by its `users` until the last waiter has seen
 * how it ended:
 *
 *     (none) --get--> loading --ok--> loaded --evicted--> (none)
 *                        \----error--> (none), waiters read `error`
 *
 * `used` counts chunks that are alive, in the cache or not; `reserved` estimates of
 * loads.
 */
#include "cache.h"

#include <errno.h>
#include <pthread.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>
#include <utlist.h>

/* How it came in: by someone who wants it, who goes through all chunks once, or as what
 * was made by him. */
enum way { WAY_GET, WAY_SCAN, WAY_PUT };

struct entry {
	struct zr_cache_key key;
	UT_hash_handle hh;
	struct entry *prev, *next; /* LRU */
	struct zr_chunk *chunk;    /* one reference once loaded, else NULL */
	unsigned int users;        /* threads that look at it while it is loading */
	enum way way;
	bool over; /* the load has ended */
	int error; /* how, when it failed */
	char *why; /* owned: the text of that, if there was memory */
};

/* What a chunk takes beside its bytes. */
#define OVERHEAD (sizeof(struct entry) + sizeof(struct zr_chunk))

struct zr_cache {
	pthread_mutex_t lock;   /* guards all below */
	pthread_cond_t changed; /* a load ended or bytes became free */
	size_t budget;
	size_t used;
	size_t reserved;
	uint64_t turn, turns; /* loads get room in the order in which they ask for it */
	struct entry *by_key;
	struct entry *lru;
	struct zr_cache_stats stats;
};

struct zr_cache *zr_cache_new(size_t budget)
{
	struct zr_cache *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->changed, NULL);
	c->budget = budget;
	return c;
}

static void chunk_free(struct zr_chunk *chunk)
{
	zr_buf_done(&chunk->data);
	zr_buf_done(&chunk->text);
	free(chunk);
}

void zr_chunk_unref(struct zr_chunk *chunk)
{
	struct zr_cache *c;
	size_t bytes;

	if (!chunk || atomic_fetch_sub(&chunk->refs, 1) > 1)
		return;

	c = chunk->cache;
	bytes = chunk->bytes;
	chunk_free(chunk);
	pthread_mutex_lock(&c->lock);
	c->used -= bytes;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

/* With the lock held. Takes a loaded entry out; hands back its chunk's reference, to be
 * dropped without the lock. */
static struct zr_chunk *entry_remove(struct zr_cache *c, struct entry *e)
{
	struct zr_chunk *chunk = e->chunk;

	HASH_DEL(c->by_key, e);
	DL_DELETE(c->lru, e);
	free(e);
	return chunk;
}

void zr_cache_forget(struct zr_cache *c, uint64_t owner)
{
	struct entry *e, *tmp, *gone = NULL;

	pthread_mutex_lock(&c->lock);
	DL_FOREACH_SAFE(c->lru, e, tmp)
	{
		if (e->key.owner != owner || e->users > 0)
			continue;
		HASH_DEL(c->by_key, e);
		DL_DELETE(c->lru, e);
		DL_PREPEND(gone, e);
	}
	pthread_mutex_unlock(&c->lock);
	DL_FOREACH_SAFE(gone, e, tmp)
	{
		zr_chunk_unref(e->chunk);
		free(e);
	}
}

void zr_cache_free(struct zr_cache *c)
{
	struct entry *e, *tmp;

	if (!c)
		return;
	DL_FOREACH_SAFE(c->lru, e, tmp)
	{
		zr_chunk_unref(entry_remove(c, e));
	}
	pthread_mutex_destroy(&c->lock);
	pthread_cond_destroy(&c->changed);
	free(c);
}

/* With the lock held. The least recently used entry that nobody is just looking at. */
static struct entry *cache_oldest(struct zr_cache *c)
{
	struct entry *e = c->lru ? c->lru->prev : NULL;

	while (e && e->users > 0)
		e = e == c->lru ? NULL : e->prev;
	return e;
}

/* With the lock held. What has to go for `load`: the least recently used. A scan of more
 * than the cache holds would so throw out each chunk just before it comes round again:
 * of its own chunks the newest goes, and the first ones stay. What it needs for them (the
 * index of a shard, which is newer still) is not among those. */
static struct entry *cache_victim(struct zr_cache *c, const struct entry *load)
{
	struct entry *oldest = cache_oldest(c), *e = c->lru;

	if (!oldest || load->way == WAY_GET || oldest->key.owner != load->key.owner)
		return oldest;
	while (e &&
	       (e->users > 0 || e->way != WAY_SCAN || e->key.owner != load->key.owner))
		e = e->next;
	return e ? e : oldest;
}

/* With the lock held, which is dropped in between. Evicts until `more` bytes fit, as far
 * as that goes. */
static void cache_evict(struct zr_cache *c, size_t more, const struct entry *load)
{
	struct entry *victim;

	while (c->used + c->reserved + more > c->budget &&
	       (victim = cache_victim(c, load))) {
		struct zr_chunk *chunk = entry_remove(c, victim);

		pthread_mutex_unlock(&c->lock);
		zr_chunk_unref(chunk);
		pthread_mutex_lock(&c->lock);
	}
}

/* With the lock held, which is dropped in between. */
static bool cache_has_room(struct zr_cache *c, size_t estimate, const struct entry *load)
{
	cache_evict(c, estimate, load);
	return c->used + c->reserved == 0 ||
	       c->used + c->reserved + estimate <= c->budget;
}

/* With the lock held. */
static void cache_count_peak(struct zr_cache *c)
{
	c->stats.peak = ZR_MAX(c->stats.peak, c->used + c->reserved);
}

/* With the lock held. Waits until the estimate fits or nothing else is in use. Whoever
 * holds bytes gives them back without asking for more, so this ends. In turns, or small
 * loads that always find room would keep a large one waiting for ever. */
static void cache_reserve(struct zr_cache *c, size_t estimate, const struct entry *load)
{
	uint64_t mine;

	if (estimate == 0)
		return;
	mine = c->turns++;
	while (c->turn != mine || !cache_has_room(c, estimate, load))
		pthread_cond_wait(&c->changed, &c->lock);
	c->turn++;
	c->reserved += estimate;
	cache_count_peak(c);
	pthread_cond_broadcast(&c->changed);
}

static struct entry *entry_new(struct zr_cache *c, const struct zr_cache_key *key,
                               enum way way)
{
	struct entry *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->key = *key;
	e->way = way;
	e->users = 1;
	HASH_ADD(hh, c->by_key, key, sizeof(e->key), e);
	if (!e->hh.tbl) {
		free(e);
		return NULL;
	}
	return e;
}

static struct entry *entry_find(struct zr_cache *c, const struct zr_cache_key *key)
{
	struct entry *e;

	HASH_FIND(hh, c->by_key, key, sizeof(*key), e);
	return e;
}

/* With the lock held. */
static struct zr_chunk *entry_use(struct zr_cache *c, struct entry *e)
{
	DL_DELETE(c->lru, e);
	DL_PREPEND(c->lru, e);
	atomic_fetch_add(&e->chunk->refs, 1);
	return e->chunk;
}

/* With the lock held. */
static void entry_leave(struct zr_cache *c, struct entry *e)
{
	if (--e->users > 0)
		return;
	if (e->error == 0) {
		pthread_cond_broadcast(&c->changed); /* it may be evicted now */
		return;
	}
	free(e->why);
	free(e);
}

/* With the lock held: someone else loads it. */
static int entry_wait(struct zr_cache *c, struct entry *e, struct zr_chunk **ret,
                      struct zr_err *reterr)
{
	int r = 0;

	c->stats.waits++;
	e->users++;
	while (!e->over)
		pthread_cond_wait(&c->changed, &c->lock);
	if (e->error == 0)
		*ret = entry_use(c, e);
	else
		r = zr_err_set(reterr, e->error, "%s", e->why ? e->why : "no memory");
	entry_leave(c, e);
	return r;
}

/* With the lock held. */
static void entry_loaded(struct zr_cache *c, struct entry *e, struct zr_chunk *chunk)
{
	chunk->bytes = OVERHEAD + chunk->data.cap + chunk->text.cap;
	c->used += chunk->bytes;
	cache_count_peak(c);
	c->stats.loads++;
	e->chunk = chunk;
	DL_PREPEND(c->lru, e);
}

/* With the lock held. */
static void entry_failed(struct zr_cache *c, struct entry *e, const struct zr_err *err)
{
	e->error = err->code;
	e->why = e->users > 1 ? strdup(err->text) : NULL;
	c->stats.errors++;
	HASH_DEL(c->by_key, e);
}

/* With the lock held, which is dropped while loading. */
static int entry_load(struct zr_cache *c, struct entry *e, size_t estimate,
                      zr_cache_load load, void *arg, struct zr_chunk **ret,
                      struct zr_err *reterr)
{
	struct zr_chunk *chunk;
	struct zr_err err = {0};
	int r;

	cache_reserve(c, estimate, e);
	pthread_mutex_unlock(&c->lock);

	chunk = calloc(1, sizeof(*chunk));
	if (chunk) {
		chunk->cache = c;
		atomic_init(&chunk->refs, 2); /* the cache's and the caller's */
		r = load(arg, chunk, &err);
	} else {
		r = -ENOMEM;
	}
	if (r < 0 && chunk)
		chunk_free(chunk);
	if (r < 0)
		zr_err_set(&err, r, "%s", strerror(-r));
	err.code = r;

	pthread_mutex_lock(&c->lock);
	c->reserved -= estimate;
	e->over = true;
	if (r < 0) {
		entry_failed(c, e, &err);
		zr_err_set(reterr, r, "%s", err.text);
	} else {
		entry_loaded(c, e, chunk);
		*ret = chunk;
		cache_evict(c, 0, e);
	}
	pthread_cond_broadcast(&c->changed);
	return r;
}

static int cache_get(struct zr_cache *c, const struct zr_cache_key *key, size_t estimate,
                     zr_cache_load load, void *arg, enum way way, struct zr_chunk **ret,
                     struct zr_err *reterr)
{
	struct entry *e;
	int r = 0;

	if (estimate > 0)
		estimate += OVERHEAD;
	pthread_mutex_lock(&c->lock);
	e = entry_find(c, key);
	if (e && e->over) {
		c->stats.hits++;
		*ret = entry_use(c, e);
	} else if (e && way == WAY_PUT) {
		/* Who puts something in holds the chunk it is made of: no waiting. */
		r = -EEXIST;
	} else if (e) {
		r = entry_wait(c, e, ret, reterr);
	} else if (!(e = entry_new(c, key, way))) {
		r = -ENOMEM;
	} else {
		r = entry_load(c, e, estimate, load, arg, ret, reterr);
		entry_leave(c, e);
	}
	pthread_mutex_unlock(&c->lock);
	return r;
}

int zr_cache_get(struct zr_cache *c, const struct zr_cache_key *key, size_t estimate,
                 zr_cache_load load, void *arg, struct zr_chunk **ret,
                 struct zr_err *reterr)
{
	return cache_get(c, key, estimate, load, arg, WAY_GET, ret, reterr);
}

int zr_cache_scan(struct zr_cache *c, const struct zr_cache_key *key, size_t estimate,
                  zr_cache_load load, void *arg, struct zr_chunk **ret,
                  struct zr_err *reterr)
{
	return cache_get(c, key, estimate, load, arg, WAY_SCAN, ret, reterr);
}

void zr_cache_put(struct zr_cache *c, const struct zr_cache_key *key, zr_cache_load load,
                  void *arg)
{
	struct zr_chunk *chunk = NULL;
	struct zr_err err;

	if (cache_get(c, key, 0, load, arg, WAY_PUT, &chunk, &err) == 0)
		zr_chunk_unref(chunk);
}

struct zr_chunk *zr_cache_peek(struct zr_cache *c, const struct zr_cache_key *key)
{
	struct zr_chunk *chunk = NULL;
	struct entry *e;

	pthread_mutex_lock(&c->lock);
	e = entry_find(c, key);
	if (e && e->over) {
		c->stats.hits++;
		chunk = entry_use(c, e);
	}
	pthread_mutex_unlock(&c->lock);
	return chunk;
}

void zr_cache_drop(struct zr_cache *c, const struct zr_cache_key *key)
{
	struct zr_chunk *chunk = NULL;
	struct entry *e;

	pthread_mutex_lock(&c->lock);
	e = entry_find(c, key);
	if (e && e->over && e->users == 0)
		chunk = entry_remove(c, e);
	pthread_mutex_unlock(&c->lock);
	zr_chunk_unref(chunk);
}

size_t zr_cache_budget(const struct zr_cache *c)
{
	return c->budget;
}

void zr_cache_get_stats(struct zr_cache *c, struct zr_cache_stats *ret)
{
	pthread_mutex_lock(&c->lock);
	*ret = c->stats;
	ret->bytes = c->used + c->reserved;
	pthread_mutex_unlock(&c->lock);
}
