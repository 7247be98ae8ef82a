/* SPDX-License-Identifier: MIT */
#include "test.h"
#include "store.h"
#include "zip_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zip.h>

static char path[64]; /* of the archive */
static int memory = -1;

/* ---- archives ---- */

/* Puts an archive where `path` leads: a file in memory, since there are thousands. */
static void write_archive(const struct zr_buf *b)
{
	if (memory >= 0)
		close(memory);
	memory = memfd_create("archive", MFD_CLOEXEC);
	CHECK(memory >= 0);
	CHECK_INT(write(memory, b->data, b->len), (ssize_t)b->len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
}

static struct zr_store *open_path(void)
{
	struct zr_store *s = NULL;
	struct zr_err err = {0};

	if (zr_store_zip_open(path, &s, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		exit(EXIT_FAILURE);
	}
	return s;
}

static struct zr_store *open_entries(const struct entry *e, size_t n)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf b = archive(e, n);

	write_archive(&b);
	return open_path();
}

#define OPEN(...)                                                                        \
	open_entries((const struct entry[]){__VA_ARGS__},                                \
	             ZR_COUNT(((const struct entry[]){__VA_ARGS__})))

static char long_text[200001]; /* compresses well, repeats never */

/* Written by libzip: stored and deflated members, directories with an entry and without
 * one. */
static struct zr_store *open_written(void)
{
	static const struct {
		const char *name, *data;
		zip_int32_t method;
	} member[] = {
		{"zarr.json", "{}", ZIP_CM_STORE},
		{"a/zarr.json", "{\"shape\":[3]}", ZIP_CM_DEFLATE},
		{"a/c/10", "ten", ZIP_CM_STORE},
		{"a/c/2", "", ZIP_CM_STORE},
		{"a/c/1", long_text, ZIP_CM_STORE},
		{"a/c/3", long_text, ZIP_CM_DEFLATE},
		{"a-b/x", "x", ZIP_CM_STORE},
		{"a.b", "y", ZIP_CM_STORE},
	};
	ZR_CLEANUP(zr_buf_done) struct zr_buf b = {0};
	zip_source_t *whole = zip_source_buffer_create(NULL, 0, 0, NULL);
	zip_stat_t st;
	zip_t *za;

	CHECK(whole);
	zip_source_keep(whole);
	za = zip_open_from_source(whole, ZIP_CREATE | ZIP_TRUNCATE, NULL);
	CHECK(za);
	CHECK(zip_dir_add(za, "empty", 0) >= 0);
	for (size_t i = 0; i < ZR_COUNT(member); i++) {
		zip_source_t *source =
			zip_source_buffer(za, member[i].data, strlen(member[i].data), 0);
		zip_int64_t index = zip_file_add(za, member[i].name, source, 0);

		CHECK(index >= 0);
		CHECK_INT(zip_set_file_compression(za, (zip_uint64_t)index,
		                                   member[i].method, 0),
		          0);
		CHECK_INT(zip_file_set_mtime(za, (zip_uint64_t)index, 1600000000, 0), 0);
	}
	CHECK_INT(zip_close(za), 0);

	CHECK_INT(zip_source_stat(whole, &st), 0);
	CHECK_INT(zr_buf_reserve(&b, st.size), 0);
	CHECK_INT(zip_source_open(whole), 0);
	b.len = st.size;
	CHECK_INT(zip_source_read(whole, b.data, b.len), (zip_int64_t)b.len);
	zip_source_close(whole);
	zip_source_free(whole);
	write_archive(&b);
	return open_path();
}

/* ---- checks ---- */

static void check_get(struct zr_store *s, const char *key, const char *want)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf b = {0};
	struct zr_err err = {0};
	int r = zr_store_get(s, key, sizeof(long_text), &b, &err);

	CHECK_STR(err.text, "");
	CHECK_INT(r, 0);
	CHECK_INT(b.len, strlen(want));
	CHECK(b.len == 0 || memcmp(b.data, want, b.len) == 0);
}

static void check_get_fails(struct zr_store *s, const char *key, int want,
                            const char *text)
{
	struct zr_buf b = {0};
	struct zr_err err = {0};

	CHECK_INT(zr_store_get(s, key, 1 << 20, &b, &err), want);
	CHECK_STR(err.text, text);
	CHECK(!b.data && b.len == 0);
}

