/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "background.h"

/* What the child does instead of mounting. */
enum deed { BE_READY, EXIT_0, EXIT_3, BE_KILLED };

static int wait_for_child(enum deed deed, struct zr_err *err)
{
	struct zr_background b;

	*err = (struct zr_err){0};
	CHECK_INT(zr_background_fork(&b, err), 0);
	if (b.child == 0) {
		if (deed == BE_KILLED)
			kill(getpid(), SIGKILL);
		if (deed == BE_READY && zr_background_ready(&b) < 0)
			_exit(1);
		_exit(deed == EXIT_3 ? 3 : 0);
	}
	return zr_background_wait(&b, "/", err);
}

static void parent_learns_that_the_mount_answers(void)
{
	struct zr_err err;

	CHECK_INT(wait_for_child(BE_READY, &err), 0);
	CHECK_INT(err.code, 0);
	CHECK(wait(NULL) > 0);
}

static void child_that_fails_has_said_why(void)
{
	struct zr_err err;

	CHECK_INT(wait_for_child(EXIT_3, &err), -ECHILD);
	CHECK_INT(err.code, 0);
}

static void child_that_ends_or_dies_is_named(void)
{
	struct zr_err err;

	CHECK_INT(wait_for_child(EXIT_0, &err), -ECHILD);
	CHECK_STR(err.text, "ended before the mount answered");
	CHECK_INT(wait_for_child(BE_KILLED, &err), -ECHILD);
	CHECK(strstr(err.text, "died before the mount answered (signal 9, Killed)"));
}

static void ready_child_has_left_the_terminal(void)
{
	struct zr_background b;
	struct zr_err err = {0};
	int report[2];
	char ok = 0;

	CHECK_INT(pipe(report), 0);
	CHECK_INT(zr_background_fork(&b, &err), 0);
	if (b.child == 0) {
		struct stat null, st;
		bool good;

		zr_background_prepare(&b);
		good = zr_background_ready(&b) == 0 && getsid(0) == getpid() &&
		       stat("/dev/null", &null) == 0;

		for (int fd = 0; fd < 3; fd++)
			good = good && fstat(fd, &st) == 0 && st.st_rdev == null.st_rdev;
		_exit(!good || write(report[1], "y", 1) != 1);
	}
	CHECK_INT(zr_background_wait(&b, NULL, &err), 0);
	CHECK_INT(read(report[0], &ok, 1), 1);
	CHECK_INT(ok, 'y');
	CHECK(wait(NULL) > 0);
	close(report[0]);
	close(report[1]);
}

static void child_learns_that_nobody_waits(void)
{
	struct zr_background b;
	struct zr_err err = {0};
	int status, go[2];
	char c;

	signal(SIGPIPE, SIG_IGN);
	CHECK_INT(pipe(go), 0);
	CHECK_INT(zr_background_fork(&b, &err), 0);
	if (b.child == 0) {
		close(go[1]);
		if (read(go[0], &c, 1) != 0) /* until the parent has closed its side */
			_exit(2);
		_exit(zr_background_ready(&b) == -EPIPE ? 0 : 1);
	}
	close(b.fd);
	close(go[1]);
	CHECK_INT(waitpid(b.child, &status, 0), b.child);
	CHECK_INT(status, 0);
	close(go[0]);
}

/* Binds a socket to a name (for `abstract`: without a file), and looks what comes. */
static void notify_through(const char *name, bool abstract)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	char got[32] = "";

	CHECK(fd >= 0);
	memcpy(addr.sun_path, name, strlen(name));
	if (abstract)
		addr.sun_path[0] = '\0';
	CHECK_INT(
		bind(fd, (struct sockaddr *)&addr,
	             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name))),
		0);
	CHECK_INT(setenv("NOTIFY_SOCKET", name, 1), 0);
	zr_notify_ready(zr_notify_open());
	CHECK_INT(recv(fd, got, sizeof(got), 0), 7);
	CHECK_STR(got, "READY=1");
	close(fd);
}

static void systemd_is_told(void)
{
	char name[128];

	snprintf(name, sizeof(name), "@zarrfs-test-%d", (int)getpid());
	notify_through(name, true);
	snprintf(name, sizeof(name), "/tmp/zarrfs-test-%d", (int)getpid());
	notify_through(name, false);
	CHECK_INT(unlink(name), 0);
}

static void nonsense_instead_of_a_socket_is_no_harm(void)
{
	char longer[300];

	memset(longer, 'x', sizeof(longer) - 1);
	longer[0] = '/';
	longer[sizeof(longer) - 1] = '\0';
	CHECK_INT(setenv("NOTIFY_SOCKET", longer, 1), 0);
	zr_notify_ready(zr_notify_open());
	CHECK_INT(setenv("NOTIFY_SOCKET", "relative", 1), 0);
	zr_notify_ready(zr_notify_open());
	CHECK_INT(setenv("NOTIFY_SOCKET", "/nonexistent", 1), 0);
	zr_notify_ready(zr_notify_open());
	CHECK_INT(setenv("NOTIFY_SOCKET", "", 1), 0);
	zr_notify_ready(zr_notify_open());
	CHECK_INT(unsetenv("NOTIFY_SOCKET"), 0);
	zr_notify_ready(zr_notify_open());
}

int main(void)
{
	RUN(parent_learns_that_the_mount_answers);
	RUN(child_that_fails_has_said_why);
	RUN(child_that_ends_or_dies_is_named);
	RUN(ready_child_has_left_the_terminal);
	RUN(child_learns_that_nobody_waits);
	RUN(systemd_is_told);
	RUN(nonsense_instead_of_a_socket_is_no_harm);
	return EXIT_SUCCESS;
}
