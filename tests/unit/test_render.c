/* SPDX-License-Identifier: MIT */
#include "render_case.h"
#include "render.h"

#include <errno.h>

static const struct zr_render_opts opts = {.nonfinite = ZR_NONFINITE_NULL};

static unsigned int digits_of(uint64_t v)
{
	char text[32];

	return (unsigned int)snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
}

/* The records of an array in runs along the last axis. */
static uint64_t run_length(const struct zr_array *a)
{
	return a->ndim ? a->shape[a->ndim - 1] : 1;
}

static void run_index(const struct zr_array *a, uint64_t record, uint64_t *index)
{
	for (uint32_t i = a->ndim; i-- > 0;) {
		index[i] = record % a->shape[i];
		record /= a->shape[i];
	}
}

static uint64_t line_size(const struct zr_line *line, const struct zr_array *a,
                          const uint8_t *rec, const uint64_t *index)
{
	uint64_t len = zr_line_len(line, rec);

	if (zr_line_has_index(line))
		for (uint32_t i = 0; i < a->ndim; i++)
			len += digits_of(index[i]);
	return len;
}

/* One line into a buffer that has not one byte more than it may take. */
static void add_one(const struct zr_line *line, const struct zr_array *a,
                    const uint8_t *rec, const uint64_t *index, struct zr_buf *out)
{
	uint64_t len = line_size(line, a, rec, index);
	char *exact = malloc(len + ZR_LINE_SPARE);

	CHECK(exact);
	CHECK(zr_line_put_one(line, rec, index, exact) == exact + len);
	CHECK(exact[len - 1] == '\n');
	CHECK(len <= zr_line_max(line));
	zr_buf_add(out, exact, len);
	free(exact);
}

/* ---- whole files against the model ---- */

static void put_file(const struct zr_line *line, const struct render_case *c,
                     struct zr_buf *out)
{
	CHECK(line);
	for (uint64_t i = 0; i < c->n; i++) {
		uint64_t index[ZR_MAX_DIMS] = {0};

		run_index(&c->a, i, index);
		add_one(line, &c->a, c->rec + i * c->a.type.size, index, out);
	}
}

static void check_file(struct zr_line *own_line, const struct render_case *c,
                       struct zr_buf *own_head, const struct zr_buf *want)
{
	put_file(own_line, c, own_head);
	if (own_head->len != want->len || memcmp(own_head->data, want->data, want->len))
		fprintf(stderr, "got  %.*s\nwant %.*s\n", (int)own_head->len,
		        (char *)own_head->data, (int)want->len, (char *)want->data);
	CHECK_MEM(own_head->data, own_head->len, want->data, want->len);
	zr_line_free(own_line);
	zr_buf_done(own_head);
}

static void lines_of_random_arrays_are_those_of_the_model(void)
{
	FILE *f = fopen(RENDER_CASES, "r");
	struct render_case c;
	int cases = 0;

	CHECK(f);
	for (; case_read(f, &c); cases++) {
		struct zr_buf out = {0};

		CHECK_INT(c.ntext, c.l.nleaves);
		CHECK_INT(c.njson, c.l.nlevels);
		for (uint32_t i = 0; i < c.ntext; i++)
			check_file(zr_line_new_text(&c.l, i, &opts), &c, &out,
			           &c.text[i]);
		for (uint32_t i = 0; i < c.njson; i++)
			check_file(zr_line_new_json(&c.a, &c.l, i, &opts), &c, &out,
			           &c.json[i]);
		CHECK_INT(zr_csv_header(&c.a, &c.l, &out), 0);
		check_file(zr_line_new_csv(&c.a, &c.l, &opts), &c, &out, &c.csv);
		case_done(&c);
	}
	fclose(f);
	CHECK(cases > 100);
}

