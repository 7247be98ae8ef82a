/* SPDX-License-Identifier: MIT */
/*
 * Shards: what of them is damaged, and the room that copies out of them take.
 */
#include "asleep.h"
#include "chunk_case.h"
#include "chunk_impl.h"
#include "log.h"

static const uint64_t outer[] = {6, 6}, inner[] = {3, 3};

/* --- damage ---------------------------------------------------------------------------
 */

struct lines {
	int count;
	char last[300];
};

static void count_line(void *arg, const char *text)
{
	struct lines *l = arg;

	l->count++;
	snprintf(l->last, sizeof(l->last), "%s", text);
}

/* Shards of four cells. Of a shard, damaged as a whole: it is read once and named once,
 * whichever of its cells are asked for; of a cell: likewise, and the others are read. */
static void damage_is_said_once_of_what_is_damaged(void)
{
	const uint64_t pairs[8] = {0, 9, 0, 8, 0, 8, 0, 9};
	char sound[9 + 64 + 4] = "abcdefghi", broken[sizeof(sound)];
	struct fake_object object[] = {{.key = "a/c/0/0"}};
	static const struct {
		bool encoded, broken;
		size_t len; /* 0: all */
		int fail, lines, gets;
		const char *says; /* NULL: nothing is stored, which is an error */
	} row[] = {
		{true, true, 0, 0, 1, 1, "crc32c"},
		{true, false, 10, 0, 1, 1, "crc32c"},
		{true, false, 0, -EISDIR, 1, 1, "Is a directory"},
		{true, false, 0, 0, 2, 1, "8 bytes are stored"},
		{false, false, 10, 0, 1, 0, "its index alone takes 64"},
		{false, true, 73, 0, 2, 5, "8 bytes are stored"},
		{false, false, 0, 0, 1, 0, NULL},
	};

	put_index(sound + 9, pairs, false);
	zr_store_uint(sound + 73, zr_crc32c(sound, 73), 4, false);
	memcpy(broken, sound, sizeof(sound));
	broken[0] ^= 1;
	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct fake_store store = FAKE_STORE(object);
		struct lines lines = {0};
		struct fixture f;

		store.count = row[i].says ? 1 : 0;
		object[0].data = row[i].broken ? broken : sound;
		object[0].len = row[i].len ? row[i].len : sizeof(sound);
		object[0].fail = row[i].fail;
		set_up(&f, &store, make_array(outer, inner), true);
		if (row[i].encoded)
			checksum_shards(&f);
		zr_log_to_function(count_line, &lines);
		for (uint64_t n = 0; n < 8; n++) {
			struct zr_chunk *c = NULL;
			bool reads = row[i].lines == 2 && (n % 4 == 0 || n % 4 == 3);

			CHECK_INT(zr_source_get(&f.source, n % 4, &c),
			          reads ? 0 : -EUCLEAN);
			zr_chunk_unref(c);
		}
		zr_log_to_function(NULL, NULL);
		CHECK_INT(lines.count, row[i].lines);
		CHECK(strstr(lines.last, row[i].says ? row[i].says : "it is missing"));
		CHECK(strstr(lines.last, "'/a'") && strstr(lines.last, "'c/0/0'"));
		if (row[i].gets)
			CHECK_INT(store.gets, row[i].gets);
		tear_down(&f);
	}
}

/* A shard whose index is sound but for one pair: of that cell alone. */
static void a_pair_that_points_outside_is_damage_of_its_cell(void)
{
	const uint64_t pairs[8] = {0, 9, 74, 9, 0, 9, 0, 9};
	char shard[9 + 64 + 4] = "abcdefghi";

	put_index(shard + 9, pairs, false);
	zr_store_uint(shard + 73, zr_crc32c(shard, 73), 4, false);
	for (int encoded = 0; encoded < 2; encoded++) {
		struct fake_object o[] = {{"a/c/0/0", shard, encoded ? 77 : 73, 0}};
		struct fake_store store = FAKE_STORE(o);
		struct lines lines = {0};
		struct fixture f;

		set_up(&f, &store, make_array(outer, inner), false);
		if (encoded)
			checksum_shards(&f);
		zr_log_to_function(count_line, &lines);
		for (uint64_t n = 0; n < 8; n++)
			if (n % 4 == 1)
				check_error(&f, 1, -EUCLEAN);
			else
				check_cell(&f, n % 4, "abcdefghi");
		zr_log_to_function(NULL, NULL);
		CHECK_INT(lines.count, 1);
		CHECK(strstr(lines.last, "points outside"));
		tear_down(&f);
	}
}

