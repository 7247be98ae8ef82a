/* SPDX-License-Identifier: MIT */
/*
 * A file that is made of records is cut into parts of about as many records as lie in the
 * same chunks: so that threads decode different ones. Any other is one part. Where a read
 * meets damage, less and less is asked for, so that all bytes before it are written.
 */
#include "cmd.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "engine.h"
#include "parts.h"
#include "visit.h"

#define READ_LEN ((size_t)256 << 10)
#define PART_LEAST ((uint64_t)256 << 10) /* bytes that a part should have, */
#define PART_MOST ((uint64_t)8 << 20)    /* and should not exceed */

/* One PATH. */
struct input {
	const char *path;
	struct zr_files *files; /* one reference */
	struct zr_view *view;
	enum zr_tree_form tree;
	bool has_rows; /* it is made of records: */
	struct zr_rows rows;
};

struct cat {
	struct input *inputs; /* owned */
	size_t ninputs;
	uint64_t first, last; /* records */
	uint64_t step;        /* of a part */
};

static void cat_done(struct cat *c)
{
	for (size_t i = 0; i < c->ninputs; i++)
		zr_files_unref(c->inputs[i].files);
	free(c->inputs);
}

static int input_failed(const struct input *in, int r, struct zr_err *reterr)
{
	return zr_err_set(reterr, r, "%s: %s", in->path, strerror(-r));
}

static int input_open(struct zr_engine *e, const char *path, struct input *ret,
                      struct zr_err *reterr)
{
	struct zr_place p;
	int r = zr_visit_find(e->tree, path, &p);

	ret->path = path;
	if (r == 0)
		r = zr_tree_files(e->tree, p.node, &ret->files);
	if (r == 0)
		r = zr_files_view(ret->files, p.tree, p.entry, &ret->view);
	/* A group's directory is no entry of its files. */
	if (r == -ENOENT && p.entry == 0)
		r = -EISDIR;
	if (r < 0)
		return input_failed(ret, r, reterr);
	ret->tree = p.tree;
	ret->has_rows = zr_view_rows(ret->view, &ret->rows);
	return 0;
}

static int cat_open(struct cat *c, struct zr_engine *e, const struct zr_opts *o,
                    struct zr_err *reterr)
{
	int r = 0;

	c->inputs = calloc(o->npaths, sizeof(*c->inputs));
	if (!c->inputs)
		return zr_err_set(reterr, -ENOMEM, "out of memory");
	while (r == 0 && c->ninputs < o->npaths) {
		r = input_open(e, o->paths[c->ninputs], &c->inputs[c->ninputs], reterr);
		c->ninputs++;
	}
	return r;
}

/* --- what goes together ----------------------------------------------------------------
 */

/* Side by side: lines without a header, as many of each. */
static int check_columns(const struct cat *c, struct zr_err *reterr)
{
	for (size_t i = 0; c->ninputs > 1 && i < c->ninputs; i++) {
		const struct input *in = &c->inputs[i];

		if (!in->has_rows || in->tree != ZR_TREE_TEXT)
			return zr_err_set(reterr, -EINVAL,
			                  "%s: cannot stand beside another file: it is "
			                  "no text of one line a record",
			                  in->path);
		if (in->rows.count != c->inputs[0].rows.count)
			return zr_err_set(reterr, -EINVAL,
			                  "%s has %llu records, and %s has %llu",
			                  c->inputs[0].path,
			                  (unsigned long long)c->inputs[0].rows.count,
			                  in->path, (unsigned long long)in->rows.count);
	}
	return 0;
}

/* The header of a .npy says how many records follow. */
static int check_rows(const struct cat *c, struct zr_err *reterr)
{
	const struct input *in = &c->inputs[0];

	if (in->has_rows && in->tree != ZR_TREE_NPY)
		return 0;
	return zr_err_set(reterr, -EINVAL, "%s: --rows is for text, CSV and .raw files",
	                  in->path);
}

/* Records of which a part consists: all that share their chunks in a file of the usual
 * line, unless that is too much, or many times that, if it is too little. */
