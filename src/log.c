/* SPDX-License-Identifier: MIT */
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "utf8.h"

#define LOG_LINE 2048 /* bytes of one line; longer ones are cut */

enum log_sink { TO_STDERR, TO_SYSLOG, TO_FILE, TO_FUNCTION };

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static enum log_sink log_sink = TO_STDERR;    /* guarded by log_lock */
static int log_fd = -1;                       /* guarded by log_lock; TO_FILE only */
static void (*log_put)(void *, const char *); /* likewise; TO_FUNCTION only */
static void *log_arg;
static atomic_int log_level = ZR_LOG_INFO;

/* Guarded by log_lock: the limit, what is left of it, since when, and what was lost. */
static struct {
	size_t lines, left, lost;
	unsigned int seconds;
	time_t since;
} log_limit;

static void log_switch(enum log_sink sink, int fd)
{
	int old;

	pthread_mutex_lock(&log_lock);
	old = log_fd;
	log_fd = fd;
	log_sink = sink;
	pthread_mutex_unlock(&log_lock);
	if (old >= 0)
		close(old);
}

int zr_log_to_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);

	if (fd < 0)
		return -errno;
	log_switch(TO_FILE, fd);
	return 0;
}

void zr_log_open_syslog(void)
{
	openlog("zarrfs", LOG_PID | LOG_NDELAY, LOG_DAEMON);
}

void zr_log_to_syslog(void)
{
	log_switch(TO_SYSLOG, -1);
}

void zr_log_to_function(void (*put)(void *arg, const char *text), void *arg)
{
	pthread_mutex_lock(&log_lock);
	log_put = put;
	log_arg = arg;
	pthread_mutex_unlock(&log_lock);
	log_switch(put ? TO_FUNCTION : TO_STDERR, -1);
}

void zr_log_set_level(enum zr_log_level level)
{
	log_level = (int)level;
}

static void log_write(int fd, const char *line, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, line, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return; /* there is nowhere to complain */
		line += n;
		len -= (size_t)n;
	}
}

/* What stands before the text: the time in a file, our name on a shared stderr. */
static size_t log_head(enum log_sink sink, enum zr_log_level level, char *out,
                       size_t size)
{
	static const char *const word[] = {"error: ", "warning: ", "", "debug: "};
	time_t now = time(NULL);
	struct tm tm;
	size_t n;

	if (sink == TO_FILE && gmtime_r(&now, &tm))
		n = strftime(out, size, "%Y-%m-%dT%H:%M:%SZ ", &tm);
	else
		n = (size_t)snprintf(out, size, "zarrfs: ");
	return n + (size_t)snprintf(out + n, size - n, "%s", word[level]);
}

/* log_lock is held. `text` has room for LOG_LINE bytes. */
static void log_emit(enum zr_log_level level, const char *text)
{
	static const int priority[] = {LOG_ERR, LOG_WARNING, LOG_INFO, LOG_DEBUG};
	char line[LOG_LINE + 64];
	size_t head;

	if (log_sink == TO_SYSLOG) {
		syslog(priority[level], "%s", text);
		return;
	}
	if (log_sink == TO_FUNCTION) {
		log_put(log_arg, text);
		return;
	}
	head = log_head(log_sink, level, line, 64);
	head += (size_t)snprintf(line + head, sizeof(line) - head, "%s\n", text);
	log_write(log_sink == TO_FILE ? log_fd : STDERR_FILENO, line, head);
}

static time_t log_now(void)
{
	struct timespec now = {0};

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* log_lock is held. Whether a line may be written. */
static bool log_has_room(enum zr_log_level level)
{
	time_t now = log_now(), more;

	if (log_limit.lines == 0 || level > ZR_LOG_WARNING)
		return true;
	more = (now - log_limit.since) / log_limit.seconds;
	log_limit.since += more * log_limit.seconds;
	log_limit.left = ZR_MIN(log_limit.lines, log_limit.left + (size_t)more);
	if (log_limit.left == 0) {
		log_limit.lost++;
		return false;
	}
	log_limit.left--;
	return true;
}

/* log_lock is held. */
static void log_tell_lost(void)
{
	char text[64];

	if (log_limit.lost == 0)
		return;
	snprintf(text, sizeof(text), "%zu lines were left out, being too many",
	         log_limit.lost);
	log_limit.lost = 0;
	log_emit(ZR_LOG_WARNING, text);
}

void zr_log_limit(size_t lines, unsigned int seconds)
{
	pthread_mutex_lock(&log_lock);
	log_tell_lost();
	log_limit.lines = log_limit.left = lines;
	log_limit.seconds = ZR_MAX(seconds, 1U);
	log_limit.since = log_now();
	pthread_mutex_unlock(&log_lock);
}

void zr_log(enum zr_log_level level, const char *fmt, ...)
{
	char text[LOG_LINE];
	int saved = errno;
	va_list ap;
	int n;

	if ((int)level > log_level)
		return;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	if (n >= (int)sizeof(text))
		zr_utf8_trim(text);
	zr_utf8_clean(text);

	pthread_mutex_lock(&log_lock);
	if (log_has_room(level)) {
		log_tell_lost();
		log_emit(level, text);
	}
	pthread_mutex_unlock(&log_lock);
	errno = saved;
}
