/* SPDX-License-Identifier: MIT */
/*
 * The system calls that serving a store takes: those of our own code, of libfuse, of the
 * libraries of codecs (which compute only), and of glibc for memory and threads.
 *
 * By name, since no architecture has all of them: what a name does not stand for is left
 * out. All else is answered with ENOSYS, not with a signal: one odd call on one odd path
 * then costs one reader an error, not everybody the mount; and ENOSYS is the answer to
 * which glibc does a thing the old way, so that a newer one, or another architecture,
 * goes on working.
 */
#include "sandbox.h"

#include <errno.h>
#include <seccomp.h>
#include <signal.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static const char *const calls_allowed[] = {
	/* files: the store, the index, /proc; /dev/fuse and the log, which are open */
	"open",
	"openat",
	"openat2",
	"close",
	"read",
	"readv",
	"pread64",
	"preadv",
	"write",
	"writev",
	"pwrite64",
	"lseek",
	"_llseek",
	"fcntl",
	"fcntl64",
	"dup",
	"dup2",
	"dup3",
	"stat",
	"stat64",
	"fstat",
	"fstat64",
	"lstat",
	"lstat64",
	"newfstatat",
	"fstatat64",
	"statx",
	"fstatfs",
	"fstatfs64",
	"getdents",
	"getdents64",
	"readlink",
	"readlinkat",
	"access",
	"faccessat",
	"faccessat2",
	"unlink",
	"unlinkat",
	"rename",
	"renameat",
	"renameat2",
	"utimensat",
	"utimensat_time64",
	"poll",
	"ppoll",
	"ppoll_time64",
	"epoll_wait",
	"epoll_pwait",
	/* memory */
	"brk",
	"munmap",
	"mremap",
	"madvise",
#ifdef __s390__ /* its arguments are in memory, where no filter sees them */
	"mmap",
#endif
	/* threads */
	"futex",
	"futex_time64",
	"set_robust_list",
	"rseq",
	"sched_yield",
	"sched_getaffinity",
	"gettid",
	"getpid",
	"exit",
	"membarrier",
	/* signals */
	"rt_sigaction",
	"rt_sigprocmask",
	"rt_sigreturn",
	"sigreturn",
	"sigaltstack",
	"restart_syscall",
	/* time and chance */
	"clock_gettime",
	"clock_gettime64",
	"clock_getres",
	"clock_getres_time64",
	"clock_nanosleep",
	"clock_nanosleep_time64",
	"nanosleep",
	"gettimeofday",
	"time",
	"getrandom",
	/* ourselves: who we are, the session of our own, the end */
	"getuid",
	"geteuid",
	"getgid",
	"getegid",
	"getuid32",
	"geteuid32",
	"getgid32",
	"getegid32",
	"setsid",
	"sysinfo",
	"uname",
	"getrusage",
	"wait4",
	"waitpid",
	"waitid",
	"exit_group",
};

/* What LeakSanitizer's tracer and the sanitizers' reports do. */
static const char *const calls_of_sanitizers[] = {
	"clone",     "ptrace",    "prctl", "mmap", "mmap2", "mprotect", "getppid",
	"prlimit64", "getrlimit", "pipe2", "pipe", "ioctl", "mincore",
};

/* Those that are allowed for some of what they can do. */
static int calls_allow_some(scmp_filter_ctx ctx)
{
#if defined(__s390__) || defined(__CRIS__)
	const unsigned int clone_flags = 1;
#else
	const unsigned int clone_flags = 0;
#endif
	const struct {
		const char *name;
		struct scmp_arg_cmp only;
	} some[] = {
		/* a thread, no process */
		{"clone",
	         SCMP_CMP(clone_flags, SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD)},
		/* no memory that can be executed */
		{"mmap", SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)},
		{"mmap2", SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)},
		{"mprotect", SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)},
		{"prctl", SCMP_A0(SCMP_CMP_EQ, PR_SET_NAME, 0)},
		/* is that process still there? */
		{"kill", SCMP_A1(SCMP_CMP_EQ, 0, 0)},
		/* abort() */
		{"tgkill", SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0)},
		/* on what is connected already: syslog, systemd */
		{"sendto", SCMP_A4(SCMP_CMP_EQ, 0, 0)},
		/* limits: to look at */
		{"prlimit64", SCMP_A2(SCMP_CMP_EQ, 0, 0)},
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ZR_COUNT(some); i++) {
		int call = seccomp_syscall_resolve_name(some[i].name);

		if (call >= 0)
			r = seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, call, 1,
			                           &some[i].only);
	}
	return r;
}

static int calls_allow(scmp_filter_ctx ctx, const char *const *names, size_t n)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		int call = seccomp_syscall_resolve_name(names[i]);

		if (call >= 0)
			r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, call, 0);
	}
	return r;
}

static int calls_load(scmp_filter_ctx ctx)
{
	int r = calls_allow(ctx, calls_allowed, ZR_COUNT(calls_allowed));

	if (r == 0 && ZR_SANDBOX_SANITIZED)
		r = calls_allow(ctx, calls_of_sanitizers, ZR_COUNT(calls_of_sanitizers));
	if (r == 0)
		r = calls_allow_some(ctx);
	/* Calls are found by a tree, and no price is paid for a defence against other
	 * code in the same process: there is none. Neither is known to all versions. */
	seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	seccomp_attr_set(ctx, SCMP_FLTATR_CTL_SSB, 1);
	return r < 0 ? r : seccomp_load(ctx);
}

int zr_sandbox_calls(void)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	int r;

	if (!ctx)
		return -ENOMEM;
	r = calls_load(ctx);
	seccomp_release(ctx);
	return r;
}
