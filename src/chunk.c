/* SPDX-License-Identifier: MIT */
#include "chunk_impl.h"

#include <errno.h>
#include <stdio.h>

#include "log.h"
#include "request.h"
#include "tally.h"

/* After so many questions for what is not there, it is cheaper to list what is. */
#define ABSENT_ENOUGH 1000

/* Kinds of derived chunks in the cache's keys: above those of chunk_impl.h. */
#define KIND_PART ((uint64_t)1 << 62)
#define KIND_DERIVED ((uint64_t)1 << 61)

/* Bytes of variable length in one chunk that are nothing special. */
#define USUAL_TEXT ((size_t)1 << 20)

/* --- a source -------------------------------------------------------------------------
 */

/* What a decoded cell takes. Of variable lengths that is known of those before it only;
 * of the first one it is a guess. */
static size_t cell_bytes(struct zr_source *s)
{
	size_t bytes = (size_t)(s->grid.cell_records * s->array->type.size);
	size_t largest = atomic_load(&s->largest);

	if (!zr_type_is_variable(&s->array->type))
		return bytes;
	return largest > 0 ? largest : 3 * bytes + USUAL_TEXT;
}

/* Whoever reads an array in C order goes through all cells behind the first axis that
 * they have an extent in, before it comes to the first one again. */
static bool rows_exceed(struct zr_source *s)
{
	const struct zr_grid *g = &s->grid;
	uint64_t bytes = cell_bytes(s), half = zr_cache_budget(s->cache) / 2;
	uint32_t k = 0;
	bool many = false;

	while (k < g->ndim && ZR_MIN(g->cell[k], g->shape[k]) == 1)
		k++;
	for (k++; k < g->ndim; k++) {
		many = many || g->cells[k] > 1;
		if (!zr_mul(bytes, g->cells[k], &bytes))
			bytes = UINT64_MAX;
	}
	return many && bytes > half;
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
	s->rows_exceed = rows_exceed(s);
	pthread_mutex_init(&s->listing, NULL);
	pthread_mutex_init(&s->lock, NULL);
	return 0;
}

