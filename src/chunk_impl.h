/* SPDX-License-Identifier: MIT */
/*
 * chunk_impl.h - what chunk.c (sources), chunk_place.c (shards, decoding),
 * chunk_damage.c (what cannot be read) and chunk_verify.c (what has changed) share
 *
 * Layer 2, private.
 */
#pragma once

#include "chunk.h"

/* Kinds of what the cache holds of a source; the latter two plus 2 * level. */
enum { ZR_KEY_CELL, ZR_KEY_INDEX, ZR_KEY_SHARD };

/* Where the stored bytes of a chunk of some level lie: a byte range of an object, or of a
 * shard that had to be decoded. All zero but for src and key: the object itself. */
struct zr_spot {
	struct zr_source *src;
	const char *key;    /* of the object */
	struct zr_buf held; /* owned: the bytes, when they came out of a decoded shard */
	uint64_t room;      /* bytes that `held` may take, and what it is made of */
	bool in_memory;     /* `held` is set */
	bool found;         /* there is such an object: a shard */
	bool sized;         /* `len` is set */
	uint64_t offset;
	uint64_t len;
	struct zr_stat st; /* of the object, when `len` was set */
	uint32_t level;
	uint64_t fault; /* what is to blame if this fails: a shard; 0: the cell itself */
};

void zr_spot_done(struct zr_spot *p);

/* The shard of the spot's level that the cell `at` lies in, as zr_damage_* call it; 0:
 * the spot is the cell itself. */
uint64_t zr_spot_shard(const struct zr_spot *p, const uint64_t *at);

/* Whether the object is still the one that the spot was found in: in another one, other
 * things lie in its place. -EIO: it is not; others as the store's. */
ZR_MUST_CHECK int zr_spot_check(const struct zr_spot *p, struct zr_err *reterr);

/* Goes on from what is in the cache of an object: -EIO if that was another one than what
 * the spot was found in so far. */
ZR_MUST_CHECK int zr_spot_join(struct zr_spot *p, const struct zr_stat *st,
                               struct zr_err *reterr);

/* Of a cell whose object is not there: -ENOENT, or -EIO if it was when the chunks were
 * listed, so that it is none that was never written. */
ZR_MUST_CHECK int zr_source_check_absent(struct zr_source *s, uint64_t cell,
                                         struct zr_err *reterr);

/* Waits until so many bytes may be copied for this spot, until it is done. Nothing of the
 * cache may be held: others who wait for room in that have theirs here. */
void zr_spot_hold(struct zr_spot *p, uint64_t bytes);

/*
 * From an object to the bytes of the cell `at` in it, through all levels of shards. No
 * chunk of the cache is held afterwards. -ENOENT: never written; others as the store's.
 */
ZR_MUST_CHECK int zr_spot_find(struct zr_spot *p, const uint64_t *at,
                               struct zr_err *reterr);

/* How much of a chunk there may be. */
struct zr_spot_limit {
	uint64_t stored;  /* bytes of it in the store */
	uint64_t decoded; /* of variable length; else what they are */
	bool full;        /* more there cannot be: that is damage */
};

/* The most that is ever read of a cell of which so many bytes are stored: more than any
 * codec makes of what it decodes to is not looked at. */
struct zr_spot_limit zr_spot_most(const struct zr_source *s, uint64_t stored);

/* Read and decode a cell. -EFBIG: there is more than the limit; also for whatever else
 * may be the reason when a chunk of variable length cannot be decoded within one that is
 * not full. */
ZR_MUST_CHECK int zr_spot_load(const struct zr_spot *p, const struct zr_spot_limit *limit,
                               struct zr_chunk *chunk, struct zr_err *reterr);

/* Whether a cell, or a shard, is known to be damaged. */
bool zr_damage_known(struct zr_source *s, uint64_t what);

/* How many there is memory for. */
size_t zr_damage_room(struct zr_source *s);

/* A cell, or a shard with all cells in it, could not be read, for reason r: logs that,
 * once, and remembers it if it will be so for ever; returns -EUCLEAN then, else r. */
int zr_damage_note(struct zr_source *s, uint64_t what, const char *key, int r,
                   const struct zr_err *err);

/* The store has answered: when it fails the next time, that is news again. */
void zr_damage_none(struct zr_source *s);
