/* SPDX-License-Identifier: MIT */
/*
 * opts_impl.h - what opts.c (the table, the command line) and opts_value.c (values) share
 *
 * Layer 5, private. May include opts.h and below.
 *
 * Errors: -EINVAL and a line that names option and value; -ENOMEM.
 */
#pragma once

#include "buf.h"
#include "opts.h"

/* What is read so far. */
struct parser {
	struct zr_opts o;
	struct zr_buf fuse; /* becomes o.fuse_opts */
	bool allow_other, allow_root;
	uint32_t missing, nonfinite, text, view, index; /* which of their words */
	bool has_views;                                 /* o.views was given */
	unsigned int operands;
};

struct opt {
	const char *name; /* as in -o; NULL: the head line of a group */
	const char *arg;  /* what is to be given behind '='; NULL: nothing is */
	int (*set)(struct parser *p, const struct opt *opt, const char *value,
	           struct zr_err *reterr);
	size_t at; /* what is set: an offset in struct parser, */
	uint32_t max;
	const char *help;
};

/* For struct opt: */
int zr_opts_set_fuse(struct parser *p, const struct opt *opt, const char *value,
                     struct zr_err *reterr);
int zr_opts_set_flag(struct parser *p, const struct opt *opt, const char *value,
                     struct zr_err *reterr);
int zr_opts_set_flag_and_fuse(struct parser *p, const struct opt *opt, const char *value,
                              struct zr_err *reterr);
int zr_opts_set_string(struct parser *p, const struct opt *opt, const char *value,
                       struct zr_err *reterr);
int zr_opts_set_word(struct parser *p, const struct opt *opt, const char *value,
                     struct zr_err *reterr);
int zr_opts_set_views(struct parser *p, const struct opt *opt, const char *value,
                      struct zr_err *reterr);
int zr_opts_set_number(struct parser *p, const struct opt *opt, const char *value,
                       struct zr_err *reterr);
int zr_opts_set_octal(struct parser *p, const struct opt *opt, const char *value,
                      struct zr_err *reterr);
int zr_opts_set_size(struct parser *p, const struct opt *opt, const char *value,
                     struct zr_err *reterr);

/* Keeps a copy of the value in place of what is there. */
int zr_opts_keep(char **where, const char *value);

/* The bit of a tree that views= names; 0 for none; -1: there is no such tree. */
int zr_opts_views_bit(const char *name, size_t len);
