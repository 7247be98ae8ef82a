/* SPDX-License-Identifier: MIT */
#include "store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "beneath.h"

#define DIR_LOOK (O_PATH | O_CLOEXEC)
#define DIR_READ (O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
#define DIR_LIST (DIR_READ | O_DIRECTORY)

struct dir_store {
	struct zr_store base;
	struct zr_beneath at;
};

static void dir_closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* A regular file. */
static int dir_open_object(const struct dir_store *d, const char *key, int flags,
                           int *ret_fd, struct stat *ret_st, struct zr_err *reterr)
{
	ZR_CLEANUP(dir_closep) int fd = zr_beneath_open(&d->at, key, flags, reterr);

	if (fd < 0)
		return fd;
	if (fstat(fd, ret_st) < 0)
		return zr_store_failed(reterr, key, -errno);
	if (S_ISDIR(ret_st->st_mode))
		return zr_store_failed(reterr, key, -EISDIR);
	if (!S_ISREG(ret_st->st_mode))
		return zr_beneath_irregular(reterr, key);
	*ret_fd = fd;
	fd = -1;
	return 0;
}

/* ---- the operations ---- */

static int dir_read(int fd, const char *key, void *out, size_t n, uint64_t offset,
                    struct zr_err *reterr)
{
	int r = zr_store_pread(fd, out, n, offset);

	if (r == -EUCLEAN)
		return zr_err_set(reterr, r, "'%s' became shorter while it was read",
		                  key);
	return r < 0 ? zr_store_failed(reterr, key, r) : 0;
}

static int dir_get(struct zr_store *s, const char *key, uint64_t max, struct zr_buf *ret,
                   struct zr_err *reterr)
{
	const struct dir_store *d = (const struct dir_store *)s;
	ZR_CLEANUP(dir_closep) int fd = -1;
	ZR_CLEANUP(zr_buf_done) struct zr_buf b = {0};
	struct stat st;
	uint64_t size;
	char more;
	int r;

	r = dir_open_object(d, key, DIR_READ, &fd, &st, reterr);
	if (r < 0)
		return r;
	size = (uint64_t)st.st_size;
	if (size > max || size > SIZE_MAX)
		return zr_store_too_large(reterr, key, size, max);
	if (zr_buf_reserve(&b, (size_t)size) < 0)
		return zr_store_failed(reterr, key, -ENOMEM);
	r = dir_read(fd, key, b.data, (size_t)size, 0, reterr);
	if (r < 0)
		return r;
	/* Half of what somebody is writing right now would be read as a whole. */
	if (zr_store_pread(fd, &more, 1, size) == 0)
		return zr_err_set(reterr, -EUCLEAN,
		                  "'%s' became longer while it was read", key);
	b.len = (size_t)size;
	*ret = b;
	b = (struct zr_buf){0};
	return 0;
}

static int dir_get_range(struct zr_store *s, const char *key, uint64_t offset, size_t len,
                         void *out, struct zr_err *reterr)
{
	const struct dir_store *d = (const struct dir_store *)s;
	ZR_CLEANUP(dir_closep) int fd = -1;
	struct stat st;
	uint64_t size;
	int r;

	r = dir_open_object(d, key, DIR_READ, &fd, &st, reterr);
	if (r < 0)
		return r;
	size = (uint64_t)st.st_size;
	if (len > size || offset > size - len)
		return zr_store_too_short(reterr, key, size, offset, len);
	return dir_read(fd, key, out, len, offset, reterr);
}

static int dir_stat(struct zr_store *s, const char *key, struct zr_stat *ret,
                    struct zr_err *reterr)
{
	const struct dir_store *d = (const struct dir_store *)s;
	ZR_CLEANUP(dir_closep) int fd = -1;
	struct stat st;
	int r = dir_open_object(d, key, DIR_LOOK, &fd, &st, reterr);

	if (r < 0)
		return r;
	*ret = (struct zr_stat){.size = (uint64_t)st.st_size,
	                        .mtime = st.st_mtim,
	                        .ctime = st.st_ctim,
	                        .ino = st.st_ino};
	return 0;
}

/* 1 if a directory is the one that `key` names, or one on the way to it, 0 if not. */
static int dir_is_above(const struct dir_store *d, const char *key,
                        const struct stat *dir)
{
	for (size_t n = strlen(key);;) {
		ZR_CLEANUP(zr_freep) char *above = strndup(key, n);
		ZR_CLEANUP(dir_closep) int fd = -1;
		struct stat st;

		if (!above)
			return -ENOMEM;
		fd = zr_beneath_open(&d->at, above, DIR_LOOK, NULL);
		if (fd < 0 || fstat(fd, &st) < 0)
			return fd < 0 ? fd : -errno;
		if (st.st_ino == dir->st_ino && st.st_dev == dir->st_dev)
			return 1;
		if (n == 0)
			return 0;
		while (n > 0 && key[n - 1] != '/')
			n--;
		n -= n > 0;
	}
}

