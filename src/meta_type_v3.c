/* SPDX-License-Identifier: MIT */
#include "meta.h"
#include "meta_impl.h"

#include <stdio.h>

/* Types that are a name and nothing else. size 0: of variable length. */
static const struct {
	const char *name;
	enum zr_kind kind;
	enum zr_float flt;
	uint8_t bits;
	uint8_t size;
} plain[] = {
	{"bool", ZR_BOOL, 0, 0, 1},
	{"int8", ZR_INT, 0, 8, 1},
	{"int16", ZR_INT, 0, 16, 2},
	{"int32", ZR_INT, 0, 32, 4},
	{"int64", ZR_INT, 0, 64, 8},
	{"uint8", ZR_UINT, 0, 8, 1},
	{"uint16", ZR_UINT, 0, 16, 2},
	{"uint32", ZR_UINT, 0, 32, 4},
	{"uint64", ZR_UINT, 0, 64, 8},
	{"float16", ZR_FLOAT, ZR_F16, 0, 2},
	{"float32", ZR_FLOAT, ZR_F32, 0, 4},
	{"float64", ZR_FLOAT, ZR_F64, 0, 8},
	{"complex64", ZR_COMPLEX, ZR_F32, 0, 8},
	{"complex128", ZR_COMPLEX, ZR_F64, 0, 16},
	{"int2", ZR_INT, 0, 2, 1},
	{"int4", ZR_INT, 0, 4, 1},
	{"uint2", ZR_UINT, 0, 2, 1},
	{"uint4", ZR_UINT, 0, 4, 1},
	{"bfloat16", ZR_FLOAT, ZR_BF16, 0, 2},
	{"float8_e3m4", ZR_FLOAT, ZR_F8_E3M4, 0, 1},
	{"float8_e4m3", ZR_FLOAT, ZR_F8_E4M3, 0, 1},
	{"float8_e4m3b11fnuz", ZR_FLOAT, ZR_F8_E4M3B11FNUZ, 0, 1},
	{"float8_e4m3fnuz", ZR_FLOAT, ZR_F8_E4M3FNUZ, 0, 1},
	{"float8_e5m2", ZR_FLOAT, ZR_F8_E5M2, 0, 1},
	{"float8_e5m2fnuz", ZR_FLOAT, ZR_F8_E5M2FNUZ, 0, 1},
	{"float8_e8m0fnu", ZR_FLOAT, ZR_F8_E8M0FNU, 0, 1},
	{"float8_e4m3fn", ZR_FLOAT, ZR_F8_E4M3FN, 0, 1},
	{"float6_e2m3fn", ZR_FLOAT, ZR_F6_E2M3FN, 0, 1},
	{"float6_e3m2fn", ZR_FLOAT, ZR_F6_E3M2FN, 0, 1},
	{"float4_e2m1fn", ZR_FLOAT, ZR_F4_E2M1FN, 0, 1},
	{"complex_float16", ZR_COMPLEX, ZR_F16, 0, 4},
	{"complex_float32", ZR_COMPLEX, ZR_F32, 0, 8},
	{"complex_float64", ZR_COMPLEX, ZR_F64, 0, 16},
	{"complex_bfloat16", ZR_COMPLEX, ZR_BF16, 0, 4},
	{"complex_float8_e3m4", ZR_COMPLEX, ZR_F8_E3M4, 0, 2},
	{"complex_float8_e4m3", ZR_COMPLEX, ZR_F8_E4M3, 0, 2},
	{"complex_float8_e4m3b11fnuz", ZR_COMPLEX, ZR_F8_E4M3B11FNUZ, 0, 2},
	{"complex_float8_e4m3fnuz", ZR_COMPLEX, ZR_F8_E4M3FNUZ, 0, 2},
	{"complex_float8_e5m2", ZR_COMPLEX, ZR_F8_E5M2, 0, 2},
	{"complex_float8_e5m2fnuz", ZR_COMPLEX, ZR_F8_E5M2FNUZ, 0, 2},
	{"complex_float8_e8m0fnu", ZR_COMPLEX, ZR_F8_E8M0FNU, 0, 2},
	{"complex_float8_e4m3fn", ZR_COMPLEX, ZR_F8_E4M3FN, 0, 2},
	{"complex_float6_e2m3fn", ZR_COMPLEX, ZR_F6_E2M3FN, 0, 2},
	{"complex_float6_e3m2fn", ZR_COMPLEX, ZR_F6_E3M2FN, 0, 2},
	{"complex_float4_e2m1fn", ZR_COMPLEX, ZR_F4_E2M1FN, 0, 2},
	{"string", ZR_STRING, 0, 0, 0},
	{"bytes", ZR_VBYTES, 0, 0, 0},
	{"variable_length_bytes", ZR_VBYTES, 0, 0, 0},
	{"binary", ZR_VBYTES, 0, 0, 0},
};

