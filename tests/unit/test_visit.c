/* SPDX-License-Identifier: MIT */
#include "visit.h"

#include "cache.h"
#include "fake_store.h"
#include "log.h"
#include "request.h"

#define GROUP "{\"zarr_format\":3,\"node_type\":\"group\"}"
#define ARRAY                                                                            \
	"{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[4],\"data_type\":"        \
	"\"uint8\",\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{"             \
	"\"chunk_shape\":[2]}},\"chunk_key_encoding\":{\"name\":\"default\"},"           \
	"\"fill_value\":0,\"codecs\":[{\"name\":\"bytes\"}]}"
#define DOC(key, text)                                                                   \
	{                                                                                \
		key, text, sizeof(text) - 1, 0                                           \
	}

/* A store and the tree over it. */
struct forest {
	struct fake_store store;
	struct zr_env env;
	struct zr_tree *tree;
};

static void plant(struct forest *f, struct fake_object *objects, size_t count)
{
	struct zr_err err = {0};

	*f = (struct forest){.store = {.base = {.ops = &fake_ops, .refs = 1},
	                               .objects = objects,
	                               .count = count}};
	f->env = (struct zr_env){.store = &f->store.base,
	                         .cache = zr_cache_new(1 << 20),
	                         .gate = zr_gate_new(1),
	                         .queue = zr_queue_new(),
	                         .beside = 1 << ZR_TREE_CSV | 1 << ZR_TREE_ZARR};
	CHECK(f->env.cache && f->env.gate && f->env.queue);
	CHECK_INT(zr_tree_new(&f->env, &f->tree, &err), 0);
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
	DOC("b/zarr.json", ARRAY),
	DOC("b/c/0", "xy"),
	DOC("a/zarr.json", GROUP),
	DOC("a/deep/zarr.json", GROUP),
	DOC("a/deep/z/zarr.json", ARRAY),
	DOC("a/y/zarr.json", "{"),
	DOC("plain/below/zarr.json", ARRAY),
	DOC(".hidden/zarr.json", ARRAY),
	DOC("nothing/x", "x"),
};

/* Visits all below `path`; one line a step: depth, path, name, what it is. */
static void visit(struct forest *f, const char *path, struct zr_buf *ret)
{
	struct zr_place from;
	struct zr_visit *v;
	struct zr_step s;
	int r;

	CHECK_INT(zr_visit_find(f->tree, path, &from), 0);
	v = zr_visit_new(f->tree, &from, path);
	CHECK(v);
	while ((r = zr_visit_next(v, &s)) > 0)
		zr_buf_addf(ret, "%u '%s' '%s' %s\n", s.depth, s.path, s.name,
		            s.error < 0                ? strerror(-s.error)
		            : zr_files_why(s.files)    ? "unreadable"
		            : zr_files_source(s.files) ? "array"
		                                       : "group");
	CHECK_INT(r, 0);
	CHECK_INT(zr_visit_next(v, &s), 0);
	zr_buf_addc(ret, '\0');
	zr_visit_free(v);
}

static void check_visit(struct forest *f, const char *path, const char *want)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf got = {0};

	visit(f, path, &got);
	CHECK_STR((char *)got.data, want);
}

static void every_node_comes_once_those_above_first(void)
{
	struct forest f;

	plant(&f, objects, ZR_COUNT(objects));
	check_visit(&f, "",
	            "0 '' '' group\n"
	            "1 '%2Ehidden' '%2Ehidden' array\n"
	            "1 'a' 'a' group\n"
	            "2 'a/deep' 'deep' group\n"
	            "3 'a/deep/z' 'z' array\n"
	            "2 'a/y' 'y' unreadable\n"
	            "1 'b' 'b' array\n"
	            "1 'plain' 'plain' group\n"
	            "2 'plain/below' 'below' array\n");
	fell(&f);
}