/* `want`: the names, those of directories with a '/', parted by spaces. */
static void check_list(struct zr_store *s, const char *key, const char *want)
{
	ZR_CLEANUP(zr_dirlist_done) struct zr_dirlist l = {0};
	char got[256] = "";

	CHECK_INT(zr_store_list(s, key, &l, NULL), 0);
	for (size_t i = 0; i < l.count; i++) {
		strcat(got, i > 0 ? " " : "");
		strcat(got, l.entries[i].name);
		strcat(got, l.entries[i].is_dir ? "/" : "");
	}
	CHECK_STR(got, want);
}

/* ---- tests ---- */

static void stored_and_deflated_members_are_read(void)
{
	struct zr_store *s = open_written();

	check_get(s, "zarr.json", "{}");
	check_get(s, "a/zarr.json", "{\"shape\":[3]}");
	check_get(s, "a/c/10", "ten");
	check_get(s, "a/c/2", "");
	check_get(s, "a/c/1", long_text);
	check_get(s, "a/c/3", long_text);
	check_get(s, "a-b/x", "x");
	zr_store_unref(s);
}

static void what_is_no_object_fails_each_in_its_way(void)
{
	struct zr_store *s = open_written();
	struct zr_dirlist l = {0};
	struct zr_err err = {0};

	check_get_fails(s, "nothing", -ENOENT, "");
	check_get_fails(s, "a/c/1/0", -ENOENT, "");
	check_get_fails(s, "a/c/", -EINVAL, "'a/c/' cannot be a key of a store");
	check_get_fails(s, "a/", -EINVAL, "'a/' cannot be a key of a store");
	check_get_fails(s, "a/c", -EISDIR, "'a/c': Is a directory");
	check_get_fails(s, "empty", -EISDIR, "'empty': Is a directory");
	check_get_fails(s, "", -EISDIR, "root of the store: Is a directory");
	CHECK_INT(zr_store_list(s, "nothing", &l, &err), -ENOENT);
	CHECK_INT(zr_store_list(s, "a/c/1/0", &l, &err), -ENOENT);
	CHECK_INT(err.code, 0);
	CHECK_INT(zr_store_list(s, "a/c/1", &l, &err), -ENOTDIR);
	CHECK_STR(err.text, "'a/c/1': Not a directory");
	CHECK(!l.entries && l.count == 0);
	zr_store_unref(s);
}

static void directories_are_what_lies_between_slashes(void)
{
	struct zr_store *s = open_written();

	check_list(s, "", "a/ a-b/ a.b empty/ zarr.json");
	check_list(s, "a", "c/ zarr.json");
	check_list(s, "a/c", "1 10 2 3");
	check_list(s, "a-b", "x");
	check_list(s, "empty", "");
	zr_store_unref(s);
}

static void stat_tells_what_the_archive_does(void)
{
	struct zr_store *s = open_written();
	struct zr_stat st = {.ino = 7};
	struct zr_err err = {0};

	CHECK_INT(zr_store_stat(s, "a/c/3", &st, NULL), 0);
	CHECK_INT(st.size, strlen(long_text));
	CHECK_INT(st.mtime.tv_sec, 1600000000);
	CHECK(st.ctime.tv_sec > 1700000000);
	CHECK_INT(st.ino, 0);
	CHECK_INT(zr_store_stat(s, "a/c/4", &st, &err), -ENOENT);
	CHECK_INT(err.code, 0);
	CHECK_INT(zr_store_stat(s, "a", &st, &err), -EISDIR);
	zr_store_unref(s);
}

