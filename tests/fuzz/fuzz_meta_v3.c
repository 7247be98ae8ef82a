/* SPDX-License-Identifier: MIT */
/*
 * The input is a zarr.json.
 */
#include "check.h"
#include "fuzz.h"
#include "json.h"
#include "schema.h"

static void check_schema(const struct zr_meta *m, const struct zr_layout *l)
{
	static const struct zr_render_opts o = {.nonfinite = ZR_NONFINITE_NULL};
	struct zr_buf text = {0};

	CHECK_INT(zr_schema("a/b", m, l, &o, &text), 0);
	CHECK_INT(zr_json_check((const char *)text.data, text.len, NULL), 0);
	check_clean(text.data, text.len, "\n");
	zr_buf_done(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct zr_doc doc = {.data = (const char *)data, .len = size};
	struct zr_meta m = {0}, again = {0};
	struct zr_layout l;
	int r;

	if (size == 0) /* would be no document */
		return 0;
	CHECK_INT(zr_meta_parse_v3(doc, &m), 0);
	CHECK_INT(zr_meta_parse_v3(doc, &again), 0);
	check_meta(&m);
	check_same_meta(&m, &again);
	if (m.array) {
		r = zr_layout_build(&m.array->type, &l);
		CHECK(r == 0 || r == -EINVAL || r == -EOVERFLOW);
		if (r == 0) {
			check_schema(&m, &l);
			check_record(m.array, &l, m.array->fill);
			zr_layout_done(&l);
		}
	}
	zr_meta_done(&m);
	zr_meta_done(&again);
	return 0;
}
