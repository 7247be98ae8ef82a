/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <errno.h>

#include "bounds.h"
#include "json.h"
#include "render.h"
#include "test.h"
#include "utf8.h"

enum file { FILE_TEXT, FILE_JSON, FILE_CSV };

/* Counts; a quoted cell may hold anything. */
size_t check_csv_cells(const char *text, size_t len)
{
	size_t cells = 1, first = 0;
	bool quoted = false;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == '"')
			quoted = !quoted; /* a doubled one is left and entered again */
		else if (quoted)
			continue;
		else if (text[i] == ',')
			cells++;
		if (text[i] != '\n')
			continue;
		if (first && cells != first)
			return 0;
		first = cells;
		cells = 1;
	}
	return quoted ? 0 : first;
}

static void check_line_text(enum file file, const char *text, size_t len)
{
	CHECK(len > 0 && text[len - 1] == '\n');
	if (file == FILE_CSV) { /* what is quoted stands there as it is */
		CHECK_INT(zr_utf8_valid_prefix((const uint8_t *)text, len), len);
		return;
	}
	check_clean(text, len - 1, file == FILE_TEXT ? "\t" : "");
	if (file == FILE_JSON) {
		struct zr_json_slice none = zr_json_member(text, len, "");

		(void)none;
		CHECK_INT(zr_json_check(text, len, NULL), 0);
	}
}

static uint64_t index_digits(const struct zr_array *a, const uint64_t *index)
{
	char digits[32];
	uint64_t n = 0;

	for (uint32_t k = 0; k < a->ndim; k++)
		n += (uint64_t)snprintf(digits, sizeof(digits), "%llu",
		                        (unsigned long long)index[k]);
	return n;
}

/* The line of one record in all ways to make it. measured: what the twin said. */
static void check_line(const struct zr_array *a, struct zr_line *line, enum file file,
                       const uint8_t *record, uint64_t measured)
{
	uint64_t index[ZR_MAX_DIMS] = {0}, len = zr_line_len(line, record), skipped;
	char *text, *end;

	CHECK(measured == len && len > 0);
	for (uint32_t k = 0; k < a->ndim; k++)
		index[k] = a->shape[k] ? a->shape[k] - 1 : 0;
	if (zr_line_has_index(line))
		len += index_digits(a, index);
	CHECK(len <= zr_line_max(line));
	if (len > CHECK_MAX_LINE)
		return;
	text = malloc(2 * len + ZR_LINE_SPARE); /* not a byte more */
	CHECK(text);
	CHECK(zr_line_put_one(line, record, index, text) == text + len);
	check_line_text(file, text, len);
	end = text + len;
	/* The same line by way of a run, where there is exactly its room. */
	if (zr_line_put_run(line, record, 0, 1, index, &end,
	                    text + 2 * len + ZR_LINE_SPARE) == 1)
		CHECK(end == text + 2 * len && memcmp(text, text + len, len) == 0);
	else
		CHECK(end == text + len);
	CHECK(zr_line_skip_run(line, record, 0, 1, index, len, &skipped) == 1);
	CHECK(skipped == len);
	CHECK(zr_line_skip_run(line, record, 0, 1, index, len - 1, &skipped) == 0);
	free(text);
}

static void check_csv(const struct zr_array *a, const struct zr_layout *l,
                      const struct zr_line *line, const uint8_t *record)
{
	struct zr_buf text = {0};
	uint64_t index[ZR_MAX_DIMS] = {0};
	uint64_t len = zr_line_len(line, record);
	int r = zr_csv_header(a, l, &text);

	CHECK(r == 0 || r == -EFBIG);
	if (r == 0 && len <= CHECK_MAX_LINE) {
		CHECK_INT(zr_buf_reserve(&text,
		                         (size_t)len + 20 * ZR_MAX_DIMS + ZR_LINE_SPARE),
		          0);
		text.len = (size_t)(zr_line_put_one(line, record, index,
		                                    (char *)text.data + text.len) -
		                    (char *)text.data);
		CHECK(check_csv_cells((char *)text.data, text.len) > 0);
	}
	zr_buf_done(&text);
}

/* own_b NULL: a form that the type does not have. */
static void check_bin(struct zr_bin *own_b, const uint8_t *record, bool is_text)
{
	uint64_t len = zr_bin_len(own_b);
	uint8_t *whole, *part;

	if (len > CHECK_MAX_LINE) {
		zr_bin_free(own_b);
		return;
	}
	whole = malloc(len + 1);
	part = malloc(len + 1);
	CHECK(whole && part);
	zr_bin_put_run(own_b, record, 0, 1, whole);
	for (uint64_t at = 0, n = 1; at < len; at += n, n = 2 * n + 1) {
		n = ZR_MIN(n, len - at);
		CHECK_INT(zr_bin_put_part(own_b, record, at, (size_t)n, part + at), 0);
	}
	if (len > 0) {
		CHECK(memcmp(whole, part, len) == 0);
		if (is_text) {
			CHECK(whole[len - 1] == '\n');
			check_clean(whole, len - 1, "\t");
		}
	}
	free(whole);
	free(part);
	zr_bin_free(own_b);
}

static void check_lines(const struct zr_array *a, const struct zr_layout *l,
                        const uint8_t *record, const struct zr_render_opts *o)
{
	struct zr_measure *m = zr_measure_new(a, l, o);
	uint64_t *sums;
	uint32_t n;

	CHECK(m);
	n = zr_measure_files(m);
	CHECK(n == l->nleaves + l->nlevels + 1);
	sums = calloc(n, sizeof(*sums));
	CHECK(sums);
	zr_measure_run(m, record, 0, 1, sums);
	for (uint32_t i = 0; i < n; i++) {
		enum file file = i < l->nleaves ? FILE_TEXT
		                 : i < n - 1    ? FILE_JSON
		                                : FILE_CSV;
		struct zr_line *line = file == FILE_TEXT ? zr_line_new_text(l, i, o)
		                       : file == FILE_JSON
		                               ? zr_line_new_json(a, l, i - l->nleaves, o)
		                               : zr_line_new_csv(a, l, o);

		CHECK(line);
		check_line(a, line, file, record, sums[i]);
		if (file == FILE_CSV)
			check_csv(a, l, line, record);
		zr_line_free(line);
	}
	free(sums);
	zr_measure_free(m);
}

void check_record(const struct zr_array *a, const struct zr_layout *l,
                  const uint8_t *record)
{
	struct zr_render_opts o = {.nonfinite = ZR_NONFINITE_NULL};

	if (a->type.size > CHECK_MAX_RECORD)
		return;
	check_lines(a, l, record, &o);
	o.nonfinite = ZR_NONFINITE_STRING;
	check_lines(a, l, record, &o);
	if (zr_type_is_variable(&a->type))
		return;
	for (uint32_t i = 0; i < l->nleaves; i++) {
		check_bin(zr_bin_new_leaf(l, i), record, false);
		check_bin(zr_bin_new_text(l, i, &o), record, true);
	}
	check_bin(zr_bin_new_record(&a->type), record, false);
}