static void ranges_of_both_kinds_are_exact(void)
{
	static const char *const keys[] = {"a/c/1", "a/c/3"};
	static const size_t len[] = {0, 1, 7, 100, 16384, 70000, 200000};
	struct zr_store *s = open_written();
	char *out = malloc(200000);

	CHECK(out);
	for (size_t k = 0; k < ZR_COUNT(keys); k++) {
		for (size_t at = 0; at <= 200000; at += 33333) {
			for (size_t i = 0; i < ZR_COUNT(len); i++) {
				struct zr_err err = {0};
				int want = at + len[i] <= 200000 ? 0 : -EUCLEAN;

				CHECK_INT(zr_store_get_range(s, keys[k], at, len[i], out,
				                             &err),
				          want);
				CHECK_INT(err.code, want);
				if (want == 0)
					CHECK(memcmp(out, long_text + at, len[i]) == 0);
			}
		}
		CHECK_INT(zr_store_get_range(s, keys[k], 199999, 1, out, NULL), 0);
		CHECK_INT(out[0], long_text[199999]);
		CHECK_INT(zr_store_get_range(s, keys[k], UINT64_MAX, 2, out, NULL),
		          -EUCLEAN);
		CHECK_INT(zr_store_get_range(s, keys[k], 1, SIZE_MAX, out, NULL),
		          -EUCLEAN);
	}
	free(out);
	zr_store_unref(s);
}

static void no_more_than_max_is_read(void)
{
	struct zr_store *s = open_written();
	struct zr_buf b = {0};
	struct zr_err err = {0};

	CHECK_INT(zr_store_get(s, "a/c/3", 199999, &b, &err), -EFBIG);
	CHECK_STR(err.text,
	          "'a/c/3' has 200000 bytes, more than the 199999 that are read");
	CHECK(!b.data);
	zr_store_unref(s);
}

static void the_last_of_duplicates_wins(void)
{
	struct zr_store *s = OPEN(STORED("zarr.json", "1"), STORED("a/0", "old"),
	                          STORED("b/0", "other"), STORED("a/0", "newer"),
	                          STORED("zarr.json", "2"), STORED("a/0", "new"));

	check_get(s, "a/0", "new");
	check_get(s, "b/0", "other");
	check_get(s, "zarr.json", "2");
	check_list(s, "a", "0");
	check_list(s, "", "a/ b/ zarr.json");
	zr_store_unref(s);
}

static void one_folder_around_everything_is_left_out(void)
{
	struct zr_store *s = OPEN(STORED("s.zarr/", ""), STORED("s.zarr/zarr.json", "z"),
	                          STORED("s.zarr/a/0", "0"));

	check_list(s, "", "a/ zarr.json");
	check_get(s, "zarr.json", "z");
	check_get(s, "a/0", "0");
	check_get_fails(s, "s.zarr/zarr.json", -ENOENT, "");
	zr_store_unref(s);

	/* Only the one around, not the next. */
	s = OPEN(STORED("x/y/zarr.json", "z"));
	check_list(s, "", "y/");
	zr_store_unref(s);

	/* A document, or anything else, beside it. */
	s = OPEN(STORED("a/0", "0"), STORED("zarr.json", "z"));
	check_list(s, "", "a/ zarr.json");
	zr_store_unref(s);
	s = OPEN(STORED("a/0", "0"), STORED(".zgroup", "z"));
	check_list(s, "", ".zgroup a/");
	zr_store_unref(s);

	/* Names that begin alike are not one folder. */
	s = OPEN(STORED("a/0", "0"), STORED("ab/0", "1"));
	check_list(s, "", "a/ ab/");
	zr_store_unref(s);
	s = OPEN(STORED("a", "0"), STORED("a/0", "1"));
	check_list(s, "", "a/");
	check_get(s, "a", "0");
	check_get(s, "a/0", "1");
	zr_store_unref(s);
}

/* What opening a node of the archive at `path` says; its listing, if it can be opened. */
static void check_node(const char *node, const char *want)
{
	struct zr_store *s = NULL;
	struct zr_err err = {0};
	char text[256];

	if (zr_store_zip_open_node(path, node, &s, &err) == 0) {
		check_list(s, "", want);
		zr_store_unref(s);
		return;
	}
	CHECK_INT(err.code, -ENOENT);
	snprintf(text, sizeof(text), "'%s' has no node '%s'", path, node);
	CHECK_STR(err.text, text);
	CHECK(!want);
}

