/* SPDX-License-Identifier: MIT */
/*
 * Every operation is a struct op. It is carried out at once if that needs no I/O: without
 * `wait`, whatever would block gives -EAGAIN instead, and then the same function is run
 * again by a worker of the queue.
 */
#define FUSE_USE_VERSION 312

#include "fs.h"

#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "engine.h"
#include "files.h"
#include "fs_attr.h"
#include "log.h"
#include "names.h"
#include "request.h"
#include "tally.h"
#include "tree.h"

#define MAX_BACKGROUND 512 /* else 12 slow reads hold back everybody's read-ahead */

struct zr_fs {
	struct zr_engine *engine; /* owned */
	struct zr_tree *tree;     /* the engine's */
	const struct zr_opts *opts;
	void (*on_ready)(void *arg);
	void *on_ready_arg;
};

struct op {
	struct zr_job job; /* first: the queue sees only this */
	struct zr_fs *fs;
	fuse_req_t req;
	atomic_bool answered;
	enum zr_job_result (*run)(struct op *op);
	fuse_ino_t ino;
	size_t size;
	off_t off;
	bool plus;              /* READDIRPLUS */
	bool direct;            /* READ with O_DIRECT */
	bool wait;              /* a worker runs it: it may block */
	bool again;             /* it would have had to */
	char *name;             /* owned; LOOKUP */
	struct zr_files *files; /* one reference, while a size or place is waited for */
	struct zr_view *view;
	struct zr_ticket ticket;
};

/* --- answers ---------------------------------------------------------------------------
 */

/* Whether this thread is the one to answer. Afterwards nobody is interrupted any more. */
static bool op_answer(struct op *op)
{
	if (atomic_exchange(&op->answered, true))
		return false;
	fuse_req_interrupt_func(op->req, NULL, NULL);
	return true;
}

/* What a reader sees of an error from below. */
static int public_errno(int r)
{
	switch (-r) {
	case ENOENT:
	case ENOTDIR:
	case EISDIR:
	case ENOMEM:
	case EINTR:
	case ETIMEDOUT:
	case EOVERFLOW:
	case ESTALE:
	case ENAMETOOLONG:
		return -r;
	default:
		return EIO;
	}
}

/* An error is an answer, too, but for the one that asks for a worker. */
static enum zr_job_result op_error(struct op *op, int r)
{
	if (r == -EAGAIN && !op->wait)
		op->again = true;
	else if (op_answer(op))
		fuse_reply_err(op->req, public_errno(r));
	return ZR_JOB_DONE;
}

static enum zr_job_result op_park(struct op *op)
{
	op->job.wait_on = zr_files_wait_on(op->files);
	return ZR_JOB_PARK;
}

/* --- LOOKUP ----------------------------------------------------------------------------
 */

static enum zr_job_result run_lookup(struct op *op)
{
	ZR_CLEANUP(zr_entry_done) struct zr_entry child = {0};
	struct fuse_entry_param e = {.entry_timeout = ZR_FS_FOREVER};
	struct zr_place dir;
	int r = zr_tree_place(op->fs->tree, op->ino, &dir);

	if (r == 0)
		r = zr_tree_lookup(op->fs->tree, &dir, op->name, op->wait, &child);
	if (r == 0)
		r = zr_fs_fill_entry(op->fs->tree, op->fs->opts, &child, &e);
	if (r < 0 && r != -ENOENT)
		return op_error(op, r);
	if (r == -ENOENT)
		e.ino = 0; /* the kernel may remember that, too */
	if (op_answer(op))
		fuse_reply_entry(op->req, &e);
	return ZR_JOB_DONE;
}

/* --- GETATTR ---------------------------------------------------------------------------
 */

/* The documents of the node that op->ino is of, once. */
static int op_files(struct op *op, struct zr_place *ret)
{
	int r = zr_tree_place(op->fs->tree, op->ino, ret);

	if (r < 0 || op->files)
		return r;
	if (op->wait)
		return zr_tree_files(op->fs->tree, ret->node, &op->files);
	op->files = zr_tree_peek(op->fs->tree, ret->node);
	return op->files ? 0 : -EAGAIN;
}

/* The view of op->ino, once. */
static int op_view(struct op *op)
{
	struct zr_place p;
	int r = op->view ? 0 : op_files(op, &p);

	if (r < 0 || op->view)
		return r;
	return zr_files_view(op->files, p.tree, p.entry, &op->view);
}

/* 1 for a directory, 0 for a file. Nodes are directories, whatever their documents say.
 */
