/* SPDX-License-Identifier: MIT */
#include "test.h"
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char top[] = "/tmp/zarrfs-test-store-dir-XXXXXX";
static char store_path[64]; /* top/store */
static int root = -1;       /* of it */

static void make_file(const char *name, const void *data, size_t n)
{
	int fd = openat(root, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0);
	CHECK_INT(write(fd, data, n), (ssize_t)n);
	close(fd);
}

static void make_socket(const char *name)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s/%s", store_path, name);
	CHECK(fd >= 0);
	CHECK_INT(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	close(fd);
}

static void make_store(void)
{
	CHECK(mkdtemp(top));
	snprintf(store_path, sizeof(store_path), "%s/store", top);
	CHECK_INT(mkdir(store_path, 0700), 0);
	root = open(store_path, O_RDONLY | O_DIRECTORY);
	CHECK(root >= 0);
	CHECK_INT(mkdirat(root, "../outside", 0700), 0);
	make_file("../outside/o", "outside", 7);
	make_file("zarr.json", "{\"a\":1}", 7);
	make_file("empty", "", 0);
	CHECK_INT(mkdirat(root, "c", 0700), 0);
	CHECK_INT(mkdirat(root, "c/0", 0700), 0);
	make_file("c/0/1", "0123456789", 10);
	CHECK_INT(mkdirat(root, "none", 0700), 0);
	CHECK_INT(symlinkat("c", root, "to_c"), 0);
	CHECK_INT(symlinkat("c/0/1", root, "to_chunk"), 0);
	CHECK_INT(symlinkat("gone", root, "dangling"), 0);
	CHECK_INT(symlinkat("../outside", root, "leaves"), 0);
	CHECK_INT(symlinkat("/dev/null", root, "device"), 0);
	CHECK_INT(mkfifoat(root, "fifo", 0600), 0);
	make_socket("socket");
}

static struct zr_store *open_store(bool follow)
{
	struct zr_store *s = NULL;
	struct zr_err err = {0};

	CHECK_INT(zr_store_dir_open(store_path, follow, &s, &err), 0);
	return s;
}

static void check_get(struct zr_store *s, const char *key, const char *want)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf b = {0};

	CHECK_INT(zr_store_get(s, key, 1000, &b, NULL), 0);
	CHECK_INT(b.len, strlen(want));
	CHECK(b.len == 0 || memcmp(b.data, want, b.len) == 0);
}

/* All three ways to ask for an object fail alike. */
static void check_fails(struct zr_store *s, const char *key, int want, const char *text)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf b = {0};
	struct zr_err err[3] = {{0}};
	struct zr_stat st = {.size = 77};
	char c = 'x';

	CHECK_INT(zr_store_get(s, key, 1000, &b, &err[0]), want);
	CHECK(!b.data && b.len == 0);
	CHECK_INT(zr_store_get_range(s, key, 0, 1, &c, &err[1]), want);
	CHECK_INT(c, 'x');
	CHECK_INT(zr_store_stat(s, key, &st, &err[2]), want);
	CHECK_INT(st.size, 77);
	for (int i = 0; i < 3; i++)
		CHECK_STR(err[i].text, text);
}

static void objects_are_read_whole(void)
{
	struct zr_store *s = open_store(false);

	check_get(s, "zarr.json", "{\"a\":1}");
	check_get(s, "empty", "");
	check_get(s, "c/0/1", "0123456789");
	check_get(s, "to_c/0/1", "0123456789");
	check_get(s, "to_chunk", "0123456789");
	zr_store_unref(s);
}

