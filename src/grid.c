/* SPDX-License-Identifier: MIT */
#include "grid.h"

#include <stdio.h>

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
	return a / b + (a % b != 0);
}

/* In a decoded cell the axes lie in storage order: the last encoded axis is the one
 * whose neighbours touch. */
static void grid_set_steps(struct zr_grid *g, const struct zr_level *bottom)
{
	uint64_t step = 1;

	for (uint32_t i = g->ndim; i-- > 0;) {
		g->step[bottom->axis[i]] = step;
		step *= g->cell[bottom->axis[i]];
	}
	g->cell_records = step;
}

void zr_grid_init(struct zr_grid *g, const struct zr_array *a)
{
	uint64_t behind = 1;

	*g = (struct zr_grid){.ndim = a->ndim,
	                      .nrecords = a->nrecords,
	                      .nobjects = a->nrecords > 0,
	                      .cells_per_object = 1};
	for (uint32_t k = g->ndim; k-- > 0;) {
		g->shape[k] = a->shape[k];
		g->behind[k] = behind;
		behind *= g->shape[k];
		g->cell[k] = zr_array_bottom(a)->chunk[k];
		g->object[k] = a->levels[0].chunk[k];
		g->per_object[k] = g->object[k] / g->cell[k];
		g->cells[k] = ceil_div(g->shape[k], g->cell[k]);
		g->cells_per_object *= ZR_MIN(g->per_object[k], g->cells[k]);
		g->objects[k] = ceil_div(g->shape[k], g->object[k]);
		g->nobjects *= g->objects[k];
	}
	grid_set_steps(g, zr_array_bottom(a));
}

void zr_grid_index(const struct zr_grid *g, uint64_t record, uint64_t index[ZR_MAX_DIMS])
{
	for (uint32_t k = 0; k < g->ndim; k++) {
		index[k] = record / g->behind[k];
		record %= g->behind[k];
	}
}

void zr_grid_run(const struct zr_grid *g, uint64_t record, struct zr_run *ret)
{
	uint32_t last = g->ndim - 1;
	uint64_t left;

	*ret = (struct zr_run){.count = 1, .step = 1};
	if (g->ndim == 0)
		return;

	zr_grid_index(g, record, ret->index);
	for (uint32_t k = 0; k < g->ndim; k++) {
		ret->cell = ret->cell * g->cells[k] + ret->index[k] / g->cell[k];
		ret->object = ret->object * g->objects[k] + ret->index[k] / g->object[k];
		ret->first += ret->index[k] % g->cell[k] * g->step[k];
	}
	left = g->cell[last] - ret->index[last] % g->cell[last];
	ret->count = ZR_MIN(left, g->shape[last] - ret->index[last]);
	ret->step = g->step[last];
}

static void grid_split(uint32_t ndim, const uint64_t *counts, uint64_t number,
                       uint64_t *at)
{
	for (uint32_t k = ndim; k-- > 0;) {
		at[k] = number % counts[k];
		number /= counts[k];
	}
}

void zr_grid_cell_at(const struct zr_grid *g, uint64_t cell, uint64_t at[ZR_MAX_DIMS])
{
	grid_split(g->ndim, g->cells, cell, at);
}

void zr_grid_object_at(const struct zr_grid *g, uint64_t object, uint64_t at[ZR_MAX_DIMS])
{
	grid_split(g->ndim, g->objects, object, at);
}

uint64_t zr_grid_object(const struct zr_grid *g, const uint64_t at[ZR_MAX_DIMS])
{
	uint64_t number = 0;

	for (uint32_t k = 0; k < g->ndim; k++)
		number = number * g->objects[k] + at[k];
	return number;
}

