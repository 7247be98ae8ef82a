/* SPDX-License-Identifier: MIT */
#include "test.h"
#include "layout.h"

#include <errno.h>

static uint64_t shape_3_2[] = {3, 2};
static uint64_t shape_4[] = {4};
static uint64_t shape_0_5[] = {0, 5};
static uint64_t shape_huge[] = {UINT64_C(1) << 40, UINT64_C(1) << 40};

#define NAME(s) .name = (char *)(s), .name_len = sizeof(s) - 1
#define SCALAR(k, n)                                                                     \
	{                                                                                \
		.kind = (k), .size = (n), .bits = 8 * (n)                                \
	}

/* {a u2, (hidden) V3, s(3,2){x u1, t(4){y u4, z u1}, e(0,5) u8}, b u1}, sizes packed. */
static struct zr_field fields_t[] = {
	{NAME("y"), .offset = 0, .count = 1, .type = SCALAR(ZR_UINT, 4)},
	{NAME("z"), .offset = 4, .count = 1, .type = SCALAR(ZR_UINT, 1)},
};
static struct zr_field fields_s[] = {
	{NAME("x"), .offset = 0, .count = 1, .type = SCALAR(ZR_UINT, 1)},
	{NAME("t"), .offset = 1, .ndim = 1, .shape = shape_4, .count = 4,
         .type = {.kind = ZR_STRUCT, .size = 5, .nfields = 2, .fields = fields_t}},
	{NAME("e"), .offset = 21, .ndim = 2, .shape = shape_0_5, .count = 0,
         .type = SCALAR(ZR_UINT, 8)},
};
static struct zr_field fields_top[] = {
	{NAME("a"), .offset = 0, .count = 1, .type = SCALAR(ZR_UINT, 2)},
	{NAME(""), .hidden = true, .offset = 2, .count = 1,
         .type = {.kind = ZR_RAW, .size = 3}},
	{NAME("s"), .offset = 5, .ndim = 2, .shape = shape_3_2, .count = 6,
         .type = {.kind = ZR_STRUCT, .size = 21, .nfields = 3, .fields = fields_s}},
	{NAME("b"), .offset = 131, .count = 1, .type = SCALAR(ZR_UINT, 1)},
};
static const struct zr_type top = {
	.kind = ZR_STRUCT, .size = 132, .nfields = 4, .fields = fields_top};

static void check_axis(const struct zr_column *c, uint32_t i, uint64_t count,
                       uint64_t stride)
{
	CHECK(i < c->naxes);
	CHECK_INT(c->axes[i].count, count);
	CHECK_INT(c->axes[i].stride, stride);
}

static void scalar_array_has_one_leaf_named_values(void)
{
	struct zr_type t = SCALAR(ZR_INT, 4);
	ZR_CLEANUP(zr_layout_done) struct zr_layout l = {0};

	CHECK_INT(zr_layout_build(&t, &l), 0);
	CHECK(!l.is_struct);
	CHECK_INT(l.nlevels, 1);
	CHECK_INT(l.nleaves, 1);
	CHECK(l.leaves[0].type == &t);
	CHECK_MEM(l.leaves[0].name, l.leaves[0].name_len, "values", 6);
	CHECK_INT(l.leaves[0].count, 1);
	CHECK_INT(l.leaves[0].naxes, 0);
	CHECK(l.levels[0].type == &t);
	CHECK(l.levels[0].name == NULL);
}

static void nested_fields_are_numbered_depth_first(void)
{
	static const char *const leaves[] = {"a", "x", "y", "z", "e", "b"};
	static const uint32_t parents[] = {0, 1, 2, 2, 1, 0};
	static const uint64_t offsets[] = {0, 5, 6, 10, 26, 131};
	static const uint64_t counts[] = {1, 6, 24, 24, 0, 1};
	static const uint32_t naxes[] = {0, 2, 3, 3, 4, 0};
	static const uint64_t extents[] = {2, 106, 124, 121, 0, 1};
	ZR_CLEANUP(zr_layout_done) struct zr_layout l = {0};

	CHECK_INT(zr_layout_build(&top, &l), 0);
	CHECK(l.is_struct);
	CHECK_INT(l.nlevels, 3);
	CHECK_INT(l.nleaves, 6);
	for (uint32_t i = 0; i < l.nleaves; i++) {
		CHECK_INT(zr_column_extent(&l.leaves[i]), extents[i]);
		CHECK_MEM(l.leaves[i].name, l.leaves[i].name_len, leaves[i], 1);
		CHECK_INT(l.leaves[i].parent, parents[i]);
		CHECK_INT(l.leaves[i].offset, offsets[i]);
		CHECK_INT(l.leaves[i].count, counts[i]);
		CHECK_INT(l.leaves[i].naxes, naxes[i]);
	}
	CHECK_MEM(l.levels[1].name, l.levels[1].name_len, "s", 1);
	CHECK_MEM(l.levels[2].name, l.levels[2].name_len, "t", 1);
	CHECK_INT(l.levels[2].parent, 1);
	CHECK_INT(l.levels[2].offset, 6);
}

static void axes_of_the_structs_above_come_first(void)
{
	ZR_CLEANUP(zr_layout_done) struct zr_layout l = {0};

	CHECK_INT(zr_layout_build(&top, &l), 0);
	check_axis(&l.leaves[3], 0, 3, 42);
	check_axis(&l.leaves[3], 1, 2, 21);
	check_axis(&l.leaves[3], 2, 4, 5);
	check_axis(&l.levels[2], 2, 4, 5);
	CHECK_INT(l.leaves[4].axes[2].count, 0);
	CHECK_INT(l.leaves[4].axes[3].count, 5);
	CHECK_INT(l.leaves[4].axes[3].stride, 8);
}

