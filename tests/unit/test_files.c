/* SPDX-License-Identifier: MIT */
#include "files.h"

#include "fake_store.h"
#include "request.h"

#define STRUCT                                                                           \
	"{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[4],\"data_type\":"        \
	"{\"name\":\"struct\",\"configuration\":{\"fields\":[{\"name\":\"i\","           \
	"\"data_type\":\"int16\"},{\"name\":\"pos\",\"data_type\":{\"name\":\"struct\"," \
	"\"configuration\":{\"fields\":[{\"name\":\"x\",\"data_type\":\"uint8\"}]}}}]}}" \
	","                                                                              \
	"\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[2]}}," \
	"\"chunk_key_encoding\":{\"name\":\"default\"},\"fill_value\":\"AQAC\","         \
	"\"codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]}"
#define BROKEN "{\"zarr_format\":3,\"node_type\":\"array\"}"
#define OBJECT(key, text)                                                                \
	{                                                                                \
		(key), (text), sizeof(text) - 1, 0                                       \
	}

static struct fake_object objects[] = {
	OBJECT("s/zarr.json", STRUCT),
	OBJECT("s/c/1", "\x05\x00\x06\x07\x00\x08"),
	OBJECT("broken/zarr.json", BROKEN),
	OBJECT("endless/.zarray",
               "{\"zarr_format\":2,\"shape\":[1],\"chunks\":[1],\"dtype\":"
               "[[\"a\",\"|S0\",[67141633]],[\"b\",\"|u1\"]],\"compressor\":null,"
               "\"filters\":null,\"order\":\"C\",\"fill_value\":null}"),
	OBJECT("long/.zarray",
               "{\"zarr_format\":2,\"shape\":[1],\"chunks\":[1],\"dtype\":"
               "[[\"a\",\"|S0\",[67141631]],[\"b\",\"|u1\"]],\"compressor\":null,"
               "\"filters\":null,\"order\":\"C\",\"fill_value\":null}"),
};

static struct fake_store store = FAKE_STORE(objects);

static void env_init(struct zr_env *env)
{
	*env = (struct zr_env){.store = &store.base,
	                       .cache = zr_cache_new(1 << 20),
	                       .gate = zr_gate_new(1),
	                       .queue = zr_queue_new(),
	                       .size_wait = 10};
	CHECK(env->cache && env->gate && env->queue);
}

static void env_done(struct zr_env *env)
{
	zr_queue_free(env->queue);
	zr_cache_free(env->cache);
	zr_gate_free(env->gate);
}

static struct zr_files *load(const struct zr_env *env, const char *path,
                             const struct zr_known_sizes *known)
{
	static const struct zr_known_sizes none;
	struct zr_files *f;

	CHECK_INT(zr_files_load(env, path, 1, known ? known : &none, &f), 0);
	return f;
}

/* The names of a directory, joined by spaces. */
static void check_list(struct zr_files *f, enum zr_tree_form tree, uint32_t dir,
                       const char *want)
{
	struct zr_child c;
	char got[200] = "";
	size_t n;

	CHECK_INT(zr_files_count(f, tree, dir, &n), 0);
	for (size_t i = 0; i < n; i++) {
		CHECK_INT(zr_files_nth(f, tree, dir, i, &c), 0);
		if (i > 0)
			strcat(got, " ");
		strcat(got, c.name);
	}
	CHECK_STR(got, want);
}

static struct zr_view *view_of(struct zr_files *f, enum zr_tree_form tree, uint32_t dir,
                               const char *name)
{
	struct zr_view *v;
	struct zr_child c;

	CHECK_INT(zr_files_find(f, tree, dir, name, &c), 0);
	CHECK_INT(zr_files_view(f, tree, c.entry, &v), 0);
	return v;
}

/* The end of a file whose size takes no work. */
static void check_end(struct zr_view *v, uint64_t want_size, const char *want, size_t len)
{
	struct zr_ticket ticket = {0};
	uint8_t out[100];
	uint64_t size = 0;
	size_t got;

	CHECK(zr_view_peek_size(v, &size));
	CHECK_INT(size, want_size);
	CHECK_INT(zr_view_read(v, size - len, len, &ticket, NULL, out, &got), 0);
	CHECK_MEM(out, got, want, len);
}

static void each_tree_has_its_files(void)
{
	struct zr_env env;
	struct zr_files *f;

	env_init(&env);
	f = load(&env, "s", NULL);
	check_list(f, ZR_TREE_TEXT, 0, "i pos records.jsonl");
	check_list(f, ZR_TREE_TEXT, 1, "x records.jsonl");
	check_list(f, ZR_TREE_CSV, 0, "records.csv");
	check_list(f, ZR_TREE_RAW, 0, "i pos records");
	check_list(f, ZR_TREE_NPY, 0, "i.npy pos records.npy");
	check_list(f, ZR_TREE_NPY, 1, "x.npy");
	check_list(f, ZR_TREE_ZARR, 0,
	           "zarr.json attributes.json schema.json chunks.tsv");
	check_list(f, ZR_TREE_ZARR, 1, "");
	zr_files_unref(f);
	env_done(&env);
}

