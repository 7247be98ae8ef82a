/* SPDX-License-Identifier: MIT */
#include "background.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dead.h"

int zr_background_fork(struct zr_background *ret, struct zr_err *reterr)
{
	int fds[2];
	pid_t child;

	/* Closed on exec: a helper of the mount that outlives the child must not keep
	 * the parent waiting. */
	if (pipe2(fds, O_CLOEXEC) < 0)
		return zr_err_set(reterr, -errno, "cannot make a pipe: %s",
		                  strerror(errno));
	child = fork();
	if (child < 0) {
		int e = errno;

		close(fds[0]);
		close(fds[1]);
		return zr_err_set(reterr, -e, "cannot start a process: %s", strerror(e));
	}
	close(fds[child ? 1 : 0]);
	*ret = (struct zr_background){
		.child = child, .fd = fds[child ? 0 : 1], .null = -1};
	return 0;
}

static int background_ended(pid_t child, const char *point, struct zr_err *reterr)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return zr_err_set(reterr, -errno,
			                  "cannot wait for process %d: %s", (int)child,
			                  strerror(errno));
	/* zr_mount_check() saw no dead mount: it is the child's. */
	if (point)
		zr_dead_remove(point);
	if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
		return -ECHILD;
	if (WIFEXITED(status))
		return zr_err_set(reterr, -ECHILD, "ended before the mount answered");
	return zr_err_set(reterr, -ECHILD,
	                  "process %d died before the mount answered (signal %d, %s)",
	                  (int)child, WTERMSIG(status), strsignal(WTERMSIG(status)));
}

int zr_background_wait(struct zr_background *b, const char *point, struct zr_err *reterr)
{
	ssize_t n;
	char word;

	do
		n = read(b->fd, &word, 1);
	while (n < 0 && errno == EINTR);
	close(b->fd);
	if (n != 1)
		return background_ended(b->child, point, reterr);

	/* Goes through the kernel to the child and back, so the mount really answers. */
	if (point && zr_dead_mount(point))
		return zr_err_set(reterr, -ENOTCONN,
		                  "the mount on '%s' has ended already", point);
	return 0;
}

void zr_background_prepare(struct zr_background *b)
{
	b->null = open("/dev/null", O_RDWR | O_CLOEXEC);
}

int zr_background_ready(struct zr_background *b)
{
	ssize_t n;

	/* Before the word is given: what ends the parent's terminal or its session must
	 * not reach us afterwards. */
	setsid();
	if (b->null >= 0) {
		dup2(b->null, STDIN_FILENO);
		dup2(b->null, STDOUT_FILENO);
		dup2(b->null, STDERR_FILENO);
		if (b->null > STDERR_FILENO)
			close(b->null);
	}

	do
		n = write(b->fd, "", 1);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		n = -errno;
	close(b->fd);
	return n < 0 ? (int)n : 0;
}

int zr_notify_open(void)
{
	const char *name = getenv("NOTIFY_SOCKET");
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	size_t len = name ? strlen(name) : 0;
	int fd;

	if ((len > 0 && name[0] != '/' && name[0] != '@') || len == 0 ||
	    len > sizeof(addr.sun_path))
		return -1;
	memcpy(addr.sun_path, name, len);
	/* A name in the abstract space has a NUL where its text form has '@'. */
	if (name[0] == '@')
		addr.sun_path[0] = '\0';

	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 &&
	    connect(fd, (struct sockaddr *)&addr,
	            (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

void zr_notify_ready(int fd)
{
	static const char word[] = "READY=1";

	if (fd < 0)
		return;
	send(fd, word, sizeof(word) - 1, MSG_NOSIGNAL);
	close(fd);
}
