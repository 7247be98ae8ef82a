/* SPDX-License-Identifier: MIT */
#include "chunk_case.h"
#include "log.h"

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
	checksum_shards(&f);
	check_cell(&f, 0, "abcdefghi");
	check_error(&f, 1, -ENOENT);
	check_cell(&f, 3, "abcdefghi");
	CHECK_INT(store.gets, 1);
	tear_down(&f);
}

/* --- room --------------------------------------------------------------------------
 */

struct crowd {
	struct fixture *f;
	unsigned int seed;
};

static void *read_at_random(void *arg)
{
	struct crowd *c = arg;

	for (int i = 0; i < 100; i++) {
		struct zr_chunk *chunk;

		CHECK_INT(zr_source_get(&c->f->source, (uint64_t)rand_r(&c->seed) % 4,
		                        &chunk),
		          0);
		CHECK_MEM(chunk->data.data, chunk->data.len, "abcdefghi", 9);
		zr_chunk_unref(chunk);
	}
	return NULL;
}

/* Shard, index and chunk all need room, and there is never room for two of them. */
static void readers_of_shards_do_not_wait_for_one_another_for_ever(void)
{
	static const uint64_t outer[] = {6, 6}, inner[] = {3, 3};
	const uint64_t pairs[8] = {0, 9, 0, 9, 0, 9, 0, 9};
	char shard[9 + 64 + 4] = "abcdefghi";

	put_index(shard + 9, pairs, false);
	zr_store_uint(shard + 73, zr_crc32c(shard, 73), 4, false);
	for (int whole = 0; whole < 2; whole++) {
		struct fake_object objects[] = {{"a/c/0/0", shard, whole ? 77 : 73, 0}};
		struct fake_store store = FAKE_STORE(objects);
		struct crowd crowd[8];
		pthread_t thread[8];
		struct fixture f;

		set_up(&f, &store, make_array(outer, inner), false);
		zr_source_done(&f.source);
		zr_cache_free(f.cache);
		f.cache = zr_cache_new(1);
		CHECK_INT(zr_source_init(&f.source, &store.base, "a", f.array, f.cache,
		                         f.gate, 1, false),
		          0);
		if (whole)
			checksum_shards(&f);
		for (unsigned int i = 0; i < 8; i++) {
			crowd[i] = (struct crowd){&f, i};
			CHECK_INT(pthread_create(&thread[i], NULL, read_at_random,
			                         &crowd[i]),
			          0);
		}
		for (unsigned int i = 0; i < 8; i++)
			pthread_join(thread[i], NULL);
		tear_down(&f);
	}
}

/* gzip (RFC 1952) with a long comment in its header and one stored block. */
static const uint8_t *long_gzip(size_t *ret_len)
{
	static const uint8_t head[10] = {0x1f, 0x8b, 8, 0x10};
	static const uint8_t tail[] = {0,    1,    9,    0,   0xf6, 0xff, '1', '2',
	                               '3',  '4',  '5',  '6', '7',  '8',  '9', 0x26,
	                               0x39, 0xf4, 0xcb, 9,   0,    0,    0};
	static uint8_t stored[sizeof(head) + 100000 + sizeof(tail)];

	memcpy(stored, head, sizeof(head));
	memset(stored + sizeof(head), 'x', 100000);
	memcpy(stored + sizeof(head) + 100000, tail, sizeof(tail));
	*ret_len = sizeof(stored);
	return stored;
}

static void more_may_be_stored_than_is_usual(void)
{
	static const uint64_t outer[] = {3, 3};
	struct fake_object objects[] = {{.key = "a/c/0/0"}};
	struct fake_store store = FAKE_STORE(objects);
	struct zr_cache_stats stats;
	struct fixture f;

	objects[0].data = long_gzip(&objects[0].len);
	set_up(&f, &store, make_array(outer, NULL), false);
	CHECK_INT(zr_codecs_add_gzip(f.array->levels[0].codecs, "gzip"), 0);
	check_cell(&f, 0, "123456789");
	zr_cache_get_stats(f.cache, &stats);
	CHECK(stats.peak > 100000); /* what is stored was counted, too */
	tear_down(&f);
}