static void check_bin(struct zr_bin *own_bin, const struct render_case *c,
                      const struct zr_buf *want)
{
	uint64_t size = c->a.type.size;
	uint8_t *out;

	CHECK(own_bin);
	CHECK_INT(zr_bin_len(own_bin) * c->n, want->len);
	out = malloc(want->len + 1);
	CHECK(out);
	zr_bin_put_run(own_bin, c->rec, size, c->n, out);
	CHECK(memcmp(out, want->data, want->len) == 0);
	for (uint64_t skip = 0; skip < zr_bin_len(own_bin); skip++) {
		size_t len = (size_t)(zr_bin_len(own_bin) - skip + 1) / 2;

		CHECK_INT(zr_bin_put_part(own_bin, c->rec, skip, len, out), 0);
		CHECK(memcmp(out, want->data + skip, len) == 0);
	}
	/* A fill run: the first record, again and again. */
	zr_bin_put_run(own_bin, c->rec, 0, c->n, out);
	for (uint64_t i = 0; i < c->n; i++)
		CHECK(memcmp(out + i * zr_bin_len(own_bin), want->data,
		             zr_bin_len(own_bin)) == 0);
	free(out);
	zr_bin_free(own_bin);
}

static void raw_values_are_those_of_the_model(void)
{
	FILE *f = fopen(RENDER_CASES, "r");
	struct render_case c;

	CHECK(f);
	while (case_read(f, &c)) {
		for (uint32_t i = 0; i < c.nbin; i++)
			check_bin(zr_bin_new_leaf(&c.l, i), &c, &c.bin[i]);
		if (c.nbin && c.l.is_struct)
			check_bin(zr_bin_new_record(&c.a.type), &c, &c.record);
		case_done(&c);
	}
	fclose(f);
}

/* ---- the twins ---- */

/* A run through a window of `room` bytes, as a reader of a file goes through it. */
static void check_window(const struct zr_line *line, const struct zr_array *a,
                         const uint8_t *rec, uint64_t stride, uint64_t n,
                         const uint64_t *first, uint64_t room, const struct zr_buf *want)
{
	uint64_t index[ZR_MAX_DIMS] = {0}, done = 0;
	ZR_CLEANUP(zr_buf_done) struct zr_buf got = {0};
	char *window = malloc(room);

	CHECK(window);
	memcpy(index, first, sizeof(index));
	while (done < n) {
		char *out = window;
		uint64_t k = zr_line_put_run(line, rec + done * stride, stride, n - done,
		                             index, &out, window + room);

		CHECK(k <= n - done);
		zr_buf_add(&got, window, (size_t)(out - window));
		done += k;
		if (a->ndim)
			index[a->ndim - 1] += k;
		if (k == 0) {
			add_one(line, a, rec + done * stride, index, &got);
			done++;
			if (a->ndim)
				index[a->ndim - 1]++;
		}
	}
	CHECK_MEM(got.data, got.len, want->data, want->len);
	free(window);
}

static void check_skip(const struct zr_line *line, const struct zr_array *a,
                       const uint8_t *rec, uint64_t stride, uint64_t n,
                       const uint64_t *first, uint64_t bytes)
{
	uint64_t index[ZR_MAX_DIMS] = {0}, used = 0, k = 0, got_used = 0;

	memcpy(index, first, sizeof(index));
	for (; k < n; k++) {
		uint64_t len = line_size(line, a, rec + k * stride, index);

		if (used + len > bytes)
			break;
		used += len;
		if (a->ndim)
			index[a->ndim - 1]++;
	}
	CHECK_INT(zr_line_skip_run(line, rec, stride, n, first, bytes, &got_used), k);
	CHECK_INT(got_used, used);
}

static void check_run(const struct zr_line *line, const struct zr_array *a,
                      const uint8_t *rec, uint64_t stride, uint64_t n,
                      const uint64_t *first, uint64_t *state)
{
	static const uint64_t rooms[] = {1, 40, 700, 5000, 100000};
	uint64_t index[ZR_MAX_DIMS];
	ZR_CLEANUP(zr_buf_done) struct zr_buf want = {0};

	memcpy(index, first, sizeof(index));
	for (uint64_t i = 0; i < n; i++) {
		add_one(line, a, rec + i * stride, index, &want);
		if (a->ndim)
			index[a->ndim - 1]++;
	}
	for (size_t i = 0; i < ZR_COUNT(rooms); i++)
		check_window(line, a, rec, stride, n, first, rooms[i], &want);
	check_window(line, a, rec, stride, n, first, want.len + ZR_LINE_SPARE, &want);
	for (int i = 0; i < 4; i++)
		check_skip(line, a, rec, stride, n, first,
		           random_below(state, want.len + 1));
	check_skip(line, a, rec, stride, n, first, want.len);
	check_skip(line, a, rec, stride, n, first, want.len - 1);
	check_skip(line, a, rec, stride, n, first, UINT64_MAX);
}

