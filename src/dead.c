/* SPDX-License-Identifier: MIT */
#include "dead.h"

#include <errno.h>
#include <mntent.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/vfs.h>
#include <sys/wait.h>

/* statfs() is never answered from what the kernel remembers. ECONNABORTED is what a
 * request gets that was under way when the daemon went. */
bool zr_dead_mount(const char *point)
{
	struct statfs fs;

	return statfs(point, &fs) < 0 && (errno == ENOTCONN || errno == ECONNABORTED);
}

bool zr_dead_is_type(const char *point, const char *type)
{
	FILE *table = setmntent("/proc/self/mounts", "re");
	char line[8192];
	struct mntent m;
	bool is = false;

	if (!table)
		return false;
	/* The last one is on top of the others. */
	while (getmntent_r(table, &m, line, sizeof(line)))
		if (strcmp(m.mnt_dir, point) == 0)
			is = strcmp(m.mnt_type, type) == 0;
	endmntent(table);
	return is;
}

void zr_dead_remove(const char *point)
{
	char *argv[] = {"fusermount3", "-uzq", "--", (char *)point, NULL};
	extern char **environ;
	pid_t helper;

	if (!zr_dead_mount(point))
		return;
	if (umount2(point, MNT_DETACH | UMOUNT_NOFOLLOW) == 0)
		return;
	if (posix_spawnp(&helper, argv[0], NULL, NULL, argv, environ) == 0)
		while (waitpid(helper, NULL, 0) < 0 && errno == EINTR)
			;
}