static void *read_the_first(void *arg)
{
	struct fixture *f = arg;

	for (int i = 0; i < 50; i++)
		check_cell(f, 0, "123456789");
	return NULL;
}

/* That somebody else found it too large to begin with is no answer. */
static void more_than_is_usual_is_found_by_many_readers(void)
{
	static const uint64_t outer[] = {3, 3};
	struct fake_object objects[] = {{.key = "a/c/0/0"}};
	struct fake_store store = FAKE_STORE(objects);
	pthread_t thread[8];
	struct fixture f;

	objects[0].data = long_gzip(&objects[0].len);
	set_up(&f, &store, make_array(outer, NULL), false);
	zr_source_done(&f.source);
	zr_cache_free(f.cache);
	f.cache = zr_cache_new(1); /* each reads it */
	CHECK_INT(zr_source_init(&f.source, &store.base, "a", f.array, f.cache, f.gate, 1,
	                         false),
	          0);
	CHECK_INT(zr_codecs_add_gzip(f.array->levels[0].codecs, "gzip"), 0);
	for (unsigned int i = 0; i < ZR_COUNT(thread); i++)
		CHECK_INT(pthread_create(&thread[i], NULL, read_the_first, &f), 0);
	for (unsigned int i = 0; i < ZR_COUNT(thread); i++)
		pthread_join(thread[i], NULL);
	tear_down(&f);
}

static void more_than_any_codec_makes_is_not_read(void)
{
	static const uint64_t outer[] = {3, 3};
	struct fake_object objects[] = {{"a/c/0/0", "", SIZE_MAX / 2, 0}};
	struct fake_store store = FAKE_STORE(objects);
	struct zr_cache_stats stats;
	struct fixture f;

	set_up(&f, &store, make_array(outer, NULL), false);
	CHECK_INT(zr_codecs_add_gzip(f.array->levels[0].codecs, "gzip"), 0);
	check_error(&f, 0, -EUCLEAN);
	zr_cache_get_stats(f.cache, &stats);
	CHECK(stats.peak < 3 << 20);
	tear_down(&f);
}

/* Nine strings, the first of three million bytes. */
static void text_may_be_longer_than_is_usual(void)
{
	static const uint64_t outer[] = {3, 3};
	static uint8_t stored[4 + 9 * 4 + 3000000];
	struct fake_object objects[] = {{"a/c/0/0", stored, sizeof(stored), 0}};
	struct fake_store store = FAKE_STORE(objects);
	struct zr_array *a = make_array(outer, NULL);
	struct zr_item *items;
	struct zr_chunk *c;
	struct fixture f;

	a->type = (struct zr_type){.kind = ZR_STRING, .size = sizeof(struct zr_item)};
	zr_store_uint(stored, 9, 4, false);
	zr_store_uint(stored + 4, 3000000, 4, false);
	memset(stored + 8, 'x', 3000000);
	set_up(&f, &store, a, false);
	CHECK_INT(zr_source_get(&f.source, 0, &c), 0);
	items = (struct zr_item *)c->data.data;
	CHECK(items[0].len == 3000000 && items[0].data[2999999] == 'x');
	CHECK(items[8].len == 0);
	zr_chunk_unref(c);
	tear_down(&f);
}

/* --- what is not stored ---------------------------------------------------------------
 */

