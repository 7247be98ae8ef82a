/* SPDX-License-Identifier: MIT */
#include "cache.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "test.h"

struct maker {
	size_t bytes;
	int fail;
	unsigned int delay_us;
	atomic_int loads;
	atomic_int at_once, most_at_once;
};

static int make_chunk(void *arg, struct zr_chunk *chunk, struct zr_err *reterr)
{
	struct maker *m = arg;
	int now = ++m->at_once;

	m->loads++;
	if (now > m->most_at_once)
		m->most_at_once = now;
	if (m->delay_us)
		usleep(m->delay_us);
	m->at_once--;
	if (m->fail)
		return zr_err_set(reterr, m->fail, "as told");
	CHECK_INT(zr_buf_reserve(&chunk->data, m->bytes), 0);
	memset(chunk->data.data, 'x', m->bytes);
	chunk->data.len = m->bytes;
	return 0;
}

static int fail_silently(void *arg, struct zr_chunk *chunk, struct zr_err *reterr)
{
	(void)arg;
	(void)chunk;
	(void)reterr;
	return -EISDIR;
}

static struct zr_cache_key key(uint64_t owner, uint64_t id)
{
	return (struct zr_cache_key){.owner = owner, .id = id};
}

static int get(struct zr_cache *c, struct maker *m, uint64_t id, struct zr_chunk **ret)
{
	struct zr_cache_key k = key(1, id);

	return zr_cache_get(c, &k, m->bytes, make_chunk, m, ret, NULL);
}

static void a_chunk_is_loaded_once(void)
{
	struct zr_cache *c = zr_cache_new(1 << 20);
	struct maker m = {.bytes = 1000};
	struct zr_chunk *a, *b;

	CHECK_INT(get(c, &m, 5, &a), 0);
	CHECK_INT(get(c, &m, 5, &b), 0);
	CHECK(a == b);
	CHECK_INT(m.loads, 1);
	zr_chunk_unref(a);
	zr_chunk_unref(b);
	zr_cache_free(c);
}

static void a_load_that_fails_leaves_no_trace(void)
{
	struct zr_cache *c = zr_cache_new(1 << 20);
	struct maker m = {.bytes = 1000, .fail = -EIO};
	struct zr_chunk *a = NULL;
	struct zr_cache_key k = key(1, 5);
	struct zr_cache_stats stats;
	struct zr_err err = {0};

	CHECK_INT(zr_cache_get(c, &k, 1000, make_chunk, &m, &a, &err), -EIO);
	CHECK(a == NULL);
	CHECK_STR(err.text, "as told");
	CHECK(zr_cache_peek(c, &k) == NULL);
	zr_cache_get_stats(c, &stats);
	CHECK_INT(stats.bytes, 0);
	m.fail = 0;
	CHECK_INT(get(c, &m, 5, &a), 0); /* fails, then works */
	zr_chunk_unref(a);
	zr_cache_free(c);
}

static void the_least_recently_used_goes_first(void)
{
	struct zr_cache *c = zr_cache_new(12000);
	struct maker m = {.bytes = 3000};
	struct zr_cache_key one = key(1, 1), two = key(1, 2);
	struct zr_chunk *a;

	for (uint64_t id = 1; id <= 2; id++) {
		CHECK_INT(get(c, &m, id, &a), 0);
		zr_chunk_unref(a);
	}
	CHECK_INT(get(c, &m, 1, &a), 0); /* 1 was used last */
	zr_chunk_unref(a);
	CHECK_INT(get(c, &m, 3, &a), 0);
	zr_chunk_unref(a);
	CHECK_INT(get(c, &m, 4, &a), 0);
	zr_chunk_unref(a);
	a = zr_cache_peek(c, &one);
	CHECK(a);
	zr_chunk_unref(a);
	CHECK(zr_cache_peek(c, &two) == NULL);
	zr_cache_free(c);
}