static void check_line(struct zr_line *own_line, const struct render_case *c,
                       uint64_t *state)
{
	uint64_t run = run_length(&c->a), size = c->a.type.size;

	CHECK(own_line);
	for (uint64_t at = 0; at < c->n; at += run) {
		uint64_t first[ZR_MAX_DIMS] = {0};
		const uint8_t *rec = c->rec + at * size;

		run_index(&c->a, at, first);
		check_run(own_line, &c->a, rec, size, run, first, state);
		if (at > 0)
			continue;
		/* A run of fill values, and one of every other record. */
		check_run(own_line, &c->a, rec, 0, run, first, state);
		check_run(own_line, &c->a, rec, 2 * size, (run + 1) / 2, first, state);
	}
	zr_line_free(own_line);
}

static void check_all_lines(const struct render_case *c, uint64_t *state)
{
	for (uint32_t i = 0; i < c->l.nleaves; i++)
		check_line(zr_line_new_text(&c->l, i, &opts), c, state);
	for (uint32_t i = 0; i < c->l.nlevels; i++)
		check_line(zr_line_new_json(&c->a, &c->l, i, &opts), c, state);
	check_line(zr_line_new_csv(&c->a, &c->l, &opts), c, state);
}

static void twins_agree_for_the_arrays_of_the_model(void)
{
	FILE *f = fopen(RENDER_CASES, "r");
	struct render_case c;
	uint64_t state = 1;

	CHECK(f);
	while (case_read(f, &c)) {
		check_all_lines(&c, &state);
		case_done(&c);
	}
	fclose(f);
}

static void twins_agree_for_random_arrays(void)
{
	uint64_t state = 20261130;

	for (int i = 0; i < 40; i++) {
		struct render_case c;

		case_random(&state, &c);
		check_all_lines(&c, &state);
		case_done(&c);
	}
}

/* ---- single promises ---- */

/* One record of a scalar type in all forms. */
static void check_scalar(const struct zr_type *t, const void *rec,
                         const struct zr_render_opts *o, const char *text,
                         const char *json)
{
	struct zr_array a = {.type = *t, .nrecords = 1};
	ZR_CLEANUP(zr_layout_done) struct zr_layout l = {0};
	struct zr_line *line;
	char out[256];

	CHECK_INT(zr_layout_build(t, &l), 0);
	line = zr_line_new_text(&l, 0, o);
	*zr_line_put_one(line, rec, NULL, out) = '\0';
	CHECK_STR(out, text);
	CHECK_INT(zr_line_len(line, rec), strlen(text));
	zr_line_free(line);
	line = zr_line_new_json(&a, &l, 0, o);
	*zr_line_put_one(line, rec, NULL, out) = '\0';
	CHECK_STR(out, json);
	CHECK_INT(zr_line_len(line, rec), strlen(json));
	zr_line_free(line);
}

static void nonfinite_numbers_are_null_or_strings(void)
{
	static const struct zr_render_opts strings = {.nonfinite = ZR_NONFINITE_STRING};
	static const struct zr_type f = {.kind = ZR_FLOAT, .flt = ZR_F32, .size = 4};
	static const struct zr_type c = {.kind = ZR_COMPLEX, .flt = ZR_F32, .size = 8};
	static const float nan_f = __builtin_nanf(""), inf_f = __builtin_inff();
	float minus = -inf_f, pair[2] = {1.5f, -inf_f};
	bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	struct zr_type ff = f, cc = c;

	ff.big = big;
	cc.big = big;
	check_scalar(&ff, &nan_f, &opts, "nan\n", "null\n");
	check_scalar(&ff, &nan_f, &strings, "nan\n", "\"NaN\"\n");
	check_scalar(&ff, &inf_f, &strings, "inf\n", "\"Infinity\"\n");
	check_scalar(&ff, &minus, &opts, "-inf\n", "null\n");
	check_scalar(&ff, &minus, &strings, "-inf\n", "\"-Infinity\"\n");
	check_scalar(&cc, pair, &opts, "1.5\t-inf\n", "[1.5,null]\n");
	check_scalar(&cc, pair, &strings, "1.5\t-inf\n", "[1.5,\"-Infinity\"]\n");
}

