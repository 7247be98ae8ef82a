/* SPDX-License-Identifier: MIT */
#include "meta_impl.h"

/* What an appender works with. */
struct args {
	struct zr_codecs *chain;
	const char *name;
	const json_t *conf;
	struct zr_codec_env *env; /* NULL: v2 */
	struct zr_err *reterr;
};

static int refuse(const struct args *a, int code, const char *cause)
{
	return zr_err_set(a->reterr, code, "codec '%s': %s", a->name, cause);
}

/* --- parameters -------------------------------------------------------------------- */

/* NumPy's names of types are found where zarr-python stored str(dtype). */
static const char *typestr_of(const char *s)
{
	static const char *const row[][2] = {
		{"bool", "|b1"},    {"int8", "|i1"},    {"uint8", "|u1"},
		{"int16", "<i2"},   {"uint16", "<u2"},  {"int32", "<i4"},
		{"uint32", "<u4"},  {"int64", "<i8"},   {"uint64", "<u8"},
		{"float16", "<f2"}, {"float32", "<f4"}, {"float64", "<f8"},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++)
		if (strcmp(s, row[i][0]) == 0)
			return row[i][1];
	return s;
}

/* The type named by a member; *ret stays as it is when the member is absent or null. */
static int read_numtype(const struct args *a, const char *key, bool *ret_given,
                        struct zr_numtype *ret)
{
	const json_t *v = json_object_get(a->conf, key);
	struct zr_err why = {0};
	int r;

	*ret_given = v && !json_is_null(v);
	if (!*ret_given)
		return 0;
	if (!json_is_string(v) || zr_json_number(v))
		return zr_err_set(a->reterr, -EINVAL, "codec '%s': %s is no type string",
		                  a->name, key);
	r = zr_numtype_parse(typestr_of(json_string_value(v)), ret, &why);
	if (r < 0 && r != -ENOMEM)
		return zr_err_set(a->reterr, r, "codec '%s': %s: %s", a->name, key,
		                  why.text);
	return r;
}

static bool same_elements(const struct zr_numtype *a, const struct zr_numtype *b)
{
	return a->kind == b->kind && a->size == b->size;
}

/*
 * The types on both sides of a codec. v2: as the strings say; the buffer is looked at
 * that way when it is written, whatever the array's dtype. v3: the elements come from
 * the codec before, and all are stored in the order of the `bytes` codec behind, so the
 * orders in the strings say nothing.
 */
static int read_sides(const struct args *a, const char *decoded_key,
                      const char *stored_key, struct zr_numtype *decoded,
                      struct zr_numtype *stored)
{
	struct zr_numtype d = {0}, s = {0};
	bool has_d = false, has_s = false;
	int r;

	r = read_numtype(a, decoded_key, &has_d, &d);
	if (r < 0)
		return r;
	r = read_numtype(a, stored_key, &has_s, &s);
	if (r < 0)
		return r;
	if (a->env) {
		if (!has_d)
			d = a->env->elem;
		if (d.kind == 0 || !same_elements(&d, &a->env->elem))
			return refuse(a, -EINVAL,
			              "its dtype is not that of the elements");
		d.big = a->env->elem.big;
		s.big = d.big;
	} else if (!has_d) {
		return refuse(a, -EINVAL, "it has no dtype");
	}
	*decoded = d;
	*stored = has_s ? s : d;
	return 0;
}

static void set_elements(const struct args *a, const struct zr_numtype *stored)
{
	if (a->env)
		a->env->elem = *stored;
}

static int read_double(const struct args *a, const char *key, double *ret)
{
	const json_t *v = json_object_get(a->conf, key);
	struct zr_number n;

	if (!zr_number_read(v, &n))
		return zr_err_set(a->reterr, -EINVAL, "codec '%s': %s is no number",
		                  a->name, key);
	*ret = n.real;
	return 0;
}

