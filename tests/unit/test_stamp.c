/* SPDX-License-Identifier: MIT */
#include "test.h"
#include "stamp.h"

#include <errno.h>

/* A store of objects that are nothing but their stat. */
struct object {
	const char *key;
	struct zr_stat st;
	int fail;
};

struct stat_store {
	struct zr_store base; /* first: the code under test sees only this */
	struct object objects[4];
};

static int stat_stat(struct zr_store *s, const char *key, struct zr_stat *ret,
                     struct zr_err *reterr)
{
	struct stat_store *f = (struct stat_store *)s;

	(void)reterr;
	for (size_t i = 0; i < ZR_COUNT(f->objects); i++) {
		struct object *o = &f->objects[i];

		if (!o->key || strcmp(o->key, key) != 0)
			continue;
		if (o->fail)
			return o->fail;
		*ret = o->st;
		return 0;
	}
	return -ENOENT;
}

static const struct zr_store_ops ops = {.stat = stat_stat};

#define STAT                                                                             \
	{                                                                                \
		.size = 100, .ino = 7, .mtime = {1000, 5}, .ctime = { 1001, 6 }          \
	}

static struct stat_store store;
static struct zr_array array;
static struct zr_source source;

/* An array of four chunks, of which the last is not there. */
static void setup(void)
{
	store = (struct stat_store){.base = {.ops = &ops, .refs = 1},
	                            .objects = {{.key = "a/0", .st = STAT},
	                                        {.key = "a/1", .st = STAT},
	                                        {.key = "a/2", .st = STAT}}};
	array = (struct zr_array){.ndim = 1,
	                          .nlevels = 1,
	                          .nrecords = 40,
	                          .shape = {40},
	                          .v2_keys = true,
	                          .separator = '.'};
	array.levels[0].chunk[0] = 10;
	source = (struct zr_source){.store = &store.base, .path = "a", .array = &array};
	zr_grid_init(&source.grid, &array);
}

static struct zr_stamp stamp_of(unsigned int objects)
{
	struct zr_stamp s = {0};

	for (unsigned int i = 0; i < 4; i++)
		if (objects >> i & 1)
			CHECK_INT(zr_stamp_object(&s, &source, i), 0);
	return s;
}

static bool differs(const struct zr_stamp *before)
{
	struct zr_stamp now = stamp_of(7);

	return !zr_stamp_equal(before, &now);
}

static void every_change_of_an_object_is_seen(void)
{
	struct zr_stamp before;
	struct zr_stat *st = &store.objects[1].st;

	setup();
	before = stamp_of(7);
	CHECK_INT(before.objects, 3);
	CHECK(!differs(&before));
	st->size++;
	CHECK(differs(&before));
	st->size--;
	st->ino++;
	CHECK(differs(&before));
	st->ino--;
	st->mtime.tv_sec++;
	CHECK(differs(&before));
	st->mtime.tv_sec--;
	st->mtime.tv_nsec++;
	CHECK(differs(&before));
	st->mtime.tv_nsec--;
	st->ctime.tv_sec++;
	CHECK(differs(&before));
	st->ctime.tv_sec--;
	st->ctime.tv_nsec++;
	CHECK(differs(&before));
	st->ctime.tv_nsec--;
	CHECK(!differs(&before));
}

static void which_objects_they_are_counts(void)
{
	struct zr_stamp two = stamp_of(3), other = stamp_of(5), three = stamp_of(7);

	CHECK(!zr_stamp_equal(&two, &other));
	CHECK(!zr_stamp_equal(&two, &three));
	/* Two that change places. */
	setup();
	store.objects[0].st.ino = 8;
	two = stamp_of(3);
	store.objects[0].st.ino = 7;
	store.objects[1].st.ino = 8;
	other = stamp_of(3);
	CHECK(!zr_stamp_equal(&two, &other));
}

static void the_order_does_not_count(void)
{
	struct zr_stamp all, parts;
	struct zr_stamp last;

	setup();
	store.objects[1].st.size = 3;
	store.objects[2].st.ctime.tv_sec = 5000;
	all = stamp_of(7);
	parts = stamp_of(4);
	last = stamp_of(3);
	zr_stamp_add(&parts, &last);
	CHECK(zr_stamp_equal(&all, &parts));
	CHECK_INT(parts.newest.tv_sec, 5000);
	CHECK_INT(all.newest.tv_sec, 5000);
}

