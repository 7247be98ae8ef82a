/* SPDX-License-Identifier: MIT */
/*
 * Threads take cells, one after the other, array after array. What is found wrong is what
 * any reader would find, so it is said by the modules that find it, in the log; here the
 * log goes to stdout.
 */
#include "cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#include "engine.h"
#include "log.h"
#include "progress.h"
#include "visit.h"

#define MAX_THREADS 64

/* What the threads share. */
struct check {
	struct zr_visit *visit;
	bool missing_is_error;
	struct zr_progress progress;

	pthread_mutex_t lock;   /* guards what follows */
	struct zr_files *files; /* the array that is handed out; one reference */
	const struct zr_present *present; /* of it */
	uint64_t object, cell;            /* in it, that nobody has taken yet */
	uint64_t nobjects;                /* that are to be looked at */
	char *path;                       /* owned: of it */
	int error;                        /* nothing more is to be had */
	uint64_t unsummed; /* arrays that something is stored of, without a checksum */
	uint64_t arrays, chunks, bytes, damaged, unread, unreadable;
	uint64_t shards_damaged, shards_unread; /* as a whole; their chunks count, too */
};

struct cell {
	struct zr_files *files; /* one reference */
	uint64_t number, object;
	bool first; /* of its object */
};

/* --- what comes next -------------------------------------------------------------------
 */

/* With the lock held: the next array, or no more. */
static int check_array(struct check *c, const struct zr_step *s)
{
	struct zr_source *src = zr_files_source(s->files);

	if (zr_source_list(src, &c->present) < 0) {
		c->unreadable++;
		return 0;
	}
	c->arrays++;
	c->unsummed += zr_present_count(c->present) > 0 && !zr_source_is_summed(src);
	free(c->path);
	c->path = strdup(s->path);
	c->files = zr_files_ref(s->files);
	c->object = c->cell = 0;
	c->nobjects =
		c->missing_is_error ? src->grid.nobjects : zr_present_count(c->present);
	return c->path ? 0 : -ENOMEM;
}

/* With the lock held. 1; 0: there is no other array. */
static int check_next_array(struct check *c)
{
	struct zr_step s;
	int r;

	zr_files_unref(ZR_TAKE(c->files));
	while (!c->files) {
		r = zr_visit_next(c->visit, &s);
		if (r <= 0)
			return r;
		if (s.error < 0 || zr_files_why(s.files))
			c->unreadable++;
		else if (zr_files_source(s.files))
			r = check_array(c, &s);
		if (r < 0)
			return r;
	}
	return 1;
}

/* With the lock held: the next cell of the array; false if it has no more. */
static bool check_next_cell(struct check *c, struct cell *ret)
{
	const struct zr_grid *g = &zr_files_source(c->files)->grid;

	while (c->object < c->nobjects) {
		uint64_t object = c->missing_is_error
		                          ? c->object
		                          : zr_present_nth(c->present, c->object);

		while (c->cell < g->cells_per_object) {
			ret->object = object;
			ret->first = c->cell == 0;
			ret->number = zr_grid_nth_cell(g, object, c->cell++);
			if (ret->number == UINT64_MAX)
				continue;
			ret->files = zr_files_ref(c->files);
			return true;
		}
		c->cell = 0;
		c->object++;
	}
	return false;
}

static bool check_take(struct check *c, struct cell *ret)
{
	bool taken = false;
	int r = 1;

	pthread_mutex_lock(&c->lock);
	while (c->error == 0 && r > 0 && !taken) {
		taken = c->files && check_next_cell(c, ret);
		if (!taken)
			r = check_next_array(c);
	}
	if (r < 0 && c->error == 0)
		c->error = r;
	pthread_mutex_unlock(&c->lock);
	return taken;
}

/* --- looking ---------------------------------------------------------------------------
 */

static void check_tell(struct check *c)
{
	pthread_mutex_lock(&c->lock);
	if (c->files)
		zr_progress_show(&c->progress,
		                 "/%s: %.0f %% (array %" PRIu64 "; %.1f GiB, %" PRIu64
		                 " damaged)",
		                 c->path, 100.0 * (double)c->object / (double)c->nobjects,
		                 c->arrays, (double)c->bytes / (1 << 30),
		                 c->damaged + c->shards_damaged);
	pthread_mutex_unlock(&c->lock);
}

