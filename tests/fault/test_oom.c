/* SPDX-License-Identifier: MIT */
/*
 * Memory runs out at the nth allocation of looking at a whole store, for every n there
 * is.
 *
 * A store is looked at as a mount and its readers would: opened, listed, each file's size
 * asked for, each file read. The first time nothing fails. Then the nth allocation does,
 * once, or it and all behind it. What was asked for when that happened may give -ENOMEM
 * or -EIO, or what is right; asked again it gives what is right, and so does all behind
 * it. AddressSanitizer looks for what is touched that is gone, and for leaks.
 *
 *     test_oom STORE[:INDEX_DIRECTORY]...
 */
#include "failing_alloc.h"

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "cache.h"
#include "engine.h"
#include "log.h"
#include "test.h"

/* Without threads the allocations come in the same order each time. */
#include "here_queue.h"

#define MAX_SEEN 4096
#define MAX_TRIES 100000

/* What is found in a store, in the order of the way through it. */
struct seen {
	char name[ZR_NAME_MAX + 1];
	int size_error;
	int read_error;
	uint64_t size;
	uint64_t hash;
};

struct look {
	const struct zr_opts *opts;
	struct zr_engine *engine;
	struct seen *seen; /* what is right, or is being found out */
	size_t at;
	bool first; /* it is being found out */
	bool again; /* an allocation failed, and what it failed was asked for again */
};

/* --- one thing that is asked for -------------------------------------------------------
 */

struct ask {
	struct look *look;
	struct zr_place dir;
	uint64_t nth;
	struct zr_entry entry; /* answers */
	struct seen found;
};

static int ask_open(struct ask *a)
{
	struct look *l = a->look;
	struct zr_store *store;
	struct zr_err err = {0};
	int r = zr_store_open(l->opts->store, false, &store, &err);

	if (r < 0)
		return r;
	r = zr_engine_new(store, l->opts, &l->engine, &err);
	zr_store_unref(store);
	if (r < 0)
		return r;
	if (l->opts->index_dir)
		zr_engine_use_index(l->engine, l->opts);
	r = zr_engine_start(l->engine);
	if (r < 0)
		zr_engine_free(ZR_TAKE(l->engine));
	return r;
}

static int ask_entry(struct ask *a)
{
	return zr_tree_nth(a->look->engine->tree, &a->dir, a->nth, true, &a->entry);
}

static int ask_lookup(struct ask *a)
{
	struct zr_entry e = {0};
	int r = zr_tree_lookup(a->look->engine->tree, &a->dir, a->entry.name, true, &e);

	if (r == 0) {
		CHECK(e.place.node == a->entry.place.node);
		CHECK(e.place.entry == a->entry.place.entry &&
		      e.is_dir == a->entry.is_dir);
	}
	zr_entry_done(&e);
	return r;
}

static int view_of(struct ask *a, struct zr_files **files, struct zr_view **ret)
{
	const struct zr_place *p = &a->entry.place;
	int r = zr_tree_files(a->look->engine->tree, p->node, files);

	return r < 0 ? r : zr_files_view(*files, p->tree, p->entry, ret);
}

static void files_done(struct zr_files **files)
{
	zr_files_unref(*files);
}

static int ask_size(struct ask *a)
{
	ZR_CLEANUP(files_done) struct zr_files *files = NULL;
	struct zr_ticket ticket = {0};
	struct zr_view *v;
	int r = view_of(a, &files, &v);

	if (r < 0)
		return r;
	while ((r = zr_view_size(v, &ticket, &a->found.size)) == -EINPROGRESS)
		queue_run_all(a->look->engine->env.queue);
	return r;
}

static int ask_bytes(struct ask *a)
{
	ZR_CLEANUP(files_done) struct zr_files *files = NULL;
	ZR_CLEANUP(zr_freep) uint8_t *bytes = NULL;
	struct zr_ticket ticket = {0};
	struct zr_view *v;
	size_t len = (size_t)ZR_MIN(a->found.size, (uint64_t)1 << 20), got = 0;
	int r = view_of(a, &files, &v);

	if (r < 0)
		return r;
	bytes = __real_malloc(len + 1);
	CHECK(bytes);
	while ((r = zr_view_read(v, 0, len, &ticket, NULL, bytes, &got)) == -EINPROGRESS)
		queue_run_all(a->look->engine->env.queue);
	if (r < 0)
		return r;
	CHECK_INT(got, len);
	a->found.hash = XXH64(bytes, len, 0);
	return 0;
}

static void show(const struct ask *a, int r, int right)
{
	fprintf(stderr, "%s, allocation %lu%s fails: asked for '%s': %s; right is: %s\n",
	        a->look->opts->store, alloc.nth,
	        alloc.all_after ? " and all behind it" : "", a->entry.name, strerror(-r),
	        strerror(-right));
}

/* The answer; if it was given for want of memory, that of asking again, with memory. */
static int ask(struct ask *a, int (*how)(struct ask *), int right)
{
	struct look *l = a->look;
	int r = how(a);

	if (l->first || r == right)
		return r;
	if (!alloc.happened || l->again || (r != -ENOMEM && r != -EIO)) {
		show(a, r, right);
		exit(EXIT_FAILURE);
	}
	alloc_disarm();
	l->again = true;
	r = how(a);
	if (r != right) {
		show(a, r, right);
		exit(EXIT_FAILURE);
	}
	return r;
}

