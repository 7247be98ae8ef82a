/* SPDX-License-Identifier: MIT */
#include "view.h"

#include "fake_store.h"
#include "log.h"
#include "request.h"

#include <unistd.h>

#define MANY 3000

/* A store that holds one array "a", whose chunks' sizes follow from their numbers. */
struct row_store {
	struct zr_store base; /* first: the code under test sees only this */
	unsigned int count;   /* chunks that are listed */
	useconds_t delay;     /* of each stat */
	int fail;             /* of each stat, or 0 */
	unsigned int stats;
};

static int row_list(struct zr_store *s, const char *key, struct zr_dirlist *ret,
                    struct zr_err *reterr)
{
	struct row_store *row = (struct row_store *)s;
	char name[32];

	(void)reterr;
	CHECK_STR(key, "a/c");
	for (unsigned int i = 0; i < row->count; i++) {
		size_t len = (size_t)snprintf(name, sizeof(name), "%u", i);

		CHECK_INT(zr_dirlist_add(ret, name, len, false), 0);
	}
	zr_dirlist_sort(ret);
	return 0;
}

static uint64_t row_size(uint64_t n)
{
	return n * n * n % 100003;
}

static int row_stat(struct zr_store *s, const char *key, struct zr_stat *ret,
                    struct zr_err *reterr)
{
	struct row_store *row = (struct row_store *)s;

	(void)reterr;
	row->stats++;
	if (row->delay)
		usleep(row->delay);
	if (row->fail)
		return row->fail;
	CHECK(strncmp(key, "a/c/", 4) == 0);
	*ret = (struct zr_stat){.size = row_size(strtoull(key + 4, NULL, 10))};
	return 0;
}

static void row_free(struct zr_store *s)
{
	(void)s;
}

static const struct zr_store_ops row_ops = {
	.list = row_list, .stat = row_stat, .free = row_free};

struct fixture {
	struct zr_cache *cache;
	struct zr_gate *gate;
	struct zr_array *array;
	struct zr_source source;
	atomic_size_t held;
	struct zr_view *view;
};

/* One axis of `n` chunks, or two of 20 x 20. */
static void set_up(struct fixture *f, struct zr_store *store, uint32_t ndim, uint64_t n,
                   unsigned int size_wait, const uint64_t *known)
{
	struct zr_array *a = zr_array_new();

	CHECK(a);
	*f = (struct fixture){
		.cache = zr_cache_new(1 << 20), .gate = zr_gate_new(1), .array = a};
	CHECK(f->cache && f->gate);
	a->zarr_format = 3;
	a->ndim = ndim;
	a->separator = '/';
	a->nrecords = ndim == 2 ? 400 : n;
	a->type = (struct zr_type){.kind = ZR_UINT, .bits = 8, .size = 1};
	a->fill = calloc(1, 1);
	a->nlevels = 1;
	for (uint32_t k = 0; k < ndim; k++) {
		a->shape[k] = ndim == 2 ? 20 : n;
		a->levels[0].chunk[k] = 1;
		a->levels[0].axis[k] = (uint8_t)k;
	}
	CHECK((a->levels[0].codecs = zr_codecs_new()));
	CHECK_INT(zr_source_init(&f->source, store, "a", a, f->cache, f->gate, 1, false),
	          0);
	f->view = zr_view_new_chunks(&f->source, size_wait, known, &f->held);
	CHECK(f->view);
}

static void tear_down(struct fixture *f)
{
	zr_view_free(f->view);
	zr_source_done(&f->source);
	zr_array_unref(f->array);
	zr_cache_free(f->cache);
	zr_gate_free(f->gate);
}

/* Whoever is told that it takes longer asks again, as the queue does. */
static int ask_size(struct fixture *f, uint64_t *ret)
{
	struct zr_ticket ticket = {0};
	int r;

	do
		r = zr_view_size(f->view, &ticket, ret);
	while (r == -EINPROGRESS);
	return r;
}

static int ask_read(struct fixture *f, uint64_t offset, size_t len, char *out,
                    size_t *ret)
{
	struct zr_ticket ticket = {0};
	int r;

	do
		r = zr_view_read(f->view, offset, len, &ticket, NULL, (uint8_t *)out,
		                 ret);
	while (r == -EINPROGRESS);
	return r;
}