static void check_cell(struct check *c, const struct cell *cell)
{
	struct zr_source *src = zr_files_source(cell->files);
	struct zr_chunk *chunk = NULL;
	struct zr_err err = {0};
	int sum = cell->first ? zr_source_verify(src, cell->object, &err) : 0;
	int r = zr_source_scan(src, cell->number, &chunk);

	/* What could not be summed up but now is read: it may be wrong. */
	if (sum < 0 && sum != -EUCLEAN && (r == 0 || r == -ENOENT))
		zr_error("array '%s': a shard cannot be summed up: %s",
		         zr_source_label(src), err.code ? err.text : strerror(-sum));
	pthread_mutex_lock(&c->lock);
	c->shards_damaged += sum == -EUCLEAN;
	c->shards_unread += sum < 0 && sum != -EUCLEAN;
	if (r == 0) {
		c->chunks++;
		c->bytes += chunk->data.len + chunk->text.len;
	} else if (r == -EUCLEAN) {
		c->damaged++;
	} else if (r != -ENOENT) { /* inside a shard, nothing was written there */
		c->unread++;
	}
	pthread_mutex_unlock(&c->lock);
	if (r == 0)
		zr_chunk_unref(chunk);
	if (zr_progress_due(&c->progress))
		check_tell(c);
}

static void *check_cells(void *arg)
{
	struct cell cell;

	while (check_take(arg, &cell)) {
		check_cell(arg, &cell);
		zr_files_unref(cell.files);
	}
	return NULL;
}

/* Twice as many threads as compute: the others wait for the store. */
static void check_all(struct check *c)
{
	pthread_t threads[MAX_THREADS];
	unsigned int n = 0, want = ZR_MIN(2 * zr_cmd_threads(), MAX_THREADS);

	while (n + 1 < want && pthread_create(&threads[n], NULL, check_cells, c) == 0)
		n++;
	check_cells(c);
	while (n > 0)
		pthread_join(threads[--n], NULL);
}

/* --- saying so -------------------------------------------------------------------------
 */

/* For the log. */
static void put_finding(void *arg, const char *text)
{
	zr_progress_hide(arg);
	printf("%s\n", text);
	fflush(stdout);
}

/* ", 1 chunk damaged", ", 2 chunks damaged"; nothing of none. */
static void put_count(uint64_t n, const char *what, const char *how)
{
	if (n > 0)
		printf(", %" PRIu64 " %s%s%s", n, what, n == 1 ? "" : "s", how);
}

static bool check_found_nothing(const struct check *c)
{
	return c->damaged + c->unread + c->unreadable + c->shards_damaged +
	               c->shards_unread ==
	       0;
}

static void put_counts(const struct check *c)
{
	uint64_t chunks = c->chunks + c->damaged + c->unread;

	printf("%" PRIu64 " array%s", c->arrays, c->arrays == 1 ? "" : "s");
	put_count(chunks, "chunk", "");
	put_count(c->bytes, "byte", " decoded");
	put_count(c->damaged + c->shards_damaged, "chunk", " damaged");
	put_count(c->unread + c->shards_unread, "chunk", " not read");
	put_count(c->unreadable, "node", " unreadable");
	printf("%s", check_found_nothing(c) ? ", nothing damaged" : "");
	if (c->unsummed > 0)
		printf("; %" PRIu64 " array%s no checksum", c->unsummed,
		       c->unsummed == 1 ? " has" : "s have");
	printf("\n");
}

static int check_run(struct check *c, struct zr_engine *e, const char *path,
                     struct zr_err *reterr)
{
	struct zr_place from;
	int r = zr_cmd_find(e, path, &from, reterr);

	if (r < 0)
		return r;
	c->visit = zr_visit_new(e->tree, &from, path);
	if (!c->visit)
		return zr_err_set(reterr, -ENOMEM, "out of memory");
	check_all(c);
	zr_progress_hide(&c->progress);
	zr_visit_free(c->visit);
	zr_files_unref(c->files);
	free(c->path);
	if (c->error < 0)
		return zr_err_set(reterr, c->error, "%s", strerror(-c->error));
	return 0;
}

int zr_cmd_check(const struct zr_opts *o)
{
	ZR_CLEANUP(zr_engine_freep) struct zr_engine *e = NULL;
	struct check c = {.missing_is_error = o->missing_is_error};
	struct zr_err err = {0};
	int r;

	zr_progress_init(&c.progress);
	pthread_mutex_init(&c.lock, NULL);
	zr_log_to_function(put_finding, &c.progress);
	r = zr_engine_open(o, &e, &err);
	if (r == 0)
		r = check_run(&c, e, o->npaths ? o->paths[0] : "", &err);
	zr_log_to_function(NULL, NULL);
	zr_progress_done(&c.progress);
	pthread_mutex_destroy(&c.lock);
	if (r < 0)
		return zr_cmd_complain(&err);
	put_counts(&c);
	if (fflush(stdout) != 0 || ferror(stdout))
		return zr_cmd_unwritten(-EIO);
	return check_found_nothing(&c) ? EXIT_SUCCESS : EXIT_FAILURE;
}
