/* SPDX-License-Identifier: MIT */
/*
 * Lists of numbers or times, of any length each: elements with tabs between in text and
 * in a cell of CSV, a JSON list in JSON.
 */
#include "render_impl.h"

/* The elements and a separator behind each; the last one is taken back. */
static char *put_elements(const struct zr_value *v, const uint8_t *p, char sep, char *out)
{
	struct zr_item item = zr_load_item(p);
	struct zr_value each = *v;

	each.sep = sep;
	if (item.len < v->size)
		return out;
	return v->element(&each, item.data, v->size, item.len / v->size, out, NULL) - 1;
}

ZR_INLINE char *text_list(const struct zr_value *v, const uint8_t *p, char *out)
{
	return put_elements(v, p, '\t', out);
}

ZR_INLINE char *json_list(const struct zr_value *v, const uint8_t *p, char *out)
{
	*out++ = '[';
	out = put_elements(v, p, ',', out);
	*out++ = ']';
	return out;
}

ZR_DEFINE_PUT(text_lists, text_list)
ZR_DEFINE_PUT(json_lists, json_list)

static void list_measure(const struct zr_value *v, const uint8_t *p, uint64_t stride,
                         uint64_t n, struct zr_lens *sum)
{
	for (; n > 0; n--, p += stride) {
		struct zr_item item = zr_load_item(p);
		uint64_t count = item.len / v->size;
		uint64_t between = count > 0 ? count - 1 : 0;
		struct zr_lens l = {0};
		uint64_t text;

		v->measure_element(v, item.data, v->size, count, &l);
		text = l.of[ZR_FORM_TEXT] + between;
		sum->of[ZR_FORM_TEXT] += text;
		sum->of[ZR_FORM_JSON] += l.of[ZR_FORM_JSON] + between + 2;
		sum->of[ZR_FORM_CSV] += v->sole && text == 0 ? 2 : text;
	}
}

void zr_list_init(struct zr_value *v, enum zr_form form)
{
	v->element = v->put;
	v->measure_element = v->measure;
	v->put = form == ZR_FORM_JSON ? json_lists : text_lists;
	v->measure = list_measure;
}
