/* SPDX-License-Identifier: MIT */
#include "test.h"
#include "index.h"
#include "log.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define US (&(struct zr_who){geteuid(), getegid()})

#define FILES 3
#define ROWS 5

static char top[64]; /* in memory, where there is such a place */
static char dir[sizeof(top) + 16], store[sizeof(top) + 16];

static const uint64_t fill_len[FILES] = {4, 9, 20};
static const bool indexed[FILES] = {false, false, true};
static const struct zr_render_opts plain;

static uint64_t chunks[] = {0, 3, 4, 8, 9};
static const struct zr_present present = {.ids = chunks, .count = 5, .nobjects = 10};
static struct zr_grid grid; /* set once in main(), before there are threads */

/* 100 records in chunks of 10, of which five are stored. */
static void make_grid(void)
{
	struct zr_array array = {
		.ndim = 1, .nlevels = 1, .nrecords = 100, .shape = {100}};

	array.levels[0].chunk[0] = 10;
	zr_grid_init(&grid, &array);
}

/* A block of 4 records each. */
static void make_blocks(struct zr_blocks *b)
{
	CHECK_INT(zr_blocks_init(b, &grid, &present, 65536 / 4, FILES, fill_len, indexed,
	                         NULL),
	          0);
}

static void measure(struct zr_blocks *b)
{
	make_blocks(b);
	for (size_t i = 0; i < ZR_COUNT(chunks); i++) {
		for (uint64_t r = 10 * chunks[i]; r < 10 * chunks[i] + 10; r++) {
			const uint64_t lens[FILES] = {1 + r % 3, 7, 5 + r % 11};

			zr_blocks_add(b, r, 1, lens);
		}
	}
	zr_blocks_settle(b, 100);
}

static const struct zr_stamp stamp = {.objects = 5, .sum = {0x123456789, 0xabcdef}};

static struct zr_index *open_index(void)
{
	struct zr_index *x = NULL;
	struct zr_err err = {0};

	CHECK_INT(zr_index_open(dir, US, store, &x, &err), 0);
	return x;
}

static void id_of(struct zr_index *x, const char *path, const char *text,
                  struct zr_index_id *ret)
{
	struct zr_buf doc = {.data = (uint8_t *)text, .len = strlen(text)};
	struct zr_index_of of = {.path = path,
	                         .docs = (const struct zr_buf *[]){&doc},
	                         .ndocs = 1,
	                         .render = &plain};

	zr_index_id(x, &of, ret);
	CHECK(ret->index == x);
}

static const char *file_of(const struct zr_index_id *id)
{
	static char path[sizeof(dir) + 64];

	snprintf(path, sizeof(path), "%s/%s", dir, id->name);
	return path;
}

static bool has_head(const struct zr_index_id *id)
{
	uint64_t sizes[FILES];
	struct zr_stamp s;

	return zr_index_head(id, FILES, sizes, &s);
}

/* Whether all of it is accepted; then it is what was saved. */
static bool is_accepted(const struct zr_index_id *id)
{
	ZR_CLEANUP(zr_blocks_done) struct zr_blocks got = {0};
	ZR_CLEANUP(zr_blocks_done) struct zr_blocks want = {0};
	ZR_CLEANUP(zr_buf_done) struct zr_buf file = {0};

	make_blocks(&got);
	if (!zr_index_read(id, &stamp, &got, &file))
		return false;
	if (!zr_index_take(&file, &got)) {
		CHECK_INT(got.settled, 0);
		return false;
	}
	measure(&want);
	CHECK_INT(got.settled, want.settled);
	CHECK(memcmp(got.rows, want.rows,
	             (want.nrows + 1) * (FILES + 1) * sizeof(*want.rows)) == 0);
	return true;
}

static void save(const struct zr_index_id *id)
{
	ZR_CLEANUP(zr_blocks_done) struct zr_blocks b = {0};

	measure(&b);
	zr_index_save(id, &stamp, &b);
}

/* Reads the file of an id whole. */
static size_t load(const struct zr_index_id *id, uint8_t *buf, size_t size)
{
	int fd = open(file_of(id), O_RDONLY);
	ssize_t n;

	CHECK(fd >= 0);
	n = read(fd, buf, size);
	CHECK(n > 0 && (size_t)n < size);
	close(fd);
	return (size_t)n;
}

