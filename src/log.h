/* SPDX-License-Identifier: MIT */
/*
 * log.h - one line to stderr, to syslog or to a file
 *
 * A daemon has one log, so this and main.c are the only modules with state of
 * their own. Lines never hold control characters, whatever a store put into the
 * names that they quote.
 *
 * Layer 0. May include util.h.
 *
 * Threads: any; a line is written whole.
 */
#pragma once

#include "util.h"

enum zr_log_level { ZR_LOG_ERROR, ZR_LOG_WARNING, ZR_LOG_INFO, ZR_LOG_DEBUG };

/* Where lines go: to stderr until one of these is called. A file is appended to.
 * -errno when it cannot be opened (the log stays where it was). */
ZR_MUST_CHECK int zr_log_to_file(const char *path);
/* zr_log_open_syslog() first, while sockets can be opened. */
void zr_log_open_syslog(void);
void zr_log_to_syslog(void);
/* To a function, which must not log; NULL: to stderr again. */
void zr_log_to_function(void (*put)(void *arg, const char *text), void *arg);

/*
 * Errors and warnings tell of a store, and whoever made it, or reads it again and again,
 * could fill the disk with them: from here on `lines` of them are written at once, and
 * one more whenever `seconds` have passed. How many were left out is a line before the
 * next one, or when this is called again. 0 lines: no limit, as at the start.
 */
void zr_log_limit(size_t lines, unsigned int seconds);

/* Lines above this level are dropped; ZR_LOG_INFO at the start. */
void zr_log_set_level(enum zr_log_level level);

void zr_log(enum zr_log_level level, const char *fmt, ...) ZR_PRINTF(2, 3);

#define zr_error(...) zr_log(ZR_LOG_ERROR, __VA_ARGS__)
#define zr_warning(...) zr_log(ZR_LOG_WARNING, __VA_ARGS__)
#define zr_info(...) zr_log(ZR_LOG_INFO, __VA_ARGS__)
#define zr_debug(...) zr_log(ZR_LOG_DEBUG, __VA_ARGS__)
