/* SPDX-License-Identifier: MIT */
#include "meta.h"

#include "meta_impl.h"

static void array_unrefp(struct zr_array **a)
{
	zr_array_unref(*a);
}

void zr_meta_done(struct zr_meta *m)
{
	zr_buf_done(&m->attributes);
	zr_buf_done(&m->codecs);
	zr_array_unref(m->array);
	*m = (struct zr_meta){0};
}

/* --- attributes and dimension names ------------------------------------------------ */

static int set_attributes(struct zr_meta *m, const char *text, size_t len)
{
	if (text)
		zr_buf_add(&m->attributes, text, len);
	else
		zr_buf_adds(&m->attributes, "{}");
	m->has_attributes = true;
	return zr_buf_check(&m->attributes);
}

/* Whether a list has a name in it at all. */
static bool has_name(const json_t *names)
{
	for (size_t i = 0; i < json_array_size(names); i++)
		if (!json_is_null(json_array_get(names, i)))
			return true;
	return names && !json_is_array(names) && !json_is_null(names);
}

/* The attribute _ARRAY_DIMENSIONS; *ret is NULL when there is none that could serve. */
static int names_attribute(const struct zr_meta *m, json_t **ret)
{
	struct zr_json_slice s = zr_json_member((char *)m->attributes.data,
	                                        m->attributes.len, "_ARRAY_DIMENSIONS");
	int r;

	*ret = NULL;
	r = s.data ? zr_json_parse(s.data, s.len, NULL, ret, NULL) : 0;
	return r == -ENOMEM ? r : 0;
}

/* Sets the names out of a list that has one for each dimension, null or not. */
static int set_names(struct zr_array *a, const json_t *names)
{
	if (!json_is_array(names) || json_array_size(names) != a->ndim || a->ndim == 0)
		return 0;
	a->dims = calloc(a->ndim, sizeof(*a->dims));
	if (!a->dims)
		return -ENOMEM;
	for (uint32_t i = 0; i < a->ndim; i++) {
		const json_t *v = json_array_get(names, i);
		struct zr_buf text = {0};
		int r;

		if (!json_is_string(v) || zr_json_number(v))
			continue;
		r = zr_json_string(v, &text);
		a->dims[i] = (struct zr_str){(char *)text.data, text.len};
		if (r < 0)
			return r;
	}
	return 0;
}

/* `own`: dimension_names of v3. Where it names nothing, the attribute does. */
static int read_names(struct zr_array *a, const struct zr_meta *m, const json_t *own)
{
	ZR_CLEANUP(json_decrefp) json_t *attribute = NULL;
	int r;

	if (has_name(own))
		return set_names(a, own);
	r = names_attribute(m, &attribute);
	return r < 0 ? r : set_names(a, attribute);
}

/* --- documents --------------------------------------------------------------------- */

/* Members of a document that are not parsed. */
enum { MEMBER_ATTRIBUTES, MEMBER_CONSOLIDATED, NMEMBERS };
static const char *const unparsed[] = {"attributes", "consolidated_metadata", NULL};

/* Parses a document, whatever it is, but for those. */
static int parse_document(struct zr_doc doc, json_t **ret,
                          struct zr_json_slice ret_members[NMEMBERS],
                          struct zr_err *reterr)
{
	struct zr_err why = {0};
	size_t len = doc.len;
	int r;

	if (doc.len > ZR_MAX_METADATA)
		return zr_err_set(reterr, -EOPNOTSUPP, "larger than %zu MiB",
		                  ZR_MAX_METADATA >> 20);
	r = zr_json_check(doc.data, doc.len, &why);
	if (r >= 0) {
		zr_json_members(doc.data, doc.len, unparsed, ret_members);
		for (size_t i = 0; i < NMEMBERS; i++)
			len -= ret_members[i].len;
	}
	if (r >= 0 && len > ZR_MAX_PARSED)
		return zr_err_set(reterr, -EOPNOTSUPP,
		                  "larger than %zu MiB besides attributes",
		                  ZR_MAX_PARSED >> 20);
	if (r >= 0)
		r = zr_json_parse(doc.data, doc.len, unparsed, ret, &why);
	if (r < 0 && r != -ENOMEM)
		return zr_err_set(reterr, r, "not valid JSON: %s", why.text);
	return r;
}

static int check_format(const json_t *doc, int format, struct zr_err *reterr)
{
	const json_t *v = json_object_get(doc, "zarr_format");
	char shown[ZR_SHOWN];

	if (!v)
		return zr_err_set(reterr, -EINVAL, "member 'zarr_format' is missing");
	if (!json_is_integer(v) || json_integer_value(v) != format)
		return zr_err_set(reterr, -EOPNOTSUPP, "zarr_format is %s instead of %d",
		                  zr_meta_show(v, shown), format);
	return 0;
}