static int op_is_dir(struct op *op, struct zr_place *ret)
{
	bool is_dir = true;
	int r = zr_tree_place(op->fs->tree, op->ino, ret);

	if (r == 0 && ret->entry != 0)
		r = op_files(op, ret);
	if (r == 0 && ret->entry != 0)
		r = zr_files_is_dir(op->files, ret->entry, &is_dir);
	return r < 0 ? r : is_dir;
}

static int op_size(struct op *op, uint64_t *ret)
{
	int r = op_view(op);

	if (r < 0)
		return r;
	if (op->wait)
		return zr_view_size(op->view, &op->ticket, ret);
	return zr_view_peek_size(op->view, ret) ? 0 : -EAGAIN;
}

static enum zr_job_result run_getattr(struct op *op)
{
	struct zr_place p;
	struct stat st;
	uint64_t size = 0;
	int is_dir = op_is_dir(op, &p), r = ZR_MIN(is_dir, 0);

	if (is_dir == 0)
		r = op_size(op, &size);
	if (r == -EINPROGRESS)
		return op_park(op);
	if (r < 0)
		return op_error(op, r);
	zr_fs_fill_attr(op->fs->tree, op->fs->opts, &p, is_dir, size, &st);
	if (op_answer(op))
		fuse_reply_attr(op->req, &st, ZR_FS_FOREVER);
	return ZR_JOB_DONE;
}

/* --- READ ------------------------------------------------------------------------------
 */

/* One large read past the end with O_DIRECT becomes several READs, of which some
 * lie behind the end: an error there would fail the whole of it. (Through the page cache
 * 0 bytes would be wrong: they make the file end there for other readers.) */
static int read_direct_failed(struct op *op, int r)
{
	uint64_t size;
	int known;

	if (r != -EIO || !op->direct)
		return r;
	known = zr_view_size(op->view, &op->ticket, &size);
	if (known == 0)
		return (uint64_t)op->off >= size ? 0 : r;
	return known == -EINPROGRESS ? known : r;
}

/* Answers from where the bytes lie in the cache; false: that is not possible. */
static bool read_lent(struct op *op)
{
	struct zr_lent lent;

	if (!zr_view_lend(op->view, (uint64_t)op->off, op->size, op->wait,
	                  &op->job.abandoned, &lent))
		return false;
	for (unsigned int i = 0; i < lent.count; i++)
		zr_tally_add(ZR_TALLY_ANSWERED, lent.at[i].iov_len);
	if (op_answer(op))
		fuse_reply_iov(op->req, lent.at, (int)lent.count);
	zr_lent_done(&lent);
	return true;
}

static enum zr_job_result run_read(struct op *op)
{
	ZR_CLEANUP(zr_freep) uint8_t *buf = NULL;
	size_t len = 0;
	int r = op_view(op);

	if (r == 0 && read_lent(op))
		return ZR_JOB_DONE;
	if (r == 0 && !op->wait)
		r = -EAGAIN;
	if (r == 0) {
		buf = malloc(op->size);
		if (!buf)
			r = -ENOMEM;
	}
	if (r == 0)
		r = zr_view_read(op->view, (uint64_t)op->off, op->size, &op->ticket,
		                 &op->job.abandoned, buf, &len);
	r = read_direct_failed(op, r);
	if (r == -EINPROGRESS)
		return op_park(op);
	if (r < 0)
		return op_error(op, r);
	zr_tally_add(ZR_TALLY_ANSWERED, len);
	if (op_answer(op))
		fuse_reply_buf(op->req, (const char *)buf, len);
	return ZR_JOB_DONE;
}

/* --- READDIR, READDIRPLUS --------------------------------------------------------------
 */

/* Cookies: 0 is ".", 1 is "..", then the children. */
static int nth_entry(struct op *op, const struct zr_place *dir, uint64_t nth,
                     struct zr_entry *ret)
{
	if (nth >= 2)
		return zr_tree_nth(op->fs->tree, dir, nth - 2, op->wait, ret);
	*ret = (struct zr_entry){.place = nth == 0 ? *dir
	                                           : zr_tree_parent(op->fs->tree, dir),
	                         .is_dir = true};
	strcpy(ret->name, nth == 0 ? "." : "..");
	return 0;
}

/* Adds one entry; 0 when it does not fit. READDIRPLUS gives attributes only of files
 * whose size is known: a bound there would make the kernel drop other readers' exact
 * sizes, and with those of directories a listing would parse every child. */
