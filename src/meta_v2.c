/* SPDX-License-Identifier: MIT */
#include "meta_impl.h"

static const json_t *codec_id(const json_t *codec)
{
	const json_t *id = json_object_get(codec, "id");

	return json_is_string(id) && !zr_json_number(id) ? id : NULL;
}

static bool is_codec(const json_t *codec, const char *id)
{
	const json_t *v = codec_id(codec);

	return v && strcmp(json_string_value(v), id) == 0;
}

/* Before anything else may be wrong: what can only be had by running code of the store's
 * own choice. */
static int check_pickle(const json_t *doc, struct zr_err *reterr)
{
	const json_t *filters = json_object_get(doc, "filters");

	for (size_t i = 0; i < json_array_size(filters); i++) {
		const json_t *f = json_array_get(filters, i);

		if (is_codec(f, "pickle"))
			return zr_codec_refuse(ZR_CODEC_PICKLE, codec_id(f), "filter",
			                       reterr);
		if (is_codec(f, "msgpack2"))
			return zr_codec_refuse(ZR_CODEC_REFUSED, codec_id(f), "filter",
			                       reterr);
	}
	return 0;
}

/* Of json2: what its text is written in. */
static int check_encoding(const json_t *codec, struct zr_err *reterr)
{
	static const char *const known[] = {"utf-8", "utf8", "ascii", "us-ascii"};
	const json_t *v = json_object_get(codec, "encoding");
	const char *word = v ? json_string_value(v) : known[0];
	char shown[ZR_SHOWN];

	for (size_t i = 0; word && i < ZR_COUNT(known); i++)
		if (strcasecmp(word, known[i]) == 0)
			return 0;
	return zr_err_set(reterr, -EOPNOTSUPP,
	                  "filter 'json2': encoding %s is not supported",
	                  zr_meta_show(v, shown));
}

/* vlen-array: lists of what has a text without tabs and commas. */
static int read_lists(struct zr_array *a, const json_t *codec, struct zr_err *reterr)
{
	ZR_CLEANUP(zr_type_done)
	struct zr_type t = {.kind = ZR_LIST, .size = sizeof(struct zr_item)};
	const json_t *v = json_object_get(codec, "dtype");
	struct zr_type *item;
	char shown[ZR_SHOWN];
	int r;

	t.fields = calloc(1, sizeof(*t.fields));
	if (!t.fields)
		return -ENOMEM;
	t.nfields = 1;
	t.fields[0].count = 1;
	item = &t.fields[0].type;
	if (!v)
		return zr_err_set(reterr, -EINVAL, "filter 'vlen-array' without a dtype");
	r = zr_meta_type_v2(v, item, NULL);
	if (r == -ENOMEM)
		return r;
	if (r < 0 || (item->kind != ZR_BOOL && item->kind != ZR_INT &&
	              item->kind != ZR_UINT && item->kind != ZR_FLOAT &&
	              item->kind != ZR_DATETIME && item->kind != ZR_TIMEDELTA))
		return zr_err_set(reterr, -EOPNOTSUPP,
		                  "filter 'vlen-array' of %s is not supported",
		                  zr_meta_show(v, shown));
	a->type = t;
	t = (struct zr_type){0};
	return 0;
}

/* |O: what the objects are is told by the first filter. */
static int read_objects(struct zr_array *a, const json_t *filters, struct zr_err *reterr)
{
	const json_t *first = json_array_get(filters, 0);
	const json_t *id = codec_id(first);
	enum zr_codec_class k =
		id ? zr_codec_class_v2(json_string_value(id)) : ZR_CODEC_BYTES;

	if (!id)
		return zr_err_set(
			reterr, -EINVAL,
			"dtype '|O' without a filter that makes bytes of objects");
	if (k != ZR_CODEC_OBJECT && k != ZR_CODEC_CATEGORIZE)
		return zr_codec_refuse(k == ZR_CODEC_UNKNOWN || k == ZR_CODEC_REFUSED
		                               ? k
		                               : ZR_CODEC_BYTES,
		                       id, "dtype '|O': filter", reterr);
	if (is_codec(first, "vlen-array"))
		return read_lists(a, first, reterr);
	a->type = (struct zr_type){.kind = is_codec(first, "vlen-bytes") ? ZR_VBYTES
	                                   : is_codec(first, "json2")    ? ZR_JSON
	                                                                 : ZR_STRING,
	                           .size = sizeof(struct zr_item)};
	return a->type.kind == ZR_JSON ? check_encoding(first, reterr) : 0;
}

static int read_type(struct zr_array *a, const json_t *doc, const json_t *filters,
                     struct zr_err *reterr)
{
	const json_t *v = NULL;
	int r;

	r = zr_meta_need(doc, "dtype", &v, reterr);
	if (r < 0)
		return r;
	if (json_is_string(v) && (strcmp(json_string_value(v), "|O") == 0 ||
	                          strcmp(json_string_value(v), "O") == 0))
		return read_objects(a, filters, reterr);
	return zr_meta_type_v2(v, &a->type, reterr);
}

