/* SPDX-License-Identifier: MIT */
#include "tree_impl.h"

#include "bounds.h"
#include "cache.h"
#include "fake_store.h"
#include "log.h"
#include "request.h"

#define GROUP "{\"zarr_format\":3,\"node_type\":\"group\"}"
#define ARRAY_OF(type)                                                                   \
	"{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[4],\"data_type\":" type   \
	",\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[2]}}" \
	","                                                                              \
	"\"chunk_key_encoding\":{\"name\":\"default\"},\"codecs\":[{"                    \
	"\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]"
#define ARRAY ARRAY_OF("\"uint8\"") ",\"fill_value\":0}"
#define STRUCT(fields) "{\"name\":\"struct\",\"configuration\":{\"fields\":[" fields "]}}"
#define FIELD(name, type) "{\"name\":\"" name "\",\"data_type\":" type "}"
#define NESTED                                                                           \
	ARRAY_OF(STRUCT(FIELD("x", "\"int8\"") "," FIELD(                                \
		"pos", STRUCT(FIELD("y", "\"int8\"")))))                                 \
	",\"fill_value\":null}"
#define DOC(key, text)                                                                   \
	{                                                                                \
		key, text, sizeof(text) - 1, 0                                           \
	}

/* Two names of which the first 300 bytes are the same. */
#define TEN "abcdefghij"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define LONG HUNDRED HUNDRED HUNDRED

struct forest {
	struct fake_store store;
	struct zr_env env;
	struct zr_tree *tree;
	struct zr_place root;
};

/* On the store that is there. */
static void plant_in(struct forest *f, enum zr_tree_form root)
{
	struct zr_err err = {0};

	f->env = (struct zr_env){.store = &f->store.base,
	                         .cache = zr_cache_new(1 << 20),
	                         .gate = zr_gate_new(1),
	                         .queue = zr_queue_new(),
	                         .size_wait = 100,
	                         .root = root,
	                         .beside = root == ZR_TREE_TEXT
	                                           ? 1 << ZR_TREE_CSV | 1 << ZR_TREE_ZARR
	                                           : 0};
	CHECK(f->env.cache && f->env.gate && f->env.queue);
	CHECK_INT(zr_tree_new(&f->env, &f->tree, &err), 0);
	CHECK_INT(zr_tree_place(f->tree, ZR_ROOT_INO, &f->root), 0);
}

static void plant(struct forest *f, struct fake_object *objects, size_t count,
                  enum zr_tree_form root)
{
	*f = (struct forest){.store = {.base = {.ops = &fake_ops, .refs = 1},
	                               .objects = objects,
	                               .count = count}};
	plant_in(f, root);
}

static void fell(struct forest *f)
{
	zr_queue_free(f->env.queue);
	zr_tree_free(f->tree);
	zr_gate_free(f->env.gate);
	zr_cache_free(f->env.cache);
}

static struct fake_object objects[] = {
	DOC("zarr.json", GROUP),
	DOC("b/zarr.json", NESTED),
	DOC("a/zarr.json", GROUP),
	DOC("a/deep/zarr.json", ARRAY),
	DOC(".csv/zarr.json", ARRAY),
	DOC("%/zarr.json", ARRAY),
	DOC("none/x", "x"),
	DOC("object", "x"),
	DOC("-/zarr.json", ARRAY), /* "%2D" comes before "&", "-" behind it */
	DOC("&/zarr.json", ARRAY),
	DOC(LONG "1/zarr.json", ARRAY),
	DOC(LONG "2/zarr.json", GROUP),
};

/* The place of a child, which must be there. */
static struct zr_place child(struct forest *f, const struct zr_place *dir,
                             const char *name)
{
	struct zr_entry e;
	struct zr_place p;

	CHECK_INT(zr_tree_lookup(f->tree, dir, name, true, &e), 0);
	CHECK_STR(e.name, name);
	p = e.place;
	CHECK((e.files != NULL) == !e.is_dir);
	zr_entry_done(&e);
	return p;
}

static int lookup(struct forest *f, const struct zr_place *dir, const char *name)
{
	struct zr_entry e = {0};
	int r = zr_tree_lookup(f->tree, dir, name, true, &e);

	zr_entry_done(&e);
	return r;
}

/* Names as they are listed, with '/' behind those of directories. */
static void check_list(struct forest *f, const struct zr_place *dir, const char *want)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf got = {0};
	struct zr_entry e;
	int r;

	for (uint64_t i = 0; (r = zr_tree_nth(f->tree, dir, i, true, &e)) == 0; i++) {
		zr_buf_addf(&got, "%s%s%s", i ? " " : "", e.name, e.is_dir ? "/" : "");
		zr_entry_done(&e);
	}
	CHECK_INT(r, -ENOENT);
	zr_buf_addc(&got, '\0');
	CHECK_STR((char *)got.data, want);
}

