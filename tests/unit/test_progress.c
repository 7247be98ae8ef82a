/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include <pty.h>
#include <stdio.h>
#include <unistd.h>

#include "test.h"

static int stderr_was, master;

/* stderr becomes a terminal of so many columns. */
static void open_terminal(unsigned short columns)
{
	struct winsize size = {.ws_row = 24, .ws_col = columns};
	int slave;

	CHECK_INT(openpty(&master, &slave, NULL, NULL, &size), 0);
	stderr_was = dup(STDERR_FILENO);
	dup2(slave, STDERR_FILENO);
	close(slave);
}

/* What was written to it; stderr is what it was. */
static const char *close_terminal(char out[1000])
{
	size_t len = 0;
	ssize_t n;

	dup2(stderr_was, STDERR_FILENO);
	close(stderr_was);
	/* EIO at the end: nobody has it open any more. */
	while (len < 999 && (n = read(master, out + len, 999 - len)) > 0)
		len += (size_t)n;
	close(master);
	out[len] = '\0';
	return out;
}

static void a_line_is_written_over_and_cleared_away(void)
{
	struct zr_progress p;
	char out[1000];

	open_terminal(80);
	zr_progress_init(&p);
	zr_progress_show(&p, "%d of %d", 1, 3);
	zr_progress_show(&p, "%d of %d", 2, 3);
	zr_progress_hide(&p);
	zr_progress_hide(&p);
	zr_progress_done(&p);
	CHECK_STR(close_terminal(out), "\r1 of 3\033[K\r2 of 3\033[K\r\033[K");
}

static void a_line_ends_where_the_terminal_does(void)
{
	struct zr_progress p;
	char out[1000];

	open_terminal(10);
	zr_progress_init(&p);
	zr_progress_show(&p, "12345678äö");
	zr_progress_show(&p, "a\033[31mb");
	zr_progress_done(&p);
	CHECK_STR(close_terminal(out), "\r12345678\033[K\ra?[31mb\033[K\r\033[K");
}

static void short_work_shows_nothing(void)
{
	struct zr_progress p;
	char out[1000];

	open_terminal(80);
	zr_progress_init(&p);
	CHECK(!zr_progress_due(&p));
	p.next = 0;
	CHECK(zr_progress_due(&p));
	CHECK(!zr_progress_due(&p));
	zr_progress_done(&p);
	CHECK_STR(close_terminal(out), "");
}

static void what_is_no_terminal_gets_nothing(void)
{
	struct zr_progress p;
	int fds[2], saved = dup(STDERR_FILENO);
	char c;

	CHECK_INT(pipe(fds), 0);
	dup2(fds[1], STDERR_FILENO);
	close(fds[1]);
	zr_progress_init(&p);
	p.next = 0;
	CHECK(!zr_progress_due(&p));
	zr_progress_show(&p, "x");
	zr_progress_done(&p);
	dup2(saved, STDERR_FILENO);
	close(saved);
	CHECK_INT(read(fds[0], &c, 1), 0);
	close(fds[0]);
}

int main(void)
{
	RUN(a_line_is_written_over_and_cleared_away);
	RUN(a_line_ends_where_the_terminal_does);
	RUN(short_work_shows_nothing);
	RUN(what_is_no_terminal_gets_nothing);
	return EXIT_SUCCESS;
}
