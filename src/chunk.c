/* SPDX-License-Identifier: MIT */
/*
 * A cell is found level by level: the object's key, then for each level of shards the
 * pair (offset, nbytes) of its index. A shard that was not compressed as a whole is never
 * read whole: a `place` is a byte range of the object then, else of decoded bytes.
 */
#include "chunk.h"

#include <errno.h>
#include <stdio.h>

#include "items.h"
#include "log.h"
#include "request.h"

enum kind { KIND_CELL, KIND_INDEX, KIND_SHARD }; /* the latter two plus 2 * level */

/* Where the stored bytes of a chunk of some level lie. */
struct place {
	struct zr_source *src;
	const char *key;       /* of the object */
	struct zr_chunk *held; /* a decoded shard, or NULL: the object itself */
	uint64_t offset;
	uint64_t len;
	uint32_t level;
};

static void place_done(struct place *p)
{
	zr_chunk_unref(p->held);
}

int zr_source_init(struct zr_source *s, struct zr_store *store, const char *path,
                   struct zr_array *array, struct zr_cache *cache, struct zr_gate *gate,
                   uint64_t owner, bool missing_is_error)
{
	char *copy = strdup(path);

	if (!copy)
		return -ENOMEM;
	*s = (struct zr_source){.store = zr_store_ref(store),
	                        .path = copy,
	                        .array = zr_array_ref(array),
	                        .cache = cache,
	                        .gate = gate,
	                        .owner = owner,
	                        .missing_is_error = missing_is_error};
	zr_grid_init(&s->grid, array);
	pthread_mutex_init(&s->lock, NULL);
	return 0;
}

void zr_source_done(struct zr_source *s)
{
	if (!s->path)
		return;
	zr_cache_forget(s->cache, s->owner);
	pthread_mutex_destroy(&s->lock);
	zr_store_unref(s->store);
	zr_array_unref(s->array);
	free(s->path);
	free(s->damaged);
	*s = (struct zr_source){0};
}

const char *zr_source_label(const struct zr_source *s)
{
	return s->path;
}

/* --- damage ------------------------------------------------------------------------- */

/* With the lock held: where the cell is, or would be. */
static size_t damage_find(const struct zr_source *s, uint64_t cell)
{
	size_t low = 0, high = s->ndamaged;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->damaged[mid] < cell)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool damage_known(struct zr_source *s, uint64_t cell)
{
	size_t at;
	bool known;

	pthread_mutex_lock(&s->lock);
	at = damage_find(s, cell);
	known = at < s->ndamaged && s->damaged[at] == cell;
	pthread_mutex_unlock(&s->lock);
	return known;
}

/* With the lock held. Whether it is new. Out of memory it is not remembered, and found
 * again by whoever reads it next. */
static bool damage_remember(struct zr_source *s, uint64_t cell)
{
	size_t at = damage_find(s, cell);

	if (at < s->ndamaged && s->damaged[at] == cell)
		return false;
	if (s->ndamaged == s->damaged_cap) {
		size_t cap = s->damaged_cap ? 2 * s->damaged_cap : 16;
		uint64_t *more = reallocarray(s->damaged, cap, sizeof(*more));

		if (!more)
			return true;
		s->damaged = more;
		s->damaged_cap = cap;
	}
	memmove(s->damaged + at + 1, s->damaged + at,
	        (s->ndamaged - at) * sizeof(*s->damaged));
	s->damaged[at] = cell;
	s->ndamaged++;
	return true;
}

/* Whether the chunk is at fault, and will be for ever, or only the store just now. */
static bool is_damage(int r)
{
	switch (r) {
	case -EUCLEAN:
	case -EISDIR:
	case -ELOOP:
	case -EFBIG:
	case -EOPNOTSUPP:
	case -EINVAL:
	case -ENAMETOOLONG:
		return true;
	default:
		return false;
	}
}

