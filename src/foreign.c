/* SPDX-License-Identifier: MIT */
#include "foreign.h"

#include <errno.h>

#include "bounds.h"
#include "json.h"

#define DRAFT_MAX 4096 /* bytes of the zarr.json of a draft: it holds no metadata */

#define REFERENCES                                                                       \
	"which name the chunks but do not hold them; open it with xarray "               \
	"(engine='kerchunk') and write what is needed with to_zarr()"

/* All names must be there; a directory's ends in '/'. */
struct sign {
	const char *names[3];
	const char *member; /* of the first, which is JSON then; or NULL */
	const char *what;
};

static const struct sign signs[] = {
	{{"snapshots/", "manifests/", "refs/"},
         NULL,
         "an icechunk repository, which is no plain Zarr store: copy what is needed out "
         "of "
         "it, as with xarray: open_zarr(session.store).to_zarr('copy.zarr')"},
	{{"snapshots/", "manifests/", "repo"},
         NULL,
         "an icechunk repository, which is no plain Zarr store: copy what is needed out "
         "of "
         "it, as with xarray: open_zarr(session.store).to_zarr('copy.zarr')"},
	{{"manifest.ocdbt"},
         NULL,
         "a tensorstore OCDBT database, which is no plain Zarr store: copy the arrays "
         "out "
         "of it with tensorstore, to its kvstore driver 'file'"},
	{{".zmetadata"},
         "record_size",
         "a set of kerchunk references (Parquet), " REFERENCES},
	{{"attributes.json"},
         "n5",
         "an N5 container, not a Zarr store: copy it to one, as with zarr-python 2: "
         "zarr.copy_store(zarr.N5FSStore(...), zarr.DirectoryStore(...))"},
	{{"attributes.json"},
         "dataType",
         "an N5 dataset, not a Zarr store: copy it to one, as with zarr-python 2: "
         "zarr.copy_store(zarr.N5FSStore(...), zarr.DirectoryStore(...))"},
	{{"data.mdb"},
         NULL,
         "an LMDB database, not a Zarr store: copy it to one with zarr-python 2: "
         "zarr.copy_store(zarr.LMDBStore(...), zarr.DirectoryStore(...))"},
};

static bool list_has(const struct zr_dirlist *l, const char *name)
{
	size_t len = strlen(name);
	bool is_dir = name[len - 1] == '/';

	len -= is_dir;
	for (size_t i = 0; i < l->count; i++)
		if (strncmp(l->entries[i].name, name, len) == 0 &&
		    !l->entries[i].name[len] && l->entries[i].is_dir == is_dir)
			return true;
	return false;
}

/* 1 if an object of the store is JSON with such a member. */
static int has_member(struct zr_store *store, const char *key, size_t max,
                      const char *member)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf text = {0};
	const char *p;
	int r = zr_store_get(store, key, max, &text, NULL);

	if (r < 0)
		return r == -ENOMEM ? r : 0;
	p = (char *)text.data;
	if (text.len == 0 || zr_json_check(p, text.len, NULL) < 0)
		return 0;
	return zr_json_member(p, text.len, member).data != NULL;
}

static int sign_fits(struct zr_store *store, const struct zr_dirlist *l,
                     const struct sign *s)
{
	for (size_t i = 0; i < ZR_COUNT(s->names) && s->names[i]; i++)
		if (!list_has(l, s->names[i]))
			return 0;
	return s->member ? has_member(store, s->names[0], ZR_MAX_METADATA, s->member) : 1;
}

/* The drafts of version 3 had a zarr.json too, but only one, at the root. */
static int check_draft(struct zr_store *store, struct zr_err *reterr)
{
	int r = has_member(store, "zarr.json", DRAFT_MAX, "metadata_key_suffix");

	if (r <= 0)
		return r;
	return zr_err_set(reterr, -EOPNOTSUPP,
	                  "a store of an early draft of Zarr version 3 (metadata below "
	                  "meta/root), which was given up: rewrite it with what has "
	                  "written it, to version 2");
}

int zr_foreign_check(struct zr_store *store, struct zr_err *reterr)
{
	static const char *const docs[] = {"zarr.json", ".zarray", ".zgroup"};
	ZR_CLEANUP(zr_dirlist_done) struct zr_dirlist l = {0};
	int r = check_draft(store, reterr);

	for (size_t i = 0; r == 0 && i < ZR_COUNT(docs); i++) {
		struct zr_stat st;

		/* It is one, whatever else lies there. */
		if (zr_store_stat(store, docs[i], &st, NULL) == 0)
			return 0;
	}
	if (r < 0 || zr_store_list(store, "", &l, NULL) < 0)
		return r;
	for (size_t i = 0; i < ZR_COUNT(signs); i++) {
		r = sign_fits(store, &l, &signs[i]);
		if (r < 0)
			return r;
		if (r > 0)
			return zr_err_set(reterr, -EOPNOTSUPP, "%s", signs[i].what);
	}
	return 0;
}

/* Whether `word` is among the first bytes. */
static bool head_has(const uint8_t *head, size_t len, const char *word)
{
	return memmem(head, len, word, strlen(word));
}

const char *zr_foreign_file(const uint8_t *head, size_t len)
{
	static const struct {
		size_t at;
		const char *magic;
		const char *what;
	} row[] = {
		{0, "\x89HDF\r\n\x1a\n",
	         "an HDF5 file, not a Zarr store: HDF5 has tools of its "
	         "own (h5ls, h5dump), and netCDF-4 ncdump"},
		{0, "SQLite format 3",
	         "an SQLite database, not a Zarr store: copy it to one with "
	         "zarr-python 2: zarr.copy_store(zarr.SQLiteStore(...), "
	         "zarr.DirectoryStore(...))"},
		{0, "PAR1", "a Parquet file, not a Zarr store"},
		{0, "\x1f\x8b",
	         "a compressed file, not a Zarr store: unpack it (a .tar.gz with "
	         "tar) and mount the directory"},
		{257, "ustar",
	         "a tar archive, not a Zarr store: unpack it and mount the directory"},
	};
	size_t at = 0;

	if (len == 0)
		return "an empty file, not a Zarr store";
	for (size_t i = 0; i < ZR_COUNT(row); i++)
		if (len >= row[i].at + strlen(row[i].magic) &&
		    memcmp(head + row[i].at, row[i].magic, strlen(row[i].magic)) == 0)
			return row[i].what;
	while (at < len && head[at] && strchr(" \t\r\n", head[at]))
		at++;
	if (at >= len || head[at] != '{')
		return NULL;
	if (head_has(head, len, "\"refs\"") || head_has(head, len, ".zgroup\"") ||
	    head_has(head, len, ".zarray\"") || head_has(head, len, "/zarr.json\""))
		return "a JSON file of references (kerchunk), " REFERENCES;
	if (head_has(head, len, "\"zarr_format\""))
		return "a metadata document: give the directory that it lies in";
	return NULL;
}

const char *zr_foreign_url(const char *path)
{
	const char *file = "file://";
	size_t scheme = strcspn(path, "/");

	if (strncmp(path, file, strlen(file)) == 0)
		return "a URL: give the path, without file://";
	if (scheme < 2 || path[scheme - 1] != ':' || path[scheme] != '/' ||
	    path[scheme + 1] != '/')
		return NULL;
	return "a URL, and zarrfs reads local stores: copy it, or mount what it names "
	       "(rclone, s3fs)";
}