static void a_visit_begins_anywhere(void)
{
	struct forest f;

	plant(&f, objects, ZR_COUNT(objects));
	check_visit(&f, "/./a//deep/",
	            "0 'a/deep' 'deep' group\n"
	            "1 'a/deep/z' 'z' array\n");
	check_visit(&f, "b", "0 'b' 'b' array\n");
	check_visit(&f, ".csv/b", "0 '.csv/b' 'b' array\n");
	fell(&f);
}

static void paths_are_looked_up_as_a_mount_has_them(void)
{
	static const struct {
		const char *path;
		int want;
		bool is_file;
	} row[] = {
		{"", 0, false},
		{"/", 0, false},
		{".", 0, false},
		{"a", 0, false},
		{"a/deep/z/values", 0, true},
		{"//a/.//deep/z/./values", 0, true},
		{"b/records.jsonl", 0, true},
		{".zarr/b/zarr.json", 0, true},
		{"%2Ehidden", 0, false},
		{".hidden", -ENOENT, false},
		{".raw", -ENOENT, false}, /* not among those beside */
		{"nope", -ENOENT, false},
		{"a/../b", -ENOENT, false},
		{"nothing", -ENOENT, false},
		{"b/values/x", -ENOTDIR, false},
		{"b/c", -ENOENT, false},
	};
	struct forest f;
	char longest[300];
	struct zr_place p;

	plant(&f, objects, ZR_COUNT(objects));
	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		CHECK_INT(zr_visit_find(f.tree, row[i].path, &p), row[i].want);
		if (row[i].want == 0)
			CHECK_INT(p.entry != 0, row[i].is_file);
	}
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	CHECK_INT(zr_visit_find(f.tree, longest, &p), -ENAMETOOLONG);
	fell(&f);
}

/* A group that cannot be listed is a step with an error; the others come all the same. */
static void trouble_with_a_node_is_its_own(void)
{
	static struct fake_object bad[] = {
		DOC("zarr.json", GROUP),   DOC("a/zarr.json", ARRAY),
		DOC("b/zarr.json", GROUP), {"b", "", 0, -EACCES},
		DOC("c/zarr.json", ARRAY),
	};
	struct forest f;

	plant(&f, bad, ZR_COUNT(bad));
	check_visit(&f, "",
	            "0 '' '' group\n"
	            "1 'a' 'a' array\n"
	            "1 'b' 'b' Input/output error\n"
	            "1 'c' 'c' array\n");
	fell(&f);
}

/* As a link to a directory above would make it. */
static void depth_has_a_bound(void)
{
	enum { LEVELS = 300 };
	struct fake_object *deep = calloc(LEVELS, sizeof(*deep));
	ZR_CLEANUP(zr_buf_done) struct zr_buf got = {0};
	struct forest f;
	size_t lines = 0;

	CHECK(deep);
	for (int i = 0; i < LEVELS; i++) {
		char key[2 * LEVELS + 16] = "";

		for (int k = 0; k < i; k++)
			strcat(key, "g/");
		strcat(key, "zarr.json");
		deep[i] = (struct fake_object){strdup(key), GROUP, sizeof(GROUP) - 1, 0};
		CHECK(deep[i].key);
	}
	plant(&f, deep, LEVELS);
	visit(&f, "", &got);
	for (const char *s = (char *)got.data; *s; s++)
		lines += *s == '\n';
	CHECK_INT(lines, 257);
	CHECK(strstr((char *)got.data, "Too many levels of symbolic links"));
	fell(&f);
	for (int i = 0; i < LEVELS; i++)
		free((char *)deep[i].key);
	free(deep);
}

int main(void)
{
	CHECK_INT(zr_log_to_file("/dev/null"), 0);
	RUN(every_node_comes_once_those_above_first);
	RUN(a_visit_begins_anywhere);
	RUN(paths_are_looked_up_as_a_mount_has_them);
	RUN(trouble_with_a_node_is_its_own);
	RUN(depth_has_a_bound);
	return EXIT_SUCCESS;
}