static void store_bytes(const struct zr_index_id *id, const uint8_t *buf, size_t len)
{
	int fd = open(file_of(id), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0);
	CHECK_INT(write(fd, buf, len), (int)len);
	close(fd);
}

static void what_was_measured_comes_back(void)
{
	ZR_CLEANUP(zr_blocks_done) struct zr_blocks b = {0};
	struct zr_index *x = open_index();
	struct zr_index_id id;
	uint64_t sizes[FILES];
	struct zr_stamp s;

	id_of(x, "a/b", "{}", &id);
	CHECK(!has_head(&id));
	CHECK(!is_accepted(&id));
	save(&id);
	zr_index_free(x);

	x = open_index(); /* the next mount */
	id_of(x, "a/b", "{}", &id);
	CHECK(zr_index_head(&id, FILES, sizes, &s));
	CHECK(zr_stamp_equal(&s, &stamp));
	measure(&b);
	for (uint32_t f = 0; f < FILES; f++)
		CHECK_INT(sizes[f], zr_blocks_total(&b, f));
	CHECK(is_accepted(&id));
	zr_index_drop(&id);
	CHECK(!has_head(&id));
	zr_index_free(x);
}

static void an_array_without_blocks_is_kept(void)
{
	ZR_CLEANUP(zr_blocks_done) struct zr_blocks b = {0};
	ZR_CLEANUP(zr_blocks_done) struct zr_blocks got = {0};
	ZR_CLEANUP(zr_buf_done) struct zr_buf file = {0};
	static const struct zr_present nothing = {.nobjects = 10};
	struct zr_index *x = open_index();
	struct zr_index_id id;
	uint64_t sizes[FILES];
	struct zr_stamp s;

	id_of(x, "empty", "{}", &id);
	CHECK_INT(zr_blocks_init(&b, &grid, &nothing, UINT64_C(1) << 20, FILES, fill_len,
	                         indexed, NULL),
	          0);
	CHECK_INT(zr_blocks_init(&got, &grid, &nothing, UINT64_C(1) << 20, FILES,
	                         fill_len, indexed, NULL),
	          0);
	zr_blocks_settle(&b, 100);
	zr_index_save(&id, &stamp, &b);
	CHECK(zr_index_head(&id, FILES, sizes, &s));
	CHECK_INT(sizes[0], 400);
	CHECK_INT(sizes[1], 900);
	CHECK(zr_index_read(&id, &stamp, &got, &file));
	CHECK(zr_index_take(&file, &got));
	zr_index_free(x);
}

static void what_it_depends_on_makes_another_key(void)
{
	struct zr_buf one = {.data = (uint8_t *)"{}", .len = 2};
	struct zr_buf two = {.data = (uint8_t *)"{\"a\":1}", .len = 7};
	struct zr_buf none = {0};
	struct zr_render_opts strings = {.nonfinite = ZR_NONFINITE_STRING};
	struct zr_render_opts fixed = {.fixed_text = true};
#define DOCS(...) (const struct zr_buf *[]){__VA_ARGS__}, 3
	const struct zr_index_of of[] = {
		{"a", DOCS(&one, &none, &none), &plain, false},
		{"b", DOCS(&one, &none, &none), &plain, false},
		{"a", DOCS(&two, &none, &none), &plain, false},
		{"a", DOCS(&none, &one, &none), &plain, false},
		{"a", DOCS(&one, &two, &none), &plain, false},
		{"a", DOCS(&one, &none, &none), &strings, false},
		{"a", DOCS(&one, &none, &none), &fixed, false},
		{"a", DOCS(&one, &none, &none), &plain, true},
	};
	struct zr_index_id id[ZR_COUNT(of)];
	struct zr_index *x = open_index();

	for (size_t i = 0; i < ZR_COUNT(of); i++) {
		zr_index_id(x, &of[i], &id[i]);
		for (size_t k = 0; k < i; k++)
			CHECK(memcmp(id[i].key, id[k].key, 16) != 0);
	}
	/* Other documents replace the file; other options have one beside it. */
	CHECK_STR(id[0].name, id[2].name);
	CHECK(strcmp(id[0].name, id[1].name) != 0);
	CHECK(strcmp(id[0].name, id[5].name) != 0);
	save(&id[0]);
	CHECK(is_accepted(&id[0]));
	CHECK(!has_head(&id[2]));
	CHECK(!has_head(&id[3]));
	CHECK(!has_head(&id[5]));
	zr_index_free(x);
}

