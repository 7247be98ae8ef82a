/* SPDX-License-Identifier: MIT */
/*
 * The end of an archive is looked for as libzip does: any signature in its last 64 KiB
 * may be it, and lead to a directory. Names are hashed as libzip does (zip_hash.c, the
 * same from 1.2 on). Those that it would first make UTF-8 of are taken to collide.
 * Sources: APPNOTE.TXT 6.3, sections 4.3.12 to 4.3.16.
 */
#include "archive_names.h"

#include <errno.h>
#include <inttypes.h>

#include "bounds.h"
#include "store.h"
#include "utf8.h"

#define MAX_STEPS ((uint64_t)1 << 28) /* in the hash table: some seconds */
#define WINDOW ((size_t)256 << 10)    /* more than the largest entry */

enum { ENTRY = 46, END = 22, END64 = 56, LOCATOR64 = 20 };
enum { EXTRA_UNICODE_PATH = 0x7075 };

struct scan {
	int fd;
	uint64_t size;
	uint64_t walked; /* bytes of directories, all that there may be together */
	uint64_t steps;
	uint32_t *counts; /* owned; of names, by where they are in the table */
	uint32_t mask;
	uint32_t odd; /* names of which the hash is not known */

	uint8_t *window; /* owned; bytes of the file from `at` on */
	uint64_t at;
	size_t len;
};

/* n bytes at `pos`, at most WINDOW. *ret NULL: the file ends before. */
static int scan_read(struct scan *s, uint64_t pos, size_t n, const uint8_t **ret)
{
	int r;

	*ret = NULL;
	if (pos > s->size || n > s->size - pos)
		return 0;
	if (pos < s->at || pos - s->at > s->len || n > s->len - (size_t)(pos - s->at)) {
		s->len = 0;
		s->at = pos;
		r = zr_store_pread(s->fd, s->window, ZR_MIN(WINDOW, s->size - pos), pos);
		if (r < 0)
			return r == -EUCLEAN ? 0 : r;
		s->len = (size_t)ZR_MIN(WINDOW, s->size - pos);
	}
	*ret = s->window + (pos - s->at);
	return 0;
}

/* --- names -----------------------------------------------------------------------------
 */

/* Whether libzip takes the name as it stands. */
static bool is_plain(const uint8_t *name, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (name[i] < 0x20)
			return false;
	return zr_utf8_valid_prefix(name, len) == len;
}

/* Whether another name stands beside it. */
static bool has_other_name(const uint8_t *extra, size_t len)
{
	for (size_t at = 0; at + 4 <= len;) {
		if (zr_load_u16(extra + at, false) == EXTRA_UNICODE_PATH)
			return true;
		at += 4 + (size_t)zr_load_u16(extra + at + 2, false);
	}
	return false;
}

static void add_name(struct scan *s, const uint8_t *name, size_t len,
                     const uint8_t *extra, size_t extra_len)
{
	uint32_t hash = 5381;

	if (!is_plain(name, len) || has_other_name(extra, extra_len)) {
		s->steps += ++s->odd;
		return;
	}
	for (size_t i = 0; i < len; i++)
		hash = hash * 33 + name[i];
	s->steps += ++s->counts[hash & s->mask];
}

/* --- directories -----------------------------------------------------------------------
 */

/* As large as libzip's for so many: a power of two, filled to three quarters. */
static int make_table(struct scan *s, uint64_t count)
{
	uint64_t cap = 256;

	while (cap < count + count / 3 + 1)
		cap *= 2;
	free(s->counts);
	s->counts = calloc((size_t)cap, sizeof(*s->counts));
	s->mask = (uint32_t)(cap - 1);
	s->steps = s->odd = 0;
	return s->counts ? 0 : -ENOMEM;
}

