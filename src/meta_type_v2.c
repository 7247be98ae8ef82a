/* SPDX-License-Identifier: MIT */
#include "meta_impl.h"

/* A type string taken apart: order, kind, number, and "[10ns]" of times. */
struct typestr {
	char order; /* '<', '>', '|', '=' or '\0' */
	char kind;
	uint64_t number; /* 0 when there is none */
	bool has_unit;
	const char *unit;
	size_t unit_len;
	uint64_t scale;
};

/* Digits up to a value that is too large for anything; moves *p. */
static uint64_t read_digits(const char **p)
{
	const uint64_t too_large = (uint64_t)1 << 40;
	uint64_t v = 0;

	for (; **p >= '0' && **p <= '9'; (*p)++)
		if (v < too_large)
			v = v * 10 + (uint64_t)(**p - '0');
	return v;
}

static bool typestr_parse(const char *s, struct typestr *ret)
{
	struct typestr t = {.scale = 1};
	const char *end;

	if (*s && strchr("<>|=", *s))
		t.order = *s++;
	if (!*s || !strchr("biufcSUVMmO", *s))
		return false;
	t.kind = *s++;
	t.number = read_digits(&s);
	if (*s == '[') {
		s++;
		t.has_unit = true;
		if (*s >= '0' && *s <= '9')
			t.scale = read_digits(&s);
		end = strchr(s, ']');
		if (!end)
			return false;
		t.unit = s;
		t.unit_len = (size_t)(end - s);
		s = end + 1;
	}
	*ret = t;
	return *s == '\0';
}

static int refuse(struct zr_type_build *b, int code, const json_t *v,
                  const struct zr_where *where, const char *cause)
{
	char at[ZR_SHOWN], shown[ZR_SHOWN];

	return zr_err_set(b->reterr, code, "%sdtype %s %s", zr_where_show(where, at),
	                  zr_meta_show(v, shown), cause);
}

static bool size_is_one_of(uint64_t size, const char *sizes)
{
	for (; *sizes; sizes++)
		if (size == (uint64_t)*sizes)
			return true;
	return false;
}

/* Kind and size, except for times and objects. False: no such size. */
static bool typestr_kind(const struct typestr *s, struct zr_type *t)
{
	t->size = s->number;
	switch (s->kind) {
	case 'b':
		t->kind = ZR_BOOL;
		return s->number == 1;
	case 'i':
	case 'u':
		t->kind = s->kind == 'i' ? ZR_INT : ZR_UINT;
		t->bits = (uint8_t)(8 * s->number);
		return size_is_one_of(s->number, "\1\2\4\10");
	case 'f':
		t->kind = ZR_FLOAT;
		t->flt = s->number == 8 ? ZR_F64 : s->number == 4 ? ZR_F32 : ZR_F16;
		return size_is_one_of(s->number, "\2\4\10");
	case 'c':
		t->kind = ZR_COMPLEX;
		t->flt = s->number == 16 ? ZR_F64 : ZR_F32;
		return size_is_one_of(s->number, "\10\20");
	case 'U':
		t->kind = ZR_UTF32;
		t->size = 4 * s->number;
		return true;
	case 'S':
		t->kind = ZR_CHARS;
		return true;
	default:
		t->kind = ZR_RAW;
		return true;
	}
}

static int type_string(struct zr_type_build *b, const json_t *v,
                       const struct zr_where *where, struct zr_type *ret)
{
	struct zr_type t = {0};
	struct typestr s;

	if (zr_json_number(v) || !typestr_parse(json_string_value(v), &s))
		return refuse(b, -EOPNOTSUPP, v, where, "is not understood");
	if (s.kind == 'O')
		return refuse(b, -EOPNOTSUPP, v, where,
		              "inside of a struct: pickled objects are never read");
	if (s.kind == 'M' || s.kind == 'm') {
		t.kind = s.kind == 'M' ? ZR_DATETIME : ZR_TIMEDELTA;
		t.size = 8;
		t.scale = (uint32_t)s.scale;
		if (s.number != 8 || s.scale < 1 || s.scale > INT32_MAX ||
		    (s.has_unit && !zr_unit_parse(s.unit, s.unit_len, &t.unit)))
			return refuse(b, -EOPNOTSUPP, v, where, "is not supported");
	} else if (s.has_unit) {
		return refuse(b, -EINVAL, v, where, "is not understood");
	} else if (!typestr_kind(&s, &t)) {
		bool is_long = (s.kind == 'f' && (s.number == 12 || s.number == 16)) ||
		               (s.kind == 'c' && (s.number == 24 || s.number == 32));

		return refuse(b, -EOPNOTSUPP, v, where,
		              is_long ? "is not supported (a long double)"
		                      : "is not supported");
	}
	if (t.size > ZR_MAX_RECORD)
		return refuse(b, -EOPNOTSUPP, v, where, "is too long");
	/* '=' and nothing are the order of the writer's machine, which was little. */
	t.big = s.order == '>';
	if (s.order == '|' && zr_type_has_order(&t) && t.size > 0)
		return refuse(b, -EINVAL, v, where, "does not tell its byte order");
	*ret = t;
	return 0;
}

