/* SPDX-License-Identifier: MIT */
/*
 * stamp.h - what the stored objects of an array look like, summed up in a few bytes
 *
 *   store bytes -> codec -> chunk cache -> view (+ index) -> render -> fuse reply
 *
 * Of each object its number, size, modification and change time and inode are hashed; the
 * hashes are added, so that objects may be looked at in any order and by several threads.
 * Two stamps that are equal mean: nothing was written, replaced, added or removed between
 * them.
 *
 * A file system tells times apart only by a tick of its clock: an object that was written
 * twice within one looks the same both times. So what was learnt of an array may be kept
 * under its stamp only if every object was old enough (zr_stamp_older()) when the first
 * of them was read.
 *
 * Layer 2. May include chunk.h, store.h and below.
 *
 * Threads: a struct zr_stamp belongs to one thread at a time.
 */
#pragma once

#include "chunk.h"

struct zr_stamp {
	uint64_t objects; /* how many were looked at */
	uint64_t sum[2];
	struct timespec newest; /* change of any of them */
	bool unsure;            /* an object was met that is no readable file */
};

/* Looks at one object. -EIO and others when the store does not answer. */
ZR_MUST_CHECK int zr_stamp_object(struct zr_stamp *s, const struct zr_source *source,
                                  uint64_t object);

/* Adds what another thread looked at. */
void zr_stamp_add(struct zr_stamp *s, const struct zr_stamp *more);

bool zr_stamp_equal(const struct zr_stamp *a, const struct zr_stamp *b);

/* Whether no object can have been changed at `when` (of the system's clock) or later
 * without that being seen. */
bool zr_stamp_older(const struct zr_stamp *s, const struct timespec *when);
