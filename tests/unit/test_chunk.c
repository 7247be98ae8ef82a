/* SPDX-License-Identifier: MIT */
#include "chunk.h"

#include "crc32c.h"
#include "fake_store.h"
#include "log.h"
#include "request.h"

/* One source over a fake store. */
struct fixture {
	struct fake_store *store;
	struct zr_cache *cache;
	struct zr_gate *gate;
	struct zr_array *array;
	struct zr_source source;
};

/* An array of bytes, 6 x 6, whose chunks are `outer` and, in shards, `inner`. */
static struct zr_array *make_array(const uint64_t *outer, const uint64_t *inner)
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

static void set_up(struct fixture *f, struct fake_store *store,
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

static void tear_down(struct fixture *f)
{
	zr_source_done(&f->source);
	zr_array_unref(f->array);
	zr_cache_free(f->cache);
	zr_gate_free(f->gate);
}

static void check_cell(struct fixture *f, uint64_t cell, const char *want)
{
	struct zr_chunk *c;

	CHECK_INT(zr_source_get(&f->source, cell, &c), 0);
	CHECK_MEM(c->data.data, c->data.len, want, strlen(want));
	zr_chunk_unref(c);
}

static void check_error(struct fixture *f, uint64_t cell, int want)
{
	struct zr_chunk *c = NULL;

	CHECK_INT(zr_source_get(&f->source, cell, &c), want);
	CHECK(c == NULL);
}

static void a_chunk_is_found_by_its_key(void)
{
	static const uint64_t outer[] = {3, 3};
	static struct fake_object objects[] = {{"a/c/0/1", "123456789", 9, 0}};
	struct fake_store store = FAKE_STORE(objects);
	struct fixture f;

	set_up(&f, &store, make_array(outer, NULL), false);
	check_cell(&f, 1, "123456789");
	check_cell(&f, 1, "123456789");
	CHECK_INT(store.gets, 1);
	check_error(&f, 0, -ENOENT);
	check_error(&f, 3, -ENOENT);
	tear_down(&f);
}

static void damage_is_remembered(void)
{
	static const uint64_t outer[] = {3, 3};
	static struct fake_object objects[] = {{"a/c/0/0", "12345678", 8, 0},
	                                       {"a/c/0/1", "", 0, 0},
	                                       {"a/c/1/0", "1234567890", 10, 0},
	                                       {"a/c/1/1", "", 0, -EISDIR}};
	struct fake_store store = FAKE_STORE(objects);
	struct fixture f;

	set_up(&f, &store, make_array(outer, NULL), false);
	for (uint64_t cell = 0; cell < 4; cell++) {
		check_error(&f, cell, -EUCLEAN);
		CHECK_INT(store.gets, cell + 1);
		check_error(&f, cell, -EUCLEAN);
		CHECK_INT(store.gets, cell + 1); /* not asked again */
	}
	tear_down(&f);
}

static void a_store_that_fails_is_asked_again(void)
{
	static const uint64_t outer[] = {3, 3};
	static struct fake_object objects[] = {{"a/c/0/0", "123456789", 9, 0}};
	struct fake_store store = FAKE_STORE(objects);
	struct fixture f;

	set_up(&f, &store, make_array(outer, NULL), false);
	store.fail_all = -EACCES;
	check_error(&f, 0, -EACCES);
	store.fail_all = 0;
	check_cell(&f, 0, "123456789");
	tear_down(&f);
}

static void a_missing_chunk_may_be_an_error(void)
{
	static const uint64_t outer[] = {3, 3};
	static struct fake_object objects[] = {{"a/c/0/0", "123456789", 9, 0}};
	struct fake_store store = FAKE_STORE(objects);
	struct fixture f;

	set_up(&f, &store, make_array(outer, NULL), true);
	check_cell(&f, 0, "123456789");
	check_error(&f, 2, -EUCLEAN);
	tear_down(&f);
}

/* --- shards: sharding codec v1.0, "Binary shard format" -------------------------------
 */

/* The index of four inner chunks, each pair (offset, nbytes). */
static size_t put_index(char *out, const uint64_t pairs[8], bool big)
{
	for (size_t i = 0; i < 8; i++)
		zr_store_uint(out + 8 * i, pairs[i], 8, big);
	return 64;
}

static void inner_chunks_are_read_by_the_index(void)
{
	static const uint64_t outer[] = {6, 6}, inner[] = {3, 3};
	for (int at_start = 0; at_start < 2; at_start++) {
		for (int big = 0; big < 2; big++) {
			uint64_t base = at_start ? 64 : 0;
			const uint64_t pairs[8] = {base + 9, 9, UINT64_MAX, UINT64_MAX,
			                           base,     9, base + 9,   9};
			char shard[82];
			struct fake_object objects[] = {
				{"a/c/0/0", shard, sizeof(shard), 0}};
			struct fake_store store = FAKE_STORE(objects);
			struct fixture f;

			put_index(shard + (at_start ? 0 : 18), pairs, big);
			memcpy(shard + base, "abcdefghiABCDEFGHI", 18);
			set_up(&f, &store, make_array(outer, inner), false);
			f.array->levels[0].index_big = big;
			f.array->levels[0].index_at_start = at_start;
			check_cell(&f, 0, "ABCDEFGHI");
			check_error(&f, 1, -ENOENT);
			check_cell(&f, 2, "abcdefghi");
			check_cell(&f, 3, "ABCDEFGHI"); /* ranges may be shared */
			CHECK_INT(store.gets, 4);       /* the index once, three chunks */
			tear_down(&f);
		}
	}
}

static void the_index_follows_the_encoded_axes(void)
{
	static const uint64_t outer[] = {6, 6}, inner[] = {3, 3};
	const uint64_t pairs[8] = {0, 9, 9, 9, 18, 9, 27, 9};
	char shard[36 + 64];
	struct fake_object objects[] = {{"a/c/0/0", shard, sizeof(shard), 0}};
	struct fake_store store = FAKE_STORE(objects);
	struct fixture f;

	memcpy(shard, "aaaaaaaaabbbbbbbbbcccccccccddddddddd", 36);
	put_index(shard + 36, pairs, false);
	set_up(&f, &store, make_array(outer, inner), false);
	f.array->levels[0].axis[0] = 1; /* transposed before the shard */
	f.array->levels[0].axis[1] = 0;
	check_cell(&f, 0, "aaaaaaaaa");
	check_cell(&f, 1, "ccccccccc"); /* (0, 1) is encoded as (1, 0) */
	check_cell(&f, 2, "bbbbbbbbb");
	check_cell(&f, 3, "ddddddddd");
	tear_down(&f);
}

static void a_checksum_of_the_index_is_verified(void)
{
	static const uint64_t outer[] = {6, 6}, inner[] = {3, 3};
	const uint64_t pairs[8] = {0, 9, 0, 9, 0, 9, 0, 9};
	char shard[9 + 68];
	struct fake_object objects[] = {{"a/c/0/0", shard, sizeof(shard), 0}};
	struct fake_store store = FAKE_STORE(objects);

	memcpy(shard, "abcdefghi", 9);
	put_index(shard + 9, pairs, false);
	zr_store_uint(shard + 9 + 64, zr_crc32c(shard + 9, 64), 4, false);
	for (int damaged = 0; damaged < 2; damaged++) {
		struct fixture f;

		shard[9] ^= (char)damaged;
		set_up(&f, &store, make_array(outer, inner), false);
		CHECK_INT(zr_codecs_add_checksum(f.array->levels[0].index_codecs,
		                                 "crc32c", ZR_CRC32C, false, 0, NULL, 0),
		          0);
		f.array->levels[0].index_size = 68;
		if (damaged)
			check_error(&f, 0, -EUCLEAN);
		else
			check_cell(&f, 0, "abcdefghi");
		tear_down(&f);
	}
}

static void an_index_that_points_outside_is_damage(void)
{
	static const uint64_t outer[] = {6, 6}, inner[] = {3, 3};
	const uint64_t pairs[8] = {74, 9, UINT64_MAX, 9, UINT64_MAX - 5,
	                           9,  0, UINT64_MAX};
	char shard[9 + 64] = "abcdefghi";
	struct fake_object objects[] = {{"a/c/0/0", shard, sizeof(shard), 0}};
	struct fake_store store = FAKE_STORE(objects);
	struct fixture f;

	put_index(shard + 9, pairs, false);
	set_up(&f, &store, make_array(outer, inner), false);
	for (uint64_t cell = 0; cell < 4; cell++)
		check_error(&f, cell, -EUCLEAN);
	tear_down(&f);
}

static void a_shard_shorter_than_its_index_is_damage(void)
{
	static const uint64_t outer[] = {6, 6}, inner[] = {3, 3};
	static struct fake_object objects[] = {{"a/c/0/0", "0123456789", 10, 0}};
	struct fake_store store = FAKE_STORE(objects);
	struct fixture f;

	set_up(&f, &store, make_array(outer, inner), false);
	check_error(&f, 0, -EUCLEAN);
	tear_down(&f);
}

static void a_shard_that_is_not_there_is_all_fill(void)
{
	static const uint64_t outer[] = {6, 6}, inner[] = {3, 3};
	static struct fake_object objects[] = {{"a/zarr.json", "{}", 2, 0}};
	struct fake_store store = FAKE_STORE(objects);
	struct fixture f;

	set_up(&f, &store, make_array(outer, inner), false);
	check_error(&f, 2, -ENOENT);
	tear_down(&f);
}

/* A codec behind the shard: here a checksum of the whole of it. */
static void a_shard_that_was_encoded_as_a_whole_is_decoded_first(void)
{
	static const uint64_t outer[] = {6, 6}, inner[] = {3, 3};
	const uint64_t pairs[8] = {0, 9, UINT64_MAX, UINT64_MAX, 0, 9, 0, 9};
	char shard[9 + 64 + 4] = "abcdefghi";
	struct fake_object objects[] = {{"a/c/0/0", shard, sizeof(shard), 0}};
	struct fake_store store = FAKE_STORE(objects);
	struct fixture f;

	put_index(shard + 9, pairs, false);
	zr_store_uint(shard + 73, zr_crc32c(shard, 73), 4, false);
	set_up(&f, &store, make_array(outer, inner), false);
	CHECK_INT(zr_codecs_add_checksum(f.array->levels[0].codecs, "crc32c", ZR_CRC32C,
	                                 false, 0, NULL, 0),
	          0);
	check_cell(&f, 0, "abcdefghi");
	check_error(&f, 1, -ENOENT);
	check_cell(&f, 3, "abcdefghi");
	CHECK_INT(store.gets, 1);
	tear_down(&f);
}

int main(void)
{
	zr_log_set_level(ZR_LOG_ERROR);
	RUN(a_chunk_is_found_by_its_key);
	RUN(damage_is_remembered);
	RUN(a_store_that_fails_is_asked_again);
	RUN(a_missing_chunk_may_be_an_error);
	RUN(inner_chunks_are_read_by_the_index);
	RUN(the_index_follows_the_encoded_axes);
	RUN(a_checksum_of_the_index_is_verified);
	RUN(an_index_that_points_outside_is_damage);
	RUN(a_shard_shorter_than_its_index_is_damage);
	RUN(a_shard_that_is_not_there_is_all_fill);
	RUN(a_shard_that_was_encoded_as_a_whole_is_decoded_first);
	return EXIT_SUCCESS;
}
