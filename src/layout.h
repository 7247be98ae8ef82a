/* SPDX-License-Identifier: MIT */
/*
 * layout.h - which levels and columns the records of an array have
 *
 *   store bytes -> codec -> chunk cache -> view -> render -> fuse reply
 *
 * A struct becomes levels (the record itself and every nested struct: a directory each)
 * and leaves (scalar fields: a column, one file each). Numbered in declared order, depth
 * first; hidden padding is left out. An array that is no struct has one level and one
 * leaf, named `values`. This module knows positions, not text and not file names.
 *
 * Layer 1. May include dtype.h, array.h and layer 0.
 *
 * Memory: borrows the type it was made from, which must outlive it.
 * Threads: immutable once built.
 */
#pragma once

#include "array.h"
#include "dtype.h"

/* A sub-array axis: `count` elements, `stride` bytes apart. */
struct zr_axis {
	uint64_t count;
	uint64_t stride;
};

/* A position in the record: of a leaf, or of a nested struct. */
struct zr_column {
	const struct zr_type *type; /* of one element: a scalar, or a struct */
	const char *name; /* true name, `name_len` bytes; "values" for no struct;
	                   * NULL for the record itself */
	size_t name_len;
	uint32_t parent; /* level that it is a field of; 0 for level 0 */
	uint64_t offset; /* bytes from the start of the record to the first element */
	uint32_t naxes;  /* sub-array axes of it and of the structs above, outermost first
	                  */
	struct zr_axis *axes; /* owned */
	uint64_t count;       /* product of the axes' counts; 1 without */
};

struct zr_layout {
	bool is_struct;
	uint32_t nlevels; /* >= 1; level 0 is the record */
	struct zr_column *levels;
	uint32_t nleaves;
	struct zr_column *leaves;
};

/*
 * -ENOMEM; -EINVAL when the array has no leaf to show; -EOVERFLOW: more than
 * ZR_MAX_FIELDS fields, structs nested deeper than ZR_MAX_STRUCT_DEPTH, sub-arrays of
 * more than ZR_MAX_DIMS axes, more than ZR_MAX_AXES axes in all, or so many sub-array
 * elements that they must be empty ones (then no line would ever end).
 */
ZR_MUST_CHECK int zr_layout_build(const struct zr_type *type, struct zr_layout *ret);
void zr_layout_done(struct zr_layout *l);

/* The axes of a field's own sub-array: f->ndim entries. */
void zr_field_axes(const struct zr_field *f, struct zr_axis *ret);

/* Bytes of a record from the column's first element to the end of its last one; 0 when it
 * has none. */
uint64_t zr_column_extent(const struct zr_column *c);
