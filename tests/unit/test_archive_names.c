/* SPDX-License-Identifier: MIT */
#include "archive_names.h"

#include "archive.h"
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test.h"
#include "zip_writer.h"

/* As many as may collide, and a few more: n * (n + 1) / 2 looks into the table. */
enum { FIT = 23000, TOO_MANY = 23200 };

typedef void (*name_fn)(unsigned int i, char *out);

/* Of "ab" and "bA" the hash is the same, 97 * 33 + 98: of all that is made of them, too.
 */
static void colliding(unsigned int i, char *out)
{
	for (int bit = 0; bit < 16; bit++)
		strcpy(out + 2 * bit, i >> bit & 1 ? "ab" : "bA");
}

static void ordinary(unsigned int i, char *out)
{
	sprintf(out, "array/c/%u/%u", i / 100, i % 100);
}

static void utf8(unsigned int i, char *out)
{
	sprintf(out, "\xc3\xa4/%u", i);
}

/* libzip would make UTF-8 of it first. */
static void code_page(unsigned int i, char *out)
{
	sprintf(out, "\x84/%u", i);
}

static void with_control(unsigned int i, char *out)
{
	sprintf(out, "\x01%u", i);
}

struct made {
	name_fn name;
	unsigned int count;
	bool zip64;
	bool other_name;   /* an extra field in which the name stands again */
	unsigned int ends; /* more than one */
};

static void put_entry(struct zr_buf *b, const struct made *m, unsigned int i)
{
	static const char zeros[24];
	char name[64];

	m->name(i, name);
	put(b, 0x02014b50, 4);
	zr_buf_add(b, zeros, 24);
	put(b, strlen(name), 2);
	put(b, m->other_name ? 4 + 5 : 0, 2);
	zr_buf_add(b, zeros, 14);
	zr_buf_adds(b, name);
	if (m->other_name) {
		put(b, 0x7075, 2);
		put(b, 5, 2);
		zr_buf_add(b, zeros, 5);
	}
}

/* libzip is not asked. */
static void check_not_opened(int fd, const char *says)
{
	struct zr_archive *a = NULL;
	struct zr_err err = {0};
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	CHECK_INT(zr_archive_open(path, &a, &err), -EFBIG);
	CHECK(strncmp(err.text, path, strlen(path)) == 0);
	CHECK_STR(err.text + strlen(path), says);
}

static int check(const struct made *m, const char *says)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf b = {0};
	struct zr_err err = {0};
	int r, fd = memfd_create("archive", MFD_CLOEXEC);

	for (unsigned int i = 0; i < m->count; i++)
		put_entry(&b, m, i);
	for (unsigned int i = 0; i <= m->ends; i++)
		put_end(&b, m->count, 0, m->zip64);
	CHECK_INT(zr_buf_check(&b), 0);
	CHECK(fd >= 0);
	CHECK_INT(write(fd, b.data, b.len), (ssize_t)b.len);
	r = zr_archive_check_names(fd, b.len, "x.zip", &err);
	if (r < 0)
		check_not_opened(fd, strchr(says, ':'));
	CHECK_STR(err.text, says);
	CHECK_INT(err.code, r);
	close(fd);
	return r;
}

#define COLLIDE "x.zip: the names in the archive collide: to open it would take too long"

static void names_that_collide_are_too_many_at_some_time(void)
{
	CHECK_INT(check(&(struct made){.name = colliding, .count = FIT}, ""), 0);
	CHECK_INT(check(&(struct made){.name = colliding, .count = TOO_MANY}, COLLIDE),
	          -EFBIG);
	CHECK_INT(
		check(&(struct made){.name = colliding, .count = TOO_MANY, .zip64 = true},
	              COLLIDE),
		-EFBIG);
}