static void what_is_no_object_fails_each_in_its_way(void)
{
	struct zr_store *s = open_store(false);

	check_fails(s, "nothing", -ENOENT, "");
	check_fails(s, "zarr.json/0/1", -ENOENT, "");
	check_fails(s, "c/0/2", -ENOENT, "");
	check_fails(s, "", -EISDIR, "root of the store: Is a directory");
	check_fails(s, "c/0", -EISDIR, "'c/0': Is a directory");
	check_fails(s, "to_c", -EISDIR, "'to_c': Is a directory");
	check_fails(s, "fifo", -EUCLEAN, "'fifo' is not a regular file");
	check_fails(s, "dangling", -EUCLEAN, "'dangling' is a dangling symbolic link");
	check_fails(
		s, "leaves/o", -ELOOP,
		"'leaves' is a symbolic link that leaves the store (-o follow_symlinks)");
	check_fails(
		s, "device", -ELOOP,
		"'device' is a symbolic link that leaves the store (-o follow_symlinks)");
	check_fails(s, "socket", -EUCLEAN, "'socket' is not a regular file");
	zr_store_unref(s);
}

static void with_follow_links_lead_out(void)
{
	struct zr_store *s = open_store(true);

	check_get(s, "leaves/o", "outside");
	check_get(s, "to_c/0/1", "0123456789");
	check_fails(s, "dangling", -EUCLEAN, "'dangling' is a dangling symbolic link");
	check_fails(s, "device", -EUCLEAN, "'device' is not a regular file");
	check_fails(s, "leaves/p", -ENOENT, "");
	zr_store_unref(s);
}

static void no_more_than_max_is_read(void)
{
	struct zr_store *s = open_store(false);
	ZR_CLEANUP(zr_buf_done) struct zr_buf b = {0};
	struct zr_err err = {0};
	int fd;

	CHECK_INT(zr_store_get(s, "c/0/1", 9, &b, &err), -EFBIG);
	CHECK_STR(err.text, "'c/0/1' has 10 bytes, more than the 9 that are read");
	CHECK(!b.data);
	CHECK_INT(zr_store_get(s, "c/0/1", 10, &b, NULL), 0);
	CHECK_INT(b.len, 10);

	/* A sparse file claims any size: nothing is allocated for it. */
	fd = openat(root, "huge", O_WRONLY | O_CREAT, 0600);
	CHECK(fd >= 0);
	if (ftruncate(fd, INT64_C(1) << 42) == 0) {
		ZR_CLEANUP(zr_buf_done) struct zr_buf none = {0};
		char c;

		CHECK_INT(zr_store_get(s, "huge", UINT64_C(1) << 31, &none, NULL),
		          -EFBIG);
		CHECK_INT(zr_store_get_range(s, "huge", (UINT64_C(1) << 42) - 1, 1, &c,
		                             NULL),
		          0);
		CHECK_INT(c, 0);
	}
	close(fd);
	CHECK_INT(unlinkat(root, "huge", 0), 0);
	zr_store_unref(s);
}

static void every_range_is_read_exactly(void)
{
	struct zr_store *s = open_store(false);

	for (size_t at = 0; at <= 11; at++) {
		for (size_t n = 0; n <= 11; n++) {
			char out[12] = "............";
			struct zr_err err = {0};
			int want = at + n <= 10 ? 0 : -EUCLEAN;

			CHECK_INT(zr_store_get_range(s, "c/0/1", at, n, out, &err), want);
			CHECK_INT(err.code, want);
			if (want == 0)
				CHECK(memcmp(out, &"0123456789"[at], n) == 0);
			CHECK_INT(out[want == 0 ? n : 0], '.');
		}
	}
	CHECK_INT(zr_store_get_range(s, "c/0/1", UINT64_MAX, 2, NULL, NULL), -EUCLEAN);
	CHECK_INT(zr_store_get_range(s, "c/0/1", UINT64_MAX - 1, 2, NULL, NULL),
	          -EUCLEAN);
	CHECK_INT(zr_store_get_range(s, "c/0/1", 1, SIZE_MAX, NULL, NULL), -EUCLEAN);
	zr_store_unref(s);
}