static void a_node_can_be_the_root(void)
{
	struct zr_store *s;

	zr_store_unref(OPEN(STORED("zarr.json", "z"), STORED("a/b/zarr.json", "b"),
	                    STORED("a/b/c/0", "0"), STORED("a-b/x", "x"),
	                    STORED("a/zarr.json", "a")));
	check_node("", "a/ a-b/ zarr.json");
	check_node("a", "b/ zarr.json");
	check_node("a/b", "c/ zarr.json");
	check_node("a/b/c", "0");
	check_node("a/b/c/0", NULL);
	check_node("a/c", NULL);
	check_node("a/../a", NULL);
	check_node("..", NULL);
	CHECK_INT(zr_store_zip_open_node(path, "a/b", &s, NULL), 0);
	check_get(s, "zarr.json", "b");
	check_get(s, "c/0", "0");
	check_get_fails(s, "a/zarr.json", -ENOENT, "");
	zr_store_unref(s);

	/* With one folder around everything, which may be named. */
	zr_store_unref(OPEN(STORED("s/zarr.json", "z"), STORED("s/a/zarr.json", "a")));
	check_node("a", "zarr.json");
	check_node("s", "a/ zarr.json");
	check_node("s/a", "zarr.json");
	check_node("s/s", NULL);
	check_node("sa", NULL);
}

static void names_that_no_key_can_have_are_not_there(void)
{
	struct zr_store *s =
		OPEN(STORED("zarr.json", "z"), STORED("../evil", "e"),
	             STORED("/abs", "e"), STORED("a/../b", "e"), STORED("a//b", "e"),
	             STORED("./c", "e"), STORED("d/.", "e"), STORED("e\\f", "e"),
	             STORED("..", "e"), STORED("", "e"), STORED("g/..", "e"),
	             STORED("/", "e"), STORED("ok/..x", "k"));

	check_list(s, "", "ok/ zarr.json");
	check_get(s, "ok/..x", "k");
	check_get_fails(s, "e\\f", -ENOENT, "");
	check_get_fails(s, "abs", -ENOENT, "");
	zr_store_unref(s);
}

/* Python's zipfile marks no name as UTF-8 that is ASCII, with control characters or not.
 */
static void names_are_what_was_written(void)
{
	struct zr_store *s =
		OPEN(STORED("zarr.json", "z"), STORED("a\x1b/x", "e"),
	             STORED("a\xe2\x86\x90/x", "u"), STORED("\x01\x7f/x", "c"));

	check_list(s, "", "\x01\x7f/ a\x1b/ a\xe2\x86\x90/ zarr.json");
	check_get(s, "a\x1b/x", "e");
	check_get(s, "a\xe2\x86\x90/x", "u");
	zr_store_unref(s);
}

static void encrypted_members_and_other_methods_are_refused(void)
{
	struct zr_store *s = OPEN(
		STORED("zarr.json", "z"), STORED("a", "secret", .flags = 1),
		STORED("b", "bzip2", .method = 12), STORED("c", "zstd", .method = 93));
	char out[1];

	check_get(s, "zarr.json", "z");
	check_get_fails(s, "a", -EOPNOTSUPP, "'a' is encrypted");
	check_get_fails(s, "b", -EOPNOTSUPP,
	                "'b' is compressed by method 12 of zip, only deflate is "
	                "supported");
	check_get_fails(s, "c", -EOPNOTSUPP,
	                "'c' is compressed by method 93 of zip, only deflate is "
	                "supported");
	CHECK_INT(zr_store_get_range(s, "a", 0, 1, out, NULL), -EOPNOTSUPP);
	CHECK_INT(zr_store_get_range(s, "b", 0, 1, out, NULL), -EOPNOTSUPP);
	zr_store_unref(s);
}

static void a_wrong_checksum_is_noticed(void)
{
	struct zr_store *s =
		OPEN(STORED("zarr.json", "z"), HELLO("good", HELLO_N, .size = 100),
	             STORED("stored", "0123456789", .crc_flip = 1),
	             HELLO("deflated", HELLO_N, .size = 100, .crc_flip = 0x80000000));
	struct zr_err err = {0};
	char out[100];

	check_get(s, "good", HELLO20);
	check_get_fails(s, "stored", -EUCLEAN,
	                "'stored' is damaged: its CRC-32 is wrong");
	check_get_fails(s, "deflated", -EUCLEAN,
	                "'deflated' is damaged: its CRC-32 is wrong");
	CHECK_INT(zr_store_get_range(s, "stored", 0, 10, out, &err), -EUCLEAN);
	CHECK_STR(err.text, "'stored' is damaged: its CRC-32 is wrong");
	CHECK_INT(zr_store_get_range(s, "deflated", 90, 10, out, NULL), -EUCLEAN);
	CHECK_INT(zr_store_get_range(s, "good", 90, 10, out, NULL), 0);
	CHECK(memcmp(out, HELLO5, 10) == 0);
	zr_store_unref(s);
}

