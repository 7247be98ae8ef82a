/* SPDX-License-Identifier: MIT */
#include "items.h"

#include <errno.h>

#include "bounds.h"
#include "test.h"

static int decode(const char *json, size_t len, uint64_t n, struct zr_buf *items,
                  struct zr_buf *text, struct zr_err *err)
{
	struct zr_buf in = {0};
	int r;

	zr_buf_add(&in, json, len);
	r = zr_items_decode(ZR_JSON, &in, n, items, text, err);
	CHECK(!in.data);
	return r;
}

/* want: the items, each with a LF behind it. */
static void check_items(const char *json, uint64_t n, const char *want)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf items = {0}, text = {0}, got = {0};
	struct zr_err err = {0};
	const struct zr_item *item;

	CHECK_INT(decode(json, strlen(json), n, &items, &text, &err), 0);
	CHECK_STR(err.text, "");
	CHECK_INT(items.len, n * sizeof(*item));
	item = (const struct zr_item *)items.data;
	for (uint64_t i = 0; i < n; i++) {
		zr_buf_add(&got, item[i].data, item[i].len);
		zr_buf_addc(&got, '\n');
	}
	zr_buf_addc(&got, '\0');
	CHECK_STR((char *)got.data, want);
}

/* The results are those of the model's json_items() (tests/differential/reference.py). */
static void items_are_text_or_json(void)
{
	check_items("[\"a\",null,{\"k\":1},\"|O\",[3]]", 3, "sa\njnull\nj{\"k\":1}\n");
	check_items("[NaN,[1e400,-0.0],18446744073709551616,\"|O\",[3]]", 3,
	            "jnull\nj[null,-0.0]\nj18446744073709551616\n");
	check_items("[\"\\ud83d\\ude00\\ud800\",\"|O\",[1]]", 1,
	            "s\xf0\x9f\x98\x80\xef\xbf\xbd\n");
	check_items("[{\"b\":\"\\t\x7f\",\"a\":[ ]},\"|O\",[1]]", 1,
	            "j{\"b\":\"\\t\\u007f\",\"a\":[]}\n");
	check_items("[ true , -0 , 1E5, 1.50, \"\", \"\xc3\xa9\" , \"|O\" , [ 6 ] ] ", 6,
	            "jtrue\nj0\nj100000.0\nj1.5\ns\ns\xc3\xa9\n");
	check_items("[{\"a\":1,\"b\":2,\"a\":3},\"|O\",[1]]", 1, "j{\"a\":3,\"b\":2}\n");
	check_items("\xef\xbb\xbf [\"a\",\"|O\",[1]]", 1, "sa\n");
}

static void items_may_be_nested_as_the_shape_is(void)
{
	check_items("[[\"a\",\"b\"],[\"c\",1.5],\"|O\",[2,2]]", 4, "sa\nsb\nsc\nj1.5\n");
	check_items("[\"a\",\"b\",\"c\",true,\"|O\",[2,2]]", 4, "sa\nsb\nsc\njtrue\n");
	check_items("[[1],[2],\"|O\",[2]]", 2, "j[1]\nj[2]\n");
	check_items("[[1],[2],\"|O\",[2,1]]", 2, "j1\nj2\n");
	check_items("[[[1,[2]],[3,4]],\"|O\",[1,2,2]]", 4, "j1\nj[2]\nj3\nj4\n");
	check_items("[\"x\",\"|O\",[]]", 1, "sx\n");
	/* Lists that only begin like the shape are the items. */
	check_items("[[1,2],[3],\"|O\",[2]]", 2, "j[1,2]\nj[3]\n");
	check_items("[[1,2],[3],4,5,\"|O\",[2,2]]", 4, "j[1,2]\nj[3]\nj4\nj5\n");
}

static void what_does_not_fit_is_damage(void)
{
	static const struct {
		const char *json, *why;
	} row[] = {
		{"[\"a\",\"|O\",[2]]", "json2: the items do not fit the shape"},
		{"[1,2,3,\"|O\",[2]]", "json2: the items do not fit the shape"},
		{"[[1],[2],[3],\"|O\",[2,1]]", "json2: the items do not fit the shape"},
		{"[1,2,3,\"|O\",[3]]", "json2: 3 items instead of 2"},
		{"[1,2,\"|O\",[]]", "json2: 1 items instead of 2"},
		{"[1,2,\"|O\",2]", "json2: the shape at its end is no list"},
		{"[1,2,\"|O\",[-2]]", "json2: the shape at its end is wrong"},
		{"[1,2,\"|O\",[2.0]]", "json2: the shape at its end is wrong"},
		{"[1,2,\"|O\",[18446744073709551616]]",
	         "json2: the shape at its end is wrong"},
		{"[1,2,\"|O\",[4294967296,4294967296,2]]",
	         "json2: the shape at its end is wrong"},
		{"[1,2,\"|O\",[2]", "json2: not valid JSON: line 1 column 14: the text "
	                            "ends too early"},
		{"[1]", "json2: it is no list of items, type and shape"},
		{"[]", "json2: it is no list of items, type and shape"},
		{"{\"a\":1,\"b\":2,\"c\":[2]}", "json2: it is no list"},
		{"5", "json2: it is no list of items, type and shape"},
		{"", "json2: not valid JSON: line 1 column 1: the text ends too early"},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_buf items = {0}, text = {0};
		struct zr_err err = {0};

		CHECK_INT(
			decode(row[i].json, strlen(row[i].json), 2, &items, &text, &err),
			-EUCLEAN);
		CHECK_STR(err.text, row[i].why);
		CHECK(!items.data && !text.data);
	}
}

static void nesting_is_bounded(void)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf json = {0};
	struct zr_buf items = {0}, text = {0};
	struct zr_err err = {0};

	zr_buf_adds(&json, "[1,");
	for (int i = 0; i < 100000; i++)
		zr_buf_addc(&json, '[');
	for (int i = 0; i < 100000; i++)
		zr_buf_addc(&json, ']');
	zr_buf_adds(&json, ",\"|O\",[2]]");
	CHECK_INT(decode((char *)json.data, json.len, 2, &items, &text, &err), -EUCLEAN);
	CHECK_STR(err.text, "json2: item 1: line 1 column 161: nested too deeply");

	/* A shape that goes deeper than any array is none. */
	zr_buf_done(&json);
	zr_buf_adds(&json, "[1,\"|O\",[1");
	for (int i = 0; i < ZR_MAX_DIMS; i++)
		zr_buf_adds(&json, ",1");
	zr_buf_adds(&json, "]]");
	err = (struct zr_err){0};
	CHECK_INT(decode((char *)json.data, json.len, 1, &items, &text, &err), -EUCLEAN);
	CHECK_STR(err.text, "json2: the shape at its end is wrong");
}

int main(void)
{
	RUN(items_are_text_or_json);
	RUN(items_may_be_nested_as_the_shape_is);
	RUN(what_does_not_fit_is_damage);
	RUN(nesting_is_bounded);
	return EXIT_SUCCESS;
}
