/* SPDX-License-Identifier: MIT */
#include "probe.h"

#include "fake_store.h"

/* Every directory holds a hundred, three deep, and no node anywhere. */
static int list_hundred(struct zr_store *s, const char *key, struct zr_dirlist *ret,
                        struct zr_err *reterr)
{
	struct fake_store *f = (struct fake_store *)s;
	unsigned int depth = 0;
	char name[16];

	(void)reterr;
	f->lists++;
	for (; *key; key++)
		depth += *key == '/';
	for (int i = 0; i < 100 && depth < 3; i++) {
		snprintf(name, sizeof(name), "d%d", i);
		CHECK_INT(zr_dirlist_add(ret, name, strlen(name), true), 0);
	}
	return 0;
}

static const struct zr_store_ops void_ops = {
	.stat = fake_stat, .list = list_hundred, .free = fake_free};

static void a_directory_leads_to_the_nodes_below_it(void)
{
	static struct fake_object objects[] = {{"a/b/zarr.json", "{}", 2, 0},
	                                       {"c/d/e", "", 0, 0}};
	struct fake_store f = FAKE_STORE(objects);
	struct timespec mtime;

	CHECK_INT(zr_probe_child(&f.base, "a", &mtime), 1);
	CHECK_INT(zr_probe_child(&f.base, "a/b", &mtime), 1);
	CHECK_INT(zr_probe_child(&f.base, "c", &mtime), 0);
	CHECK_INT(zr_probe_child(&f.base, "c/d", &mtime), 0);
}

static void what_is_too_large_to_be_searched_is_shown(void)
{
	struct fake_store f = {.base = {.ops = &void_ops, .refs = 1}};
	struct timespec mtime;

	CHECK_INT(zr_probe_child(&f.base, "void", &mtime), 1);
	CHECK(f.lists <= 10000);
}

/* However many of them a listing has. */
static void a_listing_is_searched_only_so_far(void)
{
	struct fake_store f = {.base = {.ops = &void_ops, .refs = 1}};
	unsigned int left = ZR_PROBE_LISTING;
	struct timespec mtime;
	int lists;

	for (int i = 0; i < 10; i++)
		CHECK_INT(zr_probe_among(&f.base, "void", &left, &mtime), 1);
	CHECK_INT(left, 0);
	lists = f.lists;
	CHECK_INT(zr_probe_among(&f.base, "void", &left, &mtime), 1);
	CHECK_INT(f.lists, lists);
}

int main(void)
{
	RUN(a_directory_leads_to_the_nodes_below_it);
	RUN(what_is_too_large_to_be_searched_is_shown);
	RUN(a_listing_is_searched_only_so_far);
	return EXIT_SUCCESS;
}
