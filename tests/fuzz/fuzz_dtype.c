/* SPDX-License-Identifier: MIT */
/*
 * The input is the value of `dtype` in a .zarray, JSON or the bare text of a type string;
 * and the value of `data_type` in a zarr.json.
 */
#include "check.h"
#include "fuzz.h"

static struct zr_meta parse(const char *before, const char *type, size_t len,
                            const char *after, bool v3)
{
	bool is_json = len > 0 && strchr("\"[{", type[0]) != NULL && type[0] != '\0';
	struct zr_buf text = {0};
	struct zr_meta m = {0};
	struct zr_doc none = {0}, doc;

	zr_buf_adds(&text, before);
	zr_buf_adds(&text, is_json ? "" : "\"");
	zr_buf_add(&text, type, len);
	zr_buf_adds(&text, is_json ? "" : "\"");
	zr_buf_adds(&text, after);
	CHECK_INT(zr_buf_check(&text), 0);
	doc = (struct zr_doc){.data = (const char *)text.data, .len = text.len};
	CHECK_INT(v3 ? zr_meta_parse_v3(doc, &m) : zr_meta_parse_v2(none, doc, none, &m),
	          0);
	zr_buf_done(&text);
	return m;
}

static struct zr_meta parse_v2(const char *type, size_t len)
{
	return parse(
		"{\"zarr_format\":2,\"shape\":[3],\"chunks\":[2],\"compressor\":null,"
		"\"filters\":null,\"order\":\"C\",\"fill_value\":null,\"dtype\":",
		type, len, "}", false);
}

static struct zr_meta parse_v3(const char *type, size_t len)
{
	return parse(
		"{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[3],"
		"\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{"
		"\"chunk_shape\":[2]}},\"chunk_key_encoding\":{\"name\":\"default\"},"
		"\"codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":"
		"\"big\"}}],\"fill_value\":0,\"data_type\":",
		type, len, "}", true);
}

/* The type as NumPy spells it is read as the same type. */
static void check_spelling(const struct zr_type *t)
{
	struct zr_buf text = {0};
	const struct zr_type *back;
	struct zr_meta m;

	zr_type_numpy(t, t->big, &text);
	CHECK_INT(zr_buf_check(&text), 0);
	check_clean(text.data, text.len, "");
	m = parse_v2((const char *)text.data, text.len);
	if (!m.array) { /* raw bytes of length 0 have no records */
		CHECK(t->size == 0);
	} else if (memcmp(text.data, "|V", 2) != 0) {
		back = &m.array->type;
		CHECK_INT(back->kind, t->kind);
		CHECK(back->size == t->size && back->bits == t->bits);
		CHECK(back->flt == t->flt && back->unit == t->unit);
		CHECK(back->scale == t->scale);
		CHECK(zr_type_swap_unit(t) == 1 || back->big == t->big);
	}
	zr_meta_done(&m);
	zr_buf_done(&text);
}

static void check_one(struct zr_meta *own_m)
{
	struct zr_layout l;
	int r;

	check_meta(own_m);
	if (own_m->array) {
		const struct zr_type *t = &own_m->array->type;

		CHECK(*zr_meta_type_name(t));
		if (t->kind != ZR_STRUCT && !zr_type_is_variable(t))
			check_spelling(t);
		r = zr_layout_build(t, &l);
		CHECK(r == 0 || r == -EINVAL || r == -EOVERFLOW);
		if (r == 0) {
			check_record(own_m->array, &l, own_m->array->fill);
			zr_layout_done(&l);
		}
	}
	zr_meta_done(own_m);
}

static void check_number(const char *type)
{
	struct zr_numtype n = {0};
	struct zr_err err = {0};
	int r = zr_numtype_parse(type, &n, &err);

	if (r < 0) {
		check_err(&err, r);
		return;
	}
	CHECK(n.kind && strchr("biuf", n.kind));
	CHECK(n.size == 1 || n.size == 2 || n.size == 4 || n.size == 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	size_t len;
	char *type = take_text(&in, '\0', &len);
	struct zr_meta m = parse_v2(type, len);

	check_one(&m);
	m = parse_v3(type, len);
	check_one(&m);
	check_number(type);
	free(type);
	return 0;
}
