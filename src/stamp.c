/* SPDX-License-Identifier: MIT */
#include "stamp.h"

#include <errno.h>
#include <stdio.h>
#include <xxhash.h>

/* A tick of the clock of a file system that has fractions of a second (Linux: at most
 * 10 ms), and of one that has not (FAT: 2 s). */
#define FINE_TICK_NS 100000000
#define COARSE_TICK_NS 2100000000

/* An object's stat; -ENOENT. */
static int stat_object(const struct zr_source *s, uint64_t object, char separator,
                       struct zr_stat *ret)
{
	ZR_CLEANUP(zr_freep) char *path = NULL;
	uint64_t at[ZR_MAX_DIMS];
	char key[ZR_KEY_MAX];

	zr_grid_object_at(&s->grid, object, at);
	zr_grid_key(s->array, at, separator, key);
	if (asprintf(&path, "%s%s%s", s->path, *s->path ? "/" : "", key) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	return zr_store_stat(s->store, path, ret, NULL);
}

static void add_hash(struct zr_stamp *s, uint64_t object, bool other_key,
                     const struct zr_stat *st)
{
	const uint64_t v[] = {object,
	                      other_key,
	                      st->size,
	                      st->ino,
	                      (uint64_t)st->mtime.tv_sec,
	                      (uint64_t)st->mtime.tv_nsec,
	                      (uint64_t)st->ctime.tv_sec,
	                      (uint64_t)st->ctime.tv_nsec};
	uint8_t bytes[sizeof(v)];
	XXH128_hash_t h;

	for (size_t i = 0; i < ZR_COUNT(v); i++)
		zr_store_uint(bytes + 8 * i, v[i], 8, false);
	h = XXH3_128bits(bytes, sizeof(bytes));
	s->sum[0] += h.low64;
	s->sum[1] += h.high64;
}

static bool is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

int zr_stamp_object(struct zr_stamp *s, const struct zr_source *source, uint64_t object)
{
	struct zr_stat st = {0};
	bool other_key = false;
	int r = stat_object(source, object, source->array->separator, &st);

	if (r == -ENOENT && source->array->try_slash) {
		other_key = true;
		r = stat_object(source, object, '/', &st);
	}
	switch (-r) {
	case 0:
		add_hash(s, object, other_key, &st);
		if (st.ctime.tv_sec == 0 && st.ctime.tv_nsec == 0)
			s->unsure = true; /* the store knows no such time */
		if (is_later(&st.ctime, &s->newest))
			s->newest = st.ctime;
		break;
	case EIO:
	case ENOMEM:
	case EACCES:
	case EMFILE:
	case ENFILE:
	case ETIMEDOUT:
	case ESTALE:
		return r;
	default: /* gone, a directory, a link that leads nowhere ... */
		s->unsure = true;
		break;
	}
	s->objects++;
	return 0;
}

void zr_stamp_add(struct zr_stamp *s, const struct zr_stamp *more)
{
	s->objects += more->objects;
	s->sum[0] += more->sum[0];
	s->sum[1] += more->sum[1];
	if (is_later(&more->newest, &s->newest))
		s->newest = more->newest;
	s->unsure |= more->unsure;
}

bool zr_stamp_equal(const struct zr_stamp *a, const struct zr_stamp *b)
{
	return !a->unsure && !b->unsure && a->objects == b->objects &&
	       a->sum[0] == b->sum[0] && a->sum[1] == b->sum[1];
}

bool zr_stamp_older(const struct zr_stamp *s, const struct timespec *when)
{
	uint64_t tick = s->newest.tv_nsec ? FINE_TICK_NS : COARSE_TICK_NS;
	struct timespec safe = {
		.tv_sec = s->newest.tv_sec,
		.tv_nsec = s->newest.tv_nsec,
	};

	tick += (uint64_t)safe.tv_nsec;
	safe.tv_sec += (time_t)(tick / 1000000000);
	safe.tv_nsec = (long)(tick % 1000000000);
	return !s->unsure && is_later(when, &safe);
}