static const char *last_part(const char *name)
{
	return name + strlen(name) - 17;
}

static void a_directory_lists_trees_then_entries_then_nodes(void)
{
	struct forest f;
	struct zr_place p, below;
	struct zr_entry e;

	plant(&f, objects, 10, ZR_TREE_TEXT);
	check_list(&f, &f.root, ".csv/ .zarr/ %25/ %2D/ %2Ecsv/ &/ a/ b/");
	p = child(&f, &f.root, "b");
	check_list(&f, &p, "x pos/ records.jsonl");
	below = child(&f, &p, "pos");
	check_list(&f, &below, "y records.jsonl");
	p = child(&f, &f.root, ".zarr");
	check_list(&f, &p, "zarr.json attributes.json %25/ %2D/ %2Ecsv/ &/ a/ b/");
	p = child(&f, &p, "b");
	check_list(&f, &p, "zarr.json attributes.json schema.json chunks.tsv");
	p = child(&f, &f.root, ".csv");
	p = child(&f, &p, "b");
	check_list(&f, &p, "records.csv");
	/* An offset from anywhere is good, in any order, and far behind the end. */
	CHECK_INT(zr_tree_nth(f.tree, &f.root, 7, true, &e), 0);
	CHECK_STR(e.name, "b");
	CHECK_INT(zr_tree_nth(f.tree, &f.root, 0, true, &e), 0);
	CHECK_STR(e.name, ".csv");
	CHECK_INT(zr_tree_nth(f.tree, &f.root, UINT64_MAX, true, &e), -ENOENT);
	fell(&f);
}

static void names_are_found_as_they_are_listed(void)
{
	static const char *const none[] = {"none", "object",    "%",      "c",
	                                   "aa",   "zarr.json", ".raw",   "",
	                                   ".",    "..",        "a/deep", LONG};
	struct forest f;
	struct zr_place a, b;

	plant(&f, objects, 10, ZR_TREE_TEXT);
	for (size_t i = 0; i < ZR_COUNT(none); i++)
		CHECK_INT(lookup(&f, &f.root, none[i]), -ENOENT);
	CHECK_STR(child(&f, &f.root, "%2D").node->path, "-");
	CHECK_STR(child(&f, &f.root, "&").node->path, "&");
	/* The other trees are in the root and nowhere else. */
	a = child(&f, &f.root, "a");
	CHECK_INT(lookup(&f, &a, ".csv"), -ENOENT);
	child(&f, &a, "deep");
	/* A node has no nodes in a struct's directory, nor an array any. */
	b = child(&f, &f.root, "b");
	CHECK_INT(lookup(&f, &b, "a"), -ENOENT);
	b = child(&f, &b, "pos");
	CHECK_INT(lookup(&f, &b, "x"), -ENOENT);
	CHECK_INT(lookup(&f, &b, "records.csv"), -ENOENT);
	/* The node that is called as a tree is itself. */
	CHECK_STR(child(&f, &f.root, "%2Ecsv").node->path, ".csv");
	CHECK(child(&f, &f.root, ".csv").node == f.root.node);
	fell(&f);
}

static void long_names_are_told_apart(void)
{
	struct forest f;
	struct zr_entry e[2];

	plant(&f, objects + 10, 2, ZR_TREE_RAW);
	for (unsigned int i = 0; i < 2; i++) {
		CHECK_INT(zr_tree_nth(f.tree, &f.root, i, true, &e[i]), 0);
		CHECK_INT(strlen(e[i].name), ZR_NAME_MAX);
		CHECK(*last_part(e[i].name) == '~');
		CHECK(child(&f, &f.root, e[i].name).node == e[i].place.node);
	}
	CHECK(strcmp(e[0].name, e[1].name) < 0);
	CHECK(strcmp(e[0].place.node->path, e[1].place.node->path) != 0);
	CHECK_INT(strlen(e[0].place.node->path), 301);
	fell(&f);
}

