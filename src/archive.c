/* SPDX-License-Identifier: MIT */
/*
 * No two threads may use one zip_t, so there are several of the same archive, all on one
 * descriptor. A thread holds one only while it fetches bytes.
 *
 * A zip_t takes 300 bytes and 2 us for each member (measured, libzip 1.7.3), which is why
 * archives of many members get fewer of them.
 */
#include "archive.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
#include <zip.h>

#include "archive_header.h"
#include "archive_names.h"
#include "store.h"

#define ARCHIVE_HANDLES 8           /* zip_t of one archive, at most */
#define ARCHIVE_MEMBERS (512 << 10) /* of all of them together, but for the first */
#define ARCHIVE_AHEAD 65536         /* bytes */

struct archive_input;

/* A zip_t, and where it reads. */
struct handle {
	zip_t *za;
	struct archive_input *in; /* borrowed from za */
};

struct zr_archive {
	int fd;
	struct stat st;    /* when it was opened */
	uint64_t nmembers; /* of the central directory */

	pthread_mutex_t lock;
	pthread_cond_t returned;
	struct handle
		idle[ARCHIVE_HANDLES]; /* owned; guarded by lock, as are the next three */
	size_t nidle;
	size_t nhandles;    /* idle, in use, or being opened */
	size_t max_handles; /* at least 1 */
};

/* ---- the archive as a source of libzip ---- */

struct archive_input {
	int fd; /* borrowed */
	uint64_t size, pos;
	zip_error_t error;
	uint8_t *ahead; /* owned; NULL: no reading ahead */
	uint64_t ahead_pos;
	size_t ahead_len;
};

/* The central directory is read in bits of 46 bytes and less, one after the other. Later
 * reads are far apart, and reading ahead would only cost. */
static int archive_input_ahead(struct archive_input *in, void *out, size_t n)
{
	uint64_t at = in->pos - in->ahead_pos;
	int r;

	if (in->pos < in->ahead_pos || at > in->ahead_len || n > in->ahead_len - at) {
		size_t len = (size_t)ZR_MIN(in->size - in->pos, ARCHIVE_AHEAD);

		in->ahead_len = 0;
		r = zr_store_pread(in->fd, in->ahead, len, in->pos);
		if (r < 0)
			return r;
		in->ahead_pos = in->pos;
		in->ahead_len = len;
		at = 0;
	}
	memcpy(out, in->ahead + at, n);
	return 0;
}

/* Reads until `len` bytes are there or the archive ends: libzip takes less as the end. */
static zip_int64_t archive_input_read(struct archive_input *in, void *out, uint64_t len)
{
	uint64_t n = in->pos < in->size ? ZR_MIN(len, in->size - in->pos) : 0;
	int r = in->ahead && n <= ARCHIVE_AHEAD
	                ? archive_input_ahead(in, out, (size_t)n)
	                : zr_store_pread(in->fd, out, (size_t)n, in->pos);

	if (r == -EUCLEAN)
		zip_error_set(&in->error, ZIP_ER_EOF, 0);
	else if (r < 0)
		zip_error_set(&in->error, ZIP_ER_READ, -r);
	if (r < 0)
		return -1;
	in->pos += n;
	return (zip_int64_t)n;
}

static void archive_input_free(struct archive_input *in)
{
	free(in->ahead);
	zip_error_fini(&in->error);
	free(in);
}

static zip_int64_t archive_input_stat(const struct archive_input *in, zip_stat_t *ret)
{
	zip_stat_init(ret);
	ret->valid = ZIP_STAT_SIZE;
	ret->size = in->size;
	return sizeof(*ret);
}

static zip_int64_t archive_input_call(void *user, void *data, zip_uint64_t len,
                                      zip_source_cmd_t cmd)
{
	struct archive_input *in = (struct archive_input *)user;
	zip_int64_t pos;

	switch (cmd) {
	case ZIP_SOURCE_OPEN:
		in->pos = 0;
		return 0;
	case ZIP_SOURCE_READ:
		return archive_input_read(in, data, len);
	case ZIP_SOURCE_CLOSE:
		return 0;
	case ZIP_SOURCE_STAT:
		return archive_input_stat(in, (zip_stat_t *)data);
	case ZIP_SOURCE_ERROR:
		return zip_error_to_data(&in->error, data, len);
	case ZIP_SOURCE_FREE:
		archive_input_free(in);
		return 0;
	case ZIP_SOURCE_SEEK:
		pos = zip_source_seek_compute_offset(in->pos, in->size, data, len,
		                                     &in->error);
		if (pos < 0)
			return -1;
		in->pos = (uint64_t)pos;
		return 0;
	case ZIP_SOURCE_TELL:
		return (zip_int64_t)in->pos;
	case ZIP_SOURCE_ACCEPT_EMPTY: /* a file of 0 bytes is no archive */
		return 0;
	case ZIP_SOURCE_SUPPORTS:
		return ZIP_SOURCE_SUPPORTS_SEEKABLE |
		       ZIP_SOURCE_MAKE_COMMAND_BITMASK(ZIP_SOURCE_ACCEPT_EMPTY);
	default:
		zip_error_set(&in->error, ZIP_ER_OPNOTSUPP, 0);
		return -1;
	}
}