static void the_other_key_is_tried(void)
{
	struct zr_stamp dotted, slashed, again;

	setup();
	array.ndim = 2;
	array.shape[1] = 1;
	array.levels[0].chunk[1] = 1;
	zr_grid_init(&source.grid, &array);
	store.objects[0].key = "a/0.0";
	dotted = stamp_of(1);
	CHECK(!dotted.unsure);
	store.objects[0].key = "a/0/0";
	slashed = stamp_of(1);
	CHECK(slashed.unsure);
	array.try_slash = true;
	slashed = stamp_of(1);
	again = stamp_of(1);
	CHECK(!zr_stamp_equal(&slashed, &dotted));
	CHECK(zr_stamp_equal(&slashed, &again));
}

static void what_is_no_file_makes_it_unsure(void)
{
	static const int failures[] = {-EUCLEAN, -EISDIR, -ELOOP};
	struct zr_stamp s, good;
	struct timespec later = {.tv_sec = 10000};

	setup();
	s = stamp_of(8); /* gone */
	CHECK(s.unsure);
	for (size_t i = 0; i < ZR_COUNT(failures); i++) {
		store.objects[0].fail = failures[i];
		s = stamp_of(7);
		CHECK(s.unsure);
		CHECK(!zr_stamp_equal(&s, &s));
		CHECK(!zr_stamp_older(&s, &later));
	}
	setup();
	good = stamp_of(2);
	zr_stamp_add(&good, &s);
	CHECK(good.unsure);
	store.objects[0].st.ctime = (struct timespec){0}; /* a store without such */
	s = stamp_of(1);
	CHECK(s.unsure);
}

static void a_store_that_does_not_answer_is_an_error(void)
{
	static const int failures[] = {-EIO,    -EACCES,    -ENOMEM, -EMFILE,
	                               -ENFILE, -ETIMEDOUT, -ESTALE};
	struct zr_stamp s = {0};

	setup();
	for (size_t i = 0; i < ZR_COUNT(failures); i++) {
		store.objects[0].fail = failures[i];
		CHECK_INT(zr_stamp_object(&s, &source, 0), failures[i]);
	}
	CHECK_INT(s.objects, 0);
	CHECK(!s.unsure);
}

static void the_newest_of_all_parts_counts(void)
{
	struct zr_stamp old = {.newest = {100, 0}}, new = {.newest = {100, 1}}, s = {0};

	zr_stamp_add(&s, &old);
	zr_stamp_add(&s, &new);
	CHECK(s.newest.tv_sec == 100 && s.newest.tv_nsec == 1);
	zr_stamp_add(&s, &old);
	CHECK(s.newest.tv_sec == 100 && s.newest.tv_nsec == 1);
}

/* Whether a change at `when` would be told from one at `newest`. */
static bool told(struct timespec newest, struct timespec when)
{
	struct zr_stamp s = {.objects = 1, .newest = newest};

	return zr_stamp_older(&s, &when);
}

static void what_is_too_new_is_not_older(void)
{
	CHECK(told((struct timespec){100, 1}, (struct timespec){200, 0}));
	CHECK(told((struct timespec){100, 1}, (struct timespec){100, 200000000}));
	CHECK(!told((struct timespec){100, 1}, (struct timespec){100, 20000000}));
	CHECK(!told((struct timespec){100, 1}, (struct timespec){100, 1}));
	CHECK(!told((struct timespec){100, 1}, (struct timespec){99, 0}));
	CHECK(told((struct timespec){100, 950000000}, (struct timespec){101, 60000000}));
	CHECK(!told((struct timespec){100, 950000000}, (struct timespec){101, 10000000}));
	/* Whole seconds: a clock that has no other. */
	CHECK(!told((struct timespec){100, 0}, (struct timespec){102, 0}));
	CHECK(told((struct timespec){100, 0}, (struct timespec){103, 0}));
}

int main(void)
{
	RUN(every_change_of_an_object_is_seen);
	RUN(which_objects_they_are_counts);
	RUN(the_order_does_not_count);
	RUN(the_other_key_is_tried);
	RUN(what_is_no_file_makes_it_unsure);
	RUN(a_store_that_does_not_answer_is_an_error);
	RUN(the_newest_of_all_parts_counts);
	RUN(what_is_too_new_is_not_older);
	return EXIT_SUCCESS;
}