static uint64_t part_step(const struct input *in)
{
	const struct zr_grid *g = &zr_files_source(in->files)->grid;
	uint64_t most = ZR_MAX(PART_MOST / in->rows.usual, 1);
	uint64_t least = PART_LEAST / in->rows.usual;
	uint64_t shared = g->ndim > 0 ? g->behind[0] : 1;

	if (g->ndim > 0 && !zr_mul(shared, g->cell[0], &shared))
		return most;
	if (shared == 0 || shared > most)
		return most;
	return shared * ZR_MAX(least / shared, 1);
}

/* --- reading ---------------------------------------------------------------------------
 */

/* As zr_view_read_rows(), but at least a byte short of an error. */
static int read_rows(const struct input *in, struct zr_cursor *at, size_t len,
                     const atomic_bool *cancel, uint8_t *out, size_t *ret_len)
{
	int r;

	do {
		r = zr_view_read_rows(in->view, at, len, cancel, out, ret_len);
		len /= 2;
	} while (r == -EIO && len > 0);
	return r;
}

/* As zr_view_read(), the same. */
static int read_bytes(const struct input *in, uint64_t offset, size_t len,
                      const atomic_bool *cancel, uint8_t *out, size_t *ret_len)
{
	struct zr_ticket ticket = {0};
	int r;

	do {
		r = zr_view_read(in->view, offset, len, &ticket, cancel, out, ret_len);
		if (r == -EINPROGRESS)
			nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
		else
			len /= 2;
	} while (r == -EINPROGRESS || (r == -EIO && len > 0));
	return r;
}

/* Bytes from `offset` to the end, or up to `end`. */
static int put_bytes(const struct input *in, uint64_t offset, uint64_t end,
                     struct zr_part *part, struct zr_err *reterr)
{
	while (offset < end) {
		size_t len = (size_t)ZR_MIN(end - offset, (uint64_t)READ_LEN);
		uint8_t *out;
		int r = zr_part_room(part, len, &out);

		if (r < 0)
			return r;
		r = read_bytes(in, offset, len, zr_part_cancelled(part), out, &len);
		if (r < 0)
			return input_failed(in, r, reterr);
		if (len == 0)
			break;
		zr_part_add(part, len);
		offset += len;
	}
	return 0;
}

static int put_rows(const struct input *in, struct zr_cursor *at, struct zr_part *part,
                    struct zr_err *reterr)
{
	while (at->record < at->end) {
		size_t len;
		uint8_t *out;
		int r = zr_part_room(part, READ_LEN, &out);

		if (r < 0)
			return r;
		r = read_rows(in, at, READ_LEN, zr_part_cancelled(part), out, &len);
		if (r < 0)
			return input_failed(in, r, reterr);
		zr_part_add(part, len);
	}
	return 0;
}

/* --- side by side ----------------------------------------------------------------------
 */

/* One file's lines on their way into the common ones. */
struct column {
	const struct input *in;
	struct zr_cursor at; /* behind what is in buf */
	struct zr_buf buf;
	size_t begin; /* of the next line in buf */
	size_t len;   /* of that line, LF not included; what was searched so far */
};

static int column_more(struct column *c, const atomic_bool *cancel, struct zr_err *reterr)
{
	size_t len;
	int r;

	c->buf.len -= c->begin;
	if (c->begin > 0 && c->buf.len > 0)
		memmove(c->buf.data, c->buf.data + c->begin, c->buf.len);
	c->begin = 0;
	if (zr_buf_reserve(&c->buf, READ_LEN / 4) < 0)
		return -ENOMEM;
	r = read_rows(c->in, &c->at, READ_LEN / 4, cancel, c->buf.data + c->buf.len,
	              &len);
	if (r == 0 && len == 0)
		r = -EIO; /* the last line has no end: cannot be */
	if (r < 0)
		return input_failed(c->in, r, reterr);
	c->buf.len += len;
	return 0;
}

/* Until a whole line is in the buffer. */
static int column_line(struct column *c, const atomic_bool *cancel, struct zr_err *reterr)
{
	c->len = 0;
	for (;;) {
		size_t from = c->begin + c->len;
		const uint8_t *end = NULL;
		int r;

		if (from < c->buf.len)
			end = memchr(c->buf.data + from, '\n', c->buf.len - from);
		if (end) {
			c->len = (size_t)(end - (c->buf.data + c->begin));
			return 0;
		}
		c->len = c->buf.len - c->begin;
		r = column_more(c, cancel, reterr);
		if (r < 0)
			return r;
	}
}

