/* SPDX-License-Identifier: MIT */
#include "cmd.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "engine.h"
#include "privilege.h"
#include "store.h"
#include "visit.h"

int zr_cmd_complain(const struct zr_err *err)
{
	fprintf(stderr, "zarrfs: %s\n", err->text);
	return EXIT_FAILURE;
}

int zr_cmd_write(int fd, const void *data, size_t len)
{
	const char *at = data;

	while (len > 0) {
		ssize_t n = write(fd, at, len);

		if (n >= 0) {
			at += n;
			len -= (size_t)n;
		} else if (errno == EAGAIN) { /* somebody made it so */
			poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

int zr_cmd_unwritten(int r)
{
	if (r != -EPIPE)
		fprintf(stderr, "zarrfs: cannot write: %s\n", strerror(-r));
	return EXIT_FAILURE;
}

int zr_cmd_print(const struct zr_buf *text)
{
	int r = zr_buf_check(text);

	if (r == 0)
		r = zr_cmd_write(STDOUT_FILENO, text->data, text->len);
	return r < 0 ? zr_cmd_unwritten(r) : EXIT_SUCCESS;
}

/* What a path leads to that is a part of a node. */
static int part_found(struct zr_engine *e, const struct zr_place *p, const char *path,
                      struct zr_err *reterr)
{
	struct zr_files *f = NULL;
	struct zr_source *s = NULL;

	if (zr_tree_files(e->tree, p->node, &f) == 0)
		s = zr_files_source(f);
	if (s) {
		const struct zr_layout *l = zr_files_layout(f);
		bool is_field = l->is_struct && p->entry < l->nlevels + l->nleaves;

		zr_err_set(reterr, -ENOTDIR, "%s: is a %s of array '/%s'", path,
		           is_field ? "field" : "file", s->path);
	}
	zr_files_unref(f);
	/* The first text wins. */
	return zr_err_set(reterr, -ENOTDIR, "%s: is no group and no array", path);
}

int zr_cmd_find(struct zr_engine *e, const char *path, struct zr_place *ret,
                struct zr_err *reterr)
{
	struct zr_place p;
	int r = zr_visit_find(e->tree, path, &p);

	if (r == 0 && p.entry != 0)
		return part_found(e, &p, path, reterr);
	if (r < 0)
		return zr_err_set(reterr, r, "%s: %s", path, strerror(-r));
	*ret = p;
	return 0;
}

int zr_cmd_who(const struct zr_opts *o, struct zr_who *ret, struct zr_err *reterr)
{
	ZR_CLEANUP(zr_freep) char *file = NULL;
	ZR_CLEANUP(zr_freep) char *node = NULL;
	int r = zr_store_split(o->store, &file, &node);

	if (r < 0)
		return zr_store_absent(o->store, r, reterr);
	return zr_privilege_pick(o->user, file, ret, reterr);
}

unsigned int zr_cmd_threads(void)
{
	cpu_set_t set;

	return 1 + (sched_getaffinity(0, sizeof(set), &set) == 0
	                    ? (unsigned int)CPU_COUNT(&set)
	                    : 1);
}
