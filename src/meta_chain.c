/* SPDX-License-Identifier: MIT */
/*
 * The list of codecs of a v3 array, from the store's grid down to the records: each
 * `sharding_indexed` leads to one level more, whose list it holds. What is transposed
 * stays so for all levels below, and shapes inside of it are given in the axes as they
 * are there.
 */
#include "meta_impl.h"

/* One list, checked: array to array, one array to bytes, bytes to bytes. */
struct list {
	size_t count;
	struct {
		struct zr_ext ext;
		enum zr_codec_class class;
	} codec[ZR_MAX_CODECS];
	size_t serializer; /* the array-to-bytes codec */
};

static bool is_array_codec(enum zr_codec_class k)
{
	return k == ZR_CODEC_TRANSPOSE || k == ZR_CODEC_ARRAY || k == ZR_CODEC_SEQUENCE;
}

static bool is_serializer(enum zr_codec_class k)
{
	return k == ZR_CODEC_BYTES || k == ZR_CODEC_VLEN || k == ZR_CODEC_SHARD;
}

static bool is_bytes_codec(enum zr_codec_class k)
{
	return k == ZR_CODEC_CHECKSUM || k == ZR_CODEC_STREAM;
}

static int list_read(const json_t *v, const char *what, struct list *ret,
                     struct zr_err *reterr)
{
	struct list l = {.count = json_array_size(v), .serializer = SIZE_MAX};
	int r;

	if (!json_is_array(v))
		return zr_err_set(reterr, -EINVAL, "%s is no list", what);
	if (l.count > ZR_MAX_CODECS)
		return zr_err_set(reterr, -EOPNOTSUPP,
		                  "%s: more than %d codecs are not supported", what,
		                  ZR_MAX_CODECS);
	for (size_t i = 0; i < l.count; i++) {
		const json_t *c = json_array_get(v, i);
		enum zr_codec_class k;

		r = zr_ext_read(c, "codec", &l.codec[i].ext, reterr);
		if (r < 0)
			return r;
		k = l.codec[i].class = zr_codec_class_v3(l.codec[i].ext.name);
		if (is_serializer(k) && l.serializer == SIZE_MAX)
			l.serializer = i;
		else if (!(is_array_codec(k) && l.serializer == SIZE_MAX) &&
		         !(is_bytes_codec(k) && l.serializer != SIZE_MAX))
			return zr_codec_refuse(
				k, json_is_object(c) ? json_object_get(c, "name") : c,
				"codec", reterr);
	}
	if (l.serializer == SIZE_MAX)
		return zr_err_set(reterr, -EINVAL,
		                  "%s: there is no codec from array to bytes", what);
	*ret = l;
	return 0;
}

/* A permutation of n axes: a list, or "C" or "F" as in old drafts. */
static int order_read(const json_t *v, uint32_t n, uint8_t *order, struct zr_err *reterr)
{
	const char *word = json_string_value(v);
	uint64_t sizes[ZR_MAX_DIMS];
	bool seen[ZR_MAX_DIMS] = {0};
	uint32_t count = 0;
	int r;

	if (word && (strcmp(word, "C") == 0 || strcmp(word, "F") == 0)) {
		for (uint32_t i = 0; i < n; i++)
			order[i] = (uint8_t)(*word == 'C' ? i : n - 1 - i);
		return 0;
	}
	r = zr_meta_sizes(v, "codec 'transpose': order", sizes, &count, reterr);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < count; i++) {
		if (count != n || sizes[i] >= n || seen[sizes[i]])
			break;
		seen[sizes[i]] = true;
		order[i] = (uint8_t)sizes[i];
	}
	for (uint32_t i = 0; i < n; i++)
		if (count != n || !seen[i])
			return zr_err_set(reterr, -EINVAL,
			                  "codec 'transpose': order is no permutation of "
			                  "the axes");
	return 0;
}

/* Applies the transpositions of a list to the axes of a level. */
static int list_transpose(struct zr_array *a, const struct list *list,
                          struct zr_level *level, struct zr_err *reterr)
{
	static const char *const known[] = {"order", NULL};
	bool sequence = false;

	for (size_t i = 0; i < list->serializer; i++) {
		uint8_t order[ZR_MAX_DIMS] = {0}, before[ZR_MAX_DIMS];
		const struct zr_ext *e = &list->codec[i].ext;
		int r;

		sequence |= list->codec[i].class == ZR_CODEC_SEQUENCE;
		if (list->codec[i].class != ZR_CODEC_TRANSPOSE)
			continue;
		r = order_read(json_object_get(e->conf, "order"), a->ndim, order, reterr);
		if (r < 0)
			return r;
		r = zr_meta_only(e->conf, known, "codec 'transpose'", reterr);
		if (r < 0)
			return r;
		memcpy(before, level->axis, sizeof(before));
		for (uint32_t k = 0; k < a->ndim; k++) {
			/* It would have to be undone between two steps of a chain that
			 * knows bytes only. */
			if (sequence && order[k] != k)
				return zr_err_set(
					reterr, -EOPNOTSUPP,
					"codec 'transpose' behind a codec that "
					"depends on the order is not supported");
			level->axis[k] = before[order[k]];
		}
	}
	return 0;
}