/* One line of each: all of them, or nothing is put. */
static int put_line(struct column *columns, size_t n, struct zr_part *part,
                    struct zr_err *reterr)
{
	size_t len = 0;
	uint8_t *out;
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		r = column_line(&columns[i], zr_part_cancelled(part), reterr);
		len += columns[i].len + 1;
	}
	if (r == 0)
		r = zr_part_room(part, len, &out);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		struct column *c = &columns[i];

		memcpy(out, c->buf.data + c->begin, c->len);
		out[c->len] = i + 1 < n ? '\t' : '\n';
		out += c->len + 1;
		c->begin += c->len + 1;
	}
	zr_part_add(part, len);
	return 0;
}

static int put_columns(const struct cat *c, const struct zr_cursor *at,
                       struct zr_part *part, struct zr_err *reterr)
{
	ZR_CLEANUP(zr_freep)
	struct column *columns = calloc(c->ninputs, sizeof(*columns));
	int r = 0;

	if (!columns)
		return -ENOMEM;
	for (size_t i = 0; i < c->ninputs; i++)
		columns[i] = (struct column){.in = &c->inputs[i], .at = *at};
	for (uint64_t n = at->record; r == 0 && n < at->end; n++)
		r = put_line(columns, c->ninputs, part, reterr);
	for (size_t i = 0; i < c->ninputs; i++)
		zr_buf_done(&columns[i].buf);
	return r;
}

/* --- all of it -------------------------------------------------------------------------
 */

/* Part 0 is the header, if there is one. */
static int make_rows(void *arg, uint64_t n, struct zr_part *part, struct zr_err *reterr)
{
	const struct cat *c = arg;
	struct zr_cursor at;

	if (n == 0)
		return put_bytes(c->inputs, 0, c->inputs[0].rows.header, part, reterr);
	at.record = c->first + (n - 1) * c->step;
	at.end = c->last - at.record > c->step ? at.record + c->step : c->last;
	at.skip = 0;
	return c->ninputs > 1 ? put_columns(c, &at, part, reterr)
	                      : put_rows(c->inputs, &at, part, reterr);
}

static int make_whole(void *arg, uint64_t n, struct zr_part *part, struct zr_err *reterr)
{
	const struct cat *c = arg;
	struct zr_ticket ticket = {0};
	uint64_t size;
	int r;

	(void)n;
	while ((r = zr_view_size(c->inputs[0].view, &ticket, &size)) == -EINPROGRESS)
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	return r < 0 ? input_failed(c->inputs, r, reterr)
	             : put_bytes(c->inputs, 0, size, part, reterr);
}

static int write_out(void *arg, const void *data, size_t len)
{
	(void)arg;
	return zr_cmd_write(STDOUT_FILENO, data, len);
}

static int cat_run(struct cat *c, const struct zr_opts *o, struct zr_err *reterr)
{
	struct zr_parts parts = {.count = 1,
	                         .threads = zr_cmd_threads(),
	                         .make = make_whole,
	                         .write = write_out,
	                         .arg = c};
	int r = check_columns(c, reterr);

	if (r == 0 && o->has_rows)
		r = check_rows(c, reterr);
	if (r < 0)
		return r;
	if (c->inputs[0].has_rows) {
		zr_slice_of(&o->rows, c->inputs[0].rows.count, &c->first, &c->last);
		c->step = part_step(&c->inputs[0]);
		parts.make = make_rows;
		parts.count = 1 + (c->last - c->first) / c->step +
		              ((c->last - c->first) % c->step > 0);
	}
	return zr_parts_run(&parts, reterr);
}

int zr_cmd_cat(const struct zr_opts *o)
{
	ZR_CLEANUP(zr_engine_freep) struct zr_engine *e = NULL;
	ZR_CLEANUP(cat_done) struct cat c = {0};
	struct zr_err err = {0};
	int r = zr_engine_open(o, &e, &err);

	if (r == 0)
		r = cat_open(&c, e, o, &err);
	if (r == 0)
		r = cat_run(&c, o, &err);
	if (r == 0)
		return EXIT_SUCCESS;
	return err.code ? zr_cmd_complain(&err) : zr_cmd_unwritten(r);
}
