/* SPDX-License-Identifier: MIT */
#include "meta_impl.h"

/* At most ZR_MAX_SHARD_DEPTH deep. */
static int names_list(const json_t *codecs, struct zr_buf *ret)
{
	for (size_t i = 0; i < json_array_size(codecs); i++) {
		const json_t *c = json_array_get(codecs, i);
		const json_t *name = json_is_object(c) ? json_object_get(c, "name") : c;
		const json_t *inner =
			json_object_get(json_object_get(c, "configuration"), "codecs");
		bool shard = zr_codec_class_v3(json_string_value(name)) == ZR_CODEC_SHARD;
		int r;

		zr_buf_adds(ret, i ? ", " : "[");
		if (shard)
			zr_buf_addc(ret, '{');
		r = zr_json_compact(name, ret);
		if (r == 0 && shard) {
			zr_buf_adds(ret, ": ");
			r = names_list(inner, ret);
			zr_buf_addc(ret, '}');
		}
		if (r < 0)
			return r;
	}
	zr_buf_adds(ret, json_array_size(codecs) ? "]" : "[]");
	return zr_buf_check(ret);
}

int zr_meta_codec_names_v3(const json_t *codecs, struct zr_buf *ret)
{
	return names_list(codecs, ret);
}

int zr_meta_codec_names_v2(const json_t *doc, struct zr_buf *ret)
{
	const json_t *filters = json_object_get(doc, "filters");
	const json_t *compressor = json_object_get(doc, "compressor");
	size_t n = json_array_size(filters);
	int r = 0;

	zr_buf_addc(ret, '[');
	for (size_t i = 0; r == 0 && i <= n; i++) {
		const json_t *c = i < n ? json_array_get(filters, i) : compressor;

		if (json_is_null(c))
			continue;
		zr_buf_adds(ret, i ? ", " : "");
		r = zr_json_compact(json_object_get(c, "id"), ret);
	}
	zr_buf_addc(ret, ']');
	return r < 0 ? r : zr_buf_check(ret);
}