/* A whole number; `absent` when it is not there, or null. */
static int read_uint(const struct args *a, const json_t *object, const char *key,
                     uint64_t absent, uint64_t max, uint64_t *ret)
{
	const json_t *v = json_object_get(object, key);
	uint64_t n = absent;

	if (v && !json_is_null(v)) {
		if (!zr_meta_uint(v, &n) || n > max)
			return zr_err_set(a->reterr, -EINVAL, "codec '%s': %s is wrong",
			                  a->name, key);
	}
	*ret = n;
	return 0;
}

/* --- appenders --------------------------------------------------------------------- */

static int read_lzma_filter(const struct args *a, const json_t *v,
                            struct zr_lzma_filter *ret)
{
	uint64_t id = 0, dist = 0, preset = 0, dict = 0, lc = 0, lp = 0, pb = 0;

	if (read_uint(a, v, "id", 0, INT64_MAX, &id) < 0 ||
	    read_uint(a, v, "dist", 1, UINT32_MAX, &dist) < 0 ||
	    read_uint(a, v, "preset", 6, UINT32_MAX, &preset) < 0 ||
	    read_uint(a, v, "dict_size", 0, UINT32_MAX, &dict) < 0 ||
	    read_uint(a, v, "lc", 3, 4, &lc) < 0 ||
	    read_uint(a, v, "lp", 0, 4, &lp) < 0 || read_uint(a, v, "pb", 2, 4, &pb) < 0)
		return -EINVAL;
	*ret = (struct zr_lzma_filter){.id = id,
	                               .dist = (uint32_t)dist,
	                               .preset = (uint32_t)preset & 0x1f,
	                               .dict_size = (uint32_t)dict,
	                               .lc = (uint32_t)lc,
	                               .lp = (uint32_t)lp,
	                               .pb = (uint32_t)pb,
	                               .has_lclppb = json_object_get(v, "lc") ||
	                                             json_object_get(v, "lp") ||
	                                             json_object_get(v, "pb")};
	return 0;
}

static int add_lzma(const struct args *a)
{
	struct zr_lzma_filter filter[4]; /* liblzma takes no more */
	const json_t *list = json_object_get(a->conf, "filters");
	uint64_t format = 0;
	size_t n = 0;
	int r;

	r = read_uint(a, a->conf, "format", ZR_LZMA_XZ, ZR_LZMA_RAW, &format);
	if (r < 0)
		return r;
	if (format == 0)
		return refuse(a, -EOPNOTSUPP, "format 0 is not supported");
	/* Only raw data does not say itself how it was made. */
	if (format == ZR_LZMA_RAW) {
		n = json_array_size(list);
		if (n < 1 || n > ZR_COUNT(filter))
			return refuse(a, -EINVAL, "format 3 needs 1 to 4 filters");
		for (size_t i = 0; i < n; i++) {
			r = read_lzma_filter(a, json_array_get(list, i), &filter[i]);
			if (r < 0)
				return r;
		}
	}
	return zr_codecs_add_lzma(a->chain, a->name, (enum zr_lzma_format)format,
	                          n ? filter : NULL, n, a->reterr);
}

/* Frames say themselves how they were made; but not before one is read. */
static int add_zstd(const struct args *a)
{
	int r = zr_codecs_add_zstd(a->chain, a->name);

	if (r == 0 && json_is_true(json_object_get(a->conf, "checksum")))
		zr_codecs_set_sum(a->chain);
	return r;
}

static int add_checksum(const struct args *a, enum zr_checksum kind, bool at_start)
{
	const json_t *v = json_object_get(a->conf, "location");
	bool start = json_is_string(v) && strcmp(json_string_value(v), "start") == 0;
	bool end = json_is_string(v) && strcmp(json_string_value(v), "end") == 0;

	if (v && !json_is_null(v) && !start && !end)
		return refuse(a, -EINVAL, "location is neither start nor end");
	return zr_codecs_add_checksum(a->chain, a->name, kind,
	                              start || (at_start && !end), 0, NULL, 0);
}

static int add_crc32(const struct args *a)
{
	return add_checksum(a, ZR_CRC32, true);
}

