/* SPDX-License-Identifier: MIT */
/*
 * All sizes of an array beforehand, and whether they are on disk then: what is there is
 * read in whole by the pass, and what was measured is looked for where it was written.
 */
#include <errno.h>

#include "sizes_impl.h"

/* What the next mount will find. */
static bool is_on_disk(const struct zr_sizes *s, const struct zr_recall *r)
{
	ZR_CLEANUP(zr_freep) uint64_t *sizes = calloc(s->nfiles, sizeof(*sizes));
	struct zr_stamp kept;

	return sizes && zr_index_head(&r->id, s->nfiles, sizes, &kept) &&
	       zr_stamp_equal(&kept, &r->seen);
}

/* Of a pass that has come to its end. */
static enum zr_whole_state whole_state(const struct zr_sizes *s,
                                       const struct zr_recall *r)
{
	const struct zr_present *present = &s->source->present;

	if (zr_present_count(present) == 0)
		return ZR_WHOLE_EMPTY;
	if (r->state == ZR_RECALL_SURE)
		return ZR_WHOLE_FOUND;
	if (present->all)
		return ZR_WHOLE_CROWDED;
	if (r->seen.unsure)
		return ZR_WHOLE_DAMAGED;
	if (!zr_recall_may_keep(r, present))
		return ZR_WHOLE_FRESH;
	return is_on_disk(s, r) ? ZR_WHOLE_KEPT : ZR_WHOLE_UNWRITTEN;
}

void zr_sizes_whole(struct zr_sizes *s, struct zr_ticket *ticket, struct zr_whole *ret)
{
	struct zr_recall recall = {0};
	enum zr_pass_state state;
	uint64_t record, offset;

	*ret = (struct zr_whole){.state = ZR_WHOLE_BUSY};
	pthread_mutex_lock(&s->lock);
	state = s->state;
	if (s->listed && s->nunits > 0)
		ret->part = (double)s->finished / (double)s->nunits;
	ret->error = s->error;
	if (s->recall)
		recall = *s->recall;
	pthread_mutex_unlock(&s->lock);

	/* An index that is on disk is saved by the last of the jobs. */
	if (zr_sizes_busy(s))
		return;
	if (state == ZR_PASS_DONE) {
		ret->state = whole_state(s, &recall);
	} else if (state == ZR_PASS_PAUSED) {
		ret->state = ZR_WHOLE_FAILED;
		ret->error = ret->error < 0 ? ret->error : -EINTR;
	} else if (zr_sizes_locate(s, 0, 0, ticket, &record, &offset) == 0) {
		ret->part = 1; /* somebody else has just begun it, and it is soon over */
	}
}