static int source_failed(struct zr_source *s, uint64_t cell, const char *key, int r,
                         const struct zr_err *err)
{
	const char *cause = err->code ? err->text : strerror(-r);
	bool tell;

	pthread_mutex_lock(&s->lock);
	if (is_damage(r)) {
		tell = damage_remember(s, cell);
		r = -EUCLEAN;
	} else {
		tell = s->last_error != r;
		s->last_error = r;
	}
	pthread_mutex_unlock(&s->lock);
	if (tell && r == -EUCLEAN)
		zr_error("array '/%s': chunk '%s' is damaged: %s", s->path, key, cause);
	else if (tell)
		zr_error("array '/%s': chunk '%s' cannot be read: %s", s->path, key,
		         cause);
	return r;
}

/* --- reading ------------------------------------------------------------------------ */

/* The stored bytes at a place, at most `max`. */
static int place_read(const struct place *p, uint64_t max, struct zr_buf *ret,
                      struct zr_err *reterr)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf b = {0};
	int r = 0;

	if (p->len > max)
		return zr_err_set(reterr, -EFBIG,
		                  "%llu bytes are more than the limit of %llu",
		                  (unsigned long long)p->len, (unsigned long long)max);
	if (zr_buf_reserve(&b, (size_t)p->len) < 0)
		return -ENOMEM;
	if (p->held)
		zr_buf_add(&b, p->held->data.data + p->offset, (size_t)p->len);
	else if (p->len > 0)
		r = zr_store_get_range(p->src->store, p->key, p->offset, (size_t)p->len,
		                       b.data, reterr);
	if (r == -ENOENT) /* it was there a moment ago */
		r = zr_err_set(reterr, -EUCLEAN, "the file has gone");
	if (r < 0)
		return r;
	b.len = (size_t)p->len;
	*ret = b;
	b = (struct zr_buf){0};
	return 0;
}

/* The bytes of a place, through the codecs of its level. */
static int place_decode(const struct place *p, struct zr_buf *own_stored, uint64_t exact,
                        struct zr_buf *ret, struct zr_err *reterr)
{
	uint64_t max = exact == UINT64_MAX ? ZR_MAX_CHUNK : exact;
	int r;

	zr_gate_enter(p->src->gate);
	r = zr_codecs_decode(p->src->array->levels[p->level].codecs, own_stored, exact,
	                     max, ret, reterr);
	zr_gate_leave(p->src->gate);
	return r;
}

/* Stored bytes of a cell to records. */
static int cell_decode(const struct place *p, struct zr_buf *own_stored,
                       struct zr_chunk *chunk, struct zr_err *reterr)
{
	const struct zr_array *a = p->src->array;
	const struct zr_grid *g = &p->src->grid;
	struct zr_buf bytes = {0};
	int r;

	if (!zr_type_is_variable(&a->type))
		return place_decode(p, own_stored, g->cell_records * a->type.size,
		                    &chunk->data, reterr);
	r = place_decode(p, own_stored, UINT64_MAX, &bytes, reterr);
	if (r < 0)
		return r;
	zr_gate_enter(p->src->gate);
	r = zr_items_decode(a->type.kind, &bytes, g->cell_records, &chunk->data,
	                    &chunk->text, reterr);
	zr_gate_leave(p->src->gate);
	return r;
}

/* zr_cache_load of a cell whose place in a shard is known. */
static int load_placed_cell(void *arg, struct zr_chunk *chunk, struct zr_err *reterr)
{
	const struct place *p = arg;
	struct zr_buf stored = {0};
	int r = place_read(p, ZR_MAX_STORED, &stored, reterr);

	return r < 0 ? r : cell_decode(p, &stored, chunk, reterr);
}

/* zr_cache_load of a cell that is an object of its own. */
static int load_object_cell(void *arg, struct zr_chunk *chunk, struct zr_err *reterr)
{
	const struct place *p = arg;
	struct zr_buf stored = {0};
	int r = zr_store_get(p->src->store, p->key, ZR_MAX_STORED, &stored, reterr);

	return r < 0 ? r : cell_decode(p, &stored, chunk, reterr);
}

/* zr_cache_load of a shard that was compressed as a whole. */
static int load_shard(void *arg, struct zr_chunk *chunk, struct zr_err *reterr)
{
	const struct place *p = arg;
	struct zr_buf stored = {0};
	int r = place_read(p, ZR_MAX_STORED, &stored, reterr);

	return r < 0 ? r : place_decode(p, &stored, UINT64_MAX, &chunk->data, reterr);
}