static const struct {
	const char *name;
	enum zr_kind kind;
	unsigned int unit; /* the length is a multiple of it */
} by_length[] = {
	{"fixed_length_utf32", ZR_UTF32, 4},
	{"null_terminated_bytes", ZR_CHARS, 1},
	{"raw_bytes", ZR_RAW, 1},
};

static const struct {
	const char *name;
	enum zr_kind kind;
} time_type[] = {
	{"numpy.datetime64", ZR_DATETIME},
	{"numpy.timedelta64", ZR_TIMEDELTA},
};

static int type_read(struct zr_type_build *b, const json_t *v, unsigned int depth,
                     const struct zr_where *where, struct zr_type *ret);

static bool type_plain(const char *name, struct zr_type *ret)
{
	for (size_t i = 0; i < ZR_COUNT(plain); i++) {
		if (strcmp(plain[i].name, name) != 0)
			continue;
		*ret = (struct zr_type){.kind = plain[i].kind,
		                        .flt = plain[i].flt,
		                        .bits = plain[i].bits,
		                        .size = plain[i].size ? plain[i].size
		                                              : sizeof(struct zr_item)};
		return true;
	}
	return false;
}

/* r<N>: N bits of anything. */
static int type_raw_bits(struct zr_type_build *b, const char *name,
                         const struct zr_where *where, struct zr_type *ret)
{
	char at[ZR_SHOWN];
	uint64_t bits;

	/* Ten digits are more than the longest record has. */
	if (name[0] != 'r' || name[1] < '1' || name[1] > '9' || strlen(name) > 11 ||
	    strspn(name + 1, "0123456789") != strlen(name + 1))
		return 0;
	bits = strtoull(name + 1, NULL, 10);
	if (bits % 8 != 0)
		return zr_err_set(b->reterr, -EINVAL,
		                  "%sdata type '%s': the bits are no multiple of 8",
		                  zr_where_show(where, at), name);
	if (bits / 8 > ZR_MAX_RECORD)
		return zr_err_set(b->reterr, -EOPNOTSUPP, "%sdata type '%s' is too long",
		                  zr_where_show(where, at), name);
	*ret = (struct zr_type){.kind = ZR_RAW, .size = bits / 8};
	return 1;
}

static int conf_only(struct zr_type_build *b, const struct zr_ext *ext,
                     const char *const *known, const struct zr_where *where)
{
	char at[ZR_SHOWN], what[2 * ZR_SHOWN];

	snprintf(what, sizeof(what), "%sdata type '%s'", zr_where_show(where, at),
	         ext->name);
	return zr_meta_only(ext->conf, known, what, b->reterr);
}

static int type_by_length(struct zr_type_build *b, const struct zr_ext *ext, size_t row,
                          const struct zr_where *where, struct zr_type *ret)
{
	static const char *const known[] = {"length_bytes", NULL};
	char at[ZR_SHOWN];
	uint64_t size;
	int r;

	if (!zr_meta_uint(json_object_get(ext->conf, "length_bytes"), &size) ||
	    size % by_length[row].unit != 0)
		return zr_err_set(b->reterr, -EINVAL,
		                  "%sdata type '%s' needs a length_bytes that fits it",
		                  zr_where_show(where, at), ext->name);
	if (size > ZR_MAX_RECORD)
		return zr_err_set(b->reterr, -EOPNOTSUPP, "%sdata type '%s' is too long",
		                  zr_where_show(where, at), ext->name);
	r = conf_only(b, ext, known, where);
	if (r < 0)
		return r;
	*ret = (struct zr_type){.kind = by_length[row].kind, .size = size};
	return 0;
}