static void what_is_known_not_to_be_stored_is_not_asked_for(void)
{
	static const uint64_t outer[] = {2, 2};
	static struct fake_object objects[] = {{"a/c/1/1", "1234", 4, 0}};
	struct fake_store store = FAKE_STORE(objects);
	const struct zr_present *p;
	struct zr_run run;
	struct fixture f;

	set_up(&f, &store, make_array(outer, NULL), false);
	zr_grid_run(&f.source.grid, 0, &run);
	CHECK_INT(zr_source_unstored(&f.source, &run), 0); /* who knows */
	CHECK_INT(zr_source_list(&f.source, &p), 0);
	CHECK_INT(zr_present_count(p), 1);
	CHECK_INT(zr_source_list(&f.source, &p), 0);
	CHECK_INT(store.lists, 2); /* c and c/1, once */
	check_error(&f, 0, -ENOENT);
	CHECK_INT(store.gets, 0);
	check_cell(&f, 4, "1234");
	CHECK_INT(zr_source_unstored(&f.source, &run), 6);
	for (uint64_t record = 12; record < 18; record++) {
		static const uint64_t want[] = {2, 1, 0, 0, 2, 1};

		zr_grid_run(&f.source.grid, record, &run);
		CHECK_INT(zr_source_unstored(&f.source, &run), want[record - 12]);
	}
	tear_down(&f);
}

static void after_many_questions_for_nothing_the_chunks_are_listed(void)
{
	static const uint64_t outer[] = {2, 2};
	static struct fake_object objects[] = {{"a/c/1/1", "1234", 4, 0}};
	struct fake_store store = FAKE_STORE(objects);
	struct fixture f;

	set_up(&f, &store, make_array(outer, NULL), false);
	for (int i = 0; i < 3000; i++)
		check_error(&f, 0, -ENOENT);
	CHECK(store.gets <= 1000);
	CHECK_INT(store.lists, 2);
	check_cell(&f, 4, "1234");
	tear_down(&f);
}

static void a_missing_chunk_is_an_error_also_when_that_is_known(void)
{
	static const uint64_t outer[] = {2, 2};
	static struct fake_object objects[] = {{"a/c/1/1", "1234", 4, 0}};
	struct fake_store store = FAKE_STORE(objects);
	const struct zr_present *p;
	struct fixture f;

	set_up(&f, &store, make_array(outer, NULL), true);
	CHECK_INT(zr_source_list(&f.source, &p), 0);
	check_error(&f, 0, -EUCLEAN);
	tear_down(&f);
}

/* --- derived --------------------------------------------------------------------------
 */

/* Records of 8 bytes: 2 x 16 cells of 8 x 8 records; byte b of record (i, j) is
 * i * 128 + j + b. */
static struct zr_array *make_wide(void)
{
	static const uint64_t outer[] = {8, 8};
	struct zr_array *a = make_array(outer, NULL);

	a->nrecords = 2048;
	a->shape[0] = 16;
	a->shape[1] = 128;
	a->type = (struct zr_type){.kind = ZR_RAW, .size = 8};
	free(a->fill);
	a->fill = calloc(1, 8);
	return a;
}

struct wide {
	struct fake_object objects[32];
	char keys[32][16];
	uint8_t data[32][512];
};

static void fill_wide(struct wide *w)
{
	for (int c = 0; c < 32; c++) {
		for (int n = 0; n < 512; n++) {
			int i = c / 16 * 8 + n / 64, j = c % 16 * 8 + n / 8 % 8;

			w->data[c][n] = (uint8_t)(i * 128 + j + n % 8);
		}
		sprintf(w->keys[c], "a/c/%d/%d", c / 16, c % 16);
		w->objects[c] = (struct fake_object){w->keys[c], w->data[c], 512, 0};
	}
}

static void set_up_wide(struct fixture *f, struct fake_store *store, size_t budget)
{
	f->store = store;
	f->cache = zr_cache_new(budget);
	f->gate = zr_gate_new(1);
	f->array = make_wide();
	CHECK_INT(zr_source_init(&f->source, &store->base, "a", f->array, f->cache,
	                         f->gate, 1, false),
	          0);
}