/* A file in place of a store: what an archive is. */
static void write_archive(const char *text)
{
	int fd = open(store, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0);
	CHECK_INT(write(fd, text, strlen(text)), (int)strlen(text));
	close(fd);
}

static void another_store_is_another_key(void)
{
	char usual[sizeof(store)], linked[sizeof(store)];
	struct zr_index_id id, other;
	struct zr_index *x = open_index();

	strcpy(usual, store);
	id_of(x, "a", "{}", &id);
	zr_index_free(x);
	snprintf(linked, sizeof(linked), "%s/linked", top);
	CHECK_INT(symlink(store, linked), 0);
	strcpy(store, linked); /* the same, by another name */
	x = open_index();
	id_of(x, "a", "{}", &other);
	CHECK_STR(other.name, id.name);
	CHECK(memcmp(other.key, id.key, 16) == 0);
	zr_index_free(x);
	CHECK_INT(unlink(linked), 0);

	snprintf(store, sizeof(store), "%s/file", top);
	write_archive("one");
	x = open_index();
	id_of(x, "a", "{}", &other);
	CHECK(strcmp(other.name, id.name) != 0);
	zr_index_free(x);
	write_archive("three");
	x = open_index();
	id_of(x, "a", "{}", &id);
	CHECK_STR(other.name, id.name);
	CHECK(memcmp(other.key, id.key, 16) != 0);
	zr_index_free(x);
	strcpy(store, usual);
}

static void another_stamp_is_no_index(void)
{
	ZR_CLEANUP(zr_blocks_done) struct zr_blocks b = {0};
	struct zr_stamp other = stamp;
	struct zr_index *x = open_index();
	struct zr_buf file = {0};
	struct zr_index_id id;

	id_of(x, "a", "{}", &id);
	save(&id);
	make_blocks(&b);
	other.sum[1]++;
	CHECK(!zr_index_read(&id, &other, &b, &file));
	other = stamp;
	other.objects++;
	CHECK(!zr_index_read(&id, &other, &b, &file));
	zr_index_free(x);
}

static void every_byte_that_is_changed_is_found(void)
{
	uint8_t good[4096], bad[4096];
	struct zr_index *x = open_index();
	struct zr_index_id id;
	size_t len;

	id_of(x, "a", "{}", &id);
	save(&id);
	len = load(&id, good, sizeof(good));
	for (size_t i = 0; i < len; i++) {
		memcpy(bad, good, len);
		bad[i] ^= (uint8_t)(1 << i % 8);
		store_bytes(&id, bad, len);
		CHECK(!is_accepted(&id));
		memcpy(bad, good, len);
		bad[i] = (uint8_t)~bad[i];
		store_bytes(&id, bad, len);
		CHECK(!is_accepted(&id));
		/* The head is good as long as nothing in it is changed. */
		CHECK(has_head(&id) == (i >= 72 + 8 * FILES + 8));
	}
	store_bytes(&id, good, len);
	CHECK(is_accepted(&id));
	zr_index_free(x);
}

static void what_is_too_short_or_too_long_is_found(void)
{
	uint8_t bytes[4096];
	struct zr_index *x = open_index();
	struct zr_index_id id;
	size_t len;

	id_of(x, "a", "{}", &id);
	save(&id);
	len = load(&id, bytes, sizeof(bytes));
	for (size_t n = 0; n < len; n++) {
		store_bytes(&id, bytes, n);
		CHECK(!is_accepted(&id));
		CHECK(has_head(&id) == (n >= 72 + 8 * FILES + 8));
	}
	bytes[len] = 0;
	store_bytes(&id, bytes, len + 1);
	CHECK(!is_accepted(&id));
	save(&id); /* is replaced */
	CHECK(is_accepted(&id));
	zr_index_free(x);
}

/* Makes both checksums right. */
static void sum_up(uint8_t *bytes, size_t len)
{
	size_t head = 72 + 8 * FILES;

	zr_store_uint(bytes + head, XXH64(bytes, head, 0), 8, false);
	zr_store_uint(bytes + len - 8, XXH64(bytes, len - 8, 0), 8, false);
}