/* The next entry of a directory; *ret_done: there is none. */
static int walk_entry(struct scan *s, uint64_t *pos, bool *ret_done)
{
	size_t name, extra, comment;
	const uint8_t *p;
	int r = scan_read(s, *pos, ENTRY, &p);

	*ret_done = r < 0 || !p || memcmp(p, "PK\1\2", 4) != 0;
	if (*ret_done)
		return r;
	name = zr_load_u16(p + 28, false);
	extra = zr_load_u16(p + 30, false);
	comment = zr_load_u16(p + 32, false);
	r = scan_read(s, *pos, ENTRY + name + extra, &p);
	*ret_done = r < 0 || !p;
	if (*ret_done)
		return r;
	add_name(s, p + ENTRY, name, p + ENTRY + name, extra);
	*pos += ENTRY + name + extra + comment;
	s->walked += ENTRY + name + extra;
	return 0;
}

static int walk(struct scan *s, uint64_t pos, uint64_t count, struct zr_err *reterr)
{
	bool done = false;
	int r;

	/* What cannot be is for libzip to refuse. */
	if (pos >= s->size || count > (s->size - pos) / ENTRY)
		return 0;
	if (count > ZR_MAX_MEMBERS)
		return zr_err_set(reterr, -EFBIG,
		                  "the archive has %" PRIu64
		                  " members, more than the %" PRIu64 " that are read",
		                  count, ZR_MAX_MEMBERS);
	r = make_table(s, count);
	for (uint64_t i = 0; r == 0 && !done && i < count; i++) {
		r = walk_entry(s, &pos, &done);
		if (s->steps > MAX_STEPS)
			return zr_err_set(reterr, -EFBIG,
			                  "the names in the archive collide: to open it "
			                  "would take too long");
		if (s->walked > 2 * s->size)
			return zr_err_set(reterr, -EFBIG,
			                  "the archive has too many directories");
	}
	return r;
}

/* The directories that an end at `pos` may lead to: its own, and that of zip64. */
static int walk_end(struct scan *s, uint64_t pos, struct zr_err *reterr)
{
	uint64_t count, at, end64 = UINT64_MAX;
	const uint8_t *p;
	int r = scan_read(s, pos, END, &p);

	if (r < 0 || !p)
		return r;
	count = zr_load_u16(p + 10, false);
	at = zr_load_u32(p + 16, false);
	if (pos >= LOCATOR64) {
		r = scan_read(s, pos - LOCATOR64, LOCATOR64, &p);
		if (r == 0 && p && memcmp(p, "PK\6\7", 4) == 0)
			end64 = zr_load_u64(p + 8, false);
	}
	if (r == 0)
		r = walk(s, at, count, reterr);
	if (r < 0 || end64 == UINT64_MAX)
		return r;
	r = scan_read(s, end64, END64, &p);
	if (r < 0 || !p || memcmp(p, "PK\6\6", 4) != 0)
		return r;
	count = zr_load_u64(p + 32, false);
	return walk(s, zr_load_u64(p + 48, false), count, reterr);
}

/* Any signature in the last of the file may be the end. */
static int scan_ends(struct scan *s, struct zr_err *reterr)
{
	size_t len = (size_t)ZR_MIN(s->size, 65536 + END + LOCATOR64);
	ZR_CLEANUP(zr_freep) uint8_t *tail = malloc(len + 1);
	const uint8_t *p = tail;
	int r = tail ? zr_store_pread(s->fd, tail, len, s->size - len) : -ENOMEM;

	if (r == -EUCLEAN)
		return 0; /* it was cut off meanwhile */
	while (r == 0 && (p = memmem(p, len - (size_t)(p - tail), "PK\5\6", 4))) {
		r = walk_end(s, s->size - len + (size_t)(p - tail), reterr);
		p++;
	}
	return r;
}

int zr_archive_check_names(int fd, uint64_t size, const char *path, struct zr_err *reterr)
{
	struct scan s = {.fd = fd, .size = size, .window = malloc(WINDOW)};
	struct zr_err err = {0};
	int r = s.window ? scan_ends(&s, &err) : -ENOMEM;

	free(s.window);
	free(s.counts);
	if (r < 0)
		zr_err_set(reterr, r, "%s: %s", path, err.code ? err.text : strerror(-r));
	return r;
}
