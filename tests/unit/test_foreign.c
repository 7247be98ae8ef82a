/* SPDX-License-Identifier: MIT */
#include "foreign.h"

#include "fake_store.h"

#define OBJECT(k, text)                                                                  \
	{                                                                                \
		.key = (k), .data = (text), .len = sizeof(text) - 1                      \
	}

/* What a store with these objects is called; "" if nothing. */
static void check_store(struct fake_object *o, size_t n, const char *want)
{
	struct fake_store f = {
		.base = {.ops = &fake_ops, .refs = 1}, .objects = o, .count = n};
	struct zr_err err = {0};

	CHECK_INT(zr_foreign_check(&f.base, &err), *want ? -EOPNOTSUPP : 0);
	if (strncmp(err.text, want, strlen(want)) != 0)
		CHECK_STR(err.text, want);
}

#define CHECK_STORE(want, ...)                                                           \
	check_store((struct fake_object[]){__VA_ARGS__},                                 \
	            ZR_COUNT(((struct fake_object[]){__VA_ARGS__})), want)

static void what_is_no_zarr_store_is_named(void)
{
	CHECK_STORE("an icechunk repository", OBJECT("snapshots/A", ""),
	            OBJECT("manifests/B", ""), OBJECT("refs/branch.main/ref.json", "{}"));
	CHECK_STORE("an icechunk repository", OBJECT("snapshots/A", ""),
	            OBJECT("manifests/B", ""), OBJECT("repo", ""));
	CHECK_STORE("a tensorstore OCDBT database", OBJECT("manifest.ocdbt", "x"),
	            OBJECT("d/00", "x"));
	CHECK_STORE(
		"a set of kerchunk references",
		OBJECT(".zmetadata", "{\"metadata\":{\".zgroup\":{}},\"record_size\":9}"),
		OBJECT("a/refs.0.parq", "PAR1"));
	CHECK_STORE("an N5 container", OBJECT("attributes.json", "{\"n5\":\"2.0.0\"}"));
	CHECK_STORE("an N5 dataset",
	            OBJECT("attributes.json", "{\"dataType\":\"int8\"}"));
	CHECK_STORE("an LMDB database", OBJECT("data.mdb", ""), OBJECT("lock.mdb", ""));
	CHECK_STORE("a store of an early draft of Zarr version 3",
	            OBJECT("zarr.json", "{\"metadata_key_suffix\":\".json\"}"),
	            OBJECT("meta/root/a.array.json", "{}"));
}

static void a_zarr_store_is_not(void)
{
	CHECK_STORE("", OBJECT("zarr.json", "{}"), OBJECT("manifest.ocdbt", "x"));
	CHECK_STORE("", OBJECT(".zgroup", "{}"), OBJECT("attributes.json", "{\"n5\":1}"));
	CHECK_STORE("", OBJECT(".zarray", "{}"), OBJECT("data.mdb", ""));
	CHECK_STORE("", OBJECT("zarr.json", "{}"), OBJECT("meta/root/zarr.json", "{}"));
	CHECK_STORE("", OBJECT("attributes.json", "{\"n5\""));
	CHECK_STORE("", OBJECT("attributes.json", "{\"units\":\"m\"}"));
	CHECK_STORE("", OBJECT(".zmetadata", "{\"metadata\":{}}"));
	CHECK_STORE("", OBJECT("snapshots/x", ""), OBJECT("refs/y", ""));
	CHECK_STORE("", OBJECT("snapshots", ""), OBJECT("manifests", ""),
	            OBJECT("repo", ""));
	CHECK_STORE("", OBJECT("x", ""));
}

static void a_store_that_does_not_answer_is_nothing_else(void)
{
	struct fake_store f = {.base = {.ops = &fake_ops, .refs = 1}, .fail_all = -EIO};
	struct zr_err err = {0};

	CHECK_INT(zr_foreign_check(&f.base, &err), 0);
	CHECK_INT(err.code, 0);
}

static void check_file(const char *head, const char *want)
{
	const char *got = zr_foreign_file((const uint8_t *)head, strlen(head));

	CHECK(!got == !want);
	if (want && strncmp(got, want, strlen(want)) != 0)
		CHECK_STR(got, want);
}

static void a_tar_archive_is_known_by_its_first_header(void)
{
	uint8_t head[512] = "zarr.json";

	CHECK(!zr_foreign_file(head, sizeof(head)));
	memcpy(head + 257, "ustar", 5);
	CHECK(strstr(zr_foreign_file(head, sizeof(head)), "a tar archive"));
	CHECK(strstr(zr_foreign_file(head, 262), "a tar archive"));
	CHECK(!zr_foreign_file(head, 261));
}

static void a_url_is_no_path(void)
{
	static const struct {
		const char *path, *want; /* how it begins; NULL: no URL */
	} row[] = {
		{"s3://bucket/x.zarr", "a URL, and zarrfs reads local stores"},
		{"https://host/x.zarr", "a URL, and zarrfs reads local stores"},
		{"simplecache::gs://b", "a URL, and zarrfs reads local stores"},
		{"file:///data/x.zarr", "a URL: give the path, without file://"},
		{"a:b/x.zarr", NULL},
		{"a:/x.zarr", NULL},
		{"data/s3://b", NULL},
		{"://b", NULL},
		{"//b", NULL},
		{"s3:", NULL},
		{"", NULL},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		const char *got = zr_foreign_url(row[i].path);

		CHECK(!got == !row[i].want);
		CHECK(!got || strncmp(got, row[i].want, strlen(row[i].want)) == 0);
	}
}

static void files_are_known_by_how_they_begin(void)
{
	check_file("\x89HDF\r\n\x1a\n....", "an HDF5 file");
	check_file("SQLite format 3", "an SQLite database");
	check_file("PAR1", "a Parquet file");
	check_file("\x1f\x8b\x08", "a compressed file");
	check_file(" {\"version\": 1, \"refs\": {",
	           "a JSON file of references (kerchunk)");
	check_file("{\".zgroup\": \"{}\", \"a/0\": [\"s3://b/k\", 0, 9]}",
	           "a JSON file of references (kerchunk)");
	check_file("{\"a/.zarray\":{}}", "a JSON file of references (kerchunk)");
	check_file("{\"zarr_format\": 3}", "a metadata document");
	check_file("{\"a\": 1}", NULL);
	check_file("[\"refs\"]", NULL);
	check_file("", "an empty file");
	check_file("   ", NULL);
	check_file("\x89HDF", NULL);
}

int main(void)
{
	RUN(what_is_no_zarr_store_is_named);
	RUN(a_zarr_store_is_not);
	RUN(a_store_that_does_not_answer_is_nothing_else);
	RUN(files_are_known_by_how_they_begin);
	RUN(a_tar_archive_is_known_by_its_first_header);
	RUN(a_url_is_no_path);
	return EXIT_SUCCESS;
}
