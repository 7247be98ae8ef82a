/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "privilege.h"

static char store[64];

static struct zr_who pick_of(const char *user, const char *path)
{
	struct zr_who who = {0};
	struct zr_err err = {0};

	CHECK_INT(zr_privilege_pick(user, path, &who, &err), 0);
	return who;
}

static struct zr_who pick(const char *user)
{
	return pick_of(user, store);
}

static void refused(const char *user, const char *path, int want, const char *text)
{
	struct zr_who who;
	struct zr_err err = {0};

	CHECK_INT(zr_privilege_pick(user, path, &who, &err), want);
	CHECK(strstr(err.text, text) != NULL);
}

static void root_goes_on_as_the_owner_of_the_store(void)
{
	CHECK_INT(pick(NULL).uid, 0);
	CHECK_INT(pick(NULL).gid, 0);
	CHECK_INT(chown(store, 54321, 0), 0);
	CHECK_INT(pick(NULL).uid, 54321);
	CHECK_INT(pick(NULL).gid, 65534); /* and never in root's group */
	CHECK_INT(pick("root").uid, 0);
	CHECK_INT(chmod(store, 0), 0); /* he could not read it */
	CHECK_INT(pick(NULL).uid, 0);
	CHECK_INT(pick("54321").uid, 54321);
	CHECK_INT(chmod(store, 0700), 0);
	CHECK_INT(geteuid(), 0);
}

/* A mount of procfs that shows a process to its user and its group, and to members of one
 * more group. Here that is one of root's: it lets root's daemon in, not the one of the
 * user, whose group is another than that of the process. */
static void what_only_roots_groups_let_in_is_not_read_by_the_owner(void)
{
	const gid_t group = 43211;
	char options[64], path[sizeof(store) + 16];
	struct zr_who who;
	gid_t before[64];
	int n = getgroups(64, before);
	int ready[2];
	pid_t pid;

	CHECK(n >= 0 && pipe(ready) == 0);
	snprintf(options, sizeof(options), "hidepid=1,gid=%u", group);
	if (mount("proc", store, "proc", 0, options) < 0) {
		printf("no procfs can be mounted here\n");
		return;
	}
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		CHECK(setresgid(43212, 43212, 43212) == 0 &&
		      setresuid(43210, 43210, 43210) == 0 &&
		      prctl(PR_SET_DUMPABLE, 1) == 0 && write(ready[1], "", 1) == 1);
		pause();
		_exit(0);
	}
	CHECK_INT(read(ready[0], path, 1), 1);
	snprintf(path, sizeof(path), "%s/%d", store, (int)pid);
	CHECK_INT(setgroups(1, &group), 0);
	who = pick_of(NULL, path);
	CHECK_INT(setgroups((size_t)n, before), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	CHECK_INT(umount2(store, MNT_DETACH), 0);
	CHECK_INT(who.uid, 0);
	close(ready[0]);
	close(ready[1]);
}

static void user_is_a_name_or_a_number(void)
{
	const struct passwd *p = getpwnam("nobody");

	CHECK(p);
	CHECK_INT(pick("nobody").uid, p->pw_uid);
	CHECK_INT(pick("nobody").gid, p->pw_gid);
	CHECK_INT(pick("65534").uid, 65534);
	CHECK_INT(pick("43210").uid, 43210);
	CHECK_INT(pick("43210").gid, 65534);
	refused("no-such-user", store, -ENOENT, "user=no-such-user");
	refused("-1", store, -ENOENT, "user=-1");
	refused("4294967295", store, -ENOENT, "user=4294967295");
	refused("4294967296", store, -ENOENT, "user=4294967296");
	refused("12x", store, -ENOENT, "user=12x");
	refused(NULL, "/nonexistent", -ENOENT, "/nonexistent");
}

/* Bits of CapEff and CapPrm, and whether they are the same. */
static unsigned long long capabilities(void)
{
	unsigned long long effective = 1, permitted = 2;
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];

	CHECK(f);
	while (fgets(line, sizeof(line), f)) {
		sscanf(line, "CapEff: %llx", &effective);
		sscanf(line, "CapPrm: %llx", &permitted);
	}
	fclose(f);
	CHECK(effective == permitted);
	return effective;
}

