/* SPDX-License-Identifier: MIT */
#include "test.h"
#include "dtype.h"

static char *copy_name(const char *s)
{
	char *p = strdup(s);

	CHECK(p);
	return p;
}

static void float_sizes_follow_the_formats(void)
{
	CHECK_INT(zr_float_size(ZR_F64), 8);
	CHECK_INT(zr_float_size(ZR_F32), 4);
	CHECK_INT(zr_float_size(ZR_F16), 2);
	CHECK_INT(zr_float_size(ZR_BF16), 2);
	for (enum zr_float f = ZR_F8_E3M4; f <= ZR_F4_E2M1FN; f++)
		CHECK_INT(zr_float_size(f), 1);
}

static void swap_unit_is_what_is_reversed_together(void)
{
	static const struct {
		struct zr_type type;
		unsigned int want;
	} row[] = {
		{{.kind = ZR_BOOL, .size = 1}, 1},
		{{.kind = ZR_INT, .bits = 64, .size = 8}, 8},
		{{.kind = ZR_UINT, .bits = 4, .size = 1}, 1},
		{{.kind = ZR_FLOAT, .flt = ZR_F16, .size = 2}, 2},
		{{.kind = ZR_COMPLEX, .flt = ZR_F64, .size = 16}, 8},
		{{.kind = ZR_COMPLEX, .flt = ZR_F8_E5M2, .size = 2}, 1},
		{{.kind = ZR_UTF32, .size = 40}, 4},
		{{.kind = ZR_CHARS, .size = 7}, 1},
		{{.kind = ZR_RAW, .size = 8}, 1},
		{{.kind = ZR_DATETIME, .size = 8}, 8},
		{{.kind = ZR_TIMEDELTA, .size = 8}, 8},
		{{.kind = ZR_STRING, .size = sizeof(struct zr_item)}, 1},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		CHECK_INT(zr_type_swap_unit(&row[i].type), row[i].want);
		CHECK_INT(zr_type_has_order(&row[i].type), row[i].want > 1);
	}
}

static void variable_types_are_told_apart(void)
{
	for (enum zr_kind k = ZR_BOOL; k <= ZR_LIST; k++) {
		struct zr_type t = {.kind = k};

		CHECK_INT(zr_type_is_variable(&t), k == ZR_STRING || k == ZR_VBYTES ||
		                                           k == ZR_JSON || k == ZR_LIST);
	}
}

/* {n int16, in {u utf32[1], pad raw 1, c complex64} (2,)} = 2 + 2 * 13 bytes */
static struct zr_type nested_type(void)
{
	struct zr_type in = {.kind = ZR_STRUCT, .size = 13, .nfields = 3};
	struct zr_type out = {.kind = ZR_STRUCT, .size = 28, .nfields = 2};

	in.fields = calloc(3, sizeof(*in.fields));
	out.fields = calloc(2, sizeof(*out.fields));
	CHECK(in.fields && out.fields);
	in.fields[0] = (struct zr_field){.name = copy_name("u"),
	                                 .name_len = 1,
	                                 .count = 1,
	                                 .type = {.kind = ZR_UTF32, .size = 4}};
	in.fields[1] = (struct zr_field){.name = copy_name("pad"),
	                                 .name_len = 3,
	                                 .offset = 4,
	                                 .count = 1,
	                                 .type = {.kind = ZR_RAW, .size = 1}};
	in.fields[2] =
		(struct zr_field){.name = copy_name("c"),
	                          .name_len = 1,
	                          .offset = 5,
	                          .count = 1,
	                          .type = {.kind = ZR_COMPLEX, .flt = ZR_F32, .size = 8}};
	out.fields[0] =
		(struct zr_field){.name = copy_name("n"),
	                          .name_len = 1,
	                          .count = 1,
	                          .type = {.kind = ZR_INT, .bits = 16, .size = 2}};
	out.fields[1] = (struct zr_field){.name = copy_name("in"),
	                                  .name_len = 2,
	                                  .offset = 2,
	                                  .ndim = 1,
	                                  .shape = calloc(1, sizeof(uint64_t)),
	                                  .count = 2,
	                                  .type = in};
	CHECK(out.fields[1].shape);
	out.fields[1].shape[0] = 2;
	return out;
}

static void record_is_swapped_leaf_by_leaf(void)
{
	static const uint8_t little[28] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
	                                   11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
	                                   21, 22, 23, 24, 25, 26, 27, 28};
	static const uint8_t big[28] = {2,  1,  6,  5,  4,  3,  7,  11, 10, 9,
	                                8,  15, 14, 13, 12, 19, 18, 17, 16, 20,
	                                24, 23, 22, 21, 28, 27, 26, 25};
	ZR_CLEANUP(zr_type_done) struct zr_type t = nested_type();
	uint8_t rec[28];

	memcpy(rec, little, sizeof(rec));
	zr_type_swap_record(&t, rec);
	CHECK_MEM(rec, sizeof(rec), little, sizeof(little));

	zr_type_set_order(&t, true);
	zr_type_swap_record(&t, rec);
	CHECK_MEM(rec, sizeof(rec), big, sizeof(big));
	zr_type_swap_record(&t, rec);
	CHECK_MEM(rec, sizeof(rec), little, sizeof(little));
}

static void every_leaf_has_an_order_of_its_own(void)
{
	ZR_CLEANUP(zr_type_done) struct zr_type t = nested_type();
	uint8_t rec[28] = {1, 2, 3, 4, 5, 6};

	t.fields[0].type.big = true;
	zr_type_swap_record(&t, rec);
	CHECK_MEM(rec, 6, "\2\1\3\4\5\6", 6);
}

static void order_is_found_at_any_depth(void)
{
	ZR_CLEANUP(zr_type_done) struct zr_type t = nested_type();
	struct zr_type *in = &t.fields[1].type;

	CHECK(zr_type_has_order(&t));
	t.fields[0].type = (struct zr_type){.kind = ZR_BOOL, .size = 1};
	in->fields[0].type = (struct zr_type){.kind = ZR_CHARS, .size = 4};
	CHECK(zr_type_has_order(&t));
	in->fields[2].type = (struct zr_type){.kind = ZR_RAW, .size = 8};
	CHECK(!zr_type_has_order(&t));
}

static void done_leaves_an_empty_type(void)
{
	struct zr_type t = nested_type();

	zr_type_done(&t);
	CHECK(!t.fields && t.nfields == 0 && t.size == 0);
	zr_type_done(&t);
	zr_type_done(NULL);
}

int main(void)
{
	RUN(float_sizes_follow_the_formats);
	RUN(swap_unit_is_what_is_reversed_together);
	RUN(variable_types_are_told_apart);
	RUN(record_is_swapped_leaf_by_leaf);
	RUN(every_leaf_has_an_order_of_its_own);
	RUN(order_is_found_at_any_depth);
	RUN(done_leaves_an_empty_type);
	return EXIT_SUCCESS;
}
