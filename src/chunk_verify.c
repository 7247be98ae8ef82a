/* SPDX-License-Identifier: MIT */
#include "chunk_impl.h"

#include <errno.h>
#include <stdio.h>

#include "log.h"

/* --- whole objects --------------------------------------------------------------------
 */

/* Whether a reader gets its chunks by ranges. */
static bool is_read_in_parts(const struct zr_array *a)
{
	return a->nlevels > 1 && zr_codecs_count(a->levels[0].codecs) == 0;
}

int zr_source_verify(struct zr_source *s, uint64_t object, struct zr_err *reterr)
{
	ZR_CLEANUP(zr_freep) char *key = NULL;
	uint64_t at[ZR_MAX_DIMS];
	char name[ZR_KEY_MAX];
	int r;

	if (!is_read_in_parts(s->array))
		return 0;
	zr_grid_object_at(&s->grid, object, at);
	zr_grid_key(s->array, at, s->array->separator, name);
	if (asprintf(&key, "%s%s%s", s->path, *s->path ? "/" : "", name) < 0) {
		key = NULL;
		return -ENOMEM;
	}
	r = zr_store_verify(s->store, key, reterr);
	if (r == -EUCLEAN)
		zr_error("array '/%s': chunk '%s' is damaged: %s", s->path, name,
		         reterr->text);
	return r;
}

bool zr_source_is_summed(const struct zr_source *s)
{
	for (uint32_t i = 0; i < s->array->nlevels; i++)
		if (zr_codecs_sum(s->array->levels[i].codecs))
			return true;
	return s->store->sums;
}

/* --- what has changed -----------------------------------------------------------------
 */

static bool is_same(const struct zr_stat *a, const struct zr_stat *b)
{
	return a->size == b->size && a->ino == b->ino &&
	       a->mtime.tv_sec == b->mtime.tv_sec &&
	       a->mtime.tv_nsec == b->mtime.tv_nsec &&
	       a->ctime.tv_sec == b->ctime.tv_sec && a->ctime.tv_nsec == b->ctime.tv_nsec;
}

static int has_changed(struct zr_err *reterr)
{
	return zr_err_set(reterr, -EIO,
	                  "the shard was changed after its index was read; the store was "
	                  "changed while mounted, mount it again");
}

int zr_spot_check(const struct zr_spot *p, struct zr_err *reterr)
{
	struct zr_stat st;
	int r = zr_store_stat(p->src->store, p->key, &st, reterr);

	if (r == -ENOENT)
		return has_changed(reterr);
	if (r < 0)
		return r;
	return is_same(&st, &p->st) ? 0 : has_changed(reterr);
}

int zr_spot_join(struct zr_spot *p, const struct zr_stat *st, struct zr_err *reterr)
{
	if (p->level > 0 && !is_same(st, &p->st))
		return has_changed(reterr);
	p->st = *st;
	return 0;
}

int zr_source_check_absent(struct zr_source *s, uint64_t cell, struct zr_err *reterr)
{
	uint64_t at[ZR_MAX_DIMS], object[ZR_MAX_DIMS], id;

	if (!atomic_load(&s->listed) || s->present.all)
		return -ENOENT;
	zr_grid_cell_at(&s->grid, cell, at);
	for (uint32_t k = 0; k < s->grid.ndim; k++)
		object[k] = at[k] / s->grid.per_object[k];
	id = zr_grid_object(&s->grid, object);
	if (zr_present_next(&s->present, id) != id)
		return -ENOENT;
	*reterr = (struct zr_err){0};
	return zr_err_set(reterr, -EIO,
	                  "it has gone; the store was changed while mounted, mount it "
	                  "again");
}
