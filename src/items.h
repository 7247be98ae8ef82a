/* SPDX-License-Identifier: MIT */
/*
 * items.h - the elements of a chunk of a variable-length type
 *
 *   store bytes -> codec -> [ items ] chunk cache -> view -> render -> fuse reply
 *
 * vlen-utf8, vlen-bytes and vlen-array: a count, then for each item its length and its
 * bytes (u32, little-endian; numcodecs). json2: one JSON list. A decoded chunk is an
 * array of struct zr_item that points into the bytes.
 *
 * Layer 1. May include dtype.h and layer 0, items_json2.c json.h too. Threads: no state;
 * any.
 */
#pragma once

#include "buf.h"
#include "dtype.h"
#include "err.h"

/*
 * The n items (exactly) in `own_bytes`. On success *ret_items holds n struct zr_item, and
 * *ret_text the bytes they point into. -EUCLEAN, -ENOMEM. own_bytes is consumed in any
 * case.
 */
ZR_MUST_CHECK int zr_items_decode(enum zr_kind kind, struct zr_buf *own_bytes, uint64_t n,
                                  struct zr_buf *ret_items, struct zr_buf *ret_text,
                                  struct zr_err *reterr);

/* Of ZR_LIST, once they are decoded: whether each is a whole number of elements of `size`
 * bytes. -EUCLEAN. */
ZR_MUST_CHECK int zr_items_check_lists(const struct zr_buf *items, uint64_t size,
                                       struct zr_err *reterr);

/* Of ZR_JSON: each item is 's' and UTF-8, or 'j' and compact JSON. Likewise, and -EFBIG
 * when they take more than ZR_MAX_CHUNK. */
ZR_MUST_CHECK int zr_items_decode_json2(struct zr_buf *own_bytes, uint64_t n,
                                        struct zr_buf *ret_items, struct zr_buf *ret_text,
                                        struct zr_err *reterr);
