/* SPDX-License-Identifier: MIT */
/*
 * opts.h - the command line: one table for parsing, --help and (by test) the manual
 *
 * Layer 5. May include everything below.
 *
 * Memory: strings in struct zr_opts are owned by it.
 */
#pragma once

#include <sys/types.h>

#include "buf.h"
#include "err.h"
#include "files.h"
#include "privilege.h"
#include "util.h"

/* The verbs, mounting first; then what is no verb. */
enum zr_action {
	ZR_ACTION_MOUNT,
	ZR_ACTION_LS,
	ZR_ACTION_CAT,
	ZR_ACTION_CHECK,
	ZR_ACTION_INDEX,
	ZR_NVERBS,
	ZR_ACTION_HELP = ZR_NVERBS,
	ZR_ACTION_VERSION
};

/* A:B as Python has it: a number below 0 counts from the end. */
struct zr_slice {
	int64_t first;
	int64_t last; /* behind the last one; INT64_MAX: the end */
};

struct zr_opts {
	enum zr_action action;
	enum zr_action about; /* HELP: of which verb */
	char *store;          /* as given; INDEX: the first one */
	char *mountpoint;     /* as given; MOUNT only */
	char **paths;         /* as given, npaths of them; the other verbs. INDEX:
	                       * the other stores */
	size_t npaths;
	struct zr_slice rows; /* --rows, all of them by default */
	bool has_rows;
	bool json;             /* --json */
	bool foreground;       /* -f, implied by -d */
	bool debug;            /* -d: libfuse's trace, log level debug */
	bool missing_is_error; /* missing=error; missing=fill is the default */
	bool follow_symlinks;
	bool default_permissions;
	uid_t uid; /* of files; the mounting user's by default */
	gid_t gid;
	mode_t umask;           /* 0 by default */
	uint64_t cache_bytes;   /* cache=SIZE, 256 MiB by default, at least 1 MiB */
	unsigned int size_wait; /* seconds, 30 by default; 0: never wait */
	char *log_file;         /* log=FILE */
	char *user;             /* user=NAME; NULL: see privilege.h */
	struct zr_who who;      /* ourselves; for whoever is to go on as another */
	bool sandbox_off;       /* sandbox=off */
	bool index_off;         /* index=off */
	char *index_dir;        /* index_dir=DIR; NULL: the usual place */
	enum zr_tree_form view; /* view=FORM: what the mount's root is; text by default */
	unsigned int views;     /* views=LIST: the trees in it, bits 1 << enum
	                         * zr_tree_form; all others by default, none with view= */
	struct zr_render_opts render;
	/* For libfuse: "-o" arguments that the user gave for the mount itself
	 * (allow_other, fsname, ...), joined by commas, values escaped; may
	 * be empty. What always holds (ro, nosuid, nodev, subtype) is added by mount.h.
	 */
	char *fuse_opts;
};

/* -EINVAL and one line that names the argument at fault; of *ret only the verb is set
 * then, in `action`. A verb is the first argument,
 * and nothing else is (./ls is a store; mount.zarrfs knows no verbs). `-o` values may
 * come in several -o, commas in a value are escaped by a backslash; the last of equals
 * wins. What mount(8) adds is accepted: ro, dev, suid, exec, noatime, _netdev and the
 * like are taken and ignored (the mount is always ro, nosuid, nodev). rw is refused, but
 * where mount(8) itself has added it. --help and --version end the parsing where they
 * stand. */
ZR_MUST_CHECK int zr_opts_parse(int argc, char **argv, struct zr_opts *ret,
                                struct zr_err *reterr);
void zr_opts_done(struct zr_opts *o);

/* Appends the value of an option as it is written in a list: with a backslash before each
 * comma and backslash. */
void zr_opts_escape(struct zr_buf *out, const char *value);

/* Appends the text of --help of a verb, generated from the table. */
void zr_opts_help(enum zr_action about, struct zr_buf *out);

/* Adds the names of the verbs, as in "ls, cat". */
void zr_opts_verbs(struct zr_buf *out);

/* The part of `count` things that a slice names: [*ret_first, *ret_last). */
void zr_slice_of(const struct zr_slice *s, uint64_t count, uint64_t *ret_first,
                 uint64_t *ret_last);