static int type_time(struct zr_type_build *b, const struct zr_ext *ext, enum zr_kind kind,
                     const struct zr_where *where, struct zr_type *ret)
{
	static const char *const known[] = {"unit", "scale_factor", NULL};
	const json_t *unit = json_object_get(ext->conf, "unit");
	struct zr_type t = {.kind = kind, .size = 8};
	char at[ZR_SHOWN], shown[ZR_SHOWN];
	uint64_t scale;
	int r;

	if (!json_is_string(unit) ||
	    !zr_unit_parse(json_string_value(unit), json_string_length(unit), &t.unit))
		return zr_err_set(
			b->reterr, -EINVAL, "%sdata type '%s': unit %s is unknown",
			zr_where_show(where, at), ext->name, zr_meta_show(unit, shown));
	if (!zr_meta_uint(json_object_get(ext->conf, "scale_factor"), &scale) ||
	    scale < 1 || scale > INT32_MAX)
		return zr_err_set(
			b->reterr, -EINVAL,
			"%sdata type '%s' needs a scale_factor of 1 to 2147483647",
			zr_where_show(where, at), ext->name);
	r = conf_only(b, ext, known, where);
	if (r < 0)
		return r;
	t.scale = (uint32_t)scale;
	*ret = t;
	return 0;
}

/* A field is {"name", "data_type"} or a pair of the same. */
static int field_parts(struct zr_type_build *b, const json_t *f,
                       const struct zr_where *where, const json_t **ret_name,
                       const json_t **ret_type)
{
	bool pair = json_is_array(f) && json_array_size(f) == 2;
	const json_t *name = pair ? json_array_get(f, 0) : json_object_get(f, "name");
	const json_t *type =
		pair ? json_array_get(f, 1) : json_object_get(f, "data_type");
	char at[ZR_SHOWN], shown[ZR_SHOWN];

	if (!json_is_string(name) || zr_json_number(name) || !type)
		return zr_err_set(b->reterr, -EINVAL,
		                  "%sa field of a struct has no name or no data type",
		                  zr_where_show(where, at));
	/* "shape" or "offset" would change what the bytes mean. */
	if (!pair && json_object_size(f) != 2)
		return zr_err_set(b->reterr, -EINVAL,
		                  "%sfield %s has members besides name and data_type",
		                  zr_where_show(where, at), zr_meta_show(name, shown));
	*ret_name = name;
	*ret_type = type;
	return 0;
}

static void field_done(struct zr_field *f)
{
	free(f->name);
	zr_type_done(&f->type);
}

static int type_field(struct zr_type_build *b, const json_t *v, unsigned int depth,
                      const struct zr_where *where, struct zr_type *t)
{
	ZR_CLEANUP(field_done) struct zr_field f = {0};
	struct zr_buf text = {0};
	struct zr_where here;
	const json_t *name = NULL, *type = NULL;
	char at[ZR_SHOWN], shown[ZR_SHOWN];
	int r;

	r = field_parts(b, v, where, &name, &type);
	if (r < 0)
		return r;
	r = zr_json_string(name, &text);
	f.name = (char *)text.data;
	f.name_len = text.len;
	if (r < 0)
		return r;

	here = (struct zr_where){where, f.name, f.name_len};
	r = type_read(b, type, depth + 1, &here, &f.type);
	if (r < 0)
		return r;
	if (zr_type_is_variable(&f.type))
		return zr_err_set(
			b->reterr, -EINVAL,
			"%sdata type %s has a variable length, which a field of a "
			"struct cannot have",
			zr_where_show(&here, at), zr_meta_show(type, shown));
	return zr_struct_add(b, t, &f, &here);
}

