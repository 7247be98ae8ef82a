/* SPDX-License-Identifier: MIT */
/*
 * tally.h - how often what was done, since the process began
 *
 * For SIGUSR1 (report.h) and for tests, which count work where a clock would lie. To be
 * added to once for a request, a chunk or a pass: never in a loop over records.
 *
 * Layer 0. May include util.h. With log.h and main.c the only modules with state of
 * their own: there is one process, whatever parts it has.
 *
 * Threads: any. Each count has a cache line of its own.
 */
#pragma once

#include "util.h"

enum zr_tally {
	ZR_TALLY_LOOKUP, /* requests of the kernel */
	ZR_TALLY_GETATTR,
	ZR_TALLY_READ,
	ZR_TALLY_READDIR,
	ZR_TALLY_ANSWERED, /* bytes in answers to READ */
	ZR_TALLY_DECODED,  /* chunks, and their bytes */
	ZR_TALLY_DECODED_BYTES,
	ZR_TALLY_MEASURED, /* passes over an array that read its chunks */
	ZR_TALLY_RENDERED, /* bytes of lines written for readers */
	ZR_NTALLIES
};

void zr_tally_add(enum zr_tally t, uint64_t n);
uint64_t zr_tally_get(enum zr_tally t);