/* Checks number and parent of all below a directory; counts them. */
static size_t check_numbers(struct forest *f, const struct zr_place *dir, uint64_t *seen,
                            size_t count)
{
	struct zr_entry e;

	for (uint64_t i = 0; zr_tree_nth(f->tree, dir, i, true, &e) == 0; i++) {
		uint64_t ino = zr_tree_ino(f->tree, &e.place);
		struct zr_place back;

		for (size_t k = 0; k < count; k++)
			CHECK(seen[k] != ino);
		CHECK(count < 1000);
		seen[count++] = ino;
		CHECK_INT(zr_tree_place(f->tree, ino, &back), 0);
		CHECK(back.node == e.place.node && back.tree == e.place.tree &&
		      back.entry == e.place.entry);
		if (e.is_dir) {
			back = zr_tree_parent(f->tree, &e.place);
			CHECK(back.node == dir->node && back.tree == dir->tree &&
			      back.entry == 0);
			count = check_numbers(f, &e.place, seen, count);
		}
		zr_entry_done(&e);
	}
	return count;
}

static void every_place_has_a_number_of_its_own(void)
{
	static const enum zr_tree_form roots[] = {ZR_TREE_TEXT, ZR_TREE_CSV, ZR_TREE_RAW,
	                                          ZR_TREE_NPY};
	struct zr_place p;
	struct forest f;

	for (size_t i = 0; i < ZR_COUNT(roots); i++) {
		uint64_t seen[1000] = {ZR_ROOT_INO};

		plant(&f, objects, ZR_COUNT(objects), roots[i]);
		CHECK(f.root.tree == roots[i] && f.root.entry == 0);
		CHECK_INT(zr_tree_ino(f.tree, &f.root), ZR_ROOT_INO);
		CHECK(check_numbers(&f, &f.root, seen, 1) > 10);
		p = zr_tree_parent(f.tree, &f.root);
		CHECK(p.node == f.root.node && p.tree == roots[i]);
		/* Never handed out: a node that is none, a tree that is none, none. */
		CHECK_INT(zr_tree_place(f.tree, (UINT64_C(100) << 24) + 1, &p), -ESTALE);
		CHECK_INT(zr_tree_place(f.tree, (UINT64_C(5) << 21) + 1, &p), -ESTALE);
		CHECK_INT(zr_tree_place(f.tree, 0, &p), -ESTALE);
		fell(&f);
	}
}

static void without_waiting_what_is_not_there_is_asked_for_again(void)
{
	struct forest f;
	struct zr_entry e;
	struct zr_place a;
	struct zr_files *files;

	plant(&f, objects, 10, ZR_TREE_TEXT);
	CHECK_INT(zr_tree_nth(f.tree, &f.root, 0, false, &e), 0); /* a tree: known */
	CHECK_INT(zr_tree_nth(f.tree, &f.root, 2, false, &e), -EAGAIN);
	CHECK_INT(zr_tree_lookup(f.tree, &f.root, "a", false, &e), -EAGAIN);
	CHECK(!zr_tree_peek(f.tree, f.root.node));
	CHECK_INT(f.store.lists, 0);
	a = child(&f, &f.root, "a");
	CHECK_INT(zr_tree_nth(f.tree, &f.root, 2, false, &e), 0);
	CHECK_INT(zr_tree_lookup(f.tree, &f.root, "a", false, &e), 0);
	CHECK(e.place.node == a.node);
	CHECK_INT(zr_tree_lookup(f.tree, &a, "deep", false, &e), -EAGAIN);
	files = zr_tree_peek(f.tree, f.root.node);
	CHECK(files);
	zr_files_unref(files);
	fell(&f);
}

static void a_listing_that_fails_leaves_nothing(void)
{
	static const int codes[] = {-EIO, -EACCES, -ESTALE, -ENOMEM};
	struct forest f;
	struct zr_place a, b;

	plant(&f, objects, 10, ZR_TREE_TEXT);
	a = child(&f, &f.root, "a");
	b = child(&f, &f.root, "b");
	for (size_t i = 0; i < ZR_COUNT(codes); i++) {
		int want = codes[i] == -ENOMEM ? -ENOMEM : -EIO;
		struct zr_files *files;

		f.store.fail_all = codes[i];
		CHECK_INT(lookup(&f, &a, "deep"), want);
		CHECK_INT(lookup(&f, &b, "x"), want);
		CHECK_INT(zr_tree_files(f.tree, b.node, &files), want);
		CHECK(!zr_tree_peek(f.tree, b.node));
		/* What is known stays. */
		CHECK_INT(lookup(&f, &f.root, "a"), 0);
		f.store.fail_all = 0;
	}
	check_list(&f, &a, "deep/");
	check_list(&f, &b, "x pos/ records.jsonl");
	fell(&f);
}

