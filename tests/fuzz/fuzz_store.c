/* SPDX-License-Identifier: MIT */
/*
 * The input is a whole store: a byte of options, then its objects. All files of all trees
 * are looked at as a mount would show them, twice, in different pieces and another order.
 */
#include "memory_store.h"

#include <xxhash.h>

#include "consolidated.h"
#include "files_impl.h"
#include "here_queue.h"
#include "json.h"
#include "quiet.h"
#include "tree.h"

#define MAX_SEEN 512
#define MAX_ENTRIES 24 /* of one directory */
#define MAX_DEPTH 5
#define WINDOW ((size_t)3000) /* bytes of a file that are looked at in one place */

/* What would only take time, and is bounded elsewhere. */
#define MAX_CELL ((uint64_t)1 << 18)
#define MAX_CELLS 4096

/* What a file showed. */
struct seen {
	int size_error;
	uint64_t size;
	uint64_t hash[3]; /* of each window */
};

struct mount {
	struct zr_env env;
	struct zr_tree *tree;
	bool second; /* reads before it knows the size, from the end */
	struct seen *seen;
	size_t nseen;
};

/* --- one file ------------------------------------------------------------------------
 */

/* What is not known yet: jobs find it out. (The table of chunks has none, and is not
 * ready only where the clock leapt.) */
static void wait_for(struct mount *m, unsigned int *asked)
{
	CHECK(queue_run_all(m->env.queue) || ++*asked < 1000);
}

static int view_size(struct mount *m, struct zr_view *v, uint64_t *ret)
{
	struct zr_ticket ticket = {0};
	unsigned int asked = 0;
	int r;

	while ((r = zr_view_size(v, &ticket, ret)) == -EINPROGRESS)
		wait_for(m, &asked);
	return r;
}

static int view_read(struct mount *m, struct zr_view *v, uint64_t offset, size_t len,
                     uint8_t *out, size_t *ret_len)
{
	struct zr_ticket ticket = {0};
	unsigned int asked = 0;
	int r;

	while ((r = zr_view_read(v, offset, len, &ticket, NULL, out, ret_len)) ==
	       -EINPROGRESS)
		wait_for(m, &asked);
	return r;
}

/* In pieces of odd sizes; true if all could be read. Those that can are the same as in
 * `whole`, if that could be read (whole NULL: no). */
static bool read_pieces(struct mount *m, struct zr_view *v, uint64_t offset, size_t len,
                        const uint8_t *whole, uint8_t *out)
{
	static const size_t pieces[] = {1, 7, 64, 300, 2, 4096, 13};
	bool all = true;

	for (size_t at = 0, i = 0; at < len; i++) {
		size_t n = ZR_MIN(pieces[i % ZR_COUNT(pieces)], len - at), got = 0;
		uint8_t *exact = malloc(n);
		int r;

		CHECK(exact);
		r = view_read(m, v, offset + at, n, exact, &got);
		CHECK(r == 0 || r == -EIO);
		CHECK(r == 0 || !whole);
		if (r == 0) {
			CHECK_INT(got, n); /* never short inside of the size */
			CHECK(!whole || memcmp(whole + at, exact, n) == 0);
			memcpy(out + at, exact, n);
		} else {
			memset(out + at, '?', n);
			all = false;
		}
		free(exact);
		at += n;
	}
	return all;
}

/* Bytes of a window; a byte that cannot be read is a '?'. */
static void read_window(struct mount *m, struct zr_view *v, uint64_t offset, size_t len,
                        uint8_t *out)
{
	uint8_t *whole = malloc(len + 1);
	size_t got = 0;
	int r;

	CHECK(whole);
	r = view_read(m, v, offset, len, whole, &got);
	CHECK(r == 0 || r == -EIO);
	if (r == 0)
		CHECK_INT(got, len);
	/* The whole of it fails if and only if a piece of it does. */
	CHECK(read_pieces(m, v, offset, len, r == 0 ? whole : NULL, out) == (r == 0));
	free(whole);
}

static void check_end(struct mount *m, struct zr_view *v, uint64_t size)
{
	uint8_t byte[8];
	size_t got = 9;

	CHECK_INT(view_read(m, v, size, sizeof(byte), byte, &got), 0);
	CHECK_INT(got, 0);
	CHECK_INT(view_read(m, v, size + 1, 1, byte, &got), -EIO);
	if (size > 0 && view_read(m, v, size - 1, sizeof(byte), byte, &got) == 0)
		CHECK_INT(got, 1);
}

