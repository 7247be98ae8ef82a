/* SPDX-License-Identifier: MIT */
/*
 * cmd.h - the verbs of the command line
 *
 * A verb is a cmd_*.c, a value of enum zr_action, a row in the tables of main.c and
 * opts_help.c, and, held to those by a test, a section of docs/zarrfs.1 and a case of
 * each completion.
 *
 * Layer 5. May include opts.h, engine.h and below.
 *
 * Threads: from main() only.
 */
#pragma once

#include "buf.h"
#include "err.h"
#include "opts.h"

struct zr_engine;
struct zr_place;

/* Each does what a verb says, and returns the exit status; what went wrong has been said
 * on stderr then. */
int zr_cmd_mount(const struct zr_opts *o);
int zr_cmd_ls(const struct zr_opts *o);
int zr_cmd_cat(const struct zr_opts *o);
int zr_cmd_check(const struct zr_opts *o);
int zr_cmd_index(const struct zr_opts *o);

/* Version of libfuse, for --version. */
const char *zr_cmd_libfuse(void);

/*
 * What they share.
 */

/* The error as one line on stderr; returns the exit status. */
int zr_cmd_complain(const struct zr_err *err);

/* All bytes to a descriptor, however few it takes at a time. -errno. */
ZR_MUST_CHECK int zr_cmd_write(int fd, const void *data, size_t len);

/* A failure to write to stdout: said, unless the reader has just gone. Returns the exit
 * status. */
int zr_cmd_unwritten(int r);

/* The text to stdout; returns the exit status. */
int zr_cmd_print(const struct zr_buf *text);

/* The group or array that PATH names; one line in reterr if it does not. */
ZR_MUST_CHECK int zr_cmd_find(struct zr_engine *e, const char *path, struct zr_place *ret,
                              struct zr_err *reterr);

/* As whom a mount of opts->store goes on (privilege.h), and so keeps sizes. */
ZR_MUST_CHECK int zr_cmd_who(const struct zr_opts *o, struct zr_who *ret,
                             struct zr_err *reterr);

/* How many threads keep the machine busy: one more than there are cores, since now and
 * then one waits for the store. */
unsigned int zr_cmd_threads(void);
