/* SPDX-License-Identifier: MIT */
#include "test.h"
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* A store that counts its calls and remembers the last key. */
struct fake_store {
	struct zr_store base;
	char key[64];
	int calls;
	int freed;
};

static void fake_seen(struct zr_store *s, const char *key)
{
	struct fake_store *f = (struct fake_store *)s;

	f->calls++;
	snprintf(f->key, sizeof(f->key), "%s", key);
}

static int fake_get(struct zr_store *s, const char *key, uint64_t max, struct zr_buf *ret,
                    struct zr_err *reterr)
{
	(void)reterr;
	fake_seen(s, key);
	CHECK_INT(max, 10);
	zr_buf_adds(ret, "abc");
	return 0;
}

static int fake_get_range(struct zr_store *s, const char *key, uint64_t offset,
                          size_t len, void *out, struct zr_err *reterr)
{
	fake_seen(s, key);
	CHECK_INT(offset, 5);
	memset(out, 'x', len);
	return zr_err_set(reterr, -EUCLEAN, "short");
}

static int fake_stat(struct zr_store *s, const char *key, struct zr_stat *ret,
                     struct zr_err *reterr)
{
	(void)reterr;
	fake_seen(s, key);
	*ret = (struct zr_stat){.size = 3};
	return 0;
}

static int fake_list(struct zr_store *s, const char *key, struct zr_dirlist *ret,
                     struct zr_err *reterr)
{
	(void)reterr;
	fake_seen(s, key);
	return zr_dirlist_add(ret, "e", 1, false);
}

static void fake_free(struct zr_store *s)
{
	((struct fake_store *)s)->freed++;
}

static const struct zr_store_ops fake_ops = {
	fake_get, fake_get_range, NULL, fake_stat, fake_list, fake_free,
};

static struct fake_store fake(void)
{
	return (struct fake_store){.base = {.ops = &fake_ops, .refs = 1}};
}

static void calls_reach_the_kind_of_store(void)
{
	struct fake_store f = fake();
	ZR_CLEANUP(zr_buf_done) struct zr_buf b = {0};
	ZR_CLEANUP(zr_dirlist_done) struct zr_dirlist l = {0};
	struct zr_err err = {0};
	struct zr_stat st;
	char out[2];

	CHECK_INT(zr_store_get(&f.base, "a/b", 10, &b, NULL), 0);
	CHECK_MEM(b.data, b.len, "abc", 3);
	CHECK_STR(f.key, "a/b");
	CHECK_INT(zr_store_get_range(&f.base, "c/0", 5, 2, out, &err), -EUCLEAN);
	CHECK_STR(err.text, "short");
	CHECK_STR(f.key, "c/0");
	CHECK_INT(zr_store_stat(&f.base, ".zarray", &st, NULL), 0);
	CHECK_INT(st.size, 3);
	CHECK_INT(zr_store_list(&f.base, "", &l, NULL), 0);
	CHECK_INT(l.count, 1);
	CHECK_STR(f.key, "");
	CHECK_INT(f.calls, 4);
}

static void keys_that_could_leave_the_store_are_refused(void)
{
	static const char *const bad[] = {
		"/",   "/a",   "a/",   "a//b",   ".",     "..",           "./a",
		"a/.", "../a", "a/..", "a/../b", "a/./b", "a/b/../../..", "//",
	};
	static const char *const good[] = {
		"",      "a",       "a/b",   "...", ".a", "..a", "a..",
		"a/...", ".zarray", "c/0/1", "a b", "\\", "-",   "~",
	};
	struct fake_store f = fake();
	struct zr_stat st;

	for (size_t i = 0; i < ZR_COUNT(bad); i++) {
		ZR_CLEANUP(zr_buf_done) struct zr_buf b = {0};
		struct zr_dirlist l = {0};
		struct zr_err err = {0};
		char out[1];

		CHECK_INT(zr_store_get(&f.base, bad[i], 10, &b, &err), -EINVAL);
		CHECK(strstr(err.text, bad[i]));
		CHECK_INT(zr_store_get_range(&f.base, bad[i], 5, 1, out, NULL), -EINVAL);
		CHECK_INT(zr_store_stat(&f.base, bad[i], &st, NULL), -EINVAL);
		CHECK_INT(zr_store_list(&f.base, bad[i], &l, NULL), -EINVAL);
	}
	CHECK_INT(f.calls, 0);
	for (size_t i = 0; i < ZR_COUNT(good); i++)
		CHECK_INT(zr_store_stat(&f.base, good[i], &st, NULL), 0);
}

