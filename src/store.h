/* SPDX-License-Identifier: MIT */
/*
 * store.h - names to bytes
 *
 *   [ store ] bytes -> codec -> chunk cache -> view -> render -> fuse reply
 *
 * A key is a path below the store's root: components joined by '/', no leading slash,
 * "" is the root itself; components are bytes without '/' and NUL, never "." or ".."
 * (refused with -EINVAL: names that come out of metadata cannot leave the store).
 * "Not there" (-ENOENT) is a different answer from every other failure.
 *
 * Kinds: a directory (store_dir.c on beneath.h), a zip archive (store_zip.c on
 * archive.h), one of these with what consolidated metadata add (consolidated.c), and
 * whatever a test brings.
 *
 * Layer 1. May include layer 0.
 *
 * Memory: a store is shared by reference; results belong to the caller.
 * Threads: all functions from any thread, in parallel. They may block on I/O.
 * Errors: -ENOENT no such key (a directory where an object is asked for is -EISDIR, an
 *         object where a directory is asked for -ENOTDIR);
 *         -ELOOP   a symbolic link that leaves the store;
 *         -EUCLEAN shorter than asked for, a FIFO or device, a damaged archive member,
 *                  a dangling symbolic link;
 *         -EFBIG   larger than `max`; others as the system gave them. reterr (may be
 *         NULL) gets one line that says what was met, for all but -ENOENT.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "buf.h"
#include "err.h"
#include "util.h"

struct zr_stat {
	uint64_t size;
	struct timespec mtime;
	struct timespec ctime;
	uint64_t ino; /* 0 where there is none */
};

struct zr_dirent {
	char *name;   /* owned by the list, NUL-terminated */
	bool is_dir;  /* or a link to one, be it out of the store, but not one to a
	               * directory on the way to itself; else an object (or something
	               * else: whoever opens it finds out) */
	bool is_link; /* it is_dir by way of a symbolic link */
};

/* Grows by zr_dirlist_add() alone: how much room there is follows from the count. */
struct zr_dirlist {
	struct zr_dirent *entries; /* sorted by name, bytewise */
	size_t count;
};

struct zr_store;

struct zr_store_ops {
	/* See the functions of the same names below. get_range: `len` bytes or an error.
	 */
	int (*get)(struct zr_store *s, const char *key, uint64_t max, struct zr_buf *ret,
	           struct zr_err *reterr);
	int (*get_range)(struct zr_store *s, const char *key, uint64_t offset, size_t len,
	                 void *out, struct zr_err *reterr);
	int (*verify)(struct zr_store *s, const char *key,
	              struct zr_err *reterr); /* NULL: nothing to go by */
	int (*stat)(struct zr_store *s, const char *key, struct zr_stat *ret,
	            struct zr_err *reterr);
	int (*list)(struct zr_store *s, const char *key, struct zr_dirlist *ret,
	            struct zr_err *reterr);
	void (*free)(struct zr_store *s);
};

/* The head of every store: first member of each kind's own struct. */
struct zr_store {
	const struct zr_store_ops *ops;
	atomic_uint refs;
	bool sums; /* of all objects: zr_store_verify() has something to go by */
	pthread_mutex_t large_doc; /* whose turn it is: see zr_store_get_doc() */
	atomic_size_t present;     /* chunks that are remembered: see present.h */
};

/*
 * Open what `path` names: a directory, or a zip archive (by its content, not its name).
 * Where it goes on behind the name of an archive it names a node in it: "x.zip/a/b". A
 * directory inside of a store is the root of what is opened, as any other is. Copies of
 * documents in consolidated metadata (consolidated.h) are there once they are learnt.
 * follow_symlinks: links that leave a directory store are followed.
 * One line in reterr on failure, that begins with the path.
 */
ZR_MUST_CHECK int zr_store_open(const char *path, bool follow_symlinks,
                                struct zr_store **ret, struct zr_err *reterr);
ZR_MUST_CHECK int zr_store_dir_open(const char *path, bool follow_symlinks,
                                    struct zr_store **ret, struct zr_err *reterr);
ZR_MUST_CHECK int zr_store_zip_open(const char *path, struct zr_store **ret,
                                    struct zr_err *reterr);
/* With the directory `node` ("" or a key) as root. -ENOENT: there is none. */
ZR_MUST_CHECK int zr_store_zip_open_node(const char *path, const char *node,
                                         struct zr_store **ret, struct zr_err *reterr);

