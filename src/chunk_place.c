/* SPDX-License-Identifier: MIT */
/*
 * From an object to the bytes of a cell, and from those to records. Each level of shards
 * has an index of pairs (offset, nbytes). A shard that was not compressed as a whole is
 * never read whole: its index is cached, its chunks are read as ranges. One that was is
 * decoded and cached together with its index.
 *
 * What is found in a cached shard is copied out of it, so that nothing of the cache is
 * held while more is asked for (cache.h).
 */
#include <errno.h>

#include "chunk_impl.h"
#include "items.h"
#include "request.h"

static const struct zr_level *spot_level(const struct zr_spot *p)
{
	return &p->src->array->levels[p->level];
}

/* --- stored bytes --------------------------------------------------------------------
 */

/* `len` bytes at `offset` within the spot. */
static int spot_read(const struct zr_spot *p, uint64_t offset, uint64_t len,
                     struct zr_buf *ret, struct zr_err *reterr)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf b = {0};
	int r = 0;

	if (zr_buf_reserve(&b, (size_t)len) < 0)
		return -ENOMEM;
	offset += p->offset;
	if (len > 0 && p->in_memory)
		zr_buf_add(&b, p->held.data + offset, (size_t)len);
	else if (len > 0)
		r = zr_store_get_range(p->src->store, p->key, offset, (size_t)len, b.data,
		                       reterr);
	if (r == -ENOENT) /* it was there a moment ago */
		r = zr_err_set(reterr, -EUCLEAN, "the file has gone");
	if (r == 0 && len > 0 && !p->in_memory)
		r = zr_spot_check(p, reterr);
	if (r < 0)
		return r;
	b.len = (size_t)len;
	*ret = b;
	b = (struct zr_buf){0};
	return 0;
}

/* All that is stored at the spot. */
static int spot_read_all(const struct zr_spot *p, uint64_t max, struct zr_buf *ret,
                         struct zr_err *reterr)
{
	if (!p->sized)
		return zr_store_get(p->src->store, p->key, max, ret, reterr);
	if (p->len > max)
		return zr_err_set(reterr, -EFBIG,
		                  "%llu bytes are more than the limit of %llu",
		                  (unsigned long long)p->len, (unsigned long long)max);
	return spot_read(p, 0, p->len, ret, reterr);
}

static int spot_size(struct zr_spot *p, struct zr_err *reterr)
{
	struct zr_stat st;
	int r;

	if (p->sized)
		return 0;
	r = zr_store_stat(p->src->store, p->key, &st, reterr);
	if (r < 0)
		return r;
	p->len = st.size;
	p->st = st;
	p->sized = true;
	return 0;
}

/* --- decoding ------------------------------------------------------------------------
 */

/* The most bytes that codecs make of so many: those of numbers eight of one, and what
 * headers and checksums add. No more of a store is read, whatever lies in it. */
static uint64_t encoded_most(uint64_t decoded)
{
	return ZR_MIN(ZR_MIN(decoded, ZR_MAX_CHUNK) * 8 + ((uint64_t)1 << 20),
	              ZR_MAX_STORED);
}

/* Stored bytes through the codecs of the spot's level. max: where `exact` is UINT64_MAX.
 */
static int spot_decode(const struct zr_spot *p, struct zr_buf *own_stored, uint64_t exact,
                       uint64_t max, struct zr_buf *ret, struct zr_err *reterr)
{
	int r;

	zr_gate_enter_decoding(p->src->gate);
	r = zr_codecs_decode(spot_level(p)->codecs, own_stored, exact, max, ret, reterr);
	zr_gate_leave_decoding(p->src->gate);
	return r;
}

/* How much text a chunk may hold that is stored in so many bytes: nothing else says how
 * large it is. */
static uint64_t text_most(const struct zr_source *s, uint64_t stored)
{
	uint64_t free = s->grid.cell_records * ZR_FREE_PER_ITEM + ZR_FREE_TEXT;

	return ZR_MIN(ZR_MAX(free, stored * ZR_MAX_RATIO), ZR_MAX_CHUNK);
}

