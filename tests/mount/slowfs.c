/* SPDX-License-Identifier: MIT */
/*
 * slowfs.c - another directory, read-only, as slow or as broken as a test wants it
 *
 *   slowfs SOURCE MOUNTPOINT [--log=FILE] [--match=GLOB] [--delay=MS] [--hold=FILE]
 *                            [--fail=FILE] [--short=BYTES] [--grow=BYTES] [--cached]
 *
 * Mounted over a store it tells which objects zarrfs opens, reads and lists (--log: one
 * line `open PATH`, `read PATH OFFSET LENGTH` or `list PATH` each), and lets a test stand
 * between store and program: of files that match GLOB (all of them without --match; `*`
 * matches '/' too) each read waits MS milliseconds (--delay) and as long as FILE exists
 * (--hold), gives at most so many bytes (--short), or fails as long as FILE exists
 * (--fail). FILE may say what fails, `open`, `read` or `list`, with which errno, and that
 * it fails once: "open 13 once"; empty it is "read 5".
 *
 * Mounted over an expected tree, with --cached, it stands in for zarrfs itself, so that
 * the checks of the mount tests can be checked; --grow makes every size wrong.
 *
 * Runs in the foreground until it is unmounted.
 */
#define FUSE_USE_VERSION 312

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <fuse.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct slow {
	char *source, *log, *match, *hold, *fail;
	unsigned int delay, grow, shortest;
	int cached;
	int source_fd, log_fd;
};

static const struct fuse_opt options[] = {
	{"--log=%s", offsetof(struct slow, log), 0},
	{"--match=%s", offsetof(struct slow, match), 0},
	{"--delay=%u", offsetof(struct slow, delay), 0},
	{"--hold=%s", offsetof(struct slow, hold), 0},
	{"--fail=%s", offsetof(struct slow, fail), 0},
	{"--short=%u", offsetof(struct slow, shortest), 0},
	{"--grow=%u", offsetof(struct slow, grow), 0},
	{"--cached", offsetof(struct slow, cached), 1},
	FUSE_OPT_END,
};

static struct slow *self(void)
{
	return (struct slow *)fuse_get_context()->private_data;
}

/* Below the source's descriptor, so that it may be covered by this very mount. */
static const char *below(const char *path)
{
	return path[1] ? path + 1 : ".";
}

static void note(const char *what, const char *path, const char *more)
{
	char line[5000];
	int n = snprintf(line, sizeof(line), "%s %s%s\n", what, path, more);

	if (self()->log_fd >= 0 && write(self()->log_fd, line, (size_t)n) < 0)
		perror("slowfs: log");
}

static void sleep_ms(unsigned int ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

	nanosleep(&t, NULL);
}

static int concerned(const char *path)
{
	return !self()->match || fnmatch(self()->match, path, 0) == 0;
}

/* The -errno that a test wants of it, or 0. Of several at once one fails once. */
static int failing(const char *what, const char *path)
{
	char which[16] = "read", once[8] = "";
	int code = EIO;
	FILE *f = self()->fail && concerned(path) ? fopen(self()->fail, "re") : NULL;

	if (!f)
		return 0;
	if (fscanf(f, "%15s %d %7s", which, &code, once) == 0)
		code = EIO;
	fclose(f);
	if (strcmp(which, what) != 0 || (*once && unlink(self()->fail) < 0))
		return 0;
	note("fail", path, "");
	return -code;
}

