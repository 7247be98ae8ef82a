/* SPDX-License-Identifier: MIT */
/*
 * chunk_case.h - one source of chunks, over a fake store
 */
#pragma once

#include "chunk.h"
#include "crc32c.h"
#include "fake_store.h"
#include "request.h"

struct fixture {
	struct fake_store *store;
	struct zr_cache *cache;
	struct zr_gate *gate;
	struct zr_array *array;
	struct zr_source source;
};

/* An array of bytes, 6 x 6, whose chunks are `outer` and, in shards, `inner`. */
static inline struct zr_array *make_array(const uint64_t *outer, const uint64_t *inner)
{
	struct zr_array *a = zr_array_new();

	CHECK(a);
	a->zarr_format = 3;
	a->ndim = 2;
	a->nrecords = 36;
	a->separator = '/';
	a->type = (struct zr_type){.kind = ZR_UINT, .bits = 8, .size = 1};
	a->fill = calloc(1, 1);
	a->nlevels = inner ? 2 : 1;
	for (uint32_t k = 0; k < 2; k++) {
		a->shape[k] = 6;
		a->levels[0].chunk[k] = outer[k];
		a->levels[0].axis[k] = (uint8_t)k;
		if (inner) {
			a->levels[1].chunk[k] = inner[k];
			a->levels[1].axis[k] = (uint8_t)k;
		}
	}
	for (uint32_t i = 0; i < a->nlevels; i++)
		CHECK((a->levels[i].codecs = zr_codecs_new()));
	if (inner) {
		CHECK((a->levels[0].index_codecs = zr_codecs_new()));
		a->levels[0].index_size =
			16 * (outer[0] / inner[0]) * (outer[1] / inner[1]);
	}
	return a;
}

static inline void set_up(struct fixture *f, struct fake_store *store,
                          struct zr_array *own_array, bool missing_is_error)
{
	f->store = store;
	f->cache = zr_cache_new(1 << 20);
	f->gate = zr_gate_new(1);
	f->array = own_array;
	CHECK(f->cache && f->gate);
	CHECK_INT(zr_source_init(&f->source, &store->base, "a", own_array, f->cache,
	                         f->gate, 1, missing_is_error),
	          0);
}

static inline void tear_down(struct fixture *f)
{
	zr_source_done(&f->source);
	zr_array_unref(f->array);
	zr_cache_free(f->cache);
	zr_gate_free(f->gate);
}

static inline void check_cell(struct fixture *f, uint64_t cell, const char *want)
{
	struct zr_chunk *c;

	CHECK_INT(zr_source_get(&f->source, cell, &c), 0);
	CHECK_MEM(c->data.data, c->data.len, want, strlen(want));
	zr_chunk_unref(c);
}

static inline void check_error(struct fixture *f, uint64_t cell, int want)
{
	struct zr_chunk *c = NULL;

	CHECK_INT(zr_source_get(&f->source, cell, &c), want);
	CHECK(c == NULL);
}

/* The index of four inner chunks, each pair (offset, nbytes). */
static inline size_t put_index(char *out, const uint64_t pairs[8], bool big)
{
	for (size_t i = 0; i < 8; i++)
		zr_store_uint(out + 8 * i, pairs[i], 8, big);
	return 64;
}

/* The shard is encoded as a whole: behind it is a checksum of all of it. */
static inline void checksum_shards(struct fixture *f)
{
	CHECK_INT(zr_codecs_add_checksum(f->array->levels[0].codecs, "crc32c", ZR_CRC32C,
	                                 false, 0, NULL, 0),
	          0);
}