static void a_chunk_in_use_outlives_its_eviction(void)
{
	struct zr_cache *c = zr_cache_new(5000);
	struct maker m = {.bytes = 4000};
	struct zr_chunk *held, *other = NULL;
	struct zr_cache_key k1 = key(1, 1);
	struct zr_cache_stats stats;

	CHECK_INT(get(c, &m, 1, &held), 0);
	/* Without an estimate nobody waits; the held one must go from the cache. */
	k1.id = 2;
	CHECK_INT(zr_cache_get(c, &k1, 0, make_chunk, &m, &other, NULL), 0);
	CHECK(held->data.data[3999] == 'x');
	zr_cache_get_stats(c, &stats);
	CHECK(stats.bytes > 8000); /* what is in use counts */
	zr_chunk_unref(held);
	zr_chunk_unref(other);
	zr_cache_get_stats(c, &stats);
	CHECK(stats.bytes < 5000 + 1000);
	zr_cache_free(c);
}

static void one_chunk_may_exceed_the_budget(void)
{
	struct zr_cache *c = zr_cache_new(1000);
	struct maker m = {.bytes = 50000};
	struct zr_chunk *a;

	CHECK_INT(get(c, &m, 1, &a), 0);
	zr_chunk_unref(a);
	CHECK_INT(get(c, &m, 2, &a), 0);
	zr_chunk_unref(a);
	CHECK_INT(m.loads, 2);
	zr_cache_free(c);
}

/* Twice through eight chunks, where four fit. */
static void a_scan_leaves_the_first_chunks_in_place(void)
{
	struct zr_cache *c = zr_cache_new(5 * 4000);
	struct maker m = {.bytes = 4000};
	struct zr_chunk *a;

	for (uint64_t id = 0; id < 8; id++) {
		struct zr_cache_key k = key(1, id);

		CHECK_INT(zr_cache_scan(c, &k, m.bytes, make_chunk, &m, &a, NULL), 0);
		zr_chunk_unref(a);
	}
	CHECK_INT(m.loads, 8);
	for (uint64_t id = 0; id < 3; id++) {
		CHECK_INT(get(c, &m, id, &a), 0);
		zr_chunk_unref(a);
	}
	CHECK_INT(m.loads, 8);
	zr_cache_free(c);
}

/* As the index of a shard, which is asked for before each of its chunks. */
static void a_scan_keeps_what_it_needs_for_its_chunks(void)
{
	struct zr_cache *c = zr_cache_new(5 * 4000);
	struct maker m = {.bytes = 4000}, index = {.bytes = 100};
	struct zr_cache_key help = {.owner = 1, .kind = 1};
	struct zr_chunk *a;

	for (uint64_t id = 0; id < 20; id++) {
		struct zr_cache_key k = key(1, id);

		CHECK_INT(zr_cache_get(c, &help, 100, make_chunk, &index, &a, NULL), 0);
		zr_chunk_unref(a);
		CHECK_INT(zr_cache_scan(c, &k, m.bytes, make_chunk, &m, &a, NULL), 0);
		zr_chunk_unref(a);
	}
	CHECK_INT(index.loads, 1);
	zr_cache_free(c);
}

static void a_scan_takes_the_room_of_others(void)
{
	struct zr_cache *c = zr_cache_new(5 * 4000);
	struct maker m = {.bytes = 4000};
	struct zr_cache_key other = key(2, 0);
	struct zr_chunk *a;

	CHECK_INT(zr_cache_get(c, &other, m.bytes, make_chunk, &m, &a, NULL), 0);
	zr_chunk_unref(a);
	for (uint64_t id = 0; id < 8; id++) {
		struct zr_cache_key k = key(1, id);

		CHECK_INT(zr_cache_scan(c, &k, m.bytes, make_chunk, &m, &a, NULL), 0);
		zr_chunk_unref(a);
	}
	CHECK(zr_cache_peek(c, &other) == NULL);
	zr_cache_free(c);
}