static int type_struct(struct zr_type_build *b, const struct zr_ext *ext,
                       unsigned int depth, const struct zr_where *where,
                       struct zr_type *ret)
{
	static const char *const known[] = {"fields", NULL};
	ZR_CLEANUP(zr_type_done) struct zr_type t = {0};
	const json_t *fields = json_object_get(ext->conf, "fields");
	char at[ZR_SHOWN];
	int r;

	if (!json_is_array(fields))
		return zr_err_set(b->reterr, -EINVAL,
		                  "%sdata type '%s' has no list of fields",
		                  zr_where_show(where, at), ext->name);
	r = conf_only(b, ext, known, where);
	if (r < 0)
		return r;
	r = zr_struct_begin(b, &t, json_array_size(fields), depth, where);
	for (size_t i = 0; r >= 0 && i < json_array_size(fields); i++)
		r = type_field(b, json_array_get(fields, i), depth, where, &t);
	if (r < 0)
		return r;
	r = zr_struct_end(b, &t, where);
	if (r < 0)
		return r;

	*ret = t;
	t = (struct zr_type){0};
	return 0;
}

static bool is_struct(const char *name)
{
	return strcmp(name, "struct") == 0 || strcmp(name, "structured") == 0;
}

static int type_read(struct zr_type_build *b, const json_t *v, unsigned int depth,
                     const struct zr_where *where, struct zr_type *ret)
{
	struct zr_err why = {0};
	struct zr_ext ext = {0};
	char at[ZR_SHOWN], shown[ZR_SHOWN];
	int r;

	r = zr_ext_read(v, "data type", &ext, &why);
	if (r < 0)
		return zr_err_set(b->reterr, r, "%s%s", zr_where_show(where, at),
		                  why.text);
	if (is_struct(ext.name))
		return type_struct(b, &ext, depth, where, ret);
	for (size_t i = 0; i < ZR_COUNT(by_length); i++)
		if (strcmp(ext.name, by_length[i].name) == 0)
			return type_by_length(b, &ext, i, where, ret);
	for (size_t i = 0; i < ZR_COUNT(time_type); i++)
		if (strcmp(ext.name, time_type[i].name) == 0)
			return type_time(b, &ext, time_type[i].kind, where, ret);

	r = type_plain(ext.name, ret) ? 1 : type_raw_bits(b, ext.name, where, ret);
	if (r < 0)
		return r;
	if (r > 0) {
		static const char *const none[] = {NULL};

		return ext.conf ? conf_only(b, &ext, none, where) : 0;
	}
	return zr_err_set(
		b->reterr, -EOPNOTSUPP, "%sdata type %s is not supported",
		zr_where_show(where, at),
		zr_meta_show(json_is_object(v) ? json_object_get(v, "name") : v, shown));
}

int zr_meta_type_v3(const json_t *v, struct zr_type *ret, bool *ret_legacy,
                    struct zr_err *reterr)
{
	struct zr_type_build b = {.reterr = reterr};
	const json_t *name = json_object_get(v, "name");
	int r;

	r = type_read(&b, v, 0, NULL, ret);
	if (r < 0)
		return r;
	*ret_legacy = json_is_string(name) &&
	              strcmp(json_string_value(name), "structured") == 0;
	return 0;
}

const char *zr_meta_type_name(const struct zr_type *t)
{
	for (size_t i = 0; i < ZR_COUNT(plain); i++)
		if (plain[i].kind == t->kind && plain[i].flt == t->flt &&
		    plain[i].bits == t->bits)
			return plain[i].name;
	for (size_t i = 0; i < ZR_COUNT(by_length); i++)
		if (by_length[i].kind == t->kind)
			return by_length[i].name;
	for (size_t i = 0; i < ZR_COUNT(time_type); i++)
		if (time_type[i].kind == t->kind)
			return time_type[i].name;
	return "struct";
}
