/* SPDX-License-Identifier: MIT */
/*
 * Start, serve, end.
 *
 * Between mounting and serving all rights are given up: see privilege.h and sandbox.h for
 * what stays, keeper.h for who unmounts. What is opened by name is opened before that.
 *
 * Signals end the loop through a descriptor that is polled together with the kernel's. A
 * handler that sets a flag would miss a signal that comes just before the loop sleeps.
 */
#define FUSE_USE_VERSION 312

#include "cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "background.h"
#include "engine.h"
#include "fs.h"
#include "index.h"
#include "keeper.h"
#include "log.h"
#include "mount.h"
#include "privilege.h"
#include "report.h"
#include "sandbox.h"
#include "serve.h"
#include "store.h"

/* Errors and warnings that are written at once; then one each second. */
#define LOG_LINES 1000

struct server {
	const struct zr_opts *opts;
	struct zr_background background;
	int notify; /* to systemd, or -1 */
	int store;  /* O_PATH: what links may lead to; the store's directory */
	int signals;
	const struct zr_fs *fs;
	struct fuse_session *session;
	struct zr_serve serve;
	struct zr_keeper keeper;
};

static void storep_unref(struct zr_store **s)
{
	zr_store_unref(*s);
}

static void fsp_free(struct zr_fs **fs)
{
	zr_fs_free(*fs);
}

static void sessionp_free(struct fuse_session **se)
{
	if (*se)
		fuse_session_destroy(*se);
}

static void log_from_fuse(enum fuse_log_level level, const char *fmt, va_list ap)
{
	static const enum zr_log_level levels[] = {
		[FUSE_LOG_EMERG] = ZR_LOG_ERROR,     [FUSE_LOG_ALERT] = ZR_LOG_ERROR,
		[FUSE_LOG_CRIT] = ZR_LOG_ERROR,      [FUSE_LOG_ERR] = ZR_LOG_ERROR,
		[FUSE_LOG_WARNING] = ZR_LOG_WARNING, [FUSE_LOG_NOTICE] = ZR_LOG_INFO,
		[FUSE_LOG_INFO] = ZR_LOG_INFO,       [FUSE_LOG_DEBUG] = ZR_LOG_DEBUG,
	};
	char line[1024];
	int n = vsnprintf(line, sizeof(line), fmt, ap);

	if (n > 0)
		zr_log(levels[level], "%.*s", (int)strcspn(line, "\n"), line);
}

static void on_ready(void *arg)
{
	struct server *s = arg;

	if (s->opts->foreground) {
		zr_notify_ready(s->notify);
		return;
	}
	if (!s->opts->log_file)
		zr_log_to_syslog();
	if (zr_background_ready(&s->background) < 0)
		fuse_session_exit(s->session);
}

/* SIGHUP, SIGINT, SIGTERM and SIGUSR1 as a descriptor; without SIGHUP if whoever started
 * us ignores it (nohup). Threads that start later inherit that they are blocked. */
static int open_signals(void)
{
	struct sigaction hup;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGUSR1);
	if (sigaction(SIGHUP, NULL, &hup) == 0 && hup.sa_handler != SIG_IGN)
		sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void log_report(const struct zr_engine *e)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf line = {0};

	zr_report(e, &line);
	if (zr_buf_check(&line) == 0)
		zr_info("%.*s", (int)line.len, (const char *)line.data);
}

