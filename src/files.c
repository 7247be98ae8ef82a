/* SPDX-License-Identifier: MIT */
#include "files.h"

#include <errno.h>
#include <stdio.h>

#include "bounds.h"
#include "files_impl.h"
#include "log.h"

static const char *const docs[ZR_NDOCS] = {
	[ZR_DOC_UNREADABLE] = "unreadable.txt",
	[ZR_DOC_ZARR_JSON] = "zarr.json",
	[ZR_DOC_ZGROUP] = ".zgroup",
	[ZR_DOC_ZARRAY] = ".zarray",
	[ZR_DOC_ZATTRS] = ".zattrs",
	[ZR_DOC_ATTRIBUTES] = "attributes.json",
	[ZR_DOC_SCHEMA] = "schema.json",
	[ZR_DOC_CHUNKS] = "chunks.tsv",
};

/* --- loading ---------------------------------------------------------------------------
 */

char *zr_files_key(const char *path, const char *name)
{
	char *key;

	return asprintf(&key, "%s%s%s", path, *path ? "/" : "", name) < 0 ? NULL : key;
}

/* The bytes of one document. 0 with ret->data NULL: there is none. What is there but no
 * readable document becomes *why. */
static int read_doc(struct zr_files *f, enum zr_doc_file d, struct zr_buf *ret,
                    struct zr_err *why)
{
	ZR_CLEANUP(zr_freep) char *key = zr_files_key(f->path, docs[d]);
	struct zr_err err = {0};
	int r;

	if (!key)
		return -ENOMEM;
	r = zr_store_get_doc(f->env->store, key, &f->turn, ret, &err);
	if (r == -ENOENT || r == -EISDIR) /* a node may be called zarr.json */
		return 0;
	if (r == -EUCLEAN || r == -ELOOP || r == -EFBIG || r == -EOPNOTSUPP) {
		zr_err_set(why, -EINVAL, "%s cannot be read: %s", docs[d],
		           err.code ? err.text : strerror(-r));
		return 0;
	}
	if (r < 0) {
		zr_error("'/%s' cannot be read: %s", key,
		         err.code ? err.text : strerror(-r));
		return r;
	}
	f->has_doc[d] = true;
	f->doc_size[d] = ret->len;
	return 0;
}

static struct zr_doc doc_of(const struct zr_buf *b, bool there)
{
	/* An empty document is one: it is broken, not absent. */
	return (struct zr_doc){.data = there ? (b->data ? (const char *)b->data : "")
	                                     : NULL,
	                       .len = b->len};
}

/* What is left of version 2 after a migration. */
static int find_older(struct zr_files *f)
{
	enum zr_doc_file d =
		f->meta.kind == ZR_NODE_ARRAY ? ZR_DOC_ZARRAY : ZR_DOC_ZGROUP;
	ZR_CLEANUP(zr_freep) char *key = zr_files_key(f->path, zr_files_doc_name(d));
	struct zr_stat st;

	if (!key)
		return -ENOMEM;
	f->has_older = zr_store_stat(f->env->store, key, &st, NULL) == 0;
	return 0;
}

static int load_v3(struct zr_files *f, const struct zr_buf *text)
{
	int r = zr_meta_parse_v3(doc_of(text, true), &f->meta);

	return r < 0 ? r : find_older(f);
}

/* What the text of the array depends on besides its chunks. */
static void note_documents(struct zr_files *f, const struct zr_buf *const *bytes,
                           size_t n, const struct timespec *born)
{
	struct zr_index_of of = {.path = f->path,
	                         .docs = bytes,
	                         .ndocs = n,
	                         .render = &f->env->render,
	                         .missing_is_error = f->env->missing_is_error};
	struct zr_index_id id;

	zr_index_id(f->env->index, &of, &id);
	zr_recall_init(&f->recall, &id, born);
}

static int load_meta(struct zr_files *f, const struct timespec *born)
{
	ZR_CLEANUP(zr_buf_done)
	struct zr_buf v3 = {0}, zgroup = {0}, zarray = {0}, zattrs = {0};
	struct zr_err why = {0};
	int r = read_doc(f, ZR_DOC_ZARR_JSON, &v3, &why);

	if (r == 0 && !why.code && f->has_doc[ZR_DOC_ZARR_JSON]) {
		note_documents(f, (const struct zr_buf *[]){&v3}, 1, born);
		return load_v3(f, &v3);
	}
	if (r == 0 && !why.code)
		r = read_doc(f, ZR_DOC_ZARRAY, &zarray, &why);
	if (r == 0)
		r = read_doc(f, ZR_DOC_ZGROUP, &zgroup, &why);
	if (r == 0 && (f->has_doc[ZR_DOC_ZARRAY] || f->has_doc[ZR_DOC_ZGROUP]))
		r = read_doc(f, ZR_DOC_ZATTRS, &zattrs, &why);
	if (r < 0)
		return r;
	if (why.code) {
		f->meta.why = why;
		return 0;
	}
	if (!f->has_doc[ZR_DOC_ZARRAY] && !f->has_doc[ZR_DOC_ZGROUP])
		return 0; /* a plain directory */
	note_documents(f, (const struct zr_buf *[]){&zgroup, &zarray, &zattrs}, 3, born);
	return zr_meta_parse_v2(doc_of(&zgroup, f->has_doc[ZR_DOC_ZGROUP]),
	                        doc_of(&zarray, f->has_doc[ZR_DOC_ZARRAY]),
	                        doc_of(&zattrs, f->has_doc[ZR_DOC_ZATTRS]), &f->meta);
}

