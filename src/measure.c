/* SPDX-License-Identifier: MIT */
/*
 * All files of an array at once: each value is looked at once, however many files show
 * it (its own, the records.jsonl of each level around it, records.csv). What does not
 * depend on values comes from the compiled lines.
 */
#include "render_impl.h"

#define MEASURE_BLOCK 256

struct zr_measure {
	const struct zr_layout *layout;
	uint64_t record;         /* bytes */
	struct zr_value *values; /* owned: nleaves */
	uint64_t *fixed; /* owned: by file, bytes of every line that are no values */
};

static int measure_fix(struct zr_measure *m, uint32_t file, struct zr_line *own_line)
{
	if (!own_line)
		return -1;
	m->fixed[file] = own_line->fixed;
	zr_line_free(own_line);
	return 0;
}

static int measure_fix_all(struct zr_measure *m, const struct zr_array *a,
                           const struct zr_render_opts *o)
{
	const struct zr_layout *l = m->layout;
	uint32_t file = 0;
	int r = 0;

	for (uint32_t i = 0; i < l->nleaves && r == 0; i++)
		r = measure_fix(m, file++, zr_line_new_text(l, i, o));
	for (uint32_t i = 0; i < l->nlevels && r == 0; i++)
		r = measure_fix(m, file++, zr_line_new_json(a, l, i, o));
	if (r == 0)
		r = measure_fix(m, file, zr_line_new_csv(a, l, o));
	return r;
}

struct zr_measure *zr_measure_new(const struct zr_array *a, const struct zr_layout *l,
                                  const struct zr_render_opts *o)
{
	struct zr_measure *m = calloc(1, sizeof(*m));
	bool sole = zr_csv_is_sole(a, l);

	if (!m)
		return NULL;
	m->layout = l;
	m->record = a->type.size;
	m->values = calloc(l->nleaves, sizeof(*m->values));
	m->fixed = calloc(zr_measure_files(m), sizeof(*m->fixed));
	if (!m->values || !m->fixed || measure_fix_all(m, a, o) < 0) {
		zr_measure_free(m);
		return NULL;
	}
	for (uint32_t i = 0; i < l->nleaves; i++) {
		const struct zr_type *t = l->leaves[i].type;

		zr_value_init(&m->values[i], t, ZR_FORM_TEXT, o, '\n');
		if (sole && l->leaves[i].count == 1)
			zr_value_set_sole(&m->values[i], t);
	}
	return m;
}

void zr_measure_free(struct zr_measure *m)
{
	if (!m)
		return;
	free(m->values);
	free(m->fixed);
	free(m);
}

uint32_t zr_measure_files(const struct zr_measure *m)
{
	return m->layout->nleaves + m->layout->nlevels + 1;
}

/* All elements of a leaf in n records. */
static void measure_axes(const struct zr_value *v, const struct zr_axis *axes,
                         uint32_t naxes, const uint8_t *p, uint64_t stride, uint64_t n,
                         struct zr_lens *sum)
{
	if (naxes == 0) {
		v->measure(v, p, stride, n, sum);
		return;
	}
	if (naxes == 1) {
		zr_measure_elements(v, p, axes->stride, axes->count, stride, n, sum);
		return;
	}
	for (uint64_t i = 0; i < axes->count; i++, p += axes->stride)
		measure_axes(v, axes + 1, naxes - 1, p, stride, n, sum);
}

static void measure_add(uint64_t *sum, uint64_t len, uint64_t times)
{
	*sum = zr_sat_add(*sum, zr_sat_mul(len, times));
}

/* n records, each of which is there `times` times. What they have in common is measured
 * once. */
static void measure_block(const struct zr_measure *m, const uint8_t *rec, uint64_t stride,
                          uint64_t n, uint64_t times, uint64_t *sums)
{
	const struct zr_layout *l = m->layout;
	uint64_t *levels = sums + l->nleaves;
	uint64_t *csv = levels + l->nlevels;
	struct zr_same same;

	zr_same_find(&same, rec, m->record, stride, n);
	for (uint32_t i = 0; i < l->nleaves; i++) {
		const struct zr_column *c = &l->leaves[i];
		bool all = zr_same_has(&same, c->offset, zr_column_extent(c));
		uint64_t each = all ? n * times : times;
		struct zr_lens sum = {0};

		if (c->count == 0)
			continue;
		measure_axes(&m->values[i], c->axes, c->naxes, rec + c->offset, stride,
		             all ? 1 : n, &sum);
		measure_add(&sums[i], sum.of[ZR_FORM_TEXT], each);
		measure_add(csv, sum.of[ZR_FORM_CSV], each);
		for (uint32_t level = c->parent;; level = l->levels[level].parent) {
			measure_add(&levels[level], sum.of[ZR_FORM_JSON], each);
			if (level == 0)
				break;
		}
	}
}

void zr_measure_run(const struct zr_measure *m, const uint8_t *rec, uint64_t stride,
                    uint64_t n, uint64_t *sums)
{
	uint64_t block = zr_block_records(stride, MEASURE_BLOCK);

	if (n == 0)
		return;
	for (uint32_t i = 0; i < zr_measure_files(m); i++)
		measure_add(&sums[i], m->fixed[i], n);
	if (stride == 0) {
		measure_block(m, rec, 0, 1, n, sums);
		return;
	}
	for (uint64_t at = 0; at < n; at += block)
		measure_block(m, rec + at * stride, stride, ZR_MIN(block, n - at), 1,
		              sums);
}
