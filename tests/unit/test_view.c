/* SPDX-License-Identifier: MIT */
#include "view.h"

#include "array_case.h"
#include "render_impl.h"

#define TRANSPOSED(order, rest)                                                          \
	"[{'name':'transpose','configuration':{'order':" order "}}," rest "]"
#define BYTES "{'name':'bytes','configuration':{'endian':'little'}}"
#define SHARDS(inner, before, behind)                                                    \
	"[" before "{'name':'sharding_indexed','configuration':{'chunk_shape':" inner    \
	",'codecs':[" BYTES "],'index_codecs':[" BYTES "]}}" behind "]"

static enum cell_state every_other(const uint64_t at[CASE_DIMS])
{
	return (at[0] + at[1] + at[2]) % 2 ? MISSING : STORED;
}

static enum cell_state second_is_damaged(const uint64_t at[CASE_DIMS])
{
	return at[0] == 1 && at[1] == 0 && at[2] == 0 ? DAMAGED : STORED;
}

static enum cell_state all_kinds(const uint64_t at[CASE_DIMS])
{
	return (enum cell_state)((at[0] * 5 + at[1] * 2 + at[2]) % 3);
}

static enum cell_state none(const uint64_t at[CASE_DIMS])
{
	(void)at;
	return MISSING;
}

static const struct case_spec specs[] = {
	{"[23]", "[5]", NULL, NULL, .budget = 0},
	{"[23]", "[5]", NULL, every_other, .budget = 0},
	{"[23]", "[5]", NULL, second_is_damaged, .budget = 0},
	{"[24]", "[24]", NULL, NULL, .budget = 0},
	{"[20]", "[1]", NULL, all_kinds, .budget = 1},
	{"[23]", "[5]", NULL, all_kinds, .missing_is_error = true},
	{"[23]", "[5]", NULL, none, .budget = 0},
	{"[]", "[]", NULL, NULL, .budget = 0},
	{"[]", "[]", NULL, none, .budget = 0},
	{"[0]", "[5]", NULL, NULL, .budget = 0},
	{"[3,0]", "[2,2]", NULL, NULL, .budget = 0},
	{"[5,7]", "[2,3]", NULL, NULL, .budget = 0},
	{"[5,7]", "[2,3]", NULL, NULL, .budget = 1},
	{"[5,7]", "[2,3]", NULL, all_kinds, .budget = 0},
	{"[5,7]", "[2,3]", NULL, all_kinds, .budget = 1},
	{"[11,3]", "[4,3]", NULL, second_is_damaged, .budget = 0},
	{"[3,11]", "[3,4]", NULL, every_other, .missing_is_error = true},
	{"[5,7]", "[2,3]", TRANSPOSED("[1,0]", BYTES), all_kinds, .budget = 0},
	{"[3,4,3]", "[2,2,2]", TRANSPOSED("[2,0,1]", BYTES), all_kinds, .budget = 1},
	{"[2,3,5]", "[1,2,2]", NULL, every_other, .budget = 0},
	{"[23]", "[12]", SHARDS("[3]", "", ""), all_kinds, .budget = 0},
	{"[7,5]", "[4,4]", SHARDS("[2,2]", "", ""), all_kinds, .budget = 0},
	{"[7,5]", "[4,4]",
         SHARDS("[2,1]", "{'name':'transpose','configuration':{'order':[1,0]}},", ""),
         all_kinds, .budget = 1},
};

static void check_range(const struct case_file *f, size_t offset, size_t n, uint8_t *out)
{
	size_t want = ZR_MIN(n, f->want.len - offset), len = 77777;
	bool bad = want > 0 && memchr(f->bad.data + offset, 1, want);
	int r = case_read(f->view, offset, n, out, &len);

	CHECK_INT(r, bad ? -EIO : 0);
	if (bad)
		CHECK_INT(len, 77777);
	else if (want > 0)
		CHECK_MEM(out, len, f->want.data + offset, want);
	else
		CHECK_INT(len, 0);
}