/* What went wrong in libzip, as -errno. All that it finds wrong with an archive is
 * damage. */
static int archive_code(const zip_error_t *e)
{
	switch (zip_error_code_zip(e)) {
	case ZIP_ER_MEMORY:
		return -ENOMEM;
	case ZIP_ER_READ:
	case ZIP_ER_SEEK:
	case ZIP_ER_TELL:
		return zip_error_code_system(e) > 0 ? -zip_error_code_system(e) : -EIO;
	default:
		return -EUCLEAN;
	}
}

/* *e is initialised in any case, and to be finished. */
static struct handle archive_open_fd(int fd, uint64_t size, zip_error_t *e)
{
	struct archive_input *in = calloc(1, sizeof(*in));
	zip_source_t *source;
	zip_t *za;

	zip_error_init(e);
	if (!in) {
		zip_error_set(e, ZIP_ER_MEMORY, 0);
		return (struct handle){0};
	}
	in->fd = fd;
	in->size = size;
	in->ahead = malloc(ARCHIVE_AHEAD); /* does without */
	zip_error_init(&in->error);
	source = zip_source_function_create(archive_input_call, in, e);
	if (!source) {
		archive_input_free(in);
		return (struct handle){0};
	}
	za = zip_open_from_source(source, ZIP_RDONLY, e);
	if (za) {
		free(in->ahead);
		in->ahead = NULL;
	} else {
		zip_source_free(source);
	}
	return (struct handle){za, za ? in : NULL};
}

/* ---- handles ---- */

static struct handle archive_open_another(const struct zr_archive *a)
{
	zip_error_t e;
	struct handle h = archive_open_fd(a->fd, (uint64_t)a->st.st_size, &e);

	zip_error_fini(&e);
	if (h.za && zip_get_num_entries(h.za, 0) != (zip_int64_t)a->nmembers) {
		zip_discard(h.za);
		return (struct handle){0};
	}
	return h;
}

/* A handle that nobody else uses. Waits for one if it must; where no more can be opened,
 * those that there are do: the first one is always there. */
static struct handle archive_take(struct zr_archive *a)
{
	struct handle h = {0};

	pthread_mutex_lock(&a->lock);
	while (!h.za) {
		if (a->nidle > 0) {
			h = a->idle[--a->nidle];
		} else if (a->nhandles < a->max_handles) {
			a->nhandles++;
			pthread_mutex_unlock(&a->lock);
			h = archive_open_another(a);
			pthread_mutex_lock(&a->lock);
			if (!h.za)
				a->max_handles = --a->nhandles;
		} else {
			pthread_cond_wait(&a->returned, &a->lock);
		}
	}
	pthread_mutex_unlock(&a->lock);
	return h;
}

static void archive_give(struct zr_archive *a, struct handle h)
{
	pthread_mutex_lock(&a->lock);
	a->idle[a->nidle++] = h;
	pthread_cond_signal(&a->returned);
	pthread_mutex_unlock(&a->lock);
}

/* ---- reading members ---- */

static void archive_fclosep(zip_file_t **f)
{
	if (*f)
		zip_fclose(*f);
}

static int archive_failed(struct zr_err *reterr, const char *key, zip_error_t *e)
{
	return zr_err_set(reterr, archive_code(e), "'%s': %s", key,
	                  zip_error_strerror(e));
}

static int archive_damaged(struct zr_err *reterr, const char *key, const char *what)
{
	return zr_err_set(reterr, -EUCLEAN, "'%s' is damaged: %s", key, what);
}

