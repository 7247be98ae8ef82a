/* SPDX-License-Identifier: MIT */
/*
 * The input is a .zarray, a .zattrs and a .zgroup with NULs between; what is empty is not
 * there.
 */
#include "check.h"
#include "fuzz.h"

static struct zr_doc take_doc(struct input *in)
{
	struct zr_doc doc = {0};

	doc.data = take_text(in, '\0', &doc.len);
	if (doc.len > 0)
		return doc;
	free((char *)doc.data);
	return (struct zr_doc){0};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	struct zr_doc array = take_doc(&in), attrs = take_doc(&in), group = take_doc(&in);
	struct zr_meta m = {0}, again = {0};
	struct zr_layout l;
	int r;

	if (array.data || group.data) {
		CHECK_INT(zr_meta_parse_v2(group, array, attrs, &m), 0);
		CHECK_INT(zr_meta_parse_v2(group, array, attrs, &again), 0);
		check_meta(&m);
		check_same_meta(&m, &again);
		CHECK((m.kind == ZR_NODE_ARRAY) == (array.data != NULL));
	}
	if (m.array) {
		r = zr_layout_build(&m.array->type, &l);
		CHECK(r == 0 || r == -EINVAL || r == -EOVERFLOW);
		if (r == 0) {
			check_record(m.array, &l, m.array->fill);
			zr_layout_done(&l);
		}
	}
	zr_meta_done(&m);
	zr_meta_done(&again);
	free((char *)array.data);
	free((char *)attrs.data);
	free((char *)group.data);
	return 0;
}