/* Every offset, with lengths that fall on both sides of lines and chunks. */
static void check_ranges(const struct case_file *f, const size_t *lens, size_t nlens)
{
	size_t size = f->want.len;
	uint8_t out[5000];

	for (size_t i = 0; i < nlens; i++) {
		for (size_t offset = 0; offset <= size; offset++)
			check_range(f, offset, lens[i], out);
		for (size_t beyond = 1; beyond < 100; beyond += 30)
			CHECK_INT(case_read(f->view, size + beyond, lens[i], out,
			                    &(size_t){0}),
			          -EIO);
	}
}

/* Reads before anything was measured: what is known is what was walked over. */
static void any_range_is_right_before_sizes_are_known(void)
{
	static const size_t lens[] = {61};

	for (size_t i = 0; i < ZR_COUNT(specs); i++) {
		struct array_case *c = case_new(&specs[i]);
		uint64_t size;

		for (int k = 0; k < CASE_FILES; k++) {
			check_ranges(&c->file[k], lens, ZR_COUNT(lens));
			if (k < FILE_RAW_A)
				CHECK(!zr_view_peek_size(c->file[k].view, &size));
		}
		case_free(c);
	}
}

static void any_range_is_right_afterwards(void)
{
	static const size_t lens[] = {1, 40};

	for (size_t i = 0; i < ZR_COUNT(specs); i++) {
		struct array_case *c = case_new(&specs[i]);
		uint64_t size;

		for (int k = 0; k < CASE_FILES; k++) {
			CHECK_INT(case_size(c->file[k].view, &size), 0);
			CHECK_INT(size, c->file[k].want.len);
			CHECK(zr_view_peek_size(c->file[k].view, &size));
			CHECK_INT(size, c->file[k].want.len);
			check_ranges(&c->file[k], lens, ZR_COUNT(lens));
		}
		case_free(c);
	}
}

/* Arrays of several blocks of the index (4,096 records), which chunks and rows straddle.
 */
static void any_range_is_right_across_blocks(void)
{
	static const struct case_spec large[] = {
		{"[9000]", "[5000]", NULL, second_is_damaged, .budget = 0},
		{"[9000]", "[700]", NULL, all_kinds, .budget = 20000},
		{"[70,200]", "[16,64]", NULL, all_kinds, .budget = 0},
		{"[3,5000]", "[2,2000]", NULL, every_other, .budget = 20000},
	};
	static const size_t lens[] = {1, 100, 4096};
	uint8_t out[4096];
	unsigned int seed = 1;

	for (size_t i = 0; i < ZR_COUNT(large); i++) {
		struct array_case *c = case_new(&large[i]);

		for (int k = 0; k < CASE_FILES; k++) {
			const struct case_file *f = &c->file[k];
			uint64_t size = 0;

			for (int n = 0; n < 120; n++) {
				size_t offset = (size_t)rand_r(&seed) % f->want.len;

				if (n == 60) /* measured from now on */
					CHECK_INT(case_size(f->view, &size), 0);
				check_range(f, offset, lens[n % 3], out);
			}
			CHECK_INT(size, f->want.len);
		}
		case_free(c);
	}
}

/* --- rows that exceed the cache -------------------------------------------------------
 */

/* A row of 32 cells takes 16 KiB, the cache is 24 KiB: read from front to back, each cell
 * is decoded once for a field's file, though a row of records goes through all of them.
 */
static void a_field_is_read_with_each_chunk_decoded_once(void)
{
	static const struct case_spec spec = {"[8,256]", "[8,8]", NULL, NULL,
	                                      .budget = 24 << 10};
	static const int files[] = {FILE_A, FILE_RAW_A, FILE_Q, FILE_P_JSON};

	for (size_t i = 0; i < ZR_COUNT(files); i++) {
		struct array_case *c = case_new(&spec);
		struct case_file *f = &c->file[files[i]];
		uint8_t out[512];
		size_t len;

		CHECK(c->source.rows_exceed);
		for (size_t at = 0; at < f->want.len; at += len) {
			CHECK_INT(case_read(f->view, at, sizeof(out), out, &len), 0);
			CHECK_MEM(out, len, f->want.data + at,
			          ZR_MIN(sizeof(out), f->want.len - at));
		}
		CHECK_INT(c->store.gets, 32);
		case_free(c);
	}
}