/* zr_cache_load of a shard's index: the pairs, decoded, and behind them the length of the
 * shard, which was looked up on the way. */
static int load_index(void *arg, struct zr_chunk *chunk, struct zr_err *reterr)
{
	const struct place *p = arg;
	const struct zr_level *level = &p->src->array->levels[p->level];
	struct zr_buf stored = {0};
	struct place index = *p;
	uint64_t pairs = 1;
	int r;

	if (p->len < level->index_size)
		return zr_err_set(reterr, -EUCLEAN,
		                  "the shard has %llu bytes, its index alone takes %llu",
		                  (unsigned long long)p->len,
		                  (unsigned long long)level->index_size);
	index.len = level->index_size;
	if (!level->index_at_start)
		index.offset += p->len - level->index_size;
	r = place_read(&index, ZR_MAX_SHARD_INDEX, &stored, reterr);
	if (r < 0)
		return r;
	for (uint32_t k = 0; k < p->src->array->ndim; k++)
		pairs *= level->chunk[k] / level[1].chunk[k];
	r = zr_codecs_decode(level->index_codecs, &stored, 16 * pairs, 16 * pairs,
	                     &chunk->data, reterr);
	if (r < 0)
		return zr_err_set(reterr, r, "the shard's index cannot be decoded");
	zr_buf_add(&chunk->data, &p->len, sizeof(p->len));
	return zr_buf_check(&chunk->data);
}

/* --- from a cell's number to its place -----------------------------------------------
 */

/* Number of the chunk of `level` that the cell with coordinates `at` lies in. */
static uint64_t number_at_level(const struct zr_source *s, uint32_t level,
                                const uint64_t *at)
{
	const uint64_t *chunk = s->array->levels[level].chunk;
	uint64_t number = 0;

	for (uint32_t k = 0; k < s->grid.ndim; k++) {
		uint64_t count = (s->grid.shape[k] + chunk[k] - 1) / chunk[k];

		number = number * count + at[k] * s->grid.cell[k] / chunk[k];
	}
	return number;
}

/* Which pair of the shard's index speaks of the chunk of the next level: C order of the
 * encoded axes. */
static uint64_t pair_number(const struct zr_source *s, uint32_t level, const uint64_t *at)
{
	const struct zr_level *shard = &s->array->levels[level];
	uint64_t number = 0;

	for (uint32_t i = 0; i < s->grid.ndim; i++) {
		uint32_t k = shard->axis[i];
		uint64_t inner = shard[1].chunk[k];

		number = number * (shard->chunk[k] / inner) +
		         at[k] * s->grid.cell[k] % shard->chunk[k] / inner;
	}
	return number;
}

static struct zr_cache_key cache_key(const struct zr_source *s, enum kind kind,
                                     uint32_t level, uint64_t id)
{
	return (struct zr_cache_key){
		.owner = s->owner, .kind = kind + 2 * (uint64_t)level, .id = id};
}

/* A shard that was compressed as a whole is decoded first: the place is in memory then.
 */
static int place_enter(struct place *p, const uint64_t *at, struct zr_err *reterr)
{
	struct zr_cache_key key;
	struct zr_chunk *shard;
	int r;

	if (zr_codecs_count(p->src->array->levels[p->level].codecs) == 0)
		return 0;
	key = cache_key(p->src, KIND_SHARD, p->level,
	                number_at_level(p->src, p->level, at));
	r = zr_cache_get(p->src->cache, &key, 0, load_shard, p, &shard, reterr);
	if (r < 0)
		return r;
	zr_chunk_unref(p->held);
	p->held = shard;
	p->offset = 0;
	p->len = shard->data.len;
	return 0;
}

