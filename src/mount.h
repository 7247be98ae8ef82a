/* SPDX-License-Identifier: MIT */
/*
 * mount.h - what a mount needs, and why it failed
 *
 * Nothing here mounts (cmd_mount.c does, through libfuse). This module looks beforehand
 * at what the mount will need, and makes one clear line of what was said when it failed.
 *
 * Layer 5. May include opts.h and layer 0. No FUSE header here.
 *
 * Errors: 0 on success, -errno on failure, with one line in reterr where it takes one.
 */
#pragma once

#include "err.h"
#include "opts.h"

/* What is mounted where. All strings are owned by it. */
struct zr_mount {
	char *store;   /* absolute, without symbolic links */
	char *point;   /* the same; "/dev/fd/N" as it is (see below) */
	char *options; /* for libfuse: "-o" of the mount, see zr_mount_options() */
	bool is_fd; /* point is a /dev/fuse that somebody else has opened and mounted */
};

/*
 * Look whether STORE can be mounted at MOUNTPOINT, and make both absolute.
 *
 * A dead mount of ours at MOUNTPOINT is taken away. Refused: a mount point that is
 * missing, no directory, another dead mount, a mount of ours that lives, or inside of the
 * store (the store would then show itself, without end); a store that is a mount of ours.
 * A store inside of the mount point (or equal to it) is only hidden by the mount: it was
 * opened before, and is read beneath it, unless links may lead back in through a path
 * (follow_symlinks).
 */
ZR_MUST_CHECK int zr_mount_check(const struct zr_opts *o, struct zr_mount *ret,
                                 struct zr_err *reterr);
void zr_mount_done(struct zr_mount *m);

/* Whether /dev/fuse can be opened; `path` is that name, but for tests. */
ZR_MUST_CHECK int zr_mount_check_device(const char *path, struct zr_err *reterr);

/* The options of a mount of `store` (absolute): what always holds, then the user's. NULL:
 * no memory. */
char *zr_mount_options(const char *store, const struct zr_opts *o);

/*
 * Why mounting failed, in one line: from what libfuse and fusermount3 said (lines of
 * text, maybe none), and what can be seen. Always returns `code`.
 */
int zr_mount_explain(const struct zr_mount *m, const char *said, int code,
                     struct zr_err *reterr);

/* Catches what is written to stderr, by child processes too. If that does not work,
 * stderr just stays as it is. */
struct zr_capture {
	int saved; /* the true stderr, or -1 */
	int file;
};
void zr_capture_begin(struct zr_capture *c);
/* Sets stderr back; the text (NUL-terminated, cut at `size`) goes to buf. */
void zr_capture_end(struct zr_capture *c, char *buf, size_t size);