void zr_source_done(struct zr_source *s)
{
	if (!s->path)
		return;
	zr_cache_forget(s->cache, s->owner);
	zr_present_done(&s->present);
	pthread_mutex_destroy(&s->listing);
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

size_t zr_source_bytes(struct zr_source *s)
{
	size_t listed = atomic_load(&s->listed) ? s->present.count : 0;

	return (listed + zr_damage_room(s)) * sizeof(uint64_t);
}

/* --- what is stored -------------------------------------------------------------------
 */

int zr_source_list(struct zr_source *s, const struct zr_present **ret)
{
	struct zr_err err = {0};
	int r = 0;

	pthread_mutex_lock(&s->listing);
	if (!atomic_load(&s->listed)) {
		r = zr_present_load(s->store, s->path, s->array, &s->grid, &s->present,
		                    &err);
		if (r == 0)
			atomic_store(&s->listed, true);
		else if (s->list_error != r)
			zr_error("array '/%s': its chunks cannot be listed: %s", s->path,
			         err.code ? err.text : strerror(-r));
		s->list_error = r;
	}
	pthread_mutex_unlock(&s->listing);
	if (r == 0)
		*ret = &s->present;
	return r;
}

/* Of an object; true as long as nobody knows. */
static bool may_be_stored(const struct zr_source *s, uint64_t object)
{
	return !atomic_load(&s->listed) || zr_present_next(&s->present, object) == object;
}

uint64_t zr_source_unstored(struct zr_source *s, const struct zr_run *run)
{
	const struct zr_grid *g = &s->grid;
	uint32_t last = g->ndim - 1;
	uint64_t next, at;

	if (may_be_stored(s, run->object))
		return 0;
	if (g->ndim == 0)
		return 1;
	next = zr_present_next(&s->present, run->object);
	at = run->index[last] / g->object[last];
	if (next == UINT64_MAX || next - run->object >= g->objects[last] - at)
		return g->shape[last] - run->index[last];
	return (at + (next - run->object)) * g->object[last] - run->index[last];
}

/* --- loading --------------------------------------------------------------------------
 */

/* What is wanted of a cell: itself, or what `make` makes of it. */
struct want {
	struct zr_source *src;
	struct zr_cache_key key;
	uint64_t cell;
	zr_source_make make; /* NULL: the cell itself */
	void *arg;
	size_t bytes;   /* that this takes beside the cell */
	uint64_t fault; /* what is to blame when that fails: the cell, or a shard */
	bool absent;    /* there is no such object */
	bool scan;      /* by someone who goes through all cells once */
};

/* One load of it. */
struct load {
	const struct want *want;
	const struct zr_spot *spot;
	struct zr_spot_limit limit;
	bool ran; /* it was this one that the cache ran, not someone else's */
};

static struct zr_cache_key cell_key(const struct zr_source *s, uint64_t cell)
{
	return (struct zr_cache_key){.owner = s->owner, .kind = ZR_KEY_CELL, .id = cell};
}

static void note_largest(struct zr_source *s, const struct zr_chunk *cell)
{
	size_t bytes = cell->data.cap + cell->text.cap;

	if (zr_type_is_variable(&s->array->type) && bytes > atomic_load(&s->largest))
		atomic_store(&s->largest, bytes);
}

static int load_cell(const struct load *l, struct zr_chunk *cell, struct zr_err *reterr)
{
	int r = zr_spot_load(l->spot, &l->limit, cell, reterr);

	if (r == 0) {
		note_largest(l->spot->src, cell);
		zr_tally_add(ZR_TALLY_DECODED, 1);
		zr_tally_add(ZR_TALLY_DECODED_BYTES, cell->data.len + cell->text.len);
	}
	return r;
}

/* From the cell if the cache has it; else it is decoded for this only. */
static int load_derived(const struct load *l, struct zr_chunk *ret, struct zr_err *reterr)
{
	struct zr_source *s = l->spot->src;
	struct zr_cache_key key = cell_key(s, l->want->cell);
	struct zr_chunk own = {0}, *cached = zr_cache_peek(s->cache, &key);
	int r = cached ? 0 : load_cell(l, &own, reterr);

	if (r == 0) {
		zr_gate_enter(s->gate);
		r = l->want->make(l->want->arg, cached ? cached : &own, ret);
		zr_gate_leave(s->gate);
	}
	zr_chunk_unref(cached);
	zr_buf_done(&own.data);
	zr_buf_done(&own.text);
	return r;
}

/* zr_cache_load */
static int load_made(void *arg, struct zr_chunk *chunk, struct zr_err *reterr)
{
	const struct want *w = arg;
	int r;

	(void)reterr;
	zr_gate_enter(w->src->gate);
	r = w->make(w->arg, NULL, chunk);
	zr_gate_leave(w->src->gate);
	return r;
}

/* zr_cache_load */
static int load_wanted(void *arg, struct zr_chunk *chunk, struct zr_err *reterr)
{
	struct load *l = arg;

	l->ran = true;
	return l->want->make ? load_derived(l, chunk, reterr)
	                     : load_cell(l, chunk, reterr);
}

/* What a chunk usually is: small, where that is not known. */
static struct zr_spot_limit usual_limit(struct zr_source *s, const struct zr_spot *spot)
{
	uint64_t bytes = cell_bytes(s), stored = bytes + bytes / 2 + 4096;

	if (spot->sized)
		stored = ZR_MAX(stored, spot->len);
	return (struct zr_spot_limit){.stored = zr_spot_most(s, stored).stored,
	                              .decoded = bytes};
}

/* The most that it may be. */
static int full_limit(struct zr_source *s, const struct zr_spot *spot,
                      struct zr_spot_limit *ret, struct zr_err *reterr)
{
	struct zr_stat st = {.size = spot->len};
	int r = spot->sized ? 0 : zr_store_stat(s->store, spot->key, &st, reterr);

	if (r == 0)
		*ret = zr_spot_most(s, st.size);
	return r;
}

/*
 * Room is asked for what a load takes at most: stored bytes, decoded bytes, and what is
 * made of them. There may be more than usual, which shows when it is read: then that is
 * given up, and asked for with all the room that it may take. Only the end of a load that
 * had this room, and that was our own, is the end.
 */
static int get_at(const struct want *w, struct zr_spot *spot, struct zr_chunk **ret,
                  struct zr_err *reterr)
{
	struct zr_source *s = spot->src;
	struct load l = {.want = w, .spot = spot, .limit = usual_limit(s, spot)};
	__typeof__(&zr_cache_get) get = w->scan ? zr_cache_scan : zr_cache_get;
	struct zr_err err;
	int r;

	do {
		err = (struct zr_err){0};
		l.ran = false;
		r = get(s->cache, &w->key,
		        (size_t)(l.limit.decoded + l.limit.stored) + w->bytes,
		        load_wanted, &l, ret, &err);
		if (r != -EFBIG || (l.limit.full && l.ran))
			return r < 0 ? zr_err_set(reterr, r, "%s", err.text) : 0;
		r = full_limit(s, spot, &l.limit, reterr);
	} while (r == 0);
	return r;
}

/* --- getting --------------------------------------------------------------------------
 */

/* `key` has room for key_size bytes; it says which object was asked for. */
static int get_by_key(struct zr_source *s, struct want *w, char separator, char *key,
                      size_t key_size, struct zr_chunk **ret, struct zr_err *reterr)
{
	ZR_CLEANUP(zr_spot_done) struct zr_spot spot = {.src = s, .key = key};
	uint64_t at[ZR_MAX_DIMS], object[ZR_MAX_DIMS];
	char name[ZR_KEY_MAX];
	int r;

	zr_grid_cell_at(&s->grid, w->cell, at);
	for (uint32_t k = 0; k < s->grid.ndim; k++)
		object[k] = at[k] / s->grid.per_object[k];
	zr_grid_key(s->array, object, separator, name);
	snprintf(key, key_size, "%s%s%s", s->path, *s->path ? "/" : "", name);
	spot.fault = zr_spot_shard(&spot, at);
	if (may_be_stored(s, zr_grid_object(&s->grid, object)))
		r = zr_spot_find(&spot, at, reterr);
	else
		r = -ENOENT;
	w->fault = spot.fault ? spot.fault : w->cell;
	if (r == 0)
		r = get_at(w, &spot, ret, reterr);
	w->absent = r == -ENOENT && !spot.found;
	return r;
}

/* Somebody reads what was never written: what is stored is listed before the questions
 * take longer than that would. If it fails, they go on. */
static void note_absent(struct zr_source *s)
{
	const struct zr_present *p;

	if (!atomic_load(&s->listed) &&
	    atomic_fetch_add(&s->absent, 1) + 1 == ABSENT_ENOUGH &&
	    zr_source_list(s, &p) < 0)
		zr_debug("array '/%s': each chunk is asked for", s->path);
}

static int source_get(struct zr_source *s, struct want *w, struct zr_chunk **ret)
{
	size_t path_len = strlen(s->path), key_size = path_len + 1 + ZR_KEY_MAX;
	ZR_CLEANUP(zr_freep) char *key = NULL;
	struct zr_err err = {0};
	int r;

	*ret = zr_cache_peek(s->cache, &w->key);
	if (*ret)
		return 0;
	if (zr_damage_known(s, w->cell))
		return -EUCLEAN;
	key = malloc(key_size);
	if (!key)
		return -ENOMEM;
	r = get_by_key(s, w, s->array->separator, key, key_size, ret, &err);
	if (r == -ENOENT && s->array->try_slash)
		r = get_by_key(s, w, '/', key, key_size, ret, &err);
	if (r == -ENOENT && w->absent)
		r = zr_source_check_absent(s, w->cell, &err);
	if (r == -ENOENT)
		note_absent(s);
	if (r == 0 || (r == -ENOENT && !s->missing_is_error)) {
		zr_damage_none(s);
		return r;
	}

	if (r == -ENOENT) {
		err = (struct zr_err){0};
		r = zr_err_set(&err, -EUCLEAN, "it is missing (missing=error)");
	}
	return zr_damage_note(s, w->fault, key + path_len + (path_len > 0), r, &err);
}

int zr_source_get(struct zr_source *s, uint64_t cell, struct zr_chunk **ret)
{
	struct want w = {.key = cell_key(s, cell), .cell = cell};

	return source_get(s, &w, ret);
}

struct zr_chunk *zr_source_peek(struct zr_source *s, uint64_t cell)
{
	struct zr_cache_key key = cell_key(s, cell);

	return zr_cache_peek(s->cache, &key);
}

int zr_source_scan(struct zr_source *s, uint64_t cell, struct zr_chunk **ret)
{
	struct want w = {.key = cell_key(s, cell), .cell = cell, .scan = true};

	return source_get(s, &w, ret);
}

int zr_source_derive(struct zr_source *s, uint64_t cell, uint64_t what, uint64_t id,
                     size_t bytes, zr_source_make make, void *arg, struct zr_chunk **ret)
{
	struct want w = {.src = s,
	                 .key = {s->owner, KIND_DERIVED | what, id},
	                 .cell = cell,
	                 .make = make,
	                 .arg = arg,
	                 .bytes = bytes};

	if (cell == UINT64_MAX)
		return zr_cache_get(s->cache, &w.key, bytes, load_made, &w, ret, NULL);
	return source_get(s, &w, ret);
}

uint64_t zr_source_new_what(struct zr_source *s)
{
	return atomic_fetch_add(&s->whats, 1);
}

static struct zr_cache_key derived_key(const struct zr_source *s, uint64_t what,
                                       uint64_t id)
{
	return (struct zr_cache_key){s->owner, KIND_DERIVED | what, id};
}

struct zr_chunk *zr_source_peek_derived(struct zr_source *s, uint64_t what, uint64_t id)
{
	struct zr_cache_key key = derived_key(s, what, id);

	return zr_cache_peek(s->cache, &key);
}

int zr_source_keep(struct zr_source *s, uint64_t what, uint64_t id, zr_cache_load load,
                   void *arg, struct zr_chunk **ret)
{
	struct zr_cache_key key = derived_key(s, what, id);

	return zr_cache_get(s->cache, &key, 0, load, arg, ret, NULL);
}

void zr_source_put(struct zr_source *s, uint64_t what, uint64_t id, zr_cache_load load,
                   void *arg)
{
	struct zr_cache_key key = derived_key(s, what, id);

	zr_cache_put(s->cache, &key, load, arg);
}

void zr_source_drop(struct zr_source *s, uint64_t what, uint64_t id)
{
	struct zr_cache_key key = derived_key(s, what, id);

	zr_cache_drop(s->cache, &key);
}

/* --- parts of records -----------------------------------------------------------------
 */

struct part {
	uint64_t first, bytes; /* of each record */
	uint64_t size;         /* of a record */
	uint64_t count;        /* records */
};

/* zr_source_make. The parts lie side by side, behind as many unused bytes as lie before
 * them in a record: so they are found as in whole records, only closer together. */
static int make_part(void *arg, const struct zr_chunk *cell, struct zr_chunk *ret)
{
	const struct part *p = arg;
	const uint8_t *from = cell->data.data + p->first;
	size_t size = (size_t)(p->first + p->bytes * p->count);
	uint8_t *to;

	if (zr_buf_reserve(&ret->data, size) < 0)
		return -ENOMEM;
	memset(ret->data.data, 0, (size_t)p->first);
	to = ret->data.data + p->first;
	for (uint64_t i = 0; i < p->count; i++) {
		memcpy(to, from, (size_t)p->bytes);
		to += p->bytes;
		from += p->size;
	}
	ret->data.len = size;
	return 0;
}

int zr_source_get_part(struct zr_source *s, uint64_t cell, uint64_t first, uint64_t bytes,
                       struct zr_chunk **ret, uint64_t *ret_size)
{
	struct part p = {.first = first,
	                 .bytes = bytes,
	                 .size = s->array->type.size,
	                 .count = s->grid.cell_records};
	uint64_t size = first + bytes * p.count;
	struct want w = {.key = {s->owner, KIND_PART | first << 30 | bytes, cell},
	                 .cell = cell,
	                 .make = make_part,
	                 .arg = &p,
	                 .bytes = (size_t)size};
	bool whole = !s->rows_exceed || size > p.size * p.count / 2;

	*ret_size = whole ? p.size : bytes;
	return whole ? zr_source_get(s, cell, ret) : source_get(s, &w, ret);
}