/* --- the way through a store -----------------------------------------------------------
 */

static void look_at_file(struct ask *a, struct seen *s)
{
	struct look *l = a->look;

	/* A read that comes first finds the place by itself. */
	a->found.size = s->size;
	if (!l->first && l->at % 2)
		CHECK_INT(ask(a, ask_bytes, s->read_error), s->read_error);
	a->found.size_error = ask(a, ask_size, s->size_error);
	if (a->found.size_error == 0)
		a->found.read_error = ask(a, ask_bytes, s->read_error);
}

static void look_at_dir(struct look *l, const struct zr_place *dir, const char *name);

/* What is the same each time: without the padding between. */
static bool same_seen(const struct seen *a, const struct seen *b)
{
	return strcmp(a->name, b->name) == 0 && a->size_error == b->size_error &&
	       a->read_error == b->read_error && a->size == b->size && a->hash == b->hash;
}

static void look_at_entry(struct look *l, struct ask *a)
{
	struct seen *s = &l->seen[l->at];

	CHECK(l->at < MAX_SEEN);
	snprintf(a->found.name, sizeof(a->found.name), "%s", a->entry.name);
	CHECK_INT(ask(a, ask_lookup, 0), 0);
	if (!a->entry.is_dir)
		look_at_file(a, s);
	if (l->first)
		*s = a->found;
	if (!same_seen(s, &a->found)) {
		show(a, 0, 0);
		fprintf(stderr, "'%s' is not as it was: %llu bytes, not %llu\n", s->name,
		        (unsigned long long)a->found.size, (unsigned long long)s->size);
		exit(EXIT_FAILURE);
	}
	l->at++;
	if (a->entry.is_dir)
		look_at_dir(l, &a->entry.place, a->entry.name);
}

static void look_at_dir(struct look *l, const struct zr_place *dir, const char *name)
{
	for (uint64_t i = 0;; i++) {
		struct ask a = {.look = l, .dir = *dir, .nth = i};
		bool last = !l->first && l->seen[l->at].name[0] == '\0';
		int r;

		snprintf(a.entry.name, sizeof(a.entry.name), "%s, number %llu", name,
		         (unsigned long long)i);
		r = ask(&a, ask_entry, last ? -ENOENT : 0);
		if (r == -ENOENT) {
			CHECK(l->at < MAX_SEEN);
			l->seen[l->at++] = (struct seen){0};
			return;
		}
		CHECK_INT(r, 0);
		look_at_entry(l, &a);
		zr_entry_done(&a.entry);
	}
}

/* Once through the store. Whether an allocation failed. */
static bool look(const struct zr_opts *o, struct seen *seen, bool first,
                 unsigned long nth, bool all_after)
{
	struct look l = {.opts = o, .seen = seen, .first = first};
	struct ask a = {.look = &l};
	struct zr_place root;

	alloc_arm(nth, all_after);
	CHECK_INT(ask(&a, ask_open, 0), 0);
	CHECK_INT(zr_tree_place(l.engine->tree, ZR_ROOT_INO, &root), 0);
	look_at_dir(&l, &root, "the root");
	zr_engine_free(l.engine);
	return alloc_disarm();
}

/* --- all of it -------------------------------------------------------------------------
 */

static void no_log(void *arg, const char *text)
{
	(void)arg;
	(void)text;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static void clear(const char *dir)
{
	if (dir && nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS) < 0)
		CHECK_INT(errno, ENOENT);
}

static void fail_each(const char *store, const char *index_dir, bool keep_index)
{
	static struct seen seen[MAX_SEEN];
	struct zr_opts o = {.store = (char *)store,
	                    .cache_bytes = 1 << 20,
	                    .size_wait = 100,
	                    .view = ZR_TREE_TEXT,
	                    .views = 0x1e,
	                    .index_off = !index_dir,
	                    .index_dir = (char *)index_dir};
	unsigned long nth = 1;
	bool failed = true;

	memset(seen, 0, sizeof(seen));
	clear(index_dir);
	look(&o, seen, true, 0, false);
	for (; failed; nth++) {
		failed = false;
		for (int all_after = 0; all_after < 2; all_after++) {
			if (!keep_index)
				clear(index_dir);
			failed |= look(&o, seen, false, nth, all_after);
		}
	}
	CHECK(seen[0].name[0]); /* there was something in it */
	printf("%s: %lu allocations\n", store, nth - 1);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	char index_dir[] = "/tmp/zarrfs-oom-XXXXXX";

	zr_log_to_function(no_log, NULL);
	CHECK(mkdtemp(index_dir));
	for (int i = 1; i < argc; i++)
		fail_each(argv[i], NULL, false);
	if (argc > 1) { /* written to, then read from */
		fail_each(argv[1], index_dir, false);
		fail_each(argv[1], index_dir, true);
	}
	clear(index_dir);
	return EXIT_SUCCESS;
}
