/* SPDX-License-Identifier: MIT */
/*
 * Array after array is measured as for a mount: by jobs of the queue, which leave an
 * index on disk. Threads take arrays and wait for those; more than one where an array's
 * jobs do not fill the machine. An array that was written to a moment ago is left for a
 * second round, when its index can be trusted.
 */
#include "cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "engine.h"
#include "log.h"
#include "progress.h"
#include "request.h"
#include "sizes.h"
#include "visit.h"

#define MAX_THREADS 64
#define LOOK_LEAST 100000 /* ns between two looks at a pass: as long as it runs, */
#define LOOK_MOST 20000000
#define SETTLE_MS 2200 /* until times of objects are old enough: see stamp.c */

/* What the threads share. */
struct work {
	struct zr_tree *tree;
	struct zr_progress progress;
	struct zr_visit *visit; /* NULL: of the second round */

	pthread_mutex_t lock; /* guards what follows */
	struct zr_buf fresh;  /* paths for a second round, each with its NUL */
	size_t taken;         /* bytes of them that are taken up in that */
	uint64_t begun;       /* arrays */
	uint64_t count[ZR_WHOLE_FAILED + 1];
	uint64_t unreadable;
	int error; /* nothing more is to be had */
};

struct task {
	char *path;             /* owned */
	struct zr_files *files; /* one reference */
};

/* --- what comes next -------------------------------------------------------------------
 */

/* With the lock held. 1; 0: there is no other array. */
static int take_next(struct work *w, struct task *ret)
{
	struct zr_step s;
	int r;

	while ((r = zr_visit_next(w->visit, &s)) > 0) {
		if (s.error < 0 || zr_files_why(s.files)) {
			w->unreadable++;
		} else if (zr_files_sizes(s.files)) {
			ret->path = strdup(s.path);
			ret->files = zr_files_ref(s.files);
			break;
		}
	}
	return r;
}

/* The same in the second round. */
static int take_again(struct work *w, struct task *ret)
{
	const char *path = (const char *)w->fresh.data + w->taken;
	struct zr_place p;
	int r;

	if (w->taken == w->fresh.len)
		return 0;
	w->taken += strlen(path) + 1;
	r = zr_visit_find(w->tree, path, &p);
	if (r == 0)
		r = zr_tree_files(w->tree, p.node, &ret->files);
	if (r == 0 && !zr_files_sizes(ret->files)) {
		zr_files_unref(ZR_TAKE(ret->files));
		r = -ESTALE; /* it is another one now */
	}
	if (r < 0)
		return r;
	ret->path = strdup(path);
	return 1;
}

static bool work_take(struct work *w, struct task *ret)
{
	int r = 0;

	*ret = (struct task){0};
	pthread_mutex_lock(&w->lock);
	if (w->error == 0)
		r = w->visit ? take_next(w, ret) : take_again(w, ret);
	if (r > 0 && !ret->path) {
		zr_files_unref(ret->files);
		r = -ENOMEM;
	}
	if (r < 0)
		w->error = r;
	w->begun += r > 0;
	pthread_mutex_unlock(&w->lock);
	return r > 0;
}

/* --- measuring -------------------------------------------------------------------------
 */

static void work_tell(struct work *w, const struct task *t, double part)
{
	uint64_t begun;

	pthread_mutex_lock(&w->lock);
	begun = w->begun;
	pthread_mutex_unlock(&w->lock);
	zr_progress_show(&w->progress, "/%s: %.0f %% (array %" PRIu64 ")", t->path,
	                 100 * part, begun);
}

static void measure(struct work *w, const struct task *t, struct zr_whole *ret)
{
	struct timespec pause = {.tv_nsec = LOOK_LEAST};
	struct zr_ticket ticket = {0};

	for (;;) {
		zr_sizes_whole(zr_files_sizes(t->files), &ticket, ret);
		if (ret->state != ZR_WHOLE_BUSY)
			return;
		if (zr_progress_due(&w->progress))
			work_tell(w, t, ret->part);
		nanosleep(&pause, NULL);
		pause.tv_nsec = ZR_MIN(2 * pause.tv_nsec, LOOK_MOST);
	}
}

/* Why an array is not kept; NULL if it is, or if the log has said so. */
static const char *why_not(const struct zr_whole *whole, bool again)
{
	switch (whole->state) {
	case ZR_WHOLE_DAMAGED:
		return "not all of its chunks can be read";
	case ZR_WHOLE_FRESH:
		return again ? "it is being written to" : NULL;
	case ZR_WHOLE_CROWDED:
		return "it has too many chunks to look at each of them";
	case ZR_WHOLE_FAILED:
		return strerror(-whole->error);
	default:
		return NULL;
	}
}

static void work_done(struct work *w, const struct task *t, const struct zr_whole *whole)
{
	const char *why = why_not(whole, !w->visit);

	if (why)
		zr_warning("array '/%s': its sizes are not kept: %s", t->path, why);
	pthread_mutex_lock(&w->lock);
	w->count[whole->state]++;
	if (whole->state == ZR_WHOLE_FRESH && w->visit)
		zr_buf_add(&w->fresh, t->path, strlen(t->path) + 1);
	if (whole->state == ZR_WHOLE_UNWRITTEN && w->error == 0)
		w->error = -EIO;
	pthread_mutex_unlock(&w->lock);
}