/* Of an archive of 16 million members, a directory of holes. */
static void members_have_a_bound(void)
{
	const uint64_t most = 16 << 20;

	for (uint64_t count = most; count <= most + 1; count++) {
		ZR_CLEANUP(zr_buf_done) struct zr_buf b = {0};
		struct zr_err err = {0};
		int fd = memfd_create("archive", MFD_CLOEXEC);
		uint64_t at = 46 * count, size;

		/* As put_end(), but far from the beginning. */
		put(&b, 0x06064b50, 4);
		put(&b, 44, 8);
		put(&b, 0, 2 + 2);
		put(&b, 0, 8);
		put(&b, count, 8);
		put(&b, count, 8);
		put(&b, at, 8);
		put(&b, 0, 8);
		put(&b, 0x07064b50, 4);
		put(&b, 0, 4);
		put(&b, at, 8);
		put(&b, 1, 4);
		put(&b, 0x06054b50, 4);
		put(&b, 0, 4);
		put(&b, 0, 8);
		put(&b, 0, 6);
		size = at + b.len;
		CHECK_INT(ftruncate(fd, (off_t)size), 0);
		CHECK_INT(pwrite(fd, b.data, b.len, (off_t)at), (ssize_t)b.len);
		CHECK_INT(zr_archive_check_names(fd, size, "x.zip", &err),
		          count > most ? -EFBIG : 0);
		CHECK_STR(err.text,
		          count > most ? "x.zip: the archive has 16777217 members, more "
		                         "than the 16777216 that are read"
		                       : "");
		close(fd);
	}
}

static void names_of_which_the_hash_is_not_known_count_as_colliding(void)
{
	CHECK_INT(check(&(struct made){.name = code_page, .count = TOO_MANY}, COLLIDE),
	          -EFBIG);
	CHECK_INT(check(&(struct made){.name = with_control, .count = TOO_MANY}, COLLIDE),
	          -EFBIG);
	CHECK_INT(check(&(struct made){.name = ordinary,
	                               .count = TOO_MANY,
	                               .other_name = true},
	                COLLIDE),
	          -EFBIG);
	CHECK_INT(check(&(struct made){.name = code_page, .count = FIT}, ""), 0);
}

static void all_others_may_be_many(void)
{
	CHECK_INT(check(&(struct made){.name = ordinary, .count = 60000}, ""), 0);
	CHECK_INT(check(&(struct made){.name = ordinary, .count = 200000, .zip64 = true},
	                ""),
	          0);
	CHECK_INT(check(&(struct made){.name = utf8, .count = 60000}, ""), 0);
}

static void many_ends_do_not_make_the_directory_many(void)
{
	CHECK_INT(check(&(struct made){.name = ordinary, .count = 10, .ends = 1}, ""), 0);
	CHECK_INT(check(&(struct made){.name = ordinary, .count = 10000, .ends = 2000},
	                "x.zip: the archive has too many directories"),
	          -EFBIG);
}

/* Cut or changed anywhere, it ends. */
static void what_is_broken_is_left_to_others(void)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf b = {0};
	const struct made m = {.name = ordinary, .count = 3};
	int fd = memfd_create("archive", MFD_CLOEXEC);

	for (unsigned int i = 0; i < m.count; i++)
		put_entry(&b, &m, i);
	put_end(&b, m.count, 0, true);
	CHECK_INT(zr_buf_check(&b), 0);
	for (size_t at = 0; at < b.len; at++)
		for (int v = 0; v < 2; v++) {
			uint8_t was = b.data[at];

			b.data[at] = v ? 0xff : 0;
			CHECK_INT(pwrite(fd, b.data, b.len, 0), (ssize_t)b.len);
			CHECK_INT(zr_archive_check_names(fd, b.len, "x", NULL), 0);
			CHECK_INT(zr_archive_check_names(fd, at, "x", NULL), 0);
			CHECK_INT(zr_archive_check_names(fd, b.len + at, "x", NULL), 0);
			b.data[at] = was;
		}
	close(fd);
	CHECK_INT(zr_archive_check_names(-1, 100, "x", NULL), -EBADF);
}

int main(void)
{
	RUN(names_that_collide_are_too_many_at_some_time);
	RUN(members_have_a_bound);
	RUN(names_of_which_the_hash_is_not_known_count_as_colliding);
	RUN(all_others_may_be_many);
	RUN(many_ends_do_not_make_the_directory_many);
	RUN(what_is_broken_is_left_to_others);
	return EXIT_SUCCESS;
}