static bool ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), k = strlen(end);

	return n >= k && strcmp(name + n - k, end) == 0;
}

/* What a file is, as far as its name tells; `text` is all of it, and was read. */
static void check_text(const char *name, enum zr_tree_form tree, const struct zr_array *a,
                       const char *text, size_t len)
{
	size_t lines = 0;

	if (tree == ZR_TREE_ZARR && ends_in(name, "schema.json"))
		CHECK_INT(zr_json_check(text, len, NULL), 0);
	if (tree == ZR_TREE_ZARR && ends_in(name, "attributes.json"))
		CHECK_INT(zr_json_check(text, len, NULL), 0);
	if (ends_in(name, "unreadable.txt")) {
		CHECK(len > 1 && text[len - 1] == '\n');
		check_clean(text, len - 1, "");
	}
	if (!a || tree == ZR_TREE_RAW || tree == ZR_TREE_NPY || tree == ZR_TREE_ZARR)
		return;
	if (tree == ZR_TREE_CSV) {
		CHECK(check_csv_cells(text, len) > 0);
		return;
	}
	check_clean(text, len, "\t\n");
	for (size_t at = 0; at < len; lines++) {
		const char *end = memchr(text + at, '\n', len - at);

		CHECK(end);
		if (ends_in(name, "records.jsonl"))
			CHECK_INT(
				zr_json_check(text + at, (size_t)(end - text) - at, NULL),
				0);
		at = (size_t)(end - text) + 1;
	}
	CHECK(lines == a->nrecords);
}

static bool is_whole(const uint8_t *text, size_t len)
{
	return len == 0 || !memchr(text, '?', len);
}

/* A read somewhere in the file: the same whether its size is known or not. */
struct early {
	int r;
	size_t len;
	uint8_t bytes[200];
};

static struct early read_early(struct mount *m, struct zr_view *v)
{
	struct early e = {0};

	e.r = view_read(m, v, 150, sizeof(e.bytes), e.bytes, &e.len);
	CHECK(e.r == 0 || e.r == -EIO || e.r == -EOVERFLOW);
	if (e.r)
		e.len = 0;
	/* What is behind the text means nothing. */
	memset(e.bytes + e.len, 0, sizeof(e.bytes) - e.len);
	return e;
}

static void read_file(struct mount *m, struct zr_view *v, const char *name,
                      enum zr_tree_form tree, const struct zr_array *a)
{
	static uint8_t text[WINDOW];
	struct seen *s = &m->seen[m->nseen];
	struct early early = {0}, late;
	uint64_t peeked;

	if (m->nseen == MAX_SEEN)
		return;
	m->nseen++;
	*s = (struct seen){0};
	if (m->second)
		early = read_early(m, v);
	s->size_error = view_size(m, v, &s->size);
	if (s->size_error) {
		CHECK(s->size_error == -EOVERFLOW || s->size_error == -EIO);
		return;
	}
	CHECK(zr_view_peek_size(v, &peeked) && peeked == s->size);
	for (unsigned int i = 0; i < (s->size > WINDOW ? 3 : 1); i++) {
		unsigned int which = m->second && s->size > WINDOW ? 2 - i : i;
		size_t len = (size_t)ZR_MIN(s->size, WINDOW);

		read_window(m, v, (s->size - len) / 2 * which, len, text);
		s->hash[which] = XXH64(text, len, 0);
		if (len == s->size && is_whole(text, len))
			check_text(name, tree, a, (char *)text, len);
	}
	check_end(m, v, s->size);
	late = read_early(m, v);
	CHECK(!m->second || memcmp(&early, &late, sizeof(late)) == 0);
}

/* --- directories ---------------------------------------------------------------------
 */

static bool is_cheap(const struct zr_files *f)
{
	const struct zr_grid *g = &f->source.grid;

	return !f->sizes || (g->cell_records * f->meta.array->type.size <= MAX_CELL &&
	                     g->cells_per_object <= MAX_CELLS);
}