/* Sizes are shown before the rows are read, which would contradict them. */
static void sizes_that_cannot_be_are_no_head(void)
{
	uint8_t bytes[4096];
	uint64_t sizes[FILES];
	struct zr_stamp kept;
	struct zr_index *x = open_index();
	struct zr_index_id id;
	size_t len;

	id_of(x, "a", "{}", &id);
	save(&id);
	len = load(&id, bytes, sizeof(bytes));
	for (uint64_t more = 0; more < 2; more++) {
		zr_store_uint(bytes + 72, (UINT64_C(1) << 62) + more, 8, false);
		sum_up(bytes, len);
		store_bytes(&id, bytes, len);
		CHECK(zr_index_head(&id, FILES, sizes, &kept) == (more == 0));
	}
	zr_index_free(x);
}

static void numbers_that_cannot_be_are_refused_with_a_right_checksum(void)
{
	static const size_t head_end = 72 + 8 * FILES + 8, width = 8 * (FILES + 1);
	/* Of what the whole file is made: place, length, value. */
	const struct {
		size_t at;
		unsigned int len;
		uint64_t value;
	} row[] = {
		{0, 4, 0x12345678}, /* magic */
		{4, 4, 2},          /* version */
		{4, 4, 0},
		{8, 4, FILES - 1}, /* number of files */
		{8, 4, FILES + 1},
		{8, 4, 0xffffffff},
		{12, 4, 1},
		{16, 4, 0}, /* key */
		{28, 4, 0},
		{32, 8, UINT64_MAX}, /* objects */
		{40, 8, 0},          /* sums */
		{56, 8, 0},          /* rows */
		{56, 8, UINT64_MAX},
		{56, 8, UINT64_C(1) << 61},
		{64, 4, 3}, /* shift */
		{64, 4, 64},
		{64, 4, 0xffffffff},
		{68, 4, 1},
		{72, 8, 1}, /* a size */
		{72, 8, UINT64_MAX},
		{72, 8, (UINT64_C(1) << 62) + 1},
		{72 + 16, 8, 0},
		{head_end, 8, 1}, /* something before the first block */
		{head_end + 8, 8, 1},
		{head_end + width, 8, UINT64_MAX}, /* more records than a block has */
		{head_end + width, 8, 5},
		{head_end + width, 8, 0},
		{head_end + width + 8, 8, UINT64_MAX},
		{head_end + width + 8, 8, 0},      /* lines of no byte */
		{head_end + 2 * width + 16, 8, 3}, /* shorter than before */
	};
	uint8_t good[4096], bad[4096];
	struct zr_index *x = open_index();
	struct zr_index_id id;
	size_t len;

	id_of(x, "a", "{}", &id);
	save(&id);
	len = load(&id, good, sizeof(good));
	memcpy(bad, good, len);
	sum_up(bad, len);
	CHECK(memcmp(bad, good, len) == 0); /* it is summed up as the program does */
	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		memcpy(bad, good, len);
		zr_store_uint(bad + row[i].at, row[i].value, row[i].len, false);
		sum_up(bad, len);
		store_bytes(&id, bad, len);
		if (is_accepted(&id)) {
			fprintf(stderr, "row %zu is accepted\n", i);
			CHECK(false);
		}
	}
	zr_index_free(x);
}

static void every_byte_may_be_changed_with_a_right_checksum(void)
{
	ZR_CLEANUP(zr_blocks_done) struct zr_blocks b = {0};
	uint8_t good[4096], bad[4096];
	struct zr_index *x = open_index();
	struct zr_index_id id;
	size_t len;

	id_of(x, "a", "{}", &id);
	save(&id);
	len = load(&id, good, sizeof(good));
	for (size_t i = 0; i < 8 * len; i += 5) {
		ZR_CLEANUP(zr_buf_done) struct zr_buf file = {0};
		uint64_t record, offset;

		memcpy(bad, good, len);
		bad[i / 8] ^= (uint8_t)(1 << i % 8);
		sum_up(bad, len);
		store_bytes(&id, bad, len);
		make_blocks(&b);
		/* Nobody can tell whether it is right, but it does no harm. */
		if (zr_index_read(&id, &stamp, &b, &file) && zr_index_take(&file, &b)) {
			for (uint64_t at = 0; at < 3000; at += 7)
				(void)zr_blocks_locate(&b, i % FILES, at, &record,
				                       &offset);
		}
		zr_blocks_done(&b);
	}
	zr_index_free(x);
}