static void small_numbers_use_their_low_bits(void)
{
	static const struct zr_type i2 = {.kind = ZR_INT, .bits = 2, .size = 1};
	static const struct zr_type u2 = {.kind = ZR_UINT, .bits = 2, .size = 1};
	static const struct zr_type i4 = {.kind = ZR_INT, .bits = 4, .size = 1};
	static const struct zr_type u4 = {.kind = ZR_UINT, .bits = 4, .size = 1};
	static const struct zr_type bf = {.kind = ZR_FLOAT, .flt = ZR_BF16, .size = 2};
	static const struct zr_type f4 = {
		.kind = ZR_FLOAT, .flt = ZR_F4_E2M1FN, .size = 1};
	static const struct zr_type c8 = {
		.kind = ZR_COMPLEX, .flt = ZR_F8_E5M2, .size = 2};

	check_scalar(&i2, "\xfe", &opts, "-2\n", "-2\n");
	check_scalar(&i2, "\xf1", &opts, "1\n", "1\n");
	check_scalar(&u2, "\xff", &opts, "3\n", "3\n");
	check_scalar(&i4, "\x78", &opts, "-8\n", "-8\n");
	check_scalar(&i4, "\x77", &opts, "7\n", "7\n");
	check_scalar(&u4, "\x1f", &opts, "15\n", "15\n");
	check_scalar(&bf, "\xcd\x3d", &opts, "0.1\n", "0.1\n");
	check_scalar(&f4, "\xfb", &opts, "-1.5\n", "-1.5\n");
	check_scalar(&c8, "\x3c\x7e", &opts, "1.0\tnan\n", "[1.0,null]\n");
}

/* The line of one record, as a string. */
static void put_string(struct zr_line *own_line, const void *rec, char *out)
{
	uint64_t len;

	CHECK(own_line);
	len = zr_line_len(own_line, rec);
	CHECK(zr_line_put_one(own_line, rec, NULL, out) == out + len);
	CHECK(len <= zr_line_max(own_line));
	out[len] = '\0';
	zr_line_free(own_line);
}

/* What DESIGN says of each ASCII character, written down once more. */
static void want_text(char c, char *out)
{
	static const char *const names = "\\\\\tt\nn\rr";

	for (const char *p = names; *p; p += 2)
		if (*p == c) {
			sprintf(out, "\\%c", p[1]);
			return;
		}
	if (c == 0)
		strcpy(out, "\\0");
	else if (c < 32 || c == 127)
		sprintf(out, "\\x%02x", c);
	else
		sprintf(out, "%c", c);
}

static void want_json(char c, char *out)
{
	static const char *const names = "\\\\\"\"\tt\nn\rr\bb\ff";

	for (const char *p = names; *p; p += 2)
		if (*p == c) {
			sprintf(out, "\\%c", p[1]);
			return;
		}
	if (c < 32 || c == 127)
		sprintf(out, "\\u%04x", c);
	else
		sprintf(out, "%c", c);
}