/* Takes a path apart: the file or directory it names (owned), and what goes on behind a
 * file's name (owned; as a key, but for ".."; "" else). -errno: there is no such file. */
ZR_MUST_CHECK int zr_store_split(const char *path, char **ret_file, char **ret_node);

/* Says why there is nothing at a path, where opening it or taking it apart gave `code`.
 * Returns that. */
int zr_store_absent(const char *path, int code, struct zr_err *reterr);

/* Whether len bytes are a key as described above. */
bool zr_store_is_key(const char *key, size_t len);

struct zr_store *zr_store_ref(struct zr_store *s);
void zr_store_unref(struct zr_store *s); /* NULL is allowed */

/* The whole object, at most `max` bytes. *ret must be empty. */
ZR_MUST_CHECK int zr_store_get(struct zr_store *s, const char *key, uint64_t max,
                               struct zr_buf *ret, struct zr_err *reterr);

/* Whose turn it is to have a large document; {0}: nobody's. */
struct zr_turn {
	struct zr_store *store; /* borrowed */
};

/*
 * A whole document, at most ZR_MAX_METADATA bytes. While one is parsed it may take some
 * hundred MiB, so those over 1 MiB are read and parsed one after the other, whoever asks
 * for how many: who got one has the store's turn, for this document and those that he
 * gets after it, until zr_turn_done(), and others wait for theirs.
 */
ZR_MUST_CHECK int zr_store_get_doc(struct zr_store *s, const char *key,
                                   struct zr_turn *turn, struct zr_buf *ret,
                                   struct zr_err *reterr);
void zr_turn_done(struct zr_turn *turn);

/* Exactly `len` bytes from `offset`; -EUCLEAN when the object ends before. */
ZR_MUST_CHECK int zr_store_get_range(struct zr_store *s, const char *key, uint64_t offset,
                                     size_t len, void *out, struct zr_err *reterr);

/* Whether an object holds what was stored, as far as the store itself can tell: reads all
 * of an archive's member, and compares its CRC-32. Parts of it are not summed up when
 * they are read. */
ZR_MUST_CHECK int zr_store_verify(struct zr_store *s, const char *key,
                                  struct zr_err *reterr);

/* An object (a regular file). */
ZR_MUST_CHECK int zr_store_stat(struct zr_store *s, const char *key, struct zr_stat *ret,
                                struct zr_err *reterr);

/* What lies directly below a directory. */
ZR_MUST_CHECK int zr_store_list(struct zr_store *s, const char *key,
                                struct zr_dirlist *ret, struct zr_err *reterr);

void zr_dirlist_done(struct zr_dirlist *l);

/*
 * For the kinds of store. Their operations are called with keys that were checked, and
 * say why in reterr, always but for -ENOENT.
 */

/* Makes the head of a store, with one reference. */
void zr_store_init(struct zr_store *s, const struct zr_store_ops *ops);

/* Appends a copy of a name of len bytes; -ENOMEM. The list is in no order until
 * zr_dirlist_sort(), which also makes one of entries of the same name (a directory if
 * one of them is). */
ZR_MUST_CHECK int zr_dirlist_add(struct zr_dirlist *l, const char *name, size_t len,
                                 bool is_dir);
void zr_dirlist_sort(struct zr_dirlist *l);

/* How often a call is made that was interrupted: a store of another file system may say
 * so each time. */
#define ZR_STORE_TRIES 100

/* Sets the text "'key': what the system calls it" for a -errno and returns it. -EAGAIN
 * and -EINTR become -EIO: a reader would take them for a reason to come back at once, or
 * for a signal of its own. */
int zr_store_failed(struct zr_err *reterr, const char *key, int code);

/* -EFBIG and its text. */
int zr_store_too_large(struct zr_err *reterr, const char *key, uint64_t size,
                       uint64_t max);

/* -EUCLEAN and its text: fewer than offset + len bytes are there. */
int zr_store_too_short(struct zr_err *reterr, const char *key, uint64_t size,
                       uint64_t offset, uint64_t len);

/* Reads exactly n bytes of a file at `offset`. -EUCLEAN when it ends before (no text),
 * or -errno. */
ZR_MUST_CHECK int zr_store_pread(int fd, void *out, size_t n, uint64_t offset);