static int endian_read(const struct zr_ext *e, bool *ret_given, bool *ret_big,
                       struct zr_err *reterr)
{
	static const char *const known[] = {"endian", NULL};
	const json_t *v = json_object_get(e->conf, "endian");
	const char *word = json_string_value(v);
	char shown[ZR_SHOWN];

	*ret_given = v && !json_is_null(v);
	*ret_big = word && strcmp(word, "big") == 0;
	if (*ret_given && !*ret_big && (!word || strcmp(word, "little") != 0))
		return zr_err_set(reterr, -EINVAL, "codec 'bytes': endian is %s",
		                  zr_meta_show(v, shown));
	return zr_meta_only(e->conf, known, "codec 'bytes'", reterr);
}

/* Codecs that compute know numbers. */
static struct zr_numtype elements_of(const struct zr_type *t)
{
	struct zr_numtype n = {.size = (unsigned int)t->size, .big = t->big};

	switch (t->kind) {
	case ZR_BOOL:
		n.kind = 'b';
		break;
	case ZR_INT:
	case ZR_UINT:
		n.kind = t->bits >= 8 ? t->kind == ZR_INT ? 'i' : 'u' : 0;
		break;
	case ZR_FLOAT:
		n.kind = t->flt == ZR_F64 || t->flt == ZR_F32 || t->flt == ZR_F16 ? 'f'
		                                                                  : 0;
		break;
	default:
		break;
	}
	return n;
}

/* Appends the codecs of a list that are steps of the decoder's chain. */
static int list_append(const struct list *list, struct zr_codecs *chain,
                       struct zr_codec_env *env, struct zr_err *reterr)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct zr_ext *e = &list->codec[i].ext;
		int r;

		if (i == list->serializer || list->codec[i].class == ZR_CODEC_TRANSPOSE)
			continue;
		r = zr_codec_append(chain, e->name, e->conf, env, reterr);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The list of the last level, which ends in records. */
static int list_bottom(struct zr_array *a, const struct list *list, bool legacy,
                       struct zr_err *reterr)
{
	const struct zr_ext *e = &list->codec[list->serializer].ext;
	struct zr_codec_env env = {.itemsize = a->type.size};
	bool given = false, big = false;
	int r;

	if (list->codec[list->serializer].class == ZR_CODEC_VLEN) {
		if (a->type.kind !=
		    (strcmp(e->name, "vlen-utf8") == 0 ? ZR_STRING : ZR_VBYTES))
			return zr_err_set(reterr, -EINVAL,
			                  "codec '%s' does not fit the data type",
			                  e->name);
		return list_append(list, zr_array_bottom(a)->codecs, &env, reterr);
	}
	if (zr_type_is_variable(&a->type))
		return zr_err_set(
			reterr, -EINVAL,
			"codec 'bytes' does not fit a data type of variable length");
	r = endian_read(e, &given, &big, reterr);
	if (r < 0)
		return r;
	zr_type_set_order(&a->type, big);
	env.elem = elements_of(&a->type);
	r = list_append(list, zr_array_bottom(a)->codecs, &env, reterr);
	if (r < 0)
		return r;
	/* Codecs before may have left elements of one byte. */
	if (!given && !legacy && zr_type_has_order(&a->type) &&
	    !(env.elem.kind && env.elem.size == 1))
		return zr_err_set(
			reterr, -EINVAL,
			"codec 'bytes' has no endian, which the data type needs");
	return 0;
}

/* The codecs behind the `bytes` codec of a shard's index; only such as add a number of
 * bytes that is known. */
static int index_read(struct zr_level *level, const json_t *v, uint64_t nchunks,
                      struct zr_err *reterr)
{
	struct zr_codec_env env = {.itemsize = 8};
	struct list list;
	bool given = false;
	int r;

	r = list_read(v, "index_codecs", &list, reterr);
	if (r < 0)
		return r;
	for (size_t i = 0; i < list.count; i++)
		if (list.codec[i].class != (i == 0 ? ZR_CODEC_BYTES : ZR_CODEC_CHECKSUM))
			return zr_err_set(
				reterr, -EOPNOTSUPP,
				"index_codecs: codec '%s' is not supported there",
				list.codec[i].ext.name);
	r = endian_read(&list.codec[0].ext, &given, &level->index_big, reterr);
	if (r < 0)
		return r;
	if (!given)
		return zr_err_set(reterr, -EINVAL,
		                  "index_codecs: codec 'bytes' has no endian");
	level->index_codecs = zr_codecs_new();
	if (!level->index_codecs)
		return -ENOMEM;
	level->index_size = 16 * nchunks + 4 * (list.count - 1);
	if (level->index_size > ZR_MAX_SHARD_INDEX)
		return zr_err_set(
			reterr, -EOPNOTSUPP,
			"codec 'sharding_indexed': an index of more than %llu MiB "
			"is not supported",
			(unsigned long long)(ZR_MAX_SHARD_INDEX >> 20));
	return list_append(&list, level->index_codecs, &env, reterr);
}