struct zr_spot_limit zr_spot_most(const struct zr_source *s, uint64_t stored)
{
	uint64_t bytes = s->grid.cell_records * s->array->type.size;

	stored = ZR_MIN(stored, ZR_MAX_STORED);
	if (zr_type_is_variable(&s->array->type))
		return (struct zr_spot_limit){stored, text_most(s, stored), true};
	return (struct zr_spot_limit){ZR_MIN(stored, encoded_most(bytes)), bytes, true};
}

/* Of variable length: *ret are the bytes of all items. */
static int spot_decode_text(const struct zr_spot *p, struct zr_buf *own_stored,
                            const struct zr_spot_limit *limit, struct zr_buf *ret,
                            struct zr_err *reterr)
{
	uint64_t most = text_most(p->src, own_stored->len);
	uint64_t max = ZR_MIN(limit->decoded, most);
	int r = spot_decode(p, own_stored, UINT64_MAX, max, ret, reterr);

	return r == -EUCLEAN && max < most && !limit->full ? -EFBIG : r;
}

int zr_spot_load(const struct zr_spot *p, const struct zr_spot_limit *limit,
                 struct zr_chunk *chunk, struct zr_err *reterr)
{
	const struct zr_array *a = p->src->array;
	const struct zr_grid *g = &p->src->grid;
	struct zr_buf stored = {0}, bytes = {0};
	int r = spot_read_all(p, limit->stored, &stored, reterr);

	if (r < 0)
		return r;
	if (!zr_type_is_variable(&a->type))
		return spot_decode(p, &stored, g->cell_records * a->type.size, 0,
		                   &chunk->data, reterr);
	r = spot_decode_text(p, &stored, limit, &bytes, reterr);
	if (r < 0)
		return r;
	zr_gate_enter_decoding(p->src->gate);
	r = zr_items_decode(a->type.kind, &bytes, g->cell_records, &chunk->data,
	                    &chunk->text, reterr);
	if (r == 0 && a->type.kind == ZR_LIST)
		r = zr_items_check_lists(&chunk->data, a->type.fields[0].type.size,
		                         reterr);
	zr_gate_leave_decoding(p->src->gate);
	return r;
}

/* --- shards: the index ---------------------------------------------------------------
 */

/* Number of the chunk of the spot's level that the cell with coordinates `at` lies in. */
static uint64_t chunk_number(const struct zr_spot *p, const uint64_t *at)
{
	const struct zr_grid *g = &p->src->grid;
	const uint64_t *chunk = spot_level(p)->chunk;
	uint64_t number = 0;

	for (uint32_t k = 0; k < g->ndim; k++) {
		uint64_t count = (g->shape[k] + chunk[k] - 1) / chunk[k];

		number = number * count + at[k] * g->cell[k] / chunk[k];
	}
	return number;
}

/* There are less than 2^60 cells, so that the numbers of shards begin behind those. */
uint64_t zr_spot_shard(const struct zr_spot *p, const uint64_t *at)
{
	if (p->level + 1 == p->src->array->nlevels)
		return 0;
	return ((uint64_t)p->level + 1) << 60 | chunk_number(p, at);
}

/* Which pair of the shard's index speaks of the chunk of the next level: C order of the
 * encoded axes. */
static uint64_t pair_number(const struct zr_spot *p, const uint64_t *at)
{
	const struct zr_grid *g = &p->src->grid;
	const struct zr_level *shard = spot_level(p);
	uint64_t number = 0;

	for (uint32_t i = 0; i < g->ndim; i++) {
		uint32_t k = shard->axis[i];
		uint64_t inner = shard[1].chunk[k];

		number = number * (shard->chunk[k] / inner) +
		         at[k] * g->cell[k] % shard->chunk[k] / inner;
	}
	return number;
}

static uint64_t pair_count(const struct zr_spot *p)
{
	const struct zr_level *shard = spot_level(p);
	uint64_t count = 1;

	for (uint32_t k = 0; k < p->src->grid.ndim; k++)
		count *= shard->chunk[k] / shard[1].chunk[k];
	return count;
}

