/* SPDX-License-Identifier: MIT */
#include "view.h"

#include <errno.h>

/* --- bytes in memory ------------------------------------------------------------------
 */

struct bytes {
	struct zr_view view;
	struct zr_buf data; /* owned */
};

static bool bytes_peek_size(struct zr_view *v, uint64_t *ret)
{
	*ret = ((struct bytes *)v)->data.len;
	return true;
}

static int bytes_size(struct zr_view *v, struct zr_ticket *ticket, uint64_t *ret)
{
	(void)ticket;
	bytes_peek_size(v, ret);
	return 0;
}

static int bytes_read(struct zr_view *v, uint64_t offset, size_t len,
                      struct zr_ticket *ticket, const atomic_bool *cancel, uint8_t *out,
                      size_t *ret_len)
{
	const struct zr_buf *data = &((struct bytes *)v)->data;

	(void)ticket;
	(void)cancel;
	if (offset > data->len)
		return -EIO;
	len = ZR_MIN(len, data->len - (size_t)offset);
	if (len > 0)
		memcpy(out, data->data + offset, len);
	*ret_len = len;
	return 0;
}

static void bytes_free(struct zr_view *v)
{
	zr_buf_done(&((struct bytes *)v)->data);
	free(v);
}

static const struct zr_view_ops bytes_ops = {
	.peek_size = bytes_peek_size,
	.size = bytes_size,
	.read = bytes_read,
	.free = bytes_free,
};

struct zr_view *zr_view_new_bytes(struct zr_buf *own_bytes)
{
	struct bytes *b = calloc(1, sizeof(*b));

	if (!b) {
		zr_buf_done(own_bytes);
		return NULL;
	}
	b->view.ops = &bytes_ops;
	b->data = *own_bytes;
	*own_bytes = (struct zr_buf){0};
	return &b->view;
}

/* --- an object of the store
 * ------------------------------------------------------------- */

struct object {
	struct zr_view view;
	struct zr_store *store; /* one reference */
	char *key;              /* owned */
	uint64_t size;
};

static bool object_peek_size(struct zr_view *v, uint64_t *ret)
{
	*ret = ((struct object *)v)->size;
	return true;
}

static int object_size(struct zr_view *v, struct zr_ticket *ticket, uint64_t *ret)
{
	(void)ticket;
	object_peek_size(v, ret);
	return 0;
}

static int object_read(struct zr_view *v, uint64_t offset, size_t len,
                       struct zr_ticket *ticket, const atomic_bool *cancel, uint8_t *out,
                       size_t *ret_len)
{
	struct object *o = (struct object *)v;
	int r = 0;

	(void)ticket;
	(void)cancel;
	if (offset > o->size)
		return -EIO;
	len = (size_t)ZR_MIN((uint64_t)len, o->size - offset);
	if (len > 0)
		r = zr_store_get_range(o->store, o->key, offset, len, out, NULL);
	if (r < 0)
		return r == -ENOMEM ? r : -EIO;
	*ret_len = len;
	return 0;
}

static void object_free(struct zr_view *v)
{
	struct object *o = (struct object *)v;

	zr_store_unref(o->store);
	free(o->key);
	free(o);
}

static const struct zr_view_ops object_ops = {
	.peek_size = object_peek_size,
	.size = object_size,
	.read = object_read,
	.free = object_free,
};

struct zr_view *zr_view_new_object(struct zr_store *store, const char *key, uint64_t size)
{
	struct object *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->view.ops = &object_ops;
	o->key = strdup(key);
	o->size = size;
	if (!o->key) {
		free(o);
		return NULL;
	}
	o->store = zr_store_ref(store);
	return &o->view;
}