/* --- long lines -----------------------------------------------------------------------
 */

static struct array_case *open_array(const struct case_spec *spec, const char *type,
                                     const char *fill, const char *key,
                                     struct zr_buf *own_data)
{
	struct array_case *c = calloc(1, sizeof(*c));

	CHECK(c);
	c->spec = spec;
	c->store = (struct fake_store){.base = {.ops = &fake_ops, .refs = 1},
	                               .objects = c->objects};
	c->meta = parse_v3((struct doc_v3){.shape = spec->shape,
	                                   .chunks = spec->chunks,
	                                   .codecs = spec->codecs,
	                                   .type = type,
	                                   .fill = fill});
	case_open(c);
	if (key)
		c->objects[c->store.count++] = (struct fake_object){
			strdup(key), ZR_TAKE(own_data->data), own_data->len, 0};
	return c;
}

static void add_item(struct zr_buf *b, const char *s, size_t n)
{
	uint8_t len[4];

	zr_store_uint(len, n, 4, false);
	zr_buf_add(b, len, 4);
	zr_buf_add(b, s, n);
}

/* All of it, in pieces of `step` bytes, forwards or backwards. */
static void check_pieces(const struct case_file *f, size_t step, bool backwards)
{
	uint8_t *out = malloc(step);
	size_t n = (f->want.len + step - 1) / step, len;

	CHECK(out);
	for (size_t i = 0; i < n; i++) {
		size_t at = (backwards ? n - 1 - i : i) * step;

		CHECK_INT(case_read(f->view, at, step, out, &len), 0);
		CHECK_MEM(out, len, f->want.data + at, ZR_MIN(step, f->want.len - at));
	}
	free(out);
}

/* vlen-utf8 (numcodecs): the count, then each length and its bytes, little-endian. */
static void a_line_of_megabytes_is_made_once(void)
{
	static const struct case_spec spec = {"[4]", "[4]", "['vlen-utf8']", NULL,
	                                      .budget = 64 << 20};
	struct zr_render_opts o = {0};
	struct zr_buf data = {0}, no_header = {0};
	size_t n = 3 << 20;
	char *text = malloc(n);
	struct case_file *f;
	struct array_case *c;
	struct zr_cache_stats stats;

	CHECK(text);
	for (size_t i = 0; i < n; i++)
		text[i] = (char)('a' + i % 23);
	zr_buf_add(&data, "\4\0\0\0", 4);
	add_item(&data, "ab", 2);
	add_item(&data, text, n);
	add_item(&data, "", 0);
	add_item(&data, "cd", 2);
	c = open_array(&spec, "'string'", "''", "a/c/0", &data);
	f = &c->file[0];
	f->view = zr_view_new_text(&c->source, c->sizes, 0, c->layout.leaves,
	                           zr_line_new_text(&c->layout, 0, &o), &no_header);
	zr_buf_adds(&f->want, "ab\n");
	zr_buf_add(&f->want, text, n);
	zr_buf_adds(&f->want, "\n\ncd\n");
	check_pieces(f, 128 << 10, false);
	check_pieces(f, 100001, true);
	CHECK_INT(c->store.gets,
	          1 + 1); /* the first time more is stored than was guessed */
	zr_cache_get_stats(c->cache, &stats);
	CHECK_INT(stats.loads, 2); /* the chunk, and the line */
	free(text);
	case_free(c);
}

