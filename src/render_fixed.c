/* SPDX-License-Identifier: MIT */
/*
 * text=fixed: a line is a row of cells of one width, each followed by TAB, the last one
 * by LF. A complex number is two cells, so all cells are of one scalar type; the two
 * parts are one more axis of the leaf.
 */
#include <errno.h>

#include "datetime.h"
#include "number.h"
#include "render_impl.h"

/* The longest number or date, what ends it, and what may be overwritten. */
#define NUMBER_ROOM (ZR_DATE_MAX_LEN + 1 + ZR_PUT_SPARE)

struct columns {
	struct zr_bin bin; /* first: who holds it sees only this */
	struct zr_value value;
	uint64_t offset; /* of the first cell, in the record */
	uint64_t width;  /* of a cell, without what follows it */
	uint64_t count;  /* cells */
	bool left;       /* text begins at the left of its cell */
	uint32_t naxes;
	struct zr_axis *axes; /* owned; outermost first */
};

/* ISO 8601 of any count, without and with a scale factor. */
static uint64_t date_width(const struct zr_type *t)
{
	static const uint8_t widths[] = {
		[ZR_GENERIC] = 20, [ZR_YEAR] = 20, [ZR_MONTH] = 22,  [ZR_WEEK] = 25,
		[ZR_DAY] = 24,     [ZR_HOUR] = 26, [ZR_MINUTE] = 27, [ZR_SECOND] = 28,
		[ZR_MS] = 29,      [ZR_US] = 29,   [ZR_NS] = 29,     [ZR_PS] = 32,
		[ZR_FS] = 35,      [ZR_AS] = 38,
	};

	return widths[t->unit] + (t->scale > 1 && t->unit != ZR_GENERIC ? 10u : 0);
}

static uint64_t cell_width(const struct zr_type *t, const struct zr_value *v)
{
	if (t->kind == ZR_DATETIME)
		return date_width(t);
	if (t->kind == ZR_RAW)
		return 2 * t->size;
	return zr_value_max(v, ZR_FORM_TEXT);
}

/* --- cells -----------------------------------------------------------------------------
 */

/* Where the value of a cell lies. */
static const uint8_t *cell_at(const struct columns *c, const uint8_t *rec, uint64_t cell)
{
	rec += c->offset;
	for (uint32_t i = c->naxes; i-- > 0; cell /= c->axes[i].count)
		rec += cell % c->axes[i].count * c->axes[i].stride;
	return rec;
}

/* One cell and what follows it: width + 1 bytes. */
static void put_cell(const struct columns *c, const uint8_t *rec, uint64_t cell,
                     uint8_t *out)
{
	const uint8_t *p = cell_at(c, rec, cell);
	char text[NUMBER_ROOM];
	uint64_t len;

	if (c->left) {
		len = (uint64_t)(c->value.put(&c->value, p, 0, 1, (char *)out, NULL) -
		                 (char *)out) -
		      1;
		memset(out + len, ' ', c->width - len);
	} else {
		len = (uint64_t)(c->value.put(&c->value, p, 0, 1, text, NULL) - text) - 1;
		memset(out, ' ', c->width - len);
		memcpy(out + c->width - len, text, len);
	}
	out[c->width] = cell + 1 == c->count ? '\n' : '\t';
}

static void columns_put_run(const struct zr_bin *b, const uint8_t *rec, uint64_t stride,
                            uint64_t n, uint8_t *out)
{
	const struct columns *c = (const struct columns *)b;

	for (; n > 0; n--, rec += stride) {
		if (c->count == 0)
			*out++ = '\n';
		for (uint64_t cell = 0; cell < c->count; cell++, out += c->width + 1)
			put_cell(c, rec, cell, out);
	}
}

static int columns_put_part(const struct zr_bin *b, const uint8_t *rec, uint64_t skip,
                            size_t len, uint8_t *out)
{
	const struct columns *c = (const struct columns *)b;
	ZR_CLEANUP(zr_freep) uint8_t *one = NULL;
	size_t room = c->width + 1;

	if (c->count == 0 && len > 0)
		*out = '\n';
	for (uint64_t cell = skip / room; c->count > 0 && len > 0; cell++) {
		size_t from = skip % room, take = ZR_MIN(len, room - from);

		if (take == room) {
			put_cell(c, rec, cell, out);
		} else {
			if (!one)
				one = malloc(room);
			if (!one)
				return -ENOMEM;
			put_cell(c, rec, cell, one);
			memcpy(out, one + from, take);
		}
		out += take;
		len -= take;
		skip = 0;
	}
	return 0;
}

static void columns_free(struct zr_bin *b)
{
	struct columns *c = (struct columns *)b;

	free(c->axes);
	free(c);
}

/* --- making them -----------------------------------------------------------------------
 */

static const struct zr_bin_ops columns_ops = {
	.put_run = columns_put_run,
	.put_part = columns_put_part,
	.free = columns_free,
};

static bool is_left(enum zr_kind k)
{
	return k == ZR_UTF32 || k == ZR_CHARS || k == ZR_RAW;
}

struct zr_bin *zr_bin_new_text(const struct zr_layout *l, uint32_t leaf,
                               const struct zr_render_opts *o)
{
	const struct zr_column *col = &l->leaves[leaf];
	struct columns *c = calloc(1, sizeof(*c));
	struct zr_type type = *col->type;

	if (!c)
		return NULL;
	c->axes = calloc((size_t)col->naxes + 1, sizeof(*c->axes));
	if (!c->axes) {
		free(c);
		return NULL;
	}
	if (col->naxes)
		memcpy(c->axes, col->axes, col->naxes * sizeof(*c->axes));
	c->naxes = col->naxes;
	c->count = col->count;
	if (type.kind == ZR_COMPLEX) {
		type.kind = ZR_FLOAT;
		type.size /= 2;
		c->axes[c->naxes++] = (struct zr_axis){2, type.size};
		c->count *= 2;
	}
	zr_value_init(&c->value, &type, ZR_FORM_TEXT, o, '\t');
	c->offset = col->offset;
	c->left = is_left(type.kind);
	c->width = cell_width(&type, &c->value);
	c->bin = (struct zr_bin){.ops = &columns_ops,
	                         .len = ZR_MAX(c->count * (c->width + 1), 1)};
	return &c->bin;
}