/* Two shards, of which one is damaged as a whole. */
static void damage_of_a_shard_is_not_that_of_another(void)
{
	static const uint64_t half[] = {3, 6};
	const uint64_t pairs[4] = {0, 9, 0, 9};
	char shard[9 + 32 + 4] = "abcdefghi";
	struct fake_object o[] = {{"a/c/0/0", "", 0, 0},
	                          {"a/c/1/0", shard, sizeof(shard), 0}};
	struct fake_store store = FAKE_STORE(o);
	struct fixture f;

	for (size_t i = 0; i < 4; i++)
		zr_store_uint(shard + 9 + 8 * i, pairs[i], 8, false);
	zr_store_uint(shard + 41, zr_crc32c(shard, 41), 4, false);
	set_up(&f, &store, make_array(half, inner), false);
	checksum_shards(&f);
	for (uint64_t n = 0; n < 8; n++)
		if (n % 4 < 2)
			check_error(&f, n % 4, -EUCLEAN);
		else
			check_cell(&f, n % 4, "abcdefghi");
	tear_down(&f);
}

/* Its index is in the cache, and says of another one where things lie. */
static void a_shard_that_was_replaced_is_not_read(void)
{
	const uint64_t pairs[8] = {0, 9, 9, 9, 18, 9, 27, 9};
	const uint64_t turned[8] = {27, 9, 18, 9, 9, 9, 0, 9};
	char first[36 + 64 + 1] = "aaaaaaaaabbbbbbbbbcccccccccddddddddd";
	char second[sizeof(first)] = "DDDDDDDDDCCCCCCCCCBBBBBBBBBAAAAAAAAA";
	struct fake_object o[] = {{"a/c/0/0", first, 100, 0}};
	struct fake_store store = FAKE_STORE(o);
	struct lines lines = {0};
	struct fixture f;

	put_index(first + 36, pairs, false);
	put_index(second + 36, turned, false);
	set_up(&f, &store, make_array(outer, inner), false);
	check_cell(&f, 0, "aaaaaaaaa");
	o[0].data = second;
	store.ino = 2;
	zr_log_to_function(count_line, &lines);
	check_error(&f, 1, -EIO);
	check_error(&f, 3, -EIO);
	check_cell(&f, 0, "aaaaaaaaa");
	zr_log_to_function(NULL, NULL);
	CHECK_INT(lines.count, 1);
	CHECK(strstr(lines.last, "'c/0/0' cannot be read: the shard was changed"));
	o[0].data = first;
	store.ino = 0;
	check_cell(&f, 1, "bbbbbbbbb");
	tear_down(&f);

	o[0].data = second;
	store.ino = 2;
	set_up(&f, &store, make_array(outer, inner), false);
	check_cell(&f, 1, "BBBBBBBBB");
	tear_down(&f);
}

/* Cells of an array that is not that large: nothing is read of them here. */
static void so_much_damage_is_remembered_and_named(void)
{
	static const uint64_t small[] = {3, 3};
	const uint64_t most = 1 << 20;
	struct fake_store store = {.base = {.ops = &fake_ops, .refs = 1}};
	struct zr_err err = {.code = -EUCLEAN, .text = "cut"};
	struct lines lines = {0};
	struct fixture f;

	set_up(&f, &store, make_array(small, NULL), false);
	zr_log_to_function(count_line, &lines);
	for (uint64_t n = 0; n < most; n++)
		CHECK_INT(zr_damage_note(&f.source, n, "c/0", -EUCLEAN, &err), -EUCLEAN);
	CHECK_INT(lines.count, most + 1);
	CHECK(zr_damage_known(&f.source, most - 1));
	CHECK_INT(zr_damage_note(&f.source, most, "c/0", -EUCLEAN, &err), -EUCLEAN);
	CHECK_INT(lines.count, most + 1);
	CHECK(!zr_damage_known(&f.source, most));
	zr_log_to_function(NULL, NULL);
	tear_down(&f);
}

/* It is no chunk that was never written; nor is it damaged for ever. */
static void a_chunk_that_was_listed_and_has_gone_is_an_error(void)
{
	static const uint64_t small[] = {2, 2}, half[] = {6, 3};
	const uint64_t pairs[4] = {0, 9, UINT64_MAX, UINT64_MAX};
	char shard[9 + 32] = "abcdefghi";
	struct fake_object objects[] = {{"a/c/1/1", "1234", 4, 0}};
	struct fake_object shards[] = {{"a/c/0/1", shard, sizeof(shard), 0}};
	struct fake_store store = FAKE_STORE(objects), sharded = FAKE_STORE(shards);
	const struct zr_present *p;
	struct fixture f;

	set_up(&f, &store, make_array(small, NULL), false);
	CHECK_INT(zr_source_list(&f.source, &p), 0);
	objects[0].key = "elsewhere";
	check_error(&f, 4, -EIO);
	check_error(&f, 4, -EIO);
	check_error(&f, 0, -ENOENT);
	objects[0].key = "a/c/1/1";
	check_cell(&f, 4, "1234");
	tear_down(&f);

	for (size_t i = 0; i < 4; i++)
		zr_store_uint(shard + 9 + 8 * i, pairs[i], 8, false);
	for (int gone = 0; gone < 2; gone++) {
		set_up(&f, &sharded, make_array(half, inner), false);
		CHECK_INT(zr_source_list(&f.source, &p), 0);
		if (gone)
			shards[0].key = "elsewhere";
		check_error(&f, 3, gone ? -EIO : -ENOENT);
		check_error(&f, 3, gone ? -EIO : -ENOENT);
		tear_down(&f);
	}
}