uint64_t zr_grid_nth_cell(const struct zr_grid *g, uint64_t object, uint64_t nth)
{
	uint64_t at[ZR_MAX_DIMS], inner[ZR_MAX_DIMS], counts[ZR_MAX_DIMS], cell = 0;

	for (uint32_t k = 0; k < g->ndim; k++)
		counts[k] = ZR_MIN(g->per_object[k], g->cells[k]);
	zr_grid_object_at(g, object, at);
	grid_split(g->ndim, counts, nth, inner);
	for (uint32_t k = 0; k < g->ndim; k++) {
		uint64_t i = at[k] * g->per_object[k] + inner[k];

		if (i >= g->cells[k])
			return UINT64_MAX;
		cell = cell * g->cells[k] + i;
	}
	return cell;
}

static void grid_box(const struct zr_grid *g, const uint64_t *at, const uint64_t *chunk,
                     struct zr_box *ret)
{
	for (uint32_t k = 0; k < g->ndim; k++) {
		ret->start[k] = at[k] * chunk[k];
		ret->extent[k] = ZR_MIN(chunk[k], g->shape[k] - ret->start[k]);
	}
}

void zr_grid_cell_box(const struct zr_grid *g, uint64_t cell, struct zr_box *ret)
{
	uint64_t at[ZR_MAX_DIMS];

	zr_grid_cell_at(g, cell, at);
	grid_box(g, at, g->cell, ret);
}

void zr_grid_object_box(const struct zr_grid *g, uint64_t object, struct zr_box *ret)
{
	uint64_t at[ZR_MAX_DIMS];

	zr_grid_object_at(g, object, at);
	grid_box(g, at, g->object, ret);
}

uint64_t zr_grid_record(const struct zr_grid *g, const uint64_t index[ZR_MAX_DIMS])
{
	uint64_t record = 0;

	for (uint32_t k = 0; k < g->ndim; k++)
		record += index[k] * g->behind[k];
	return record;
}

static unsigned int digits_of(uint64_t v)
{
	unsigned int n = 1;

	for (; v >= 10; v /= 10)
		n++;
	return n;
}

/* Digits of all integers below n together: those from 10^(d-1) to 10^d - 1 have d each.
 */
static uint64_t digits_below(uint64_t n)
{
	uint64_t sum = n > 0; /* the 0 */
	uint64_t from = 1, to;

	for (unsigned int d = 1; from < n; d++, from = to) {
		to = from <= n / 10 ? from * 10 : n;
		sum = zr_add_most(sum, zr_mul_most(to - from, d));
	}
	return sum;
}

uint64_t zr_grid_digits_before(const struct zr_grid *g, uint64_t record)
{
	uint64_t sum = 0;

	/* Along axis k the index counts 0 to shape - 1, each value for `behind` records,
	 * over and over. */
	for (uint32_t k = 0; k < g->ndim; k++) {
		uint64_t cycle = g->behind[k] * g->shape[k];
		uint64_t whole, rest, value;

		if (cycle == 0)
			return 0;
		whole = record / cycle;
		rest = record % cycle;
		value = rest / g->behind[k];
		whole = zr_mul_most(g->behind[k], whole);
		sum = zr_add_most(sum, zr_mul_most(digits_below(g->shape[k]), whole));
		sum = zr_add_most(sum, zr_mul_most(digits_below(value), g->behind[k]));
		sum = zr_add_most(sum,
		                  zr_mul_most(rest % g->behind[k], digits_of(value)));
	}
	return ZR_MIN(sum, ZR_MAX_FILE);
}

uint64_t zr_grid_digits(const struct zr_grid *g, const uint64_t index[ZR_MAX_DIMS])
{
	uint64_t sum = 0;

	for (uint32_t k = 0; k < g->ndim; k++)
		sum += digits_of(index[k]);
	return sum;
}

void zr_grid_key(const struct zr_array *a, const uint64_t at[ZR_MAX_DIMS], char separator,
                 char key[ZR_KEY_MAX])
{
	char *p = key;

	if (!a->v2_keys)
		*p++ = 'c';
	else if (a->ndim == 0)
		*p++ = '0';
	for (uint32_t k = 0; k < a->ndim; k++) {
		if (p != key)
			*p++ = separator;
		p += sprintf(p, "%llu", (unsigned long long)at[k]);
	}
	*p = '\0';
}