static int add_crc32c(const struct args *a)
{
	return add_checksum(a, ZR_CRC32C, false);
}

static int add_adler32(const struct args *a)
{
	return add_checksum(a, ZR_ADLER32, true);
}

static int add_fletcher32(const struct args *a)
{
	return zr_codecs_add_checksum(a->chain, a->name, ZR_FLETCHER32, false, 0, NULL,
	                              0);
}

static int add_jenkins(const struct args *a)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf prefix = {0};
	const json_t *list = json_object_get(a->conf, "prefix");
	uint64_t initval = 0, byte;
	int r;

	r = read_uint(a, a->conf, "initval", 0, UINT32_MAX, &initval);
	if (r < 0)
		return r;
	if (list && !json_is_null(list) && !json_is_array(list))
		return refuse(a, -EOPNOTSUPP,
		              "a prefix that is no list is not supported");
	for (size_t i = 0; i < json_array_size(list); i++) {
		if (!zr_meta_uint(json_array_get(list, i), &byte) || byte > 255)
			return refuse(a, -EINVAL, "prefix is no list of bytes");
		zr_buf_addc(&prefix, (char)byte);
	}
	if (zr_buf_check(&prefix) < 0)
		return -ENOMEM;
	return zr_codecs_add_checksum(a->chain, a->name, ZR_JENKINS_LOOKUP3, false,
	                              (uint32_t)initval, prefix.data, prefix.len);
}

static int add_shuffle(const struct args *a)
{
	uint64_t size = 0;
	int r;

	/* zarr-python of v3 sets the size of an element; numcodecs assumes 4. */
	r = read_uint(a, a->conf, "elementsize", a->env ? a->env->itemsize : 4,
	              ZR_MAX_CHUNK, &size);
	if (r < 0)
		return r;
	return zr_codecs_add_shuffle(a->chain, a->name, size);
}

static int add_delta(const struct args *a)
{
	struct zr_numtype decoded = {0}, stored = {0};
	int r;

	r = read_sides(a, "dtype", "astype", &decoded, &stored);
	if (r < 0)
		return r;
	set_elements(a, &stored);
	return zr_codecs_add_delta(a->chain, a->name, &decoded, &stored, a->reterr);
}

static int add_fixedscaleoffset(const struct args *a)
{
	struct zr_numtype decoded = {0}, stored = {0};
	double offset = 0, scale = 1;
	int r;

	r = read_sides(a, "dtype", "astype", &decoded, &stored);
	if (r < 0)
		return r;
	r = read_double(a, "offset", &offset);
	if (r < 0)
		return r;
	r = read_double(a, "scale", &scale);
	if (r < 0)
		return r;
	set_elements(a, &stored);
	return zr_codecs_add_fixedscaleoffset(a->chain, a->name, offset, scale, &decoded,
	                                      &stored, a->reterr);
}

static int add_cast(const struct args *a, const char *decoded_key, const char *stored_key)
{
	struct zr_numtype decoded = {0}, stored = {0};
	int r;

	r = read_sides(a, decoded_key, stored_key, &decoded, &stored);
	if (r < 0)
		return r;
	set_elements(a, &stored);
	return zr_codecs_add_cast(a->chain, a->name, &decoded, &stored, a->reterr);
}

static int add_quantize(const struct args *a)
{
	return add_cast(a, "dtype", "astype");
}

static int add_astype(const struct args *a)
{
	return add_cast(a, "decode_dtype", "encode_dtype");
}

/* It has rounded; there is nothing to undo. */
static int add_bitround(const struct args *a)
{
	return zr_codecs_add_nothing(a->chain, a->name);
}

static int add_packbits(const struct args *a)
{
	static const struct zr_numtype packed = {.kind = 'u', .size = 1};

	if (a->env && a->env->elem.kind != 'b')
		return refuse(a, -EINVAL, "the elements are no bools");
	set_elements(a, &packed);
	return zr_codecs_add_packbits(a->chain, a->name);
}