/* Of a part nothing but the header in front of it shows whose it is. */
static void parts_are_those_of_the_member(void)
{
	struct zr_store *s =
		OPEN(STORED("zarr.json", "z"), STORED("a/0", "0123456789", .other = 1),
	             STORED("a/1", "abcdefghij"),
	             STORED("b/0", "0123456789", .local_name = "b/1"),
	             HELLO("d/0", HELLO_N, .size = 100, .local_name = "d/1"),
	             STORED("e/0", "0123456789", .local_extra = 40),
	             STORED("e/1", "0123456789", .local_extra = 60000));
	struct zr_err err = {0};
	char out[2];

	CHECK_INT(zr_store_get_range(s, "a/0", 2, 2, out, &err), -EUCLEAN);
	CHECK_STR(err.text, "'a/0' is damaged: its header is not where it should be");
	check_get_fails(s, "a/0", -EUCLEAN, "'a/0' is damaged: its CRC-32 is wrong");
	CHECK_INT(zr_store_get_range(s, "a/1", 2, 2, out, NULL), 0);
	CHECK(memcmp(out, "cd", 2) == 0);
	CHECK_INT(zr_store_get_range(s, "b/0", 2, 2, out, NULL), -EUCLEAN);
	CHECK_INT(zr_store_get_range(s, "d/0", 2, 2, out, NULL), -EUCLEAN);
	for (int i = 0; i < 2; i++) {
		CHECK_INT(zr_store_get_range(s, i ? "e/1" : "e/0", 8, 2, out, NULL), 0);
		CHECK(memcmp(out, "89", 2) == 0);
	}
	zr_store_unref(s);
}

static void members_can_be_verified(void)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf large = {0};
	struct zr_err err = {0};
	struct zr_store *s;

	for (size_t i = 0; i < 300000; i++)
		zr_buf_adds(&large, "0123456789");
	zr_buf_addc(&large, '\0');
	s = OPEN(STORED("zarr.json", "z"), HELLO("good", HELLO_N, .size = 100),
	         STORED("stored", "0123456789", .crc_flip = 1),
	         HELLO("deflated", HELLO_N, .size = 100, .crc_flip = 0x80000000),
	         STORED("large", (char *)large.data),
	         STORED("wrong", (char *)large.data, .crc_flip = 2));
	CHECK_INT(zr_store_verify(s, "zarr.json", NULL), 0);
	CHECK_INT(zr_store_verify(s, "good", NULL), 0);
	CHECK_INT(zr_store_verify(s, "large", NULL), 0);
	CHECK_INT(zr_store_verify(s, "stored", &err), -EUCLEAN);
	CHECK_STR(err.text, "'stored' is damaged: its CRC-32 is wrong");
	CHECK_INT(zr_store_verify(s, "wrong", NULL), -EUCLEAN);
	CHECK_INT(zr_store_verify(s, "deflated", NULL), -EUCLEAN);
	CHECK_INT(zr_store_verify(s, "nowhere", NULL), -ENOENT);
	zr_store_unref(s);
}

static void declared_sizes_are_not_believed(void)
{
	static const struct entry row[] = {
		STORED("more_than_stored", "0123456789", .size = 11),
		STORED("less_than_stored", "0123456789", .size = 9),
		HELLO("impossible", HELLO_N, .size = 900000),
		HELLO("too_much", HELLO_N, .size = 101),
		HELLO("too_little", HELLO_N, .size = 99),
		HELLO("huge", HELLO_N, .size = UINT64_C(1) << 62, .zip64 = true),
		STORED("no_deflate", "\xff\xff\xff\xff", .method = 8, .size = 100),
		HELLO("cut", HELLO_N - 3, .size = 100),
		HELLO("trailing", HELLO_N + 1, .size = 100),
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_store *s =
			open_entries((struct entry[]){STORED("zarr.json", "z"), row[i],
		                                      STORED("x", "y")},
		                     3);
		struct zr_buf b = {0};
		struct zr_err err = {0};
		struct zr_stat st;
		char out[128];

		CHECK_INT(zr_store_get(s, row[i].name, UINT64_MAX, &b, &err), -EUCLEAN);
		CHECK(strstr(err.text, row[i].name));
		CHECK(!b.data);
		CHECK_INT(zr_store_stat(s, row[i].name, &st, NULL), 0);
		/* A range sees no damage that begins behind it: here, bytes that follow.
		 */
		if (st.size <= sizeof(out) && strcmp(row[i].name, "trailing") != 0)
			CHECK_INT(
				zr_store_get_range(s, row[i].name, 0, st.size, out, NULL),
				-EUCLEAN);
		check_get(s, "x", "y");
		zr_store_unref(s);
	}
}

