/* SPDX-License-Identifier: MIT */
#include "view.h"

#include "array_case.h"

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
	{"[23]", "[5]", NULL, all_kinds, .budget = 0},
	{"[23]", "[5]", NULL, all_kinds, .missing_is_error = true},
	{"[23]", "[5]", NULL, none, .budget = 0},
	{"[]", "[]", NULL, NULL, .budget = 0},
	{"[0]", "[5]", NULL, NULL, .budget = 0},
	{"[5,7]", "[2,3]", NULL, all_kinds, .budget = 1},
	{"[5,6]", "[4,4]", NULL, none, .budget = 0},
	{"[2,3,5]", "[1,2,2]", NULL, all_kinds, .budget = 0},
};

/* Where record n begins in the file: after n line feeds behind the header, or at a
 * multiple of the record's size. */
static size_t begin_of(const struct case_file *f, int file, uint64_t header, uint64_t n)
{
	size_t at = (size_t)header;

	if (file == FILE_RAW_A || file == FILE_RAW)
		return (size_t)n * (file == FILE_RAW ? CASE_RECORD : 2);
	while (n-- > 0) {
		const uint8_t *end = memchr(f->want.data + at, '\n', f->want.len - at);

		CHECK(end);
		at = (size_t)(end - f->want.data) + 1;
	}
	return at;
}

/* Reads the bytes from `at` to `end` of the file in pieces, where the cursor is, up to
 * what is damaged. */
static void check_pieces(const struct case_file *f, struct zr_cursor c, size_t at,
                         size_t end, size_t piece)
{
	uint8_t out[300];

	for (;;) {
		struct zr_cursor before = c;
		size_t want = ZR_MIN(piece, end - at), len = 77777;
		bool bad = want > 0 && memchr(f->bad.data + at, 1, want);

		CHECK_INT(zr_view_read_rows(f->view, &c, piece, NULL, out, &len),
		          bad ? -EIO : 0);
		if (bad) {
			CHECK_INT(len, 77777);
			CHECK(memcmp(&c, &before, sizeof(c)) == 0);
			return;
		}
		CHECK_INT(len, want);
		if (want == 0)
			break;
		CHECK_MEM(out, len, f->want.data + at, want);
		at += len;
	}
	CHECK_INT(c.record, c.end);
	CHECK_INT(c.skip, 0);
}

static void check_rows(const struct array_case *c, int file)
{
	static const size_t pieces[] = {1, 7, 64, 300};
	const struct case_file *f = &c->file[file];
	uint64_t n = c->source.grid.nrecords;
	struct zr_rows rows;

	CHECK(zr_view_rows(f->view, &rows));
	CHECK_INT(rows.count, n);
	CHECK(rows.usual > 0);
	for (uint64_t a = 0; a <= n; a += 1 + a % 7)
		for (uint64_t b = a; b <= n; b += 1 + b % 11)
			check_pieces(f, (struct zr_cursor){a, 0, b},
			             begin_of(f, file, rows.header, a),
			             begin_of(f, file, rows.header, b),
			             pieces[(a + b) % 4]);
}

static void any_rows_are_read_in_any_pieces(void)
{
	for (size_t i = 0; i < ZR_COUNT(specs); i++) {
		struct array_case *c = case_new(&specs[i]);
		uint64_t size;

		for (int k = 0; k < CASE_FILES; k++) {
			check_rows(c, k);
			/* Nothing was measured. */
			if (k < FILE_RAW_A)
				CHECK(!zr_view_peek_size(c->file[k].view, &size));
			CHECK(!zr_sizes_busy(c->sizes));
		}
		case_free(c);
	}
}

static void rows_do_not_disturb_who_goes_by_bytes(void)
{
	for (size_t i = 0; i < ZR_COUNT(specs); i++) {
		struct array_case *c = case_new(&specs[i]);

		for (int k = 0; k < CASE_FILES; k++) {
			struct case_file *f = &c->file[k];
			uint8_t out[300];
			uint64_t size;
			size_t len, n;

			CHECK_INT(case_size(f->view, &size), 0);
			CHECK_INT(size, f->want.len);
			check_rows(c, k);
			n = ZR_MIN(f->want.len, sizeof(out));
			if (n > 0 && memchr(f->bad.data, 1, n))
				continue;
			CHECK_INT(case_read(f->view, 0, n, out, &len), 0);
			CHECK_MEM(out, len, n > 0 ? f->want.data : out, n);
		}
		case_free(c);
	}
}

static void header_is_what_stands_before_the_first_row(void)
{
	struct array_case *c = case_new(&specs[0]);
	struct zr_rows rows;

	CHECK(zr_view_rows(c->file[FILE_CSV].view, &rows));
	CHECK_INT(rows.header, strlen("a,s,p.q\n"));
	CHECK(zr_view_rows(c->file[FILE_JSON].view, &rows));
	CHECK_INT(rows.header, 0);
	CHECK(zr_view_rows(c->file[FILE_RAW].view, &rows));
	CHECK_INT(rows.usual, CASE_RECORD);
	case_free(c);
}

/* Only the chunks that rows lie in are read, however far they are. */
static void rows_cost_their_own_chunks(void)
{
	static const struct case_spec spec = {"[9000]", "[100]", NULL, NULL, .budget = 0};
	struct array_case *c = case_new(&spec);

	for (int k = 0; k < CASE_FILES; k++) {
		struct case_file *f = &c->file[k];
		struct zr_cursor at = {.record = 8105, .end = 8110};
		uint8_t out[4096];
		size_t len;
		int before = c->store.gets;
		struct zr_rows rows;

		zr_cache_forget(c->cache, 1);
		CHECK(zr_view_rows(f->view, &rows));
		CHECK_INT(zr_view_read_rows(f->view, &at, sizeof(out), NULL, out, &len),
		          0);
		CHECK_MEM(out, len, f->want.data + begin_of(f, k, rows.header, 8105),
		          begin_of(f, k, rows.header, 8110) -
		                  begin_of(f, k, rows.header, 8105));
		CHECK_INT(c->store.gets - before, 1);
	}
	case_free(c);
}

static void reading_rows_can_be_given_up(void)
{
	struct array_case *c = case_new(&specs[0]);
	atomic_bool cancel = true;

	for (int k = 0; k < CASE_FILES; k++) {
		struct zr_cursor at = {.record = 3, .skip = 1, .end = 9};
		uint8_t out[10];
		size_t len = 77;

		CHECK_INT(zr_view_read_rows(c->file[k].view, &at, sizeof(out), &cancel,
		                            out, &len),
		          -EINTR);
		CHECK_INT(len, 77);
		CHECK_INT(at.record, 3);
		CHECK_INT(at.skip, 1);
	}
	case_free(c);
}

static void bytes_have_no_rows(void)
{
	struct zr_buf bytes = {0};
	struct zr_rows rows;
	struct zr_view *v;

	zr_buf_adds(&bytes, "{}\n");
	v = zr_view_new_bytes(&bytes);
	CHECK(v);
	CHECK(!zr_view_rows(v, &rows));
	zr_view_free(v);
}

int main(void)
{
	CHECK_INT(zr_log_to_file("/dev/null"), 0);
	RUN(any_rows_are_read_in_any_pieces);
	RUN(rows_do_not_disturb_who_goes_by_bytes);
	RUN(header_is_what_stands_before_the_first_row);
	RUN(rows_cost_their_own_chunks);
	RUN(reading_rows_can_be_given_up);
	RUN(bytes_have_no_rows);
	return EXIT_SUCCESS;
}
