/* SPDX-License-Identifier: MIT */
/*
 * The input is a type, dimensions, and one value. What is written of the value is read
 * back here by other means.
 */
#include <jansson.h>
#include <math.h>

#include "base64.h"
#include "bounds.h"
#include "check.h"
#include "fuzz.h"
#include "json.h"
#include "render.h"
#include "utf8.h"

static struct zr_type take_type(struct input *in)
{
	static const uint8_t widths[] = {2, 4, 8, 16, 32, 64};
	struct zr_type t = {.kind = take_below(in, ZR_JSON + 1), .size = 8, .scale = 1};
	unsigned int more = take_byte(in);

	t.big = more & 1;
	switch (t.kind) {
	case ZR_BOOL:
		t.size = 1;
		break;
	case ZR_INT:
	case ZR_UINT:
		t.bits = widths[(more >> 1) % ZR_COUNT(widths)];
		t.size = t.bits < 8 ? 1 : t.bits / 8;
		break;
	case ZR_FLOAT:
	case ZR_COMPLEX:
		t.flt = (more >> 1) % (ZR_F4_E2M1FN + 1);
		t.size = zr_float_size(t.flt) * (t.kind == ZR_COMPLEX ? 2 : 1);
		break;
	case ZR_UTF32:
		t.size = 4 * (uint64_t)take_byte(in);
		break;
	case ZR_CHARS:
	case ZR_RAW:
		t.size = take_byte(in);
		break;
	case ZR_STRUCT: /* fields are for the targets of metadata */
		t = (struct zr_type){.kind = ZR_BOOL, .size = 1};
		break;
	case ZR_DATETIME:
	case ZR_TIMEDELTA:
		t.unit = (more >> 1) % (ZR_AS + 1);
		t.scale = 1 + (uint32_t)(take_uint(in, 4) & INT32_MAX) % INT32_MAX;
		break;
	default:
		t.size = sizeof(struct zr_item);
	}
	return t;
}

/* Of an item of a json2 chunk: 's' and text, or 'j' and strict JSON. */
static void take_json_item(struct input *in, struct zr_buf *ret)
{
	json_t *v;
	size_t len;
	uint8_t *text = take_block(in, in->left, &len);

	if (len > 0 && zr_json_parse((char *)text, len, NULL, &v, NULL) == 0) {
		zr_buf_addc(ret, 'j');
		CHECK_INT(zr_json_compact(v, ret), 0);
		json_decref(v);
	} else {
		zr_buf_addc(ret, 's');
		zr_buf_add(ret, text, len);
	}
	free(text);
}

/* One value, as a decoded chunk has it; *item: what it points to. */
static uint8_t *take_value(struct input *in, const struct zr_type *t, struct zr_buf *item)
{
	uint8_t *record = calloc(1, (size_t)t->size + (t->size == 0)), *bytes;
	struct zr_item one;
	size_t len;

	CHECK(record);
	if (!zr_type_is_variable(t)) {
		bytes = take_block(in, (size_t)t->size, &len);
		memcpy(record, bytes, len);
		free(bytes);
		return record;
	}
	if (t->kind == ZR_JSON) {
		take_json_item(in, item);
	} else {
		item->data = take_block(in, in->left, &item->len);
	}
	one = (struct zr_item){.data = item->data, .len = item->len};
	memcpy(record, &one, sizeof(one));
	return record;
}

/* --- reading back --------------------------------------------------------------------
 */

struct line {
	char *text; /* without its LF, with a NUL */
	size_t len;
};

static struct line line_of(struct zr_line *own_line, const uint8_t *record)
{
	uint64_t index[ZR_MAX_DIMS] = {0}, len = zr_line_len(own_line, record);
	struct line l = {.text = malloc((size_t)len + 20 * ZR_MAX_DIMS + ZR_LINE_SPARE)};

	CHECK(l.text);
	l.len = (size_t)(zr_line_put_one(own_line, record, index, l.text) - l.text) - 1;
	l.text[l.len] = '\0';
	zr_line_free(own_line);
	return l;
}

/* What a string should be in JSON and CSV: valid UTF-8. escaped: in the text files. */
static void add_char(struct zr_buf *b, uint32_t cp)
{
	uint8_t utf8[4];

	zr_buf_add(b, utf8, zr_utf8_encode(zr_is_scalar(cp) ? cp : 0xfffd, utf8));
}

