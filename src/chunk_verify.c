/* SPDX-License-Identifier: MIT */
#include "chunk_impl.h"

#include <errno.h>
#include <stdio.h>

#include "log.h"

/* Whether a reader gets its chunks by ranges. */
static bool is_read_in_parts(const struct zr_array *a)
{
	return a->nlevels > 1 && zr_codecs_count(a->levels[0].codecs) == 0;
}

bool zr_source_verify(struct zr_source *s, uint64_t object)
{
	ZR_CLEANUP(zr_freep) char *key = NULL;
	uint64_t at[ZR_MAX_DIMS];
	char name[ZR_KEY_MAX];
	struct zr_err err = {0};

	if (!is_read_in_parts(s->array))
		return true;
	zr_grid_object_at(&s->grid, object, at);
	zr_grid_key(s->array, at, s->array->separator, name);
	if (asprintf(&key, "%s%s%s", s->path, *s->path ? "/" : "", name) < 0) {
		key = NULL;
		return true;
	}
	/* Whatever else may be wrong is found, and said, where its chunks are read. */
	if (zr_store_verify(s->store, key, &err) != -EUCLEAN)
		return true;
	zr_error("array '/%s': chunk '%s' is damaged: %s", s->path, name, err.text);
	return false;
}