static void stat_tells_what_the_file_system_does(void)
{
	struct zr_store *s = open_store(false);
	struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1234567890, .tv_nsec = 5}};
	struct zr_stat got;
	struct stat st;

	CHECK_INT(utimensat(root, "c/0/1", times, 0), 0);
	CHECK_INT(fstatat(root, "c/0/1", &st, 0), 0);
	CHECK_INT(zr_store_stat(s, "to_chunk", &got, NULL), 0);
	CHECK_INT(got.size, 10);
	CHECK_INT(got.mtime.tv_sec, 1234567890);
	CHECK_INT(got.mtime.tv_nsec, st.st_mtim.tv_nsec);
	CHECK_INT(got.ctime.tv_sec, st.st_ctim.tv_sec);
	CHECK_INT(got.ctime.tv_nsec, st.st_ctim.tv_nsec);
	CHECK_INT(got.ino, st.st_ino);
	zr_store_unref(s);
}

static void a_listing_is_sorted_and_knows_directories(void)
{
	static const struct zr_dirent want[] = {
		{"c", true, false},          {"dangling", false, false},
		{"device", false, false},    {"empty", false, false},
		{"fifo", false, false},      {"leaves", true, true},
		{"none", true, false},       {"socket", false, false},
		{"to_c", true, true},        {"to_chunk", false, false},
		{"zarr.json", false, false},
	};
	struct zr_store *s = open_store(false);
	ZR_CLEANUP(zr_dirlist_done) struct zr_dirlist l = {0};

	CHECK_INT(zr_store_list(s, "", &l, NULL), 0);
	CHECK_INT(l.count, ZR_COUNT(want));
	for (size_t i = 0; i < l.count; i++) {
		CHECK_STR(l.entries[i].name, want[i].name);
		CHECK_INT(l.entries[i].is_dir, want[i].is_dir);
		CHECK_INT(l.entries[i].is_link, want[i].is_link);
	}
	zr_store_unref(s);
}

static void check_list(struct zr_store *s, const char *key, int want, const char *first)
{
	ZR_CLEANUP(zr_dirlist_done) struct zr_dirlist l = {0};
	struct zr_err err = {0};

	CHECK_INT(zr_store_list(s, key, &l, &err), want);
	CHECK_INT(err.code, want == -ENOENT ? 0 : want);
	CHECK_INT(l.count, first ? 1 : 0);
	if (first)
		CHECK_STR(l.entries[0].name, first);
}

/* However one comes there. */
static void a_link_that_leads_back_is_no_directory(void)
{
	struct zr_store *s = open_store(false);

	CHECK_INT(mkdirat(root, "loop", 0700), 0);
	CHECK_INT(mkdirat(root, "loop/a", 0700), 0);
	CHECK_INT(mkdirat(root, "loop/b", 0700), 0);
	CHECK_INT(symlinkat("../b", root, "loop/a/to_b"), 0);
	CHECK_INT(symlinkat("../a", root, "loop/b/to_a"), 0);
	for (unsigned int i = 0; i < 3; i++) {
		static const char *const key[] = {"loop/a", "loop/a/to_b", "loop/b/to_a"};
		static const char *const name[] = {"to_b", "to_a", "to_b"};
		ZR_CLEANUP(zr_dirlist_done) struct zr_dirlist l = {0};

		CHECK_INT(zr_store_list(s, key[i], &l, NULL), 0);
		CHECK_INT(l.count, 1);
		CHECK_STR(l.entries[0].name, name[i]);
		CHECK_INT(l.entries[0].is_dir, i == 0);
	}
	CHECK_INT(symlinkat("..", root, "loop/c"), 0);
	CHECK_INT(symlinkat(".", root, "loop/d"), 0);
	for (unsigned int i = 0; i < 4; i++) {
		ZR_CLEANUP(zr_dirlist_done) struct zr_dirlist l = {0};

		CHECK_INT(zr_store_list(s, "loop", &l, NULL), 0);
		CHECK_INT(l.count, 4);
		CHECK_INT(l.entries[i].is_dir, i < 2);
	}
	zr_store_unref(s);
}

