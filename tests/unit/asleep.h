/* SPDX-License-Identifier: MIT */
/*
 * asleep.h - whether a thread waits for something, as the kernel sees it
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "test.h"

struct sleeper {
	atomic_int tid;
	atomic_bool ended;
};

/* To be called by the thread itself, before and behind what it may wait in. */
static inline void sleeper_begin(struct sleeper *s)
{
	s->tid = gettid();
}

static inline void sleeper_end(struct sleeper *s)
{
	s->ended = true;
}

static inline bool sleeper_sleeps(const struct sleeper *s)
{
	char name[64], line[512] = "";
	FILE *f;

	snprintf(name, sizeof(name), "/proc/self/task/%d/stat", (int)s->tid);
	f = s->tid ? fopen(name, "r") : NULL;
	if (!f)
		return false;
	if (!fgets(line, sizeof(line), f))
		line[0] = '\0';
	fclose(f);
	return strstr(line, ") S ");
}

/* Until it waits, or has come to its end: whether it has. */
static inline bool sleeper_ends(struct sleeper *s)
{
	while (!s->ended && !sleeper_sleeps(s))
		usleep(200);
	return s->ended;
}
