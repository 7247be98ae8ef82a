/* SPDX-License-Identifier: MIT */
#include "test.h"
#include "stash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define US (&(struct zr_who){geteuid(), getegid()})

#define A "0123456789abcdef0123456789abcdef"
#define B "ffffffffffffffffffffffffffffffff"

static char top[64];                /* in memory, where there is such a place */
static char path[sizeof(top) + 64]; /* of the directory in use */

static void use(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", top, name);
}

static const char *in(const char *name)
{
	static char file[sizeof(path) + 80];

	snprintf(file, sizeof(file), "%s/%s", path, name);
	return file;
}

static struct zr_stash *stash_of(uint64_t bytes, size_t files)
{
	struct zr_err err = {0};
	struct zr_stash *s;

	CHECK_INT(zr_stash_open(path, US, bytes, files, &s, &err), 0);
	return s;
}

static void put(const char *name, const char *text)
{
	int fd = open(in(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0);
	CHECK_INT(write(fd, text, strlen(text)), (int)strlen(text));
	close(fd);
}

/* Whether the file can be read, and holds `want`. */
static bool holds(const struct zr_stash *s, const char *name, const char *want)
{
	struct zr_buf b = {0};
	uint64_t size;
	bool same;

	if (zr_stash_read(s, name, 100, &b, &size) < 0)
		return false;
	CHECK_INT(size, b.len);
	same = b.len == strlen(want) && memcmp(b.data, want, b.len) == 0;
	zr_buf_done(&b);
	return same;
}

static size_t count_files(void)
{
	DIR *d = opendir(path);
	size_t n = 0;

	CHECK(d);
	for (struct dirent *e; (e = readdir(d));)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

static void what_is_written_is_read(void)
{
	struct zr_stash *s;
	struct zr_buf b = {0};
	struct stat st;
	uint64_t size;

	use("new/stash");
	s = stash_of(1000, 10);
	CHECK_INT(stat(path, &st), 0);
	CHECK_INT(st.st_mode & 07777, 0700);
	CHECK_INT(zr_stash_read(s, A, 100, &b, &size), -ENOENT);
	CHECK_INT(zr_stash_write(s, A, "one", 3), 0);
	CHECK(holds(s, A, "one"));
	CHECK_INT(stat(in(A), &st), 0);
	CHECK_INT(st.st_mode & 07777, 0600);
	CHECK_INT(zr_stash_write(s, A, "another", 7), 0);
	CHECK(holds(s, A, "another"));
	CHECK_INT(count_files(), 1);
	CHECK_INT(zr_stash_read(s, A, 3, &b, &size), 0);
	CHECK_INT(b.len, 3);
	CHECK_INT(size, 7);
	zr_buf_done(&b);
	zr_stash_remove(s, A);
	CHECK(!holds(s, A, "another"));
	CHECK_INT(zr_stash_write(s, B, "", 0), 0);
	CHECK(holds(s, B, ""));
	zr_stash_free(s);
	s = stash_of(1000, 10); /* and again, now that it is there */
	CHECK(holds(s, B, ""));
	zr_stash_free(s);
}

static void refused(int want, const char *part)
{
	struct zr_err err = {0};
	struct zr_stash *s;

	CHECK_INT(zr_stash_open(path, US, 1000, 10, &s, &err), want);
	CHECK(strstr(err.text, part) != NULL);
	CHECK(strstr(err.text, path) != NULL);
}

static void directories_that_are_not_ours_alone_are_refused(void)
{
	char target[sizeof(path)];

	use("open");
	CHECK_INT(mkdir(path, 0700), 0);
	CHECK_INT(chmod(path, 0770), 0);
	refused(-EPERM, "others");
	CHECK_INT(chmod(path, 0702), 0);
	refused(-EPERM, "others");
	CHECK_INT(chmod(path, 0755), 0);
	zr_stash_free(stash_of(1000, 10));
	strcpy(target, path);

	use("link");
	CHECK_INT(symlink(target, path), 0);
	refused(-ENOTDIR, "Not a directory");
	use("link/");
	refused(-ENOTDIR, "Not a directory");

	use("file");
	close(open(path, O_WRONLY | O_CREAT, 0600));
	refused(-ENOTDIR, "Not a directory");
	use("no/such/place");
	refused(-ENOENT, "No such file");

	if (geteuid() == 0) {
		use("theirs");
		CHECK_INT(mkdir(path, 0700), 0);
		CHECK_INT(chown(path, 1, 1), 0);
		refused(-EPERM, "does not belong to user 0");
	}
}

static void files_that_are_not_ours_alone_are_not_read(void)
{
	struct zr_stash *s;
	struct zr_buf b = {0};
	uint64_t size;

	use("files");
	s = stash_of(1000, 10);
	put("target", "text");
	CHECK_INT(symlink("target", in(A)), 0);
	CHECK_INT(zr_stash_read(s, A, 100, &b, &size), -EPERM);
	CHECK_INT(zr_stash_write(s, A, "own", 3), 0);
	CHECK(holds(s, A, "own"));
	CHECK(holds(s, "target", "text")); /* not written through the link */

	CHECK_INT(chmod(in(A), 0620), 0);
	CHECK_INT(zr_stash_read(s, A, 100, &b, &size), -EPERM);
	CHECK_INT(chmod(in(A), 0602), 0);
	CHECK_INT(zr_stash_read(s, A, 100, &b, &size), -EPERM);
	CHECK_INT(unlink(in(A)), 0);
	CHECK_INT(mkfifo(in(A), 0600), 0);
	CHECK_INT(zr_stash_read(s, A, 100, &b, &size), -EPERM);
	CHECK_INT(unlink(in(A)), 0);
	CHECK_INT(mkdir(in(A), 0700), 0);
	CHECK_INT(zr_stash_read(s, A, 100, &b, &size), -EPERM);
	CHECK(zr_stash_write(s, A, "own", 3) < 0);
	CHECK_INT(rmdir(in(A)), 0);
	if (geteuid() == 0) {
		put(A, "theirs");
		CHECK_INT(chown(in(A), 1, 1), 0);
		CHECK_INT(zr_stash_read(s, A, 100, &b, &size), -EPERM);
	}
	CHECK(!b.data);
	zr_stash_free(s);
}

/* Name of the nth of many files. */
static const char *nth(unsigned int n)
{
	static char name[ZR_STASH_NAME + 1];

	snprintf(name, sizeof(name), "%032x", n);
	return name;
}

static void set_age(const char *name, time_t seconds)
{
	struct timespec t[2] = {{.tv_sec = time(NULL) - seconds}};

	t[1] = t[0];
	CHECK_INT(utimensat(AT_FDCWD, in(name), t, 0), 0);
}

static void the_oldest_are_removed_when_there_are_too_many(void)
{
	struct zr_stash *s;

	use("many");
	s = stash_of(1000000, 16);
	put("other", "not one of ours");
	put("0123", "nor this");
	for (unsigned int i = 0; i < 16; i++) {
		CHECK_INT(zr_stash_write(s, nth(i), "x", 1), 0);
		set_age(nth(i), 1000 + i); /* the last is the oldest */
	}
	zr_stash_touch(s, nth(15));
	CHECK_INT(zr_stash_write(s, B, "new", 3), 0);
	CHECK(holds(s, B, "new"));
	CHECK(holds(s, nth(0), "x"));
	CHECK(!holds(s, nth(14), "x"));
	CHECK(!holds(s, nth(13), "x"));
	CHECK(holds(s, nth(15), "x")); /* was of use */
	CHECK(holds(s, nth(11), "x"));
	CHECK(holds(s, "other", "not one of ours"));
	CHECK(holds(s, "0123", "nor this"));
	zr_stash_free(s);
}

static void the_oldest_are_removed_when_they_are_too_large(void)
{
	static char block[400];
	struct zr_stash *s;

	use("large");
	s = stash_of(1000, 100);
	CHECK_INT(zr_stash_write(s, nth(1), block, 400), 0);
	CHECK_INT(zr_stash_write(s, nth(2), block, 400), 0);
	set_age(nth(1), 1000);
	CHECK_INT(zr_stash_write(s, nth(3), block, 400), 0);
	CHECK_INT(access(in(nth(1)), F_OK), -1);
	CHECK_INT(access(in(nth(2)), F_OK), 0);
	CHECK_INT(access(in(nth(3)), F_OK), 0);
	CHECK_INT(zr_stash_write(s, nth(4), block, 1001), -E2BIG);
	CHECK_INT(count_files(), 2);
	zr_stash_free(s);
}

static void what_others_wrote_counts_too(void)
{
	struct zr_stash *one, *two;

	use("shared");
	one = stash_of(1000000, 8);
	two = stash_of(1000000, 8);
	for (unsigned int i = 0; i < 60; i++)
		CHECK_INT(zr_stash_write(i % 2 ? one : two, nth(i), "x", 1), 0);
	CHECK(count_files() <= 16);
	zr_stash_free(one);
	zr_stash_free(two);
}

static void replacing_one_file_removes_no_other(void)
{
	struct zr_stash *s;

	use("replaced");
	s = stash_of(1000, 8);
	CHECK_INT(zr_stash_write(s, A, "kept", 4), 0);
	set_age(A, 1000);
	for (unsigned int i = 0; i < 40; i++)
		CHECK_INT(zr_stash_write(s, B, "x", 1), 0);
	CHECK(holds(s, A, "kept"));
	zr_stash_free(s);
}

static void what_was_never_finished_is_removed(void)
{
	struct zr_stash *s;

	use("unfinished");
	s = stash_of(1000, 8);
	put(A ".0123456789abcdef", "old");
	set_age(A ".0123456789abcdef", 7200);
	put(B ".0123456789abcdef", "somebody is at it");
	CHECK_INT(zr_stash_write(s, B, "x", 1), 0);
	CHECK_INT(access(in(A ".0123456789abcdef"), F_OK), -1);
	CHECK_INT(access(in(B ".0123456789abcdef"), F_OK), 0);
	zr_stash_free(s);
}

static void *replace_often(void *arg)
{
	static const char *const texts[] = {"aaaaaaaaaaaaaaaaaaaa", "bbb",
	                                    "cccccccccccc"};

	for (unsigned int i = 0; i < 50; i++)
		CHECK_INT(zr_stash_write(arg, A, texts[i % 3], strlen(texts[i % 3])), 0);
	return NULL;
}

static void a_reader_sees_one_file_or_the_other_whole(void)
{
	struct zr_stash *s;
	pthread_t writers[2];

	use("atomic");
	s = stash_of(1000000, 1000);
	CHECK_INT(zr_stash_write(s, A, "bbb", 3), 0);
	for (int i = 0; i < 2; i++)
		CHECK_INT(pthread_create(&writers[i], NULL, replace_often, s), 0);
	for (unsigned int i = 0; i < 300; i++) {
		struct zr_buf b = {0};
		uint64_t size;

		CHECK_INT(zr_stash_read(s, A, 100, &b, &size), 0);
		CHECK_INT(size, b.len);
		CHECK(b.len == (b.data[0] == 'a' ? 20 : b.data[0] == 'b' ? 3 : 12));
		for (size_t k = 0; k < b.len; k++)
			CHECK(b.data[k] == b.data[0]);
		zr_buf_done(&b);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(writers[i], NULL);
	CHECK_INT(count_files(), 1);
	zr_stash_free(s);
}

static void place_is(const char *want)
{
	char *place;

	CHECK_INT(zr_stash_place("p", US, &place), 0);
	CHECK_STR(place, want);
	free(place);
}

/* What root makes for whom it will go on as. */
static void another_user_has_a_directory_of_his_own(void)
{
	const struct zr_who who = {.uid = 1234, .gid = 5678};
	struct zr_err err = {0};
	struct zr_stash *s;
	struct stat st;

	if (geteuid() != 0)
		return;
	use("cache/1234");
	CHECK_INT(zr_stash_open(path, &who, 1000, 10, &s, &err), 0);
	CHECK_INT(stat(path, &st), 0);
	CHECK(st.st_uid == 1234 && st.st_gid == 5678 && (st.st_mode & 07777) == 0700);
	CHECK_INT(fstat(zr_stash_dir(s), &st), 0);
	CHECK_INT(st.st_uid, 1234);
	/* What somebody else has put there, be it root, is not his. */
	put(A, "text");
	CHECK_INT(holds(s, A, "text"), 0);
	CHECK_INT(chown(in(A), 1234, 1234), 0);
	CHECK_INT(holds(s, A, "text"), 1);
	zr_stash_free(s);
	CHECK_INT(zr_stash_open(path, &who, 1000, 10, &s, &err), 0);
	zr_stash_free(s);

	CHECK_INT(chown(path, 0, 0), 0);
	CHECK_INT(zr_stash_open(path, &who, 1000, 10, &s, &err), -EPERM);
	CHECK(strstr(err.text, "does not belong to user 1234") != NULL);

	/* Nothing is given away where others could have put it. */
	use("cache");
	CHECK_INT(chmod(path, 0777), 0);
	use("cache/5");
	CHECK_INT(zr_stash_open(path, &who, 1000, 10, &s, &err), -ENOENT);
	CHECK(stat(path, &st) < 0);
	use("cache");
	CHECK_INT(chmod(path, 0755), 0);
	CHECK_INT(chown(path, 1, 1), 0);
	use("cache/5");
	CHECK_INT(zr_stash_open(path, &who, 1000, 10, &s, &err), -ENOENT);
	CHECK(stat(path, &st) < 0);
}

static void the_place_follows_the_environment(void)
{
	bool root = geteuid() == 0;
	char *place;

	setenv("XDG_CACHE_HOME", "/x", 1);
	setenv("HOME", "/h", 1);
	place_is("/x/p");
	CHECK_INT(zr_stash_place("p", &(struct zr_who){.uid = 1234}, &place), 0);
	CHECK_STR(place, geteuid() == 1234 ? "/x/p" : "/x/p/1234");
	free(place);
	setenv("XDG_CACHE_HOME", "relative", 1);
	place_is(root ? "/var/cache/p" : "/h/.cache/p");
	unsetenv("XDG_CACHE_HOME");
	place_is(root ? "/var/cache/p" : "/h/.cache/p");
	unsetenv("HOME");
	if (!root)
		CHECK_INT(zr_stash_place("p", US, &place), -ENOENT);
}

static void remove_all(void)
{
	char command[sizeof(top) + 32];

	snprintf(command, sizeof(command), "rm -rf '%s'", top);
	CHECK_INT(system(command), 0);
}

int main(void)
{
	umask(022);
	snprintf(top, sizeof(top), "%s/zarrfs-test-stash-XXXXXX",
	         access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	CHECK(mkdtemp(top));
	RUN(what_is_written_is_read);
	RUN(directories_that_are_not_ours_alone_are_refused);
	RUN(files_that_are_not_ours_alone_are_not_read);
	RUN(the_oldest_are_removed_when_there_are_too_many);
	RUN(the_oldest_are_removed_when_they_are_too_large);
	RUN(what_others_wrote_counts_too);
	RUN(replacing_one_file_removes_no_other);
	RUN(what_was_never_finished_is_removed);
	RUN(a_reader_sees_one_file_or_the_other_whole);
	RUN(another_user_has_a_directory_of_his_own);
	RUN(the_place_follows_the_environment);
	remove_all();
	return EXIT_SUCCESS;
}
