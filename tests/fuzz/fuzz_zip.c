/* SPDX-License-Identifier: MIT */
/*
 * The input is a zip archive.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "fuzz.h"
#include "store.h"

#define MAX_OBJECTS 64
#define MAX_BYTES ((uint64_t)1 << 20)

/* The object whole, and in ranges. */
static void check_object(struct zr_store *s, const char *key)
{
	struct zr_stat st = {0};
	struct zr_buf whole = {0};
	struct zr_err err = {0};
	uint8_t *part;
	int r;

	CHECK_INT(zr_store_stat(s, key, &st, NULL), 0);
	r = zr_store_get(s, key, MAX_BYTES, &whole, &err);
	if (r < 0) {
		check_err(&err, r);
		CHECK(!whole.data);
		return;
	}
	CHECK_INT(whole.len, st.size);
	part = malloc(whole.len + 1);
	CHECK(part);
	for (size_t at = 0, n = 1; at < whole.len; at += n, n = 3 * n) {
		n = ZR_MIN(n, whole.len - at);
		CHECK_INT(zr_store_get_range(s, key, at, n, part, NULL), 0);
		CHECK(memcmp(part, whole.data + at, n) == 0);
	}
	CHECK_INT(zr_store_get_range(s, key, whole.len, 1, part, NULL), -EUCLEAN);
	CHECK_INT(zr_store_get_range(s, key, UINT64_MAX, 2, part, NULL), -EUCLEAN);
	free(part);
	zr_buf_done(&whole);
}

static void check_directory(struct zr_store *s, const char *key, unsigned int depth,
                            unsigned int *budget)
{
	struct zr_dirlist l = {0};
	struct zr_err err = {0};
	struct zr_stat st;
	int r = zr_store_list(s, key, &l, &err);

	CHECK_INT(r, 0); /* it was listed as a directory */
	r = zr_store_stat(s, key, &st, NULL);
	CHECK(r == -EISDIR || r == 0); /* nothing keeps a name from being both */
	for (size_t i = 0; i<l.count && * budget> 0; i++, --*budget) {
		const char *name = l.entries[i].name;
		char *below;

		CHECK(*name && !strchr(name, '/') && strcmp(name, ".") != 0 &&
		      strcmp(name, "..") != 0);
		CHECK(i == 0 || strcmp(l.entries[i - 1].name, name) < 0);
		CHECK(asprintf(&below, "%s%s%s", key, *key ? "/" : "", name) > 0);
		if (!l.entries[i].is_dir)
			check_object(s, below);
		else if (depth > 0)
			check_directory(s, below, depth - 1, budget);
		free(below);
	}
	zr_dirlist_done(&l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int budget = MAX_OBJECTS;
	int fd = memfd_create("zip", MFD_CLOEXEC);
	struct zr_store *s = NULL;
	struct zr_err err = {0};
	char path[64];
	int r;

	CHECK(fd >= 0);
	CHECK(write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = zr_store_zip_open(path, &s, &err);
	if (r < 0) {
		check_err(&err, r);
		CHECK(!s);
	} else {
		check_directory(s, "", 8, &budget);
		zr_store_unref(s);
	}
	close(fd);
	return 0;
}