static struct zr_cache_key spot_key(const struct zr_spot *p, uint64_t kind,
                                    const uint64_t *at)
{
	return (struct zr_cache_key){.owner = p->src->owner,
	                             .kind = kind + 2 * (uint64_t)p->level,
	                             .id = chunk_number(p, at)};
}

/* Where the index begins in a shard of `len` bytes. */
static int index_begin(const struct zr_spot *p, uint64_t len, uint64_t *ret,
                       struct zr_err *reterr)
{
	const struct zr_level *shard = spot_level(p);

	if (len < shard->index_size)
		return zr_err_set(reterr, -EUCLEAN,
		                  "the shard has %llu bytes, its index alone takes %llu",
		                  (unsigned long long)len,
		                  (unsigned long long)shard->index_size);
	*ret = shard->index_at_start ? 0 : len - shard->index_size;
	return 0;
}

static int index_decode(const struct zr_spot *p, struct zr_buf *own_stored,
                        struct zr_buf *ret, struct zr_err *reterr)
{
	uint64_t size = 16 * pair_count(p);
	struct zr_err why = {0};
	int r;

	zr_gate_enter_decoding(p->src->gate);
	r = zr_codecs_decode(spot_level(p)->index_codecs, own_stored, size, size, ret,
	                     &why);
	zr_gate_leave_decoding(p->src->gate);
	if (r < 0)
		return zr_err_set(reterr, r, "the shard's index: %s", why.text);
	return 0;
}

/* Of a shard whose index is in the cache, behind that. */
struct index_of {
	uint64_t len;      /* of the shard */
	struct zr_stat st; /* of the object that it is, or lies in */
};

static int add_index_of(const struct zr_spot *p, uint64_t len, struct zr_buf *pairs)
{
	struct index_of of = {.len = len, .st = p->st};

	zr_buf_add(pairs, &of, sizeof(of));
	return zr_buf_check(pairs);
}

static struct index_of index_of(const struct zr_buf *pairs)
{
	struct index_of of;

	memcpy(&of, pairs->data + pairs->len - sizeof(of), sizeof(of));
	return of;
}

/* zr_cache_load of the index of a shard that is read by ranges. */
static int load_index(void *arg, struct zr_chunk *chunk, struct zr_err *reterr)
{
	const struct zr_spot *p = arg;
	struct zr_buf stored = {0};
	uint64_t begin = 0;
	int r = index_begin(p, p->len, &begin, reterr);

	if (r == 0)
		r = spot_read(p, begin, spot_level(p)->index_size, &stored, reterr);
	if (r == 0)
		r = index_decode(p, &stored, &chunk->data, reterr);
	return r < 0 ? r : add_index_of(p, p->len, &chunk->data);
}

/* What the index says of the cell's chunk, within a shard of `len` bytes. */
static int index_find(const struct zr_spot *p, const uint64_t *at, const uint8_t *pairs,
                      uint64_t len, uint64_t *ret_offset, uint64_t *ret_len,
                      struct zr_err *reterr)
{
	const uint8_t *pair = pairs + 16 * pair_number(p, at);
	uint64_t offset = zr_load_u64(pair, spot_level(p)->index_big);
	uint64_t n = zr_load_u64(pair + 8, spot_level(p)->index_big);

	if (offset == UINT64_MAX && n == UINT64_MAX)
		return -ENOENT;
	if (offset > len || n > len - offset)
		return zr_err_set(
			reterr, -EUCLEAN,
			"the shard's index points outside the shard (%llu + %llu "
			"of %llu bytes)",
			(unsigned long long)offset, (unsigned long long)n,
			(unsigned long long)len);
	*ret_offset = offset;
	*ret_len = n;
	return 0;
}

/* --- shards: going in ----------------------------------------------------------------
 */