static void zip64_is_read(void)
{
	struct zr_store *s =
		OPEN(STORED("zarr.json", "z", .zip64 = true),
	             STORED("a/0", "zero", .zip64 = true), STORED("a/1", "one"),
	             HELLO("a/2", HELLO_N, .size = 100, .zip64 = true));

	check_list(s, "a", "0 1 2");
	check_get(s, "zarr.json", "z");
	check_get(s, "a/0", "zero");
	check_get(s, "a/1", "one");
	check_get(s, "a/2", HELLO20);
	zr_store_unref(s);
}

static void an_archive_may_be_empty(void)
{
	struct zr_store *s = open_entries(NULL, 0);

	check_list(s, "", "");
	check_get_fails(s, "zarr.json", -ENOENT, "");
	zr_store_unref(s);
}

static void names_beyond_the_bound_are_refused(void)
{
	char name[4100];
	struct entry e[2] = {STORED("zarr.json", "z"), STORED(name, "x")};
	struct zr_store *s = NULL;
	struct zr_err err = {0};

	memset(name, 'n', sizeof(name));
	name[4096] = '\0';
	s = open_entries(e, 2);
	check_get(s, name, "x");
	zr_store_unref(s);

	strcpy(name + 4096, "n");
	{
		ZR_CLEANUP(zr_buf_done) struct zr_buf b = archive(e, 2);

		write_archive(&b);
	}
	CHECK_INT(zr_store_zip_open(path, &s, &err), -EFBIG);
	CHECK(strncmp(err.text, path, strlen(path)) == 0);
}

static void what_is_no_archive_is_not_opened(void)
{
	static const struct entry e[] = {STORED("zarr.json", "z"), STORED("a/0", "zero")};
	ZR_CLEANUP(zr_buf_done) struct zr_buf b = archive(e, 2);
	struct zr_store *s = NULL;
	struct zr_err err = {0};

	/* Cut anywhere, it has lost its end. */
	for (size_t n = 0; n < b.len; n++) {
		struct zr_buf part = {.data = b.data, .len = n};
		int r;

		write_archive(&part);
		err = (struct zr_err){0};
		r = zr_store_zip_open(path, &s, &err);
		CHECK_INT(r, -EUCLEAN);
		CHECK_INT(err.code, -EUCLEAN);
		CHECK(strncmp(err.text, path, strlen(path)) == 0);
		CHECK_STR(err.text + strlen(path),
		          ": zip archive: damaged or cut off (it "
		          "has no central directory)");
	}
	err = (struct zr_err){0};
	CHECK_INT(zr_store_zip_open("/", &s, &err), -EUCLEAN);
	CHECK_INT(zr_store_zip_open("/nonexistent/x.zip", &s, NULL), -ENOENT);
	CHECK(!s);
}

/* Whatever byte is changed: a key holds what it held, or another name's content, or
 * there is an error. */
