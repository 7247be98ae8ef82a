/* SPDX-License-Identifier: MIT */
/*
 * Files of every type, read from every offset in buffers that have not one byte
 * more than is asked for: what writes lines may overwrite some bytes behind
 * their end, and finds out here (with AddressSanitizer) if there is no room for
 * them. The bytes are those of fixtures/NAME/expect. ZR_LONG: of
 * the smallest, in buffers of every length.
 */
#include <errno.h>

#include "../fuzz/here_queue.h"
#include "engine.h"
#include "log.h"
#include "tally.h"
#include "test.h"

#define LARGEST ((uint64_t)400) /* files up to that */
#define EVERY_MOST 60           /* ZR_LONG: of files up to that, every length */

struct reader {
	const char *fixture;
	bool as_expected; /* the options are those of what is in expect/ */
	struct zr_engine *engine;
	unsigned int files;
	bool is_text;   /* what is read now */
	uint64_t asked; /* bytes of text that were asked for */
};

static void read_exactly(struct reader *r, struct zr_view *v, uint64_t offset, size_t len,
                         const uint8_t *want)
{
	uint8_t *out = malloc(len);
	struct zr_ticket ticket = {0};
	size_t got = 0;
	int e;

	CHECK(out);
	while ((e = zr_view_read(v, offset, len, &ticket, NULL, out, &got)) ==
	       -EINPROGRESS)
		CHECK(queue_run_all(r->engine->env.queue));
	CHECK_INT(e, 0);
	CHECK_MEM(out, got, want, len);
	r->asked += r->is_text ? len : 0;
	free(out);
}

/* Lengths that differ from offset to offset, so that there is every room for
 * what is at the end; now and then all to the end. */
static void read_windows(struct reader *r, struct zr_view *v, const uint8_t *all,
                         size_t size)
{
	bool every = getenv("ZR_LONG") != NULL && size <= EVERY_MOST;

	for (size_t at = 0; at < size; at++) {
		size_t most = size - at, len = every ? 1 : 1 + at * 29 % 97;

		for (; len < most && every; len++)
			read_exactly(r, v, at, len, all + at);
		read_exactly(r, v, at, at % 5 ? ZR_MIN(len, most) : most, all + at);
	}
}

/* False: it is not there. */
static bool compare(const char *fixture, const char *path, const uint8_t *all,
                    size_t size)
{
	static uint8_t want[LARGEST + 1];
	char name[4096];
	FILE *f;
	size_t n;

	CHECK(snprintf(name, sizeof(name), "fixtures/%s/expect/%s", fixture, path) <
	      (int)sizeof(name));
	f = fopen(name, "re");
	if (!f)
		return false;
	n = fread(want, 1, sizeof(want), f);
	fclose(f);
	CHECK_MEM(all, size, want, n);
	return true;
}

static void read_file(struct reader *r, const struct zr_place *p, const char *path)
{
	static uint8_t all[LARGEST];
	struct zr_files *files;
	struct zr_view *v;
	struct zr_ticket ticket = {0};
	uint64_t size;
	size_t got = 0;
	int e;

	CHECK_INT(zr_tree_files(r->engine->tree, p->node, &files), 0);
	CHECK_INT(zr_files_view(files, p->tree, p->entry, &v), 0);
	while ((e = zr_view_size(v, &ticket, &size)) == -EINPROGRESS)
		CHECK(queue_run_all(r->engine->env.queue));
	CHECK_INT(e, 0);
	if (size > 0 && size <= LARGEST) {
		ticket = (struct zr_ticket){0};
		e = zr_view_read(v, 0, (size_t)size, &ticket, NULL, all, &got);
		while (e == -EINPROGRESS) {
			CHECK(queue_run_all(r->engine->env.queue));
			e = zr_view_read(v, 0, (size_t)size, &ticket, NULL, all, &got);
		}
		CHECK_INT(e, 0);
		CHECK_INT(got, size);
		r->files++;
		r->is_text = p->tree == ZR_TREE_TEXT || p->tree == ZR_TREE_CSV;
		/* Headers of .npy may differ in their blanks. */
		if (r->as_expected && p->tree != ZR_TREE_NPY)
			CHECK(compare(r->fixture, path, all, got));
		read_windows(r, v, all, got);
	}
	zr_files_unref(files);
}

static void read_dir(struct reader *r, const struct zr_place *dir, const char *path)
{
	for (uint64_t nth = 0;; nth++) {
		struct zr_entry e = {0};
		char below[4096];
		int found = zr_tree_nth(r->engine->tree, dir, nth, true, &e);

		if (found == -ENOENT)
			return;
		CHECK_INT(found, 0);
		CHECK(snprintf(below, sizeof(below), "%s%s%s", path, *path ? "/" : "",
		               e.name) < (int)sizeof(below));
		if (e.is_dir)
			read_dir(r, &e.place, below);
		else if (e.place.tree != ZR_TREE_ZARR &&
		         strcmp(e.name, "unreadable.txt") != 0)
			read_file(r, &e.place, below);
		zr_entry_done(&e);
	}
}

static void read_store(const char *fixture, const struct zr_render_opts *render)
{
	char store[256];
	struct zr_opts o = {.store = store,
	                    .cache_bytes = 1, /* no piece of text is kept */
	                    .size_wait = 100,
	                    .render = *render,
	                    .view = ZR_TREE_TEXT,
	                    .views = 0x1e,
	                    .index_off = true};
	struct reader r = {.fixture = fixture,
	                   .as_expected = !render->fixed_text && !render->nonfinite};
	uint64_t rendered = zr_tally_get(ZR_TALLY_RENDERED);
	struct zr_err err = {0};
	struct zr_place root;

	snprintf(store, sizeof(store), "fixtures/%s/store", fixture);
	CHECK_INT(zr_engine_open(&o, &r.engine, &err), 0);
	CHECK_INT(zr_tree_place(r.engine->tree, ZR_ROOT_INO, &root), 0);
	read_dir(&r, &root, "");
	zr_engine_free(r.engine);
	CHECK(r.files > 3);
	/* Made for each read, and not out of what an earlier one has left. */
	CHECK(render->fixed_text ||
	      zr_tally_get(ZR_TALLY_RENDERED) - rendered > r.asked / 4);
}

static void quiet(void *arg, const char *text)
{
	(void)arg, (void)text;
}

/* Numbers of all kinds and both byte orders, complex ones, dates with and
 * without a scale, lists, sub-arrays, arrays of several dimensions. */
static void any_window_has_its_bytes_and_no_more(void)
{
	static const char *const fixtures[] = {
		"formats",        "plain",
		"struct.scalars", "struct.nested",
		"v2.plain",       "v2.objects",
		"v2.struct",      "struct.strings",
		"struct.axes",    "1d.chunked.struct.be",
	};
	static const struct zr_render_opts opts[] = {
		{0}, {.nonfinite = ZR_NONFINITE_STRING}, {.fixed_text = true}};

	for (size_t i = 0; i < ZR_COUNT(fixtures); i++)
		for (size_t k = 0; k < ZR_COUNT(opts); k++)
			read_store(fixtures[i], &opts[k]);
}

int main(void)
{
	zr_log_to_function(quiet, NULL);
	RUN(any_window_has_its_bytes_and_no_more);
	return EXIT_SUCCESS;
}
