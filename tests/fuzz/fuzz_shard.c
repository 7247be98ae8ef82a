/* SPDX-License-Identifier: MIT */
/*
 * The input says how an array of bytes, 8 x 8, is cut into shards and those into chunks,
 * one or two levels deep; then come the objects, of which one is the shard.
 */
#include "memory_store.h"

#include "bounds.h"
#include "chunk.h"
#include "quiet.h"
#include "request.h"

#define SIDE 8

static void take_codecs(struct input *in, struct zr_codecs *c)
{
	unsigned int which = take_below(in, 6);

	if (which == 1)
		CHECK_INT(
			zr_codecs_add_checksum(c, "crc32c", ZR_CRC32C, false, 0, NULL, 0),
			0);
	if (which == 2)
		CHECK_INT(zr_codecs_add_gzip(c, "gzip"), 0);
	if (which == 3)
		CHECK_INT(zr_codecs_add_zstd(c, "zstd"), 0);
}

static void take_index(struct input *in, struct zr_array *a, uint32_t i)
{
	struct zr_level *l = &a->levels[i];
	unsigned int how = take_byte(in);
	uint64_t pairs = (l->chunk[0] / l[1].chunk[0]) * (l->chunk[1] / l[1].chunk[1]);

	l->index_codecs = zr_codecs_new();
	CHECK(l->index_codecs);
	l->index_big = how & 1;
	l->index_at_start = how >> 1 & 1;
	l->index_size = 16 * pairs;
	if (how >> 2 & 1) {
		l->index_size += 4;
		CHECK_INT(zr_codecs_add_checksum(l->index_codecs, "crc32c", ZR_CRC32C,
		                                 false, 0, NULL, 0),
		          0);
	}
}

static struct zr_array *take_array(struct input *in)
{
	struct zr_array *a = zr_array_new();
	uint32_t shards = 1 + take_below(in, 3);

	CHECK(a);
	a->zarr_format = 3;
	a->ndim = 2;
	a->nrecords = SIDE * SIDE;
	a->separator = '/';
	a->type = (struct zr_type){.kind = ZR_UINT, .bits = 8, .size = 1};
	a->fill = calloc(1, 1);
	a->nlevels = 1 + shards;
	for (uint32_t i = 0; i < a->nlevels; i++) {
		unsigned int shape = take_byte(in);

		for (uint32_t k = 0; k < 2; k++) {
			uint64_t up = i ? a->levels[i - 1].chunk[k] : SIDE;

			a->shape[k] = SIDE;
			a->levels[i].axis[k] = (uint8_t)(k ^ (shape >> 7));
			a->levels[i].chunk[k] = shape >> k & 1 ? (up + 1) / 2 : up;
		}
		a->levels[i].codecs = zr_codecs_new();
		CHECK(a->levels[i].codecs);
		take_codecs(in, a->levels[i].codecs);
	}
	for (uint32_t i = 0; i < shards; i++)
		take_index(in, a, i);
	return a;
}

/* Where the model finds the bytes of a cell: only for one level of plain shards. Returns
 * what zr_source_get() must answer. */
static int model(const struct zr_array *a, const struct zr_grid *g, uint64_t cell,
                 const struct fake_object *o, const uint8_t **ret)
{
	const struct zr_level *l = &a->levels[0];
	uint64_t at[ZR_MAX_DIMS], pair = 0, offset, len, index;

	zr_grid_cell_at(g, cell, at);
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t k = l->axis[i];

		pair = pair * (l->chunk[k] / l[1].chunk[k]) +
		       at[k] * l[1].chunk[k] % l->chunk[k] / l[1].chunk[k];
	}
	if (o->len < l->index_size)
		return -EUCLEAN;
	index = (l->index_at_start ? 0 : o->len - l->index_size) + 16 * pair;
	offset = zr_load_u64((const uint8_t *)o->data + index, l->index_big);
	len = zr_load_u64((const uint8_t *)o->data + index + 8, l->index_big);
	if (offset == UINT64_MAX && len == UINT64_MAX)
		return -ENOENT;
	if (offset > o->len || len > o->len - offset || len != g->cell_records)
		return -EUCLEAN;
	*ret = (const uint8_t *)o->data + offset;
	return 0;
}

static bool is_plain(const struct zr_array *a)
{
	return a->nlevels == 2 && zr_codecs_count(a->levels[0].codecs) == 0 &&
	       zr_codecs_count(a->levels[1].codecs) == 0 &&
	       zr_codecs_count(a->levels[0].index_codecs) == 0;
}

static void check_model(struct zr_source *s, uint64_t cell, int r,
                        const struct zr_chunk *c)
{
	struct fake_store *f = (struct fake_store *)s->store;
	uint64_t at[ZR_MAX_DIMS];
	char name[ZR_KEY_MAX], key[ZR_KEY_MAX + 2];
	struct fake_object *o;
	const uint8_t *want = NULL;

	zr_grid_cell_at(&s->grid, cell, at);
	for (uint32_t k = 0; k < 2; k++)
		at[k] /= s->grid.per_object[k];
	zr_grid_key(s->array, at, '/', name);
	snprintf(key, sizeof(key), "a/%s", name);
	o = fake_find(f, key);
	if (!o) {
		CHECK_INT(r, -ENOENT);
		return;
	}
	CHECK_INT(r, model(s->array, &s->grid, cell, o, &want));
	if (r == 0)
		CHECK(memcmp(c->data.data, want, c->data.len) == 0);
}

static void check_cell(struct zr_source *s, uint64_t cell)
{
	struct zr_chunk *c = NULL, *again = NULL;
	int r = zr_source_get(s, cell, &c);

	CHECK(r == 0 || r == -ENOENT || r == -EUCLEAN);
	if (r == 0)
		CHECK_INT(c->data.len, s->grid.cell_records);
	if (is_plain(s->array))
		check_model(s, cell, r, c);
	CHECK_INT(zr_source_get(s, cell, &again), r);
	if (r == 0)
		CHECK_MEM(again->data.data, again->data.len, c->data.data, c->data.len);
	zr_chunk_unref(c);
	zr_chunk_unref(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	struct zr_array *a = take_array(&in);
	struct memory_store m;
	struct zr_cache *cache = zr_cache_new(1 << 20);
	struct zr_gate *gate = zr_gate_new(1);
	struct zr_source s;
	uint64_t cells;

	quiet_begin();
	memory_store_init(&m, &in);
	CHECK(cache && gate);
	CHECK_INT(zr_source_init(&s, &m.fake.base, "a", a, cache, gate, 1, false), 0);
	check_array(a);
	cells = s.grid.cells[0] * s.grid.cells[1];
	for (uint64_t i = 0; i < cells; i++)
		check_cell(&s, i);
	zr_source_done(&s);
	zr_array_unref(a);
	zr_cache_free(cache);
	zr_gate_free(gate);
	memory_store_done(&m);
	quiet_end();
	return 0;
}