static int type_read(struct zr_type_build *b, const json_t *v, unsigned int depth,
                     const struct zr_where *where, struct zr_type *ret);

/* The third entry of a field: the shape of a sub-array. */
static int field_shape(struct zr_type_build *b, const json_t *v, struct zr_field *f,
                       const struct zr_where *where)
{
	uint64_t shape[ZR_MAX_DIMS];
	uint32_t n = 1;
	char at[ZR_SHOWN], what[ZR_SHOWN + 8];
	int r;

	if (!zr_meta_uint(v, &shape[0])) {
		strcpy(what, zr_where_show(where, at));
		strcat(what, "shape");
		r = zr_meta_sizes(v, what, shape, &n, b->reterr);
		if (r < 0)
			return r;
	}
	if (n == 0)
		return 0;
	f->shape = calloc(n, sizeof(*f->shape));
	if (!f->shape)
		return -ENOMEM;
	memcpy(f->shape, shape, n * sizeof(*shape));
	f->ndim = n;
	return 0;
}

static void field_done(struct zr_field *f)
{
	free(f->name);
	free(f->shape);
	zr_type_done(&f->type);
}

/* An entry is [name, type] or [name, type, shape]; the name may be [title, name]. */
static int type_field(struct zr_type_build *b, const json_t *v, unsigned int depth,
                      const struct zr_where *where, struct zr_type *t)
{
	ZR_CLEANUP(field_done) struct zr_field f = {0};
	struct zr_buf text = {0};
	struct zr_where here;
	const json_t *name = json_array_get(v, 0), *type = json_array_get(v, 1);
	char at[ZR_SHOWN];
	int r;

	if (json_is_array(name) && json_array_size(name) == 2)
		name = json_array_get(name, 1);
	if (json_array_size(v) < 2 || json_array_size(v) > 3 || !json_is_string(name) ||
	    zr_json_number(name))
		return zr_err_set(
			b->reterr, -EINVAL,
			"%sa field of dtype is not [name, type] or [name, type, "
			"shape]",
			zr_where_show(where, at));
	r = zr_json_string(name, &text);
	f.name = (char *)text.data;
	f.name_len = text.len;
	if (r < 0)
		return r;

	here = (struct zr_where){where, f.name, f.name_len};
	r = type_read(b, type, depth + 1, &here, &f.type);
	if (r < 0)
		return r;
	if (json_array_size(v) == 3) {
		r = field_shape(b, json_array_get(v, 2), &f, &here);
		if (r < 0)
			return r;
	}
	/* What aligned NumPy types have between their fields. */
	f.hidden = f.name_len == 0 && f.type.kind == ZR_RAW;
	return zr_struct_add(b, t, &f, &here);
}

static int type_read(struct zr_type_build *b, const json_t *v, unsigned int depth,
                     const struct zr_where *where, struct zr_type *ret)
{
	ZR_CLEANUP(zr_type_done) struct zr_type t = {0};
	int r;

	if (json_is_string(v))
		return type_string(b, v, where, ret);
	if (!json_is_array(v))
		return refuse(b, -EINVAL, v, where,
		              "is neither a string nor a list of fields");

	r = zr_struct_begin(b, &t, json_array_size(v), depth, where);
	for (size_t i = 0; r >= 0 && i < json_array_size(v); i++)
		r = type_field(b, json_array_get(v, i), depth, where, &t);
	if (r < 0)
		return r;
	r = zr_struct_end(b, &t, where);
	if (r < 0)
		return r;

	*ret = t;
	t = (struct zr_type){0};
	return 0;
}

static bool has_shown_leaf(const struct zr_type *t)
{
	if (t->kind != ZR_STRUCT)
		return true;
	for (uint32_t i = 0; i < t->nfields; i++)
		if (!t->fields[i].hidden && has_shown_leaf(&t->fields[i].type))
			return true;
	return false;
}

int zr_meta_type_v2(const json_t *v, struct zr_type *ret, struct zr_err *reterr)
{
	struct zr_type_build b = {.reterr = reterr};
	ZR_CLEANUP(zr_type_done) struct zr_type t = {0};
	int r;

	r = type_read(&b, v, 0, NULL, &t);
	if (r < 0)
		return r;
	if (!has_shown_leaf(&t))
		return zr_err_set(reterr, -EINVAL, "dtype is a struct of padding only");

	*ret = t;
	t = (struct zr_type){0};
	return 0;
}