static void a_type_without_a_leaf_is_refused(void)
{
	struct zr_field pad = {
		.hidden = true, .count = 1, .type = {.kind = ZR_RAW, .size = 3}};
	struct zr_type t = {.kind = ZR_STRUCT, .size = 3, .nfields = 1, .fields = &pad};
	struct zr_layout l = {0};

	CHECK_INT(zr_layout_build(&t, &l), -EINVAL);
	CHECK(l.levels == NULL);
}

static void too_many_fields_are_refused(void)
{
	static struct zr_field f[ZR_MAX_FIELDS + 1];
	struct zr_type t = {.kind = ZR_STRUCT, .nfields = ZR_MAX_FIELDS, .fields = f};
	ZR_CLEANUP(zr_layout_done) struct zr_layout l = {0};

	for (size_t i = 0; i < ZR_COUNT(f); i++)
		f[i] = (struct zr_field){NAME("f"), .count = 1,
		                         .type = SCALAR(ZR_INT, 1)};
	CHECK_INT(zr_layout_build(&t, &l), 0);
	zr_layout_done(&l);
	t.nfields++;
	CHECK_INT(zr_layout_build(&t, &l), -EOVERFLOW);
}

static void structs_nested_too_deeply_are_refused(void)
{
	struct zr_field f[ZR_MAX_STRUCT_DEPTH + 1];
	struct zr_type t = SCALAR(ZR_INT, 1);
	ZR_CLEANUP(zr_layout_done) struct zr_layout l = {0};

	for (size_t i = 0; i < ZR_COUNT(f); i++) {
		f[i] = (struct zr_field){NAME("f"), .count = 1, .type = t};
		t = (struct zr_type){
			.kind = ZR_STRUCT, .size = 1, .nfields = 1, .fields = &f[i]};
	}
	CHECK_INT(zr_layout_build(&t, &l), -EOVERFLOW);
	CHECK_INT(zr_layout_build(&t.fields[0].type, &l), 0);
	CHECK_INT(l.nlevels, ZR_MAX_STRUCT_DEPTH);
}

static void endless_lines_of_empty_elements_are_refused(void)
{
	struct zr_field f = {NAME("f"), .ndim = 2, .shape = shape_huge, .count = 0,
	                     .type = {.kind = ZR_CHARS, .size = 0}};
	struct zr_type t = {.kind = ZR_STRUCT, .nfields = 1, .fields = &f};
	struct zr_layout l;

	CHECK_INT(zr_layout_build(&t, &l), -EOVERFLOW);
	f.ndim = 1;
	CHECK_INT(zr_layout_build(&t, &l), -EOVERFLOW);
}

static void sub_arrays_of_too_many_axes_are_refused(void)
{
	static uint64_t shape[ZR_MAX_DIMS + 1];
	struct zr_field f = {NAME("f"), .ndim = ZR_MAX_DIMS, .shape = shape, .count = 1,
	                     .type = SCALAR(ZR_INT, 1)};
	struct zr_type t = {.kind = ZR_STRUCT, .size = 1, .nfields = 1, .fields = &f};
	ZR_CLEANUP(zr_layout_done) struct zr_layout l = {0};

	for (size_t i = 0; i < ZR_COUNT(shape); i++)
		shape[i] = 1;
	CHECK_INT(zr_layout_build(&t, &l), 0);
	zr_layout_done(&l);
	f.ndim++;
	CHECK_INT(zr_layout_build(&t, &l), -EOVERFLOW);
}

static void too_many_axes_in_all_are_refused(void)
{
	enum { N = 1100 };
	static uint64_t ones[ZR_MAX_DIMS];
	static struct zr_field f[N], outer[ZR_MAX_STRUCT_DEPTH];
	struct zr_type t = {.kind = ZR_STRUCT, .size = N, .nfields = N, .fields = f};
	ZR_CLEANUP(zr_layout_done) struct zr_layout l = {0};

	for (size_t i = 0; i < ZR_COUNT(ones); i++)
		ones[i] = 1;
	for (size_t i = 0; i < N; i++)
		f[i] = (struct zr_field){NAME("f"), .count = 1,
		                         .type = SCALAR(ZR_INT, 1)};
	for (size_t i = 0; i < ZR_MAX_STRUCT_DEPTH - 1; i++) {
		outer[i] = (struct zr_field){NAME("s"), .ndim = ZR_MAX_DIMS,
		                             .shape = ones, .count = 1, .type = t};
		t = (struct zr_type){.kind = ZR_STRUCT,
		                     .size = t.size,
		                     .nfields = 1,
		                     .fields = &outer[i]};
	}
	/* Each leaf has the axes of 31 structs, 32 each: 1057 of them are 2^20 axes. */
	CHECK_INT(zr_layout_build(&t, &l), -EOVERFLOW);
	outer[0].type.nfields = 1000;
	CHECK_INT(zr_layout_build(&t, &l), 0);
	CHECK_INT(l.leaves[0].naxes, 31 * 32);
}

int main(void)
{
	RUN(scalar_array_has_one_leaf_named_values);
	RUN(nested_fields_are_numbered_depth_first);
	RUN(axes_of_the_structs_above_come_first);
	RUN(a_type_without_a_leaf_is_refused);
	RUN(too_many_fields_are_refused);
	RUN(structs_nested_too_deeply_are_refused);
	RUN(endless_lines_of_empty_elements_are_refused);
	RUN(sub_arrays_of_too_many_axes_are_refused);
	RUN(too_many_axes_in_all_are_refused);
	return EXIT_SUCCESS;
}
