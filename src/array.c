/* SPDX-License-Identifier: MIT */
#include "array.h"

#include <assert.h>

struct zr_array *zr_array_new(void)
{
	struct zr_array *a = calloc(1, sizeof(*a));

	if (a)
		atomic_init(&a->refs, 1);
	return a;
}

struct zr_array *zr_array_ref(struct zr_array *a)
{
	atomic_fetch_add_explicit(&a->refs, 1, memory_order_relaxed);
	return a;
}

static void array_free(struct zr_array *a)
{
	/* All of them: an array that is dropped half-built may not have counted yet. */
	for (size_t i = 0; i < ZR_COUNT(a->levels); i++) {
		zr_codecs_free(a->levels[i].codecs);
		zr_codecs_free(a->levels[i].index_codecs);
	}
	if (a->dims)
		for (uint32_t i = 0; i < a->ndim; i++)
			free(a->dims[i].data);
	free(a->dims);
	free(a->fill);
	free(a->fill_data);
	zr_type_done(&a->type);
	free(a);
}

void zr_array_unref(struct zr_array *a)
{
	if (!a)
		return;
	assert(atomic_load(&a->refs) > 0);
	if (atomic_fetch_sub_explicit(&a->refs, 1, memory_order_acq_rel) == 1)
		array_free(a);
}