/* --- room for copies ------------------------------------------------------------------
 */

#define HALF ((uint64_t)16 << 20) /* of all that may be held */

struct holder {
	pthread_t thread;
	struct sleeper at;
	struct zr_spot spot;
	uint64_t bytes;
};

static void *holder_main(void *arg)
{
	struct holder *h = arg;

	sleeper_begin(&h->at);
	zr_spot_hold(&h->spot, h->bytes);
	sleeper_end(&h->at);
	return NULL;
}

static void holder_start(struct holder *h, uint64_t bytes)
{
	*h = (struct holder){.bytes = bytes};
	CHECK_INT(pthread_create(&h->thread, NULL, holder_main, h), 0);
}

static void holder_end(struct holder *h)
{
	pthread_join(h->thread, NULL);
	zr_spot_done(&h->spot);
}

static void readers_hold_so_much_together_or_one_of_them_more(void)
{
	struct zr_spot one = {0}, two = {0};
	struct holder three, huge;

	zr_spot_hold(&one, HALF);
	zr_spot_hold(&two, HALF);
	holder_start(&three, 1);
	CHECK(!sleeper_ends(&three.at));
	zr_spot_done(&one);
	pthread_join(three.thread, NULL);
	zr_spot_done(&two);

	holder_start(&huge, 8 * HALF);
	CHECK(!sleeper_ends(&huge.at)); /* one byte is held */
	zr_spot_done(&three.spot);
	holder_end(&huge);

	zr_spot_hold(&one, 2 * HALF); /* nothing is held any more */
	zr_spot_done(&one);
}

struct reader {
	struct fixture *f;
	struct sleeper at;
};

static void *read_cell(void *arg)
{
	struct reader *r = arg;

	sleeper_begin(&r->at);
	check_cell(r->f, 0, "abcdefghi");
	sleeper_end(&r->at);
	return NULL;
}

/* Who reads out of a shard that was encoded as a whole holds copies, and nobody else. */
static void copies_out_of_shards_are_held(void)
{
	const uint64_t pairs[8] = {0, 9, 0, 9, 0, 9, 0, 9};
	char shard[9 + 64 + 4] = "abcdefghi";

	put_index(shard + 9, pairs, false);
	zr_store_uint(shard + 73, zr_crc32c(shard, 73), 4, false);
	for (int encoded = 0; encoded < 2; encoded++) {
		struct fake_object o[] = {{"a/c/0/0", shard, encoded ? 77 : 73, 0}};
		struct fake_store store = FAKE_STORE(o);
		struct zr_spot all = {0};
		struct fixture f;
		struct reader r = {.f = &f};
		pthread_t thread;

		set_up(&f, &store, make_array(outer, inner), false);
		if (encoded)
			checksum_shards(&f);
		zr_spot_hold(&all, 2 * HALF);
		CHECK_INT(pthread_create(&thread, NULL, read_cell, &r), 0);
		if (encoded)
			CHECK(!sleeper_ends(&r.at));
		else
			pthread_join(thread, NULL);
		zr_spot_done(&all);
		if (encoded)
			pthread_join(thread, NULL);
		zr_spot_hold(&all, 2 * HALF); /* it holds nothing any more */
		zr_spot_done(&all);
		tear_down(&f);
	}
}

int main(void)
{
	zr_log_set_level(ZR_LOG_ERROR);
	RUN(damage_is_said_once_of_what_is_damaged);
	RUN(a_pair_that_points_outside_is_damage_of_its_cell);
	RUN(damage_of_a_shard_is_not_that_of_another);
	RUN(a_shard_that_was_replaced_is_not_read);
	RUN(so_much_damage_is_remembered_and_named);
	RUN(a_chunk_that_was_listed_and_has_gone_is_an_error);
	RUN(readers_hold_so_much_together_or_one_of_them_more);
	RUN(copies_out_of_shards_are_held);
	return EXIT_SUCCESS;
}