static void *save_often(void *arg)
{
	for (unsigned int i = 0; i < 40; i++)
		save(arg);
	return NULL;
}

static void it_is_replaced_while_it_is_read(void)
{
	struct zr_index *x = open_index();
	struct zr_index_id id;
	pthread_t writers[2];

	id_of(x, "a", "{}", &id);
	save(&id);
	for (int i = 0; i < 2; i++)
		CHECK_INT(pthread_create(&writers[i], NULL, save_often, &id), 0);
	for (unsigned int i = 0; i < 150; i++)
		CHECK(is_accepted(&id) && has_head(&id));
	for (int i = 0; i < 2; i++)
		pthread_join(writers[i], NULL);
	zr_index_free(x);
}

static void a_file_that_others_could_have_written_is_no_index(void)
{
	char elsewhere[sizeof(top) + 16];
	struct zr_index *x = open_index();
	struct zr_index_id id;

	id_of(x, "a", "{}", &id);
	save(&id);
	CHECK(is_accepted(&id));
	CHECK_INT(chmod(file_of(&id), 0666), 0);
	CHECK(!is_accepted(&id) && !has_head(&id));
	CHECK_INT(chmod(file_of(&id), 0600), 0);
	snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", top);
	CHECK_INT(rename(file_of(&id), elsewhere), 0);
	CHECK_INT(symlink(elsewhere, file_of(&id)), 0);
	CHECK(!is_accepted(&id) && !has_head(&id));
	save(&id); /* replaces the link */
	CHECK(is_accepted(&id));
	if (geteuid() == 0) {
		CHECK_INT(chown(file_of(&id), 1, 1), 0);
		CHECK(!is_accepted(&id) && !has_head(&id));
	}
	zr_index_free(x);
}

static void what_cannot_be_written_is_said_once(void)
{
	char log[sizeof(top) + 16], text[4096] = "";
	struct zr_index *x = open_index();
	struct zr_index_id id;
	FILE *f;

	id_of(x, "gone", "{}", &id);
	snprintf(log, sizeof(log), "%s/log", top);
	CHECK_INT(zr_log_to_file(log), 0);
	CHECK_INT(mkdir(file_of(&id), 0700), 0); /* which nothing can replace */
	save(&id);
	save(&id);
	f = fopen(log, "r");
	CHECK(f);
	CHECK(fgets(text, sizeof(text), f));
	CHECK(strstr(text, "warning: sizes cannot be kept"));
	CHECK(!fgets(text, sizeof(text), f));
	fclose(f);
	CHECK_INT(rmdir(file_of(&id)), 0);
	zr_index_free(x);
}

static void without_an_index_nothing_happens(void)
{
	struct zr_index_id id = {0};

	zr_index_id(NULL, &(struct zr_index_of){.path = "a", .render = &plain}, &id);
	CHECK(!id.index);
	save(&id);
	CHECK(!is_accepted(&id) && !has_head(&id));
	zr_index_drop(&id);
	zr_index_free(NULL);
}

int main(void)
{
	char command[sizeof(top) + 32];

	make_grid();
	snprintf(top, sizeof(top), "%s/zarrfs-test-index-XXXXXX",
	         access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	CHECK(mkdtemp(top));
	snprintf(dir, sizeof(dir), "%s/index", top);
	snprintf(store, sizeof(store), "%s/store", top);
	CHECK_INT(mkdir(store, 0700), 0);
	RUN(what_was_measured_comes_back);
	RUN(an_array_without_blocks_is_kept);
	RUN(what_it_depends_on_makes_another_key);
	RUN(another_store_is_another_key);
	RUN(another_stamp_is_no_index);
	RUN(every_byte_that_is_changed_is_found);
	RUN(what_is_too_short_or_too_long_is_found);
	RUN(sizes_that_cannot_be_are_no_head);
	RUN(numbers_that_cannot_be_are_refused_with_a_right_checksum);
	RUN(every_byte_may_be_changed_with_a_right_checksum);
	RUN(it_is_replaced_while_it_is_read);
	RUN(a_file_that_others_could_have_written_is_no_index);
	RUN(what_cannot_be_written_is_said_once);
	RUN(without_an_index_nothing_happens);
	snprintf(command, sizeof(command), "rm -rf '%s'", top);
	CHECK_INT(system(command), 0);
	return EXIT_SUCCESS;
}