static int archive_read_all(zip_file_t *f, const char *key, uint8_t *out, uint64_t len,
                            struct zr_err *reterr)
{
	while (len > 0) {
		zip_int64_t n = zip_fread(f, out, len);

		if (n < 0)
			return archive_failed(reterr, key, zip_file_get_error(f));
		if (n == 0)
			return archive_damaged(reterr, key,
			                       "it ends before its declared size");
		out += n;
		len -= (uint64_t)n;
	}
	return 0;
}

/* The bytes of a member as they are in the archive. */
static int archive_read_stored(zip_t *za, const struct zr_member *m, const char *key,
                               uint64_t offset, uint64_t len, void *out,
                               struct zr_err *reterr)
{
	ZR_CLEANUP(archive_fclosep)
	zip_file_t *f = zip_fopen_index(za, m->index, ZIP_FL_COMPRESSED);

	if (!f)
		return archive_failed(reterr, key, zip_get_error(za));
	if (offset > 0 && zip_fseek(f, (zip_int64_t)offset, SEEK_SET) < 0)
		return archive_failed(reterr, key, zip_file_get_error(f));
	return archive_read_all(f, key, out, len, reterr);
}

/* The same of what a deflated member holds. */
static int archive_read_inflated(zip_t *za, const struct zr_member *m, const char *key,
                                 uint64_t offset, uint64_t len, void *out,
                                 struct zr_err *reterr)
{
	ZR_CLEANUP(archive_fclosep) zip_file_t *f = zip_fopen_index(za, m->index, 0);
	uint8_t skipped[16384];
	int r;

	if (!f)
		return archive_failed(reterr, key, zip_get_error(za));
	for (uint64_t at = 0; at < offset;) {
		uint64_t n = ZR_MIN(offset - at, sizeof(skipped));

		r = archive_read_all(f, key, skipped, n, reterr);
		if (r < 0)
			return r;
		at += n;
	}
	r = archive_read_all(f, key, out, len, reterr);
	if (r < 0 || offset + len < m->size)
		return r;
	/* libzip compares the CRC-32 when it is asked for more than there is. */
	switch (zip_fread(f, skipped, 1)) {
	case 0:
		return 0;
	case 1:
		return archive_damaged(reterr, key, "it goes on after its declared size");
	default:
		return archive_failed(reterr, key, zip_file_get_error(f));
	}
}

/* Whether the member's header stands in front of its bytes: the first one is read, and
 * shows where they begin. */
static int archive_check_header(const struct zr_archive *a, const struct handle *h,
                                const struct zr_member *m, const char *key,
                                struct zr_err *reterr)
{
	const char *name = zip_get_name(h->za, m->index, ZIP_FL_ENC_RAW);
	uint8_t first;
	int r;

	if (m->stored == 0)
		return 0;
	r = archive_read_stored(h->za, m, key, 0, 1, &first, reterr);
	if (r == 0)
		r = zr_archive_header_check(a->fd, h->in->pos - 1, name ? name : "");
	if (r == -EUCLEAN && !reterr->code)
		return archive_damaged(reterr, key,
		                       "its header is not where it should be");
	return r < 0 && !reterr->code ? zr_store_failed(reterr, key, r) : r;
}

/* A range of a member, inflated or as it is in the archive. */
int zr_archive_read(struct zr_archive *a, const struct zr_member *m, const char *key,
                    bool inflate, uint64_t offset, size_t len, void *out,
                    struct zr_err *reterr)
{
	bool whole = len == (inflate ? m->size : m->stored); /* its CRC-32 is compared */
	struct zr_err err = {0};
	struct handle h = archive_take(a);
	struct stat st;
	int r = whole ? 0 : archive_check_header(a, &h, m, key, &err);

	if (r == 0)
		r = (inflate ? archive_read_inflated
		             : archive_read_stored)(h.za, m, key, offset, len, out, &err);
	archive_give(a, h);

	/* Written into while it is open, it holds other things in other places. */
	if (fstat(a->fd, &st) < 0)
		return zr_store_failed(reterr, key, -errno);
	if (st.st_size != a->st.st_size || st.st_mtim.tv_sec != a->st.st_mtim.tv_sec ||
	    st.st_mtim.tv_nsec != a->st.st_mtim.tv_nsec)
		return zr_err_set(reterr, -EIO,
		                  "'%s': the archive was changed after it was opened",
		                  key);
	return r < 0 ? zr_err_set(reterr, r, "%s", err.text) : 0;
}

/* ---- opening ---- */

uint64_t zr_archive_count(const struct zr_archive *a)
{
	return a->nmembers;
}

const struct stat *zr_archive_stat(const struct zr_archive *a)
{
	return &a->st;
}

