/* SPDX-License-Identifier: MIT */
/*
 * A key is opened in one step where that is possible: openat2() beneath the root or,
 * when links may leave the store, openat(). Only when this fails, or cannot be done, is
 * the key walked component by component: that tells a missing chunk from a dangling
 * link, names the link at fault, and knows no limit on the length of a path.
 *
 * The walk opens every component with O_NOFOLLOW and knows no links: it puts the target
 * of one into the path in its place and begins again at the root. The path is thus, from
 * front to back: components that were walked, which are real directories only, so that a
 * ".." takes the last of them away as text; what is left of the target of a link; what
 * is left of the key itself.
 */
#include "beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "store.h"

#define WALK_MAX_LINKS 40    /* as the kernel's */
#define WALK_MAX_STEPS 65536 /* components that one walk opens */

#define WALK_LOOK (O_PATH | O_CLOEXEC)

static void beneath_closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static int beneath_openat(int at, const char *path, int flags)
{
	unsigned int tries = ZR_STORE_TRIES;
	int fd;

	do
		fd = openat(at, path, flags);
	while (fd < 0 && errno == EINTR && --tries > 0);
	return fd < 0 ? -errno : fd;
}

static int beneath_openat2(int at, const char *path, int flags, unsigned int resolve)
{
	struct open_how how = {.flags = (unsigned int)flags, .resolve = resolve};
	unsigned int tries = ZR_STORE_TRIES;
	long fd;

	do
		fd = syscall(SYS_openat2, at, path, &how, sizeof(how));
	while (fd < 0 && errno == EINTR && --tries > 0);
	return fd < 0 ? -errno : (int)fd;
}

int zr_beneath_irregular(struct zr_err *reterr, const char *key)
{
	return zr_err_set(reterr, -EUCLEAN, "'%s' is not a regular file", key);
}

/* As zr_store_failed(). These two say that a socket, or a device without a driver, was
 * to be opened. */
static int beneath_failed(struct zr_err *reterr, const char *key, int code)
{
	if (code == -ENXIO || code == -ENODEV)
		return zr_beneath_irregular(reterr, key);
	return zr_store_failed(reterr, key, code);
}

/* ---- the walk ---- */

struct walk {
	const struct zr_beneath *b;
	const char *key;
	char *path;          /* owned; see above */
	size_t done;         /* bytes of it that were walked */
	size_t at;           /* where its next component begins */
	size_t own;          /* bytes at its end that are the key's */
	int parent, fd;      /* owned; fd: where `done` leads; -1: the root */
	mode_t mode;         /* of fd */
	unsigned int nlinks; /* followed */
	unsigned int nsteps;
	struct zr_err *reterr;
};

/* Back to the root, with all of the path to do. */
static void walk_rewind(struct walk *w)
{
	beneath_closep(&w->parent);
	beneath_closep(&w->fd);
	w->parent = w->fd = -1;
	w->mode = S_IFDIR;
	w->done = w->at = 0;
}

static void walk_done(struct walk *w)
{
	walk_rewind(w);
	free(w->path);
}

/* A text about the link that the walk is in. It is named by the part of the key that it
 * ends: other links that it leads to may have no key. */
static int walk_link_failed(const struct walk *w, int code, const char *what)
{
	size_t len = strlen(w->key) - w->own;

	while (len > 0 && w->key[len - 1] == '/')
		len--;
	return zr_err_set(w->reterr, code, "'%.*s' is %s", (int)ZR_MIN(len, INT32_MAX),
	                  w->key, what);
}

static int walk_leaves(const struct walk *w)
{
	return walk_link_failed(w, -ELOOP,
	                        "a symbolic link that leaves the store (-o "
	                        "follow_symlinks)");
}

static int walk_too_long(const struct walk *w)
{
	return walk_link_failed(w, -ELOOP, "a symbolic link that leads nowhere");
}

