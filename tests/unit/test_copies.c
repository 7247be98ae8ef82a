/* SPDX-License-Identifier: MIT */
#include "copies.h"

#include <errno.h>
#include <stdio.h>

#include "bounds.h"
#include "test.h"

static int read_text(bool v2, const char *text, struct zr_copies *ret, struct zr_err *err)
{
	struct zr_buf b = {0};
	int r;

	zr_buf_adds(&b, text);
	r = v2 ? zr_copies_read_v2(&b, ret, err) : zr_copies_read_v3(&b, ret, err);
	CHECK(!b.data);
	return r;
}

/* All copies, in order: "path|name=document;". */
static void check_copies(bool v2, const char *text, const char *want)
{
	ZR_CLEANUP(zr_copies_done) struct zr_copies c = {0};
	ZR_CLEANUP(zr_buf_done) struct zr_buf got = {0};
	struct zr_err err = {0};

	CHECK_INT(read_text(v2, text, &c, &err), 0);
	for (size_t i = 0; i < c.count; i++) {
		zr_buf_add(&got, c.copies[i].path, c.copies[i].path_len);
		zr_buf_addf(&got, "|%s=", zr_copy_name(c.copies[i].doc));
		zr_buf_add(&got, c.copies[i].data, c.copies[i].len);
		zr_buf_addc(&got, ';');
	}
	zr_buf_addc(&got, '\0');
	CHECK_STR((char *)got.data, want);
}

#define INLINE(metadata)                                                                 \
	"{\"zarr_format\":3,\"consolidated_metadata\":{\"kind\":\"inline\","             \
	"\"must_understand\":false,\"metadata\":" metadata "},\"node_type\":\"group\"}"
#define ZMETADATA(metadata) "{\"metadata\":" metadata ",\"zarr_consolidated_format\":1}"

static void copies_of_v3_are_members_by_path(void)
{
	check_copies(false, INLINE("{}"), "");
	check_copies(false, INLINE("{\"b\":{\"x\":[1]},\"a/c\":{},\"a\": { } }"),
	             "a|zarr.json={ };a/c|zarr.json={};b|zarr.json={\"x\":[1]};");
	/* Escapes, and the last of equal names. */
	check_copies(false, INLINE("{\"\\u0061\\u00e9\":1,\"a\\u00e9\":2,\"a\":3}"),
	             "a|zarr.json=3;a\xc3\xa9|zarr.json=2;");
	check_copies(false, "{\"consolidated_metadata\":null}", "");
	check_copies(false, "{\"zarr_format\":3}", "");
}

static void copies_of_v2_are_named_by_the_document(void)
{
	check_copies(true,
	             ZMETADATA("{\".zgroup\":1,\"a/.zattrs\":2,\"a/.zarray\":3,"
	                       "\"a/b/.zgroup\":4,\".zattrs\":5}"),
	             "|.zgroup=1;|.zattrs=5;a|.zarray=3;a|.zattrs=2;a/b|.zgroup=4;");
	check_copies(true, ZMETADATA("{\"a/zarr.json\":1,\"b.zarray\":2,\"c/0.0\":3}"),
	             "");
}

static void what_cannot_be_a_node_is_passed_over(void)
{
	check_copies(false,
	             INLINE("{\"/a\":1,\"a/\":2,\"a//b\":3,\"..\":4,\"a/../b\":5,\".\":6,"
	                    "\"a\\u0000\":7,\"ok\":8}"),
	             "ok|zarr.json=8;");
	check_copies(true,
	             ZMETADATA("{\"/.zgroup\":1,\"../.zarray\":2,\"a//.zarray\":3}"), "");
}

static void what_makes_no_sense_is_refused(void)
{
	static const struct {
		bool v2;
		const char *text, *why;
	} row[] = {
		{false, "{\"consolidated_metadata\":5}", "it is no object"},
		{false, "{\"consolidated_metadata\":[]}", "it is no object"},
		{false, "{\"consolidated_metadata\":{\"metadata\":{}}}",
	         "its kind is not 'inline'"},
		{false,
	         "{\"consolidated_metadata\":{\"kind\":\"inline\",\"metadata\":{}}}",
	         "its must_understand is not false"},
		{false, INLINE("[]"), "its metadata is no object"},
		{false, "{", "line 1 column 2: the text ends too early"},
		{true, "{\"metadata\":{}}", "its zarr_consolidated_format is not 1"},
		{true, "{\"metadata\":{},\"zarr_consolidated_format\":2}",
	         "its zarr_consolidated_format is not 1"},
		{true, "{\"zarr_consolidated_format\":1}", "its metadata is no object"},
		{true, "[]", "its zarr_consolidated_format is not 1"},
		{true, "", "line 1 column 1: the text ends too early"},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_copies c = {0};
		struct zr_err err = {0};

		CHECK_INT(read_text(row[i].v2, row[i].text, &c, &err), -EINVAL);
		CHECK_STR(err.text, row[i].why);
		CHECK(!c.copies && !c.text.data);
	}
}

static struct zr_copy *find(const struct zr_copies *c, const char *path,
                            enum zr_copy_doc doc)
{
	return zr_copies_find(c, path, strlen(path), doc);
}