/* A directory can still be opened, but not what is looked at to tell what a link is. */
static void a_link_that_cannot_be_told_fails_the_listing(void)
{
	struct zr_store *s = open_store(false);
	struct zr_dirlist l = {0};
	struct rlimit old, few;
	int next = dup(root);

	CHECK(next >= 0);
	close(next);
	CHECK_INT(getrlimit(RLIMIT_NOFILE, &old), 0);
	few = (struct rlimit){.rlim_cur = (rlim_t)next + 1, .rlim_max = old.rlim_max};
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &few), 0);
	CHECK_INT(zr_store_list(s, "", &l, NULL), -EMFILE);
	CHECK_INT(l.count, 0);
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &old), 0);
	CHECK_INT(zr_store_list(s, "", &l, NULL), 0);
	zr_dirlist_done(&l);
	zr_store_unref(s);
}

static void a_listing_fails_for_what_is_no_directory(void)
{
	struct zr_store *s = open_store(false), *f = open_store(true);

	check_list(s, "c", 0, "0");
	check_list(s, "c/0", 0, "1");
	check_list(s, "to_c/0", 0, "1");
	check_list(s, "none", 0, NULL);
	check_list(s, "nothing", -ENOENT, NULL);
	check_list(s, "zarr.json/x", -ENOENT, NULL);
	check_list(s, "zarr.json", -ENOTDIR, NULL);
	check_list(s, "to_chunk", -ENOTDIR, NULL);
	check_list(s, "fifo", -ENOTDIR, NULL);
	check_list(s, "dangling", -EUCLEAN, NULL);
	check_list(s, "leaves", -ELOOP, NULL);
	check_list(f, "leaves", 0, "o");
	zr_store_unref(s);
	zr_store_unref(f);
}

/* What claims another size than it has is not read as if it were whole: sysfs says 4096
 * bytes of everything, proc none. */
static void a_file_of_another_size_than_it_said_is_damaged(void)
{
	struct zr_store *s;
	struct zr_buf b = {0};
	struct zr_err err = {0};
	struct stat st;

	if (stat("/proc/self/status", &st) == 0 && st.st_size == 0) {
		CHECK_INT(zr_store_dir_open("/proc/self", false, &s, NULL), 0);
		CHECK_INT(zr_store_get(s, "status", 100, &b, &err), -EUCLEAN);
		CHECK_STR(err.text, "'status' became longer while it was read");
		CHECK(!b.data);
		zr_store_unref(s);
	}
	if (stat("/sys/kernel/uevent_seqnum", &st) == 0 && st.st_size == 4096) {
		err = (struct zr_err){0};
		CHECK_INT(zr_store_dir_open("/sys/kernel", false, &s, NULL), 0);
		CHECK_INT(zr_store_get(s, "uevent_seqnum", 4096, &b, &err), -EUCLEAN);
		CHECK_STR(err.text, "'uevent_seqnum' became shorter while it was read");
		CHECK(!b.data);
		zr_store_unref(s);
	}
}

static void a_store_that_was_removed_does_not_answer(void)
{
	char path[80];
	struct zr_store *s;

	snprintf(path, sizeof(path), "%s/gone", top);
	CHECK_INT(mkdir(path, 0700), 0);
	CHECK_INT(zr_store_dir_open(path, false, &s, NULL), 0);
	check_list(s, "", 0, NULL);
	check_fails(s, "a", -ENOENT, "");
	CHECK_INT(rmdir(path), 0);
	check_list(s, "", -EIO, NULL);
	check_fails(s, "a", -EIO, "the directory of the store was removed");
	zr_store_unref(s);
}