/* From a shard to the chunk in it. -ENOENT: never written. */
static int place_descend(struct place *p, const uint64_t *at, struct zr_err *reterr)
{
	const struct zr_level *level = &p->src->array->levels[p->level];
	struct zr_cache_key key = cache_key(p->src, KIND_INDEX, p->level,
	                                    number_at_level(p->src, p->level, at));
	struct zr_chunk *index;
	const uint8_t *pair;
	uint64_t offset, len;
	int r = zr_cache_get(p->src->cache, &key, 0, load_index, p, &index, reterr);

	if (r < 0)
		return r;
	pair = index->data.data + 16 * pair_number(p->src, p->level, at);
	offset = zr_load_u64(pair, level->index_big);
	len = zr_load_u64(pair + 8, level->index_big);
	zr_chunk_unref(index);
	if (offset == UINT64_MAX && len == UINT64_MAX)
		return -ENOENT;
	if (offset > p->len || len > p->len - offset)
		return zr_err_set(
			reterr, -EUCLEAN,
			"the shard's index points outside the shard (%llu + %llu "
			"of %llu bytes)",
			(unsigned long long)offset, (unsigned long long)len,
			(unsigned long long)p->len);
	p->offset += offset;
	p->len = len;
	p->level++;
	return 0;
}

static int get_sharded(struct place *p, const struct zr_cache_key *key, uint64_t cell,
                       size_t estimate, struct zr_chunk **ret, struct zr_err *reterr)
{
	uint64_t at[ZR_MAX_DIMS];
	struct zr_stat st;
	int r = zr_store_stat(p->src->store, p->key, &st, reterr);

	p->len = st.size;
	zr_grid_cell_at(&p->src->grid, cell, at);
	while (r == 0 && p->level + 1 < p->src->array->nlevels) {
		r = place_enter(p, at, reterr);
		if (r == 0)
			r = place_descend(p, at, reterr);
	}
	if (r < 0)
		return r;
	/* With a decoded shard in hand there is no waiting for room. */
	return zr_cache_get(p->src->cache, key, p->held ? 0 : estimate, load_placed_cell,
	                    p, ret, reterr);
}

/* What a decoded cell will take; a guess for variable lengths. */
static size_t cell_estimate(const struct zr_source *s)
{
	uint64_t bytes = s->grid.cell_records * s->array->type.size;

	return zr_type_is_variable(&s->array->type) ? (size_t)bytes * 3 : (size_t)bytes;
}

static int get_by_key(struct zr_source *s, uint64_t cell, char separator, char *key,
                      size_t key_size, struct zr_chunk **ret, struct zr_err *reterr)
{
	struct zr_cache_key id = cache_key(s, KIND_CELL, 0, cell);
	ZR_CLEANUP(place_done) struct place p = {.src = s, .key = key};
	uint64_t at[ZR_MAX_DIMS];
	char name[ZR_KEY_MAX];

	zr_grid_cell_at(&s->grid, cell, at);
	for (uint32_t k = 0; k < s->grid.ndim; k++)
		at[k] = at[k] / s->grid.per_object[k];
	zr_grid_key(s->array, at, separator, name);
	snprintf(key, key_size, "%s%s%s", s->path, *s->path ? "/" : "", name);
	if (s->array->nlevels > 1)
		return get_sharded(&p, &id, cell, cell_estimate(s), ret, reterr);
	return zr_cache_get(s->cache, &id, cell_estimate(s), load_object_cell, &p, ret,
	                    reterr);
}

int zr_source_get(struct zr_source *s, uint64_t cell, struct zr_chunk **ret)
{
	struct zr_cache_key id = cache_key(s, KIND_CELL, 0, cell);
	size_t path_len = strlen(s->path), key_size = path_len + 1 + ZR_KEY_MAX;
	ZR_CLEANUP(zr_freep) char *key = NULL;
	struct zr_err err = {0};
	const char *shown;
	int r;

	*ret = zr_cache_peek(s->cache, &id);
	if (*ret)
		return 0;
	if (damage_known(s, cell))
		return -EUCLEAN;
	key = malloc(key_size);
	if (!key)
		return -ENOMEM;
	r = get_by_key(s, cell, s->array->separator, key, key_size, ret, &err);
	if (r == -ENOENT && s->array->try_slash)
		r = get_by_key(s, cell, '/', key, key_size, ret, &err);
	if (r == 0 || (r == -ENOENT && !s->missing_is_error))
		return r;

	shown = key + path_len + (path_len > 0);
	if (r == -ENOENT) {
		r = -EUCLEAN;
		zr_err_set(&err, r, "it is missing (missing=error)");
	}
	return source_failed(s, cell, shown, r, &err);
}