/* Into a shard that is read by ranges. */
static int enter_plain(struct zr_spot *p, const uint64_t *at, struct zr_err *reterr)
{
	struct zr_cache_key key = spot_key(p, ZR_KEY_INDEX, at);
	struct zr_chunk *index = zr_cache_peek(p->src->cache, &key);
	uint64_t offset = 0, len = 0;
	struct index_of of;
	int r = 0;

	if (!index) {
		r = spot_size(p, reterr);
		if (r == 0)
			r = zr_cache_get(p->src->cache, &key,
			                 2 * (size_t)spot_level(p)->index_size,
			                 load_index, p, &index, reterr);
		if (r < 0)
			return r;
	}
	p->found = true;
	p->fault = 0;
	of = index_of(&index->data);
	r = zr_spot_join(p, &of.st, reterr);
	if (r == 0)
		r = index_find(p, at, index->data.data, of.len, &offset, &len, reterr);
	zr_chunk_unref(index);
	if (r < 0)
		return r;
	p->offset += offset;
	p->len = len;
	p->sized = true;
	p->level++;
	return 0;
}

/* Bytes of the decoded shard: of its records, and its index. */
static uint64_t shard_bytes(const struct zr_spot *p)
{
	const struct zr_level *shard = spot_level(p);
	uint64_t bytes = p->src->array->type.size;

	for (uint32_t k = 0; k < p->src->grid.ndim; k++)
		if (!zr_mul(bytes, shard->chunk[k], &bytes))
			bytes = ZR_MAX_CHUNK;
	return ZR_MIN(bytes, ZR_MAX_CHUNK) + shard->index_size;
}

/* One load of a shard that was compressed as a whole. */
struct shard_load {
	const struct zr_spot *spot;
	struct zr_spot_limit limit;
	bool ran; /* it was this one that the cache ran, not someone else's */
};

/* zr_cache_load; the index of the shard is the `text`. */
static int load_shard(void *arg, struct zr_chunk *chunk, struct zr_err *reterr)
{
	struct shard_load *l = arg;
	const struct zr_spot *p = l->spot;
	struct zr_buf stored = {0};
	uint64_t begin = 0;
	int r = spot_read_all(p, l->limit.stored, &stored, reterr);

	l->ran = true;
	if (r == 0) {
		r = spot_decode(p, &stored, UINT64_MAX, l->limit.decoded, &chunk->data,
		                reterr);
		if (r == -EUCLEAN && !l->limit.full)
			r = -EFBIG;
	}
	if (r == 0)
		r = index_begin(p, chunk->data.len, &begin, reterr);
	if (r < 0)
		return r;
	zr_buf_add(&stored, chunk->data.data + begin, (size_t)spot_level(p)->index_size);
	if (zr_buf_check(&stored) < 0)
		return -ENOMEM;
	r = index_decode(p, &stored, &chunk->text, reterr);
	return r < 0 ? r : add_index_of(p, chunk->data.len, &chunk->text);
}

#define LITTLE_SHARD ((uint64_t)4 << 20) /* bytes */

/* What a shard decodes to: usually, or at most. Its chunks, compressed or not, are seldom
 * more than what they decode to. */
static uint64_t shard_most(const struct zr_spot *p, bool full)
{
	uint64_t bytes = shard_bytes(p), most;

	if (!zr_type_is_variable(&p->src->array->type)) {
		most = full ? encoded_most(bytes) : bytes + bytes / 8 + 4096;
	} else {
		most = zr_mul_most(ZR_MIN(p->len, ZR_MAX_STORED),
		                   full ? ZR_MAX_RATIO : 8);
		most = ZR_MAX(most, bytes + (full ? ZR_FREE_TEXT : 4096));
	}
	return ZR_MIN(most, ZR_MAX_CHUNK);
}

/* As get_at() of chunk.c: room is asked for what it usually takes, and for all that it
 * may take only when that is not enough, or little. */
static int get_shard(const struct zr_spot *p, const struct zr_cache_key *key,
                     struct zr_chunk **ret, struct zr_err *reterr)
{
	struct shard_load l = {.spot = p,
	                       .limit.full = shard_most(p, true) <= LITTLE_SHARD};
	uint64_t stored;
	struct zr_err err;
	int r;