static void what_is_no_directory_is_not_opened(void)
{
	static const struct {
		const char *name;
		int want;
		const char *text;
	} row[] = {
		{"zarr.json", -ENOTDIR, "/zarr.json: Not a directory"},
		{"nothing", -ENOENT, "/nothing: No such file or directory"},
		{"dangling", -ENOENT, "/dangling: No such file or directory"},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_store *s = NULL;
		struct zr_err err = {0};
		char path[96];

		snprintf(path, sizeof(path), "%s/%s", store_path, row[i].name);
		CHECK_INT(zr_store_dir_open(path, false, &s, &err), row[i].want);
		CHECK(!s);
		CHECK(strncmp(err.text, store_path, strlen(store_path)) == 0);
		CHECK_STR(err.text + strlen(store_path), row[i].text);
	}
}

static void *read_much(void *arg)
{
	for (int i = 0; i < 200; i++) {
		check_get((struct zr_store *)arg, "to_c/0/1", "0123456789");
		check_list((struct zr_store *)arg, "c/0", 0, "1");
	}
	return NULL;
}

static void threads_read_at_the_same_time(void)
{
	struct zr_store *s = open_store(false);
	pthread_t t[4];

	for (size_t i = 0; i < ZR_COUNT(t); i++)
		CHECK_INT(pthread_create(&t[i], NULL, read_much, s), 0);
	for (size_t i = 0; i < ZR_COUNT(t); i++)
		CHECK_INT(pthread_join(t[i], NULL), 0);
	zr_store_unref(s);
}

/* Whether the child that runs `test` comes to its end. */
static bool in_child(void (*test)(void))
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		test();
		_exit(0);
	}
	CHECK_INT(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int sandbox_errno;

/* From here on openat2() fails as it does in a sandbox that does not know it. */
static void without_openat2(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K,
	                 SECCOMP_RET_ERRNO | (unsigned int)sandbox_errno),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = ZR_COUNT(filter), .filter = filter};

	CHECK_INT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		return;
	objects_are_read_whole();
	what_is_no_object_fails_each_in_its_way();
	a_listing_fails_for_what_is_no_directory();
	with_follow_links_lead_out();
	a_store_that_was_removed_does_not_answer();
}

static void a_sandbox_without_openat2_changes_nothing(void)
{
	sandbox_errno = EPERM;
	CHECK(in_child(without_openat2));
	sandbox_errno = ENOSYS;
	CHECK(in_child(without_openat2));
}

static void as_nobody(void)
{
	struct zr_store *s = open_store(false);

	if (geteuid() == 0)
		CHECK_INT(setuid(65534), 0);
	check_fails(s, "locked/x", -EACCES, "'locked/x': Permission denied");
	check_list(s, "locked", -EACCES, NULL);
	zr_store_unref(s);
}

static void a_refusal_is_not_a_missing_key(void)
{
	CHECK_INT(mkdirat(root, "locked", 0), 0);
	CHECK_INT(chmod(top, 0755), 0);
	CHECK_INT(chmod(store_path, 0755), 0);
	CHECK(in_child(as_nobody));
	CHECK_INT(unlinkat(root, "locked", AT_REMOVEDIR), 0);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

int main(void)
{
	make_store();
	RUN(objects_are_read_whole);
	RUN(what_is_no_object_fails_each_in_its_way);
	RUN(with_follow_links_lead_out);
	RUN(no_more_than_max_is_read);
	RUN(every_range_is_read_exactly);
	RUN(stat_tells_what_the_file_system_does);
	RUN(a_listing_is_sorted_and_knows_directories);
	RUN(a_link_that_leads_back_is_no_directory);
	RUN(a_link_that_cannot_be_told_fails_the_listing);
	RUN(a_listing_fails_for_what_is_no_directory);
	RUN(a_file_of_another_size_than_it_said_is_damaged);
	RUN(a_store_that_was_removed_does_not_answer);
	RUN(what_is_no_directory_is_not_opened);
	RUN(threads_read_at_the_same_time);
	RUN(a_sandbox_without_openat2_changes_nothing);
	RUN(a_refusal_is_not_a_missing_key);
	close(root);
	CHECK_INT(nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
	return EXIT_SUCCESS;
}
