/* SPDX-License-Identifier: MIT */
/*
 * report.h - what a mount has done and what it takes, in one line
 *
 *   counters: lookup=3 getattr=2 read=12 readdir=1 answered=1456789 ...
 *
 * `name=number` with blanks between, always the same names; zarrfs(1) explains them. The
 * numbers are looked at one after the other, while work goes on.
 *
 * Layer 5. May include engine.h and below.
 *
 * Threads: any.
 */
#pragma once

#include "buf.h"

struct zr_engine;

/* Appends the line, without a line feed. */
void zr_report(const struct zr_engine *e, struct zr_buf *out);
