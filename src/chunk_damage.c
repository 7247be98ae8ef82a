/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "chunk_impl.h"
#include "log.h"

/* Above them, those that are damaged are neither remembered nor named. */
#define MAX_DAMAGED ((size_t)1 << 20)

/* With the lock held: where it is, or would be. */
static size_t damage_find(const struct zr_source *s, uint64_t what)
{
	size_t low = 0, high = s->ndamaged;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->damaged[mid] < what)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool zr_damage_known(struct zr_source *s, uint64_t what)
{
	size_t at;
	bool known;

	pthread_mutex_lock(&s->lock);
	at = damage_find(s, what);
	known = at < s->ndamaged && s->damaged[at] == what;
	pthread_mutex_unlock(&s->lock);
	return known;
}

size_t zr_damage_room(struct zr_source *s)
{
	size_t room;

	pthread_mutex_lock(&s->lock);
	room = s->damaged_cap;
	pthread_mutex_unlock(&s->lock);
	return room;
}

/* With the lock held. Whether it is new. Out of memory it is not remembered, and found
 * again by whoever reads it next. */
static bool damage_remember(struct zr_source *s, uint64_t what)
{
	size_t at = damage_find(s, what);

	if (s->ndamaged == MAX_DAMAGED || (at < s->ndamaged && s->damaged[at] == what))
		return false;
	if (s->ndamaged == s->damaged_cap) {
		size_t cap = s->damaged_cap ? 2 * s->damaged_cap : 16;
		uint64_t *more = reallocarray(s->damaged, cap, sizeof(*more));

		if (!more)
			return true;
		s->damaged = more;
		s->damaged_cap = cap;
	}
	memmove(s->damaged + at + 1, s->damaged + at,
	        (s->ndamaged - at) * sizeof(*s->damaged));
	s->damaged[at] = what;
	if (++s->ndamaged == MAX_DAMAGED)
		zr_error("array '/%s': %zu chunks are damaged; others are not named",
		         s->path, MAX_DAMAGED);
	return true;
}

/* Whether the chunk is at fault, and will be for ever, or only the store just now. */
static bool is_damage(int r)
{
	switch (r) {
	case -EUCLEAN:
	case -EISDIR:
	case -ELOOP:
	case -EFBIG:
	case -EOPNOTSUPP:
	case -EINVAL:
	case -ENAMETOOLONG:
		return true;
	default:
		return false;
	}
}

int zr_damage_note(struct zr_source *s, uint64_t what, const char *key, int r,
                   const struct zr_err *err)
{
	const char *cause = err->code ? err->text : strerror(-r);
	bool tell;

	pthread_mutex_lock(&s->lock);
	if (is_damage(r)) {
		tell = damage_remember(s, what);
		r = -EUCLEAN;
	} else {
		tell = s->last_error != r;
		s->last_error = r;
	}
	pthread_mutex_unlock(&s->lock);
	if (tell && r == -EUCLEAN)
		zr_error("array '/%s': chunk '%s' is damaged: %s", s->path, key, cause);
	else if (tell)
		zr_error("array '/%s': chunk '%s' cannot be read: %s", s->path, key,
		         cause);
	return r;
}

void zr_damage_none(struct zr_source *s)
{
	pthread_mutex_lock(&s->lock);
	s->last_error = 0;
	pthread_mutex_unlock(&s->lock);
}