/* The chunk shape of the next level, given along the axes as they are stored there. */
static int shard_shape(struct zr_array *a, const json_t *v, uint64_t *ret_nchunks,
                       struct zr_err *reterr)
{
	const struct zr_level *up = &a->levels[a->nlevels - 1];
	struct zr_level *down = &a->levels[a->nlevels];
	uint64_t inner[ZR_MAX_DIMS], counts[ZR_MAX_DIMS];
	uint32_t n = 0;
	int r;

	r = zr_meta_sizes(v, "codec 'sharding_indexed': chunk_shape", inner, &n, reterr);
	if (r < 0)
		return r;
	if (n != a->ndim)
		return zr_err_set(reterr, -EINVAL,
		                  "codec 'sharding_indexed': chunk_shape has %u entries, "
		                  "shape has %u",
		                  n, a->ndim);
	for (uint32_t i = 0; i < n; i++) {
		uint8_t axis = up->axis[i];

		if (inner[i] == 0 && a->shape[axis] == 0)
			inner[i] = 1;
		if (inner[i] == 0 || up->chunk[axis] % inner[i] != 0)
			return zr_err_set(
				reterr, -EINVAL,
				"codec 'sharding_indexed': chunk_shape does not "
				"divide the shape of a shard");
		down->chunk[axis] = inner[i];
		counts[i] = up->chunk[axis] / inner[i];
	}
	memcpy(down->axis, up->axis, sizeof(down->axis));
	if (!zr_meta_product(counts, n, ZR_MAX_SHARD_INDEX / 16, ret_nchunks))
		return zr_err_set(reterr, -EOPNOTSUPP,
		                  "codec 'sharding_indexed': more than %llu chunks in a "
		                  "shard are not supported",
		                  (unsigned long long)ZR_MAX_SHARD_INDEX / 16);
	return 0;
}

/* The list of a level of shards: adds the next level, whose list is *ret_inner. */
static int list_shard(struct zr_array *a, const struct list *list,
                      const json_t **ret_inner, struct zr_err *reterr)
{
	static const char *const known[] = {"chunk_shape", "codecs", "index_codecs",
	                                    "index_location", NULL};
	const json_t *conf = list->codec[list->serializer].ext.conf;
	const json_t *location = json_object_get(conf, "index_location");
	const char *word = json_string_value(location);
	struct zr_level *level = &a->levels[a->nlevels - 1];
	struct zr_codec_env env = {.itemsize = a->type.size};
	uint64_t nchunks = 0;
	int r;

	for (size_t i = 0; i < list->serializer; i++)
		if (list->codec[i].class != ZR_CODEC_TRANSPOSE)
			return zr_err_set(reterr, -EOPNOTSUPP,
			                  "codec '%s' is not supported before "
			                  "'sharding_indexed'",
			                  list->codec[i].ext.name);
	if (a->nlevels > ZR_MAX_SHARD_DEPTH)
		return zr_err_set(reterr, -EOPNOTSUPP,
		                  "more than %d shards inside of one another are not "
		                  "supported",
		                  ZR_MAX_SHARD_DEPTH);
	level->index_at_start = word && strcmp(word, "start") == 0;
	if (location && !level->index_at_start && (!word || strcmp(word, "end") != 0))
		return zr_err_set(reterr, -EINVAL,
		                  "codec 'sharding_indexed': index_location is neither "
		                  "start nor end");
	r = zr_meta_only(conf, known, "codec 'sharding_indexed'", reterr);
	if (r < 0)
		return r;
	r = shard_shape(a, json_object_get(conf, "chunk_shape"), &nchunks, reterr);
	if (r < 0)
		return r;
	r = index_read(level, json_object_get(conf, "index_codecs"), nchunks, reterr);
	if (r < 0)
		return r;
	r = list_append(list, level->codecs, &env, reterr);
	if (r < 0)
		return r;

	a->levels[a->nlevels].codecs = zr_codecs_new();
	if (!a->levels[a->nlevels].codecs)
		return -ENOMEM;
	a->nlevels++;
	*ret_inner = json_object_get(conf, "codecs");
	return 0;
}

int zr_meta_chain_v3(struct zr_array *a, const json_t *codecs, bool legacy,
                     struct zr_err *reterr)
{
	const char *what = "codecs";
	struct list list;
	bool shard;
	int r;

	do {
		r = list_read(codecs, what, &list, reterr);
		if (r < 0)
			return r;
		r = list_transpose(a, &list, &a->levels[a->nlevels - 1], reterr);
		if (r < 0)
			return r;
		shard = list.codec[list.serializer].class == ZR_CODEC_SHARD;
		r = shard ? list_shard(a, &list, &codecs, reterr)
		          : list_bottom(a, &list, legacy, reterr);
		if (r < 0)
			return r;
		what = "codecs of 'sharding_indexed'";
	} while (shard);
	return 0;
}
