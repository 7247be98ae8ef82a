/* SPDX-License-Identifier: MIT */
#include "test.h"
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/test_store_open.XXXXXX";

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void write_file(const char *name, const void *data, size_t n)
{
	int fd = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0);
	CHECK_INT(write(fd, data, n), (ssize_t)n);
	close(fd);
}

/* zipfile.ZipFile("w"), writestr("a/b/zarr.json", "{}") and writestr("x", "") of Python.
 */
static const uint8_t zip[] = {
#include "data/node_zip.inc"
};

static void make_files(void)
{
	static const char empty_zip[22] = "PK\5\6";
	static const char hdf[] = "\x89HDF\r\n\x1a\n";

	CHECK_INT(mkdir(path_of("directory.zip"), 0700), 0);
	CHECK_INT(mkdir(path_of("directory.zip/sub"), 0700), 0);
	write_file("archive", empty_zip, sizeof(empty_zip));
	write_file("text.zip", "P", 1);
	write_file("nothing", "", 0);
	write_file("x.h5", hdf, sizeof(hdf) - 1);
	write_file("refs.json", " {\"version\":1, \"refs\":{}}", 25);
	write_file("zarr.json", "{\"zarr_format\":3}", 17);
	write_file("z.zip", zip, sizeof(zip));
	CHECK_INT(mkfifo(path_of("fifo"), 0600), 0);
}

static void remove_files(void)
{
	static const char *const files[] = {"archive",   "text.zip",  "nothing", "x.h5",
	                                    "refs.json", "zarr.json", "z.zip",   "fifo"};

	for (size_t i = 0; i < ZR_COUNT(files); i++)
		CHECK_INT(unlink(path_of(files[i])), 0);
	CHECK_INT(rmdir(path_of("directory.zip/sub")), 0);
	CHECK_INT(rmdir(path_of("directory.zip")), 0);
}

static void a_store_is_opened_by_what_it_is(void)
{
	static const struct {
		const char *name;
		int want;
		const char *text; /* behind the path of the directory and a slash */
	} row[] = {
		{"directory.zip", 0, NULL},
		{"directory.zip/", 0, NULL},
		{"directory.zip/sub", 0, NULL},
		{"directory.zip/sub/.", 0, NULL},
		{"archive", 0, NULL},
		{"z.zip", 0, NULL},
		{"z.zip/", 0, NULL},
		{"z.zip/.", 0, NULL},
		{"z.zip/a/b", 0, NULL},
		{"z.zip//a/./b/", 0, NULL},
		{"directory.zip/none", -ENOENT, "directory.zip/none: No such file"},
		{"text.zip", -EINVAL, "text.zip: not a Zarr store: neither a directory"},
		{"nothing", -EINVAL, "nothing: an empty file"},
		{"fifo", -EINVAL, "fifo: not a Zarr store: neither"},
		{"fifo/a", -EINVAL, "fifo: not a Zarr store: neither"},
		{"missing", -ENOENT, "missing: No such file"},
		{"missing/a", -ENOENT, "missing/a: No such file"},
		{"text.zip/x", -EINVAL, "text.zip: not a Zarr store: neither"},
		{"z.zip/a/c", -ENOENT, "z.zip' has no node 'a/c'"},
		{"z.zip/a/../a", -ENOENT, "z.zip' has no node 'a/../a'"},
		{"z.zip/x", -ENOENT, "z.zip' has no node 'x'"},
		{"x.h5", -EINVAL, "x.h5: an HDF5 file"},
		{"refs.json", -EINVAL, "refs.json: a JSON file of references (kerchunk)"},
		{"zarr.json", -EINVAL,
	         "zarr.json: a metadata document: give the directory"},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_store *s = NULL;
		struct zr_err err = {0};
		int r = zr_store_open(path_of(row[i].name), false, &s, &err);
		const char *at = err.text + (err.text[0] == '\'');

		CHECK_INT(r, row[i].want);
		CHECK_INT(err.code, row[i].want);
		CHECK((r == 0) == (s != NULL));
		zr_store_unref(s);
		if (r == 0)
			continue;
		CHECK(strncmp(at, dir, strlen(dir)) == 0);
		at += strlen(dir) + 1;
		if (strncmp(at, row[i].text, strlen(row[i].text)) != 0)
			CHECK_STR(at, row[i].text);
	}
}

static void a_path_is_taken_apart(void)
{
	static const struct {
		const char *path, *file, *node;
	} row[] = {
		{"directory.zip/sub/", "directory.zip/sub/", ""},
		{"z.zip", "z.zip", ""},
		{"z.zip/", "z.zip", ""},
		{"z.zip/./a//b/.", "z.zip", "a/b"},
		{"z.zip/.a/..b/...", "z.zip", ".a/..b/..."},
	};
	char *file, *node;

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		CHECK_INT(zr_store_split(path_of(row[i].path), &file, &node), 0);
		CHECK_STR(file, path_of(row[i].file));
		CHECK_STR(node, row[i].node);
		free(file);
		free(node);
	}
	CHECK_INT(zr_store_split(path_of("missing/x"), &file, &node), -ENOENT);
	CHECK_INT(zr_store_split("", &file, &node), -ENOENT);
}

int main(void)
{
	CHECK(mkdtemp(dir));
	make_files();
	RUN(a_store_is_opened_by_what_it_is);
	RUN(a_path_is_taken_apart);
	remove_files();
	CHECK_INT(rmdir(dir), 0);
	return EXIT_SUCCESS;
}
