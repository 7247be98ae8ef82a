/* SPDX-License-Identifier: MIT */
#include "privilege.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The group of users that /etc/passwd does not know: the one of their files may be any,
 * root's too. */
#define NO_GROUP 65534

/* How the child ends that tries. */
enum { MAY_READ, MAY_NOT_READ, TRIED_IN_VAIN };

static struct zr_who privilege_of(uid_t uid)
{
	const struct passwd *p = getpwuid(uid);

	return (struct zr_who){.uid = uid, .gid = p ? p->pw_gid : NO_GROUP};
}

static bool privilege_number(const char *user, uid_t *ret)
{
	char *end;
	unsigned long n;

	if (*user < '0' || *user > '9')
		return false;
	errno = 0;
	n = strtoul(user, &end, 10);
	*ret = (uid_t)n;
	return errno == 0 && *end == '\0' && n < UINT32_MAX;
}

static int privilege_find(const char *user, struct zr_who *ret, struct zr_err *reterr)
{
	const struct passwd *p = getpwnam(user);
	uid_t uid;

	if (p)
		*ret = (struct zr_who){.uid = p->pw_uid, .gid = p->pw_gid};
	else if (privilege_number(user, &uid))
		*ret = privilege_of(uid);
	else
		return zr_err_set(reterr, -ENOENT, "user=%s: there is no such user",
		                  user);
	return 0;
}

static int privilege_become(const struct zr_who *who)
{
	const struct passwd *p = getpwuid(who->uid);
	int r = p ? initgroups(p->pw_name, who->gid) : setgroups(0, NULL);

	/* All three of each, so that there is no way back. */
	if (r < 0 || setresgid(who->gid, who->gid, who->gid) < 0 ||
	    setresuid(who->uid, who->uid, who->uid) < 0)
		return -errno;
	return 0;
}

/* What a child does: becomes that user and reads the directory. Returns how it ends. */
static int privilege_try(int dir, const struct zr_who *who)
{
	int r = privilege_become(who);

	/* Some that a container does not know cannot be become at all. */
	if (r < 0 && r != -EPERM && r != -EINVAL)
		return TRIED_IN_VAIN;
	return r == 0 && openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) >= 0
	               ? MAY_READ
	               : MAY_NOT_READ;
}

/* Whether a directory can be read as that user, with all that he is: 1 or 0. What is
 * asked is not what its mode says: a file system of root's own (FUSE without allow_other)
 * lets nobody else in. It is a child that asks, for whoever becomes another cannot come
 * back. */
static int privilege_may_read(int dir, const struct zr_who *who)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		_exit(privilege_try(dir, who));
	if (pid < 0)
		return -errno;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (!WIFEXITED(status) || WEXITSTATUS(status) == TRIED_IN_VAIN)
		return -EAGAIN;
	return WEXITSTATUS(status) == MAY_READ;
}

/* Whoever could not read it is no choice that anybody has made. */
static int privilege_owner(const char *store, struct zr_who *ret, struct zr_err *reterr)
{
	int fd = open(store, O_PATH | O_CLOEXEC);
	struct zr_who owner;
	struct stat st;
	int r = fd < 0 || fstat(fd, &st) < 0 ? -errno : 1;

	if (r > 0) {
		owner = privilege_of(st.st_uid);
		if (S_ISDIR(st.st_mode) && owner.uid != 0)
			r = privilege_may_read(fd, &owner);
	}
	if (fd >= 0)
		close(fd);
	if (r < 0)
		return zr_err_set(reterr, r, "'%s': %s", store, strerror(-r));
	if (r > 0)
		*ret = owner;
	return 0;
}

/* Root can have been left without the right to become another: in a container, or by
 * mount.fuse3's drop_privileges. */
static bool privilege_can_change(void)
{
	const uint32_t need = 1u << CAP_SETUID | 1u << CAP_SETGID;
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct have[_LINUX_CAPABILITY_U32S_3];

	return geteuid() == 0 && syscall(SYS_capget, &head, have) == 0 &&
	       (have[0].effective & need) == need;
}

int zr_privilege_pick(const char *user, const char *store, struct zr_who *ret,
                      struct zr_err *reterr)
{
	int r;

	*ret = (struct zr_who){.uid = geteuid(), .gid = getegid()};
	if (!user && privilege_can_change())
		return privilege_owner(store, ret, reterr);
	if (!user)
		return 0;
	r = privilege_find(user, ret, reterr);
	if (r == 0 && geteuid() != 0 && ret->uid != geteuid())
		return zr_err_set(reterr, -EPERM,
		                  "user=%s: only root can go on as another user", user);
	return r;
}

int zr_privilege_keep(uint64_t capabilities)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct have[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &head, have) < 0)
		return -errno;
	for (unsigned int i = 0; i < ZR_COUNT(have); i++) {
		have[i].permitted &= (uint32_t)(capabilities >> (32 * i));
		have[i].effective &= have[i].permitted;
		have[i].inheritable = 0;
	}
	/* The ambient ones go with the inheritable. */
	return syscall(SYS_capset, &head, have) < 0 ? -errno : 0;
}

/* Nothing but what it is now: not what it came from. */
static int privilege_stay(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();

	return setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0 ? -errno : 0;
}

int zr_privilege_drop(const struct zr_who *who, struct zr_err *reterr)
{
	bool root = geteuid() == 0;
	int r = root && who->uid != 0 ? privilege_become(who) : privilege_stay();

	if (r < 0)
		return zr_err_set(reterr, r,
		                  "cannot go on as user %u: %s (with -o user=root it "
		                  "goes on as root, without root's capabilities)",
		                  (unsigned int)who->uid, strerror(-r));
	r = zr_privilege_keep(root && who->uid == 0 ? 1u << CAP_DAC_READ_SEARCH : 0);
	if (r == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		r = -errno;
	if (r < 0)
		return zr_err_set(reterr, r, "cannot give up capabilities: %s",
		                  strerror(-r));
	return 0;
}