/* libzip takes ASCII with control characters for code page 437, which draws them. */
static const char *archive_name(zip_t *za, uint64_t index, const char *guessed)
{
	const char *raw = zip_get_name(za, index, ZIP_FL_ENC_RAW);

	for (const char *p = raw; p && *p; p++)
		if ((unsigned char)*p >= 0x80)
			return guessed;
	return raw ? raw : guessed;
}

int zr_archive_member(struct zr_archive *a, uint64_t index, struct zr_member *ret,
                      struct zr_err *reterr)
{
	const zip_uint64_t need = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE |
	                          ZIP_STAT_CRC | ZIP_STAT_COMP_METHOD |
	                          ZIP_STAT_ENCRYPTION_METHOD;
	struct handle h = archive_take(a);
	zip_t *za = h.za;
	zip_stat_t st;
	int r = 0;

	if (zip_stat_index(za, index, 0, &st) < 0)
		r = zr_err_set(reterr, archive_code(zip_get_error(za)), "%s",
		               zip_error_strerror(zip_get_error(za)));
	else if ((st.valid & need) != need)
		r = zr_err_set(reterr, -EUCLEAN, "the central directory is incomplete");
	else
		st.name = archive_name(za, index, st.name);
	archive_give(a, h);
	if (r < 0)
		return r;
	*ret = (struct zr_member){
		.name = st.name,
		.index = index,
		.size = st.size,
		.stored = st.comp_size,
		.mtime = st.valid & ZIP_STAT_MTIME ? st.mtime : 0,
		.crc = st.crc,
		.method = st.comp_method,
		.encrypted = st.encryption_method != ZIP_EM_NONE,
	};
	return 0;
}

void zr_archive_free(struct zr_archive *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->nidle; i++)
		zip_discard(a->idle[i].za);
	if (a->fd >= 0)
		close(a->fd);
	pthread_cond_destroy(&a->returned);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

static void archive_freep(struct zr_archive **a)
{
	zr_archive_free(*a);
}

/* Whether no central directory was found. */
static bool archive_has_no_end(const zip_error_t *e)
{
	switch (zip_error_code_zip(e)) {
	case ZIP_ER_NOZIP:
#ifdef ZIP_ER_TRUNCATED_ZIP /* libzip 1.11 */
	case ZIP_ER_TRUNCATED_ZIP:
#endif
		return true;
	default:
		return false;
	}
}

/* The first handle, and with it the central directory. */
static int archive_read_directory(struct zr_archive *a, const char *path,
                                  struct zr_err *reterr)
{
	zip_error_t e;
	struct handle h = archive_open_fd(a->fd, (uint64_t)a->st.st_size, &e);
	int r = 0;

	if (!h.za && archive_has_no_end(&e))
		r = zr_err_set(reterr, archive_code(&e),
		               "%s: zip archive: damaged or cut off (it has no central "
		               "directory)",
		               path);
	else if (!h.za)
		r = zr_err_set(reterr, archive_code(&e), "%s: zip archive: %s", path,
		               zip_error_strerror(&e));
	zip_error_fini(&e);
	if (r < 0)
		return r;
	a->nmembers = (uint64_t)zip_get_num_entries(h.za, 0);
	a->idle[a->nidle++] = h;
	a->nhandles = 1;
	a->max_handles = ARCHIVE_MEMBERS / ZR_MAX(a->nmembers, 1);
	a->max_handles = ZR_MIN(ZR_MAX(a->max_handles, 1), ARCHIVE_HANDLES);
	return 0;
}

int zr_archive_open(const char *path, struct zr_archive **ret, struct zr_err *reterr)
{
	ZR_CLEANUP(archive_freep) struct zr_archive *a = calloc(1, sizeof(*a));
	int r;

	if (!a)
		return zr_err_set(reterr, -ENOMEM, "%s: %m", path);
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->returned, NULL);
	a->fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (a->fd < 0 || fstat(a->fd, &a->st) < 0) {
		r = -errno;
		return zr_err_set(reterr, r, "%s: %m", path);
	}
	if (!S_ISREG(a->st.st_mode))
		return zr_err_set(reterr, -EUCLEAN, "%s: not a regular file", path);
	r = zr_archive_check_names(a->fd, (uint64_t)a->st.st_size, path, reterr);
	if (r == 0)
		r = archive_read_directory(a, path, reterr);
	if (r < 0)
		return r;
	*ret = ZR_TAKE(a);
	return 0;
}
