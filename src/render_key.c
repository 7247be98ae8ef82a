/* SPDX-License-Identifier: MIT */
/*
 * Names of fields and dimensions as they stand in JSON keys and CSV headers.
 */
#include "render_impl.h"

/* A surrogate as metadata may hold it, three bytes long: one character, not three. */
static bool key_is_surrogate(const uint8_t *p, size_t n)
{
	return n >= 3 && p[0] == 0xed && p[1] >= 0xa0 && p[1] <= 0xbf &&
	       (p[2] & 0xc0) == 0x80;
}

void zr_add_clean_name(struct zr_buf *b, const char *s, size_t len)
{
	const uint8_t *p = (const uint8_t *)s;

	while (len > 0) {
		size_t good = zr_utf8_valid_prefix(p, len);

		zr_buf_add(b, p, good);
		p += good;
		len -= good;
		if (len > 0) {
			size_t bad = key_is_surrogate(p, len) ? 3 : 1;

			zr_buf_adds(b, "\xef\xbf\xbd");
			p += bad;
			len -= bad;
		}
	}
}

static bool key_is_taken(const struct zr_type *t, const struct zr_buf *key)
{
	for (uint32_t i = 0; i < t->nfields; i++) {
		const struct zr_field *f = &t->fields[i];

		if (!f->hidden && f->name_len == key->len &&
		    memcmp(f->name, key->data, key->len) == 0)
			return true;
	}
	return false;
}

void zr_add_index_key(struct zr_buf *b, const struct zr_type *t)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf key = {0};

	zr_buf_adds(&key, "_index");
	while (!key.failed && key_is_taken(t, &key)) {
		zr_buf_addc(&key, '_');
		if (!key.failed) {
			memmove(key.data + 1, key.data, key.len - 1);
			key.data[0] = '_';
		}
	}
	b->failed |= key.failed;
	if (!b->failed)
		zr_buf_add(b, key.data, key.len);
}

bool zr_dims_are_keys(const struct zr_array *a)
{
	if (!a->dims)
		return false;
	for (uint32_t i = 0; i < a->ndim; i++) {
		if (!a->dims[i].data)
			return false;
		for (uint32_t k = 0; k < i; k++)
			if (a->dims[i].len == a->dims[k].len &&
			    memcmp(a->dims[i].data, a->dims[k].data, a->dims[i].len) == 0)
				return false;
	}
	return true;
}