/* The component at w->at is not there. */
static int walk_missing(const struct walk *w)
{
	if (strlen(w->path + w->at) <= w->own)
		return -ENOENT;
	return walk_link_failed(w, -EUCLEAN, "a dangling symbolic link");
}

/* The component at w->at, n bytes, is a link, opened as `link`. */
static int walk_link(struct walk *w, int link, size_t n)
{
	char target[PATH_MAX], *path;
	ssize_t len = readlinkat(link, "", target, sizeof(target) - 1);

	if (len < 0)
		return zr_store_failed(w->reterr, w->key, -errno);
	target[len] = '\0';
	w->own = ZR_MIN(w->own, strlen(w->path + w->at + n));
	if (++w->nlinks > WALK_MAX_LINKS)
		return walk_too_long(w);
	if (target[0] == '/')
		return walk_leaves(w);
	if (asprintf(&path, "%.*s/%s%s", (int)w->done, w->path, target,
	             w->path + w->at + n) < 0)
		return zr_store_failed(w->reterr, w->key, -ENOMEM);
	free(w->path);
	w->path = path;
	walk_rewind(w);
	return 0;
}

/* At a "..": the last component of `done` goes. */
static int walk_up(struct walk *w)
{
	size_t keep = w->done, rest = w->at + 2;

	if (keep == 0)
		return walk_leaves(w);
	while (keep > 0 && w->path[keep - 1] != '/')
		keep--;
	memmove(w->path + keep, w->path + rest, strlen(w->path + rest) + 1);
	/* "a/" and "/c" make "a//c", which is as good as "a/c". */
	walk_rewind(w);
	return 0;
}

/* The component `name` was opened as own_fd: on from there. */
static void walk_enter(struct walk *w, const char *name, size_t n, int own_fd,
                       mode_t mode)
{
	if (w->done > 0)
		w->path[w->done++] = '/';
	memcpy(w->path + w->done, name, n);
	w->done += n;
	w->at += n;
	beneath_closep(&w->parent);
	w->parent = w->fd;
	w->fd = own_fd;
	w->mode = mode;
}

/* The component of n bytes at w->at. */
static int walk_step(struct walk *w, size_t n)
{
	ZR_CLEANUP(beneath_closep) int fd = -1;
	int dir = w->fd >= 0 ? w->fd : w->b->root;
	char name[PATH_MAX];
	struct stat st;

	if (++w->nsteps > WALK_MAX_STEPS)
		return walk_too_long(w);
	/* How long a name may be is the file system's to say (255 bytes, or 255
	 * characters of UTF-16), but no call takes one as long as this. */
	if (!S_ISDIR(w->mode) || n >= sizeof(name))
		return walk_missing(w);
	memcpy(name, w->path + w->at, n);
	name[n] = '\0';
	if (strcmp(name, "..") == 0)
		return walk_up(w);
	if (strcmp(name, ".") == 0) {
		w->at += n;
		return 0;
	}

	fd = beneath_openat(dir, name, WALK_LOOK | O_NOFOLLOW);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISLNK(st.st_mode)) {
		if (!w->b->follow)
			return walk_link(w, fd, n);
		w->own = strlen(w->path + w->at + n);
		close(fd);
		fd = beneath_openat(dir, name, WALK_LOOK);
	}
	if (fd == -ENOENT || fd == -ENAMETOOLONG || fd == -ENOTDIR)
		return walk_missing(w);
	if (fd < 0 || fstat(fd, &st) < 0)
		return zr_store_failed(w->reterr, w->key, fd < 0 ? fd : -errno);
	walk_enter(w, name, n, fd, st.st_mode);
	fd = -1;
	return 0;
}

