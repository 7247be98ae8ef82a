/* SPDX-License-Identifier: MIT */
/* Each attempt to get out is made in a process of its own, inside of the sandbox. */
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log.h"
#include "sandbox.h"

#define AS_WANTED 0
#define OTHERWISE 1
#define NO_WALL 2

static char top[64], store[80], kept[80];

static const char *in(const char *dir, const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	CHECK(fd >= 0);
	CHECK_INT(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void make_top(void)
{
	strcpy(top, "/tmp/zarrfs-test-XXXXXX");
	CHECK(mkdtemp(top));
	strcpy(store, in(top, "store"));
	strcpy(kept, in(top, "kept"));
	CHECK_INT(mkdir(store, 0755) + mkdir(kept, 0755), 0);
	put(in(store, "zarr.json"), "{}");
	put(in(top, "secret"), "secret");
	CHECK_INT(symlink("../secret", in(store, "out")), 0);
}

static void remove_top(void)
{
	CHECK_INT(unlink(in(store, "zarr.json")) + unlink(in(store, "out")), 0);
	CHECK_INT(unlink(in(top, "secret")), 0);
	CHECK_INT(rmdir(store) + rmdir(kept) + rmdir(top), 0);
}

static unsigned int enter(void)
{
	const struct zr_sandbox_place places[] = {
		{.fd = open(store, O_PATH | O_DIRECTORY | O_CLOEXEC)},
		{.fd = open(kept, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .write = true},
		{.fd = open("/proc", O_PATH | O_CLOEXEC)},
	};

	return zr_sandbox_enter(places, ZR_COUNT(places));
}

/* The exit status of a process that does `work` inside. */
static int inside(int (*work)(unsigned int walls, const void *arg), const void *arg)
{
	pid_t pid = fork();
	int status;

	CHECK(pid >= 0);
	if (pid == 0)
		_exit(work(enter(), arg));
	CHECK_INT(waitpid(pid, &status, 0), pid);
	if (!WIFEXITED(status))
		fprintf(stderr, "signal %d\n", WTERMSIG(status));
	CHECK(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* ---- what is refused ---- */

struct attempt {
	const char *what;
	unsigned int wall;
	int want; /* errno */
	long call, arg[6];
	bool of_sanitizers; /* allowed to them */
};

static int try(unsigned int walls, const void *arg)
{
	const struct attempt *a = arg;
	long r;

	if (!(walls & a->wall))
		return NO_WALL;
	r = syscall(a->call, a->arg[0], a->arg[1], a->arg[2], a->arg[3], a->arg[4],
	            a->arg[5]);
	if (r == -1 && errno == a->want)
		return AS_WANTED;
	fprintf(stderr, "%s: %ld, %s\n", a->what, r, r == -1 ? strerror(errno) : "done");
	return OTHERWISE;
}

static void attempt_all(const struct attempt *a, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int r;

		if (ZR_SANDBOX_SANITIZED && a[i].of_sanitizers)
			continue;
		r = inside(try, &a[i]);
		if (r == NO_WALL)
			printf("  no wall here against: %s\n", a[i].what);
		else
			CHECK_INT(r, AS_WANTED);
	}
}

#define P(x) ((long)(x))
#define OPEN(path, flags)                                                                \
	SYS_openat,                                                                      \
	{                                                                                \
		AT_FDCWD, P(path), flags, 0600                                           \
	}

static void files_outside_are_out_of_reach(void)
{
	char outside[256], new[256], old[256], out[256], exe[256];
	const struct attempt a[] = {
		{"read /etc/passwd", ZR_SANDBOX_FILES, EACCES,
	         OPEN("/etc/passwd", O_RDONLY), false},
		{"write /etc/passwd", ZR_SANDBOX_FILES, EACCES,
	         OPEN("/etc/passwd", O_WRONLY), false},
		{"list /", ZR_SANDBOX_FILES, EACCES, OPEN("/", O_RDONLY | O_DIRECTORY),
	         false},
		{"read beside the store", ZR_SANDBOX_FILES, EACCES,
	         OPEN(outside, O_RDONLY), false},
		{"follow a link out of the store", ZR_SANDBOX_FILES, EACCES,
	         OPEN(out, O_RDONLY), false},
		{"read by way of /proc", ZR_SANDBOX_FILES, EACCES,
	         OPEN("/proc/1/root/etc/passwd", O_RDONLY), false},
		{"read the program", ZR_SANDBOX_FILES, EACCES,
	         OPEN("/proc/self/exe", O_RDONLY), false},
		{"make a file in the store", ZR_SANDBOX_FILES, EACCES,
	         OPEN(new, O_WRONLY | O_CREAT), false},
		{"write to the store", ZR_SANDBOX_FILES, EACCES, OPEN(old, O_WRONLY),
	         false},
		{"truncate in the store", ZR_SANDBOX_FILES, EACCES,
	         OPEN(old, O_RDWR | O_TRUNC), false},
		{"remove from the store",
	         ZR_SANDBOX_FILES,
	         EACCES,
	         SYS_unlinkat,
	         {AT_FDCWD, P(old), 0},
	         false},
		{"take out of the store",
	         ZR_SANDBOX_FILES,
	         EACCES,
	         SYS_renameat2,
	         {AT_FDCWD, P(old), AT_FDCWD, P(exe), 0},
	         false},
		{"write into a process", ZR_SANDBOX_FILES, EACCES,
	         OPEN("/proc/self/mem", O_RDWR), false},
	};

	strcpy(outside, in(top, "secret"));
	strcpy(new, in(store, "new"));
	strcpy(old, in(store, "zarr.json"));
	strcpy(out, in(store, "out"));
	strcpy(exe, in(kept, "taken"));
	attempt_all(a, ZR_COUNT(a));
}

#define CALLS ZR_SANDBOX_CALLS, ENOSYS

static void calls_that_serving_does_not_take_are_refused(void)
{
	char *argv[] = {"true", NULL};
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
	                  -1, 0);
	const struct attempt a[] = {
		{"exec",
	         CALLS,
	         SYS_execve,
	         {P("/bin/true"), P(argv), P(argv + 1)},
	         false},
		{"execveat",
	         CALLS,
	         SYS_execveat,
	         {AT_FDCWD, P("/bin/true"), P(argv), P(argv + 1), 0},
	         false},
		{"a process", CALLS, SYS_clone, {SIGCHLD}, true},
		{"clone3", CALLS, SYS_clone3, {0}, false},
		{"a socket", CALLS, SYS_socket, {AF_INET, SOCK_STREAM, 0}, false},
		{"a local socket", CALLS, SYS_socket, {AF_UNIX, SOCK_DGRAM, 0}, false},
		{"connect", CALLS, SYS_connect, {0}, false},
		{"ptrace", CALLS, SYS_ptrace, {PTRACE_ATTACH, getpid(), 0, 0}, true},
		{"another's memory", CALLS, SYS_process_vm_writev, {getpid()}, false},
		{"a signal", CALLS, SYS_kill, {getpid(), SIGTERM}, false},
		{"a signal to a thread",
	         CALLS,
	         SYS_tgkill,
	         {getpid(), getpid(), SIGTERM},
	         false},
		{"code",
	         CALLS,
	         SYS_mprotect,
	         {P(page), 4096, PROT_READ | PROT_EXEC},
	         true},
		{"mount", CALLS, SYS_mount, {0}, false},
		{"umount", CALLS, SYS_umount2, {P("/"), 0}, false},
		{"chroot", CALLS, SYS_chroot, {P("/")}, false},
		{"a namespace", CALLS, SYS_unshare, {CLONE_NEWUSER}, false},
		{"setns", CALLS, SYS_setns, {-1, 0}, false},
		{"setuid", CALLS, SYS_setuid, {0}, false},
		{"capset", CALLS, SYS_capset, {0}, false},
		{"chmod", CALLS, SYS_fchmodat, {AT_FDCWD, P(store), 0777}, false},
		{"link", CALLS, SYS_linkat, {0}, false},
		{"mkdir", CALLS, SYS_mkdirat, {AT_FDCWD, P("/tmp/x"), 0700}, false},
		{"by handle", CALLS, SYS_open_by_handle_at, {0}, false},
		{"bpf", CALLS, SYS_bpf, {0}, false},
		{"io_uring", CALLS, SYS_io_uring_setup, {0}, false},
		{"userfaultfd", CALLS, SYS_userfaultfd, {0}, false},
		{"keys", CALLS, SYS_keyctl, {0}, false},
		{"perf", CALLS, SYS_perf_event_open, {0}, false},
		{"memfd", CALLS, SYS_memfd_create, {P("x"), 0}, false},
		{"dumpable", CALLS, SYS_prctl, {PR_SET_DUMPABLE, 1}, true},
	};

	CHECK(page != MAP_FAILED);
	attempt_all(a, ZR_COUNT(a));
	munmap(page, 4096);
}

/* ---- what is not ---- */

static void *is_thread(void *arg)
{
	*(int *)arg = 1;
	return arg;
}

static int serves(unsigned int walls, const void *arg)
{
	char *memory = malloc(32 << 20), line[64] = "";
	DIR *d = opendir(store);
	int ran = 0, fd;
	pthread_t t;
	FILE *f;

	(void)walls;
	CHECK(memory && d && readdir(d));
	memset(memory, 1, 32 << 20);
	free(memory);
	closedir(d);
	CHECK_INT(pthread_create(&t, NULL, is_thread, &ran), 0);
	CHECK_INT(pthread_join(t, NULL), 0);
	CHECK_INT(ran, 1);

	fd = open(in(store, "zarr.json"), O_RDONLY);
	CHECK(fd >= 0);
	CHECK_INT(pread(fd, line, sizeof(line), 0), 2);
	close(fd);
	f = fopen("/proc/self/status", "re");
	CHECK(f && fgets(line, sizeof(line), f));
	fclose(f);
	CHECK(kill(*(const pid_t *)arg, 0) == 0 || errno == EPERM);
	return AS_WANTED;
}

static int keeps(unsigned int walls, const void *arg)
{
	char temp[256];

	(void)walls, (void)arg;
	strcpy(temp, in(kept, "temp"));
	put(temp, "0123456789");
	put(temp, "01234");
	CHECK_INT(rename(temp, in(kept, "name")), 0);
	CHECK_INT(utimensat(AT_FDCWD, in(kept, "name"), NULL, 0), 0);
	CHECK_INT(access(in(kept, "name"), R_OK), 0);
	CHECK_INT(unlink(in(kept, "name")), 0);
	return AS_WANTED;
}

static void what_serving_takes_still_goes(void)
{
	const pid_t parent = getpid();

	CHECK_INT(inside(serves, &parent), AS_WANTED);
	CHECK_INT(inside(keeps, NULL), AS_WANTED);
}

/* abort() must end the process, and by its own signal. */
static void a_failure_still_ends_the_process(void)
{
	pid_t pid = fork();
	int status;

	CHECK(pid >= 0);
	if (pid == 0) {
		signal(SIGABRT, SIG_DFL);
		enter();
		abort();
	}
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

/* One wall stands without the other: a kernel may have one of them only. */
static int files_only(unsigned int walls, const void *arg)
{
	(void)walls, (void)arg;
	return zr_sandbox_files(NULL, 0) == 0 && open("/etc/passwd", O_RDONLY) < 0 &&
	                       errno == EACCES
	               ? AS_WANTED
	               : NO_WALL;
}

static void walls_are_told(void)
{
	pid_t pid = fork();
	int status;

	CHECK(pid >= 0);
	if (pid == 0) {
		unsigned int walls;

		CHECK_INT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
		CHECK_INT(zr_sandbox_calls(), 0);
		/* The kernel as it was before Landlock: so ours is now. */
		walls = enter();
		CHECK_INT(walls & ZR_SANDBOX_FILES, 0);
		CHECK_INT(open("/etc/passwd", O_RDONLY) >= 0, 1);
		_exit(AS_WANTED);
	}
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK_INT(status, 0);
	CHECK_INT(inside(files_only, NULL) == OTHERWISE, 0);
}

int main(void)
{
	make_top();
	RUN(files_outside_are_out_of_reach);
	RUN(calls_that_serving_does_not_take_are_refused);
	RUN(what_serving_takes_still_goes);
	RUN(a_failure_still_ends_the_process);
	RUN(walls_are_told);
	remove_top();
	return EXIT_SUCCESS;
}
