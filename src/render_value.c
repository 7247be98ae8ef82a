/* SPDX-License-Identifier: MIT */
#include "base64.h"
#include "datetime.h"
#include "number.h"
#include "render_impl.h"

/* Whether a cell of that type can have no byte at all. */
static bool value_may_be_empty(const struct zr_type *t)
{
	switch (t->kind) {
	case ZR_UTF32:
	case ZR_CHARS:
	case ZR_STRING:
	case ZR_VBYTES:
	case ZR_JSON:
	case ZR_LIST:
		return true;
	case ZR_RAW:
		return t->size == 0;
	default:
		return false;
	}
}

static zr_put_fn value_put(const struct zr_type *t, enum zr_form form)
{
	switch (form) {
	case ZR_FORM_JSON:
		return zr_json_put(t);
	case ZR_FORM_CSV:
		return zr_csv_put(t);
	case ZR_FORM_TEXT:
		break;
	}
	return zr_text_put(t);
}

void zr_value_init(struct zr_value *v, const struct zr_type *t, enum zr_form form,
                   const struct zr_render_opts *o, char sep)
{
	if (t->kind == ZR_LIST) {
		/* In CSV too it is what the text file shows. */
		if (form == ZR_FORM_CSV)
			form = ZR_FORM_TEXT;
		zr_value_init(v, &t->fields[0].type, form, o, sep);
		zr_list_init(v, form);
		return;
	}
	*v = (struct zr_value){
		.put = value_put(t, form),
		.measure = zr_measure_of(t),
		.size = t->size,
		.kind = t->kind,
		.flt = t->flt,
		.unit = t->unit,
		.scale = t->scale,
		.bits = t->bits,
		.big = t->big,
		.quote_nonfinite = o->nonfinite == ZR_NONFINITE_STRING,
		.sep = sep,
		.part = form == ZR_FORM_CSV ? ',' : '\t',
	};
	if (t->kind == ZR_DATETIME)
		v->date_len = (uint8_t)zr_date_common_len(t->unit, t->scale,
		                                          &v->first_date, &v->last_date);
}

void zr_value_set_sole(struct zr_value *v, const struct zr_type *t)
{
	if (!value_may_be_empty(t))
		return;
	v->sole = true;
	zr_csv_set_sole(v);
}

static uint64_t value_int_max(const struct zr_value *v)
{
	switch (v->bits) {
	case 2:
	case 4:
		return 2;
	case 8:
		return v->kind == ZR_INT ? 4 : 3;
	case 16:
		return v->kind == ZR_INT ? 6 : 5;
	case 32:
		return v->kind == ZR_INT ? 11 : 10;
	default:
		return 20;
	}
}

static uint64_t value_float_max(const struct zr_value *v, enum zr_form form)
{
	uint64_t n;

	switch (v->flt) {
	case ZR_F64:
		return ZR_DECIMAL_MAX_LEN;
	case ZR_F16:
		n = 11; /* -0.00012345 */
		break;
	default:
		n = 19; /* -1234567890123456.0 */
	}
	return form == ZR_FORM_JSON ? ZR_MAX(n, sizeof("\"-Infinity\"") - 1) : n;
}

/* n units of a string, each of which becomes at most four bytes in text. */
static uint64_t value_string_max(uint64_t n, enum zr_form form)
{
	return form == ZR_FORM_TEXT   ? zr_sat_mul(4, n)
	       : form == ZR_FORM_JSON ? zr_sat_add(zr_sat_mul(6, n), 2)
	                              : zr_sat_add(zr_sat_mul(4, n), 2);
}

uint64_t zr_value_max(const struct zr_value *v, enum zr_form form)
{
	bool json = form == ZR_FORM_JSON;

	if (v->element)
		return UINT64_MAX;
	switch (v->kind) {
	case ZR_BOOL:
		return json ? 5 : 1;
	case ZR_INT:
	case ZR_UINT:
		return value_int_max(v);
	case ZR_FLOAT:
		return value_float_max(v, form);
	case ZR_COMPLEX:
		return 2 * value_float_max(v, form) + (json ? 3 : 1);
	case ZR_DATETIME:
		return zr_date_max_len(v->unit, v->scale) + (json ? 2 : 0);
	case ZR_TIMEDELTA:
		return ZR_I64_MAX_LEN;
	case ZR_UTF32:
		return value_string_max(v->size / 4, form);
	case ZR_CHARS:
		return value_string_max(v->size, form);
	case ZR_RAW:
		if (json)
			return zr_base64_len(v->size) + 2;
		return zr_sat_add(zr_sat_mul(2, v->size), 2);
	case ZR_STRUCT:
	case ZR_STRING:
	case ZR_VBYTES:
	case ZR_JSON:
	case ZR_LIST:
		break;
	}
	return UINT64_MAX;
}
