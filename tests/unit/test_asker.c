/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "asker.h"

/* What a status file looks like, but for the lines that do not matter (proc(5)). */
static bool dying(const char *state, const char *thread, const char *process)
{
	char text[512];
	FILE *f;
	bool r;

	snprintf(text, sizeof(text),
	         "Name:\tcat\nUmask:\t0022\nState:\t%s\nTgid:\t9\nGroups:\t100 \n"
	         "SigQ:\t0/31\nSigPnd:\t%s\nShdPnd:\t%s\nSigBlk:\t0000000000000100\n",
	         state, thread, process);
	f = fmemopen(text, strlen(text), "r");
	CHECK(f);
	r = zr_asker_is_dying(f);
	fclose(f);
	return r;
}

static void sigkill_pending_is_dying(void)
{
	static const char none[] = "0000000000000000";

	CHECK(!dying("D (disk sleep)", none, none));
	CHECK(dying("D (disk sleep)", "0000000000000100", none));
	CHECK(dying("D (disk sleep)", none, "0000000000000100"));
	CHECK(dying("S (sleeping)", none, "ffffffffffffffff"));
	/* All other signals: a blocked SIGKILL (above) is not a pending one either. */
	CHECK(!dying("T (stopped)", "fffffffffffffeff", "fffffffffffffeff"));
}

static void zombie_is_dying(void)
{
	static const char none[] = "0000000000000000";

	CHECK(dying("Z (zombie)", none, none));
	CHECK(dying("X (dead)", none, none));
}

static void name_cannot_pretend(void)
{
	char text[] = "Name:\tSigPnd:\t100\nState:\tS (sleeping)\nSigPnd:\t0\n";
	FILE *f = fmemopen(text, strlen(text), "r");

	CHECK(f);
	CHECK(!zr_asker_is_dying(f));
	fclose(f);
}

static void living_process_is_not_gone(void)
{
	CHECK(!zr_asker_gone(getpid()));
	CHECK(!zr_asker_gone(1)); /* maybe another user's */
}

static void killed_process_is_gone(void)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0)
		for (;;)
			pause();
	CHECK(!zr_asker_gone(pid));
	CHECK_INT(kill(pid, SIGKILL), 0);
	CHECK_INT(waitid(P_PID, (id_t)pid, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
	CHECK(zr_asker_gone(pid)); /* a zombie */
	CHECK_INT(waitpid(pid, NULL, 0), pid);
	CHECK(zr_asker_gone(pid)); /* nothing */
}

int main(void)
{
	RUN(sigkill_pending_is_dying);
	RUN(zombie_is_dying);
	RUN(name_cannot_pretend);
	RUN(living_process_is_not_gone);
	RUN(killed_process_is_gone);
	return EXIT_SUCCESS;
}
