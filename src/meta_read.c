/* SPDX-License-Identifier: MIT */
#include "meta_impl.h"

#include <stdio.h>

#include "utf8.h"

/* Copies as much of a text as fits into `room` bytes, cut at a character. */
static size_t show_bytes(char *buf, size_t room, const char *s, size_t len)
{
	size_t n = ZR_MIN(room, len);

	while (n > 0 && n < len && ((uint8_t)s[n] & 0xc0) == 0x80)
		n--;
	for (size_t i = 0; i < n; i++)
		buf[i] = s[i] ? s[i] : '?';
	return n;
}

const char *zr_where_show(const struct zr_where *w, char buf[ZR_SHOWN])
{
	static const char head[] = "field '", tail[] = "': ";
	const struct zr_where *up[ZR_MAX_STRUCT_DEPTH + 1];
	size_t at = strlen(head), room = ZR_SHOWN - sizeof(tail) - sizeof("...");
	size_t n = 0;

	buf[0] = '\0';
	for (; w && n < ZR_COUNT(up); w = w->up)
		up[n++] = w;
	if (n == 0)
		return buf;

	memcpy(buf, head, at);
	while (n > 0) {
		const struct zr_where *f = up[--n];
		size_t put = show_bytes(buf + at, room - at, f->name, f->name_len);

		at += put;
		if (put < f->name_len || (n > 0 && at + 1 >= room)) {
			memcpy(buf + at, "...", 3);
			at += 3;
			break;
		}
		if (n > 0)
			buf[at++] = '.';
	}
	memcpy(buf + at, tail, sizeof(tail));
	return buf;
}

const char *zr_meta_show(const json_t *v, char buf[ZR_SHOWN])
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf text = {0};
	const size_t room = 60;
	const char *number = zr_json_number(v);

	switch (v ? json_typeof(v) : JSON_NULL) {
	case JSON_STRING:
		if (number || zr_json_string(v, &text) < 0) {
			snprintf(buf, ZR_SHOWN, "%.*s", (int)room,
			         number ? number : "text");
		} else {
			size_t n = show_bytes(buf + 1, room, (char *)text.data, text.len);

			buf[0] = '\'';
			strcpy(buf + 1 + n, n < text.len ? "...'" : "'");
		}
		break;
	case JSON_INTEGER:
		snprintf(buf, ZR_SHOWN, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
		break;
	case JSON_REAL:
		snprintf(buf, ZR_SHOWN, "%.17g", json_real_value(v));
		break;
	case JSON_OBJECT:
		strcpy(buf, "an object");
		break;
	case JSON_ARRAY:
		strcpy(buf, "a list");
		break;
	default:
		strcpy(buf, json_is_true(v)    ? "true"
		            : json_is_false(v) ? "false"
		                               : "null");
	}
	return buf;
}

int zr_meta_only(const json_t *object, const char *const *known, const char *what,
                 struct zr_err *reterr)
{
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)object, key, v)
	{
		ZR_CLEANUP(zr_buf_done) struct zr_buf name = {0};
		const char *const *k = known;

		while (*k && strcmp(*k, key) != 0)
			k++;
		if (*k)
			continue;
		if (zr_json_key(key, &name) < 0)
			return -ENOMEM;
		return zr_err_set(reterr, -EINVAL, "%s has an unknown member '%.60s'",
		                  what, (char *)name.data);
	}
	return 0;
}

int zr_ext_read(const json_t *v, const char *what, struct zr_ext *ret,
                struct zr_err *reterr)
{
	static const char *const known[] = {"name", "configuration", "must_understand",
	                                    NULL};
	const json_t *name = json_is_object(v) ? json_object_get(v, "name") : v;
	const json_t *conf = json_object_get(v, "configuration");
	char shown[ZR_SHOWN];
	int r;

	if (!json_is_string(name) || zr_json_number(name))
		return zr_err_set(reterr, -EINVAL, "a %s is %s instead of a name", what,
		                  json_is_object(v) ? "an object without name"
		                                    : zr_meta_show(v, shown));
	if (json_is_object(v)) {
		char who[ZR_SHOWN + 40];

		snprintf(who, sizeof(who), "%s %s", what, zr_meta_show(name, shown));
		r = zr_meta_only(v, known, who, reterr);
		if (r < 0)
			return r;
	}
	if (json_is_null(conf))
		conf = NULL;
	if (conf && !json_is_object(conf))
		return zr_err_set(reterr, -EINVAL,
		                  "the configuration of %s %s is no object", what,
		                  zr_meta_show(name, shown));

	*ret = (struct zr_ext){.name = json_string_value(name), .conf = conf};
	return 0;
}