/* Records 0 and 1 are the fill value: 1 and 2. */
static void binary_forms_hold_packed_values(void)
{
	struct zr_env env;
	struct zr_files *f;

	env_init(&env);
	f = load(&env, "s", NULL);
	check_end(view_of(f, ZR_TREE_RAW, 0, "i"), 8, "\x01\0\x01\0\x05\0\x07\0", 8);
	check_end(view_of(f, ZR_TREE_RAW, 1, "x"), 4, "\x02\x02\x06\x08", 4);
	check_end(view_of(f, ZR_TREE_NPY, 0, "i.npy"), 128 + 8,
	          "\n\x01\0\x01\0\x05\0\x07\0", 9);
	check_end(view_of(f, ZR_TREE_NPY, 1, "x.npy"), 128 + 4, "\n\x02\x02\x06\x08", 5);
	check_end(view_of(f, ZR_TREE_NPY, 0, "records.npy"), 128 + 12,
	          "\n\x01\0\x02\x01\0\x02\x05\0\x06\x07\0\x08", 13);
	zr_files_unref(f);
	env_done(&env);
}

static void fixed_columns_need_no_measuring(void)
{
	struct zr_env env;
	struct zr_files *f;

	env_init(&env);
	env.render.fixed_text = true;
	f = load(&env, "s", NULL);
	check_end(view_of(f, ZR_TREE_TEXT, 0, "i"), 28, "     1\n     5\n     7\n", 21);
	zr_files_unref(f);
	env_done(&env);
}

static void elements_of_no_bytes_have_a_bound(void)
{
	struct zr_env env;
	struct zr_files *f;

	env_init(&env);
	f = load(&env, "endless", NULL);
	CHECK_STR(zr_files_why(f),
	          "sub-arrays of more elements than a record has bytes, or of more than "
	          "1048576 axes in all, are not supported");
	zr_files_unref(f);
	f = load(&env, "long", NULL);
	CHECK(!zr_files_why(f));
	zr_files_unref(f);
	env_done(&env);
}

static void an_unreadable_array_tells_why_in_the_root_tree_only(void)
{
	struct zr_env env;
	struct zr_files *f;
	struct zr_view *v;

	env_init(&env);
	env.root = ZR_TREE_RAW;
	f = load(&env, "broken", NULL);
	check_list(f, ZR_TREE_RAW, 0, "unreadable.txt");
	check_list(f, ZR_TREE_TEXT, 0, "");
	check_list(f, ZR_TREE_ZARR, 0, "zarr.json attributes.json");
	CHECK_INT(zr_files_view(f, ZR_TREE_TEXT, ZR_ENTRY_DOC + ZR_DOC_UNREADABLE, &v),
	          -ENOENT);
	CHECK_INT(zr_files_view(f, ZR_TREE_ZARR, ZR_ENTRY_DOC + ZR_DOC_SCHEMA, &v),
	          -ENOENT);
	CHECK_INT(zr_files_view(f, ZR_TREE_ZARR, ZR_ENTRY_DOC + ZR_DOC_CHUNKS, &v),
	          -ENOENT);
	zr_files_unref(f);
	env_done(&env);
}

/* Or a LOOKUP would answer a bound for a file that others read. */
static void the_size_of_chunks_tsv_is_never_forgotten(void)
{
	struct zr_known_sizes known = {0};
	struct zr_ticket ticket = {0};
	struct zr_env env;
	struct zr_files *f;
	struct zr_view *v;
	uint64_t size = 0;

	env_init(&env);
	f = load(&env, "s", NULL);
	v = view_of(f, ZR_TREE_ZARR, 0, "chunks.tsv");
	CHECK(!zr_view_peek_size(v, &size));
	zr_files_save_sizes(f, &known);
	CHECK(!known.has_chunks);
	CHECK_INT(zr_view_size(v, &ticket, &size), 0);
	zr_files_save_sizes(f, &known);
	CHECK(known.has_chunks);
	CHECK_INT(known.chunks, 6);
	zr_files_unref(f);

	f = load(&env, "s", &known);
	check_end(view_of(f, ZR_TREE_ZARR, 0, "chunks.tsv"), 6, "c/1\t6\n", 6);
	zr_files_unref(f);
	free(known.sizes);
	env_done(&env);
}

int main(void)
{
	RUN(each_tree_has_its_files);
	RUN(binary_forms_hold_packed_values);
	RUN(fixed_columns_need_no_measuring);
	RUN(elements_of_no_bytes_have_a_bound);
	RUN(an_unreadable_array_tells_why_in_the_root_tree_only);
	RUN(the_size_of_chunks_tsv_is_never_forgotten);
	return EXIT_SUCCESS;
}