/* objects: those that the codec leaves are. */
static int append(struct zr_codecs *chain, const json_t *codec, const char *what,
                  bool objects, struct zr_err *reterr)
{
	const json_t *id = codec_id(codec);
	enum zr_codec_class k;

	if (!id)
		return zr_err_set(reterr, -EINVAL, "%s without an id", what);
	k = zr_codec_class_v2(json_string_value(id));
	if (k == ZR_CODEC_CATEGORIZE)
		return zr_categorize_append(chain, codec, objects, reterr);
	if (k != ZR_CODEC_ARRAY && k != ZR_CODEC_SEQUENCE && k != ZR_CODEC_CHECKSUM &&
	    k != ZR_CODEC_STREAM)
		return zr_codec_refuse(k, id, what, reterr);
	return zr_codec_append(chain, json_string_value(id), codec, NULL, reterr);
}

/* Filters from first to last, then the compressor: the order of encoding. */
static int read_codecs(struct zr_array *a, const json_t *doc, const json_t *filters,
                       struct zr_err *reterr)
{
	const json_t *compressor = NULL;
	size_t n = json_array_size(filters);
	int r;

	r = zr_meta_need(doc, "compressor", &compressor, reterr);
	if (r < 0)
		return r;
	if (n >= ZR_MAX_CODECS)
		return zr_err_set(reterr, -EOPNOTSUPP,
		                  "%zu filters are not supported, only less than %d", n,
		                  ZR_MAX_CODECS);
	for (size_t i = 0; i < n; i++) {
		const json_t *f = json_array_get(filters, i);
		bool objects = i == 0 && zr_type_is_variable(&a->type);

		/* The first filter of objects is what the elements' kind stands for. */
		if (objects && !is_codec(f, "categorize"))
			continue;
		r = append(a->levels[0].codecs, f, "filter", objects, reterr);
		if (r < 0)
			return r;
	}
	if (json_is_null(compressor))
		return 0;
	return append(a->levels[0].codecs, compressor, "compressor", false, reterr);
}

static int read_order(struct zr_array *a, const json_t *doc, struct zr_err *reterr)
{
	const json_t *v = json_object_get(doc, "order");
	const char *word = v ? json_string_value(v) : "C";
	char shown[ZR_SHOWN];

	if (!word || (strcmp(word, "C") != 0 && strcmp(word, "F") != 0))
		return zr_err_set(reterr, -EINVAL, "order is %s instead of 'C' or 'F'",
		                  zr_meta_show(v, shown));
	/* The list of json2 is in logical order, whatever the order in memory was. */
	if (*word == 'F' && a->type.kind != ZR_JSON)
		for (uint32_t i = 0; i < a->ndim; i++)
			a->levels[0].axis[i] = (uint8_t)(a->ndim - 1 - i);
	return 0;
}

static int read_separator(struct zr_array *a, const json_t *doc, struct zr_err *reterr)
{
	const json_t *v = json_object_get(doc, "dimension_separator");
	const char *word = json_string_value(v);
	char shown[ZR_SHOWN];

	a->v2_keys = true;
	a->try_slash = !v || json_is_null(v);
	if (!a->try_slash &&
	    (!word || (strcmp(word, ".") != 0 && strcmp(word, "/") != 0)))
		return zr_err_set(reterr, -EINVAL, "dimension_separator is %s",
		                  zr_meta_show(v, shown));
	a->separator = word ? *word : '.';
	return 0;
}

int zr_meta_array_v2(struct zr_array *a, const json_t *doc, struct zr_err *reterr)
{
	const json_t *filters = json_object_get(doc, "filters");
	const json_t *chunks = NULL;
	int r;

	a->zarr_format = 2;
	r = check_pickle(doc, reterr);
	if (r >= 0 && filters && !json_is_null(filters) && !json_is_array(filters))
		r = zr_err_set(reterr, -EINVAL, "filters is no list");
	if (r >= 0)
		r = zr_meta_shape(a, doc, reterr);
	if (r >= 0)
		r = read_type(a, doc, filters, reterr);
	if (r >= 0)
		r = zr_meta_need(doc, "chunks", &chunks, reterr);
	if (r >= 0)
		r = zr_meta_grid(a, chunks, "chunks", reterr);
	if (r >= 0)
		r = read_codecs(a, doc, filters, reterr);
	if (r >= 0)
		r = read_order(a, doc, reterr);
	if (r >= 0)
		r = read_separator(a, doc, reterr);
	if (r >= 0)
		r = zr_meta_check_bottom(a, reterr);
	/* Last: whether it can be decoded at all is the better reason. */
	if (r >= 0)
		r = zr_fill_read(a, json_object_get(doc, "fill_value"), reterr);
	return r;
}
