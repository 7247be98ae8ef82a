/* SPDX-License-Identifier: MIT */
/* That it unmounts is for tests on mounts: tests/mount/sandbox.bats. */
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "keeper.h"

static struct zr_keeper start(void)
{
	struct zr_keeper k = {0};
	struct zr_err err = {0};

	CHECK_INT(zr_keeper_start("/", &k, &err), 0);
	CHECK(k.pid > 0 && k.fd >= 0);
	return k;
}

static void a_word_ends_it(void)
{
	for (int gone = 0; gone < 2; gone++) {
		struct zr_keeper k = start();
		struct pollfd p = {.fd = k.fd};

		CHECK_INT(poll(&p, 1, 0), 0);
		zr_keeper_end(&k, gone);
		CHECK_INT(k.pid, 0);
		/* What end_mount() shows to libfuse. */
		CHECK_INT(poll(&p, 1, 0), 1);
		CHECK(p.revents & POLLERR);
		close(k.fd);
	}
}

static void the_end_of_the_daemon_ends_it(void)
{
	struct zr_keeper k = start();
	int status;

	close(k.fd);
	CHECK_INT(waitpid(k.pid, &status, 0), k.pid);
	CHECK_INT(status, 0);
}

/* Until it sleeps in read(): then it has done all that it does before. */
static void wait_until_ready(pid_t pid)
{
	char path[64], name[32] = "";

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	while (strcmp(name, "zarrfs-keeper\n") != 0) {
		FILE *f = fopen(path, "re");

		CHECK(f && fgets(name, sizeof(name), f));
		fclose(f);
	}
}

static void no_signal_but_kill_ends_it(void)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE};
	struct zr_keeper k = start();
	int status;

	wait_until_ready(k.pid);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		CHECK_INT(kill(k.pid, signals[i]), 0);
	CHECK_INT(waitpid(k.pid, &status, WNOHANG), 0);
	zr_keeper_end(&k, true);
	close(k.fd);
}

static void it_holds_nothing_but_its_pipe(void)
{
	struct zr_keeper k;
	char path[64], target[64];
	struct dirent *e;
	int other[2], fds = 0;
	DIR *d;

	CHECK_INT(pipe(other), 0);
	k = start();
	wait_until_ready(k.pid);
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)k.pid);
	d = opendir(path);
	CHECK(d);
	while ((e = readdir(d))) {
		ssize_t n = readlinkat(dirfd(d), e->d_name, target, sizeof(target) - 1);

		if (n < 0)
			continue;
		target[n] = '\0';
		fds++;
		CHECK(strcmp(target, "/dev/null") == 0 ||
		      strncmp(target, "pipe:", 5) == 0);
	}
	closedir(d);
	CHECK_INT(fds, 4);
	close(other[1]);
	/* The end of that pipe: the keeper has not got it. */
	CHECK_INT(read(other[0], target, 1), 0);
	close(other[0]);
	zr_keeper_end(&k, true);
	close(k.fd);
}

static void a_keeper_that_was_killed_is_not_waited_for(void)
{
	struct zr_keeper k = start();

	signal(SIGPIPE, SIG_IGN);
	CHECK_INT(kill(k.pid, SIGKILL), 0);
	zr_keeper_end(&k, false);
	close(k.fd);
}

int main(void)
{
	RUN(a_word_ends_it);
	RUN(the_end_of_the_daemon_ends_it);
	RUN(no_signal_but_kill_ends_it);
	RUN(it_holds_nothing_but_its_pipe);
	RUN(a_keeper_that_was_killed_is_not_waited_for);
	return EXIT_SUCCESS;
}