/* Opens what the walk has come to. */
static int walk_open(const struct walk *w, int flags)
{
	int dir = w->parent >= 0 ? w->parent : w->b->root;
	const char *name;

	if (w->done == 0)
		return beneath_openat(w->b->root, ".", flags);
	if ((flags & O_DIRECTORY) && !S_ISDIR(w->mode))
		return -ENOTDIR;
	w->path[w->done] = '\0';
	name = strrchr(w->path, '/');
	name = name ? name + 1 : w->path;
	return beneath_openat(dir, name, flags | (w->b->follow ? 0 : O_NOFOLLOW));
}

/* A descriptor, or -errno with a text (but for -ENOENT). */
static int walk(const struct zr_beneath *b, const char *key, int flags,
                struct zr_err *reterr)
{
	ZR_CLEANUP(walk_done)
	struct walk w = {.b = b,
	                 .key = key,
	                 .path = strdup(key),
	                 .own = strlen(key),
	                 .parent = -1,
	                 .fd = -1,
	                 .mode = S_IFDIR,
	                 .reterr = reterr};
	int r;

	if (!w.path)
		return zr_store_failed(reterr, key, -ENOMEM);
	for (;;) {
		size_t n;

		w.at += strspn(w.path + w.at, "/");
		n = strcspn(w.path + w.at, "/");
		if (n == 0)
			break;
		r = walk_step(&w, n);
		if (r < 0)
			return r;
	}
	r = walk_open(&w, flags);
	return r < 0 && r != -ENOENT ? beneath_failed(reterr, key, r) : r;
}

/* ---- opening a key ---- */

static int beneath_at_once(const struct zr_beneath *b, const char *key, int flags)
{
	const char *path = *key ? key : ".";

	if (b->follow)
		return beneath_openat(b->root, path, flags);
	if (!b->has_openat2)
		return -ENOSYS;
	return beneath_openat2(b->root, path, flags,
	                       RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);
}

/* A key that is not there is the one failure that is common: it is told from a dangling
 * link without a walk when no link is met on the way. */
static bool beneath_surely_missing(const struct zr_beneath *b, const char *key)
{
	ZR_CLEANUP(beneath_closep) int fd = -1;

	if (b->has_openat2)
		fd = beneath_openat2(b->root, key, WALK_LOOK,
		                     RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	return fd == -ENOENT;
}

int zr_beneath_missing(const struct zr_beneath *b, struct zr_err *reterr)
{
	struct stat st;

	if (fstat(b->root, &st) < 0)
		return zr_store_failed(reterr, "", -errno);
	if (st.st_nlink == 0)
		return zr_err_set(reterr, -EIO, "the directory of the store was removed");
	return -ENOENT;
}

int zr_beneath_open(const struct zr_beneath *b, const char *key, int flags,
                    struct zr_err *reterr)
{
	int fd = beneath_at_once(b, key, flags);

	if (fd >= 0)
		return fd;
	switch (fd) {
	case -ENOENT:
		if (beneath_surely_missing(b, key))
			return zr_beneath_missing(b, reterr);
		break;
	case -ENOSYS:
	case -ENOTDIR:
	case -EXDEV: /* it left the store */
	case -ELOOP:
	case -ENAMETOOLONG: /* of all of it, or of one component */
	case -EAGAIN:       /* something was moved meanwhile */
		break;
	default:
		return beneath_failed(reterr, key, fd);
	}
	fd = walk(b, key, flags, reterr);
	return fd == -ENOENT ? zr_beneath_missing(b, reterr) : fd;
}

int zr_beneath_init(struct zr_beneath *b, const char *path, bool follow)
{
	int fd, root = beneath_openat(AT_FDCWD, path, WALK_LOOK | O_DIRECTORY);

	if (root < 0)
		return root;
	fd = beneath_openat2(root, ".", WALK_LOOK,
	                     RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);
	*b = (struct zr_beneath){.root = root, .follow = follow, .has_openat2 = fd >= 0};
	beneath_closep(&fd);
	return 0;
}

void zr_beneath_done(struct zr_beneath *b)
{
	beneath_closep(&b->root);
	b->root = -1;
}