static void visit_file(struct mount *m, const struct zr_entry *e)
{
	struct zr_files *files;
	struct zr_view *v;
	int r = zr_tree_files(m->tree, e->place.node, &files);

	CHECK_INT(r, 0);
	if (e->place.entry >= ZR_ENTRY_DOC || is_cheap(files)) {
		r = zr_files_view(files, e->place.tree, e->place.entry, &v);
		CHECK(r == 0 || r == -EFBIG);
		if (r == 0)
			read_file(m, v, e->name, e->place.tree,
			          e->place.entry < ZR_ENTRY_DOC ? files->meta.array
			                                        : NULL);
	}
	queue_run_all(m->env.queue);
	zr_files_unref(files);
}

static bool same_place(const struct zr_place *a, const struct zr_place *b)
{
	return a->node == b->node && a->tree == b->tree && a->entry == b->entry;
}

static void visit(struct mount *m, const struct zr_place *dir, unsigned int depth)
{
	for (uint64_t i = 0; i < MAX_ENTRIES; i++) {
		struct zr_entry e = {0}, found = {0};
		struct zr_place place;
		int r = zr_tree_nth(m->tree, dir, i, true, &e);

		if (r == -ENOENT)
			return;
		CHECK_INT(r, 0);
		if (depth > 0 && dir->tree != ZR_TREE_ZARR)
			check_file_name(e.name);
		CHECK_INT(zr_tree_lookup(m->tree, dir, e.name, true, &found), 0);
		CHECK(same_place(&found.place, &e.place) && found.is_dir == e.is_dir);
		CHECK_INT(zr_tree_place(m->tree, zr_tree_ino(m->tree, &e.place), &place),
		          0);
		CHECK(same_place(&place, &e.place));
		if (!e.is_dir)
			visit_file(m, &e);
		else if (depth < MAX_DEPTH)
			visit(m, &e.place, depth + 1);
		zr_entry_done(&found);
		zr_entry_done(&e);
	}
}

static void mount_run(struct mount *m, struct zr_store *store, unsigned int options)
{
	struct zr_place root = {.tree = options >> 3 & 1 ? ZR_TREE_RAW : ZR_TREE_TEXT};
	struct zr_err err = {0};
	int r;

	m->nseen = 0;
	m->env = (struct zr_env){
		.store = store,
		.cache = zr_cache_new(m->second ? 1 << 20 : 64 << 20),
		.gate = zr_gate_new(1),
		.queue = zr_queue_new(),
		.render = {.nonfinite =
	                           options & 1 ? ZR_NONFINITE_STRING : ZR_NONFINITE_NULL,
	                   .fixed_text = options >> 1 & 1},
		.size_wait = 100,
		.missing_is_error = options >> 2 & 1,
		.root = root.tree,
		.beside = root.tree == ZR_TREE_TEXT ? 0x1e : 0,
	};
	CHECK(m->env.cache && m->env.gate && m->env.queue);
	r = zr_tree_new(&m->env, &m->tree, &err);
	if (r == 0) {
		CHECK_INT(zr_tree_place(m->tree, ZR_ROOT_INO, &root), 0);
		visit(m, &root, 0);
		zr_tree_free(m->tree);
	} else {
		CHECK(r == -EINVAL || r == -EOPNOTSUPP);
		check_err(&err, r);
	}
	zr_queue_free(m->env.queue);
	zr_cache_free(m->env.cache);
	zr_gate_free(m->env.gate);
}

/* As a mount has it, with the copies in consolidated metadata; or without. */
static struct zr_store *store_new(struct memory_store *m, unsigned int options)
{
	struct zr_store *base = zr_store_ref(&m->fake.base);

	return options >> 4 & 1 ? zr_consolidated_new(base) : base;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct seen first[MAX_SEEN], second[MAX_SEEN];
	struct input in = {data, size};
	unsigned int options = take_byte(&in);
	struct mount one = {.seen = first}, two = {.seen = second, .second = true};
	struct memory_store m;

	quiet_begin();
	memory_store_init(&m, &in);
	for (int i = 0; i < 2; i++) {
		struct zr_store *store = store_new(&m, options);

		CHECK(store);
		mount_run(i == 0 ? &one : &two, store, options);
		zr_store_unref(store);
	}
	CHECK_INT(one.nseen, two.nseen);
	for (size_t i = 0; i < one.nseen; i++)
		CHECK(memcmp(&first[i], &second[i], sizeof(first[i])) == 0);
	memory_store_done(&m);
	quiet_end();
	return 0;
}