static void add_escaped(struct zr_buf *b, uint32_t cp, bool is_byte)
{
	static const char from[] = "\\\t\n\r", to[] = "\\tnr";
	const char *short_one = cp && cp < 0x80 ? strchr(from, (int)cp) : NULL;

	if (is_byte || (zr_is_control(cp) && cp && !short_one))
		zr_buf_addf(b, "\\x%02x", cp);
	else if (short_one || cp == 0)
		zr_buf_addf(b, "\\%c", cp ? to[short_one - from] : '0');
	else
		add_char(b, cp);
}

static void expect_utf8(const uint8_t *p, size_t n, struct zr_buf *plain,
                        struct zr_buf *escaped)
{
	for (size_t at = 0; at < n;) {
		uint32_t cp = p[at];
		unsigned int size = zr_utf8_decode(p + at, n - at, &cp);

		add_char(plain, size ? cp : 0xfffd);
		add_escaped(escaped, cp, !size);
		at += size ? size : 1;
	}
}

static void expect_utf32(const uint8_t *p, size_t n, bool big, struct zr_buf *plain,
                         struct zr_buf *escaped)
{
	while (n > 0 && zr_load_u32(p + 4 * (n - 1), big) == 0)
		n--;
	for (size_t i = 0; i < n; i++) {
		uint32_t cp = zr_load_u32(p + 4 * i, big);

		add_char(plain, cp);
		add_escaped(escaped, cp, false);
	}
}

