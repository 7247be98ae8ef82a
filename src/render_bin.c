/* SPDX-License-Identifier: MIT */
/*
 * Records of constant length: what is common to both kinds, and the binary ones. Those
 * are values as they are stored, but little-endian. A leaf is gathered, element by
 * element; a record is copied whole, and what is big-endian in it is turned round in the
 * copy.
 */
#include <errno.h>

#include "render_impl.h"

/* --- both kinds ------------------------------------------------------------------------
 */

void zr_bin_free(struct zr_bin *b)
{
	if (b)
		b->ops->free(b);
}

uint64_t zr_bin_len(const struct zr_bin *b)
{
	return b->len;
}

void zr_bin_put_run(const struct zr_bin *b, const uint8_t *rec, uint64_t stride,
                    uint64_t n, uint8_t *out)
{
	if (b->len > 0)
		b->ops->put_run(b, rec, stride, n, out);
}

int zr_bin_put_part(const struct zr_bin *b, const uint8_t *rec, uint64_t skip, size_t len,
                    uint8_t *out)
{
	return b->ops->put_part(b, rec, skip, len, out);
}

/* --- binary ----------------------------------------------------------------------------
 */

/* Elements at `from` in a source, behind each other in the result; or in place. */
struct part {
	uint64_t from;     /* offset */
	uint64_t size;     /* bytes of one element */
	unsigned int unit; /* bytes that are reversed together; 1: none are */
	uint32_t naxes;
	struct zr_axis *axes; /* owned; outermost first, those that continue merged */
};

struct packed {
	struct zr_bin bin; /* first: who holds it sees only this */
	bool is_record;
	uint32_t nparts; /* a leaf: one. A record: its big-endian leaves */
	struct part *parts;
};

static unsigned int bin_unit(const struct zr_type *t)
{
	unsigned int unit = zr_type_swap_unit(t);

	return t->big && unit > 1 ? unit : 1;
}

static int part_init(struct part *p, const struct zr_column *c)
{
	uint32_t n = 0;

	*p = (struct part){
		.from = c->offset, .size = c->type->size, .unit = bin_unit(c->type)};
	p->axes = calloc(c->naxes + 1, sizeof(*p->axes));
	if (!p->axes)
		return -1;
	for (uint32_t i = 0; i < c->naxes; i++) {
		const struct zr_axis *a = &c->axes[i];

		if (n > 0 && p->axes[n - 1].stride == a->count * a->stride)
			p->axes[n - 1] = (struct zr_axis){p->axes[n - 1].count * a->count,
			                                  a->stride};
		else
			p->axes[n++] = *a;
	}
	/* Elements without order that lie side by side are one element. */
	if (n > 0 && p->unit == 1 && p->axes[n - 1].stride == p->size)
		p->size *= p->axes[--n].count;
	p->naxes = n;
	return 0;
}

static void packed_free(struct zr_bin *b)
{
	struct packed *p = (struct packed *)b;

	for (uint32_t i = 0; i < p->nparts; i++)
		free(p->parts[i].axes);
	free(p->parts);
	free(p);
}

static const struct zr_bin_ops packed_ops;

static struct packed *packed_new(uint64_t len, uint32_t nparts)
{
	struct packed *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->bin = (struct zr_bin){.ops = &packed_ops, .len = len};
	b->parts = calloc((size_t)nparts + 1, sizeof(*b->parts));
	if (!b->parts) {
		free(b);
		return NULL;
	}
	b->nparts = nparts;
	return b;
}

struct zr_bin *zr_bin_new_leaf(const struct zr_layout *l, uint32_t leaf)
{
	const struct zr_column *c = &l->leaves[leaf];
	struct packed *b = packed_new(c->count * c->type->size, 1);

	if (!b)
		return NULL;
	if (part_init(&b->parts[0], c) < 0) {
		packed_free(&b->bin);
		return NULL;
	}
	return &b->bin;
}

static bool packed_add_swaps(struct packed *b, const struct zr_layout *l)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->nleaves; i++) {
		if (bin_unit(l->leaves[i].type) == 1 || l->leaves[i].count == 0)
			continue;
		if (part_init(&b->parts[n++], &l->leaves[i]) < 0)
			return false;
	}
	b->nparts = n;
	return true;
}

struct zr_bin *zr_bin_new_record(const struct zr_type *type)
{
	ZR_CLEANUP(zr_layout_done) struct zr_layout l = {0};
	struct packed *b;

	if (zr_layout_build(type, &l) < 0)
		return NULL;
	b = packed_new(type->size, l.nleaves);
	if (!b)
		return NULL;
	b->is_record = true;
	if (!packed_add_swaps(b, &l)) {
		packed_free(&b->bin);
		return NULL;
	}
	return &b->bin;
}

