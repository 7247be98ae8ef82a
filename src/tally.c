/* SPDX-License-Identifier: MIT */
#include "tally.h"

#include <stdatomic.h>

#define CACHE_LINE 64

static struct {
	_Alignas(CACHE_LINE) _Atomic uint64_t n;
} tally[ZR_NTALLIES];

void zr_tally_add(enum zr_tally t, uint64_t n)
{
	atomic_fetch_add_explicit(&tally[t].n, n, memory_order_relaxed);
}

uint64_t zr_tally_get(enum zr_tally t)
{
	return atomic_load_explicit(&tally[t].n, memory_order_relaxed);
}
