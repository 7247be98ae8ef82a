/* SPDX-License-Identifier: MIT */
/*
 * asker.h - is the thread that waits for an answer being killed?
 *
 * The kernel tells a FUSE server only that an asker was signalled, once, and not by what.
 * A signal that kills leaves SIGKILL pending in each thread of the process until the
 * threads have left the kernel, and that can be read in /proc. Any other signal (a timer,
 * a window that changes its size, ^Z) must not fail a request: the kernel holds it back
 * until the answer is there.
 *
 * Layer 0. Includes nothing of zarrfs.
 *
 * Threads: any.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* True when the thread is being killed, or is there no more. When in doubt, false. */
bool zr_asker_gone(pid_t tid);

/* The same for the text of a thread's status file: SIGKILL pending, or a zombie. */
bool zr_asker_is_dying(FILE *status);