/* The file holds `want`, in whatever pieces it is read. */
static void check_text(struct fixture *f, const char *want)
{
	uint64_t size = 0, n = strlen(want);
	char *out = malloc(n + 2);
	size_t got;

	CHECK(out);
	CHECK_INT(ask_size(f, &size), 0);
	CHECK_INT(size, n);
	CHECK(zr_view_peek_size(f->view, &size));
	for (uint64_t at = 0; at <= n; at += 1 + n / 41) {
		for (uint64_t len = 0; len <= n + 1 - at; len += 1 + n / 11) {
			out[ZR_MIN(len, n - at)] = 0x5a;
			CHECK_INT(ask_read(f, at, len, out, &got), 0);
			CHECK_MEM(out, got, want + at, ZR_MIN(len, n - at));
			CHECK_INT(out[got], 0x5a);
		}
	}
	CHECK_INT(ask_read(f, n, 1, out, &got), 0);
	CHECK_INT(got, 0);
	CHECK_INT(ask_read(f, n + 1, 1, out, &got), -EIO);
	free(out);
}

static void chunks_are_listed_in_the_order_of_the_grid(void)
{
	static struct fake_object objects[] = {
		{"a/c/10/2", "12345", 5, 0}, {"a/c/2/10", "", 0, 0},
		{"a/c/2/9", "1", 1, 0},      {"a/c/20/0", "outside", 7, 0},
		{"a/c/2/x", "no key", 6, 0}, {"a/c/0/0", "1234567890", 10, 0},
		{"a/zarr.json", "{}", 2, 0}};
	struct fake_store store = FAKE_STORE(objects);
	struct fixture f;
	uint64_t size;

	set_up(&f, &store.base, 2, 0, 10, NULL);
	CHECK(!zr_view_peek_size(f.view, &size));
	check_text(&f, "c/0/0\t10\nc/2/9\t1\nc/2/10\t0\nc/10/2\t5\n");
	CHECK(f.held > 0);
	tear_down(&f);
}

static void nothing_stored_is_an_empty_file(void)
{
	struct fake_store store = {.base = {.ops = &fake_ops, .refs = 1}};
	struct fixture f;

	set_up(&f, &store.base, 2, 0, 10, NULL);
	check_text(&f, "");
	tear_down(&f);
}

/* Version 2, separator not given: "." is looked for before "/". */
static void either_separator_is_found(void)
{
	static struct fake_object objects[] = {
		{"a/0.1", "123", 3, 0}, {"a/1/0", "12", 2, 0}, {"a/3/19", "", 0, 0}};
	struct fake_store store = FAKE_STORE(objects);
	struct fixture f;

	set_up(&f, &store.base, 2, 0, 10, NULL);
	f.array->v2_keys = true;
	f.array->separator = '.';
	f.array->try_slash = true;
	check_text(&f, "0.1\t3\n1/0\t2\n3/19\t0\n");
	tear_down(&f);
}

static char *text_of_row(unsigned int count)
{
	char *text = malloc(count * (size_t)20 + 1), *end = text;

	CHECK(text);
	*text = '\0';
	for (unsigned int i = 0; i < count; i++)
		end += sprintf(end, "c/%u\t%llu\n", i, (unsigned long long)row_size(i));
	return text;
}

static void a_long_list_is_read_at_any_offset(void)
{
	struct row_store row = {.base = {.ops = &row_ops, .refs = 1}, .count = MANY};
	char *want = text_of_row(MANY);
	struct fixture f;

	set_up(&f, &row.base, 1, MANY, 10, NULL);
	check_text(&f, want);
	CHECK_INT(row.stats, MANY);
	free(want);
	tear_down(&f);
}

static void what_has_no_size_is_listed_all_the_same(void)
{
	static const int codes[] = {-EUCLEAN, -ELOOP, -EISDIR, -EACCES};

	for (size_t i = 0; i < ZR_COUNT(codes); i++) {
		struct row_store row = {.base = {.ops = &row_ops, .refs = 1},
		                        .count = 2,
		                        .fail = codes[i]};
		struct fixture f;

		set_up(&f, &row.base, 1, 5, 10, NULL);
		check_text(&f, "c/0\t-\nc/1\t-\n");
		tear_down(&f);
	}
}

static void what_is_gone_is_left_out(void)
{
	struct row_store row = {
		.base = {.ops = &row_ops, .refs = 1}, .count = 4, .fail = -ENOENT};
	struct fixture f;

	set_up(&f, &row.base, 1, 5, 10, NULL);
	check_text(&f, "");
	tear_down(&f);
}

static void a_store_that_fails_is_asked_again(void)
{
	struct row_store row = {
		.base = {.ops = &row_ops, .refs = 1}, .count = 3, .fail = -EIO};
	char *want = text_of_row(3), out[8];
	uint64_t size;
	size_t got;
	struct fixture f;

	set_up(&f, &row.base, 1, 5, 10, NULL);
	CHECK_INT(ask_size(&f, &size), -EIO);
	CHECK_INT(ask_read(&f, 0, 5, out, &got), -EIO);
	CHECK(!zr_view_peek_size(f.view, &size));
	row.fail = 0;
	check_text(&f, want);
	free(want);
	tear_down(&f);
}