/* One element, reversed unit by unit. In place when both pointers are the same. */
ZR_INLINE void bin_copy(uint8_t *out, const uint8_t *in, uint64_t size, unsigned int unit)
{
	switch (unit) {
	case 1:
		memcpy(out, in, size);
		return;
	case 2:
		for (uint64_t i = 0; i < size; i += 2)
			zr_store_uint(out + i, zr_load_u16(in + i, true), 2, false);
		return;
	case 4:
		for (uint64_t i = 0; i < size; i += 4)
			zr_store_uint(out + i, zr_load_u32(in + i, true), 4, false);
		return;
	default:
		for (uint64_t i = 0; i < size; i += 8)
			zr_store_uint(out + i, zr_load_u64(in + i, true), 8, false);
	}
}

/* n elements, each `step` bytes after the one before. Common sizes are constants, so that
 * a copy is a load and a store. */
static uint8_t *bin_gather(uint8_t *out, const uint8_t *in, uint64_t size,
                           unsigned int unit, uint64_t step, uint64_t n)
{
#define GATHER(s, u)                                                                     \
	for (; n > 0; n--, in += step, out += (s))                                       \
	bin_copy(out, in, (s), (u))

	if (unit == 1 && step == size) {
		memcpy(out, in, n * size);
		return out + n * size;
	}
	if (unit == 1 && size == 1)
		GATHER(1, 1);
	else if (unit == 1 && size == 2)
		GATHER(2, 1);
	else if (unit == 1 && size == 4)
		GATHER(4, 1);
	else if (unit == 1 && size == 8)
		GATHER(8, 1);
	else if (unit == 2 && size == 2)
		GATHER(2, 2);
	else if (unit == 4 && size == 4)
		GATHER(4, 4);
	else if (unit == 8 && size == 8)
		GATHER(8, 8);
	else
		GATHER(size, unit);
#undef GATHER
	return out;
}

static uint8_t *bin_put_axes(const struct part *p, uint32_t axis, const uint8_t *in,
                             uint8_t *out)
{
	const struct zr_axis *a = &p->axes[axis];

	if (axis == p->naxes)
		return bin_gather(out, in, p->size, p->unit, 0, 1);
	if (axis + 1 == p->naxes)
		return bin_gather(out, in, p->size, p->unit, a->stride, a->count);
	for (uint64_t i = 0; i < a->count; i++)
		out = bin_put_axes(p, axis + 1, in + i * a->stride, out);
	return out;
}

static void bin_swap_axes(const struct part *p, uint32_t axis, uint8_t *at)
{
	const struct zr_axis *a = &p->axes[axis];

	if (axis == p->naxes) {
		bin_copy(at, at, p->size, p->unit);
		return;
	}
	for (uint64_t i = 0; i < a->count; i++)
		bin_swap_axes(p, axis + 1, at + i * a->stride);
}

static void packed_put_run(const struct zr_bin *bin, const uint8_t *rec, uint64_t stride,
                           uint64_t n, uint8_t *out)
{
	const struct packed *b = (const struct packed *)bin;
	const struct part *p = b->parts;

	if (b->is_record) {
		bin_gather(out, rec, bin->len, 1, stride, n);
		for (uint64_t i = 0; i < n && b->nparts > 0; i++)
			for (uint32_t k = 0; k < b->nparts; k++)
				bin_swap_axes(&p[k], 0, out + i * bin->len + p[k].from);
		return;
	}
	if (p->naxes == 0) {
		bin_gather(out, rec + p->from, p->size, p->unit, stride, n);
		return;
	}
	for (; n > 0; n--, rec += stride)
		out = bin_put_axes(p, 0, rec + p->from, out);
}

static int packed_put_part(const struct zr_bin *b, const uint8_t *rec, uint64_t skip,
                           size_t len, uint8_t *out)
{
	ZR_CLEANUP(zr_freep) uint8_t *whole = malloc(b->len);

	if (!whole)
		return -ENOMEM;
	packed_put_run(b, rec, 0, 1, whole);
	memcpy(out, whole + skip, len);
	return 0;
}

bool zr_bin_is_copy(const struct zr_bin *bin)
{
	const struct packed *b = (const struct packed *)bin;
	const struct part *p;

	if (bin->ops != &packed_ops)
		return false;
	p = b->parts;
	if (b->is_record)
		return b->nparts == 0;
	return p->from == 0 && p->unit == 1 && p->naxes == 0 && p->size == bin->len;
}

static const struct zr_bin_ops packed_ops = {
	.put_run = packed_put_run,
	.put_part = packed_put_part,
	.free = packed_free,
};
