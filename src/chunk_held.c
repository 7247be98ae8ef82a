/* SPDX-License-Identifier: MIT */
/*
 * Copies of what lies in shards that were compressed as a whole. They are not of the
 * cache, and held while one waits for room in it. So all readers together hold MAX_HELD
 * at most, or one of them more. Such shards are rare: that their readers wait for each
 * other costs less than to hold all of them.
 */
#include "chunk_impl.h"

#define MAX_HELD ((uint64_t)32 << 20) /* bytes */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t less;
	uint64_t bytes;
} held = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

void zr_spot_hold(struct zr_spot *p, uint64_t bytes)
{
	pthread_mutex_lock(&held.lock);
	while (held.bytes > 0 && held.bytes + bytes > MAX_HELD)
		pthread_cond_wait(&held.less, &held.lock);
	held.bytes += bytes;
	pthread_mutex_unlock(&held.lock);
	p->room = bytes;
}

void zr_spot_done(struct zr_spot *p)
{
	zr_buf_done(&p->held);
	if (p->room == 0)
		return;
	pthread_mutex_lock(&held.lock);
	held.bytes -= p->room;
	pthread_cond_broadcast(&held.less);
	pthread_mutex_unlock(&held.lock);
}