static void check_ascii(char c, unsigned int at)
{
	const struct zr_type types[] = {{.kind = ZR_CHARS, .size = 10},
	                                {.kind = ZR_UTF32, .size = 40},
	                                {.kind = ZR_UTF32, .size = 40, .big = true}};
	char text[8], json[8], want[3][64], got[64];
	uint8_t recs[3][40] = {0};
	bool quoted = c == '"' || c == ',' || c == '\r' || c == '\n';

	for (unsigned int i = 0; i < 10; i++) {
		uint8_t byte = i == at ? (uint8_t)c : 'a';

		recs[0][i] = recs[1][4 * i] = recs[2][4 * i + 3] = byte;
	}
	want_text(c, text);
	want_json(c, json);
	sprintf(want[0], "%.*s%s%.*s\n", at, "aaaaaaaaaa", text, 9 - at, "aaaaaaaaaa");
	sprintf(want[1], "\"%.*s%s%.*s\"\n", at, "aaaaaaaaaa", json, 9 - at,
	        "aaaaaaaaaa");
	sprintf(want[2], "%s%.*s%s%c%.*s%s\n", quoted ? "\"" : "", at, "aaaaaaaaaa",
	        c == '"' ? "\"" : "", c ? c : 1, 9 - at, "aaaaaaaaaa",
	        quoted ? "\"" : "");
	for (size_t i = 0; i < ZR_COUNT(types); i++) {
		struct zr_array a = {.type = types[i], .nrecords = 1};
		ZR_CLEANUP(zr_layout_done) struct zr_layout l = {0};

		CHECK_INT(zr_layout_build(&types[i], &l), 0);
		put_string(zr_line_new_text(&l, 0, &opts), recs[i], got);
		CHECK_STR(got, want[0]);
		put_string(zr_line_new_json(&a, &l, 0, &opts), recs[i], got);
		CHECK_STR(got, want[1]);
		put_string(zr_line_new_csv(&a, &l, &opts), recs[i], got);
		if (c == 0)
			got[at] = 1;
		CHECK_STR(got, want[2]);
	}
}

static void every_character_is_seen_at_every_place(void)
{
	for (int c = 0; c < 128; c++)
		for (unsigned int at = 0; at < 9; at++)
			check_ascii((char)c, at);
}

/* Bounds hold for every float of 16 bits and less, and for the longest of the others. */
static void no_float_is_longer_than_its_bound(void)
{
	for (int f = ZR_F16; f <= ZR_F4_E2M1FN; f++) {
		struct zr_type t = {.kind = ZR_FLOAT,
		                    .flt = (enum zr_float)f,
		                    .size = zr_float_size((enum zr_float)f)};
		ZR_CLEANUP(zr_layout_done) struct zr_layout l = {0};
		struct zr_line *line;

		CHECK_INT(zr_layout_build(&t, &l), 0);
		line = zr_line_new_text(&l, 0, &opts);
		for (uint32_t code = 0; code < (t.size == 2 ? 65536U : 256U); code++) {
			uint8_t rec[2] = {(uint8_t)code, (uint8_t)(code >> 8)};

			CHECK(zr_line_len(line, rec) <= zr_line_max(line));
		}
		zr_line_free(line);
	}
}

static void the_longest_floats_reach_their_bound(void)
{
	static const struct {
		enum zr_float f;
		uint64_t bits;
		const char *want;
	} row[] = {
		{ZR_F64, UINT64_C(0x8010000000000000), "-2.2250738585072014e-308\n"},
		{ZR_F32, 0xda0e1bc9, "-9999999000000000.0\n"},
		{ZR_F32, 0xb9017428, "-0.0001234567\n"},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_type t = {.kind = ZR_FLOAT,
		                    .flt = row[i].f,
		                    .size = zr_float_size(row[i].f)};
		ZR_CLEANUP(zr_layout_done) struct zr_layout l = {0};
		uint8_t rec[8];
		char got[64];

		CHECK_INT(zr_layout_build(&t, &l), 0);
		zr_store_uint(rec, row[i].bits, (unsigned int)t.size, false);
		put_string(zr_line_new_text(&l, 0, &opts), rec, got);
		CHECK_STR(got, row[i].want);
	}
}