static int slow_getattr(const char *path, struct stat *st, struct fuse_file_info *fi)
{
	(void)fi;
	if (fstatat(self()->source_fd, below(path), st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (S_ISREG(st->st_mode))
		st->st_size += self()->grow;
	return 0;
}

static int slow_readlink(const char *path, char *buf, size_t size)
{
	ssize_t n = readlinkat(self()->source_fd, below(path), buf, size - 1);

	if (n < 0)
		return -errno;
	buf[n] = '\0';
	return 0;
}

static int slow_open(const char *path, struct fuse_file_info *fi)
{
	int fd, r = failing("open", path);

	if ((fi->flags & O_ACCMODE) != O_RDONLY)
		return -EROFS;
	note("open", path, "");
	if (r < 0)
		return r;
	fd = openat(self()->source_fd, below(path), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	fi->fh = (uint64_t)fd;
	fi->direct_io = !self()->cached;
	return 0;
}

static int slow_read(const char *path, char *buf, size_t size, off_t off,
                     struct fuse_file_info *fi)
{
	char more[64];
	ssize_t n;
	int r;

	snprintf(more, sizeof(more), " %lld %zu", (long long)off, size);
	note("read", path, more);
	if (concerned(path)) {
		sleep_ms(self()->delay);
		while (self()->hold && access(self()->hold, F_OK) == 0)
			sleep_ms(2);
		if (self()->shortest > 0 && size > self()->shortest)
			size = self()->shortest;
	}
	r = failing("read", path);
	if (r < 0)
		return r;
	n = pread((int)fi->fh, buf, size, off);
	return n < 0 ? -errno : (int)n;
}

static int slow_release(const char *path, struct fuse_file_info *fi)
{
	(void)path;
	close((int)fi->fh);
	return 0;
}

static int slow_readdir(const char *path, void *buf, fuse_fill_dir_t fill, off_t off,
                        struct fuse_file_info *fi, enum fuse_readdir_flags flags)
{
	int fd = openat(self()->source_fd, below(path),
	                O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	int r = 0;

	(void)off;
	(void)fi;
	(void)flags;
	if (d && (r = failing("list", path)) < 0) {
		closedir(d);
		return r;
	}
	if (!d) {
		r = -errno;
		if (fd >= 0)
			close(fd);
		return r;
	}
	note("list", path, "");
	for (struct dirent *e; r == 0 && (e = readdir(d));) {
		struct stat st = {.st_ino = e->d_ino,
		                  .st_mode = (mode_t)DTTOIF(e->d_type)};

		if (fill(buf, e->d_name, &st, 0, 0) != 0)
			r = -ENOMEM;
	}
	closedir(d);
	return r;
}

static void *slow_init(struct fuse_conn_info *conn, struct fuse_config *cfg)
{
	(void)conn;
	cfg->use_ino = 1;
	cfg->nullpath_ok = 0;
	return self();
}

static const struct fuse_operations operations = {
	.getattr = slow_getattr,
	.readlink = slow_readlink,
	.open = slow_open,
	.read = slow_read,
	.release = slow_release,
	.readdir = slow_readdir,
	.init = slow_init,
};

/* The first argument that is no option is SOURCE, the rest is libfuse's. */
static int take_source(void *data, const char *arg, int key, struct fuse_args *out)
{
	struct slow *s = (struct slow *)data;

	(void)out;
	if (key != FUSE_OPT_KEY_NONOPT || s->source)
		return 1;
	s->source = strdup(arg);
	return s->source ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct fuse_args args = FUSE_ARGS_INIT(argc, argv);
	struct slow s = {.log_fd = -1};

	if (fuse_opt_parse(&args, &s, options, take_source) < 0 || !s.source) {
		fprintf(stderr, "usage: slowfs SOURCE MOUNTPOINT [OPTIONS]\n");
		return 2;
	}
	s.source_fd = open(s.source, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (s.source_fd < 0) {
		perror(s.source);
		return 1;
	}
	if (s.log) {
		s.log_fd = open(s.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
		if (s.log_fd < 0) {
			perror(s.log);
			return 1;
		}
	}
	/* Many threads: a test may hold many reads at once. */
	if (fuse_opt_add_arg(&args, "-f") < 0 ||
	    fuse_opt_add_arg(&args,
	                     "-omax_threads=256,max_idle_threads=64,fsname=slowfs") < 0)
		return 1;
	return fuse_main(args.argc, args.argv, &operations, &s);
}