static void check_json_string(const struct line *json, const struct zr_buf *want)
{
	json_t *v =
		json_loadb(json->text, json->len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

	CHECK(json_is_string(v));
	CHECK_INT(json_string_length(v), want->len);
	CHECK(!want->len || memcmp(json_string_value(v), want->data, want->len) == 0);
	json_decref(v);
}

/* A cell that is alone in its line. */
static void check_csv_string(const struct line *csv, const struct zr_buf *want)
{
	const char *p = csv->text, *end = p + csv->len;
	bool quoted = p < end && *p == '"';
	size_t at = 0;

	for (p += quoted, end -= quoted; p < end; p++, at++) {
		if (quoted && *p == '"')
			CHECK(*++p == '"' && p < end);
		CHECK(quoted || !strchr("\",\r\n", *p) || !*p);
		CHECK(at < want->len && (uint8_t)*p == want->data[at]);
	}
	CHECK_INT(at, want->len);
}

/* A value that is a string, in three spellings. */
static void check_string(const struct zr_type *t, const uint8_t *record,
                         const struct zr_buf *item, const struct line *text,
                         const struct line *json, const struct line *csv)
{
	struct zr_buf plain = {0}, escaped = {0};
	size_t n = (size_t)t->size;

	if (t->kind == ZR_UTF32) {
		expect_utf32(record, n / 4, t->big, &plain, &escaped);
	} else if (t->kind == ZR_CHARS) {
		while (n > 0 && record[n - 1] == 0)
			n--;
		expect_utf8(record, n, &plain, &escaped);
	} else {
		expect_utf8(item->data, item->len, &plain, &escaped);
	}
	CHECK_INT(text->len, escaped.len);
	CHECK(!escaped.len || memcmp(text->text, escaped.data, escaped.len) == 0);
	check_json_string(json, &plain);
	check_csv_string(csv, &plain);
	zr_buf_done(&plain);
	zr_buf_done(&escaped);
}

/* Hexadecimal in text, base64 in JSON. */
static void check_bytes(const uint8_t *p, size_t n, const struct line *text,
                        const struct line *json)
{
	struct zr_buf hex = {0};
	uint8_t *back = malloc(json->len + 1);
	size_t back_len = 0;

	for (size_t i = 0; i < n; i++)
		zr_buf_addf(&hex, "%02x", p[i]);
	CHECK_INT(text->len, hex.len);
	CHECK(!hex.len || memcmp(text->text, hex.data, hex.len) == 0);
	CHECK(json->len >= 2 && json->text[0] == '"');
	CHECK_INT(json->len - 2, (n + 2) / 3 * 4);
	CHECK(back);
	CHECK_INT(zr_base64_decode(json->text + 1, json->len - 2, back, &back_len), 0);
	CHECK_INT(back_len, n);
	CHECK(!n || memcmp(back, p, n) == 0);
	zr_buf_done(&hex);
	free(back);
}

static void check_integer(const struct zr_type *t, const uint8_t *record,
                          const struct line *text, const struct line *json)
{
	uint64_t v = zr_load_uint(record, (unsigned int)t->size, t->big);
	unsigned int unused = 64 - (t->kind == ZR_TIMEDELTA ? 64u : t->bits);
	bool is_nat = t->kind == ZR_TIMEDELTA && v == (uint64_t)INT64_MIN;
	char *end, want[32];

	v <<= unused;
	if (t->kind == ZR_UINT)
		snprintf(want, sizeof(want), "%llu", (unsigned long long)(v >> unused));
	else
		snprintf(want, sizeof(want), "%lld", (long long)v >> unused);
	CHECK_STR(text->text, is_nat ? "NaT" : want);
	CHECK_STR(json->text, is_nat ? "null" : want);
	CHECK(is_nat || (strtoull(text->text, &end, 10), *end == '\0'));
}

static void check_double(const struct zr_type *t, const uint8_t *record,
                         const struct line *text, const struct line *json)
{
	uint64_t bits = zr_load_uint(record, (unsigned int)t->size, t->big);
	uint32_t bits32 = (uint32_t)bits;
	double want, got;
	float narrow;
	char *end;

	memcpy(&want, &bits, sizeof(want));
	memcpy(&narrow, &bits32, sizeof(narrow));
	if (t->flt == ZR_F32)
		want = narrow;
	got = t->flt == ZR_F32 ? strtof(text->text, &end) : strtod(text->text, &end);
	CHECK(*end == '\0' && isnan(want) == isnan(got));
	CHECK_STR(json->text, isfinite(want) ? text->text : "null");
	if (!isnan(want))
		CHECK(memcmp(&want, &got, sizeof(want)) == 0);
}

static void check_date(const struct zr_type *t, const uint8_t *record,
                       const struct line *text, const struct line *json)
{
	bool is_nat = zr_load_u64(record, t->big) == (uint64_t)INT64_MIN;

	if (is_nat) {
		CHECK_STR(text->text, "NaT");
		CHECK_STR(json->text, "null");
		return;
	}
	CHECK(text->len > 0 && strspn(text->text, "0123456789-+:.TW") == text->len);
	if (json->text[0] == '"') {
		CHECK_INT(json->len, text->len + 2);
		CHECK(memcmp(json->text + 1, text->text, text->len) == 0);
	} else { /* a count without a unit */
		CHECK_STR(json->text, text->text);
	}
}

static void check_value(const struct zr_type *t, const uint8_t *record,
                        const struct zr_buf *item, const struct line *text,
                        const struct line *json, const struct line *csv)
{
	switch (t->kind) {
	case ZR_BOOL:
		CHECK_STR(text->text, *record ? "1" : "0");
		CHECK_STR(json->text, *record ? "true" : "false");
		break;
	case ZR_INT:
	case ZR_UINT:
	case ZR_TIMEDELTA:
		check_integer(t, record, text, json);
		break;
	case ZR_FLOAT:
		if (t->flt == ZR_F64 || t->flt == ZR_F32)
			check_double(t, record, text, json);
		break;
	case ZR_DATETIME:
		check_date(t, record, text, json);
		break;
	case ZR_UTF32:
	case ZR_CHARS:
	case ZR_STRING:
		check_string(t, record, item, text, json, csv);
		break;
	case ZR_RAW:
		check_bytes(record, (size_t)t->size, text, json);
		break;
	case ZR_VBYTES:
		check_bytes(item->data, item->len, text, json);
		break;
	default:
		break;
	}
}

static void check_one(struct zr_array *a, const struct zr_layout *l,
                      const uint8_t *record, const struct zr_buf *item)
{
	static const struct zr_render_opts o = {.nonfinite = ZR_NONFINITE_NULL};
	struct line text, json, csv;

	check_record(a, l, record);
	a->ndim = 0; /* no index before the value */
	text = line_of(zr_line_new_text(l, 0, &o), record);
	json = line_of(zr_line_new_json(a, l, 0, &o), record);
	csv = line_of(zr_line_new_csv(a, l, &o), record);
	check_value(&a->type, record, item, &text, &json, &csv);
	free(text.text);
	free(json.text);
	free(csv.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	struct zr_array a = {.type = take_type(&in), .nrecords = 1};
	struct zr_buf item = {0};
	struct zr_layout l;
	uint8_t *record;

	a.ndim = take_below(&in, 4);
	for (uint32_t k = 0; k < a.ndim; k++) {
		a.shape[k] = take_uint(&in, 2);
		a.nrecords *= a.shape[k];
	}
	record = take_value(&in, &a.type, &item);
	CHECK_INT(zr_layout_build(&a.type, &l), 0);
	check_one(&a, &l, record, &item);
	zr_layout_done(&l);
	zr_buf_done(&item);
	free(record);
	return 0;
}