static void a_listing_is_a_snapshot(void)
{
	struct fake_object changing[] = {
		DOC("zarr.json", GROUP),
		DOC("gone/zarr.json", ARRAY),
		DOC("here/zarr.json", ARRAY),
		DOC("new/zarr.json", ARRAY),
	};
	struct forest f;
	struct zr_place gone, here;

	plant(&f, changing, 3, ZR_TREE_TEXT);
	check_list(&f, &f.root, ".csv/ .zarr/ gone/ here/");
	here = child(&f, &f.root, "here");
	check_list(&f, &here, "values records.jsonl");
	f.store.count = 4;
	changing[1].key = "elsewhere/zarr.json";
	changing[2].key = "elsewhere/too/zarr.json";
	check_list(&f, &f.root, ".csv/ .zarr/ gone/ here/");
	CHECK_INT(lookup(&f, &f.root, "new"), -ENOENT);
	/* What was parsed is as it was; what was not is what is there now: nothing. */
	check_list(&f, &here, "values records.jsonl");
	gone = child(&f, &f.root, "gone");
	CHECK_INT(lookup(&f, &gone, "values"), -EIO);
	fell(&f);
}

/* Documents of a megabyte: not all of them are kept. */
#define MANY 40
#define HEAVY ((size_t)1 << 20)

/* The size of the first file of an array; measures it if need be, or not (false). */
static bool size_of(struct forest *f, const struct zr_place *array, bool measure)
{
	struct zr_ticket ticket = {0};
	struct zr_files *files;
	struct zr_entry e;
	struct zr_view *v;
	uint64_t size;
	bool known;
	int r;

	CHECK_INT(zr_tree_files(f->tree, array->node, &files), 0);
	CHECK_INT(zr_tree_nth(f->tree, array, 0, true, &e), 0);
	CHECK_INT(zr_files_view(files, e.place.tree, e.place.entry, &v), 0);
	known = zr_view_peek_size(v, &size);
	while (measure && (r = zr_view_size(v, &ticket, &size)) != 0)
		CHECK_INT(r, -EINPROGRESS);
	CHECK(!(known || measure) || size == 2 * 4);
	zr_entry_done(&e);
	zr_files_unref(files);
	return known;
}

static void what_is_in_use_stays_and_the_rest_comes_and_goes(void)
{
	static char keys[MANY][32], *text;
	struct fake_object many[MANY + 1] = {DOC("zarr.json", GROUP)};
	static const char head[] = ",\"attributes\":{\"a\":\"", tail[] = "\"}}";
	size_t len = strlen(ARRAY) - 1, end = len + strlen(head) + HEAVY;
	struct zr_files *held, *files;
	struct zr_place p[MANY];
	struct forest f;

	text = malloc(end + sizeof(tail));
	CHECK(text);
	memset(text, 'x', end);
	memcpy(text, ARRAY, len);
	memcpy(text + len, head, strlen(head));
	memcpy(text + end, tail, sizeof(tail));
	for (int i = 0; i < MANY; i++) {
		snprintf(keys[i], sizeof(keys[i]), "n%02d/zarr.json", i);
		many[i + 1] = (struct fake_object){keys[i], text, strlen(text), 0};
	}
	plant(&f, many, MANY + 1, ZR_TREE_TEXT);
	for (int i = 0; i < MANY; i++) {
		char name[32];

		snprintf(name, sizeof(name), "n%02d", i);
		p[i] = child(&f, &f.root, name);
	}
	CHECK_INT(zr_tree_files(f.tree, p[0].node, &held), 0);
	CHECK(!size_of(&f, &p[1], true));
	for (int i = 1; i < MANY; i++) {
		CHECK_INT(zr_tree_files(f.tree, p[i].node, &files), 0);
		CHECK(!zr_files_why(files));
		zr_files_unref(files);
		CHECK(f.tree->bytes < 20 * HEAVY);
		zr_files_unref(zr_tree_peek(f.tree, p[2].node)); /* used again */
	}
	CHECK(!zr_tree_peek(f.tree, p[1].node) && !zr_tree_peek(f.tree, p[3].node));
	for (int i = 2; i < MANY; i += MANY - 3) {
		files = zr_tree_peek(f.tree, p[i].node);
		CHECK(files);
		zr_files_unref(files);
	}
	files = zr_tree_peek(f.tree, p[0].node); /* the longest unused, but in use */
	CHECK(files == held);
	zr_files_unref(files);
	zr_files_unref(held);
	/* And back, with the sizes that were found. */
	check_list(&f, &p[1], "values records.jsonl");
	CHECK(size_of(&f, &p[1], false));
	CHECK(!size_of(&f, &p[3], false));
	fell(&f);
	free(text);
}

static void a_node_is_as_old_as_its_document(void)
{
	struct forest f;
	struct zr_place p;

	plant(&f, objects, 10, ZR_TREE_TEXT);
	CHECK_INT(zr_tree_mtime(f.root.node).tv_sec, 1000);
	p = child(&f, &f.root, "a");
	CHECK_INT(zr_tree_mtime(p.node).tv_sec, 1000);
	fell(&f);
}