/* Text of an array whose every record is the fill value must have a length that a file
 * can have. What is stored may be longer: then that file has none (-EOVERFLOW). */
static int check_length(struct zr_files *f, const bool *indexed)
{
	const struct zr_array *a = f->meta.array;
	ZR_CLEANUP(zr_freep) uint64_t *lens = calloc(f->nfiles, sizeof(*lens));

	if (!lens)
		return -ENOMEM;
	zr_measure_run(f->measure, a->fill, 0, 1, lens);
	for (uint32_t i = 0; i < f->nfiles; i++) {
		uint64_t len = zr_mul_most(lens[i], a->nrecords);

		if (indexed[i])
			len = zr_add_most(
				len, zr_grid_digits_before(&f->source.grid, a->nrecords));
		if (len >= ZR_MAX_FILE)
			zr_err_set(&f->meta.why, -EOVERFLOW,
			           "shape: the text of %llu records would be longer than "
			           "2^62 bytes",
			           (unsigned long long)a->nrecords);
	}
	return 0;
}

/* Whether the lines of records.jsonl and records.csv hold indices: asked of the lines. */
static bool *find_indexed(struct zr_files *f)
{
	bool *indexed = calloc(f->nfiles, sizeof(*indexed));

	for (uint32_t i = 0; indexed && i <= f->layout.nlevels; i++) {
		struct zr_line *line =
			i < f->layout.nlevels
				? zr_line_new_json(f->meta.array, &f->layout, i,
		                                   &f->env->render)
				: zr_line_new_csv(f->meta.array, &f->layout,
		                                  &f->env->render);

		if (!line) {
			free(indexed);
			return NULL;
		}
		indexed[f->layout.nleaves + i] = zr_line_has_index(line);
		zr_line_free(line);
	}
	return indexed;
}

/* The sizes, as far as they are known: from an earlier life, or from the index on disk.
 */
static int load_sizes(struct zr_files *f, const bool *indexed)
{
	ZR_CLEANUP(zr_freep) uint64_t *sizes = calloc(f->nfiles, sizeof(*sizes));
	const uint64_t *known = f->known.count == f->nfiles ? f->known.sizes : NULL;

	if (!sizes)
		return -ENOMEM;
	if (zr_recall_sizes(&f->recall, &f->source, f->nfiles, sizes)) {
		if (!known)
			known = sizes;
		else if (memcmp(known, sizes, f->nfiles * sizeof(*sizes)) != 0)
			zr_recall_renounce(&f->recall);
	}
	f->sizes = zr_sizes_new(&f->source, f->measure, indexed, f->env->queue,
	                        f->env->size_wait, known);
	if (!f->sizes)
		return -ENOMEM;
	zr_sizes_recall(f->sizes, &f->recall);
	for (unsigned int i = 0; !known && i < f->known.nshown; i++)
		if (f->known.shown[i].file < f->nfiles)
			zr_sizes_show(f->sizes, f->known.shown[i].file,
			              f->known.shown[i].size);
	return 0;
}

static int load_array(struct zr_files *f, uint64_t owner)
{
	ZR_CLEANUP(zr_freep) bool *indexed = NULL;
	struct zr_array *a = f->meta.array;
	int r = zr_layout_build(&a->type, &f->layout);

	if (r == -EINVAL) {
		zr_err_set(&f->meta.why, r, "the struct has no field that can be shown");
		return 0;
	}
	if (r == -EOVERFLOW) {
		zr_err_set(&f->meta.why, r,
		           "sub-arrays of more elements than a record has bytes, or of "
		           "more than %llu axes in all, are not supported",
		           (unsigned long long)ZR_MAX_AXES);
		return 0;
	}
	if (r == 0)
		r = zr_source_init(&f->source, f->env->store, f->path, a, f->env->cache,
		                   f->env->gate, owner, f->env->missing_is_error);
	if (r < 0)
		return r;
	f->ahead.queue = f->env->queue;
	f->source.ahead = &f->ahead;
	f->measure = zr_measure_new(a, &f->layout, &f->env->render);
	if (!f->measure)
		return -ENOMEM;
	f->nfiles = zr_measure_files(f->measure);
	indexed = find_indexed(f);
	if (!indexed)
		return -ENOMEM;
	r = check_length(f, indexed);
	if (r < 0 || f->meta.why.code)
		return r;
	return load_sizes(f, indexed);
}