static void what_belongs_to_an_owner_can_be_forgotten(void)
{
	struct zr_cache *c = zr_cache_new(1 << 20);
	struct maker m = {.bytes = 100};
	struct zr_cache_key mine = key(1, 1), other = key(2, 1);
	struct zr_chunk *a;

	CHECK_INT(zr_cache_get(c, &mine, 100, make_chunk, &m, &a, NULL), 0);
	zr_chunk_unref(a);
	CHECK_INT(zr_cache_get(c, &other, 100, make_chunk, &m, &a, NULL), 0);
	zr_chunk_unref(a);
	zr_cache_forget(c, 1);
	CHECK(zr_cache_peek(c, &mine) == NULL);
	a = zr_cache_peek(c, &other);
	CHECK(a);
	zr_chunk_unref(a);
	zr_cache_free(c);
}

static void an_error_without_a_text_is_named(void)
{
	struct zr_cache *c = zr_cache_new(1 << 20);
	struct zr_cache_key k = key(1, 5);
	struct zr_chunk *a = NULL;
	struct zr_err err = {0};

	CHECK_INT(zr_cache_get(c, &k, 1, fail_silently, NULL, &a, &err), -EISDIR);
	CHECK_INT(err.code, -EISDIR);
	CHECK_STR(err.text, strerror(EISDIR));
	zr_cache_free(c);
}

struct reader {
	struct zr_cache *c;
	struct maker *m;
	unsigned int seed;
	uint64_t ids;
	int want;
};

static void *read_many(void *arg)
{
	struct reader *r = arg;

	for (int i = 0; i < 300; i++) {
		struct zr_chunk *a = NULL;
		uint64_t id = (uint64_t)rand_r(&r->seed) % r->ids;

		CHECK_INT(get(r->c, r->m, id, &a), r->want);
		if (a) {
			CHECK(a->data.data[r->m->bytes - 1] == 'x');
			zr_chunk_unref(a);
		}
	}
	return NULL;
}

