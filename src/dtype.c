/* SPDX-License-Identifier: MIT */
#include "dtype.h"

#include <assert.h>
#include <inttypes.h>

unsigned int zr_float_size(enum zr_float f)
{
	switch (f) {
	case ZR_F64:
		return 8;
	case ZR_F32:
		return 4;
	case ZR_F16:
	case ZR_BF16:
		return 2;
	default:
		return 1;
	}
}

unsigned int zr_type_swap_unit(const struct zr_type *t)
{
	switch (t->kind) {
	case ZR_INT:
	case ZR_UINT:
	case ZR_DATETIME:
	case ZR_TIMEDELTA:
		return (unsigned int)t->size;
	case ZR_FLOAT:
	case ZR_COMPLEX:
		return zr_float_size(t->flt);
	case ZR_UTF32:
		return 4;
	case ZR_STRUCT:
		assert(!"a record is never swapped as a whole");
		return 1;
	default:
		return 1;
	}
}

bool zr_type_is_variable(const struct zr_type *t)
{
	return t->kind == ZR_STRING || t->kind == ZR_VBYTES || t->kind == ZR_JSON ||
	       t->kind == ZR_LIST;
}

bool zr_type_has_order(const struct zr_type *t)
{
	if (t->kind != ZR_STRUCT)
		return zr_type_swap_unit(t) > 1;
	for (uint32_t i = 0; i < t->nfields; i++)
		if (zr_type_has_order(&t->fields[i].type))
			return true;
	return false;
}

void zr_type_set_order(struct zr_type *t, bool big)
{
	t->big = big;
	for (uint32_t i = 0; i < t->nfields; i++)
		zr_type_set_order(&t->fields[i].type, big);
}

static void type_swap_scalar(const struct zr_type *t, uint8_t *p)
{
	unsigned int unit = zr_type_swap_unit(t);

	if (!t->big || unit == 1)
		return;
	for (uint64_t at = 0; at + unit <= t->size; at += unit) {
		for (unsigned int i = 0; i < unit / 2; i++) {
			uint8_t low = p[at + i];

			p[at + i] = p[at + unit - 1 - i];
			p[at + unit - 1 - i] = low;
		}
	}
}

void zr_type_swap_record(const struct zr_type *t, uint8_t *record)
{
	if (t->kind != ZR_STRUCT) {
		type_swap_scalar(t, record);
		return;
	}
	for (uint32_t i = 0; i < t->nfields; i++) {
		const struct zr_field *f = &t->fields[i];

		for (uint64_t k = 0; k < f->count && f->type.size; k++)
			zr_type_swap_record(&f->type,
			                    record + f->offset + k * f->type.size);
	}
}

void zr_type_done(struct zr_type *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->nfields; i++) {
		free(t->fields[i].name);
		free(t->fields[i].shape);
		zr_type_done(&t->fields[i].type);
	}
	free(t->fields);
	*t = (struct zr_type){0};
}

/* --- NumPy's names ---------------------------------------------------------------------
 */

/* The letter of a kind; V: NumPy has none. */
static char numpy_letter(const struct zr_type *t)
{
	static const char letters[] = {
		[ZR_BOOL] = 'b',      [ZR_INT] = 'i',     [ZR_UINT] = 'u',
		[ZR_FLOAT] = 'f',     [ZR_COMPLEX] = 'c', [ZR_UTF32] = 'U',
		[ZR_CHARS] = 'S',     [ZR_RAW] = 'V',     [ZR_DATETIME] = 'M',
		[ZR_TIMEDELTA] = 'm', [ZR_STRUCT] = 'V',  [ZR_STRING] = 'O',
		[ZR_VBYTES] = 'O',    [ZR_JSON] = 'O',    [ZR_LIST] = 'O',
	};
	bool unknown = false;

	if (t->kind == ZR_INT || t->kind == ZR_UINT)
		unknown = t->bits < 8;
	else if (t->kind == ZR_FLOAT)
		unknown = t->flt > ZR_F16;
	else if (t->kind == ZR_COMPLEX)
		unknown = t->flt > ZR_F32;
	return unknown ? 'V' : letters[t->kind];
}

static void numpy_unit(const struct zr_type *t, struct zr_buf *ret)
{
	static const char *const units[] = {
		[ZR_YEAR] = "Y", [ZR_MONTH] = "M",  [ZR_WEEK] = "W",   [ZR_DAY] = "D",
		[ZR_HOUR] = "h", [ZR_MINUTE] = "m", [ZR_SECOND] = "s", [ZR_MS] = "ms",
		[ZR_US] = "us",  [ZR_NS] = "ns",    [ZR_PS] = "ps",    [ZR_FS] = "fs",
		[ZR_AS] = "as",
	};

	if (t->unit == ZR_GENERIC)
		return;
	zr_buf_addc(ret, '[');
	if (t->scale != 1)
		zr_buf_addf(ret, "%" PRIu32, t->scale);
	zr_buf_addf(ret, "%s]", units[t->unit]);
}

void zr_type_numpy(const struct zr_type *t, bool big, struct zr_buf *ret)
{
	char letter = numpy_letter(t);
	bool ordered = letter != 'V' && zr_type_swap_unit(t) > 1;

	zr_buf_addc(ret, !ordered ? '|' : big ? '>' : '<');
	zr_buf_addc(ret, letter);
	if (!zr_type_is_variable(t))
		zr_buf_addf(ret, "%" PRIu64, t->kind == ZR_UTF32 ? t->size / 4 : t->size);
	if (t->kind == ZR_DATETIME || t->kind == ZR_TIMEDELTA)
		numpy_unit(t, ret);
}
