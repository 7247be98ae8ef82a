/* SPDX-License-Identifier: MIT */
#include "asker.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

static bool asker_has_sigkill(const char *mask)
{
	return strtoull(mask, NULL, 16) >> (SIGKILL - 1) & 1;
}

bool zr_asker_is_dying(FILE *status)
{
	ZR_CLEANUP(zr_freep) char *line = NULL;
	size_t cap = 0;
	bool dying = false;

	/* Line by line: that of the groups may have hundreds of kilobytes. */
	while (!dying && getline(&line, &cap, status) > 0) {
		if (strncmp(line, "State:\t", 7) == 0)
			dying = line[7] == 'Z' || line[7] == 'X';
		else if (strncmp(line, "SigPnd:\t", 8) == 0 ||
		         strncmp(line, "ShdPnd:\t", 8) == 0)
			dying = asker_has_sigkill(line + 8);
	}
	return dying;
}

bool zr_asker_gone(pid_t tid)
{
	char path[64];
	FILE *f;
	bool gone;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	f = fopen(path, "re");
	if (!f) {
		/* A /proc that hides other users' processes has no such file either. */
		return errno == ENOENT && kill(tid, 0) < 0 && errno == ESRCH;
	}
	gone = zr_asker_is_dying(f);
	/* The thread may have ended between the two: reading is then ESRCH. */
	gone = gone || (ferror(f) && kill(tid, 0) < 0 && errno == ESRCH);
	fclose(f);
	return gone;
}
