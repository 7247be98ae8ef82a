/* SPDX-License-Identifier: MIT */
#include "render.h"

#include "render_case.h"

static const struct zr_render_opts opts = {.fixed_text = true};

/* ---- whole files against the model: its lines, cut at TABs and padded ---- */

static uint64_t width_of(const struct zr_type *t)
{
	static const uint8_t ints[] = {4, 6, 11, 20}, uints[] = {3, 5, 10, 20};
	static const uint8_t floats[] = {11, 19, 24};
	static const uint8_t dates[] = {20, 20, 22, 25, 24, 26, 27,
	                                28, 29, 29, 29, 32, 35, 38};
	uint64_t size = t->kind == ZR_COMPLEX ? t->size / 2 : t->size;
	int log = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;

	switch (t->kind) {
	case ZR_BOOL:
		return 1;
	case ZR_INT:
		return ints[log];
	case ZR_UINT:
		return uints[log];
	case ZR_FLOAT:
	case ZR_COMPLEX:
		return floats[log - 1];
	case ZR_UTF32:
		return t->size;
	case ZR_CHARS:
		return 4 * t->size;
	case ZR_RAW:
		return 2 * t->size;
	case ZR_DATETIME:
		return dates[t->unit] + (t->scale > 1 && t->unit ? 10u : 0);
	default:
		return 20;
	}
}

static void add_cell(struct zr_buf *b, const char *text, size_t len, uint64_t width,
                     bool left)
{
	CHECK(len <= width);
	if (left)
		zr_buf_add(b, text, len);
	zr_buf_addf(b, "%*s", (int)(width - len), "");
	if (!left)
		zr_buf_add(b, text, len);
}

static struct zr_buf pad_file(const struct zr_buf *text, const struct zr_column *c)
{
	bool left = c->type->kind == ZR_UTF32 || c->type->kind == ZR_CHARS ||
	            c->type->kind == ZR_RAW;
	const char *at = (char *)text->data, *end = at + text->len;
	struct zr_buf b = {0};

	while (at < end) {
		size_t len = strcspn(at, "\t\n");

		add_cell(&b, at, len, c->count ? width_of(c->type) : 0, left);
		zr_buf_addc(&b, at[len]);
		at += len + 1;
	}
	return b;
}

static void check_parts(const struct zr_bin *b, const uint8_t *rec, const uint8_t *want)
{
	uint64_t len = zr_bin_len(b), state = len + 1;
	uint8_t out[400];

	for (int i = 0; i < 40; i++) {
		uint64_t skip = random_below(&state, len);
		uint64_t n =
			random_below(&state, ZR_MIN(len - skip, sizeof(out) - 1) + 1);

		out[n] = 0x5a;
		CHECK_INT(zr_bin_put_part(b, rec, skip, n, out), 0);
		CHECK(memcmp(out, want + skip, n) == 0);
		CHECK_INT(out[n], 0x5a);
	}
}

static void check_leaf(const struct render_case *c, uint32_t leaf)
{
	struct zr_buf want, *text = (struct zr_buf *)&c->text[leaf];
	struct zr_bin *b = zr_bin_new_text(&c->l, leaf, &opts);
	uint8_t *out;

	CHECK(b);
	zr_buf_addc(text, '\0');
	text->len--;
	want = pad_file(text, &c->l.leaves[leaf]);
	CHECK_INT(zr_bin_len(b) * c->n, want.len);
	out = malloc(want.len);
	CHECK(out);
	zr_bin_put_run(b, c->rec, c->a.type.size, c->n, out);
	CHECK_MEM(out, want.len, want.data, want.len);
	check_parts(b, c->rec, want.data);
	/* A fill run: the first record, again and again. */
	zr_bin_put_run(b, c->rec, 0, c->n, out);
	CHECK(memcmp(out + (c->n - 1) * zr_bin_len(b), want.data, zr_bin_len(b)) == 0);
	free(out);
	zr_buf_done(&want);
	zr_bin_free(b);
}

static void columns_are_the_padded_lines_of_the_model(void)
{
	FILE *f = fopen(RENDER_CASES, "r");
	struct render_case c;
	int leaves = 0;

	CHECK(f);
	while (case_read(f, &c)) {
		for (uint32_t i = 0; i < c.ntext; i++) {
			if (zr_type_is_variable(c.l.leaves[i].type))
				continue;
			check_leaf(&c, i);
			leaves++;
		}
		case_done(&c);
	}
	fclose(f);
	CHECK(leaves > 200);
}

/* ---- one value ---- */

static char *line_of(const struct zr_type *t, const void *value)
{
	static char line[200];
	struct zr_layout l;
	struct zr_bin *b;

	CHECK_INT(zr_layout_build(t, &l), 0);
	b = zr_bin_new_text(&l, 0, &opts);
	CHECK(b);
	CHECK(zr_bin_len(b) < sizeof(line));
	zr_bin_put_run(b, value, 0, 1, (uint8_t *)line);
	line[zr_bin_len(b)] = '\0';
	zr_bin_free(b);
	zr_layout_done(&l);
	return line;
}

