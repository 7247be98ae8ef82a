/* SPDX-License-Identifier: MIT */
#include "test.h"
#include "beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define LOOK (O_PATH | O_CLOEXEC)
#define READ (O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
#define LIST (READ | O_DIRECTORY)

static char top[] = "/tmp/zarrfs-test-beneath-XXXXXX";
static int root = -1; /* of top/store; what lies beside it is outside */

static void make_file(const char *name, const char *text)
{
	int fd = openat(root, name, O_WRONLY | O_CREAT | O_EXCL, 0600);

	CHECK(fd >= 0);
	CHECK_INT(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void make_socket(const char *name)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s/store/%s", top, name);
	CHECK(fd >= 0);
	CHECK_INT(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	close(fd);
}

static const struct {
	const char *target, *name;
} links[] = {
	{"f", "to_f"},
	{"d", "to_d"},
	{"../f", "d/up"},
	{"../d/../d/./e//", "d/round"},
	{"to_d/e", "over_link"},
	{"to_f/x", "through_file"},
	{"f/.", "dot_of_file"},
	{"f/..", "up_of_file"},
	{"nothing", "dangling"},
	{"d/nothing/x", "dangling_deep"},
	{"dangling", "to_dangling"},
	{"loop2", "loop1"},
	{"loop1", "loop2"},
	{"../outside/o", "leaves"},
	{"../outside", "leaves_dir"},
	{"d/../../outside/o", "leaves_later"},
	{"leaves", "to_leaves"},
	{"../store/f", "out_and_in"},
	{"../outside/nothing", "leaves_dangling"},
	{"/dev/null", "device"},
};

static void make_store(void)
{
	char path[256];

	CHECK(mkdtemp(top));
	snprintf(path, sizeof(path), "%s/store", top);
	CHECK_INT(mkdir(path, 0700), 0);
	root = open(path, O_PATH | O_DIRECTORY);
	CHECK(root >= 0);
	CHECK_INT(mkdirat(root, "../outside", 0700), 0);
	make_file("../outside/o", "outside");
	make_file("f", "file");
	CHECK_INT(mkdirat(root, "d", 0700), 0);
	CHECK_INT(mkdirat(root, "d/e", 0700), 0);
	make_file("d/e/g", "deep");
	CHECK_INT(mkfifoat(root, "fifo", 0600), 0);
	make_socket("socket");
	for (size_t i = 0; i < ZR_COUNT(links); i++)
		CHECK_INT(symlinkat(links[i].target, root, links[i].name), 0);
	snprintf(path, sizeof(path), "%s/store/f", top);
	CHECK_INT(symlinkat(path, root, "absolute"), 0);
}

static struct zr_beneath open_store(bool follow, bool with_openat2)
{
	struct zr_beneath b;
	char path[256];

	snprintf(path, sizeof(path), "%s/store", top);
	CHECK_INT(zr_beneath_init(&b, path, follow), 0);
	b.has_openat2 = b.has_openat2 && with_openat2;
	return b;
}

/* What is expected of a key, the same with openat2() and without. */
struct row {
	const char *key;
	int flags;
	int want;         /* 0 or -errno; for each of: */
	int want_follow;  /* links may leave the store */
	const char *text; /* of want; NULL: none */
};

static const struct row rows[] = {
	{"f", READ, 0, 0, NULL},
	{"d/e/g", READ, 0, 0, NULL},
	{"d", LIST, 0, 0, NULL},
	{"", LIST, 0, 0, NULL},
	{"", LOOK, 0, 0, NULL},
	{"nothing", READ, -ENOENT, -ENOENT, NULL},
	{"nothing", LIST, -ENOENT, -ENOENT, NULL},
	{"d/nothing", LOOK, -ENOENT, -ENOENT, NULL},
	{"d/nothing/x", READ, -ENOENT, -ENOENT, NULL},
	{"f/x", READ, -ENOENT, -ENOENT, NULL},
	{"f/x/y", LIST, -ENOENT, -ENOENT, NULL},
	{"fifo/x", READ, -ENOENT, -ENOENT, NULL},
	{"f", LIST, -ENOTDIR, -ENOTDIR, "'f': Not a directory"},
	{"to_f", LIST, -ENOTDIR, -ENOTDIR, "'to_f': Not a directory"},
	{"fifo", READ, 0, 0, NULL},
	{"socket", LOOK, 0, 0, NULL},
	{"socket", READ, -EUCLEAN, -EUCLEAN, "'socket' is not a regular file"},
	{"to_f", READ, 0, 0, NULL},
	{"to_d", LIST, 0, 0, NULL},
	{"to_d/e/g", READ, 0, 0, NULL},
	{"to_d/up", LOOK, 0, 0, NULL},
	{"d/up", READ, 0, 0, NULL},
	{"d/round/g", READ, 0, 0, NULL},
	{"d/round", LIST, 0, 0, NULL},
	{"over_link/g", READ, 0, 0, NULL},
	{"to_d/nothing", READ, -ENOENT, -ENOENT, NULL},
	{"over_link/nothing/x", READ, -ENOENT, -ENOENT, NULL},
	{"to_f/x", READ, -ENOENT, -ENOENT, NULL},
	{"through_file", READ, -EUCLEAN, -EUCLEAN,
         "'through_file' is a dangling symbolic link"},
	{"dot_of_file", READ, -EUCLEAN, -EUCLEAN,
         "'dot_of_file' is a dangling symbolic link"},
	{"up_of_file", LIST, -EUCLEAN, -EUCLEAN,
         "'up_of_file' is a dangling symbolic link"},
	{"dangling", READ, -EUCLEAN, -EUCLEAN, "'dangling' is a dangling symbolic link"},
	{"dangling", LOOK, -EUCLEAN, -EUCLEAN, "'dangling' is a dangling symbolic link"},
	{"dangling", LIST, -EUCLEAN, -EUCLEAN, "'dangling' is a dangling symbolic link"},
	{"dangling/c/0", READ, -EUCLEAN, -EUCLEAN,
         "'dangling' is a dangling symbolic link"},
	{"dangling_deep", READ, -EUCLEAN, -EUCLEAN,
         "'dangling_deep' is a dangling symbolic link"},
	{"to_dangling/x", READ, -EUCLEAN, -EUCLEAN,
         "'to_dangling' is a dangling symbolic link"},
	{"loop1", READ, -ELOOP, -ELOOP, "'loop1' is a symbolic link that leads nowhere"},
	{"loop1/x", LOOK, -ELOOP, -ELOOP,
         "'loop1' is a symbolic link that leads nowhere"},
	{"leaves", READ, -ELOOP, 0,
         "'leaves' is a symbolic link that leaves the store (-o follow_symlinks)"},
	{"leaves", LOOK, -ELOOP, 0,
         "'leaves' is a symbolic link that leaves the store (-o follow_symlinks)"},
	{"leaves_dir/o", READ, -ELOOP, 0,
         "'leaves_dir' is a symbolic link that leaves the store (-o follow_symlinks)"},
	{"leaves_dir", LIST, -ELOOP, 0,
         "'leaves_dir' is a symbolic link that leaves the store (-o follow_symlinks)"},
	{"leaves_dir/nothing", READ, -ELOOP, -ENOENT,
         "'leaves_dir' is a symbolic link that leaves the store (-o follow_symlinks)"},
	{"leaves_later", READ, -ELOOP, 0,
         "'leaves_later' is a symbolic link that leaves the store (-o follow_symlinks)"},
	{"to_leaves", READ, -ELOOP, 0,
         "'to_leaves' is a symbolic link that leaves the store (-o follow_symlinks)"},
	{"out_and_in", READ, -ELOOP, 0,
         "'out_and_in' is a symbolic link that leaves the store (-o follow_symlinks)"},
	{"leaves_dangling", READ, -ELOOP, -EUCLEAN,
         "'leaves_dangling' is a symbolic link that leaves the store (-o "
         "follow_symlinks)"},
	{"absolute", READ, -ELOOP, 0,
         "'absolute' is a symbolic link that leaves the store (-o follow_symlinks)"},
};

static void check_row(const struct row *row, bool follow, bool with_openat2)
{
	struct zr_beneath b = open_store(follow, with_openat2);
	struct zr_err err = {0};
	int want = follow ? row->want_follow : row->want;
	int fd = zr_beneath_open(&b, row->key, row->flags, &err);

	if ((want == 0) != (fd >= 0) || (want < 0 && fd != want))
		printf("key '%s': %s\n", row->key, err.text);
	CHECK_INT(ZR_MIN(fd, 0), want);
	CHECK_INT(err.code, want == -ENOENT ? 0 : want);
	if (!follow && row->text)
		CHECK_STR(err.text, row->text);
	if (fd >= 0) {
		struct stat a, c;
		int at_flags = 0;

		CHECK_INT(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
		CHECK_INT(fstat(fd, &a), 0);
		CHECK_INT(fstatat(root, *row->key ? row->key : ".", &c, at_flags), 0);
		CHECK(a.st_ino == c.st_ino && a.st_dev == c.st_dev);
		close(fd);
	}
	zr_beneath_done(&b);
}

static void keys_lead_where_they_may_by_openat2(void)
{
	for (size_t i = 0; i < ZR_COUNT(rows); i++)
		check_row(&rows[i], false, true);
}

static void keys_lead_where_they_may_without_openat2(void)
{
	for (size_t i = 0; i < ZR_COUNT(rows); i++)
		check_row(&rows[i], false, false);
}

static void links_that_leave_are_followed_when_asked_to(void)
{
	for (size_t i = 0; i < ZR_COUNT(rows); i++) {
		check_row(&rows[i], true, true);
		check_row(&rows[i], true, false);
	}
}

static void check_open(const char *key, int want)
{
	for (int mode = 0; mode < 4; mode++) {
		struct zr_beneath b = open_store(mode & 1, mode & 2);
		int fd = zr_beneath_open(&b, key, READ, NULL);

		CHECK_INT(ZR_MIN(fd, 0), want);
		if (fd >= 0)
			close(fd);
		zr_beneath_done(&b);
	}
}

static void a_component_too_long_to_exist_is_not_there(void)
{
	char key[6000];

	for (size_t n = 250; n < sizeof(key) - 8; n += n < 260 ? 1 : 500) {
		memset(key, 'x', n);
		strcpy(key + n, "");
		check_open(key, -ENOENT);
		strcpy(key + n, "/y");
		check_open(key, -ENOENT);
		memcpy(key, "d/e/", 4);
		check_open(key, -ENOENT);
	}
}

static void a_link_to_a_name_too_long_is_dangling(void)
{
	char target[600];

	memset(target, 'x', sizeof(target));
	target[599] = '\0';
	CHECK_INT(symlinkat(target, root, "to_long"), 0);
	check_open("to_long", -EUCLEAN);
	check_open("to_long/x", -EUCLEAN);
}

static void a_path_longer_than_a_call_takes_is_found(void)
{
	const size_t depth = 40, size = 200; /* 8 kB in all */
	char name[201], key[40 * 201 + 8] = "";
	int at = dup(root);

	memset(name, 'n', size);
	name[size] = '\0';
	for (size_t i = 0; i < depth; i++) {
		int next;

		CHECK_INT(mkdirat(at, name, 0700), 0);
		next = openat(at, name, O_PATH | O_DIRECTORY);
		CHECK(next >= 0);
		close(at);
		at = next;
		strcat(key, name);
		strcat(key, "/");
	}
	strcat(key, "leaf");
	check_open(key, -ENOENT);
	close(openat(at, "leaf", O_WRONLY | O_CREAT, 0600));
	check_open(key, 0);
	CHECK_INT(unlinkat(at, "leaf", 0), 0);
	CHECK_INT(symlinkat("gone", at, "leaf"), 0);
	check_open(key, -EUCLEAN);
	CHECK_INT(unlinkat(at, "leaf", 0), 0);
	close(at);
	/* Long even for nftw(): from the inside out. */
	for (size_t i = depth; i > 0; i--) {
		at = dup(root);
		for (size_t k = 1; k < i; k++) {
			int next = openat(at, name, O_PATH | O_DIRECTORY);

			close(at);
			at = next;
		}
		CHECK_INT(unlinkat(at, name, AT_REMOVEDIR), 0);
		close(at);
	}
}

static void a_walk_has_an_end(void)
{
	/* Every link doubles the way: 2^30 components without a bound on them. */
	for (int i = 0; i < 30; i++) {
		char name[16], target[128];

		snprintf(name, sizeof(name), "bomb%d", i);
		snprintf(target, sizeof(target), "d/../bomb%d/../bomb%d", i + 1, i + 1);
		CHECK_INT(symlinkat(target, root, name), 0);
	}
	CHECK_INT(symlinkat("d", root, "bomb30"), 0);
	for (int with = 0; with < 2; with++) {
		struct zr_beneath b = open_store(false, with);

		CHECK_INT(zr_beneath_open(&b, "bomb0", READ, NULL), -ELOOP);
		zr_beneath_done(&b);
	}
}

static void without_its_root_a_store_does_not_answer(void)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/gone", top);
	for (int mode = 0; mode < 4; mode++) {
		struct zr_beneath b;
		struct zr_err err = {0};

		CHECK_INT(mkdir(path, 0700), 0);
		CHECK_INT(zr_beneath_init(&b, path, mode & 1), 0);
		b.has_openat2 = b.has_openat2 && mode & 2;
		CHECK_INT(zr_beneath_open(&b, "a/b", READ, &err), -ENOENT);
		CHECK_INT(zr_beneath_missing(&b, &err), -ENOENT);
		CHECK_INT(err.code, 0);
		CHECK_INT(rmdir(path), 0);
		CHECK_INT(zr_beneath_open(&b, "a/b", READ, &err), -EIO);
		CHECK_STR(err.text, "the directory of the store was removed");
		CHECK_INT(zr_beneath_missing(&b, NULL), -EIO);
		zr_beneath_done(&b);
	}
}

static void only_a_directory_can_be_the_root(void)
{
	struct zr_beneath b = {.root = -5};
	char path[256];

	snprintf(path, sizeof(path), "%s/store/f", top);
	CHECK_INT(zr_beneath_init(&b, path, false), -ENOTDIR);
	snprintf(path, sizeof(path), "%s/store/nothing", top);
	CHECK_INT(zr_beneath_init(&b, path, false), -ENOENT);
	CHECK_INT(b.root, -5);
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
	RUN(keys_lead_where_they_may_by_openat2);
	RUN(keys_lead_where_they_may_without_openat2);
	RUN(links_that_leave_are_followed_when_asked_to);
	RUN(a_component_too_long_to_exist_is_not_there);
	RUN(a_link_to_a_name_too_long_is_dangling);
	RUN(a_path_longer_than_a_call_takes_is_found);
	RUN(a_walk_has_an_end);
	RUN(without_its_root_a_store_does_not_answer);
	RUN(only_a_directory_can_be_the_root);
	close(root);
	CHECK_INT(nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
	return EXIT_SUCCESS;
}
