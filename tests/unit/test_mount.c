/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mount.h"

/* A directory of the test's own, with a few things in it; it is the working directory
 * while the tests run, so that relative names can be tried. */
static char top[64];

static void make_top(void)
{
	strcpy(top, "/tmp/zarrfs-test-XXXXXX");
	CHECK(mkdtemp(top));
	CHECK_INT(chdir(top), 0);
	CHECK_INT(mkdir("store", 0700), 0);
	CHECK_INT(mkdir("store/in", 0700), 0);
	CHECK_INT(mkdir("store2", 0700), 0);
	CHECK_INT(mkdir("a,b\\c", 0700), 0);
	CHECK_INT(symlink("store/in", "link"), 0);
	CHECK_INT(close(creat("file", 0600)), 0);
}

static void remove_top(void)
{
	CHECK_INT(unlink("file") + unlink("link"), 0);
	CHECK_INT(rmdir("store/in") + rmdir("store") + rmdir("store2"), 0);
	CHECK_INT(rmdir("a,b\\c"), 0);
	CHECK_INT(chdir("/"), 0);
	CHECK_INT(rmdir(top), 0);
}

static int check(char *store, char *point, bool follow, struct zr_mount *ret,
                 struct zr_err *err)
{
	struct zr_opts o = {.store = store,
	                    .mountpoint = point,
	                    .follow_symlinks = follow,
	                    .fuse_opts = (char *)""};

	*err = (struct zr_err){0};
	return zr_mount_check(&o, ret, err);
}

static void bad_mount_points_are_refused_by_name(void)
{
	static const struct {
		const char *store, *point;
		bool follow;
		int want;
		const char *text;
	} row[] = {
		{"store", "none", false, -ENOENT, "mount point 'none' does not exist"},
		{"store", "file", false, -ENOTDIR,
	         "mount point 'file' is not a directory"},
		{"store", "file/x", false, -ENOTDIR,
	         "mount point 'file/x': Not a directory"},
		{"store", "store/in", false, -EINVAL,
	         "mount point 'store/in' is inside of the store"},
		{"store", "link", false, -EINVAL,
	         "mount point 'link' is inside of the store"},
		{"store", ".", true, -EINVAL,
	         "mount point '.' would hide the store, and links in it could not be "
	         "followed (follow_symlinks)"},
		{"store", "store", true, -EINVAL,
	         "mount point 'store' would hide the store, and links in it could not be "
	         "followed (follow_symlinks)"},
		{"none", "store", false, -ENOENT, "'none': No such file or directory"},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_mount m = {.is_fd = true};
		struct zr_err err;

		CHECK_INT(check((char *)row[i].store, (char *)row[i].point, row[i].follow,
		                &m, &err),
		          row[i].want);
		CHECK_STR(err.text, row[i].text);
		CHECK(m.is_fd && !m.point); /* nothing is written */
	}
}

static void good_mount_points_become_absolute(void)
{
	static const struct {
		const char *store, *point;
		bool follow;
	} row[] = {
		{"store", "store2", true}, /* a longer name is not inside */
		{"store", "store", false}, /* the store is read beneath the mount */
		{"store/in", ".", false},
		{"link", "store2", false},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		ZR_CLEANUP(zr_mount_done) struct zr_mount m = {0};
		struct zr_err err;
		int r = check((char *)row[i].store, (char *)row[i].point, row[i].follow,
		              &m, &err);

		if (r < 0 && strncmp(err.text, "/dev/fuse", 9) == 0)
			return; /* a machine without FUSE */
		CHECK_INT(r, 0);
		CHECK_INT(m.store[0], '/');
		CHECK_INT(m.point[0], '/');
		CHECK(!strstr(m.store, "link"));
		CHECK(!m.is_fd);
	}
}

static void descriptor_of_a_made_mount_is_left_alone(void)
{
	ZR_CLEANUP(zr_mount_done) struct zr_mount m = {0};
	struct zr_err err;

	CHECK_INT(check((char *)"store", (char *)"/dev/fd/93", false, &m, &err), 0);
	CHECK(m.is_fd);
	CHECK_STR(m.point, "/dev/fd/93");
	CHECK(check((char *)"store", (char *)"/dev/fd/93x", false, &m, &err) < 0);
}

