/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "utf8.h"

#define FIRST_MS 500
#define EVERY_MS 100
#define LINE 512

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void zr_progress_init(struct zr_progress *p)
{
	*p = (struct zr_progress){.on = isatty(STDERR_FILENO),
	                          .next = now_ms() + FIRST_MS};
	pthread_mutex_init(&p->lock, NULL);
}

void zr_progress_done(struct zr_progress *p)
{
	zr_progress_hide(p);
	pthread_mutex_destroy(&p->lock);
}

bool zr_progress_due(struct zr_progress *p)
{
	uint64_t now;
	bool due;

	if (!p->on)
		return false;
	now = now_ms();
	pthread_mutex_lock(&p->lock);
	due = now >= p->next;
	if (due)
		p->next = now + EVERY_MS;
	pthread_mutex_unlock(&p->lock);
	return due;
}

/* Columns that may be used: the last one stays free, where some terminals wrap. */
static size_t columns(void)
{
	struct winsize w;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) < 0 || w.ws_col < 2)
		return 79;
	return w.ws_col - 1u;
}

void zr_progress_show(struct zr_progress *p, const char *fmt, ...)
{
	char line[LINE];
	va_list ap;
	size_t most = ZR_MIN(columns(), sizeof(line) - 1);

	if (!p->on)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (strlen(line) > most)
		line[most] = '\0';
	zr_utf8_trim(line);
	zr_utf8_clean(line);
	pthread_mutex_lock(&p->lock);
	fprintf(stderr, "\r%s\033[K", line);
	fflush(stderr);
	p->visible = true;
	pthread_mutex_unlock(&p->lock);
}

void zr_progress_hide(struct zr_progress *p)
{
	pthread_mutex_lock(&p->lock);
	if (p->visible) {
		fputs("\r\033[K", stderr);
		fflush(stderr);
	}
	p->visible = false;
	pthread_mutex_unlock(&p->lock);
}
