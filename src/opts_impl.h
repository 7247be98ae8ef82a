/* SPDX-License-Identifier: MIT */
/*
 * opts_impl.h - what opts.c (the table of -o, the command line), opts_value.c (values)
 * and opts_help.c (verbs, words, texts) share
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
	uint32_t missing, nonfinite, text, view, index,
		sandbox; /* which of their words */
	bool has_views;  /* o.views was given */
	unsigned int operands;
	size_t paths_cap;
};

#define FOR(verb) (1u << ZR_ACTION_##verb)
#define FOR_ALL ((1u << ZR_NVERBS) - 1)

struct verb {
	const char *name;     /* the first argument; NULL for mounting */
	const char *operands; /* as in the usage line; the names of the first two, */
	const char *first, *second;
	unsigned int least, most; /* and how many there may be */
	const char *brief;        /* for zarrfs --help */
	const char *what;         /* for its own --help */
	const char *examples;
};

/* An option that is not in a list behind -o. */
struct word {
	int letter;         /* as in -f; above 255: there is none */
	const char *name;   /* as in --help, or NULL */
	const char *arg;    /* what is to be given, or NULL */
	unsigned int verbs; /* bits, FOR(verb) */
	const char *help;   /* NULL: not shown */
};

enum { WORD_ROWS = 256, WORD_JSON };

struct opt {
	const char *name; /* as in -o; NULL: the head line of a group */
	const char *arg;  /* what is to be given behind '='; NULL: nothing is */
	int (*set)(struct parser *p, const struct opt *opt, const char *value,
	           struct zr_err *reterr);
	size_t at; /* what is set: an offset in struct parser, */
	uint32_t max;
	const char *help;
	unsigned int verbs; /* that have it, besides mounting: bits, FOR(verb) */
};

/* The tables; what is not there is NULL. */
const struct opt *zr_opts_nth(size_t i);
const struct word *zr_opts_word(size_t i);
const struct verb *zr_opts_verb(enum zr_action verb);

/* A:B, A:, :B or : */
int zr_opts_slice(const char *value, struct zr_slice *ret, struct zr_err *reterr);

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

/* One more name of views=LIST. -ENOENT: there is no such tree. */
int zr_opts_add_view(struct parser *p, const char *name, size_t len,
                     struct zr_err *reterr);