static void files_free(struct zr_files *f)
{
	for (size_t i = 0; i < ZR_COUNT(f->dirs); i++)
		zr_files_dirs_done(f->dirs[i], f->ndirs);
	for (uint32_t i = 0; i < f->nviews; i++)
		zr_view_free(f->views[i].view);
	free(f->views);
	zr_sizes_free(f->sizes);
	zr_measure_free(f->measure);
	zr_source_done(&f->source);
	zr_layout_done(&f->layout);
	zr_meta_done(&f->meta);
	pthread_mutex_destroy(&f->lock);
	free(f->path);
	free(f);
}

int zr_files_load(const struct zr_env *env, const char *path, uint64_t owner,
                  const struct zr_known_sizes *known, struct zr_files **ret)
{
	struct zr_files *f = calloc(1, sizeof(*f));
	struct timespec born;
	int r;

	if (!f)
		return -ENOMEM;
	clock_gettime(CLOCK_REALTIME, &born);
	atomic_init(&f->refs, 1);
	pthread_mutex_init(&f->lock, NULL);
	atomic_init(&f->held, 0);
	f->env = env;
	f->known = *known;
	f->path = strdup(path);
	r = f->path ? load_meta(f, &born) : -ENOMEM;
	if (r == 0 && f->meta.array && !f->meta.why.code)
		r = load_array(f, owner);
	zr_turn_done(&f->turn);
	if (r < 0) {
		files_free(f);
		return r;
	}
	if (f->meta.why.code && !known->told)
		zr_warning("'/%s' cannot be shown: %s", f->path, f->meta.why.text);
	f->ndirs = f->sizes ? f->layout.nlevels : 1;
	*ret = f;
	return 0;
}

struct zr_files *zr_files_ref(struct zr_files *f)
{
	atomic_fetch_add(&f->refs, 1);
	return f;
}

void zr_files_unref(struct zr_files *f)
{
	if (f && atomic_fetch_sub(&f->refs, 1) == 1)
		files_free(f);
}

bool zr_files_is_group(const struct zr_files *f)
{
	return f->meta.kind == ZR_NODE_GROUP && !f->meta.why.code;
}

const char *zr_files_why(const struct zr_files *f)
{
	return f->meta.why.code ? f->meta.why.text : NULL;
}

bool zr_files_has_older(const struct zr_files *f)
{
	return f->has_older;
}

struct zr_source *zr_files_source(struct zr_files *f)
{
	return f->sizes ? &f->source : NULL;
}

const struct zr_layout *zr_files_layout(const struct zr_files *f)
{
	return f->sizes ? &f->layout : NULL;
}

struct zr_sizes *zr_files_sizes(struct zr_files *f)
{
	return f->sizes;
}

const struct zr_buf *zr_files_codecs(const struct zr_files *f)
{
	return &f->meta.codecs;
}

const void *zr_files_wait_on(struct zr_files *f)
{
	return f->sizes;
}

bool zr_files_idle(struct zr_files *f)
{
	return atomic_load(&f->refs) == 1 && !zr_ahead_busy(&f->ahead) &&
	       !(f->sizes && zr_sizes_busy(f->sizes));
}

static void save_text_sizes(struct zr_files *f, struct zr_known_sizes *ret)
{
	const uint64_t *known = f->sizes ? zr_sizes_known(f->sizes) : NULL;

	if (f->sizes && !known)
		ret->nshown = zr_sizes_shown(f->sizes, ret->shown);
	if (!known || ret->sizes)
		return;
	ret->sizes = reallocarray(NULL, f->nfiles, sizeof(*known));
	if (!ret->sizes)
		return;
	memcpy(ret->sizes, known, f->nfiles * sizeof(*known));
	ret->count = f->nfiles;
}

void zr_files_save_sizes(struct zr_files *f, struct zr_known_sizes *ret)
{
	struct zr_view *chunks;

	save_text_sizes(f, ret);
	pthread_mutex_lock(&f->lock);
	chunks = zr_files_made(f, ZR_TREE_ZARR, ZR_ENTRY_DOC + ZR_DOC_CHUNKS);
	if (chunks && !ret->has_chunks)
		ret->has_chunks = zr_view_peek_size(chunks, &ret->chunks);
	pthread_mutex_unlock(&f->lock);
}

size_t zr_files_bytes(struct zr_files *f)
{
	size_t bytes = sizeof(*f) + f->meta.attributes.cap + atomic_load(&f->held);

	if (f->sizes)
		bytes += zr_sizes_bytes(f->sizes) +
		         (size_t)(f->layout.nleaves + f->layout.nlevels) * 2000;
	return bytes;
}

const char *zr_files_doc_name(enum zr_doc_file d)
{
	return docs[d];
}
