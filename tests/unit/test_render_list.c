/* SPDX-License-Identifier: MIT */
#include "test.h"
#include "array.h"
#include "layout.h"
#include "render.h"

static struct zr_field field = {.count = 1};
static struct zr_array array = {.ndim = 1,
                                .type = {.kind = ZR_LIST,
                                         .size = sizeof(struct zr_item),
                                         .nfields = 1,
                                         .fields = &field}};

/* One list in one form: what is written, and what was measured. */
static void check_line(struct zr_line *own_line, const struct zr_item *item,
                       const char *want)
{
	char buf[256], *end;
	uint64_t len;

	CHECK(own_line);
	CHECK(zr_line_max(own_line) == UINT64_MAX);
	len = zr_line_len(own_line, (const uint8_t *)item);
	CHECK_INT(len, strlen(want));
	end = zr_line_put_one(own_line, (const uint8_t *)item, NULL, buf);
	*end = '\0';
	CHECK_STR(buf, want);
	zr_line_free(own_line);
}

static void check(const void *elements, size_t len, const char *text, const char *json,
                  const char *csv)
{
	struct zr_item item = {(const uint8_t *)elements, len};
	struct zr_render_opts o = {0};
	struct zr_layout l = {0};
	struct zr_measure *m;
	uint64_t sums[3] = {0};

	CHECK_INT(zr_layout_build(&array.type, &l), 0);
	check_line(zr_line_new_text(&l, 0, &o), &item, text);
	check_line(zr_line_new_json(&array, &l, 0, &o), &item, json);
	check_line(zr_line_new_csv(&array, &l, &o), &item, csv);
	m = zr_measure_new(&array, &l, &o);
	CHECK(m);
	CHECK_INT(zr_measure_files(m), 3);
	zr_measure_run(m, (const uint8_t *)&item, sizeof(item), 1, sums);
	CHECK_INT(sums[0], strlen(text));
	CHECK_INT(sums[1], strlen(json));
	CHECK_INT(sums[2], strlen(csv));
	zr_measure_free(m);
	zr_layout_done(&l);
}

static void integers_stand_in_a_row(void)
{
	field.type = (struct zr_type){.kind = ZR_INT, .bits = 16, .size = 2, .big = true};
	check("\0\1\377\376\x7f\377", 6, "1\t-2\t32767\n", "[1,-2,32767]\n",
	      "1\t-2\t32767\n");
	check("\0\5", 2, "5\n", "[5]\n", "5\n");
	check("", 0, "\n", "[]\n", "\"\"\n");
}

static void other_elements_look_as_ever(void)
{
	static const double real[] = {0.1, -1.0 / 0.0, 5};
	static const uint64_t days[] = {0, UINT64_C(1) << 63};

	field.type = (struct zr_type){.kind = ZR_FLOAT, .flt = ZR_F64, .size = 8};
	field.type.big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	check(real, sizeof(real), "0.1\t-inf\t5.0\n", "[0.1,null,5.0]\n",
	      "0.1\t-inf\t5.0\n");
	field.type = (struct zr_type){
		.kind = ZR_DATETIME, .unit = ZR_DAY, .scale = 1, .size = 8};
	field.type.big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	check(days, sizeof(days), "1970-01-01\tNaT\n", "[\"1970-01-01\",null]\n",
	      "1970-01-01\tNaT\n");
	field.type = (struct zr_type){.kind = ZR_BOOL, .size = 1};
	check("\0\1", 2, "0\t1\n", "[false,true]\n", "0\t1\n");
}

/* In an array of two dimensions an empty cell is not alone. */
static void an_empty_list_is_an_empty_cell(void)
{
	struct zr_item item = {NULL, 0};
	struct zr_render_opts o = {0};
	struct zr_layout l = {0};
	struct zr_line *line;
	uint64_t index[2] = {0, 7};
	char buf[64], *end;

	array.ndim = 2;
	CHECK_INT(zr_layout_build(&array.type, &l), 0);
	line = zr_line_new_csv(&array, &l, &o);
	end = zr_line_put_one(line, (const uint8_t *)&item, index, buf);
	*end = '\0';
	CHECK_STR(buf, "0,7,\n");
	zr_line_free(line);
	zr_layout_done(&l);
	array.ndim = 1;
}

int main(void)
{
	RUN(integers_stand_in_a_row);
	RUN(other_elements_look_as_ever);
	RUN(an_empty_list_is_an_empty_cell);
	return EXIT_SUCCESS;
}
