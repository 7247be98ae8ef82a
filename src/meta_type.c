/* SPDX-License-Identifier: MIT */
#include "meta_impl.h"

#include "names.h"

int zr_struct_begin(struct zr_type_build *b, struct zr_type *t, size_t n,
                    unsigned int depth, const struct zr_where *where)
{
	char at[ZR_SHOWN];

	if (n == 0)
		return zr_err_set(b->reterr, -EINVAL, "%sa struct without fields",
		                  zr_where_show(where, at));
	if (depth >= ZR_MAX_STRUCT_DEPTH)
		return zr_err_set(b->reterr, -EOPNOTSUPP,
		                  "%smore than %d structs inside of one another are not "
		                  "supported",
		                  zr_where_show(where, at), ZR_MAX_STRUCT_DEPTH);
	if (n > ZR_MAX_FIELDS - b->nfields)
		return zr_err_set(b->reterr, -EOPNOTSUPP,
		                  "more than %d fields are not supported", ZR_MAX_FIELDS);
	b->nfields += (uint32_t)n;

	*t = (struct zr_type){.kind = ZR_STRUCT};
	t->fields = calloc(n, sizeof(*t->fields));
	return t->fields ? 0 : -ENOMEM;
}

int zr_struct_add(struct zr_type_build *b, struct zr_type *t, struct zr_field *own_f,
                  const struct zr_where *where)
{
	struct zr_field *f = &t->fields[t->nfields++];
	uint64_t bytes;
	char at[ZR_SHOWN];

	*f = *own_f;
	*own_f = (struct zr_field){0};
	f->offset = t->size;
	if (!zr_meta_product(f->shape, f->ndim, UINT64_MAX, &f->count) ||
	    !zr_mul(f->count, f->type.size, &bytes) || bytes > ZR_MAX_RECORD - t->size)
		return zr_err_set(b->reterr, -EOPNOTSUPP,
		                  "%srecords of more than %llu MiB are not supported",
		                  zr_where_show(where, at),
		                  (unsigned long long)(ZR_MAX_RECORD >> 20));
	t->size += bytes;
	return 0;
}

/* A field and the hash that its file name ends in, should it have to be cut. */
struct named {
	uint64_t hash;
	const struct zr_field *field;
};

static int named_compare(const void *pa, const void *pb)
{
	const struct named *a = pa, *b = pb;

	return (a->hash > b->hash) - (a->hash < b->hash);
}

static bool named_same(const struct zr_field *a, const struct zr_field *b)
{
	return a->name_len == b->name_len &&
	       (a->name_len == 0 || memcmp(a->name, b->name, a->name_len) == 0);
}

/* Nobody comes upon two names of one hash unless he makes them to that end: so they are
 * refused without asking whether they would be cut, and at the same place. */
int zr_struct_end(struct zr_type_build *b, const struct zr_type *t,
                  const struct zr_where *where)
{
	ZR_CLEANUP(zr_freep) struct named *by_hash = NULL;
	size_t n = 0;

	by_hash = calloc(t->nfields + (size_t)1, sizeof(*by_hash));
	if (!by_hash)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->nfields; i++) {
		const struct zr_field *f = &t->fields[i];

		if (!f->hidden)
			by_hash[n++] =
				(struct named){zr_name_hash(f->name, f->name_len), f};
	}
	qsort(by_hash, n, sizeof(*by_hash), named_compare);

	for (size_t i = 1; i < n; i++) {
		const struct zr_field *one = by_hash[i - 1].field,
				      *two = by_hash[i].field;
		struct zr_where twice = {where, two->name, two->name_len};
		char at[ZR_SHOWN];

		if (by_hash[i - 1].hash == by_hash[i].hash)
			return zr_err_set(
				b->reterr, -EINVAL, "%s%s", zr_where_show(&twice, at),
				named_same(one, two) ? "the name is used twice"
						     : "the name has the hash of another "
						       "field's, and so could its file");
	}
	return 0;
}

bool zr_unit_parse(const char *s, size_t len, enum zr_unit *ret)
{
	static const struct {
		const char *name;
		enum zr_unit unit;
	} row[] = {
		{"generic", ZR_GENERIC}, {"Y", ZR_YEAR},       {"M", ZR_MONTH},
		{"W", ZR_WEEK},          {"D", ZR_DAY},        {"h", ZR_HOUR},
		{"m", ZR_MINUTE},        {"s", ZR_SECOND},     {"ms", ZR_MS},
		{"us", ZR_US},           {"\xce\xbcs", ZR_US}, /* U+03BC, the Greek letter
	                                                        */
		{"\xc2\xb5s", ZR_US}, /* U+00B5, the micro sign */
		{"ns", ZR_NS},           {"ps", ZR_PS},        {"fs", ZR_FS},
		{"as", ZR_AS},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		if (strlen(row[i].name) == len && memcmp(row[i].name, s, len) == 0) {
			*ret = row[i].unit;
			return true;
		}
	}
	return false;
}