static void *measure_arrays(void *arg)
{
	struct work *w = arg;
	struct zr_whole whole;
	struct task t;

	while (work_take(w, &t)) {
		measure(w, &t, &whole);
		work_done(w, &t, &whole);
		zr_files_unref(t.files);
		free(t.path);
	}
	return NULL;
}

static void measure_all(struct work *w)
{
	pthread_t threads[MAX_THREADS];
	unsigned int n = 0, want = 1 + (zr_cmd_threads() - 1) / ZR_KEY_THREADS;

	want = ZR_MIN(want, MAX_THREADS);
	while (n + 1 < want && pthread_create(&threads[n], NULL, measure_arrays, w) == 0)
		n++;
	measure_arrays(w);
	while (n > 0)
		pthread_join(threads[--n], NULL);
}

/* --- a store ---------------------------------------------------------------------------
 */

/* All arrays, or in the second round those that were put aside in the first one. */
static int index_round(struct work *w, const struct zr_opts *o, bool again,
                       struct zr_err *reterr)
{
	ZR_CLEANUP(zr_engine_freep) struct zr_engine *e = NULL;
	ZR_CLEANUP(zr_visit_freep) struct zr_visit *visit = NULL;
	struct zr_place root;
	int r = zr_engine_open(o, &e, reterr);

	if (r == 0)
		r = zr_engine_need_index(e, o, reterr);
	if (r == 0)
		r = zr_cmd_find(e, "", &root, reterr);
	if (r < 0)
		return r;
	w->tree = e->tree;
	if (!again)
		visit = zr_visit_new(e->tree, &root, "");
	if (!again && !visit)
		return zr_err_set(reterr, -ENOMEM, "out of memory");
	w->visit = visit;
	measure_all(w);
	zr_progress_hide(&w->progress);
	if (w->count[ZR_WHOLE_UNWRITTEN] > 0) /* the log has said why */
		return zr_err_set(reterr, -EIO, "%s: the rest is left out", o->store);
	if (w->error == 0)
		w->error = zr_buf_check(&w->fresh);
	if (w->error < 0)
		return zr_err_set(reterr, w->error, "%s: %s", o->store,
		                  strerror(-w->error));
	return 0;
}

static int index_rounds(struct work *w, const struct zr_opts *o, struct zr_err *reterr)
{
	struct timespec settle = {.tv_sec = SETTLE_MS / 1000,
	                          .tv_nsec = SETTLE_MS % 1000 * 1000000L};
	int r = index_round(w, o, false, reterr);

	if (r < 0 || w->count[ZR_WHOLE_FRESH] == 0)
		return r;
	w->count[ZR_WHOLE_FRESH] = 0;
	while (nanosleep(&settle, &settle) < 0 && errno == EINTR)
		;
	return index_round(w, o, true, reterr);
}

/* ", 1 known already", ", 2 known already"; nothing of none. */
static void put_count(uint64_t n, const char *what)
{
	if (n > 0)
		printf(", %" PRIu64 " %s", n, what);
}

/* Whether all is as it should be. */
static bool put_counts(const struct work *w, const char *store)
{
	uint64_t kept = w->count[ZR_WHOLE_KEPT];
	uint64_t unkept = w->count[ZR_WHOLE_DAMAGED] + w->count[ZR_WHOLE_FRESH] +
	                  w->count[ZR_WHOLE_CROWDED] + w->count[ZR_WHOLE_UNWRITTEN] +
	                  w->count[ZR_WHOLE_FAILED];

	printf("%s: %" PRIu64 " array%s measured", store, kept, kept == 1 ? "" : "s");
	put_count(w->count[ZR_WHOLE_FOUND], "known already");
	put_count(w->count[ZR_WHOLE_EMPTY], "never written");
	put_count(unkept, "not kept");
	put_count(w->unreadable, "unreadable");
	printf("\n");
	return unkept + w->unreadable == 0;
}

/* For the log. */
static void put_line(void *arg, const char *text)
{
	zr_progress_hide(arg);
	fprintf(stderr, "zarrfs: %s\n", text);
}

/* Whether all sizes of a store are kept now. */
static bool index_store(const struct zr_opts *o)
{
	struct work w = {0};
	struct zr_err err = {0};
	bool all;
	int r;

	zr_progress_init(&w.progress);
	pthread_mutex_init(&w.lock, NULL);
	zr_log_to_function(put_line, &w.progress);
	r = index_rounds(&w, o, &err);
	zr_log_to_function(NULL, NULL);
	zr_progress_done(&w.progress);
	pthread_mutex_destroy(&w.lock);
	zr_buf_done(&w.fresh);
	all = w.begun == 0 && r < 0 ? false : put_counts(&w, o->store);
	if (r < 0)
		zr_cmd_complain(&err);
	return all && r == 0;
}

int zr_cmd_index(const struct zr_opts *o)
{
	struct zr_opts one = *o;
	bool all = true;

	for (size_t i = 0; i <= o->npaths; i++) {
		struct zr_err err = {0};

		one.store = i == 0 ? o->store : o->paths[i - 1];
		if (zr_cmd_who(&one, &one.who, &err) < 0) {
			zr_cmd_complain(&err);
			all = false;
			continue;
		}
		all &= index_store(&one);
		if (fflush(stdout) != 0 || ferror(stdout))
			return zr_cmd_unwritten(-EIO);
	}
	return all ? EXIT_SUCCESS : EXIT_FAILURE;
}