static void device_is_explained(void)
{
	struct zr_err err = {0};

	CHECK_INT(zr_mount_check_device("/dev/null", &err), 0);
	CHECK_INT(zr_mount_check_device("none", &err), -ENOENT);
	CHECK_STR(err.text,
	          "none: No such file or directory (load the kernel module with "
	          "'modprobe fuse'; a container needs '--device none')");
	if (geteuid() == 0)
		return; /* who may open anything */
	err = (struct zr_err){0};
	CHECK_INT(chmod("file", 0), 0);
	CHECK_INT(zr_mount_check_device("file", &err), -EACCES);
	CHECK_STR(err.text,
	          "file: Permission denied (its mode must let you read and write "
	          "it, usually 0666)");
}

static void mount_is_always_read_only_nosuid_and_nodev(void)
{
	struct zr_opts o = {.fuse_opts = (char *)""};
	ZR_CLEANUP(zr_freep) char *plain = zr_mount_options("/a/b", &o);
	ZR_CLEANUP(zr_freep) char *more = NULL;

	CHECK_STR(plain, "ro,nosuid,nodev,subtype=zarrfs,fsname=/a/b");
	o.fuse_opts = (char *)"allow_other,fsname=x";
	o.debug = true;
	more = zr_mount_options("/a,b\\c", &o);
	CHECK_STR(more, "ro,nosuid,nodev,subtype=zarrfs,fsname=/a\\,b\\\\c,debug,"
	                "allow_other,fsname=x");
}

static void failure_is_one_line(void)
{
	static const struct {
		const char *said, *want;
	} row[] = {
		{"fusermount3: user has no write access to mountpoint /m\n",
	         "cannot mount on '/m': user has no write access to mountpoint /m"},
		{"\nfuse: mount failed: No such device\nfuse: more\n",
	         "cannot mount on '/m': mount failed: No such device"},
		{"/usr/bin/fusermount3: failed to access mountpoint /m: Permission "
	         "denied",
	         "cannot mount on '/m': failed to access mountpoint /m: Permission "
	         "denied"},
		{"fuse: \x1b[1m\n", "cannot mount on '/m': ?[1m"},
	};
	struct zr_mount m = {.point = (char *)"/m"};
	struct zr_err err;

	if (access("/usr/bin/fusermount3", X_OK) < 0)
		return; /* then that is the reason */
	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		err = (struct zr_err){0};
		CHECK_INT(zr_mount_explain(&m, row[i].said, -EIO, &err), -EIO);
		CHECK_STR(err.text, row[i].want);
	}
	err = (struct zr_err){0};
	CHECK_INT(zr_mount_explain(&m, "", -EIO, &err), -EIO);
	CHECK_STR(err.text, "cannot mount on '/m'");
}

static void stderr_is_caught_and_set_back(void)
{
	struct zr_capture c;
	struct stat before, after;
	char said[16];

	CHECK_INT(fstat(STDERR_FILENO, &before), 0);
	zr_capture_begin(&c);
	fprintf(stderr, "one\n");
	CHECK_INT(system("echo two >&2"), 0);
	zr_capture_end(&c, said, sizeof(said));
	CHECK_STR(said, "one\ntwo\n");
	CHECK_INT(fstat(STDERR_FILENO, &after), 0);
	CHECK(before.st_dev == after.st_dev && before.st_ino == after.st_ino);

	zr_capture_begin(&c);
	fprintf(stderr, "longer than the room for it\n");
	zr_capture_end(&c, said, sizeof(said));
	CHECK_STR(said, "longer than the");
}

int main(void)
{
	make_top();
	RUN(bad_mount_points_are_refused_by_name);
	RUN(good_mount_points_become_absolute);
	RUN(descriptor_of_a_made_mount_is_left_alone);
	RUN(device_is_explained);
	RUN(mount_is_always_read_only_nosuid_and_nodev);
	RUN(failure_is_one_line);
	RUN(stderr_is_caught_and_set_back);
	remove_top();
	return EXIT_SUCCESS;
}