/* Of records of two megabytes: stored ones, and the fill value. */
static void long_records_are_made_once(void)
{
	static const struct case_spec spec = {"[4]", "[2]", NULL, NULL,
	                                      .budget = 64 << 20};
	struct zr_render_opts o = {0};
	struct zr_buf data = {0}, none = {0};
	size_t n = 2 << 20;
	struct array_case *c;
	struct zr_cache_stats stats;

	CHECK_INT(zr_buf_reserve(&data, 2 * n), 0);
	data.len = 2 * n;
	memset(data.data, 'x', n - 1);
	data.data[n - 1] = 'y';
	memset(data.data + n, 'z', n);
	c = open_array(&spec,
	               "{'name':'null_terminated_bytes','configuration':{'length_bytes':"
	               "2097152}}",
	               "'Zmls'", "a/c/0", &data);
	c->file[0].view = zr_view_new_text(&c->source, c->sizes, 0, c->layout.leaves,
	                                   zr_line_new_text(&c->layout, 0, &o), &none);
	c->file[1].view = zr_view_new_bin(&c->source, c->layout.leaves,
	                                  zr_bin_new_leaf(&c->layout, 0), &none);
	for (int i = 0; i < 2; i++) {
		struct zr_buf *want = &c->file[i].want;

		for (int r = 0; r < 4; r++) {
			zr_buf_add(want,
			           r < 2 ? (const char *)c->objects[0].data +
			                           (size_t)r * n
			                 : "fil",
			           r < 2 ? n : 3);
			if (i == 0)
				zr_buf_addc(want, '\n');
			while (i == 1 && want->len < n * (size_t)(r + 1))
				zr_buf_addc(want, 0);
		}
	}
	for (int i = 0; i < 2; i++) {
		check_pieces(&c->file[i], 128 << 10, false);
		check_pieces(&c->file[i], 333333, true);
	}
	zr_cache_get_stats(c->cache, &stats);
	CHECK_INT(stats.loads, 1 + 2 + 3);
	case_free(c);
}

/* Each time it is read, more of a record is text. */
static int get_growing(struct zr_store *s, const char *key, uint64_t max,
                       struct zr_buf *ret, struct zr_err *reterr)
{
	struct fake_store *f = (struct fake_store *)s;

	memset((char *)f->objects[0].data, 'x',
	       ((size_t)5 << 18) + ((size_t)f->gets << 16));
	return fake_get(s, key, max, ret, reterr);
}

/* The line is measured in a chunk that has no place in the cache, and made of the next
 * one that is read. */
static void a_long_line_that_grows_meanwhile_is_noticed(void)
{
	static const struct case_spec spec = {"[1]", "[1]", NULL, NULL, .budget = 4096};
	struct zr_store_ops growing = fake_ops;
	struct zr_render_opts o = {0};
	struct zr_buf data = {0}, none = {0};
	size_t n = 2 << 20, len;
	struct array_case *c;
	uint8_t out[4096];

	CHECK_INT(zr_buf_reserve(&data, n), 0);
	memset(data.data, 0, n);
	data.len = n;
	c = open_array(&spec,
	               "{'name':'null_terminated_bytes','configuration':{'length_bytes':"
	               "2097152}}",
	               "'Zmls'", "a/c/0", &data);
	growing.get = get_growing;
	c->store.base.ops = &growing;
	c->file[0].view = zr_view_new_text(&c->source, c->sizes, 0, c->layout.leaves,
	                                   zr_line_new_text(&c->layout, 0, &o), &none);
	CHECK_INT(case_read(c->file[0].view, 10, sizeof(out), out, &len), -EIO);
	CHECK(c->store.gets >= 2);
	case_free(c);
}

struct lines {
	int count;
	char last[300];
};

static void count_line(void *arg, const char *text)
{
	struct lines *l = arg;

	l->count++;
	snprintf(l->last, sizeof(l->last), "%s", text);
}

/* No store can ask for one (layout.h), but whoever adds up lengths stops at the most
 * there is: the digits of its index do not make a short line of that. */