static void no_changed_byte_goes_unnoticed(void)
{
	static const struct entry e[] = {
		STORED("zarr.json", "zero", .zip64 = true),
		STORED("a/first", "0123456789"),
		HELLO("b/second", HELLO_N, .size = 100),
	};
	static const char *const want[] = {"zero", "0123456789", HELLO20};
	ZR_CLEANUP(zr_buf_done) struct zr_buf b = archive(e, 3);
	size_t opened = 0;

	for (size_t at = 0; at < b.len; at++) {
		static const uint8_t flip[] = {0x01, 0x80, 0xff};

		for (size_t f = 0; f < ZR_COUNT(flip); f++) {
			struct zr_store *s = NULL;

			b.data[at] ^= flip[f];
			write_archive(&b);
			b.data[at] ^= flip[f];
			if (zr_store_zip_open(path, &s, NULL) < 0)
				continue;
			opened++;
			for (size_t i = 0; i < ZR_COUNT(e); i++) {
				ZR_CLEANUP(zr_buf_done) struct zr_buf got = {0};
				char out[4];
				int r = zr_store_get(s, e[i].name, 1 << 20, &got, NULL);

				CHECK(r <= 0);
				if (r == 0)
					CHECK_MEM(got.data, got.len, want[i],
					          strlen(want[i]));
				r = zr_store_get_range(s, e[i].name, 0, 4, out, NULL);
				CHECK(r <= 0);
			}
			zr_store_unref(s);
		}
	}
	CHECK(opened > b.len);
}

static void a_changed_archive_is_not_read(void)
{
	struct zr_store *s = OPEN(STORED("zarr.json", "z"), STORED("a/0", "0123456789"));
	int fd = open(path, O_WRONLY | O_APPEND);
	char out[1];

	check_get(s, "a/0", "0123456789");
	CHECK_INT(write(fd, "x", 1), 1);
	close(fd);
	check_get_fails(s, "a/0", -EIO,
	                "'a/0': the archive was changed after it was opened");
	CHECK_INT(zr_store_get_range(s, "a/0", 0, 1, out, NULL), -EIO);
	CHECK_INT(truncate(path, 40), 0);
	check_get_fails(s, "a/0", -EIO,
	                "'a/0': the archive was changed after it was opened");
	zr_store_unref(s);

	/* Replaced, the old one is still there for who has it open. */
	s = OPEN(STORED("zarr.json", "z"), STORED("a/0", "0123456789"));
	zr_store_unref(OPEN(STORED("a/0", "other")));
	check_get(s, "a/0", "0123456789");
	zr_store_unref(s);
}

static void *read_much(void *arg)
{
	struct zr_store *s = (struct zr_store *)arg;
	char out[10];

	for (int i = 0; i < 20; i++) {
		check_get(s, "a/c/1", long_text);
		check_get(s, "a/c/3", long_text);
		check_list(s, "a/c", "1 10 2 3");
		CHECK_INT(zr_store_get_range(s, "a/c/3", 5000, 10, out, NULL), 0);
		CHECK(memcmp(out, long_text + 5000, 10) == 0);
	}
	return NULL;
}

static void threads_read_at_the_same_time(void)
{
	struct zr_store *s = open_written();
	pthread_t t[12]; /* more than there are handles */

	for (size_t i = 0; i < ZR_COUNT(t); i++)
		CHECK_INT(pthread_create(&t[i], NULL, read_much, s), 0);
	for (size_t i = 0; i < ZR_COUNT(t); i++)
		CHECK_INT(pthread_join(t[i], NULL), 0);
	zr_store_unref(s);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(long_text) - 1; i++)
		long_text[i] = (char)('0' + (i * i / 1000 + i / 77) % 10);
	RUN(stored_and_deflated_members_are_read);
	RUN(what_is_no_object_fails_each_in_its_way);
	RUN(directories_are_what_lies_between_slashes);
	RUN(stat_tells_what_the_archive_does);
	RUN(ranges_of_both_kinds_are_exact);
	RUN(no_more_than_max_is_read);
	RUN(the_last_of_duplicates_wins);
	RUN(one_folder_around_everything_is_left_out);
	RUN(a_node_can_be_the_root);
	RUN(names_that_no_key_can_have_are_not_there);
	RUN(names_are_what_was_written);
	RUN(encrypted_members_and_other_methods_are_refused);
	RUN(a_wrong_checksum_is_noticed);
	RUN(parts_are_those_of_the_member);
	RUN(members_can_be_verified);
	RUN(declared_sizes_are_not_believed);
	RUN(zip64_is_read);
	RUN(an_archive_may_be_empty);
	RUN(names_beyond_the_bound_are_refused);
	RUN(what_is_no_archive_is_not_opened);
	RUN(no_changed_byte_goes_unnoticed);
	RUN(a_changed_archive_is_not_read);
	RUN(threads_read_at_the_same_time);
	close(memory);
	return EXIT_SUCCESS;
}
