/* SPDX-License-Identifier: MIT */
#include "meta_impl.h"

static const char *const known_members[] = {
	"zarr_format",
	"node_type",
	"shape",
	"data_type",
	"chunk_grid",
	"chunk_key_encoding",
	"fill_value",
	"codecs",
	"attributes",
	"dimension_names",
	"storage_transformers",
	"consolidated_metadata",
	NULL,
};

/* A member that is not known must say that it need not be. */
static int check_members(const json_t *doc, struct zr_err *reterr)
{
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)doc, key, v)
	{
		ZR_CLEANUP(zr_buf_done) struct zr_buf name = {0};
		const char *const *k = known_members;

		while (*k && strcmp(*k, key) != 0)
			k++;
		if (*k || json_is_false(json_object_get(v, "must_understand")))
			continue;
		if (zr_json_key(key, &name) < 0)
			return -ENOMEM;
		return zr_err_set(reterr, -EOPNOTSUPP,
		                  "member '%.60s' is unknown and must be understood",
		                  (char *)name.data);
	}
	return 0;
}

static int check_transformers(const json_t *doc, struct zr_err *reterr)
{
	const json_t *v = json_object_get(doc, "storage_transformers");
	struct zr_ext ext = {0};
	char shown[ZR_SHOWN];
	int r;

	if (!v || json_is_null(v) || (json_is_array(v) && json_array_size(v) == 0))
		return 0;
	if (!json_is_array(v))
		return zr_err_set(reterr, -EINVAL, "storage_transformers is %s",
		                  zr_meta_show(v, shown));
	v = json_array_get(v, 0);
	r = zr_ext_read(v, "storage transformer", &ext, reterr);
	if (r < 0)
		return r;
	return zr_err_set(
		reterr, -EOPNOTSUPP, "storage transformer %s is not supported",
		zr_meta_show(json_is_object(v) ? json_object_get(v, "name") : v, shown));
}

static int read_grid(struct zr_array *a, const json_t *doc, struct zr_err *reterr)
{
	static const char *const known[] = {"chunk_shape", NULL};
	static const char *const refused[] = {"rectilinear", "rectangular",
	                                      "zarrs.regular_bounded"};
	const json_t *v = NULL;
	struct zr_ext ext = {0};
	bool is_known = false;
	char shown[ZR_SHOWN];
	int r;

	r = zr_meta_need(doc, "chunk_grid", &v, reterr);
	if (r < 0)
		return r;
	r = zr_ext_read(v, "chunk_grid", &ext, reterr);
	if (r < 0)
		return r;
	if (strcmp(ext.name, "regular") != 0) {
		for (size_t i = 0; i < ZR_COUNT(refused); i++)
			is_known |= strcmp(ext.name, refused[i]) == 0;
		zr_meta_show(json_is_object(v) ? json_object_get(v, "name") : v, shown);
		return zr_err_set(reterr, -EOPNOTSUPP, "chunk_grid %s is %s", shown,
		                  is_known ? "not supported" : "unknown");
	}
	r = zr_meta_only(ext.conf, known, "chunk_grid 'regular'", reterr);
	if (r < 0)
		return r;
	return zr_meta_grid(a, json_object_get(ext.conf, "chunk_shape"), "chunk_shape",
	                    reterr);
}

static int read_keys(struct zr_array *a, const json_t *doc, struct zr_err *reterr)
{
	static const char *const known[] = {"separator", NULL};
	const json_t *v = NULL, *separator;
	const char *word;
	struct zr_ext ext = {0};
	char shown[ZR_SHOWN];
	int r;

	r = zr_meta_need(doc, "chunk_key_encoding", &v, reterr);
	if (r < 0)
		return r;
	r = zr_ext_read(v, "chunk_key_encoding", &ext, reterr);
	if (r < 0)
		return r;
	a->v2_keys = strcmp(ext.name, "v2") == 0;
	if (!a->v2_keys && strcmp(ext.name, "default") != 0)
		return zr_err_set(
			reterr, -EOPNOTSUPP, "chunk_key_encoding %s is unknown",
			zr_meta_show(json_is_object(v) ? json_object_get(v, "name") : v,
		                     shown));
	r = zr_meta_only(ext.conf, known, "chunk_key_encoding", reterr);
	if (r < 0)
		return r;

	separator = json_object_get(ext.conf, "separator");
	word = json_string_value(separator);
	if (separator && (!word || (strcmp(word, "/") != 0 && strcmp(word, ".") != 0)))
		return zr_err_set(reterr, -EINVAL, "chunk_key_encoding: separator is %s",
		                  zr_meta_show(separator, shown));
	a->separator = word ? *word : a->v2_keys ? '.' : '/';
	return 0;
}

int zr_meta_array_v3(struct zr_array *a, const json_t *doc, struct zr_err *reterr)
{
	const json_t *type = NULL, *codecs = NULL, *fill = NULL;
	bool legacy = false;
	int r;

	a->zarr_format = 3;
	r = check_members(doc, reterr);
	if (r >= 0)
		r = check_transformers(doc, reterr);
	if (r >= 0)
		r = zr_meta_shape(a, doc, reterr);
	if (r >= 0)
		r = zr_meta_need(doc, "data_type", &type, reterr);
	if (r >= 0)
		r = zr_meta_type_v3(type, &a->type, &legacy, reterr);
	if (r >= 0)
		r = read_grid(a, doc, reterr);
	if (r >= 0)
		r = read_keys(a, doc, reterr);
	if (r >= 0)
		r = zr_meta_need(doc, "codecs", &codecs, reterr);
	if (r >= 0)
		r = zr_meta_chain_v3(a, codecs, legacy, reterr);
	if (r >= 0)
		r = zr_meta_check_bottom(a, reterr);
	/* Last: whether it can be decoded at all is the better reason. */
	if (r >= 0)
		r = zr_meta_need(doc, "fill_value", &fill, reterr);
	if (r >= 0)
		r = zr_fill_read(a, fill, reterr);
	return r;
}