static void a_line_longer_than_can_be_counted_is_too_long(void)
{
	static const struct case_spec spec = {"[1,1]", "[1,1]", NULL, NULL, .budget = 0};
	struct zr_render_opts o = {0};
	struct array_case *c =
		open_array(&spec, FIELDS("struct", "{'name':'b','data_type':'uint8'}"),
	                   "'AA=='", NULL, NULL);
	struct zr_line *line = zr_line_new_json(c->meta.array, &c->layout, 0, &o);
	struct lines lines = {0};
	struct zr_buf none = {0};
	uint8_t out[4096];
	size_t len;

	CHECK(line);
	line->fixed = UINT64_MAX - 1;
	c->file[0].view = zr_view_new_text(&c->source, c->sizes, c->layout.nleaves,
	                                   c->layout.levels, line, &none);
	zr_log_to_function(count_line, &lines);
	CHECK_INT(case_read(c->file[0].view, 10, sizeof(out), out, &len), -EIO);
	zr_log_to_function(NULL, NULL);
	CHECK_INT(lines.count, 1);
	CHECK(strstr(lines.last, "'/a'") && strstr(lines.last, "record 0"));
	CHECK(strstr(lines.last, "has 18446744073709551615 bytes"));
	case_free(c);
}

/* --- far away -------------------------------------------------------------------------
 */

/* 6,000,000 lines of "7", a chunk of "12" in the middle. */
static void a_far_place_is_found_by_measuring(void)
{
	static const struct case_spec spec = {"[6000000]", "[1000]", NULL, NULL,
	                                      .budget = 0};
	struct zr_render_opts o = {0};
	struct zr_buf data = {0}, none = {0};
	struct zr_ticket ticket = {0};
	struct array_case *c;
	uint64_t size;
	uint8_t out[9];
	size_t len;

	CHECK_INT(zr_buf_reserve(&data, 1000), 0);
	data.len = 1000;
	memset(data.data, 12, 1000);
	c = open_array(&spec, "'uint8'", "7", "a/c/5000", &data);
	c->file[0].view = zr_view_new_text(&c->source, c->sizes, 0, c->layout.leaves,
	                                   zr_line_new_text(&c->layout, 0, &o), &none);
	/* Nobody knows yet; the answer comes when everything before was measured. */
	CHECK_INT(zr_view_read(c->file[0].view, 11000001, 8, &ticket, NULL, out, &len),
	          -EINPROGRESS);
	CHECK_INT(case_read(c->file[0].view, 11000001, 8, out, &len), 0);
	CHECK_MEM(out, len, "\n7\n7\n7\n7", 8);
	CHECK_INT(c->store.gets, 1);
	CHECK_INT(case_read(c->file[0].view, 9999998, 9, out, &len), 0);
	CHECK_MEM(out, len, "7\n12\n12\n1", 9);
	CHECK_INT(case_read(c->file[0].view, 10002997, 9, out, &len), 0);
	CHECK_MEM(out, len, "12\n7\n7\n7\n", 9);
	CHECK_INT(case_size(c->file[0].view, &size), 0);
	CHECK_INT(size, 2 * 6000000 + 1000);
	CHECK_INT(case_read(c->file[0].view, size - 3, 9, out, &len), 0);
	CHECK_MEM(out, len, "\n7\n", 3);
	CHECK_INT(case_read(c->file[0].view, size, 9, out, &len), 0);
	CHECK_INT(len, 0);
	CHECK_INT(case_read(c->file[0].view, size + 1, 9, out, &len), -EIO);
	case_free(c);
}

/* --- failures -------------------------------------------------------------------------
 */

static void a_read_can_be_given_up(void)
{
	struct array_case *c = case_new(&specs[0]);
	struct zr_ticket ticket = {0};
	atomic_bool cancel = true;
	uint8_t out[10];
	size_t len = 77;

	for (int k = 0; k < CASE_FILES; k++)
		CHECK_INT(
			zr_view_read(c->file[k].view, 0, 10, &ticket, &cancel, out, &len),
			-EINTR);
	CHECK_INT(len, 77);
	CHECK_INT(c->store.gets, 0);
	case_free(c);
}

