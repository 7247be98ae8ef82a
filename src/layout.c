/* SPDX-License-Identifier: MIT */
/*
 * Two walks of the type: one counts and refuses, the other fills the tables that are
 * then known to be large enough.
 */
#include "layout.h"

#include <errno.h>

/*
 * A record is bounded in bytes, but elements of no bytes (S0, empty structs, an axis of
 * length 0) would let a few bytes of metadata ask for lines without end: steps that a
 * line takes are bounded too.
 */
#define LAYOUT_MAX_STEPS (ZR_MAX_RECORD + ZR_MAX_FIELDS)

struct tally {
	uint64_t levels;
	uint64_t leaves;
	uint64_t steps;
	uint64_t axes;
};

/* Elements that a line walks over for one field, empty axes counted as one. */
static bool layout_steps(const struct zr_field *f, uint64_t outer, uint64_t *ret)
{
	for (uint32_t i = 0; i < f->ndim; i++)
		if (!zr_mul(outer, ZR_MAX(f->shape[i], 1), &outer) ||
		    outer > LAYOUT_MAX_STEPS)
			return false;
	*ret = outer;
	return true;
}

static int layout_count(const struct zr_type *type, uint64_t outer, uint32_t naxes,
                        unsigned int depth, struct tally *t)
{
	if (depth > ZR_MAX_STRUCT_DEPTH)
		return -EOVERFLOW;
	for (uint32_t i = 0; i < type->nfields; i++) {
		const struct zr_field *f = &type->fields[i];
		uint64_t steps;
		int r;

		if (f->hidden)
			continue;
		if (f->ndim > ZR_MAX_DIMS || !layout_steps(f, outer, &steps))
			return -EOVERFLOW;
		t->steps += steps;
		t->axes += naxes + f->ndim;
		t->leaves += f->type.kind != ZR_STRUCT;
		t->levels += f->type.kind == ZR_STRUCT;
		if (t->steps > LAYOUT_MAX_STEPS || t->axes > ZR_MAX_AXES ||
		    t->levels - 1 + t->leaves > ZR_MAX_FIELDS)
			return -EOVERFLOW;
		if (f->type.kind != ZR_STRUCT)
			continue;
		r = layout_count(&f->type, steps, naxes + f->ndim, depth + 1, t);
		if (r < 0)
			return r;
	}
	return 0;
}

void zr_field_axes(const struct zr_field *f, struct zr_axis *ret)
{
	uint64_t stride = f->type.size;

	for (uint32_t i = f->ndim; i-- > 0;) {
		ret[i] = (struct zr_axis){f->shape[i], stride};
		stride *= ZR_MAX(f->shape[i], 1);
	}
}

/* The axes of the struct above, then those of the field. */
static int layout_set_axes(struct zr_column *c, const struct zr_column *up,
                           const struct zr_field *f)
{
	c->count = up->count * f->count;
	c->naxes = up->naxes + f->ndim;
	if (c->naxes == 0)
		return 0;
	c->axes = calloc(c->naxes, sizeof(*c->axes));
	if (!c->axes)
		return -ENOMEM;
	if (up->naxes)
		memcpy(c->axes, up->axes, up->naxes * sizeof(*c->axes));
	zr_field_axes(f, c->axes + up->naxes);
	return 0;
}

static int layout_fill(struct zr_layout *l, uint32_t level)
{
	const struct zr_column *up = &l->levels[level];

	for (uint32_t i = 0; i < up->type->nfields; i++) {
		const struct zr_field *f = &up->type->fields[i];
		bool nested = f->type.kind == ZR_STRUCT;
		uint32_t at = nested ? l->nlevels : l->nleaves;
		struct zr_column *c = nested ? &l->levels[at] : &l->leaves[at];
		int r;

		if (f->hidden)
			continue;
		*c = (struct zr_column){.type = &f->type,
		                        .name = f->name,
		                        .name_len = f->name_len,
		                        .parent = level,
		                        .offset = up->offset + f->offset};
		if (nested)
			l->nlevels++;
		else
			l->nleaves++;
		r = layout_set_axes(c, up, f);
		if (r == 0 && nested)
			r = layout_fill(l, at);
		if (r < 0)
			return r;
	}
	return 0;
}

int zr_layout_build(const struct zr_type *type, struct zr_layout *ret)
{
	ZR_CLEANUP(zr_layout_done) struct zr_layout l = {0};
	struct tally t = {.levels = 1};
	int r;

	l.is_struct = type->kind == ZR_STRUCT;
	if (l.is_struct) {
		r = layout_count(type, 1, 0, 1, &t);
		if (r < 0)
			return r;
		if (t.leaves == 0)
			return -EINVAL;
	} else {
		t.leaves = 1;
	}

	l.levels = calloc(t.levels, sizeof(*l.levels));
	l.leaves = calloc(t.leaves, sizeof(*l.leaves));
	if (!l.levels || !l.leaves)
		return -ENOMEM;
	l.levels[0] = (struct zr_column){.type = type, .count = 1};
	l.nlevels = 1;
	if (l.is_struct) {
		r = layout_fill(&l, 0);
		if (r < 0)
			return r;
	} else {
		l.leaves[0] = (struct zr_column){
			.type = type, .name = "values", .name_len = 6, .count = 1};
		l.nleaves = 1;
	}

	*ret = l;
	l = (struct zr_layout){0};
	return 0;
}

void zr_layout_done(struct zr_layout *l)
{
	if (!l)
		return;
	for (uint32_t i = 0; i < l->nlevels; i++)
		free(l->levels[i].axes);
	for (uint32_t i = 0; i < l->nleaves; i++)
		free(l->leaves[i].axes);
	free(l->levels);
	free(l->leaves);
	*l = (struct zr_layout){0};
}

uint64_t zr_column_extent(const struct zr_column *c)
{
	uint64_t bytes = c->type->size;

	if (c->count == 0)
		return 0;
	for (uint32_t i = 0; i < c->naxes; i++)
		bytes += (c->axes[i].count - 1) * c->axes[i].stride;
	return bytes;
}
