/* SPDX-License-Identifier: MIT */
/*
 * The input is a file of the index on disk, behind a byte that says how much of it is
 * made to fit: a file that is not ours is refused at its checksums, so those are put
 * right.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "bounds.h"
#include "check.h"
#include "fuzz.h"
#include "index.h"

#define US (&(struct zr_who){geteuid(), getegid()})

#define FILES 3
#define HEAD (72 + 8 * FILES + 8)
#define RECORDS 100

enum { FIT_KEY = 1, FIT_ROWS = 2, FIT_SIZES = 4, FIT_SUMS = 8 };

/* 100 records in chunks of 10, of which five are stored; a block of 4 records each. */
static void make_blocks(struct zr_grid *g, struct zr_blocks *b)
{
	static const uint64_t fill_len[FILES] = {4, 9, 20};
	static const bool indexed[FILES] = {false, false, true};
	static uint64_t chunks[] = {0, 3, 4, 8, 9};
	static const struct zr_present present = {
		.ids = chunks, .count = ZR_COUNT(chunks), .nobjects = 10};
	struct zr_array a = {
		.ndim = 1, .nlevels = 1, .nrecords = RECORDS, .shape = {RECORDS}};

	a.levels[0].chunk[0] = 10;
	zr_grid_init(g, &a);
	CHECK_INT(
		zr_blocks_init(b, g, &present, 65536 / 4, FILES, fill_len, indexed, NULL),
		0);
}

/* One for the life of the process, in memory where there is such a place. */
static const char *open_index(struct zr_index_id *ret)
{
	static char dir[64];
	static struct zr_index *x;
	static const struct zr_render_opts o;
	static const struct zr_buf none;
	const struct zr_index_of of = {.path = "a",
	                               .docs = (const struct zr_buf *[]){&none},
	                               .ndocs = 1,
	                               .render = &o};
	struct zr_err err = {0};

	if (!x) {
		const char *top = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";

		snprintf(dir, sizeof(dir), "%s/zarrfs.fuzz.XXXXXX", top);
		CHECK(mkdtemp(dir));
		CHECK_INT(zr_index_open(dir, US, "/", &x, &err), 0);
	}
	zr_index_id(x, &of, ret);
	CHECK(ret->index);
	return dir;
}

static void put(struct zr_buf *b, size_t at, const void *p, size_t n)
{
	if (at + n <= b->len)
		memcpy(b->data + at, p, n);
}

static void put_u64(struct zr_buf *b, size_t at, uint64_t v)
{
	uint8_t bytes[8];

	zr_store_uint(bytes, v, 8, false);
	put(b, at, bytes, 8);
}

static void put_sum(struct zr_buf *b, size_t at)
{
	if (at + 8 <= b->len)
		put_u64(b, at, XXH64(b->data, at, 0));
}

/* Its rows as sums of what stands there, as lengths of lines would be. */
static void make_rows_fit(struct zr_buf *file, size_t nrows)
{
	const size_t width = 8 * (FILES + 1);

	for (size_t i = 0; i <= nrows; i++) {
		size_t at = HEAD + width * i;
		uint64_t more = 0;

		for (size_t f = 0; at + width <= file->len && f <= FILES; f++) {
			uint64_t v = file->data[at + 8 * f];

			v = i == 0 ? 0 : f == 0 ? more = v % 5 : more > 0 ? more + v : 0;
			if (i > 0)
				v += zr_load_u64(file->data + at - width + 8 * f, false);
			put_u64(file, at + 8 * f, v);
		}
	}
}

/* What the rows say of the sizes. */
static void make_sizes_fit(struct zr_buf *file, struct zr_blocks *b)
{
	size_t n = (b->nrows + 1) * (FILES + 1);

	if (file->len < HEAD + 8 * n)
		return;
	for (size_t i = 0; i < n; i++)
		b->rows[i] = zr_load_u64(file->data + HEAD + 8 * i, false);
	b->settled = b->nrows;
	for (uint32_t f = 0; f < FILES; f++)
		put_u64(file, 72 + 8 * f, zr_blocks_total(b, f));
	memset(b->rows, 0, 8 * n);
	b->settled = 0;
}

static void make_fit(struct zr_buf *file, unsigned int how, const struct zr_index_id *id,
                     struct zr_blocks *b)
{
	static const uint8_t head[16] = {'z', 'r', 'i', '\n', ZR_INDEX_VERSION,
	                                 0,   0,   0,   FILES};

	if (how & FIT_KEY) {
		put(file, 0, head, sizeof(head));
		put(file, 16, id->key, 16);
		put_u64(file, 56, b->nrows);
		put_u64(file, 64, b->shift);
	}
	if (how & FIT_ROWS)
		make_rows_fit(file, b->nrows);
	if (how & FIT_SIZES)
		make_sizes_fit(file, b);
	if (how & FIT_SUMS) {
		put_sum(file, HEAD - 8);
		put_sum(file, file->len - ZR_MIN(file->len, (size_t)8));
	}
}

static void write_file(const char *dir, const char *name, const struct zr_buf *file)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	CHECK(fd >= 0);
	CHECK(write(fd, file->data, file->len) == (ssize_t)file->len);
	close(fd);
}

/* What was taken over is an index: offsets rise, and every byte is found. */
static void check_blocks(const struct zr_blocks *b, const uint64_t *sizes)
{
	CHECK(zr_blocks_known(b) == RECORDS);
	for (uint32_t f = 0; f < FILES; f++) {
		uint64_t before = 0, total = zr_blocks_total(b, f), record, offset;

		CHECK(total == sizes[f] && total <= ZR_MAX_FILE);
		for (uint64_t r = 0; r < RECORDS; r++) {
			if (!zr_blocks_has(b, r))
				continue;
			offset = zr_blocks_offset(b, f, r);
			CHECK(offset >= before && offset <= total);
			before = offset;
		}
		for (uint64_t at = 0; at < total; at += 1 + total / 97) {
			if (!zr_blocks_locate(b, f, at, &record, &offset))
				continue;
			CHECK(record < RECORDS && offset <= at);
		}
	}
}

static void read_file(const struct zr_index_id *id, struct zr_blocks *b)
{
	struct zr_buf file = {0};
	struct zr_stamp kept;
	uint64_t sizes[FILES];

	if (!zr_index_head(id, FILES, sizes, &kept))
		return;
	for (uint32_t f = 0; f < FILES; f++)
		CHECK(sizes[f] <= ZR_MAX_FILE);
	if (!zr_index_read(id, &kept, b, &file))
		return;
	if (zr_index_take(&file, b))
		check_blocks(b, sizes);
	else
		CHECK(b->settled == 0);
	zr_buf_done(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	unsigned int how = take_byte(&in);
	struct zr_buf file = {0};
	struct zr_index_id id;
	const char *dir = open_index(&id);
	struct zr_blocks b = {0};
	struct zr_grid g;

	make_blocks(&g, &b);
	file.data = take_block(&in, in.left, &file.len);
	make_fit(&file, how, &id, &b);
	write_file(dir, id.name, &file);
	read_file(&id, &b);
	zr_blocks_done(&b);
	zr_buf_done(&file);
	return 0;
}
