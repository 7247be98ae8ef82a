/* SPDX-License-Identifier: MIT */
/*
 * archive.h - a zip archive that several threads read
 *
 *   [ store ] bytes -> codec -> chunk cache -> view -> render -> fuse reply
 *
 * What store_zip.c stands on, and the only place that knows libzip: members by number,
 * in the order of the central directory. What their names mean is not its business.
 *
 * Layer 1. May include store.h and layer 0.
 *
 * Memory: the archive owns the names of its members.
 * Threads: zr_archive_read() from any thread; zr_archive_member() before the archive is
 *          shared.
 * Errors: as in store.h.
 */
#pragma once

#include <sys/stat.h>
#include <time.h>

#include "err.h"
#include "util.h"

struct zr_member {
	const char *name; /* borrowed from the archive; directories end in '/' */
	uint64_t index;   /* in the central directory */
	uint64_t size;    /* declared, as all else here */
	uint64_t stored;  /* bytes in the archive */
	time_t mtime;
	uint32_t crc;
	uint16_t method; /* ZR_MEMBER_STORED, ZR_MEMBER_DEFLATED; others */
	bool encrypted;
};

enum { ZR_MEMBER_STORED = 0, ZR_MEMBER_DEFLATED = 8 };

struct zr_archive;

/* The text begins with the path. */
ZR_MUST_CHECK int zr_archive_open(const char *path, struct zr_archive **ret,
                                  struct zr_err *reterr);
void zr_archive_free(struct zr_archive *a); /* NULL is allowed; no reader may be left */

uint64_t zr_archive_count(const struct zr_archive *a);

/* The file, as it was when it was opened. */
const struct stat *zr_archive_stat(const struct zr_archive *a);

/* What the central directory says of member `index`. The text has no path. */
ZR_MUST_CHECK int zr_archive_member(struct zr_archive *a, uint64_t index,
                                    struct zr_member *ret, struct zr_err *reterr);

/*
 * Exactly `len` bytes from `offset` of what a member holds (`inflate`), or of how it is
 * stored. A range of an inflated member costs the inflating of all that lies before it,
 * its CRC-32 is compared when the range ends where the member does. `key`: for the text.
 *
 * -EUCLEAN damaged, or it ends before
 * -EIO     the archive was changed after it was opened
 */
ZR_MUST_CHECK int zr_archive_read(struct zr_archive *a, const struct zr_member *m,
                                  const char *key, bool inflate, uint64_t offset,
                                  size_t len, void *out, struct zr_err *reterr);