/* Slow enough for two slices of time. */
static void a_wait_ends_and_what_was_found_is_kept(void)
{
	struct row_store row = {
		.base = {.ops = &row_ops, .refs = 1}, .count = 40, .delay = 7000};
	char *want = text_of_row(40);
	struct fixture f;
	uint64_t size;

	set_up(&f, &row.base, 1, 40, 0, NULL);
	CHECK_INT(ask_size(&f, &size), -ETIMEDOUT);
	CHECK_INT(row.stats, 32);
	row.delay = 0;
	check_text(&f, want);
	CHECK_INT(row.stats, 40);
	free(want);
	tear_down(&f);
}

static void an_asker_comes_back_while_there_is_time(void)
{
	struct row_store row = {
		.base = {.ops = &row_ops, .refs = 1}, .count = 40, .delay = 7000};
	char *want = text_of_row(40);
	struct zr_ticket ticket = {0};
	struct fixture f;
	uint64_t size = 0;

	set_up(&f, &row.base, 1, 40, 60, NULL);
	CHECK_INT(zr_view_size(f.view, &ticket, &size), -EINPROGRESS);
	CHECK_INT(zr_view_size(f.view, &ticket, &size), 0);
	CHECK_INT(size, strlen(want));
	free(want);
	tear_down(&f);
}

static void a_known_size_holds_and_a_change_is_an_error(void)
{
	struct row_store row = {.base = {.ops = &row_ops, .refs = 1}, .count = 3};
	char *want = text_of_row(3), out[8];
	uint64_t known = strlen(want), size = 0;
	struct fixture f;
	size_t got;

	set_up(&f, &row.base, 1, 5, 10, &known);
	CHECK(zr_view_peek_size(f.view, &size));
	CHECK_INT(size, known);
	CHECK_INT(row.stats, 0);
	check_text(&f, want);
	tear_down(&f);

	known++;
	set_up(&f, &row.base, 1, 5, 10, &known);
	CHECK_INT(ask_size(&f, &size), 0);
	CHECK_INT(size, known);
	CHECK_INT(ask_read(&f, 0, 5, out, &got), -EIO);
	free(want);
	tear_down(&f);
}

struct asker {
	pthread_t thread;
	struct fixture *f;
	const char *want;
};

static void *asker_run(void *arg)
{
	struct asker *a = arg;
	struct zr_ticket ticket = {0};
	size_t n = strlen(a->want), got = 0;
	char *out = malloc(n);
	uint64_t size = 0;
	int r;

	CHECK(out);
	while ((r = zr_view_size(a->f->view, &ticket, &size)) == -EINPROGRESS)
		usleep(1000);
	CHECK_INT(r, 0);
	CHECK_INT(size, n);
	CHECK_INT(ask_read(a->f, 0, n, out, &got), 0);
	CHECK_MEM(out, got, a->want, n);
	free(out);
	return NULL;
}

static void askers_share_one_listing(void)
{
	struct row_store row = {
		.base = {.ops = &row_ops, .refs = 1}, .count = 40, .delay = 500};
	char *want = text_of_row(40);
	struct asker askers[6];
	struct fixture f;

	set_up(&f, &row.base, 1, 40, 60, NULL);
	for (size_t i = 0; i < ZR_COUNT(askers); i++) {
		askers[i] = (struct asker){.f = &f, .want = want};
		CHECK_INT(pthread_create(&askers[i].thread, NULL, asker_run, &askers[i]),
		          0);
	}
	for (size_t i = 0; i < ZR_COUNT(askers); i++)
		CHECK_INT(pthread_join(askers[i].thread, NULL), 0);
	CHECK_INT(row.stats, 40);
	free(want);
	tear_down(&f);
}

int main(void)
{
	zr_log_set_level(ZR_LOG_ERROR);
	RUN(chunks_are_listed_in_the_order_of_the_grid);
	RUN(nothing_stored_is_an_empty_file);
	RUN(either_separator_is_found);
	RUN(a_long_list_is_read_at_any_offset);
	RUN(what_has_no_size_is_listed_all_the_same);
	RUN(what_is_gone_is_left_out);
	RUN(a_store_that_fails_is_asked_again);
	RUN(a_wait_ends_and_what_was_found_is_kept);
	RUN(an_asker_comes_back_while_there_is_time);
	RUN(askers_share_one_listing);
	RUN(a_known_size_holds_and_a_change_is_an_error);
	return EXIT_SUCCESS;
}