static size_t add_entry(struct op *op, const struct zr_entry *e, off_t next, char *buf,
                        size_t room)
{
	struct fuse_entry_param p = {.attr_timeout = ZR_FS_FOREVER,
	                             .entry_timeout = ZR_FS_FOREVER};
	uint64_t size = 0;
	size_t need;

	zr_fs_fill_attr(op->fs->tree, op->fs->opts, &e->place, e->is_dir, 0, &p.attr);
	if (!op->plus) {
		need = fuse_add_direntry(op->req, buf, room, e->name, &p.attr, next);
		return need <= room ? need : 0;
	}
	if (!e->is_dir && zr_fs_peek_size(e, &size) == 0) {
		zr_fs_fill_attr(op->fs->tree, op->fs->opts, &e->place, false, size,
		                &p.attr);
		p.ino = p.attr.st_ino;
		p.generation = 1;
	}
	need = fuse_add_direntry_plus(op->req, buf, room, e->name, &p, next);
	return need <= room ? need : 0;
}

static enum zr_job_result run_readdir(struct op *op)
{
	ZR_CLEANUP(zr_freep) char *buf = malloc(op->size);
	struct zr_place dir;
	struct zr_entry e;
	size_t used = 0, added;
	int r = buf ? zr_tree_place(op->fs->tree, op->ino, &dir) : -ENOMEM;

	for (uint64_t nth = (uint64_t)op->off; r == 0; nth++) {
		r = nth_entry(op, &dir, nth, &e);
		if (r < 0)
			break;
		added = add_entry(op, &e, (off_t)nth + 1, buf + used, op->size - used);
		zr_entry_done(&e);
		if (added == 0)
			break;
		used += added;
	}
	if (r < 0 && r != -ENOENT)
		return op_error(op, r);
	if (op_answer(op))
		fuse_reply_buf(op->req, buf, used);
	return ZR_JOB_DONE;
}

/* --- from a request to its answer
 * -------------------------------------------------------- */

static void op_free(struct op *op)
{
	zr_files_unref(op->files);
	free(op->name);
	free(op);
}

static enum zr_job_result job_run(struct zr_job *job)
{
	struct op *op = (struct op *)job;

	return op->run(op);
}

static void job_done(struct zr_job *job)
{
	struct op *op = (struct op *)job;

	op_error(op, -EINTR); /* if nobody has answered */
	op_free(op);
}

static void job_abandon(struct zr_job *job)
{
	op_error((struct op *)job, -EINTR);
}

static void op_interrupted(fuse_req_t req, void *data)
{
	struct op *op = data;

	(void)req;
	zr_queue_interrupt(op->fs->engine->env.queue, &op->job);
}

static struct op *op_new(fuse_req_t req, fuse_ino_t ino, enum zr_tally kind,
                         enum zr_job_result (*run)(struct op *op))
{
	struct op *op = calloc(1, sizeof(*op));

	zr_tally_add(kind, 1);
	if (!op) {
		fuse_reply_err(req, ENOMEM);
		return NULL;
	}
	op->fs = fuse_req_userdata(req);
	op->req = req;
	op->ino = ino;
	op->run = run;
	return op;
}

/* Lanes keep the requests of one inode apart by kind: a size that is waited for does not
 * queue behind reads. */
enum lane { LANE_DIR = 1, LANE_SIZE, LANE_READ };

static void op_queue(struct op *op, enum lane lane)
{
	op->job.key = (uint64_t)lane << 56 ^ op->ino;
	op->job.run = job_run;
	op->job.done = job_done;
	op->job.abandon = job_abandon;
	op->job.tid = fuse_req_ctx(op->req)->pid;
	fuse_req_interrupt_func(op->req, op_interrupted, op);
	zr_queue_add(op->fs->engine->env.queue, &op->job);
}

/* At once if everything is in memory. */
static void op_start(struct op *op, enum lane lane)
{
	op->run(op);
	if (!op->again) {
		op_free(op);
		return;
	}
	op->again = false;
	op->wait = true;
	op_queue(op, lane);
}

static void fs_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct op *op = op_new(req, parent, ZR_TALLY_LOOKUP, run_lookup);

	if (!op)
		return;
	op->name = strdup(name);
	if (!op->name) {
		op_error(op, -ENOMEM);
		op_free(op);
		return;
	}
	op_start(op, LANE_DIR);
}

static void fs_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct op *op = op_new(req, ino, ZR_TALLY_GETATTR, run_getattr);

	(void)fi;
	if (op)
		op_start(op, LANE_SIZE);
}

