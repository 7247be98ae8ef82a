/* SPDX-License-Identifier: MIT */
#include "consolidated.h"

#include "fake_store.h"
#include "probe.h"

#define OBJECT(k, text)                                                                  \
	{                                                                                \
		.key = (k), .data = (text), .len = sizeof(text) - 1                      \
	}
#define INLINE(metadata)                                                                 \
	"{\"consolidated_metadata\":{\"kind\":\"inline\",\"must_understand\":false,"     \
	"\"metadata\":" metadata "}}"
#define ZMETADATA(metadata) "{\"metadata\":" metadata ",\"zarr_consolidated_format\":1}"

static void storep_unref(struct zr_store **s)
{
	zr_store_unref(*s);
}

/* On top of a fake store, and the root's copies learnt. */
static struct zr_store *over(struct fake_store *f, const char *why)
{
	struct zr_store *s = zr_consolidated_new(&f->base);
	struct zr_err err = {0};

	CHECK(s);
	CHECK_INT(zr_consolidated_learn(s, "", &err), 0);
	CHECK_STR(err.text, why);
	return s;
}

static void check_get(struct zr_store *s, const char *key, const char *want)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf b = {0};
	struct zr_err err = {0};
	struct zr_stat st;
	char range[64];
	size_t len = want ? strlen(want) : 0;

	CHECK_INT(zr_store_get(s, key, 1000, &b, &err), want ? 0 : -ENOENT);
	CHECK_STR(err.text, "");
	CHECK_INT(zr_store_stat(s, key, &st, NULL), want ? 0 : -ENOENT);
	CHECK_INT(zr_store_get_range(s, key, 0, len, range, NULL), want ? 0 : -ENOENT);
	if (!want)
		return;
	CHECK_MEM(b.data, b.len, want, len);
	CHECK_INT(st.size, len);
	CHECK_INT(st.mtime.tv_sec, 1000);
	CHECK(memcmp(range, want, len) == 0);
	CHECK_INT(zr_store_get_range(s, key, 1, len, range, NULL), -EUCLEAN);
	CHECK_INT(zr_store_get_range(s, key, len - 1, 1, range, NULL), 0);
	CHECK_INT(range[0], want[len - 1]);
}

/* Names in order, with a space between, '/' behind directories; NULL: not there. */
static void check_list(struct zr_store *s, const char *key, const char *want)
{
	ZR_CLEANUP(zr_dirlist_done) struct zr_dirlist l = {0};
	char got[256] = "";

	CHECK_INT(zr_store_list(s, key, &l, NULL), want ? 0 : -ENOENT);
	for (size_t i = 0; want && i < l.count; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s%s",
		         i ? " " : "", l.entries[i].name, l.entries[i].is_dir ? "/" : "");
	CHECK_STR(got, want ? want : "");
}

static void absent_documents_are_answered_with_copies(void)
{
	struct fake_object o[] = {
		OBJECT("zarr.json",
	               INLINE("{\"a\":{\"x\":1},\"g/b\":{\"y\":2},\"c\":{}}")),
		OBJECT("a/c/0", "chunk"),
		OBJECT("z", "z"),
	};
	struct fake_store f = FAKE_STORE(o);
	ZR_CLEANUP(storep_unref) struct zr_store *s = over(&f, "");

	check_get(s, "a/zarr.json", "{\"x\":1}");
	check_get(s, "g/b/zarr.json", "{\"y\":2}");
	check_get(s, "a/c/0", "chunk");
	check_get(s, "a/.zarray", NULL);
	check_get(s, "g/zarr.json", NULL);
	check_get(s, "a/c/zarr.json", NULL);
	check_get(s, "b/zarr.json", NULL);
	check_list(s, "", "a/ c/ g/ z zarr.json");
	check_list(s, "a", "c/");
	check_list(s, "c", "");
	check_list(s, "g", "b/");
	check_list(s, "g/b", "");
	check_list(s, "g/c", NULL);
	CHECK(zr_consolidated_has(s, "a") && zr_consolidated_has(s, "g/b"));
	CHECK(!zr_consolidated_has(s, "g") && !zr_consolidated_has(s, "z"));
}

/* Not even the attributes of a node are taken from a copy when the node has a document
 * of its own, of whatever version. */
static void own_documents_win(void)
{
	struct fake_object o[] = {
		OBJECT(".zmetadata",
	               ZMETADATA(
			       "{\".zgroup\":{},\"a/.zarray\":{\"old\":1},\"a/.zattrs\":"
			       "{\"old\":2},\"b/.zarray\":{\"old\":3},\"b/.zattrs\":{},"
			       "\"c/.zarray\":{\"n\":4},\"c/.zattrs\":{\"old\":5}}")),
		OBJECT("a/.zarray", "{\"new\":1}"),
		OBJECT("b/zarr.json", "{\"new\":3}"),
		OBJECT("c/.zattrs", "{\"new\":5}"),
	};
	struct fake_store f = FAKE_STORE(o);
	ZR_CLEANUP(storep_unref) struct zr_store *s = over(&f, "");

	check_get(s, ".zgroup", "{}");
	check_get(s, "a/.zarray", "{\"new\":1}");
	check_get(s, "a/.zattrs", NULL);
	check_get(s, "b/.zarray", NULL);
	check_get(s, "b/.zattrs", NULL);
	check_get(s, "b/zarr.json", "{\"new\":3}");
	check_get(s, "c/.zarray", "{\"n\":4}");
	check_get(s, "c/.zattrs", "{\"new\":5}");
}

