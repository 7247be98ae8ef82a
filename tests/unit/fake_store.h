/* SPDX-License-Identifier: MIT */
/*
 * fake_store.h - a store in memory, which counts what is asked of it and fails as told
 */
#pragma once

#include <errno.h>
#include <pthread.h>

#include "store.h"
#include "test.h"

struct fake_object {
	const char *key;
	const void *data;
	size_t len;
	int fail; /* -errno that reading it gives, or 0 */
};

struct fake_store {
	struct zr_store base; /* first: the code under test sees only this */
	struct fake_object *objects;
	size_t count;
	atomic_int gets;
	atomic_int lists;
	int fail_all; /* -errno of everything, or 0 */
	uint64_t ino; /* of everything */
};

static struct fake_object *fake_find(struct fake_store *f, const char *key)
{
	for (size_t i = 0; i < f->count; i++)
		if (strcmp(f->objects[i].key, key) == 0)
			return &f->objects[i];
	return NULL;
}

static int fake_get(struct zr_store *s, const char *key, uint64_t max, struct zr_buf *ret,
                    struct zr_err *reterr)
{
	struct fake_store *f = (struct fake_store *)s;
	struct fake_object *o = fake_find(f, key);

	(void)reterr;
	f->gets++;
	if (f->fail_all)
		return f->fail_all;
	if (!o)
		return -ENOENT;
	if (o->fail)
		return o->fail;
	if (o->len > max)
		return -EFBIG;
	zr_buf_add(ret, o->data, o->len);
	return zr_buf_check(ret);
}

static int fake_get_range(struct zr_store *s, const char *key, uint64_t offset,
                          size_t len, void *out, struct zr_err *reterr)
{
	struct fake_store *f = (struct fake_store *)s;
	struct fake_object *o = fake_find(f, key);

	(void)reterr;
	f->gets++;
	if (f->fail_all)
		return f->fail_all;
	if (!o)
		return -ENOENT;
	if (o->fail)
		return o->fail;
	if (offset > o->len || len > o->len - offset)
		return -EUCLEAN;
	memcpy(out, (const char *)o->data + offset, len);
	return 0;
}

static int fake_stat(struct zr_store *s, const char *key, struct zr_stat *ret,
                     struct zr_err *reterr)
{
	struct fake_store *f = (struct fake_store *)s;
	struct fake_object *o = fake_find(f, key);

	(void)reterr;
	if (f->fail_all)
		return f->fail_all;
	if (!o)
		return -ENOENT;
	*ret = (struct zr_stat){.size = o->len, .mtime = {.tv_sec = 1000}, .ino = f->ino};
	return 0;
}

static int fake_list(struct zr_store *s, const char *key, struct zr_dirlist *ret,
                     struct zr_err *reterr)
{
	struct fake_store *f = (struct fake_store *)s;
	size_t prefix = strlen(key);

	(void)reterr;
	f->lists++;
	if (f->fail_all)
		return f->fail_all;
	if (fake_find(f, key))
		return fake_find(f, key)->fail ? fake_find(f, key)->fail : -ENOTDIR;
	*ret = (struct zr_dirlist){0};
	for (size_t i = 0; i < f->count; i++) {
		const char *rest = f->objects[i].key, *slash;

		if (prefix > 0) {
			if (strncmp(rest, key, prefix) != 0 || rest[prefix] != '/')
				continue;
			rest += prefix + 1;
		}
		slash = strchr(rest, '/');
		CHECK_INT(zr_dirlist_add(ret, rest,
		                         slash ? (size_t)(slash - rest) : strlen(rest),
		                         slash != NULL),
		          0);
	}
	if (ret->count == 0 && prefix > 0)
		return -ENOENT;
	zr_dirlist_sort(ret);
	return 0;
}

static void fake_free(struct zr_store *s)
{
	(void)s;
}

static const struct zr_store_ops fake_ops = {
	.get = fake_get,
	.get_range = fake_get_range,
	.stat = fake_stat,
	.list = fake_list,
	.free = fake_free,
};

#define FAKE_STORE(objects_)                                                             \
	{                                                                                \
		.base = {.ops = &fake_ops, .refs = 1}, .objects = (objects_),            \
		.count = sizeof(objects_) / sizeof((objects_)[0])                        \
	}
