/* SPDX-License-Identifier: MIT */
#include "store.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "bounds.h"

#define SMALL_DOC ((uint64_t)1 << 20)

void zr_store_init(struct zr_store *s, const struct zr_store_ops *ops)
{
	s->ops = ops;
	s->sums = ops->verify;
	atomic_init(&s->refs, 1);
	pthread_mutex_init(&s->large_doc, NULL);
	atomic_init(&s->present, 0);
}

struct zr_store *zr_store_ref(struct zr_store *s)
{
	atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
	return s;
}

void zr_store_unref(struct zr_store *s)
{
	if (!s || atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1)
		return;
	pthread_mutex_destroy(&s->large_doc);
	s->ops->free(s);
}

/* Names come out of metadata too, and must not lead out of the store. */
bool zr_store_is_key(const char *key, size_t len)
{
	const char *end = key + len;

	if (len == 0)
		return true;
	for (;;) {
		const char *slash = memchr(key, '/', (size_t)(end - key));
		size_t n = (size_t)((slash ? slash : end) - key);

		if (n == 0 || (n == 1 && key[0] == '.') ||
		    (n == 2 && key[0] == '.' && key[1] == '.') || memchr(key, '\0', n))
			return false;
		if (!slash)
			return true;
		key = slash + 1;
	}
}

static int store_check_key(const char *key, struct zr_err *reterr)
{
	if (zr_store_is_key(key, strlen(key)))
		return 0;
	return zr_err_set(reterr, -EINVAL, "'%s' cannot be a key of a store", key);
}

int zr_store_get(struct zr_store *s, const char *key, uint64_t max, struct zr_buf *ret,
                 struct zr_err *reterr)
{
	int r = store_check_key(key, reterr);

	assert(!ret->data && !ret->failed);
	return r < 0 ? r : s->ops->get(s, key, max, ret, reterr);
}

int zr_store_get_doc(struct zr_store *s, const char *key, struct zr_turn *turn,
                     struct zr_buf *ret, struct zr_err *reterr)
{
	struct zr_err err = {0};
	int r = -EFBIG;

	if (!turn->store)
		r = zr_store_get(s, key, SMALL_DOC, ret, &err);
	if (r != -EFBIG) {
		if (reterr)
			*reterr = err;
		return r;
	}
	if (!turn->store)
		pthread_mutex_lock(&s->large_doc);
	turn->store = s;
	return zr_store_get(s, key, ZR_MAX_METADATA, ret, reterr);
}

void zr_turn_done(struct zr_turn *turn)
{
	if (turn->store)
		pthread_mutex_unlock(&turn->store->large_doc);
	turn->store = NULL;
}

int zr_store_get_range(struct zr_store *s, const char *key, uint64_t offset, size_t len,
                       void *out, struct zr_err *reterr)
{
	int r = store_check_key(key, reterr);

	return r < 0 ? r : s->ops->get_range(s, key, offset, len, out, reterr);
}

int zr_store_verify(struct zr_store *s, const char *key, struct zr_err *reterr)
{
	int r = store_check_key(key, reterr);

	return r < 0 || !s->ops->verify ? r : s->ops->verify(s, key, reterr);
}

int zr_store_stat(struct zr_store *s, const char *key, struct zr_stat *ret,
                  struct zr_err *reterr)
{
	int r = store_check_key(key, reterr);

	return r < 0 ? r : s->ops->stat(s, key, ret, reterr);
}

int zr_store_list(struct zr_store *s, const char *key, struct zr_dirlist *ret,
                  struct zr_err *reterr)
{
	int r = store_check_key(key, reterr);

	return r < 0 ? r : s->ops->list(s, key, ret, reterr);
}

void zr_dirlist_done(struct zr_dirlist *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->count; i++)
		free(l->entries[i].name);
	free(l->entries);
	*l = (struct zr_dirlist){0};
}

int zr_dirlist_add(struct zr_dirlist *l, const char *name, size_t len, bool is_dir)
{
	char *copy;

	/* Full at every power of two, which spares a field for the capacity. */
	if ((l->count & (l->count - 1)) == 0) {
		size_t cap = l->count ? 2 * l->count : 1;
		struct zr_dirent *grown =
			reallocarray(l->entries, cap, sizeof(l->entries[0]));

		if (!grown)
			return -ENOMEM;
		l->entries = grown;
	}
	copy = strndup(name, len);
	if (!copy)
		return -ENOMEM;
	l->entries[l->count++] = (struct zr_dirent){.name = copy, .is_dir = is_dir};
	return 0;
}

static int dirent_compare(const void *a, const void *b)
{
	return strcmp(((const struct zr_dirent *)a)->name,
	              ((const struct zr_dirent *)b)->name);
}

void zr_dirlist_sort(struct zr_dirlist *l)
{
	struct zr_dirent *last = l->entries;

	if (l->count < 2)
		return;
	qsort(l->entries, l->count, sizeof(l->entries[0]), dirent_compare);
	for (size_t i = 1; i < l->count; i++) {
		if (strcmp(last->name, l->entries[i].name) != 0) {
			*++last = l->entries[i];
			continue;
		}
		last->is_dir |= l->entries[i].is_dir;
		last->is_link |= l->entries[i].is_link;
		free(l->entries[i].name);
	}
	l->count = (size_t)(last - l->entries) + 1;
}

int zr_store_failed(struct zr_err *reterr, const char *key, int code)
{
	if (code == -EAGAIN || code == -EINTR)
		code = -EIO;
	errno = -code;
	if (!*key)
		return zr_err_set(reterr, code, "root of the store: %m");
	return zr_err_set(reterr, code, "'%s': %m", key);
}

int zr_store_too_large(struct zr_err *reterr, const char *key, uint64_t size,
                       uint64_t max)
{
	return zr_err_set(reterr, -EFBIG,
	                  "'%s' has %" PRIu64 " bytes, more than the %" PRIu64
	                  " that are read",
	                  key, size, max);
}

int zr_store_too_short(struct zr_err *reterr, const char *key, uint64_t size,
                       uint64_t offset, uint64_t len)
{
	return zr_err_set(reterr, -EUCLEAN,
	                  "'%s' ends at byte %" PRIu64 ", but %" PRIu64
	                  " bytes are wanted from byte %" PRIu64,
	                  key, size, len, offset);
}

int zr_store_pread(int fd, void *out, size_t n, uint64_t offset)
{
	uint8_t *p = (uint8_t *)out;
	unsigned int tries = ZR_STORE_TRIES;

	while (n > 0) {
		ssize_t got;

		if (offset > INT64_MAX)
			return -EUCLEAN;
		got = pread(fd, p, n, (off_t)offset);
		if (got < 0 && errno == EINTR && --tries > 0)
			continue;
		if (got < 0) /* it is there, so that is not what is wrong */
			return errno == ENOENT ? -EIO : -errno;
		if (got == 0)
			return -EUCLEAN;
		p += got;
		n -= (size_t)got;
		offset += (uint64_t)got;
	}
	return 0;
}
