/* SPDX-License-Identifier: MIT */
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "consolidated.h"
#include "foreign.h"

#define HEAD_SIZE 4096

static void store_closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* A path inside of an archive as keys are: without empty components and ".". */
static void node_clean(char *node)
{
	char *from = node, *to = node;

	while (*from) {
		size_t n = strcspn(from, "/");
		bool more = from[n] != '\0';

		if (n > 0 && !(n == 1 && from[0] == '.')) {
			if (to > node)
				*to++ = '/';
			memmove(to, from, n);
			to += n;
		}
		from += n + more;
	}
	*to = '\0';
}

int zr_store_split(const char *path, char **ret_file, char **ret_node)
{
	ZR_CLEANUP(zr_freep) char *file = strdup(path);
	ZR_CLEANUP(zr_freep) char *node = NULL;
	size_t len = strlen(path);
	struct stat st;
	int r;

	if (!file)
		return -ENOMEM;
	r = stat(file, &st) < 0 ? -errno : 0;
	while (r == -ENOTDIR) {
		char *slash = strrchr(file, '/');

		if (!slash || slash == file)
			return -ENOTDIR;
		*slash = '\0';
		r = stat(file, &st) < 0 ? -errno : 0;
	}
	if (r < 0)
		return r;
	node = strdup(path + ZR_MIN(strlen(file) + 1, len));
	if (!node)
		return -ENOMEM;
	node_clean(node);
	*ret_file = ZR_TAKE(file);
	*ret_node = ZR_TAKE(node);
	return 0;
}

int zr_store_absent(const char *path, int code, struct zr_err *reterr)
{
	const char *url = zr_foreign_url(path);

	if (url)
		return zr_err_set(reterr, code, "%s: %s", path, url);
	if (code == -ENOTCONN)
		return zr_err_set(reterr, code,
		                  "%s: a dead mount (%s); remove it with: fusermount3 -u "
		                  "MOUNTPOINT",
		                  path, strerror(-code));
	return zr_err_set(reterr, code, "%s: %s", path, strerror(-code));
}

/* Every zip archive begins so: with a member, with its end when it has none, or with the
 * mark of a spanned one. */
static bool head_is_zip(const uint8_t *head, size_t len)
{
	static const char magic[][5] = {"PK\3\4", "PK\5\6", "PK\7\x8"};

	for (size_t i = 0; i < ZR_COUNT(magic); i++)
		if (len >= 4 && memcmp(head, magic[i], 4) == 0)
			return true;
	return false;
}

static int open_file(int fd, const char *file, const char *node, struct zr_store **ret,
                     struct zr_err *reterr)
{
	uint8_t head[HEAD_SIZE];
	ssize_t n = pread(fd, head, sizeof(head), 0);
	size_t len = n > 0 ? (size_t)n : 0;
	const char *what;

	if (n < 0)
		return zr_err_set(reterr, -errno, "%s: %m", file);
	if (head_is_zip(head, len))
		return zr_store_zip_open_node(file, node, ret, reterr);
	what = zr_foreign_file(head, len);
	return zr_err_set(reterr, -EINVAL, "%s: %s", file,
	                  what ? what
	                       : "not a Zarr store: neither a directory nor a zip "
	                         "archive");
}

static int open_base(const char *path, bool follow_symlinks, struct zr_store **ret,
                     struct zr_err *reterr)
{
	ZR_CLEANUP(zr_freep) char *file = NULL;
	ZR_CLEANUP(zr_freep) char *node = NULL;
	ZR_CLEANUP(store_closep) int fd = -1;
	struct stat st;
	int r = zr_store_split(path, &file, &node);

	if (r < 0)
		return zr_store_absent(path, r, reterr);
	/* Not O_PATH: what it is must be readable to be of use. */
	fd = open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return zr_store_absent(file, -errno, reterr);
	if (S_ISDIR(st.st_mode))
		return zr_store_dir_open(path, follow_symlinks, ret, reterr);
	if (S_ISREG(st.st_mode))
		return open_file(fd, file, node, ret, reterr);
	return zr_err_set(reterr, -EINVAL,
	                  "%s: not a Zarr store: neither a directory nor a zip archive",
	                  file);
}

int zr_store_open(const char *path, bool follow_symlinks, struct zr_store **ret,
                  struct zr_err *reterr)
{
	struct zr_store *base = NULL;
	int r = open_base(path, follow_symlinks, &base, reterr);

	if (r < 0)
		return r;
	*ret = zr_consolidated_new(base);
	return *ret ? 0 : zr_err_set(reterr, -ENOMEM, "%s: %s", path, strerror(ENOMEM));
}