static void no_log(void *arg, const char *text)
{
	(void)arg;
	(void)text;
}

/* --- links ----------------------------------------------------------------------------
 */

#define WIDTH 1000

/* In `plain` are ten times as many groups, with long names, as in `links` and all that is
 * below it, where they are links. */
static int list_links(struct zr_store *s, const char *key, struct zr_dirlist *ret,
                      struct zr_err *reterr)
{
	bool links = strncmp(key, "links", 5) == 0;
	int count = links ? WIDTH : *key ? 10 * WIDTH : 0;

	(void)s;
	(void)reterr;
	*ret = (struct zr_dirlist){0};
	if (!*key) {
		CHECK_INT(zr_dirlist_add(ret, "links", 5, true), 0);
		CHECK_INT(zr_dirlist_add(ret, "plain", 5, true), 0);
	}
	for (int i = 0; i < count; i++) {
		char name[251];

		snprintf(name, sizeof(name), "%0250d", i);
		CHECK_INT(zr_dirlist_add(ret, name, 250, true), 0);
		ret->entries[i].is_link = links;
	}
	return 0;
}

static int stat_all(struct zr_store *s, const char *key, struct zr_stat *ret,
                    struct zr_err *reterr)
{
	const char *name = strrchr(key, '/');

	(void)s;
	(void)reterr;
	if (strcmp(name ? name + 1 : key, "zarr.json") != 0)
		return -ENOENT;
	*ret = (struct zr_stat){.size = sizeof(GROUP) - 1};
	return 0;
}

static int get_group(struct zr_store *s, const char *key, uint64_t max,
                     struct zr_buf *ret, struct zr_err *reterr)
{
	struct zr_stat st;

	(void)max;
	if (stat_all(s, key, &st, reterr) < 0)
		return -ENOENT;
	zr_buf_adds(ret, GROUP);
	return zr_buf_check(ret);
}

static int list_count(struct forest *f, const struct zr_place *dir)
{
	struct zr_entry e;
	int r = zr_tree_nth(f->tree, dir, 0, true, &e);

	if (r == 0)
		zr_entry_done(&e);
	return r;
}

static void nodes_that_links_lead_to_have_a_bound(void)
{
	static const struct zr_store_ops ops = {.get = get_group,
	                                        .get_range = fake_get_range,
	                                        .stat = stat_all,
	                                        .list = list_links,
	                                        .free = fake_free};
	struct forest f = {.store = {.base = {.ops = &ops, .refs = 1}}};
	struct zr_place p, deep;
	size_t bytes = 0; /* of paths and names alone */
	char name[251];
	int r = 0;

	plant_in(&f, ZR_TREE_TEXT);
	p = child(&f, &f.root, "links");
	snprintf(name, sizeof(name), "%0250d", 0);
	for (size_t i = 0; i < 14; i++) {
		p = child(&f, &p, name);
		bytes += WIDTH * (5 + 251 * (i + 1) + 250);
	}
	for (int i = 0; i < WIDTH && r == 0; i++) {
		snprintf(name, sizeof(name), "%0250d", i);
		deep = child(&f, &p, name);
		r = list_count(&f, &deep);
		bytes += r == 0 ? WIDTH * (5 + 251 * (size_t)16 + 250) : 0;
	}
	CHECK_INT(r, -ELOOP);
	CHECK(bytes > ZR_MAX_LINKED / 4 * 3 && bytes < ZR_MAX_LINKED);
	CHECK_INT(list_count(&f, &deep), -ELOOP);
	/* What was found stays, and what no link leads to is found. */
	CHECK_INT(list_count(&f, &p), 0);
	p = child(&f, &f.root, "plain");
	CHECK_INT(list_count(&f, &p), 0);
	fell(&f);
}

int main(void)
{
	zr_log_to_function(no_log, NULL);
	RUN(a_directory_lists_trees_then_entries_then_nodes);
	RUN(names_are_found_as_they_are_listed);
	RUN(long_names_are_told_apart);
	RUN(every_place_has_a_number_of_its_own);
	RUN(without_waiting_what_is_not_there_is_asked_for_again);
	RUN(a_listing_that_fails_leaves_nothing);
	RUN(a_listing_is_a_snapshot);
	RUN(what_is_in_use_stays_and_the_rest_comes_and_goes);
	RUN(a_node_is_as_old_as_its_document);
	RUN(nodes_that_links_lead_to_have_a_bound);
	return EXIT_SUCCESS;
}
