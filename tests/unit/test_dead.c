/* SPDX-License-Identifier: MIT */
/* What is dead is for tests on mounts: tests/mount/failure.bats. */
#include "test.h"

#include "dead.h"

static void what_is_alive_is_not_dead(void)
{
	CHECK(!zr_dead_mount("/"));
	CHECK(!zr_dead_mount("/nonexistent"));
	zr_dead_remove("/proc");
	CHECK(zr_dead_is_type("/proc", "proc"));
	CHECK(!zr_dead_is_type("/proc", "sysfs"));
	CHECK(!zr_dead_is_type("/proc/self", "proc"));
}

int main(void)
{
	RUN(what_is_alive_is_not_dead);
	return EXIT_SUCCESS;
}
