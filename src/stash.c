/* SPDX-License-Identifier: MIT */
/*
 * How much the directory holds is counted when first something is written, and from time
 * to time afterwards, because others write to it too; between that it is reckoned. What
 * is removed makes room for some time.
 *
 * A new file is written under its own name, '.' and as many random digits, and renamed.
 */
#include "stash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMP_NAME (ZR_STASH_NAME + 1 + 16)
#define TEMP_AGE 3600   /* seconds, after which nobody is writing it any more */
#define COUNT_AGAIN 256 /* files written, before the directory is counted again */
#define ROOM_FRACTION 8 /* of the bounds: what is made free when they are met */

struct zr_stash {
	int dir;
	uid_t owner;
	uint64_t max_bytes;
	size_t max_files;

	pthread_mutex_t lock; /* guards what follows */
	uint64_t bytes;
	size_t files;
	unsigned int fresh; /* writes for which that may be reckoned on */
};

static void stash_closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* --- the directory --------------------------------------------------------------------
 */

int zr_stash_place(const char *name, const struct zr_who *who, char **ret)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *place;
	int n;

	if (cache && cache[0] == '/')
		n = asprintf(&place, "%s/%s", cache, name);
	else if (geteuid() == 0) /* HOME may be that of whoever became root */
		n = asprintf(&place, "/var/cache/%s", name);
	else if (home && home[0] == '/')
		n = asprintf(&place, "%s/.cache/%s", home, name);
	else
		return -ENOENT;
	if (n >= 0 && who->uid != geteuid()) {
		char *above = place;

		n = asprintf(&place, "%s/%u", above, (unsigned int)who->uid);
		free(above);
	}
	if (n < 0)
		return -ENOMEM;
	*ret = place;
	return 0;
}

/* The directory, and the one above it. */
static int stash_make(char *path)
{
	char *slash = strrchr(path, '/');

	if (mkdir(path, 0700) == 0 || errno == EEXIST)
		return 0;
	if (errno != ENOENT || !slash || slash == path)
		return -errno;
	*slash = '\0';
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	*slash = '/';
	return mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : -errno;
}

/* A directory that root makes for somebody else. It is given away only where nobody could
 * have put another in its place. */