static void copies_are_found_by_path_and_document(void)
{
	ZR_CLEANUP(zr_copies_done) struct zr_copies c = {0};

	CHECK_INT(
		read_text(
			true,
			ZMETADATA(
				"{\".zgroup\":1,\"a/.zattrs\":2,\"a/.zarray\":3,"
				"\"a-b/.zgroup\":4,\"a/b/.zattrs\":5,\"ab/.zgroup\":6}"),
			&c, NULL),
		0);
	CHECK_INT(find(&c, "", ZR_COPY_ZGROUP)->data[0], '1');
	CHECK_INT(find(&c, "a", ZR_COPY_ZATTRS)->data[0], '2');
	CHECK_INT(find(&c, "a", ZR_COPY_ZARRAY)->data[0], '3');
	CHECK_INT(find(&c, "a-b", ZR_COPY_ZGROUP)->data[0], '4');
	CHECK(!find(&c, "", ZR_COPY_ZATTRS));
	CHECK(!find(&c, "a", ZR_COPY_ZARR_JSON));
	CHECK(!find(&c, "c", ZR_COPY_ZGROUP));
	CHECK(!find(&c, "a/b/c", ZR_COPY_ZGROUP));

	CHECK(zr_copies_has(&c, "", 0) && zr_copies_has(&c, "ab", 2));
	CHECK(zr_copies_has(&c, "ab", 1));   /* a */
	CHECK(!zr_copies_has(&c, "a/b", 3)); /* attributes make no node */
	CHECK(!zr_copies_has(&c, "b", 1) && !zr_copies_has(&c, "abc", 3));
}

/* Python: sorted(p for p in paths if p.startswith(prefix + "/")). */
static void what_lies_below_is_a_range(void)
{
	static const struct {
		const char *path;
		size_t lo, hi;
	} row[] = {
		/* "", "a", "a-b", "a/b", "a/b/c", "a/d", "a0", "b" */
		{"", 1, 8},   {"a", 3, 6}, {"a/b", 4, 5}, {"a-b", 3, 3},
		{"a0", 7, 7}, {"b", 8, 8}, {"a/", 6, 6},
	};
	ZR_CLEANUP(zr_copies_done) struct zr_copies c = {0};

	CHECK_INT(
		read_text(false,
	                  INLINE("{\"b\":1,\"a/b/c\":1,\"a-b\":1,\"\":1,\"a\":1,\"a0\":1,"
	                         "\"a/b\":1,\"a/d\":1}"),
	                  &c, NULL),
		0);
	CHECK_INT(c.count, 8);
	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		size_t lo, hi;

		zr_copies_below(&c, row[i].path, strlen(row[i].path), &lo, &hi);
		CHECK_INT(hi - lo, row[i].hi - row[i].lo);
		if (hi > lo)
			CHECK_INT(lo, row[i].lo);
	}
}

static void their_number_is_bounded(void)
{
	struct zr_buf b = {0};
	struct zr_copies c = {0};
	struct zr_err err = {0};

	zr_buf_adds(&b, "{\"zarr_consolidated_format\":1,\"metadata\":{\".zgroup\":0");
	for (size_t i = 0; i < ZR_MAX_COPIES; i++)
		zr_buf_adds(&b, ",\".zgroup\":0");
	zr_buf_adds(&b, "}}");
	CHECK_INT(zr_copies_read_v2(&b, &c, &err), -EFBIG);
	CHECK_STR(err.text, "it has more than the 1048576 documents that are read");
}

static void paths_that_are_too_long_are_left_out_and_counted(void)
{
	static char text[3 * ZR_COPY_MAX_PATH];
	static char path[ZR_COPY_MAX_PATH + 2];
	ZR_CLEANUP(zr_copies_done) struct zr_copies c = {0};

	memset(path, 'n', sizeof(path) - 1);
	snprintf(text, sizeof(text), INLINE("{\"%s\":1,\"%s\":2,\"a\":3}"), path,
	         path + 1);
	CHECK_INT(read_text(false, text, &c, NULL), 0);
	CHECK_INT(c.count, 2);
	CHECK_INT(c.too_long, 1);
	CHECK_INT(find(&c, path + 1, ZR_COPY_ZARR_JSON)->data[0], '2');
	zr_copies_done(&c);

	snprintf(text, sizeof(text), INLINE("{\"%s\":1}"), path);
	CHECK_INT(read_text(false, text, &c, NULL), 0);
	CHECK_INT(c.count, 0);
	CHECK_INT(c.too_long, 1);
}

int main(void)
{
	RUN(copies_of_v3_are_members_by_path);
	RUN(copies_of_v2_are_named_by_the_document);
	RUN(what_cannot_be_a_node_is_passed_over);
	RUN(what_makes_no_sense_is_refused);
	RUN(copies_are_found_by_path_and_document);
	RUN(what_lies_below_is_a_range);
	RUN(their_number_is_bounded);
	RUN(paths_that_are_too_long_are_left_out_and_counted);
	return EXIT_SUCCESS;
}
