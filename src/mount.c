/* SPDX-License-Identifier: MIT */
#include "mount.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "buf.h"
#include "dead.h"
#include "log.h"
#include "store.h"

#define DEAD_MOUNTS 4 /* on one another, at most */

/* libfuse takes "/dev/fd/N" for a mount that is made already: mount.fuse3 does that for
 * its option drop_privileges. */
static bool mount_is_fd(const char *point)
{
	const char *n = "/dev/fd/";
	size_t len = strlen(n);

	return strncmp(point, n, len) == 0 && point[len] != '\0' &&
	       strspn(point + len, "0123456789") == strlen(point + len);
}

/* Whether `path` is `dir` or lies inside of it; both absolute, without symbolic links. */
static bool mount_is_within(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	if (strcmp(dir, "/") == 0)
		return true;
	return strncmp(path, dir, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

/* The absolute name of a dead mount, which realpath() cannot enter. NULL: no memory, or a
 * name like "." that is known only from inside. */
static char *mount_dead_name(const char *point)
{
	ZR_CLEANUP(zr_freep) char *own = strdup(point);
	ZR_CLEANUP(zr_freep) char *above = NULL;
	const char *name;
	char *slash, *ret;

	for (size_t n = own ? strlen(own) : 0; n > 1 && own[n - 1] == '/'; n--)
		own[n - 1] = '\0';
	slash = own ? strrchr(own, '/') : NULL;
	name = slash ? slash + 1 : own;
	if (!own || !*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return NULL;
	if (slash)
		*slash = '\0';
	above = realpath(!slash ? "." : slash == own ? "/" : own, NULL);
	if (!above ||
	    asprintf(&ret, "%s/%s", strcmp(above, "/") == 0 ? "" : above, name) < 0)
		return NULL;
	return ret;
}

/* A daemon of ours that was killed together with its keeper leaves a dead mount; there
 * may be some on one another. That of any other file system is its own user's business.
 */
static void mount_clear_point(const char *point)
{
	ZR_CLEANUP(zr_freep)
	char *name = zr_dead_mount(point) ? mount_dead_name(point) : NULL;

	if (!name || !zr_dead_is_type(name, "fuse.zarrfs"))
		return;
	for (int i = 0; i < DEAD_MOUNTS && zr_dead_is_type(name, "fuse.zarrfs"); i++)
		zr_dead_remove(name);
	if (!zr_dead_mount(name))
		zr_info("removed a dead mount of zarrfs from '%s'", name);
}

static int mount_check_point(const char *point, struct zr_err *reterr)
{
	struct statvfs fs;
	struct stat st;

	/* Of a dead mount the kernel may still know the attributes; statvfs() asks. */
	if (stat(point, &st) == 0 && (statvfs(point, &fs) == 0 || errno != ENOTCONN)) {
		if (S_ISDIR(st.st_mode))
			return 0;
		return zr_err_set(reterr, -ENOTDIR, "mount point '%s' is not a directory",
		                  point);
	}
	switch (errno) {
	case ENOENT:
		return zr_err_set(reterr, -ENOENT, "mount point '%s' does not exist",
		                  point);
	case ENOTCONN:
		return zr_err_set(reterr, -ENOTCONN,
		                  "mount point '%s' holds a dead mount (%s); remove it "
		                  "with: fusermount3 -uz '%s'",
		                  point, strerror(ENOTCONN), point);
	default:
		return zr_err_set(reterr, -errno, "mount point '%s': %s", point,
		                  strerror(errno));
	}
}

/* The same twice, or STORE and MOUNTPOINT in the wrong order, is a mistake that would
 * succeed: the kernel stacks mounts. */
static int mount_check_mounted(const struct zr_mount *m, const struct zr_opts *o,
                               struct zr_err *reterr)
{
	if (zr_dead_is_type(m->point, "fuse.zarrfs"))
		return zr_err_set(reterr, -EBUSY,
		                  "mount point '%s' has a mount of zarrfs already; "
		                  "remove it with: fusermount3 -u '%s'",
		                  o->mountpoint, o->mountpoint);
	if (zr_dead_is_type(m->store, "fuse.zarrfs"))
		return zr_err_set(reterr, -EINVAL,
		                  "store '%s' is a mount of zarrfs, no store", o->store);
	return 0;
}

static int mount_check_nesting(const struct zr_mount *m, const struct zr_opts *o,
                               struct zr_err *reterr)
{
	if (strcmp(m->point, m->store) != 0 && mount_is_within(m->point, m->store))
		return zr_err_set(reterr, -EINVAL,
		                  "mount point '%s' is inside of the store",
		                  o->mountpoint);
	if (o->follow_symlinks && mount_is_within(m->store, m->point))
		return zr_err_set(
			reterr, -EINVAL,
			"mount point '%s' would hide the store, and links in it "
			"could not be followed (follow_symlinks)",
			o->mountpoint);
	return 0;
}

static int mount_absolute(const char *path, char **ret, struct zr_err *reterr)
{
	char *p = realpath(path, NULL);

	if (!p)
		return zr_err_set(reterr, -errno, "'%s': %s", path, strerror(errno));
	*ret = p;
	return 0;
}

/* Of a store, which may be a node in an archive. */
static int mount_absolute_store(const char *path, char **ret, struct zr_err *reterr)
{
	ZR_CLEANUP(zr_freep) char *file = NULL;
	ZR_CLEANUP(zr_freep) char *node = NULL;
	ZR_CLEANUP(zr_freep) char *absolute = NULL;
	int r = zr_store_split(path, &file, &node);

	if (r < 0)
		return zr_err_set(reterr, r, "'%s': %s", path, strerror(-r));
	r = mount_absolute(file, &absolute, reterr);
	if (r < 0)
		return r;
	if (asprintf(ret, "%s%s%s", absolute, *node ? "/" : "", node) < 0) {
		*ret = NULL;
		return zr_err_set(reterr, -ENOMEM, "out of memory");
	}
	return 0;
}

int zr_mount_check(const struct zr_opts *o, struct zr_mount *ret, struct zr_err *reterr)
{
	ZR_CLEANUP(zr_mount_done)
	struct zr_mount m = {.is_fd = mount_is_fd(o->mountpoint)};
	int r;

	r = mount_absolute_store(o->store, &m.store, reterr);
	if (r < 0)
		return r;
	if (m.is_fd) {
		m.point = strdup(o->mountpoint);
	} else {
		mount_clear_point(o->mountpoint);
		r = mount_check_point(o->mountpoint, reterr);
		if (r == 0)
			r = mount_absolute(o->mountpoint, &m.point, reterr);
		if (r == 0)
			r = mount_check_mounted(&m, o, reterr);
		if (r == 0)
			r = mount_check_nesting(&m, o, reterr);
		if (r == 0)
			r = zr_mount_check_device("/dev/fuse", reterr);
		if (r < 0)
			return r;
	}
	m.options = zr_mount_options(m.store, o);
	if (!m.point || !m.options)
		return zr_err_set(reterr, -ENOMEM, "out of memory");

	*ret = m;
	m = (struct zr_mount){0};
	return 0;
}

void zr_mount_done(struct zr_mount *m)
{
	if (!m)
		return;
	free(m->store);
	free(m->point);
	free(m->options);
	*m = (struct zr_mount){0};
}

int zr_mount_check_device(const char *path, struct zr_err *reterr)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct stat st;

	if (fd >= 0) {
		bool is_device = fstat(fd, &st) == 0 && S_ISCHR(st.st_mode);

		close(fd);
		return is_device
		               ? 0
		               : zr_err_set(reterr, -ENODEV, "%s is not a device", path);
	}
	switch (errno) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
		return zr_err_set(
			reterr, -errno,
			"%s: %s (load the kernel module with 'modprobe fuse'; a "
			"container needs '--device %s')",
			path, strerror(errno), path);
	case EPERM: /* what a container's device rules answer */
		return zr_err_set(reterr, -errno,
		                  "%s: %s (a container needs '--device %s')", path,
		                  strerror(errno), path);
	case EACCES:
		return zr_err_set(reterr, -errno,
		                  "%s: %s (its mode must let you read and write it, "
		                  "usually 0666)",
		                  path, strerror(errno));
	default:
		return zr_err_set(reterr, -errno, "%s: %s", path, strerror(errno));
	}
}

char *zr_mount_options(const char *store, const struct zr_opts *o)
{
	struct zr_buf b = {0};

	/* The first fsname counts for nothing if the user gives another. */
	zr_buf_adds(&b, "ro,nosuid,nodev,subtype=zarrfs,fsname=");
	zr_opts_escape(&b, store);
	if (o->debug)
		zr_buf_adds(&b, ",debug");
	if (o->fuse_opts && o->fuse_opts[0]) {
		zr_buf_addc(&b, ',');
		zr_buf_adds(&b, o->fuse_opts);
	}
	zr_buf_addc(&b, '\0');
	if (zr_buf_check(&b) < 0) {
		zr_buf_done(&b);
		return NULL;
	}
	return (char *)b.data;
}

static bool mount_has_helper(void)
{
	const char *path = getenv("PATH");

	/* libfuse looks where Debian has it, then along the path. */
	if (access("/usr/bin/fusermount3", X_OK) == 0)
		return true;
	while (path && *path) {
		size_t len = strcspn(path, ":");
		char file[4096];
		int n = snprintf(file, sizeof(file), "%.*s/fusermount3", (int)len, path);

		if (n > 0 && (size_t)n < sizeof(file) && access(file, X_OK) == 0)
			return true;
		path += len + (path[len] == ':');
	}
	return false;
}

/* Why fusermount3, or root without it, could not mount. */
static int mount_explain_no_helper(const struct zr_mount *m, int code,
                                   struct zr_err *reterr)
{
	if (geteuid() == 0)
		return zr_err_set(
			reterr, code,
			"cannot mount on '%s': not permitted (a container needs "
			"'--cap-add SYS_ADMIN')",
			m->point);
	return zr_err_set(reterr, code,
	                  "cannot mount on '%s': fusermount3 is missing, which users "
	                  "other than root need (Debian: package fuse3)",
	                  m->point);
}

int zr_mount_explain(const struct zr_mount *m, const char *said, int code,
                     struct zr_err *reterr)
{
	static const char *const prefixes[] = {"/usr/bin/", "fusermount3: ", "fuse: "};
	const char *hint = "";
	int len;

	said += strspn(said, "\n");
	if ((!*said || strstr(said, "fusermount3")) && !mount_has_helper())
		return mount_explain_no_helper(m, code, reterr);

	for (size_t i = 0; i < ZR_COUNT(prefixes); i++)
		if (strncmp(said, prefixes[i], strlen(prefixes[i])) == 0)
			said += strlen(prefixes[i]);
	len = (int)strcspn(said, "\n");
	if (len == 0)
		return zr_err_set(reterr, code, "cannot mount on '%s'", m->point);
	if (geteuid() == 0 && strstr(said, strerror(EPERM)))
		hint = " (a container needs '--cap-add SYS_ADMIN')";
	return zr_err_set(reterr, code, "cannot mount on '%s': %.*s%s", m->point, len,
	                  said, hint);
}

void zr_capture_begin(struct zr_capture *c)
{
	c->file = memfd_create("stderr", MFD_CLOEXEC);
	c->saved = c->file < 0 ? -1 : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (c->saved >= 0)
		dup2(c->file, STDERR_FILENO);
}

void zr_capture_end(struct zr_capture *c, char *buf, size_t size)
{
	ssize_t n = 0;

	if (c->saved >= 0) {
		dup2(c->saved, STDERR_FILENO);
		close(c->saved);
		n = pread(c->file, buf, size - 1, 0);
	}
	if (c->file >= 0)
		close(c->file);
	buf[n > 0 ? n : 0] = '\0';
}