static void run_readers(struct zr_cache *c, struct maker *m, uint64_t ids, int want)
{
	struct reader r[8];
	pthread_t t[8];

	for (unsigned int i = 0; i < 8; i++) {
		r[i] = (struct reader){c, m, i, ids, want};
		CHECK_INT(pthread_create(&t[i], NULL, read_many, &r[i]), 0);
	}
	for (unsigned int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
}

static void many_readers_share_one_load(void)
{
	struct zr_cache *c = zr_cache_new(1 << 20);
	struct maker m = {.bytes = 1000, .delay_us = 20000};

	run_readers(c, &m, 1, 0);
	CHECK_INT(m.loads, 1);
	zr_cache_free(c);
}

static void many_readers_stay_within_the_budget(void)
{
	struct zr_cache *c = zr_cache_new(20000);
	struct maker m = {.bytes = 5000, .delay_us = 10};
	struct zr_cache_stats stats;

	run_readers(c, &m, 40, 0);
	zr_cache_get_stats(c, &stats);
	CHECK(stats.peak <= 20000);
	CHECK(m.most_at_once <= 3);
	zr_cache_free(c);
}

static void many_readers_survive_a_budget_below_one_chunk(void)
{
	struct zr_cache *c = zr_cache_new(1);
	struct maker m = {.bytes = 5000, .delay_us = 10};
	struct zr_cache_stats stats;

	run_readers(c, &m, 10, 0);
	zr_cache_get_stats(c, &stats);
	CHECK_INT(m.most_at_once, 1); /* and nothing was held beside it */
	CHECK(stats.peak < 2 * 5000);
	zr_cache_free(c);
}

static void many_readers_all_get_the_error(void)
{
	struct zr_cache *c = zr_cache_new(20000);
	struct maker m = {.bytes = 5000, .fail = -EUCLEAN, .delay_us = 10};
	struct zr_cache_stats stats;

	run_readers(c, &m, 3, -EUCLEAN);
	zr_cache_get_stats(c, &stats);
	CHECK_INT(stats.bytes, 0);
	zr_cache_free(c);
}

static atomic_bool over;

static void *read_until_over(void *arg)
{
	struct reader *r = arg;

	while (!over) {
		struct zr_chunk *a;

		CHECK_INT(get(r->c, r->m, (uint64_t)rand_r(&r->seed) % r->ids, &a), 0);
		usleep(100);
		zr_chunk_unref(a);
	}
	return NULL;
}

/* One that needs all the room gets it, though others come and go all the time. */
static void a_large_load_is_not_kept_waiting_for_ever(void)
{
	struct zr_cache *c = zr_cache_new(20000);
	struct maker small = {.bytes = 1000}, large = {.bytes = 30000};
	struct reader r[4];
	struct zr_chunk *a;
	pthread_t t[4];

	over = false;
	for (unsigned int i = 0; i < 4; i++) {
		r[i] = (struct reader){c, &small, i, 100, 0};
		CHECK_INT(pthread_create(&t[i], NULL, read_until_over, &r[i]), 0);
	}
	for (uint64_t id = 1000; id < 1010; id++) {
		CHECK_INT(get(c, &large, id, &a), 0);
		zr_chunk_unref(a);
	}
	over = true;
	for (unsigned int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	zr_cache_free(c);
}

/* A load that fails as soon as somebody waits for it. */
struct doomed {
	struct zr_cache *cache;
	atomic_int loads;
};

static int fail_when_waited_for(void *arg, struct zr_chunk *chunk, struct zr_err *reterr)
{
	struct doomed *d = arg;
	struct zr_cache_stats stats;

	(void)chunk;
	d->loads++;
	do {
		usleep(100);
		zr_cache_get_stats(d->cache, &stats);
	} while (stats.waits == 0);
	return zr_err_set(reterr, -EIO, "the very reason");
}

static void *get_doomed(void *arg)
{
	struct doomed *d = arg;
	struct zr_cache_key k = key(1, 1);
	struct zr_chunk *chunk = NULL;
	struct zr_err err = {0};

	CHECK_INT(zr_cache_get(d->cache, &k, 10, fail_when_waited_for, d, &chunk, &err),
	          -EIO);
	CHECK_STR(err.text, "the very reason");
	CHECK(!chunk);
	return NULL;
}

static void who_waits_for_a_load_that_fails_is_told_why(void)
{
	struct doomed d = {.cache = zr_cache_new(1 << 20)};
	pthread_t t[2];

	CHECK(d.cache);
	for (int i = 0; i < 2; i++)
		CHECK_INT(pthread_create(&t[i], NULL, get_doomed, &d), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	CHECK_INT(d.loads, 1);
	zr_cache_free(d.cache);
}

int main(void)
{
	RUN(a_chunk_is_loaded_once);
	RUN(a_load_that_fails_leaves_no_trace);
	RUN(who_waits_for_a_load_that_fails_is_told_why);
	RUN(the_least_recently_used_goes_first);
	RUN(a_chunk_in_use_outlives_its_eviction);
	RUN(one_chunk_may_exceed_the_budget);
	RUN(a_scan_leaves_the_first_chunks_in_place);
	RUN(a_scan_keeps_what_it_needs_for_its_chunks);
	RUN(a_scan_takes_the_room_of_others);
	RUN(what_belongs_to_an_owner_can_be_forgotten);
	RUN(many_readers_share_one_load);
	RUN(many_readers_stay_within_the_budget);
	RUN(many_readers_survive_a_budget_below_one_chunk);
	RUN(many_readers_all_get_the_error);
	RUN(an_error_without_a_text_is_named);
	RUN(a_large_load_is_not_kept_waiting_for_ever);
	return EXIT_SUCCESS;
}
