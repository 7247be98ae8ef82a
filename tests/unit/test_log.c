/* SPDX-License-Identifier: MIT */
#include "test.h"
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static char dir[] = "/tmp/zarrfs-test-log-XXXXXX";
static char path[sizeof(dir) + 8];
static char text[1 << 20];

static time_t the_time = 5;

/* In place of the C library's: time passes when a test says so. */
int clock_gettime(clockid_t clock, struct timespec *ret)
{
	(void)clock;
	*ret = (struct timespec){.tv_sec = the_time};
	return 0;
}

/* What the log file holds now. */
static const char *logged(void)
{
	FILE *f = fopen(path, "r");
	size_t n;

	CHECK(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	CHECK(n < sizeof(text) - 1);
	fclose(f);
	text[n] = '\0';
	return text;
}

static void start(void)
{
	unlink(path);
	CHECK_INT(zr_log_to_file(path), 0);
	zr_log_set_level(ZR_LOG_INFO);
}

static void a_line_has_time_level_and_text(void)
{
	const char *line;
	int year, month, day, hour, minute, second;
	char rest[64] = "";

	start();
	zr_warning("chunk '%s' is damaged", "c/0");
	line = logged();
	CHECK_INT(sscanf(line, "%4d-%2d-%2dT%2d:%2d:%2dZ %63[^\n]", &year, &month, &day,
	                 &hour, &minute, &second, rest),
	          7);
	CHECK_STR(rest, "warning: chunk 'c/0' is damaged");
	CHECK_INT(line[strlen(line) - 1], '\n');
}

static void lines_above_the_level_are_dropped(void)
{
	start();
	zr_debug("a");
	zr_log_set_level(ZR_LOG_ERROR);
	zr_warning("b");
	zr_info("c");
	CHECK_STR(logged(), "");
	zr_log_set_level(ZR_LOG_DEBUG);
	zr_debug("d");
	CHECK(strstr(logged(), " debug: d\n"));
}

static void control_characters_do_not_get_through(void)
{
	start();
	zr_error("a\nb\x1b[1m \xc2\x9b \x9b \xc3\xa9");
	CHECK(strstr(logged(), " error: a?b?[1m ?? ? \xc3\xa9\n"));
	CHECK(strchr(text, '\n') == text + strlen(text) - 1);
}

static void a_long_line_is_cut_at_a_character(void)
{
	char longer[8192] = "x";
	const char *end;

	for (size_t at = 1; at + 3 < sizeof(longer); at += 3)
		memcpy(longer + at, "\xe4\xb8\xad", 4);
	start();
	zr_info("%s", longer);
	end = logged() + strlen(text);
	CHECK(end - text > 2000 && end - text < 2200);
	CHECK(memcmp(end - 4, "\xe4\xb8\xad\n", 4) == 0);
}

static void errno_survives(void)
{
	CHECK_INT(zr_log_to_file("/dev/full"), 0);
	errno = ERANGE;
	zr_info("this cannot be written");
	CHECK_INT(errno, ERANGE);
}

static void a_file_that_cannot_be_opened_changes_nothing(void)
{
	start();
	CHECK_INT(zr_log_to_file("/dev/null/x"), -ENOTDIR);
	zr_info("still here");
	CHECK(strstr(logged(), "still here"));
}

static void a_file_is_appended_to(void)
{
	start();
	zr_info("one");
	CHECK_INT(zr_log_to_file(path), 0);
	zr_info("two");
	CHECK(strstr(logged(), "one\n") && strstr(text, "two\n"));
}

static void *many_lines(void *arg)
{
	for (int i = 0; i < 500; i++)
		zr_info("%s%0100d%s", (const char *)arg, i, (const char *)arg);
	return NULL;
}

static void lines_of_threads_are_whole(void)
{
	static const char *const who[] = {"a", "b", "c", "d"};
	pthread_t t[4];
	size_t lines = 0;

	start();
	for (size_t i = 0; i < 4; i++)
		CHECK_INT(pthread_create(&t[i], NULL, many_lines, (void *)who[i]), 0);
	for (size_t i = 0; i < 4; i++)
		CHECK_INT(pthread_join(t[i], NULL), 0);
	logged();
	for (char *p = strtok(text, "\n"); p; p = strtok(NULL, "\n"), lines++) {
		size_t n = strlen(p);

		CHECK_INT(n, 21 + 1 + 100 + 1);
		CHECK_INT(p[21], p[n - 1]);
	}
	CHECK_INT(lines, 2000);
}

static void stderr_is_the_first_place(void)
{
	int saved = dup(STDERR_FILENO);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(saved >= 0 && fd >= 0);
	CHECK(dup2(fd, STDERR_FILENO) >= 0);
	zr_info("hello");
	zr_error("bad");
	CHECK(dup2(saved, STDERR_FILENO) >= 0);
	close(saved);
	close(fd);
	CHECK_STR(logged(), "zarrfs: hello\nzarrfs: error: bad\n");
}

static void syslog_takes_over(void)
{
	start();
	zr_log_open_syslog();
	zr_log_to_syslog();
	zr_debug("not for syslog either");
	zr_info("test of zarrfs: %s", "a line");
	CHECK_STR(logged(), "");
}

static void keep_line(void *arg, const char *line)
{
	strcat(strcat(arg, line), "|");
}

static void a_function_gets_bare_lines(void)
{
	char lines[64] = "";

	zr_log_to_function(keep_line, lines);
	zr_log_set_level(ZR_LOG_WARNING);
	zr_error("a %d", 1);
	zr_warning("b\n\033");
	zr_info("c");
	zr_log_to_function(NULL, NULL);
	CHECK_STR(lines, "a 1|b??|");
}

static void too_many_lines_are_counted(void)
{
	char lines[256] = "";

	zr_log_to_function(keep_line, lines);
	zr_log_set_level(ZR_LOG_INFO);
	zr_log_limit(2, 86400);
	zr_error("a");
	zr_warning("b");
	zr_error("c");
	zr_warning("d");
	CHECK_STR(lines, "a|b|");
	zr_info("e");
	CHECK_STR(lines, "a|b|2 lines were left out, being too many|e|");
	lines[0] = '\0';
	zr_error("c");
	zr_log_limit(0, 1);
	for (int i = 0; i < 9; i++)
		zr_error("f");
	zr_log_to_function(NULL, NULL);
	CHECK_STR(lines, "1 lines were left out, being too many|f|f|f|f|f|f|f|f|f|");
}

/* One line for each ten seconds, of which nothing is lost, and three at once at most. */
static void time_makes_room_for_lines(void)
{
	static const struct {
		int later;
		const char *want;
	} row[] = {
		{0, "x|x|x|"},
		{9, ""},
		{1, "9 lines were left out, being too many|x|"},
		{25, "5 lines were left out, being too many|x|x|"},
		{4, ""},
		{1, "10 lines were left out, being too many|x|"},
		{1000, "5 lines were left out, being too many|x|x|x|"},
	};
	char lines[256];

	zr_log_to_function(keep_line, lines);
	zr_log_set_level(ZR_LOG_INFO);
	zr_log_limit(3, 10);
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		lines[0] = '\0';
		the_time += row[i].later;
		for (int n = 0; n < 6; n++)
			zr_error("x");
		CHECK_STR(lines, row[i].want);
	}
	zr_log_limit(0, 1);
	zr_log_to_function(NULL, NULL);
}

int main(void)
{
	CHECK(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/log", dir);
	RUN(stderr_is_the_first_place);
	RUN(a_line_has_time_level_and_text);
	RUN(a_function_gets_bare_lines);
	RUN(lines_above_the_level_are_dropped);
	RUN(control_characters_do_not_get_through);
	RUN(a_long_line_is_cut_at_a_character);
	RUN(errno_survives);
	RUN(a_file_that_cannot_be_opened_changes_nothing);
	RUN(a_file_is_appended_to);
	RUN(lines_of_threads_are_whole);
	RUN(too_many_lines_are_counted);
	RUN(time_makes_room_for_lines);
	RUN(syslog_takes_over);
	unlink(path);
	rmdir(dir);
	return EXIT_SUCCESS;
}
