/* SPDX-License-Identifier: MIT */
/*
 * progress.h - how far a long work is, on a terminal
 *
 * One line on stderr that is written over and over. Where stderr is no terminal, nothing
 * is ever shown.
 *
 * Layer 0. May include util.h, utf8.h.
 *
 * Threads: any, once it is set up; a line is written whole.
 */
#pragma once

#include <pthread.h>

#include "util.h"

struct zr_progress {
	bool on; /* stderr is a terminal */

	pthread_mutex_t lock; /* guards what follows */
	bool visible;
	uint64_t next; /* when to show something: ms of the monotonic clock */
};

void zr_progress_init(struct zr_progress *p);

/* Clears the line away. */
void zr_progress_done(struct zr_progress *p);

/* Whether it is time for a new line: some ten times a second, and not in the first half
 * of one, so that short work shows nothing. */
bool zr_progress_due(struct zr_progress *p);

/* Shows a line, cut where the terminal ends. */
void zr_progress_show(struct zr_progress *p, const char *fmt, ...) ZR_PRINTF(2, 3);

/* Clears the line away, because something else is about to be written. */
void zr_progress_hide(struct zr_progress *p);