static void a_store_that_fails_is_asked_again(void)
{
	struct array_case *c = case_new(&specs[0]);
	uint8_t out[100];
	size_t len = 77;

	for (int k = 0; k < CASE_FILES; k++) {
		zr_cache_forget(c->cache, 1);
		c->store.fail_all = -EACCES;
		CHECK_INT(case_read(c->file[k].view, 0, 100, out, &len), -EIO);
		c->store.fail_all = 0;
		CHECK_INT(case_read(c->file[k].view, 0, 100, out, &len), 0);
		CHECK_MEM(out, len, c->file[k].want.data, ZR_MIN(len, (size_t)100));
	}
	case_free(c);
}

/* What was measured is not what is there any more: an error, no shifted text. */
static void a_store_that_was_changed_is_noticed(void)
{
	struct array_case *c = case_new(&specs[0]);
	struct case_file *f = &c->file[FILE_A];
	uint8_t *data = (uint8_t *)c->objects[0].data, out[4096];
	uint64_t size;
	size_t len;

	CHECK_INT(case_size(f->view, &size), 0);
	/* The first record's line is at least one byte longer or shorter now. */
	zr_store_uint(data, zr_load_u16(data, false) > 9 ? 5 : 12345, 2, false);
	zr_cache_forget(c->cache, 1);
	CHECK_INT(case_read(f->view, 0, sizeof(out), out, &len), -EIO);
	case_free(c);
}

static void bytes_and_objects_are_read_in_any_range(void)
{
	static struct fake_object objects[] = {{"doc", "0123456789", 10, 0}};
	struct fake_store store = FAKE_STORE(objects);
	struct zr_buf bytes = {0};
	struct case_file f[2] = {0};

	zr_buf_adds(&bytes, "0123456789");
	f[0].view = zr_view_new_bytes(&bytes);
	f[1].view = zr_view_new_object(&store.base, "doc", 10);
	for (int i = 0; i < 2; i++) {
		static const size_t lens[] = {1, 3, 100};
		uint64_t size;

		CHECK(zr_view_peek_size(f[i].view, &size));
		CHECK_INT(size, 10);
		CHECK_INT(case_size(f[i].view, &size), 0);
		CHECK_INT(size, 10);
		zr_buf_adds(&f[i].want, "0123456789");
		zr_buf_add(&f[i].bad, "\0\0\0\0\0\0\0\0\0\0", 10);
		check_ranges(&f[i], lens, ZR_COUNT(lens));
	}
	objects[0].len = 9;
	CHECK_INT(case_read(f[1].view, 5, 5, (uint8_t[5]){0}, &(size_t){0}), -EIO);
	for (int i = 0; i < 2; i++) {
		zr_view_free(f[i].view);
		zr_buf_done(&f[i].want);
		zr_buf_done(&f[i].bad);
	}
	zr_view_free(NULL);
}

int main(void)
{
	CHECK_INT(zr_log_to_file("/dev/null"), 0);
	RUN(any_range_is_right_before_sizes_are_known);
	RUN(any_range_is_right_afterwards);
	RUN(any_range_is_right_across_blocks);
	RUN(a_field_is_read_with_each_chunk_decoded_once);
	RUN(a_line_of_megabytes_is_made_once);
	RUN(long_records_are_made_once);
	RUN(a_long_line_that_grows_meanwhile_is_noticed);
	RUN(a_line_longer_than_can_be_counted_is_too_long);
	RUN(a_far_place_is_found_by_measuring);
	RUN(a_read_can_be_given_up);
	RUN(a_store_that_fails_is_asked_again);
	RUN(a_store_that_was_changed_is_noticed);
	RUN(bytes_and_objects_are_read_in_any_range);
	return EXIT_SUCCESS;
}