int zr_meta_need(const json_t *object, const char *key, const json_t **ret,
                 struct zr_err *reterr)
{
	const json_t *v = json_object_get(object, key);

	if (!v)
		return zr_err_set(reterr, -EINVAL, "member '%s' is missing", key);
	*ret = v;
	return 0;
}

bool zr_meta_uint(const json_t *v, uint64_t *ret)
{
	if (!json_is_integer(v) || json_integer_value(v) < 0)
		return false;
	*ret = (uint64_t)json_integer_value(v);
	return true;
}

int zr_meta_sizes(const json_t *v, const char *what, uint64_t *ret, uint32_t *ret_n,
                  struct zr_err *reterr)
{
	uint64_t out[ZR_MAX_DIMS];
	size_t n = json_array_size(v);
	char shown[ZR_SHOWN];

	if (!json_is_array(v))
		return zr_err_set(reterr, -EINVAL, "%s is %s instead of a list", what,
		                  zr_meta_show(v, shown));
	if (n > ZR_MAX_DIMS)
		return zr_err_set(reterr, -EOPNOTSUPP,
		                  "%s has %zu entries, at most %d are supported", what, n,
		                  ZR_MAX_DIMS);
	for (size_t i = 0; i < n; i++)
		if (!zr_meta_uint(json_array_get(v, i), &out[i]))
			return zr_err_set(reterr, -EINVAL, "%s has an entry %s", what,
			                  zr_meta_show(json_array_get(v, i), shown));

	memcpy(ret, out, n * sizeof(*ret));
	*ret_n = (uint32_t)n;
	return 0;
}

bool zr_meta_product(const uint64_t *v, uint32_t n, uint64_t max, uint64_t *ret)
{
	uint64_t product = 1;

	for (uint32_t i = 0; i < n; i++) {
		if (v[i] == 0) {
			*ret = 0;
			return true;
		}
	}
	for (uint32_t i = 0; i < n; i++)
		if (!zr_mul(product, v[i], &product))
			return false;
	if (product > max)
		return false;
	*ret = product;
	return true;
}

int zr_meta_shape(struct zr_array *a, const json_t *doc, struct zr_err *reterr)
{
	const json_t *v = NULL;
	int r;

	r = zr_meta_need(doc, "shape", &v, reterr);
	if (r < 0)
		return r;
	r = zr_meta_sizes(v, "shape", a->shape, &a->ndim, reterr);
	if (r < 0)
		return r;
	if (!zr_meta_product(a->shape, a->ndim, ZR_MAX_RECORDS, &a->nrecords))
		return zr_err_set(reterr, -EOPNOTSUPP,
		                  "shape: more than 2^60 records are not supported");
	return 0;
}

int zr_meta_grid(struct zr_array *a, const json_t *chunks, const char *what,
                 struct zr_err *reterr)
{
	struct zr_level *l = &a->levels[0];
	uint32_t n = 0;
	int r;

	r = zr_meta_sizes(chunks, what, l->chunk, &n, reterr);
	if (r < 0)
		return r;
	if (n != a->ndim)
		return zr_err_set(reterr, -EINVAL, "%s has %u entries, shape has %u",
		                  what, n, a->ndim);
	for (uint32_t i = 0; i < n; i++) {
		/* Written by some for an axis that has no elements. */
		if (l->chunk[i] == 0 && a->shape[i] == 0)
			l->chunk[i] = 1;
		if (l->chunk[i] == 0)
			return zr_err_set(reterr, -EINVAL, "%s has an entry 0", what);
		l->axis[i] = (uint8_t)i;
	}
	l->codecs = zr_codecs_new();
	if (!l->codecs)
		return -ENOMEM;
	a->nlevels = 1;
	return 0;
}

int zr_meta_check_bottom(const struct zr_array *a, struct zr_err *reterr)
{
	uint64_t n, bytes;

	/* Nothing behind this could count them. */
	if (a->type.size == 0)
		return zr_err_set(reterr, -EOPNOTSUPP,
		                  "records of no bytes are not supported");
	if (!zr_meta_product(zr_array_bottom(a)->chunk, a->ndim, ZR_MAX_CHUNK, &n) ||
	    !zr_mul(n, a->type.size, &bytes) || bytes > ZR_MAX_CHUNK)
		return zr_err_set(
			reterr, -EOPNOTSUPP,
			"chunks of more than %llu MiB when decoded are not supported",
			(unsigned long long)(ZR_MAX_CHUNK >> 20));
	for (uint32_t i = 0; i < a->nlevels; i++)
		if (!zr_meta_product(a->levels[i].chunk, a->ndim, ZR_MAX_RECORDS, &n))
			return zr_err_set(reterr, -EOPNOTSUPP,
			                  "shards of more than 2^60 records are not "
			                  "supported");
	return 0;
}
