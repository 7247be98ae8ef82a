/* SPDX-License-Identifier: MIT */
#include "meta_impl.h"

struct labels {
	struct zr_label *list; /* owned, as are their bytes */
	size_t count;
};

static void labels_done(struct labels *l)
{
	for (size_t i = 0; i < l->count; i++)
		free((void *)l->list[i].data);
	free(l->list);
}

static int refuse(int code, const char *cause, struct zr_err *reterr)
{
	return zr_err_set(reterr, code, "codec 'categorize': %s", cause);
}

/* As UTF-8; what is no Unicode scalar becomes U+FFFD. */
static int read_label(const json_t *v, struct zr_label *ret)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf raw = {0};
	struct zr_buf text = {0};
	int r = zr_json_string(v, &raw);

	if (r < 0)
		return r;
	zr_json_add_scalars(&text, raw.data, raw.len);
	if (zr_buf_check(&text) < 0) {
		zr_buf_done(&text);
		return -ENOMEM;
	}
	*ret = (struct zr_label){text.data, text.len};
	return 0;
}

static int read_labels(const json_t *v, struct labels *l, struct zr_err *reterr)
{
	if (!json_is_array(v))
		return refuse(-EINVAL, "labels is no list", reterr);
	l->list = calloc(json_array_size(v) + 1, sizeof(*l->list));
	if (!l->list)
		return -ENOMEM;
	for (; l->count < json_array_size(v); l->count++) {
		int r = read_label(json_array_get(v, l->count), &l->list[l->count]);

		if (r == -EINVAL)
			return refuse(r, "a label is no text", reterr);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The integers; bytes if nothing is said. */
static int read_code(const json_t *v, struct zr_numtype *ret, struct zr_err *reterr)
{
	const char *s = v && !json_is_null(v) ? json_string_value(v) : "|u1";
	struct zr_numtype t = {0};

	if (!s || zr_numtype_parse(s, &t, NULL) < 0 || (t.kind != 'i' && t.kind != 'u'))
		return refuse(-EOPNOTSUPP, "astype is no type of integers", reterr);
	*ret = t;
	return 0;
}

/* What the texts are: objects, or UTF-32 of a fixed size. */
static int read_texts(const json_t *v, bool objects, struct zr_type *ret,
                      struct zr_err *reterr)
{
	const char *s = json_string_value(v);
	int r;

	if (!s)
		return refuse(-EINVAL, "dtype is no type string", reterr);
	if ((strcmp(s, "|O") == 0 || strcmp(s, "O") == 0) != objects)
		return refuse(-EINVAL, "its dtype is not that of the array", reterr);
	if (objects)
		return 0;
	r = zr_meta_type_v2(v, ret, reterr);
	if (r == 0 && (ret->kind != ZR_UTF32 || ret->size == 0)) {
		zr_type_done(ret);
		return refuse(-EINVAL, "its dtype is none of texts", reterr);
	}
	return r;
}

int zr_categorize_append(struct zr_codecs *c, const json_t *conf, bool objects,
                         struct zr_err *reterr)
{
	ZR_CLEANUP(labels_done) struct labels labels = {0};
	ZR_CLEANUP(zr_type_done) struct zr_type texts = {0};
	struct zr_numtype code = {0};
	int r;

	r = read_texts(json_object_get(conf, "dtype"), objects, &texts, reterr);
	if (r == 0)
		r = read_code(json_object_get(conf, "astype"), &code, reterr);
	if (r == 0)
		r = read_labels(json_object_get(conf, "labels"), &labels, reterr);
	if (r < 0)
		return r;
	r = zr_codecs_add_categorize(c, "categorize", &code, labels.list, labels.count,
	                             texts.size, texts.big);
	return r == -EOPNOTSUPP ? refuse(r, "its labels are too large", reterr) : r;
}