/* The longest of each kind, and what has no digits. */
static void values_fill_their_columns(void)
{
	static const struct {
		struct zr_type t;
		const char *value; /* hexadecimal, little-endian */
		const char *line;
	} row[] = {
		{{.kind = ZR_INT, .bits = 8, .size = 1}, "80", "-128\n"},
		{{.kind = ZR_UINT, .bits = 16, .size = 2}, "0700", "    7\n"},
		{{.kind = ZR_INT, .bits = 64, .size = 8},
	         "0000000000000080",
	         "-9223372036854775808\n"},
		{{.kind = ZR_UINT, .bits = 64, .size = 8},
	         "ffffffffffffffff",
	         "18446744073709551615\n"},
		{{.kind = ZR_INT, .bits = 4, .size = 1}, "f8", "-8\n"},
		{{.kind = ZR_UINT, .bits = 2, .size = 1}, "fe", " 2\n"},
		{{.kind = ZR_BOOL, .size = 1}, "02", "1\n"},
		{{.kind = ZR_FLOAT, .flt = ZR_F64, .size = 8},
	         "d807263bfea1e3bf",
	         "     -0.6135245471234567\n"},
		{{.kind = ZR_FLOAT, .flt = ZR_F64, .size = 8},
	         "0000000000001080",
	         "-2.2250738585072014e-308\n"},
		{{.kind = ZR_FLOAT, .flt = ZR_F32, .size = 4},
	         "0000c0ff",
	         "                nan\n"},
		{{.kind = ZR_FLOAT, .flt = ZR_F32, .size = 4},
	         "000080ff",
	         "               -inf\n"},
		{{.kind = ZR_FLOAT, .flt = ZR_BF16, .size = 2},
	         "803f",
	         "                1.0\n"},
		{{.kind = ZR_COMPLEX, .flt = ZR_F32, .size = 8},
	         "0000803f000000c0",
	         "                1.0\t               -2.0\n"},
		{{.kind = ZR_DATETIME, .unit = ZR_DAY, .scale = 1, .size = 8},
	         "0000000000000080",
	         "                     NaT\n"},
		{{.kind = ZR_DATETIME, .unit = ZR_DAY, .scale = 1, .size = 8},
	         "0100000000000000",
	         "              1970-01-02\n"},
		{{.kind = ZR_DATETIME, .unit = ZR_DAY, .scale = 2, .size = 8},
	         "0100000000000000",
	         "                        1970-01-03\n"},
		{{.kind = ZR_TIMEDELTA, .unit = ZR_NS, .scale = 7, .size = 8},
	         "ffffffffffffffff",
	         "                  -1\n"},
		{{.kind = ZR_UTF32, .size = 8}, "410000000a000000", "A\\n     \n"},
		{{.kind = ZR_UTF32, .size = 4}, "9b000000", "\\x9b\n"},
		{{.kind = ZR_CHARS, .size = 2}, "fffe", "\\xff\\xfe\n"},
		{{.kind = ZR_CHARS, .size = 2}, "0000", "        \n"},
		{{.kind = ZR_CHARS, .size = 0}, "-", "\n"},
		{{.kind = ZR_RAW, .size = 3}, "00ff10", "00ff10\n"},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_buf value = {0};

		case_hex(row[i].value, &value);
		CHECK_STR(line_of(&row[i].t, value.data), row[i].line);
		zr_buf_done(&value);
	}
}

static void dates_of_all_counts_fit(void)
{
	static const int64_t counts[] = {INT64_MIN + 1, INT64_MAX, INT64_MIN, 0, -1};
	static const uint32_t scales[] = {1, 2, INT32_MAX};

	for (unsigned int unit = ZR_GENERIC; unit <= ZR_AS; unit++) {
		for (size_t i = 0; i < ZR_COUNT(counts) * ZR_COUNT(scales); i++) {
			struct zr_type t = {.kind = ZR_DATETIME,
			                    .unit = (enum zr_unit)unit,
			                    .scale = scales[i % 3],
			                    .size = 8};
			uint8_t value[8];
			char *line;

			zr_store_uint(value, (uint64_t)counts[i / 3], 8, false);
			line = line_of(&t, value);
			CHECK_INT(strlen(line), width_of(&t) + 1);
			CHECK_INT(strcspn(line, "\n"), width_of(&t));
		}
	}
}

int main(void)
{
	RUN(columns_are_the_padded_lines_of_the_model);
	RUN(values_fill_their_columns);
	RUN(dates_of_all_counts_fit);
	return EXIT_SUCCESS;
}
