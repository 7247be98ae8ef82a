/* SPDX-License-Identifier: MIT */
#include "present.h"
#include "fake_store.h"

static const uint64_t shape[] = {5, 9}, chunk[] = {2, 3}; /* 3 x 3 chunks */

static void make(struct zr_array *a, struct zr_grid *g, bool v2, char separator,
                 bool try_slash)
{
	*a = (struct zr_array){.ndim = 2,
	                       .nlevels = 1,
	                       .nrecords = 45,
	                       .v2_keys = v2,
	                       .separator = separator,
	                       .try_slash = try_slash};
	for (uint32_t k = 0; k < 2; k++) {
		a->shape[k] = shape[k];
		a->levels[0].chunk[k] = chunk[k];
		a->levels[0].axis[k] = (uint8_t)k;
	}
	zr_grid_init(g, a);
}

static void check(const struct zr_present *p, size_t count, const uint64_t *want)
{
	CHECK_INT(zr_present_count(p), count);
	for (size_t i = 0; i < count; i++)
		CHECK_INT(zr_present_nth(p, i), want[i]);
}

static void chunks_are_found_under_both_encodings_and_separators(void)
{
	static struct fake_object objects[] = {
		{"a/zarr.json", "{}", 2, 0}, {"a/c/0/2", "x", 1, 0},
		{"a/c/2/0", "x", 1, 0},      {"a/c/2/2", "x", 1, 0},
		{"b/c.0.2", "x", 1, 0},      {"b/c.2.0", "x", 1, 0},
		{"b/c.2.2", "x", 1, 0},      {"d/0.2", "x", 1, 0},
		{"d/2.0", "x", 1, 0},        {"d/2.2", "x", 1, 0},
		{"e/0/2", "x", 1, 0},        {"e/2/0", "x", 1, 0},
		{"e/2/2", "x", 1, 0},
	};
	static const struct {
		const char *path;
		bool v2;
		char separator;
	} row[] = {
		{"a", false, '/'}, {"b", false, '.'}, {"d", true, '.'}, {"e", true, '/'}};
	static const uint64_t want[] = {2, 6, 8};
	struct fake_store f = FAKE_STORE(objects);

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_present p;
		struct zr_array a;
		struct zr_grid g;

		make(&a, &g, row[i].v2, row[i].separator, false);
		CHECK_INT(zr_present_load(&f.base, row[i].path, &a, &g, &p, NULL), 0);
		check(&p, 3, want);
		CHECK_INT(zr_present_next(&p, 0), 2);
		CHECK_INT(zr_present_next(&p, 2), 2);
		CHECK_INT(zr_present_next(&p, 3), 6);
		CHECK(zr_present_next(&p, 9) == UINT64_MAX);
		zr_present_done(&p);
	}
}

static void what_is_no_chunk_key_is_passed_over(void)
{
	static struct fake_object objects[] = {
		{"a/c/0/1", "x", 1, 0},  {"a/c/0/03", "x", 1, 0},
		{"a/c/0/3", "x", 1, 0},  {"a/c/3/0", "x", 1, 0},
		{"a/c/-1/0", "x", 1, 0}, {"a/c/1", "x", 1, 0},
		{"a/c/x/0", "x", 1, 0},  {"a/c/0/1x", "x", 1, 0},
		{"a/c/0/+1", "x", 1, 0}, {"a/c/0/18446744073709551617", "x", 1, 0},
	};
	static const uint64_t want[] = {1};
	struct fake_store f = FAKE_STORE(objects);
	struct zr_present p;
	struct zr_array a;
	struct zr_grid g;

	make(&a, &g, false, '/', false);
	CHECK_INT(zr_present_load(&f.base, "a", &a, &g, &p, NULL), 0);
	check(&p, 1, want);
	zr_present_done(&p);
}

static void an_array_that_was_never_written_has_none(void)
{
	static struct fake_object objects[] = {{"a/zarr.json", "{}", 2, 0}};
	struct fake_store f = FAKE_STORE(objects);
	struct zr_present p;
	struct zr_array a;
	struct zr_grid g;

	make(&a, &g, false, '/', false);
	CHECK_INT(zr_present_load(&f.base, "a", &a, &g, &p, NULL), 0);
	CHECK_INT(zr_present_count(&p), 0);
	CHECK(zr_present_next(&p, 0) == UINT64_MAX);
	zr_present_done(&p);
}

static void nested_keys_are_tried_where_the_separator_was_not_given(void)
{
	static struct fake_object objects[] = {{"a/.zarray", "{}", 2, 0},
	                                       {"a/1/1", "x", 1, 0}};
	static const uint64_t want[] = {4};
	struct fake_store f = FAKE_STORE(objects);
	struct zr_present p;
	struct zr_array a;
	struct zr_grid g;

	make(&a, &g, true, '.', true);
	CHECK_INT(zr_present_load(&f.base, "a", &a, &g, &p, NULL), 0);
	check(&p, 1, want);
	zr_present_done(&p);
}

static void a_store_that_does_not_answer_is_an_error(void)
{
	static struct fake_object objects[] = {{"a/c/0/0", "x", 1, 0}};
	struct fake_store f = FAKE_STORE(objects);
	struct zr_present p = {.count = 77};
	struct zr_array a;
	struct zr_grid g;

	f.fail_all = -EACCES;
	make(&a, &g, false, '/', false);
	CHECK_INT(zr_present_load(&f.base, "a", &a, &g, &p, NULL), -EACCES);
	CHECK_INT(p.count, 77);
}

