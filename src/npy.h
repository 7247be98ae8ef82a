/* SPDX-License-Identifier: MIT */
/*
 * npy.h - the header of a .npy file
 *
 *   store bytes -> codec -> chunk cache -> view -> [ render ] -> fuse reply
 *
 * Byte for byte as numpy.save() writes it (NEP 1, numpy.lib.format; the newest NumPy, so
 * with room for a growing first axis). The values behind it are those of .raw: C order,
 * little-endian, packed. Types that NumPy has no name for (bfloat16, float8, int4 and
 * their like) are void bytes, '|V1' or '|V2', as numpy.save() writes the types that a
 * library like ml_dtypes adds; .view() makes them numbers again.
 *
 * Layer 3. May include layout.h and below.
 *
 * Threads: no state; any.
 */
#pragma once

#include "buf.h"
#include "layout.h"

/* Of a leaf's file: the axes of sub-arrays follow those of the array. Into an empty
 * buffer; not for variable length. -ENOMEM. */
ZR_MUST_CHECK int zr_npy_leaf(const struct zr_array *a, const struct zr_column *leaf,
                              struct zr_buf *ret);

/* Of records.npy: the whole struct, hidden padding too. */
ZR_MUST_CHECK int zr_npy_records(const struct zr_array *a, struct zr_buf *ret);