/* --- names ------------------------------------------------------------------------- */

/* By the ids of numcodecs; "numcodecs." stands before them in v3. */
static const struct {
	const char *id;
	enum zr_codec_class class;
	int (*add)(const struct args *a);
	int (*simple)(struct zr_codecs *c, const char *name); /* without parameters */
} numcodecs[] = {
	{"zstd", ZR_CODEC_STREAM, add_zstd, NULL},
	{"blosc", ZR_CODEC_STREAM, NULL, zr_codecs_add_blosc},
	{"gzip", ZR_CODEC_STREAM, NULL, zr_codecs_add_gzip},
	{"zlib", ZR_CODEC_STREAM, NULL, zr_codecs_add_zlib},
	{"lz4", ZR_CODEC_STREAM, NULL, zr_codecs_add_lz4},
	{"bz2", ZR_CODEC_STREAM, NULL, zr_codecs_add_bz2},
	{"lzma", ZR_CODEC_STREAM, add_lzma, NULL},
	{"base64", ZR_CODEC_STREAM, NULL, zr_codecs_add_base64},
	{"shuffle", ZR_CODEC_STREAM, add_shuffle, NULL},
	{"crc32", ZR_CODEC_CHECKSUM, add_crc32, NULL},
	{"crc32c", ZR_CODEC_CHECKSUM, add_crc32c, NULL},
	{"adler32", ZR_CODEC_CHECKSUM, add_adler32, NULL},
	{"fletcher32", ZR_CODEC_CHECKSUM, add_fletcher32, NULL},
	{"jenkins_lookup3", ZR_CODEC_CHECKSUM, add_jenkins, NULL},
	{"delta", ZR_CODEC_SEQUENCE, add_delta, NULL},
	{"packbits", ZR_CODEC_SEQUENCE, add_packbits, NULL},
	{"fixedscaleoffset", ZR_CODEC_ARRAY, add_fixedscaleoffset, NULL},
	{"quantize", ZR_CODEC_ARRAY, add_quantize, NULL},
	{"astype", ZR_CODEC_ARRAY, add_astype, NULL},
	{"bitround", ZR_CODEC_ARRAY, add_bitround, NULL},
	{"vlen-utf8", ZR_CODEC_OBJECT, NULL, NULL},
	{"vlen-bytes", ZR_CODEC_OBJECT, NULL, NULL},
	{"json2", ZR_CODEC_OBJECT, NULL, NULL},
	{"pickle", ZR_CODEC_PICKLE, NULL, NULL},
	{"msgpack2", ZR_CODEC_REFUSED, NULL, NULL},
	{"msgpack", ZR_CODEC_REFUSED, NULL, NULL},
	{"json", ZR_CODEC_REFUSED, NULL, NULL},
	{"vlen-array", ZR_CODEC_OBJECT, NULL, NULL},
	{"categorize", ZR_CODEC_CATEGORIZE, NULL, NULL},
	{"pcodec", ZR_CODEC_REFUSED, NULL, NULL},
	{"zfpy", ZR_CODEC_REFUSED, NULL, NULL},
	{"blosc2", ZR_CODEC_REFUSED, NULL, NULL},
};