static int read_v3(struct zr_doc doc, struct zr_meta *m, struct zr_err *reterr)
{
	ZR_CLEANUP(json_decrefp) json_t *v = NULL;
	ZR_CLEANUP(array_unrefp) struct zr_array *a = NULL;
	struct zr_json_slice members[NMEMBERS];
	const char *type;
	char shown[ZR_SHOWN];
	int r;

	r = parse_document(doc, &v, members, reterr);
	if (r < 0)
		return r;
	if (!json_is_object(v))
		return zr_err_set(reterr, -EINVAL, "%s instead of an object",
		                  zr_meta_show(v, shown));
	type = json_string_value(json_object_get(v, "node_type"));
	if (!type)
		return zr_err_set(reterr, -EINVAL, "member 'node_type' is missing");
	r = set_attributes(m, members[MEMBER_ATTRIBUTES].data,
	                   members[MEMBER_ATTRIBUTES].len);
	if (r < 0)
		return r;
	if (strcmp(type, "array") == 0)
		m->kind = ZR_NODE_ARRAY;
	r = check_format(v, 3, reterr);
	if (r < 0)
		return r;
	if (strcmp(type, "group") == 0)
		return 0;
	if (strcmp(type, "array") != 0)
		return zr_err_set(reterr, -EOPNOTSUPP, "node_type %s is unknown",
		                  zr_meta_show(json_object_get(v, "node_type"), shown));

	a = zr_array_new();
	if (!a)
		return -ENOMEM;
	r = zr_meta_array_v3(a, v, reterr);
	if (r < 0)
		return r;
	r = read_names(a, m, json_object_get(v, "dimension_names"));
	if (r == 0)
		r = zr_meta_codec_names_v3(json_object_get(v, "codecs"), &m->codecs);
	if (r < 0)
		return r;
	m->array = ZR_TAKE(a);
	return 0;
}

/* *ret_name: the document at fault. */
static int read_v2(struct zr_doc zgroup, struct zr_doc zarray, struct zr_doc zattrs,
                   struct zr_meta *m, const char **ret_name, struct zr_err *reterr)
{
	ZR_CLEANUP(json_decrefp) json_t *v = NULL;
	ZR_CLEANUP(array_unrefp) struct zr_array *a = NULL;
	struct zr_json_slice members[NMEMBERS];
	struct zr_err why = {0};
	char shown[ZR_SHOWN];
	int r;

	m->kind = zarray.data ? ZR_NODE_ARRAY : ZR_NODE_GROUP;
	*ret_name = ".zattrs";
	if (zattrs.data) {
		r = zr_json_check(zattrs.data, zattrs.len, &why);
		if (r < 0)
			return r == -ENOMEM ? r
			                    : zr_err_set(reterr, r, "not valid JSON: %s",
			                                 why.text);
	}
	*ret_name = zarray.data ? ".zarray" : ".zgroup";
	r = parse_document(zarray.data ? zarray : zgroup, &v, members, reterr);
	if (r < 0)
		return r;
	r = set_attributes(m, zattrs.data, zattrs.len);
	if (r < 0)
		return r;
	if (!json_is_object(v))
		return zr_err_set(reterr, -EINVAL, "%s instead of an object",
		                  zr_meta_show(v, shown));
	r = check_format(v, 2, reterr);
	if (r < 0 || !zarray.data)
		return r;

	a = zr_array_new();
	if (!a)
		return -ENOMEM;
	r = zr_meta_array_v2(a, v, reterr);
	if (r < 0)
		return r;
	r = read_names(a, m, NULL);
	if (r == 0)
		r = zr_meta_codec_names_v2(v, &m->codecs);
	if (r < 0)
		return r;
	m->array = ZR_TAKE(a);
	return 0;
}

/* Hands out what is known of the node; only -ENOMEM is a failure of the call. */
static int finish(int r, const struct zr_err *why, const char *name,
                  struct zr_meta *own_m, struct zr_meta *ret)
{
	if (r == -ENOMEM) {
		zr_meta_done(own_m);
		return r;
	}
	if (r < 0)
		zr_err_set(&own_m->why, r, "%s (%s)",
		           why->code ? why->text : "not understood", name);
	*ret = *own_m;
	return 0;
}

int zr_meta_parse_v3(struct zr_doc doc, struct zr_meta *ret)
{
	struct zr_meta m = {.kind = ZR_NODE_GROUP};
	struct zr_err why = {0};
	int r = read_v3(doc, &m, &why);

	return finish(r, &why, "zarr.json", &m, ret);
}

int zr_meta_parse_v2(struct zr_doc zgroup, struct zr_doc zarray, struct zr_doc zattrs,
                     struct zr_meta *ret)
{
	struct zr_meta m = {.kind = ZR_NODE_GROUP};
	struct zr_err why = {0};
	const char *name;
	int r = read_v2(zgroup, zarray, zattrs, &m, &name, &why);

	return finish(r, &why, name, &m, ret);
}
