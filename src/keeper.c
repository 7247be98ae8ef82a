/* SPDX-License-Identifier: MIT */
#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dead.h"
#include "privilege.h"

enum keeper_word { WORD_UNMOUNT = 'u', WORD_GONE = 'g' };

#define KEEPER_FD 3

/* Holds nothing of the daemon's: its /dev/fuse would keep the mount alive, its stdout
 * whoever reads that waiting. */
static void keeper_let_go(int fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = 0; null >= 0 && i < KEEPER_FD; i++)
		dup2(null, i);
	if (fd != KEEPER_FD)
		dup2(fd, KEEPER_FD);
	closefrom(KEEPER_FD + 1);
	/* fusermount3 shall not inherit it either. */
	fcntl(KEEPER_FD, F_SETFD, FD_CLOEXEC);
}

static _Noreturn void keeper_run(const char *point, int fd)
{
	char word = WORD_UNMOUNT;
	sigset_t all;
	ssize_t n;

	/* What ends the daemon comes to us as well: from a terminal, from systemd. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	keeper_let_go(fd);
	prctl(PR_SET_NAME, "zarrfs-keeper");
	/* To unmount, and to find the way to a mount point in a closed directory. */
	if (geteuid() == 0 &&
	    (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	     zr_privilege_keep(1u << CAP_SYS_ADMIN | 1u << CAP_DAC_READ_SEARCH) < 0))
		_exit(1);

	do
		n = read(KEEPER_FD, &word, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1 || word != WORD_GONE)
		zr_dead_remove(point);
	_exit(0);
}

int zr_keeper_start(const char *point, struct zr_keeper *ret, struct zr_err *reterr)
{
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return zr_err_set(reterr, -errno, "cannot make a pipe: %s",
		                  strerror(errno));
	pid = fork();
	if (pid == 0)
		keeper_run(point, fds[0]);
	close(fds[0]);
	if (pid < 0) {
		int e = errno;

		close(fds[1]);
		return zr_err_set(reterr, -e, "cannot start a process: %s", strerror(e));
	}
	*ret = (struct zr_keeper){.pid = pid, .fd = fds[1]};
	return 0;
}

void zr_keeper_end(struct zr_keeper *k, bool gone)
{
	char word = gone ? WORD_GONE : WORD_UNMOUNT;

	/* If it was killed there is nothing that could be done. */
	while (write(k->fd, &word, 1) < 0 && errno == EINTR)
		;
	while (waitpid(k->pid, NULL, 0) < 0 && errno == EINTR)
		;
	k->pid = 0;
}
