/* SPDX-License-Identifier: MIT */
/*
 * schema.h - schema.json: what the files of an array are, in one JSON object
 *
 *   store bytes -> codec -> chunk cache -> view -> render -> fuse reply
 *
 * Made from the metadata alone, so that its size is known at once. Members in this order;
 * those in brackets are left out where there is nothing to say:
 *
 *   path               of the node in the store; bytes that are no UTF-8 as \udcNN, as
 *                      Python's os.fsdecode() has it
 *   zarr_format        2 or 3
 *   shape
 *   chunk_shape        what is decoded at a time
 *   [shard_shape]      what is stored under one key, where shards are used
 *   [dimension_names]  a list of strings and nulls
 *   codecs             names; those inside of shards as {"sharding_indexed": [...]}
 *   [fill_value]       a record as in records.jsonl, if it takes no more than 1 MiB
 *   [record_size]      bytes of a packed record; not for variable length
 *   fields             an object: file name -> what is in that file, in declared order.
 *                      An array that is no struct has one, `values`
 *     name             the true name; null for `values` of an array that is no struct
 *     [npy]            the name in .npy where it is not the file name and ".npy"
 *     type             by the name that this version of Zarr has for it, or "struct"
 *     [offset]         bytes from the start of the packed record to the first element
 *     [size]           bytes of one element
 *     [shape]          of a sub-array
 *     [items]          of lists of any length: NumPy's type of what is in them
 *     [byte_order]     of what is stored: little or big
 *     [unit] [scale]   of datetimes and timedeltas
 *     [fields]         of a struct
 *
 * True names come out of JSON and go back into it unchanged: NULs as \u0000, lone
 * surrogates as \udNNN. File names are UTF-8 without control characters.
 *
 * Layer 3. May include meta.h, names.h, render.h and below.
 *
 * Threads: no state; any.
 */
#pragma once

#include "meta.h"
#include "render.h"

/* Into an empty buffer. path: key of the array's directory. -ENOMEM; -EFBIG for names
 * that make it longer than a metadata document may be. */
ZR_MUST_CHECK int zr_schema(const char *path, const struct zr_meta *m,
                            const struct zr_layout *l, const struct zr_render_opts *o,
                            struct zr_buf *ret);