static void in_child(void (*work)(void))
{
	pid_t pid = fork();
	int status;

	CHECK(pid >= 0);
	if (pid == 0) {
		work();
		_exit(0);
	}
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK_INT(status, 0);
}

static void drop_to(const char *user)
{
	const struct zr_who who = pick(user);
	struct zr_err err = {0};

	CHECK_INT(zr_privilege_drop(&who, &err), 0);
	CHECK_INT(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 1);
}

static void become_nobody(void)
{
	const struct passwd *p = getpwnam("nobody");
	const uid_t uid = p->pw_uid;
	const gid_t gid = p->pw_gid, extra[] = {0, 4, 6};
	uid_t u[3];
	gid_t g[3], groups[8];
	int n;

	CHECK_INT(setgroups(3, extra), 0);
	drop_to("nobody");
	CHECK_INT(getresuid(&u[0], &u[1], &u[2]), 0);
	CHECK_INT(getresgid(&g[0], &g[1], &g[2]), 0);
	for (int i = 0; i < 3; i++)
		CHECK(u[i] == uid && g[i] == gid);
	n = getgroups(8, groups);
	for (int i = 0; i < n; i++)
		CHECK(groups[i] == gid);
	CHECK_INT(capabilities(), 0);
	CHECK(setuid(0) < 0 && setgid(0) < 0 && chown(store, uid, gid) < 0);
}

static void become_a_stranger(void)
{
	const gid_t extra[] = {0, 4, 6};

	CHECK_INT(setgroups(3, extra), 0);
	drop_to("43210");
	CHECK_INT(geteuid(), 43210);
	CHECK_INT(getgroups(0, NULL), 0);
	CHECK_INT(capabilities(), 0);
	refused("nobody", store, -EPERM, "user=nobody");
	CHECK_INT(pick("43210").uid, 43210);
	CHECK_INT(pick(NULL).uid, 43210);
}

/* As a program with the set-user-ID bit: what it came from is no way back. */
static void stay_somebody(void)
{
	uid_t u[3];

	CHECK_INT(setresuid(0, 43210, 0), 0);
	drop_to(NULL);
	CHECK_INT(getresuid(&u[0], &u[1], &u[2]), 0);
	for (int i = 0; i < 3; i++)
		CHECK_INT(u[i], 43210);
	CHECK(setuid(0) < 0);
	CHECK_INT(capabilities(), 0);
}

static void stay_root(void)
{
	drop_to("root");
	CHECK_INT(geteuid(), 0);
	CHECK_INT(capabilities(), 1 << CAP_DAC_READ_SEARCH);
	CHECK(chown(store, 1, 1) < 0);
	CHECK_INT(zr_privilege_keep(0), 0);
	CHECK_INT(capabilities(), 0);
	/* It cannot become the owner of the store, and does not try. */
	CHECK_INT(pick(NULL).uid, 0);
	drop_to(NULL);
	/* What is gone does not come back. */
	CHECK_INT(zr_privilege_keep(UINT64_MAX), 0);
	CHECK_INT(capabilities(), 0);
}

static void rights_are_given_up_for_good(void)
{
	in_child(become_nobody);
	in_child(become_a_stranger);
	in_child(stay_somebody);
	in_child(stay_root);
}

int main(void)
{
	if (geteuid() != 0) {
		CHECK_INT(pick(NULL).uid, geteuid());
		refused("root", "/", -EPERM, "user=root");
		return TEST_SKIP;
	}
	strcpy(store, "/tmp/zarrfs-test-XXXXXX");
	CHECK(mkdtemp(store));
	RUN(root_goes_on_as_the_owner_of_the_store);
	RUN(what_only_roots_groups_let_in_is_not_read_by_the_owner);
	RUN(user_is_a_name_or_a_number);
	RUN(rights_are_given_up_for_good);
	CHECK_INT(rmdir(store), 0);
	return EXIT_SUCCESS;
}