/* Row by row, `bytes` bytes from `first` on of each record. */
static void read_rows(struct fixture *f, uint64_t first, uint64_t bytes)
{
	for (uint64_t r = 0; r < 2048; r += 8) {
		struct zr_chunk *c;
		struct zr_run run;
		uint64_t size;

		zr_grid_run(&f->source.grid, r, &run);
		CHECK_INT(run.count, 8);
		CHECK_INT(
			zr_source_get_part(&f->source, run.cell, first, bytes, &c, &size),
			0);
		for (uint64_t i = 0; i < 8; i++)
			for (uint64_t b = first; b < first + bytes; b++)
				CHECK_INT(c->data.data[(run.first + i * run.step) * size +
				                       b],
				          (uint8_t)(r + i + b));
		zr_chunk_unref(c);
	}
}

static void of_rows_that_exceed_the_cache_only_the_part_is_kept(void)
{
	static struct wide w;
	static const struct {
		size_t budget;
		uint64_t first, bytes;
		int decoded;
	} row[] = {
		{1 << 20, 2, 2, 32}, /* all fits */
		{12000, 2, 2, 32},   /* a row of cells takes 8192 bytes, of parts 2080 */
		{12000, 0, 8, 8 * 32}, /* nothing to be saved: once for each row */
	};

	fill_wide(&w);
	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct fake_store store = FAKE_STORE(w.objects);
		struct fixture f;

		set_up_wide(&f, &store, row[i].budget);
		CHECK_INT(f.source.rows_exceed, row[i].budget == 12000);
		read_rows(&f, row[i].first, row[i].bytes);
		CHECK_INT(store.gets, row[i].decoded);
		tear_down(&f);
	}
}

static int make_sum(void *arg, const struct zr_chunk *cell, struct zr_chunk *ret)
{
	uint64_t sum = 0;

	++*(int *)arg;
	for (size_t i = 0; i < cell->data.len; i++)
		sum += cell->data.data[i];
	zr_buf_add(&ret->data, &sum, sizeof(sum));
	return zr_buf_check(&ret->data);
}

static void what_was_made_of_a_cell_is_kept(void)
{
	static const uint64_t outer[] = {3, 3};
	static struct fake_object objects[] = {{"a/c/0/0", "123456789", 9, 0},
	                                       {"a/c/0/1", "12", 2, 0}};
	struct fake_store store = FAKE_STORE(objects);
	struct zr_chunk *c, *again;
	struct fixture f;
	uint64_t sum;
	int made = 0;

	set_up(&f, &store, make_array(outer, NULL), false);
	CHECK(!zr_source_peek_derived(&f.source, 7, 8));
	CHECK_INT(zr_source_derive(&f.source, 0, 7, 8, 100, make_sum, &made, &c), 0);
	memcpy(&sum, c->data.data, sizeof(sum));
	CHECK_INT(sum, 477);
	CHECK_INT(zr_source_derive(&f.source, 0, 7, 8, 100, make_sum, &made, &again), 0);
	CHECK(c == again);
	CHECK_INT(made, 1);
	zr_chunk_unref(again);
	again = zr_source_peek_derived(&f.source, 7, 8);
	CHECK(c == again);
	zr_chunk_unref(again);
	zr_chunk_unref(c);
	check_cell(&f, 0, "123456789"); /* another thing */
	CHECK_INT(zr_source_derive(&f.source, 1, 7, 9, 100, make_sum, &made, &c),
	          -EUCLEAN);
	CHECK_INT(zr_source_derive(&f.source, 2, 7, 9, 100, make_sum, &made, &c),
	          -ENOENT);
	CHECK_INT(made, 1);
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
	RUN(readers_of_shards_do_not_wait_for_one_another_for_ever);
	RUN(more_may_be_stored_than_is_usual);
	RUN(more_than_is_usual_is_found_by_many_readers);
	RUN(more_than_any_codec_makes_is_not_read);
	RUN(text_may_be_longer_than_is_usual);
	RUN(what_is_known_not_to_be_stored_is_not_asked_for);
	RUN(after_many_questions_for_nothing_the_chunks_are_listed);
	RUN(a_missing_chunk_is_an_error_also_when_that_is_known);
	RUN(of_rows_that_exceed_the_cache_only_the_part_is_kept);
	RUN(what_was_made_of_a_cell_is_kept);
	return EXIT_SUCCESS;
}
