/* SPDX-License-Identifier: MIT */
/*
 * check.h - what must hold of whatever was made of a hostile input
 */
#pragma once

#include "array.h"
#include "err.h"
#include "layout.h"
#include "meta.h"

/* Records and lines longer than this are left out: they only take time. */
#define CHECK_MAX_RECORD ((uint64_t)1 << 14)
#define CHECK_MAX_LINE ((uint64_t)1 << 16)

/* UTF-8 without control characters other than those in `allowed`. */
void check_clean(const void *text, size_t len, const char *allowed);

/* One clear line about a failure. */
void check_err(const struct zr_err *e, int code);

/* A file name that needs no escaping, and that a shell takes for nothing else. */
void check_file_name(const char *name);

/* What a document was understood as: all bounds hold, all numbers agree, the grid maps
 * there and back. */
void check_meta(const struct zr_meta *m);
void check_array(const struct zr_array *a);

/* Both say the same. */
void check_same_meta(const struct zr_meta *a, const struct zr_meta *b);

/* All files' lines of one record: the twins agree on their length, they are written
 * within it, they are clean text, strict JSON, CSV of as many cells as its header; and
 * binary values come out in pieces as they do whole. */
void check_record(const struct zr_array *a, const struct zr_layout *l,
                  const uint8_t *record);

/* How many cells a CSV text has, whose lines must all have equally many; 0: not so. */
size_t check_csv_cells(const char *text, size_t len);