/* Not every file system tells the type of an entry when it lists. */
static unsigned char dir_entry_type(int dir, const struct dirent *e)
{
	struct stat st;

	if (e->d_type != DT_UNKNOWN ||
	    fstatat(dir, e->d_name, &st, AT_NO_AUTOMOUNT | AT_SYMLINK_NOFOLLOW) < 0)
		return e->d_type;
	return (unsigned char)IFTODT(st.st_mode);
}

/* 1 if it is a directory, 0 if not. A link (*ret_link) counts as what it leads to, out of
 * the store too: whoever goes there is told. But one that leads back to where it was met
 * would make a tree without end. What leads nowhere is none; what cannot be told is an
 * error, or a node would be missing for as long as the listing is kept. */
static int dir_is_dir(const struct dir_store *d, const char *key, int dir,
                      const struct dirent *e, bool *ret_link)
{
	unsigned char type = dir_entry_type(dir, e);
	struct stat st;
	int r;

	*ret_link = type != DT_DIR;
	if (type == DT_DIR)
		return 1;
	if (type != DT_LNK && type != DT_UNKNOWN)
		return 0;
	if (fstatat(dir, e->d_name, &st, AT_NO_AUTOMOUNT) < 0)
		return errno == ENOMEM || errno == EIO || errno == ESTALE ? -errno : 0;
	if (!S_ISDIR(st.st_mode))
		return 0;
	r = dir_is_above(d, key, &st);
	return r < 0 ? r : !r;
}

static int dir_read_entries(const struct dir_store *d, const char *key, DIR *stream,
                            struct zr_dirlist *l)
{
	for (;;) {
		struct dirent *e;
		bool is_link;
		int r;

		errno = 0;
		e = readdir(stream);
		if (!e)
			return -errno;
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		r = dir_is_dir(d, key, dirfd(stream), e, &is_link);
		if (r >= 0)
			r = zr_dirlist_add(l, e->d_name, strlen(e->d_name), r);
		if (r < 0)
			return r;
		l->entries[l->count - 1].is_link =
			is_link && l->entries[l->count - 1].is_dir;
	}
}

static void dir_closedirp(DIR **stream)
{
	if (*stream)
		closedir(*stream);
}

static int dir_list(struct zr_store *s, const char *key, struct zr_dirlist *ret,
                    struct zr_err *reterr)
{
	const struct dir_store *d = (const struct dir_store *)s;
	ZR_CLEANUP(dir_closedirp) DIR *stream = NULL;
	ZR_CLEANUP(zr_dirlist_done) struct zr_dirlist l = {0};
	struct stat st;
	int r, fd = zr_beneath_open(&d->at, key, DIR_LIST, reterr);

	if (fd < 0)
		return fd;
	stream = fdopendir(fd);
	if (!stream) {
		r = zr_store_failed(reterr, key, -errno);
		close(fd);
		return r;
	}
	r = dir_read_entries(d, key, stream, &l);
	/* A directory that was removed lists as an empty one. */
	if (r == 0 && fstat(fd, &st) == 0 && st.st_nlink == 0)
		return zr_beneath_missing(&d->at, reterr);
	if (r < 0)
		return zr_store_failed(reterr, key, r);
	zr_dirlist_sort(&l);
	*ret = l;
	l = (struct zr_dirlist){0};
	return 0;
}

static void dir_free(struct zr_store *s)
{
	struct dir_store *d = (struct dir_store *)s;

	zr_beneath_done(&d->at);
	free(d);
}

int zr_store_dir_open(const char *path, bool follow_symlinks, struct zr_store **ret,
                      struct zr_err *reterr)
{
	static const struct zr_store_ops ops = {.get = dir_get,
	                                        .get_range = dir_get_range,
	                                        .stat = dir_stat,
	                                        .list = dir_list,
	                                        .free = dir_free};
	struct dir_store *d = calloc(1, sizeof(*d));
	int r = d ? zr_beneath_init(&d->at, path, follow_symlinks) : -ENOMEM;

	if (r < 0) {
		free(d);
		errno = -r;
		return zr_err_set(reterr, r, "%s: %m", path);
	}
	zr_store_init(&d->base, &ops);
	*ret = &d->base;
	return 0;
}
