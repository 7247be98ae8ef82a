/* SPDX-License-Identifier: MIT */
/*
 * render.h - records to the lines of a file, and the length-only twin
 *
 *   store bytes -> codec -> chunk cache -> view -> [ render ] -> fuse reply
 *
 * A zr_line is the program that one text file's lines are made by, compiled once for
 * each file from the type: literal bytes, values, loops over sub-arrays. Every line
 * ends in LF. Lines of files with an index (`_index` of N-d arrays) hold the record's
 * indices too; their digits are not part of what the length functions count unless
 * said, because they follow from the record number alone (grid.h counts them).
 *
 * A *run* is n records of a decoded chunk that follow one another along the last axis
 * of the array: record k lies at rec + k * stride. stride 0 repeats one record (a run
 * of fill values).
 *
 * Writers return the end of their text, and may overwrite ZR_LINE_SPARE bytes behind it:
 * room for those has to be there, and what is in them means nothing.
 *
 * Nothing here allocates (but for compiling), does I/O or looks at the locale.
 * Text: DESIGN 1.2. render_text.c, render_json.c, render_csv.c write values of one
 * form; measure.c is the twin of all three; render_bin.c gathers raw values, and
 * render_fixed.c makes text in columns.
 *
 * Layer 3. May include layout.h and below.
 *
 * Memory: a line borrows layout and array; both must outlive it.
 * Threads: immutable once built.
 */
#pragma once

#include "layout.h"

enum zr_nonfinite { ZR_NONFINITE_NULL, ZR_NONFINITE_STRING };

/* What of the command line changes text. */
struct zr_render_opts {
	enum zr_nonfinite nonfinite; /* NaN and infinities in JSON */
	bool fixed_text;             /* field files in columns of constant width */
};

struct zr_line;

#define ZR_LINE_SPARE 32

/* The files' lines of an array, by their own names: a leaf's text file, a level's
 * records.jsonl, the array's records.csv. NULL: no memory. */
struct zr_line *zr_line_new_text(const struct zr_layout *l, uint32_t leaf,
                                 const struct zr_render_opts *o);
struct zr_line *zr_line_new_json(const struct zr_array *a, const struct zr_layout *l,
                                 uint32_t level, const struct zr_render_opts *o);
struct zr_line *zr_line_new_csv(const struct zr_array *a, const struct zr_layout *l,
                                const struct zr_render_opts *o);
void zr_line_free(struct zr_line *line); /* NULL is allowed */

/* The header line of records.csv, LF included, into an empty buffer. -ENOMEM; -EFBIG when
 * it would be longer than ZR_MAX_METADATA: sub-arrays multiply names. */
ZR_MUST_CHECK int zr_csv_header(const struct zr_array *a, const struct zr_layout *l,
                                struct zr_buf *ret);

/* Whether each line holds the indices of its record (array.ndim >= 2 and the form asks
 * for it: records.csv, and records.jsonl of levels that are not inside a sub-array). */
bool zr_line_has_index(const struct zr_line *line);

/* Most bytes that one line can have, indices included; UINT64_MAX for variable length. */
uint64_t zr_line_max(const struct zr_line *line);

/* Bytes of one record's line, LF included, index digits not. Never 0. */
uint64_t zr_line_len(const struct zr_line *line, const uint8_t *rec);
/* Likewise of n records together; stops at UINT64_MAX. */
uint64_t zr_line_len_run(const struct zr_line *line, const uint8_t *rec, uint64_t stride,
                         uint64_t n);

/*
 * Write the lines of up to n records of a run, as long as each certainly fits before
 * `end`, spare bytes included. index: ndim numbers, of the first record; the last one
 * counts up (not looked at without an index; may then be NULL). Returns how many records
 * were written; *out is moved behind them. A record that may not fit is not begun:
 * measure it, make room for zr_line_len() plus its index digits (20 bytes a dimension are
 * always enough) plus the spare bytes, and call zr_line_put_one().
 */
uint64_t zr_line_put_run(const struct zr_line *line, const uint8_t *rec, uint64_t stride,
                         uint64_t n, const uint64_t *index, char **out, const char *end);

/* Write one line, whatever its length: the caller has made room. Returns the end. */
char *zr_line_put_one(const struct zr_line *line, const uint8_t *rec,
                      const uint64_t *index, char *out);

/*
 * Skip records of a run whose lines end at or before `bytes`: returns how many, at most
 * n; *ret_bytes is their length, index digits included. Runs of stride 0 take the time
 * of one record, whatever n.
 */
uint64_t zr_line_skip_run(const struct zr_line *line, const uint8_t *rec, uint64_t stride,
                          uint64_t n, const uint64_t *index, uint64_t bytes,
                          uint64_t *ret_bytes);

/*
 * Measuring all files of an array at once. The files are numbered: leaves first (their
 * text), then levels (records.jsonl), then records.csv.
 */
struct zr_measure;

struct zr_measure *zr_measure_new(const struct zr_array *a, const struct zr_layout *l,
                                  const struct zr_render_opts *o); /* NULL: no memory */
void zr_measure_free(struct zr_measure *m);                        /* NULL is allowed */
uint32_t zr_measure_files(const struct zr_measure *m); /* nleaves + nlevels + 1 */

/* Adds to sums[file] the zr_line_len() of the n records of a run. A sum that does not
 * fit becomes UINT64_MAX and stays it. Runs of stride 0 take the time of one record. */
void zr_measure_run(const struct zr_measure *m, const uint8_t *rec, uint64_t stride,
                    uint64_t n, uint64_t *sums);

/*
 * Records that take the same number of bytes in a file whatever they hold; not for
 * variable length. Binary, for .raw and .npy: a leaf's values (all its sub-array
 * elements) as little-endian, packed elements, or the whole record (level 0) as packed
 * fields, hidden padding as it is stored. Text, for text=fixed: a leaf's line, each value
 * in a column as wide as the longest value of its type, numbers and dates on the right of
 * it, strings and bytes on the left.
 */
struct zr_bin;

struct zr_bin *zr_bin_new_leaf(const struct zr_layout *l, uint32_t leaf);
struct zr_bin *zr_bin_new_record(const struct zr_type *type);
struct zr_bin *zr_bin_new_text(const struct zr_layout *l, uint32_t leaf,
                               const struct zr_render_opts *o);
void zr_bin_free(struct zr_bin *b);          /* NULL is allowed */
uint64_t zr_bin_len(const struct zr_bin *b); /* bytes that one record takes */
void zr_bin_put_run(const struct zr_bin *b, const uint8_t *rec, uint64_t stride,
                    uint64_t n, uint8_t *out);

/* Whether a record that begins with these bytes, and has no more, is in the file as it is
 * in memory. */
bool zr_bin_is_copy(const struct zr_bin *b);

/* Bytes [skip, skip + len) of one record, which it must have. -ENOMEM: the one function
 * here that allocates, because values are made whole. */
ZR_MUST_CHECK int zr_bin_put_part(const struct zr_bin *b, const uint8_t *rec,
                                  uint64_t skip, size_t len, uint8_t *out);