	for (;;) {
		err = (struct zr_err){0};
		l.ran = false;
		l.limit.decoded = shard_most(p, l.limit.full);
		l.limit.stored = encoded_most(l.limit.decoded);
		stored = ZR_MIN(p->len, l.limit.stored);
		r = zr_cache_get(
			p->src->cache, key,
			(size_t)(l.limit.decoded + stored + spot_level(p)->index_size),
			load_shard, &l, ret, &err);
		if (r != -EFBIG || (l.limit.full && l.ran))
			return r < 0 ? zr_err_set(reterr, r, "%s", err.text) : 0;
		l.limit.full = true;
	}
}

/* --- copies out of decoded shards ----------------------------------------------------
 */

/* The most that may be stored of a chunk of the next level. */
static uint64_t inner_most(const struct zr_spot *p)
{
	struct zr_spot inner = {.src = p->src, .level = p->level + 1};

	if (inner.level + 1 < p->src->array->nlevels)
		return ZR_MIN(encoded_most(shard_bytes(&inner)), ZR_MAX_CHUNK);
	return ZR_MIN(zr_spot_most(p->src, ZR_MAX_STORED).stored, ZR_MAX_CHUNK);
}

/* Room for what will be copied, once for all levels to come: at each, the copy of the
 * level above is still there. */
static void hold_copies(struct zr_spot *p)
{
	struct zr_spot at = *p;
	uint64_t most = 0;

	if (p->room > 0)
		return;
	for (; at.level + 1 < p->src->array->nlevels; at.level++)
		most = ZR_MAX(most, inner_most(&at));
	zr_spot_hold(p, 2 * most);
}

/* The bytes of a chunk of the next level, out of the shard. */
static int spot_copy(struct zr_spot *p, const struct zr_chunk *shard, uint64_t offset,
                     uint64_t len, struct zr_err *reterr)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf inner = {0};
	uint64_t most = inner_most(p);

	if (len > most)
		return zr_err_set(reterr, -EUCLEAN,
		                  "the shard's index gives it %llu bytes, more than the "
		                  "%llu that are read",
		                  (unsigned long long)len, (unsigned long long)most);
	zr_buf_add(&inner, shard->data.data + offset, (size_t)len);
	if (zr_buf_check(&inner) < 0)
		return -ENOMEM;
	zr_buf_done(&p->held);
	p->held = inner;
	inner = (struct zr_buf){0};
	return 0;
}

/* Into a shard that was compressed as a whole: the bytes are in memory then. */
static int enter_encoded(struct zr_spot *p, const uint64_t *at, struct zr_err *reterr)
{
	struct zr_cache_key key = spot_key(p, ZR_KEY_SHARD, at);
	struct zr_chunk *shard;
	uint64_t offset = 0, len = 0;
	struct index_of of;
	int r = 0;

	hold_copies(p);
	shard = zr_cache_peek(p->src->cache, &key);
	if (!shard) {
		r = spot_size(p, reterr);
		if (r == 0)
			r = get_shard(p, &key, &shard, reterr);
		if (r < 0)
			return r;
	}
	p->found = true;
	p->fault = 0;
	of = index_of(&shard->text);
	r = zr_spot_join(p, &of.st, reterr);
	if (r == 0)
		r = index_find(p, at, shard->text.data, of.len, &offset, &len, reterr);
	if (r == 0)
		r = spot_copy(p, shard, offset, len, reterr);
	zr_chunk_unref(shard);
	if (r < 0)
		return r;
	p->in_memory = p->sized = true;
	p->offset = 0;
	p->len = len;
	p->level++;
	return 0;
}

int zr_spot_find(struct zr_spot *p, const uint64_t *at, struct zr_err *reterr)
{
	int r = 0;

	while (r == 0 && (p->fault = zr_spot_shard(p, at)) != 0) {
		if (zr_damage_known(p->src, p->fault))
			return -EUCLEAN;
		r = zr_codecs_count(spot_level(p)->codecs) > 0
		            ? enter_encoded(p, at, reterr)
		            : enter_plain(p, at, reterr);
	}
	return r;
}