/* A directory that is a link to nowhere, or out of the store: reading its chunks fails,
 * so they must not pass for chunks that were never written. */
static void chunks_below_a_damaged_directory_count_as_stored(void)
{
	static struct fake_object objects[] = {{"a/c/0/1", "x", 1, 0},
	                                       {"a/c/1", "", 0, -EUCLEAN},
	                                       {"a/c/2", "", 0, -ENOTDIR}};
	static const uint64_t below[] = {1, 3, 4, 5}, all[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
	struct fake_store f = FAKE_STORE(objects);
	struct zr_present p;
	struct zr_array a;
	struct zr_grid g;

	make(&a, &g, false, '/', false);
	CHECK_INT(zr_present_load(&f.base, "a", &a, &g, &p, NULL), 0);
	check(&p, ZR_COUNT(below), below);
	zr_present_done(&p);
	objects[1].key = "a/c";
	objects[1].fail = -ELOOP;
	CHECK_INT(zr_present_load(&f.base, "a", &a, &g, &p, NULL), 0);
	check(&p, ZR_COUNT(all), all);
	zr_present_done(&p);
}

/* Two directories that hold only themselves, 31 times over. */
static int list_two(struct zr_store *s, const char *key, struct zr_dirlist *ret,
                    struct zr_err *reterr)
{
	struct fake_store *f = (struct fake_store *)s;

	(void)key;
	(void)reterr;
	f->lists++;
	CHECK_INT(zr_dirlist_add(ret, "1", 1, true), 0);
	CHECK_INT(zr_dirlist_add(ret, "2", 1, true), 0);
	return 0;
}

static void many_ways_to_nothing_are_not_all_gone(void)
{
	static const struct zr_store_ops ops = {.list = list_two};
	struct fake_store f = {.base = {.ops = &ops, .refs = 1}};
	struct zr_array a = {
		.zarr_format = 3, .ndim = 32, .separator = '/', .nlevels = 1};
	struct zr_present p;
	struct zr_grid g;

	a.type = (struct zr_type){.kind = ZR_UINT, .bits = 8, .size = 1};
	a.nrecords = 1;
	for (uint32_t k = 0; k < 32; k++) {
		a.shape[k] = k < 31 ? 3 : 1; /* the last axis has no chunk of that name */
		a.nrecords *= a.shape[k];
		a.levels[0].chunk[k] = 1;
		a.levels[0].axis[k] = (uint8_t)k;
	}
	zr_grid_init(&g, &a);
	CHECK_INT(zr_present_load(&f.base, "a", &a, &g, &p, NULL), 0);
	CHECK(p.all);
	CHECK(f.lists < 100000);
	zr_present_done(&p);
}

/* An array of n chunks, all of which may be stored: their directory cannot be listed. */
static bool is_remembered(struct fake_store *f, uint64_t n, struct zr_present *ret)
{
	struct zr_array a = {.zarr_format = 3, .ndim = 1, .separator = '/', .nlevels = 1};
	struct zr_grid g;

	a.type = (struct zr_type){.kind = ZR_UINT, .bits = 8, .size = 1};
	a.nrecords = a.shape[0] = n;
	a.levels[0].chunk[0] = 1;
	zr_grid_init(&g, &a);
	CHECK_INT(zr_present_load(&f->base, "a", &a, &g, ret, NULL), 0);
	CHECK_INT(zr_present_count(ret), n);
	CHECK_INT(zr_present_next(ret, n - 1), n - 1);
	return !ret->all;
}

static void arrays_in_use_have_a_bound_together_unless_they_are_small(void)
{
	static struct fake_object objects[] = {{"a/c", "", 0, -ELOOP}};
	struct fake_store f = FAKE_STORE(objects);
	const uint64_t large = ZR_MAX_PRESENT, half = ZR_MAX_PRESENT / 2;
	struct zr_present p[4], small[100];

	CHECK(!is_remembered(&f, large + 1, &p[0])); /* by itself too many */
	zr_present_done(&p[0]);
	CHECK_INT(f.base.present, 0);

	CHECK(is_remembered(&f, large, &p[0]));
	CHECK(is_remembered(&f, half, &p[1]));
	CHECK(is_remembered(&f, half, &p[2]));
	CHECK(!is_remembered(&f, large, &p[3]));
	zr_present_done(&p[3]);
	CHECK(f.base.present <= ZR_MAX_PRESENT_ALL);
	for (int i = 0; i < 100; i++)
		CHECK(is_remembered(&f, 1000, &small[i]));

	zr_present_done(&p[1]);
	CHECK(!is_remembered(&f, large, &p[3]));
	zr_present_done(&p[3]);
	CHECK(is_remembered(&f, half, &p[1]));

	for (int i = 0; i < 100; i++)
		zr_present_done(&small[i]);
	for (int i = 0; i < 3; i++)
		zr_present_done(&p[i]);
	CHECK_INT(f.base.present, 0);
}

int main(void)
{
	RUN(arrays_in_use_have_a_bound_together_unless_they_are_small);
	RUN(chunks_are_found_under_both_encodings_and_separators);
	RUN(what_is_no_chunk_key_is_passed_over);
	RUN(an_array_that_was_never_written_has_none);
	RUN(nested_keys_are_tried_where_the_separator_was_not_given);
	RUN(a_store_that_does_not_answer_is_an_error);
	RUN(chunks_below_a_damaged_directory_count_as_stored);
	RUN(many_ways_to_nothing_are_not_all_gone);
	return EXIT_SUCCESS;
}