static void fs_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
                    struct fuse_file_info *fi)
{
	struct op *op = op_new(req, ino, ZR_TALLY_READ, run_read);

	if (!op)
		return;
	op->size = size;
	op->off = off;
	op->direct = fi->flags & O_DIRECT;
	op_start(op, LANE_READ);
}

static void start_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
                          bool plus)
{
	struct op *op = op_new(req, ino, ZR_TALLY_READDIR, run_readdir);

	if (!op)
		return;
	op->size = size;
	op->off = off;
	op->plus = plus;
	op_start(op, LANE_DIR);
}

static void fs_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
                       struct fuse_file_info *fi)
{
	(void)fi;
	start_readdir(req, ino, size, off, false);
}

static void fs_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
                           struct fuse_file_info *fi)
{
	(void)fi;
	start_readdir(req, ino, size, off, true);
}

/* Nothing is kept for an open directory either, but the kernel shall go on asking:
 * fusermount3 tells a dead mount, which it is to remove, by opening it. */
static void fs_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	fi->keep_cache = 1;
	fi->cache_readdir = 1;
	fuse_reply_open(req, fi);
}

/* Nothing is kept for an open file: answered so once, the kernel never asks again, and
 * keeps pages cached. */
static void fs_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	(void)fi;
	fuse_reply_err(req, ENOSYS);
}

static void fs_forget(fuse_req_t req, fuse_ino_t ino, uint64_t nlookup)
{
	(void)ino;
	(void)nlookup;
	fuse_reply_none(req);
}

static void fs_forget_multi(fuse_req_t req, size_t count,
                            struct fuse_forget_data *forgets)
{
	(void)count;
	(void)forgets;
	fuse_reply_none(req);
}

static void fs_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct statvfs st = {.f_bsize = 4096, .f_frsize = 4096, .f_namemax = ZR_NAME_MAX};

	(void)ino;
	fuse_reply_statfs(req, &st);
}

static void fs_init(void *userdata, struct fuse_conn_info *conn)
{
	struct zr_fs *fs = userdata;

	/* Content never changes: with automatic invalidation each read would ask for the
	 * attributes, and the step from a bound to the exact size would drop pages. */
	conn->want &= ~(unsigned int)FUSE_CAP_AUTO_INVAL_DATA;
	conn->want |= conn->capable & FUSE_CAP_EXPLICIT_INVAL_DATA;
	/* Of a direct read that the kernel sends in the background no INTERRUPT ever
	 * tells that its process is being killed, which then waits for the answer. */
	conn->want &= ~(unsigned int)FUSE_CAP_ASYNC_DIO;
	conn->max_background = MAX_BACKGROUND;
	conn->congestion_threshold = MAX_BACKGROUND * 3 / 4;

	if (zr_engine_start(fs->engine) < 0) {
		zr_error("no memory or threads to start with");
		abort();
	}
	if (fs->on_ready)
		fs->on_ready(fs->on_ready_arg);
}

const struct fuse_lowlevel_ops *zr_fs_ops(void)
{
	static const struct fuse_lowlevel_ops ops = {
		.init = fs_init,
		.lookup = fs_lookup,
		.forget = fs_forget,
		.forget_multi = fs_forget_multi,
		.getattr = fs_getattr,
		.open = fs_open,
		.read = fs_read,
		.opendir = fs_opendir,
		.readdir = fs_readdir,
		.readdirplus = fs_readdirplus,
		.statfs = fs_statfs,
	};

	return &ops;
}

int zr_fs_new(struct zr_store *store, const struct zr_opts *opts,
              void (*on_ready)(void *arg), void *arg, struct zr_fs **ret,
              struct zr_err *reterr)
{
	struct zr_fs *fs = calloc(1, sizeof(*fs));
	int r;

	if (!fs)
		return zr_err_set(reterr, -ENOMEM, "out of memory");
	fs->opts = opts;
	fs->on_ready = on_ready;
	fs->on_ready_arg = arg;
	r = zr_engine_new(store, opts, &fs->engine, reterr);
	if (r < 0) {
		zr_fs_free(fs);
		return r;
	}
	zr_engine_use_index(fs->engine, opts);
	fs->tree = fs->engine->tree;
	*ret = fs;
	return 0;
}

const struct zr_engine *zr_fs_engine(const struct zr_fs *fs)
{
	return fs->engine;
}

void zr_fs_free(struct zr_fs *fs)
{
	if (!fs)
		return;
	zr_engine_free(fs->engine);
	free(fs);
}