static int stash_make_for(char *path, const struct zr_who *who)
{
	ZR_CLEANUP(stash_closep) int above = -1;
	char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	struct stat st;
	int r = 0;

	if (access(path, F_OK) == 0)
		return 0;
	if (slash && slash > path) {
		*slash = '\0';
		r = stash_make(path);
		if (r == 0)
			above = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		*slash = '/';
	} else {
		above = open(slash ? "/" : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	if (r < 0 || above < 0 || fstat(above, &st) < 0)
		return r < 0 ? r : -errno;
	if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return -ENOENT;
	if (mkdirat(above, name, 0700) < 0)
		return errno == EEXIST ? 0 : -errno;
	return fchownat(above, name, who->uid, who->gid, AT_SYMLINK_NOFOLLOW) < 0 ? -errno
	                                                                          : 0;
}

static int stash_open_dir(const char *path, const struct zr_who *who, int *ret,
                          struct zr_err *reterr)
{
	ZR_CLEANUP(zr_freep) char *own = strdup(path);
	ZR_CLEANUP(stash_closep) int fd = -1;
	struct stat st;
	int r;

	if (!own)
		return zr_err_set(reterr, -ENOMEM, "out of memory");
	/* With a slash at its end a symbolic link would be followed. */
	for (size_t n = strlen(own); n > 1 && own[n - 1] == '/'; n--)
		own[n - 1] = '\0';
	r = who->uid == geteuid() ? stash_make(own) : stash_make_for(own, who);
	if (r == 0) {
		fd = open(own, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		r = fd >= 0 && fstat(fd, &st) == 0 ? 0 : -errno;
	}
	if (r < 0)
		return zr_err_set(reterr, r, "'%s': %s", path, strerror(-r));
	if (st.st_uid != who->uid)
		return zr_err_set(reterr, -EPERM, "'%s' does not belong to user %u", path,
		                  (unsigned int)who->uid);
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return zr_err_set(reterr, -EPERM, "'%s' can be written to by others",
		                  path);
	*ret = fd;
	fd = -1;
	return 0;
}

int zr_stash_open(const char *path, const struct zr_who *who, uint64_t bytes,
                  size_t files, struct zr_stash **ret, struct zr_err *reterr)
{
	struct zr_stash *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return zr_err_set(reterr, -ENOMEM, "out of memory");
	r = stash_open_dir(path, who, &s->dir, reterr);
	if (r < 0) {
		free(s);
		return r;
	}
	s->owner = who->uid;
	s->max_bytes = bytes;
	s->max_files = files;
	pthread_mutex_init(&s->lock, NULL);
	*ret = s;
	return 0;
}

int zr_stash_dir(const struct zr_stash *s)
{
	return s->dir;
}

void zr_stash_free(struct zr_stash *s)
{
	if (!s)
		return;
	close(s->dir);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

int zr_stash_writable(const struct zr_stash *s)
{
	return faccessat(s->dir, ".", W_OK | X_OK, AT_EACCESS) < 0 ? -errno : 0;
}

/* --- keeping within the bounds ---------------------------------------------------------
 */

struct stashed {
	char name[ZR_STASH_NAME + 1];
	uint64_t size;
	struct timespec written;
};

static bool is_digits(const char *s, size_t n)
{
	return strspn(s, "0123456789abcdef") == n && s[n] == '\0';
}

static bool is_temporary(const char *name)
{
	return strlen(name) == TEMP_NAME && name[ZR_STASH_NAME] == '.' &&
	       strspn(name, "0123456789abcdef") == ZR_STASH_NAME &&
	       is_digits(name + ZR_STASH_NAME + 1, 16);
}

/* Adds an entry of the directory to `list` if it is a file of ours. What somebody had no
 * time to finish is removed. */
static void stash_look(int dir, const char *name, struct zr_buf *list)
{
	struct stashed e;
	struct stat st;

	if (!is_digits(name, ZR_STASH_NAME) && !is_temporary(name))
		return;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || S_ISDIR(st.st_mode))
		return;
	if (is_temporary(name)) {
		if (time(NULL) - st.st_mtime > TEMP_AGE)
			unlinkat(dir, name, 0);
		return;
	}
	e = (struct stashed){.size = (uint64_t)st.st_size, .written = st.st_mtim};
	memcpy(e.name, name, sizeof(e.name));
	zr_buf_add(list, &e, sizeof(e));
}

static int stash_list(const struct zr_stash *s, struct zr_buf *ret)
{
	int fd = openat(s->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r;
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *e;

	if (!d) {
		r = -errno;
		stash_closep(&fd);
		return r;
	}
	for (errno = 0; (e = readdir(d)); errno = 0)
		stash_look(s->dir, e->d_name, ret);
	r = -errno;
	closedir(d);
	return r < 0 ? r : zr_buf_check(ret);
}

static int compare_age(const void *a, const void *b)
{
	const struct timespec *x = &((const struct stashed *)a)->written;
	const struct timespec *y = &((const struct stashed *)b)->written;

	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? -1 : 1;
	return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static bool stash_is_full(const struct zr_stash *s, size_t more)
{
	return s->files >= s->max_files || s->bytes + more > s->max_bytes;
}

/* With the lock held: counts what is there, and if it is too much removes the oldest. */
static int stash_count(struct zr_stash *s, size_t more)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf list = {0};
	struct stashed *e;
	size_t n, want_files = s->max_files - s->max_files / ROOM_FRACTION;
	uint64_t want_bytes = s->max_bytes - s->max_bytes / ROOM_FRACTION;
	int r = stash_list(s, &list);

	if (r < 0)
		return r;
	e = (struct stashed *)list.data;
	n = list.len / sizeof(*e);
	s->files = n;
	s->bytes = 0;
	for (size_t i = 0; i < n; i++)
		s->bytes += e[i].size;
	s->fresh = COUNT_AGAIN;
	if (n == 0 || !stash_is_full(s, more))
		return 0;
	qsort(e, n, sizeof(*e), compare_age);
	for (size_t i = 0; i < n; i++) {
		if (s->files < want_files && s->bytes + more <= want_bytes)
			break;
		if (unlinkat(s->dir, e[i].name, 0) < 0 && errno != ENOENT)
			return -errno;
		s->files--;
		s->bytes -= e[i].size;
	}
	return 0;
}

/* Room for a file of so many bytes. */
static int stash_reserve(struct zr_stash *s, size_t len)
{
	int r = 0;

	if (len > s->max_bytes || s->max_files == 0)
		return -E2BIG;
	pthread_mutex_lock(&s->lock);
	if (s->fresh == 0 || stash_is_full(s, len))
		r = stash_count(s, len);
	if (r == 0) {
		s->fresh--;
		s->files++; /* one that is replaced is counted twice, until it is
		             * counted again */
		s->bytes += len;
	}
	pthread_mutex_unlock(&s->lock);
	return r;
}

/* --- files -----------------------------------------------------------------------------
 */

int zr_stash_read(const struct zr_stash *s, const char *name, size_t max,
                  struct zr_buf *ret, uint64_t *ret_size)
{
	/* O_NONBLOCK: whatever has that name, nobody waits for it. */
	ZR_CLEANUP(stash_closep)
	int fd = openat(s->dir, name,
	                O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	ZR_CLEANUP(zr_buf_done) struct zr_buf b = {0};
	struct stat st;
	ssize_t got = 1;

	if (fd < 0 || fstat(fd, &st) < 0)
		return errno == ELOOP || errno == ENXIO ? -EPERM : -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != s->owner ||
	    (st.st_mode & (S_IWGRP | S_IWOTH)))
		return -EPERM;
	max = (size_t)ZR_MIN((uint64_t)max, (uint64_t)st.st_size);
	if (zr_buf_reserve(&b, max + 1) < 0)
		return -ENOMEM;
	while (b.len < max && got > 0) {
		got = read(fd, b.data + b.len, max - b.len);
		if (got < 0 && errno != EINTR)
			return -errno;
		b.len += got > 0 ? (size_t)got : 0;
		got = got < 0 ? 1 : got;
	}
	*ret = b;
	b = (struct zr_buf){0};
	*ret_size = (uint64_t)st.st_size;
	return 0;
}

static int write_all(int fd, const char *p, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int zr_stash_write(struct zr_stash *s, const char *name, const void *data, size_t len)
{
	char temp[TEMP_NAME + 1];
	uint64_t random;
	int fd, r = stash_reserve(s, len);

	if (r < 0)
		return r;
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		return -EIO;
	snprintf(temp, sizeof(temp), "%.*s.%016llx", ZR_STASH_NAME, name,
	         (unsigned long long)random);
	fd = openat(s->dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
	            0600);
	if (fd < 0)
		return -errno;
	/* Root writes for another user when it measures beforehand. */
	r = s->owner != geteuid() && fchown(fd, s->owner, (gid_t)-1) < 0 ? -errno : 0;
	if (r == 0)
		r = write_all(fd, data, len);
	if (close(fd) < 0 && r == 0)
		r = -errno;
	/* No fsync(): a file that a crash leaves half written is told by its checksum. */
	if (r == 0 && renameat(s->dir, temp, s->dir, name) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(s->dir, temp, 0);
	return r;
}

void zr_stash_touch(const struct zr_stash *s, const char *name)
{
	utimensat(s->dir, name, NULL, AT_SYMLINK_NOFOLLOW);
}

void zr_stash_remove(struct zr_stash *s, const char *name)
{
	unlinkat(s->dir, name, 0);
}
