/* SPDX-License-Identifier: MIT */
#include "recall.h"

#include <time.h>

/* What is looked at while the array's documents are parsed: `find` parses those of all
 * arrays, and wants no sizes. */
#define EARLY_OBJECTS 128
#define EARLY_MS 10
#define LOOK_AT_CLOCK 16

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void zr_recall_init(struct zr_recall *r, const struct zr_index_id *id,
                    const struct timespec *born)
{
	*r = (struct zr_recall){.id = *id, .born = *born};
}

/* Looks at all objects; false when that takes too long, or the store does not answer. */
static bool look_at_all(const struct zr_source *source, const struct zr_present *present,
                        struct zr_stamp *ret)
{
	uint64_t stop = now_ms() + EARLY_MS;

	for (size_t i = 0; i < present->count; i++) {
		if (i % LOOK_AT_CLOCK == 0 && now_ms() > stop)
			return false;
		if (zr_stamp_object(ret, source, present->ids[i]) < 0)
			return false;
	}
	return true;
}

bool zr_recall_sizes(struct zr_recall *r, struct zr_source *source, uint32_t nfiles,
                     uint64_t *ret_sizes)
{
	const struct zr_present *present;
	struct zr_stamp seen = {0};

	if (!zr_index_head(&r->id, nfiles, ret_sizes, &r->kept))
		return false;
	r->state = ZR_RECALL_HOPED;
	if (r->kept.objects > EARLY_OBJECTS || zr_source_list(source, &present) < 0)
		return false;
	if (!zr_recall_is_hoped(r, present)) {
		r->state = ZR_RECALL_NONE;
		return false;
	}
	if (!look_at_all(source, present, &seen))
		return false;
	r->seen = seen;
	return zr_recall_settle(r);
}

void zr_recall_renounce(struct zr_recall *r)
{
	r->state = ZR_RECALL_NONE;
	r->id.index = NULL;
}

bool zr_recall_is_hoped(const struct zr_recall *r, const struct zr_present *present)
{
	return r->state == ZR_RECALL_HOPED && !present->all && present->count > 0 &&
	       present->count == r->kept.objects;
}

bool zr_recall_has_seen(const struct zr_recall *r, const struct zr_present *present)
{
	return !present->all && r->seen.objects == present->count;
}

bool zr_recall_settle(struct zr_recall *r)
{
	bool same = zr_stamp_equal(&r->seen, &r->kept);

	r->state = same ? ZR_RECALL_SURE : ZR_RECALL_NONE;
	return same;
}

bool zr_recall_may_keep(const struct zr_recall *r, const struct zr_present *present)
{
	return r->id.index && r->seen.objects > 0 && zr_recall_has_seen(r, present) &&
	       zr_stamp_older(&r->seen, &r->born);
}