/* Of v3 itself and its registry. `id`: the same as that of numcodecs. */
static const struct {
	const char *name;
	enum zr_codec_class class;
	const char *id;
} core[] = {
	{"bytes", ZR_CODEC_BYTES, NULL},
	{"sharding_indexed", ZR_CODEC_SHARD, NULL},
	{"transpose", ZR_CODEC_TRANSPOSE, NULL},
	{"vlen-utf8", ZR_CODEC_VLEN, NULL},
	{"vlen-bytes", ZR_CODEC_VLEN, NULL},
	{"gzip", ZR_CODEC_STREAM, "gzip"},
	{"zstd", ZR_CODEC_STREAM, "zstd"},
	{"blosc", ZR_CODEC_STREAM, "blosc"},
	{"crc32c", ZR_CODEC_CHECKSUM, "crc32c"},
	{"bitround", ZR_CODEC_ARRAY, "bitround"},
	{"packbits", ZR_CODEC_REFUSED, NULL},
	{"cast_value", ZR_CODEC_REFUSED, NULL},
	{"scale_offset", ZR_CODEC_REFUSED, NULL},
	{"reshape", ZR_CODEC_REFUSED, NULL},
	{"n5_default", ZR_CODEC_REFUSED, NULL},
	{"conditional", ZR_CODEC_REFUSED, NULL},
	{"zfp", ZR_CODEC_REFUSED, NULL},
	{"zfpy", ZR_CODEC_REFUSED, NULL},
	{"pcodec", ZR_CODEC_REFUSED, NULL},
	{"vlen-array", ZR_CODEC_REFUSED, NULL},
	{"zarrs.vlen", ZR_CODEC_REFUSED, NULL},
	{"zarrs.vlen_v2", ZR_CODEC_REFUSED, NULL},
	{"endian", ZR_CODEC_REFUSED, NULL},
};

/* The row of numcodecs[] that a codec is decoded by, or its size. */
static size_t row_of(const char *id)
{
	size_t i = 0;

	while (i < ZR_COUNT(numcodecs) && strcmp(numcodecs[i].id, id) != 0)
		i++;
	return i;
}

static const char *without_prefix(const char *name)
{
	static const char prefix[] = "numcodecs.";

	return strncmp(name, prefix, strlen(prefix)) == 0 ? name + strlen(prefix) : NULL;
}

enum zr_codec_class zr_codec_class_v2(const char *id)
{
	size_t row = row_of(id);

	return row < ZR_COUNT(numcodecs) ? numcodecs[row].class : ZR_CODEC_UNKNOWN;
}

enum zr_codec_class zr_codec_class_v3(const char *name)
{
	const char *id = without_prefix(name);
	enum zr_codec_class k;

	if (id) {
		k = zr_codec_class_v2(id);
		return k == ZR_CODEC_OBJECT || k == ZR_CODEC_CATEGORIZE ? ZR_CODEC_REFUSED
		                                                        : k;
	}
	for (size_t i = 0; i < ZR_COUNT(core); i++)
		if (strcmp(core[i].name, name) == 0)
			return core[i].class;
	return ZR_CODEC_UNKNOWN;
}

int zr_codec_append(struct zr_codecs *c, const char *name, const json_t *conf,
                    struct zr_codec_env *env, struct zr_err *reterr)
{
	struct args a = {c, name, conf, env, reterr};
	const char *id = env ? without_prefix(name) : name;
	size_t row;

	for (size_t i = 0; env && !id && i < ZR_COUNT(core); i++)
		if (strcmp(core[i].name, name) == 0)
			id = core[i].id;
	row = id ? row_of(id) : ZR_COUNT(numcodecs);
	if (row < ZR_COUNT(numcodecs) && numcodecs[row].add)
		return numcodecs[row].add(&a);
	if (row < ZR_COUNT(numcodecs) && numcodecs[row].simple)
		return numcodecs[row].simple(c, name);
	return refuse(&a, -EINVAL, "not in this place");
}

int zr_codec_refuse(enum zr_codec_class k, const json_t *name, const char *what,
                    struct zr_err *reterr)
{
	char shown[ZR_SHOWN];

	zr_meta_show(name, shown);
	switch (k) {
	case ZR_CODEC_UNKNOWN:
		return zr_err_set(reterr, -EOPNOTSUPP, "%s %s is unknown", what, shown);
	case ZR_CODEC_PICKLE:
		return zr_err_set(reterr, -EOPNOTSUPP,
		                  "%s %s: pickled objects are never read", what, shown);
	case ZR_CODEC_REFUSED:
		return zr_err_set(reterr, -EOPNOTSUPP, "%s %s is not supported", what,
		                  shown);
	default:
		return zr_err_set(reterr, -EINVAL, "%s %s is not allowed in this place",
		                  what, shown);
	}
}