static void names_with_lone_surrogates_get_one_replacement_each(void)
{
	struct zr_field f = {.name = (char *)"a\xed\xa0\x80\xff",
	                     .name_len = 5,
	                     .count = 1,
	                     .type = {.kind = ZR_BOOL, .size = 1}};
	struct zr_type t = {.kind = ZR_STRUCT, .size = 1, .nfields = 1, .fields = &f};
	struct zr_array a = {.type = t, .nrecords = 1};
	ZR_CLEANUP(zr_layout_done) struct zr_layout l = {0};
	ZR_CLEANUP(zr_buf_done) struct zr_buf head = {0};
	struct zr_line *line;
	char out[64];

	CHECK_INT(zr_layout_build(&t, &l), 0);
	line = zr_line_new_json(&a, &l, 0, &opts);
	*zr_line_put_one(line, (const uint8_t *)"\1", NULL, out) = '\0';
	CHECK_STR(out, "{\"a\xef\xbf\xbd\xef\xbf\xbd\":true}\n");
	CHECK_INT(zr_csv_header(&a, &l, &head), 0);
	CHECK_MEM(head.data, head.len, "a\xef\xbf\xbd\xef\xbf\xbd\n", 8);
	zr_line_free(line);
}

static void endless_header_lines_are_refused(void)
{
	static uint64_t shape[] = {UINT64_C(1) << 25};
	static char name[1 << 20];
	struct zr_field f = {.name = name,
	                     .name_len = sizeof(name),
	                     .ndim = 1,
	                     .shape = shape,
	                     .count = UINT64_C(1) << 25,
	                     .type = {.kind = ZR_BOOL, .size = 1}};
	struct zr_type t = {
		.kind = ZR_STRUCT, .size = f.count, .nfields = 1, .fields = &f};
	struct zr_array a = {.type = t, .nrecords = 1};
	ZR_CLEANUP(zr_layout_done) struct zr_layout l = {0};
	struct zr_buf head = {0};

	memset(name, 'n', sizeof(name));
	CHECK_INT(zr_layout_build(&t, &l), 0);
	CHECK_INT(zr_csv_header(&a, &l, &head), -EFBIG);
	CHECK(head.data == NULL);
}

/* A never-written array of 2^60 records: nothing may take time for each. */
static void long_fill_runs_are_skipped_in_closed_form(void)
{
	struct zr_type t = {.kind = ZR_BOOL, .size = 1};
	struct zr_array a = {.type = t, .ndim = 2, .shape = {1, UINT64_C(1) << 60}};
	ZR_CLEANUP(zr_layout_done) struct zr_layout l = {0};
	uint64_t index[2] = {0, 0}, used, n = UINT64_C(1) << 60;
	struct zr_line *text, *csv;

	CHECK_INT(zr_layout_build(&t, &l), 0);
	text = zr_line_new_text(&l, 0, &opts);
	CHECK(zr_line_skip_run(text, (const uint8_t *)"", 0, n, index, UINT64_MAX,
	                       &used) == n);
	CHECK(used == 2 * n);
	CHECK_INT(zr_line_skip_run(text, (const uint8_t *)"", 0, n, index, 1001, &used),
	          500);
	/* 0,0,0 LF ... 0,9,0 LF: 6 bytes; 0,10,0 LF: 7 bytes */
	csv = zr_line_new_csv(&a, &l, &opts);
	CHECK_INT(zr_line_skip_run(csv, (const uint8_t *)"", 0, n, index, 60 + 7 * 90 + 7,
	                           &used),
	          100);
	CHECK_INT(used, 60 + 7 * 90);
	CHECK(zr_line_skip_run(csv, (const uint8_t *)"", 0, n, index, UINT64_C(1) << 62,
	                       &used) < n);
	zr_line_free(text);
	zr_line_free(csv);
}

int main(void)
{
	RUN(lines_of_random_arrays_are_those_of_the_model);
	RUN(raw_values_are_those_of_the_model);
	RUN(twins_agree_for_the_arrays_of_the_model);
	RUN(twins_agree_for_random_arrays);
	RUN(nonfinite_numbers_are_null_or_strings);
	RUN(small_numbers_use_their_low_bits);
	RUN(every_character_is_seen_at_every_place);
	RUN(no_float_is_longer_than_its_bound);
	RUN(the_longest_floats_reach_their_bound);
	RUN(names_with_lone_surrogates_get_one_replacement_each);
	RUN(endless_header_lines_are_refused);
	RUN(long_fill_runs_are_skipped_in_closed_form);
	return EXIT_SUCCESS;
}