static void groups_below_have_copies_of_their_own(void)
{
	struct fake_object o[] = {
		OBJECT("zarr.json",
	               INLINE("{\"g\":{\"consolidated_metadata\":{\"kind\":\"inline\","
	                      "\"must_understand\":false,\"metadata\":{\"n\":{\"i\":1}}}}"
	                      ","
	                      "\"h/x\":{\"of\":\"root\"}}")),
		OBJECT("h/zarr.json",
	               INLINE("{\"x\":{\"of\":\"h\"},\"y\":{\"of\":\"h\"}}")),
	};
	struct fake_store f = FAKE_STORE(o);
	ZR_CLEANUP(storep_unref) struct zr_store *s = over(&f, "");

	check_get(s, "g/n/zarr.json", NULL);
	check_get(s, "h/y/zarr.json", NULL);
	check_list(s, "h", "x/ zarr.json");
	CHECK_INT(zr_consolidated_learn(s, "g", NULL), 0);
	CHECK_INT(zr_consolidated_learn(s, "h", NULL), 0);
	check_get(s, "g/n/zarr.json", "{\"i\":1}");
	check_get(s, "h/x/zarr.json", "{\"of\":\"root\"}");
	check_get(s, "h/y/zarr.json", "{\"of\":\"h\"}");
	check_list(s, "h", "x/ y/ zarr.json");
}

static void both_versions_may_lie_side_by_side(void)
{
	struct fake_object o[] = {
		OBJECT("zarr.json", INLINE("{\"a\":{\"v\":3}}")),
		OBJECT("zmetadata",
	               ZMETADATA("{\"a/.zarray\":{\"v\":2},\"b/.zarray\":{}}")),
	};
	struct fake_store f = FAKE_STORE(o);
	ZR_CLEANUP(storep_unref) struct zr_store *s = over(&f, "");

	check_get(s, "a/zarr.json", "{\"v\":3}");
	check_get(s, "a/.zarray", "{\"v\":2}");
	check_list(s, "", "a/ b/ zarr.json zmetadata");
}

static void broken_ones_are_as_if_they_were_not_there(void)
{
	struct fake_object o[] = {
		OBJECT("zarr.json", INLINE("{\"a\":{}}")),
		OBJECT(".zmetadata", "{\"metadata\":{\"b/.zarray\":{}}}"),
	};
	struct fake_store f = FAKE_STORE(o);
	ZR_CLEANUP(storep_unref)
	struct zr_store *s =
		over(&f, ": its zarr_consolidated_format is not 1 (.zmetadata)");

	check_list(s, "", ".zmetadata a/ zarr.json");
	check_get(s, "b/.zarray", NULL);
}

/* Nothing is remembered then. */
static void a_store_that_does_not_answer_is_asked_again(void)
{
	struct fake_object o[] = {OBJECT("zarr.json", INLINE("{\"a\":{}}"))};
	struct fake_store f = FAKE_STORE(o);
	ZR_CLEANUP(storep_unref) struct zr_store *s = zr_consolidated_new(&f.base);
	struct zr_stat st;

	f.fail_all = -EIO;
	CHECK_INT(zr_consolidated_learn(s, "", NULL), -EIO);
	f.fail_all = 0;
	CHECK_INT(zr_consolidated_learn(s, "", NULL), 0);
	f.fail_all = -EIO;
	CHECK_INT(zr_store_stat(s, "a/zarr.json", &st, NULL), -EIO);
	f.fail_all = 0;
	check_get(s, "a/zarr.json", "{}");
}

static void other_stores_have_nothing_to_learn(void)
{
	struct fake_object o[] = {OBJECT("zarr.json", INLINE("{\"a\":{}}"))};
	struct fake_store f = FAKE_STORE(o);

	CHECK_INT(zr_consolidated_learn(&f.base, "", NULL), 0);
	CHECK(!zr_consolidated_has(&f.base, "a"));
	CHECK_INT(f.gets, 0);
}

/* A document is read once, whoever asks. */
static void learning_twice_reads_once(void)
{
	struct fake_object o[] = {OBJECT("zarr.json", INLINE("{\"a\":{}}"))};
	struct fake_store f = FAKE_STORE(o);
	ZR_CLEANUP(storep_unref) struct zr_store *s = over(&f, "");
	int gets = f.gets;

	CHECK_INT(zr_consolidated_learn(s, "", NULL), 0);
	CHECK_INT(f.gets, gets);
}

static void nodes_are_found_by_copies(void)
{
	struct fake_object o[] = {OBJECT("zarr.json", INLINE("{\"g/h/a\":{}}")),
	                          OBJECT("plain/x", "x")};
	struct fake_store f = FAKE_STORE(o);
	ZR_CLEANUP(storep_unref) struct zr_store *s = over(&f, "");
	struct timespec mtime = {0};

	CHECK_INT(zr_probe_document(s, "g/h/a", &mtime), 1);
	CHECK_INT(mtime.tv_sec, 1000);
	CHECK_INT(zr_probe_document(s, "g", &mtime), 0);
	CHECK_INT(zr_probe_child(s, "g", &mtime), 1);
	CHECK_INT(zr_probe_child(s, "plain", &mtime), 0);
	CHECK_INT(zr_probe_root(s, &mtime, NULL), 0);
}

int main(void)
{
	RUN(absent_documents_are_answered_with_copies);
	RUN(own_documents_win);
	RUN(groups_below_have_copies_of_their_own);
	RUN(both_versions_may_lie_side_by_side);
	RUN(broken_ones_are_as_if_they_were_not_there);
	RUN(a_store_that_does_not_answer_is_asked_again);
	RUN(other_stores_have_nothing_to_learn);
	RUN(learning_twice_reads_once);
	RUN(nodes_are_found_by_copies);
	return EXIT_SUCCESS;
}
