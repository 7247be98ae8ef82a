/* SPDX-License-Identifier: MIT */
/*
 * recall.h - of one array: whether the index on disk holds good, and what becomes of it
 *
 *   store bytes -> codec -> chunk cache -> view (+ sizes, [ recall ]) -> render -> fuse
 * reply
 *
 * An index holds good when each stored object looks as it did, so each has to be looked
 * at. Few are when the array's documents are parsed: its sizes are known then before
 * anybody asks. Many are by the pass (sizes.h), as its first stage.
 *
 *     none -> hoped   there is an index; its stamp is `kept`
 *     hoped -> sure   the array has that stamp
 *     hoped -> none   it has another
 *
 * What a pass has measured is kept, unless an object is damaged (that would have to be
 * said again at the next mount, and repaired ones read otherwise), or so new that its
 * next change might not be seen.
 *
 * Layer 3. May include index.h and below.
 *
 * Memory: plain data.
 * Threads: none of its own; sizes.c guards it.
 */
#pragma once

#include "index.h"

enum zr_recall_state { ZR_RECALL_NONE, ZR_RECALL_HOPED, ZR_RECALL_SURE };

struct zr_recall {
	struct zr_index_id id;
	struct timespec
		born; /* of the system's clock, before anything of the array was read */
	enum zr_recall_state state;
	struct zr_stamp kept; /* of the index */
	struct zr_stamp seen; /* of the objects that the pass has looked at */
};

/* Nothing is known yet. id->index NULL: nor will it be. */
void zr_recall_init(struct zr_recall *r, const struct zr_index_id *id,
                    const struct timespec *born);

/*
 * Looks for an index, and whether it holds good if that takes a moment at most. True:
 * the nfiles sizes are those of the array. May block on I/O.
 */
ZR_MUST_CHECK bool zr_recall_sizes(struct zr_recall *r, struct zr_source *source,
                                   uint32_t nfiles, uint64_t *ret_sizes);

/* Sizes that were shown say otherwise: the index is not for us, nor shall there be one.
 */
void zr_recall_renounce(struct zr_recall *r);

/* Whether each object is to be looked at, to see if the index holds good. */
bool zr_recall_is_hoped(const struct zr_recall *r, const struct zr_present *present);

/* Whether all have been looked at already, in vain. */
bool zr_recall_has_seen(const struct zr_recall *r, const struct zr_present *present);

/* All objects have been looked at: whether the index holds good. */
bool zr_recall_settle(struct zr_recall *r);

/* Whether what was measured may be kept. */
bool zr_recall_may_keep(const struct zr_recall *r, const struct zr_present *present);