/* Whether a signal that came is one to end by. */
static bool take_signal(void *arg)
{
	const struct server *s = arg;
	struct signalfd_siginfo info;

	if (read(s->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return false;
	if (info.ssi_signo != SIGUSR1)
		return true;
	log_report(zr_fs_engine(s->fs));
	return false;
}

/* libfuse and fusermount3 write to stderr; of that one line becomes the error. */
static int mount_session(const struct zr_mount *m, struct zr_fs *fs,
                         struct fuse_session **ret, struct zr_err *reterr)
{
	ZR_CLEANUP(sessionp_free) struct fuse_session *se = NULL;
	char *argv[] = {"zarrfs", "-o", m->options, NULL};
	struct fuse_args args = FUSE_ARGS_INIT(3, argv);
	struct zr_capture capture;
	char said[1024];
	int r = -1;

	zr_capture_begin(&capture);
	se = fuse_session_new(&args, zr_fs_ops(), sizeof(*zr_fs_ops()), fs);
	if (se)
		r = fuse_session_mount(se, m->point);
	zr_capture_end(&capture, said, sizeof(said));
	fuse_opt_free_args(&args);
	if (r < 0)
		return zr_mount_explain(m, said, -EIO, reterr);
	*ret = ZR_TAKE(se);
	return 0;
}

/* What will be opened later, and what is open by a name that cannot be used any more. */
static void enter_sandbox(const struct server *s, const struct zr_fs *fs)
{
	struct zr_sandbox_place places[4];
	int proc = open("/proc", O_PATH | O_CLOEXEC); /* asker.h */
	int self = ZR_SANDBOX_SANITIZED ? open("/proc/self/exe", O_PATH | O_CLOEXEC) : -1;
	const struct zr_index *index = zr_fs_engine(fs)->env.index;
	size_t n = 0;

	if (s->store >= 0)
		places[n++] = (struct zr_sandbox_place){.fd = s->store};
	if (index)
		places[n++] = (struct zr_sandbox_place){.fd = zr_index_dir(index),
		                                        .write = true};
	if (proc >= 0)
		places[n++] = (struct zr_sandbox_place){.fd = proc};
	if (self >= 0) /* the symbols of a report */
		places[n++] = (struct zr_sandbox_place){.fd = self};
	zr_sandbox_enter(places, n);
	if (proc >= 0)
		close(proc);
	if (self >= 0)
		close(self);
}

/* After this nothing is ours but what is open, and what the sandbox names. */
static int give_up_rights(struct server *s, const struct zr_mount *m,
                          const struct zr_fs *fs, struct zr_err *reterr)
{
	int r = 0;

	if (!m->is_fd) /* whoever made the mount unmounts it, too */
		r = zr_keeper_start(m->point, &s->keeper, reterr);
	if (r < 0)
		return r;
	if (s->opts->foreground) {
		s->notify = zr_notify_open();
	} else {
		zr_background_prepare(&s->background);
		if (!s->opts->log_file)
			zr_log_open_syslog();
	}
	r = zr_privilege_drop(&s->opts->who, reterr);
	if (r < 0)
		return r;
	if (!s->opts->sandbox_off)
		enter_sandbox(s, fs);
	return 0;
}

/*
 * libfuse would unmount, or have fusermount3 do it, and neither can be any more. But it
 * leaves that when its descriptor says that the mount has gone already (POLLERR), which a
 * pipe says that nobody reads: the keeper's, in the place of /dev/fuse.
 */
static void end_mount(struct server *s)
{
	int fd = fuse_session_fd(s->session);
	struct pollfd fuse = {.fd = fd};
	bool gone = poll(&fuse, 1, 0) == 1 && (fuse.revents & POLLERR);

	if (s->keeper.pid) {
		dup2(s->keeper.fd, fd); /* this ends whoever still waits for an answer */
		zr_keeper_end(&s->keeper, gone);
		close(s->keeper.fd);
	}
	fuse_session_unmount(s->session);
}

static int serve_requests(struct server *s)
{
	int r = zr_serve_run(&s->serve, take_signal, s);

	if (r < 0)
		zr_error("requests are not answered any more: %s", strerror(-r));
	return r;
}

/* The fs ends before the session: its workers answer through it. */
static int serve(struct server *s, const struct zr_mount *m, struct zr_fs *own_fs)
{
	ZR_CLEANUP(sessionp_free) struct fuse_session *se = NULL;
	ZR_CLEANUP(fsp_free) struct zr_fs *fs = own_fs;
	struct zr_err err = {0};
	int r;

	s->signals = open_signals();
	if (s->signals < 0) {
		zr_err_set(&err, -errno, "cannot receive signals: %s", strerror(errno));
		return zr_cmd_complain(&err);
	}
	if (mount_session(m, fs, &se, &err) < 0)
		return zr_cmd_complain(&err);
	fuse_set_log_func(log_from_fuse);
	s->session = se;
	s->fs = fs;

	r = zr_serve_open(&s->serve, se, s->signals);
	if (r < 0)
		zr_err_set(&err, r, "cannot wait for requests: %s", strerror(-r));
	else
		r = give_up_rights(s, m, fs, &err);
	zr_log_limit(LOG_LINES, 1);
	if (r < 0)
		zr_cmd_complain(&err);
	else
		r = serve_requests(s);
	zr_fs_free(ZR_TAKE(fs));
	zr_serve_close(&s->serve);
	end_mount(s);
	zr_log_limit(0, 1);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* The store as far as it is opened by name again: the directory, or when links may lead
 * out of it everything. An archive is open. */
static int open_place(const struct zr_opts *o)
{
	return open(o->follow_symlinks ? "/" : o->store,
	            O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* As zr_store_open(). A word that names no file may be a verb, misspelt. */
static int open_store(const struct zr_opts *o, struct zr_store **ret,
                      struct zr_err *reterr)
{
	struct zr_err err = {0};
	int r = zr_store_open(o->store, o->follow_symlinks, ret, &err);

	if (r == -ENOENT && !strchr(o->store, '/')) {
		ZR_CLEANUP(zr_buf_done) struct zr_buf verbs = {0};

		zr_opts_verbs(&verbs);
		return zr_err_set(reterr, r, "%s, nor a verb (%.*s)", err.text,
		                  (int)verbs.len, (const char *)verbs.data);
	}
	return r < 0 ? zr_err_set(reterr, r, "%s", err.text) : 0;
}

/* All that can be done before there is a mount. */
static int prepare(struct zr_opts *o, struct server *s, struct zr_fs **ret_fs,
                   struct zr_mount *ret_mount, struct zr_err *reterr)
{
	ZR_CLEANUP(storep_unref) struct zr_store *store = NULL;
	int r = o->log_file ? zr_log_to_file(o->log_file) : 0;

	if (r < 0)
		return zr_err_set(reterr, r, "log=%s: %s", o->log_file, strerror(-r));
	r = open_store(o, &store, reterr);
	if (r < 0)
		return r;
	s->store = open_place(o);
	r = zr_cmd_who(o, &o->who, reterr);
	if (r == 0)
		r = zr_fs_new(store, o, on_ready, s, ret_fs, reterr);
	return r < 0 ? r : zr_mount_check(o, ret_mount, reterr);
}

/* Who asks for a report before there can be one gets it then. */
static void hold_reports(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

int zr_cmd_mount(const struct zr_opts *o)
{
	struct zr_opts own = *o; /* borrows all that it points to */
	ZR_CLEANUP(fsp_free) struct zr_fs *fs = NULL;
	ZR_CLEANUP(zr_mount_done) struct zr_mount m = {0};
	struct server s = {.opts = &own, .background.fd = -1, .notify = -1, .store = -1};
	struct zr_err err = {0};
	int r;

	signal(SIGPIPE, SIG_IGN); /* of whoever started us and has gone */
	signal(SIGCHLD, SIG_DFL); /* who inherits that it is ignored waits for no child */
	hold_reports();
	if (o->debug)
		zr_log_set_level(ZR_LOG_DEBUG);
	if (prepare(&own, &s, &fs, &m, &err) < 0)
		return zr_cmd_complain(&err);

	if (!o->foreground) {
		if (zr_background_fork(&s.background, &err) < 0)
			return zr_cmd_complain(&err);
		if (s.background.child) {
			r = zr_background_wait(&s.background, m.is_fd ? NULL : m.point,
			                       &err);
			if (r < 0 && err.code)
				zr_cmd_complain(&err);
			return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
		}
	}
	/* All paths are absolute by now; keep no directory busy. */
	if (chdir("/") < 0)
		zr_warning("cannot change to /: %s", strerror(errno));
	return serve(&s, &m, ZR_TAKE(fs));
}

const char *zr_cmd_libfuse(void)
{
	return fuse_pkgversion();
}
