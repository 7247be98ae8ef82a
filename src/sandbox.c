/* SPDX-License-Identifier: MIT */
/*
 * Landlock by its system calls: Debian 12 has no library for it, and a header that ends
 * at what Linux 5.19 knew. What came later is spelt out here, and asked for where the
 * kernel knows it.
 */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "log.h"

#define READ_RIGHTS (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITE_RIGHTS                                                                     \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE |                \
	 LANDLOCK_ACCESS_FS_MAKE_REG | RIGHT_TRUNCATE)
/* What there is for a file that is no directory. */
#define FILE_RIGHTS                                                                      \
	(LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | RIGHT_TRUNCATE)

#define RIGHT_TRUNCATE (UINT64_C(1) << 14)
#define RIGHT_LAST_OF_1 LANDLOCK_ACCESS_FS_MAKE_SYM
#define NET_BIND_AND_CONNECT_TCP UINT64_C(3)
#define SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS UINT64_C(3)

/* As of version 6; of an older kernel's it is longer, which that takes if what it does
 * not know is 0. */
struct ruleset {
	uint64_t fs, net, scoped;
};

/* What a version of Landlock can refuse: all of it is to be refused. */
static struct ruleset ruleset_of(int version)
{
	struct ruleset r = {.fs = (RIGHT_LAST_OF_1 << 1) - 1};

	if (version >= 2) /* Linux 5.19: linking and moving to another directory */
		r.fs |= UINT64_C(1) << 13;
	if (version >= 3) /* 6.2 */
		r.fs |= RIGHT_TRUNCATE;
	if (version >= 4) /* 6.7 */
		r.net = NET_BIND_AND_CONNECT_TCP;
	if (version >= 5) /* 6.10: ioctl() of devices */
		r.fs |= UINT64_C(1) << 15;
	if (version >= 6) /* 6.12 */
		r.scoped = SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS;
	return r;
}

static int landlock_allow(int ruleset, const struct ruleset *known,
                          const struct zr_sandbox_place *place)
{
	uint64_t rights = READ_RIGHTS | (place->write ? WRITE_RIGHTS : 0);
	struct landlock_path_beneath_attr rule = {
		.parent_fd = place->fd,
		.allowed_access = rights & known->fs,
	};
	int r = (int)syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH,
	                     &rule, 0);

	if (r < 0 && errno == EINVAL) { /* no directory */
		rule.allowed_access &= FILE_RIGHTS;
		r = (int)syscall(SYS_landlock_add_rule, ruleset,
		                 LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
	}
	return r < 0 ? -errno : 0;
}

int zr_sandbox_files(const struct zr_sandbox_place *places, size_t n)
{
	int version = (int)syscall(SYS_landlock_create_ruleset, NULL, 0,
	                           LANDLOCK_CREATE_RULESET_VERSION);
	struct ruleset known;
	int fd, r = 0;

	if (version < 0)
		return -errno;
	known = ruleset_of(version);
	fd = (int)syscall(SYS_landlock_create_ruleset, &known, sizeof(known), 0);
	if (fd < 0)
		return -errno;
	for (size_t i = 0; r == 0 && i < n; i++)
		r = landlock_allow(fd, &known, &places[i]);
	if (r == 0 && syscall(SYS_landlock_restrict_self, fd, 0) < 0)
		r = -errno;
	close(fd);
	return r;
}

unsigned int zr_sandbox_enter(const struct zr_sandbox_place *places, size_t n)
{
	unsigned int walls = 0;
	int r = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : 0;

	if (r < 0) {
		zr_debug("no sandbox: %s", strerror(-r));
		return 0;
	}
	r = zr_sandbox_files(places, n);
	if (r < 0)
		zr_debug("no Landlock: %s", strerror(-r));
	else
		walls |= ZR_SANDBOX_FILES;
	r = zr_sandbox_calls();
	if (r < 0)
		zr_debug("no seccomp: %s", strerror(-r));
	else
		walls |= ZR_SANDBOX_CALLS;
	return walls;
}