static void the_last_reference_frees(void)
{
	struct fake_store f = fake();

	zr_store_unref(NULL);
	CHECK(zr_store_ref(&f.base) == &f.base);
	zr_store_unref(&f.base);
	CHECK_INT(f.freed, 0);
	zr_store_unref(&f.base);
	CHECK_INT(f.freed, 1);
}

static void lists_are_sorted_bytewise_and_each_name_comes_once(void)
{
	static const char *const names[] = {"b", "a/x", "\xff", "a",
	                                    "B", "a",   "ab",   "a-"};
	static const char *const want[] = {"B", "a", "a-", "ab", "b", "\xff"};
	ZR_CLEANUP(zr_dirlist_done) struct zr_dirlist l = {0};

	zr_dirlist_sort(&l);
	for (size_t i = 0; i < ZR_COUNT(names); i++)
		CHECK_INT(zr_dirlist_add(&l, names[i], strcspn(names[i], "/"),
		                         i == 1 || i == 0),
		          0);
	zr_dirlist_sort(&l);
	CHECK_INT(l.count, ZR_COUNT(want));
	for (size_t i = 0; i < l.count; i++) {
		CHECK_STR(l.entries[i].name, want[i]);
		CHECK(l.entries[i].is_dir == (i == 1 || i == 4));
	}
}

static void a_long_list_grows(void)
{
	ZR_CLEANUP(zr_dirlist_done) struct zr_dirlist l = {0};

	for (int i = 0; i < 1000; i++) {
		char name[16];
		int n = snprintf(name, sizeof(name), "%04d", 999 - i);

		CHECK_INT(zr_dirlist_add(&l, name, (size_t)n, false), 0);
	}
	zr_dirlist_sort(&l);
	CHECK_INT(l.count, 1000);
	CHECK_STR(l.entries[0].name, "0000");
	CHECK_STR(l.entries[999].name, "0999");
}

static void failures_name_the_key(void)
{
	struct zr_err err = {0};

	CHECK_INT(zr_store_failed(&err, "c/0", -EACCES), -EACCES);
	CHECK_STR(err.text, "'c/0': Permission denied");
	err = (struct zr_err){0};
	CHECK_INT(zr_store_failed(&err, "", -EIO), -EIO);
	CHECK_STR(err.text, "root of the store: Input/output error");
	CHECK_INT(zr_store_failed(NULL, "c/0", -EAGAIN), -EIO);
	err = (struct zr_err){0};
	CHECK_INT(zr_store_too_large(&err, "k", 11, 10), -EFBIG);
	CHECK_STR(err.text, "'k' has 11 bytes, more than the 10 that are read");
	err = (struct zr_err){0};
	CHECK_INT(zr_store_too_short(&err, "k", 7, 5, 3), -EUCLEAN);
	CHECK_STR(err.text, "'k' ends at byte 7, but 3 bytes are wanted from byte 5");
}

static char dir[] = "/tmp/zarrfs-test-store-XXXXXX";

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void write_file(const char *name, const void *data, size_t n)
{
	int fd = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0);
	CHECK_INT(write(fd, data, n), (ssize_t)n);
	close(fd);
}

static void a_read_gets_all_or_says_why(void)
{
	char out[8];
	int fd, pipes[2];

	write_file("f", "0123456789", 10);
	fd = open(path_of("f"), O_RDONLY);
	CHECK_INT(zr_store_pread(fd, out, 4, 3), 0);
	CHECK(memcmp(out, "3456", 4) == 0);
	CHECK_INT(zr_store_pread(fd, out, 4, 7), -EUCLEAN);
	CHECK_INT(zr_store_pread(fd, out, 1, 10), -EUCLEAN);
	CHECK_INT(zr_store_pread(fd, out, 1, UINT64_MAX), -EUCLEAN);
	CHECK_INT(zr_store_pread(fd, NULL, 0, 3), 0);
	close(fd);
	CHECK_INT(pipe(pipes), 0);
	CHECK_INT(zr_store_pread(pipes[0], out, 1, 0), -ESPIPE);
	close(pipes[0]);
	close(pipes[1]);
	unlink(path_of("f"));
}

int main(void)
{
	CHECK(mkdtemp(dir));
	RUN(calls_reach_the_kind_of_store);
	RUN(keys_that_could_leave_the_store_are_refused);
	RUN(the_last_reference_frees);
	RUN(lists_are_sorted_bytewise_and_each_name_comes_once);
	RUN(a_long_list_grows);
	RUN(failures_name_the_key);
	RUN(a_read_gets_all_or_says_why);
	CHECK_INT(rmdir(dir), 0);
	return EXIT_SUCCESS;
}
