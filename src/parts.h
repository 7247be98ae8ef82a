/* SPDX-License-Identifier: MIT */
/*
 * parts.h - a stream that several threads make in parts, written in order
 *
 * Each part is made by one thread into a buffer of its own. When all parts before it are
 * written, it is written as it is made, so that the first bytes come at once; until then
 * its maker waits once the buffer is full. So the memory is bounded, however long a part
 * turns out to be.
 *
 * Layer 5. May include err.h and util.h. Knows neither stores nor records.
 *
 * Threads: zr_parts_run() from one; `make` is called from several at the same time.
 */
#pragma once

#include <stdatomic.h>

#include "err.h"
#include "util.h"

struct zr_part;

struct zr_parts {
	uint64_t count;       /* parts, numbered from 0 */
	unsigned int threads; /* at least 1; fewer when the system has no more */
	/* Make part n by zr_part_room() and zr_part_add(). 0, or -errno and a line in
	 * reterr: what was added until then is still written, nothing behind it is. */
	int (*make)(void *arg, uint64_t n, struct zr_part *part, struct zr_err *reterr);
	/* All bytes, or -errno. Called by one thread at a time. */
	int (*write)(void *arg, const void *data, size_t len);
	void *arg;
};

/* 0; or the first error in the order of parts, with its line in reterr (empty if it was
 * write()'s). Nothing was written behind the place of the error. */
ZR_MUST_CHECK int zr_parts_run(const struct zr_parts *p, struct zr_err *reterr);

/* For make(): room for `len` more bytes, and that n of them (<= len) were put there.
 * -ENOMEM; -ECANCELED or what write() said: give up, nobody will see what follows. */
ZR_MUST_CHECK int zr_part_room(struct zr_part *part, size_t len, uint8_t **ret);
void zr_part_add(struct zr_part *part, size_t n);

/* Becomes true when make() might as well return. */
const atomic_bool *zr_part_cancelled(const struct zr_part *part);
