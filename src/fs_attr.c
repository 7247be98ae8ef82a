/* SPDX-License-Identifier: MIT */
/*
 * The rules of DESIGN, section 2: a size is exact or not visible, and once it was exact
 * it is never a bound again.
 */
#define FUSE_USE_VERSION 312

#include "fs_attr.h"

#include <errno.h>

#define BLOCK_SIZE (128 * 1024) /* st_blksize: what readers take at a time */

void zr_fs_fill_attr(struct zr_tree *t, const struct zr_opts *o, const struct zr_place *p,
                     bool is_dir, uint64_t size, struct stat *st)
{
	*st = (struct stat){
		.st_ino = zr_tree_ino(t, p),
		.st_mode = (is_dir ? S_IFDIR | 0555 : S_IFREG | 0444) & ~o->umask,
		.st_nlink = 1,
		.st_uid = o->uid,
		.st_gid = o->gid,
		.st_size = (off_t)size,
		.st_blksize = BLOCK_SIZE,
		.st_blocks = (blkcnt_t)((size + 511) / 512),
	};
	st->st_mtim = st->st_ctim = st->st_atim = zr_tree_mtime(p->node);
}

int zr_fs_peek_size(const struct zr_entry *e, uint64_t *ret)
{
	struct zr_view *view;
	int r = zr_files_view(e->files, e->place.tree, e->place.entry, &view);

	if (r == 0 && !zr_view_peek_size(view, ret))
		r = -ENODATA;
	return r;
}

int zr_fs_fill_entry(struct zr_tree *t, const struct zr_opts *o, const struct zr_entry *e,
                     struct fuse_entry_param *ret)
{
	uint64_t size = 0;
	int r = e->is_dir ? 0 : zr_fs_peek_size(e, &size);

	*ret = (struct fuse_entry_param){.ino = zr_tree_ino(t, &e->place),
	                                 .generation = 1,
	                                 .attr_timeout = ZR_FS_FOREVER,
	                                 .entry_timeout = ZR_FS_FOREVER};
	if (r == -ENODATA) {
		size = ZR_MAX_FILE;
		ret->attr_timeout = 0;
	} else if (r < 0) {
		return r;
	}
	zr_fs_fill_attr(t, o, &e->place, e->is_dir, size, &ret->attr);
	if (r == -ENODATA)
		ret->attr.st_blocks = 0;
	return 0;
}
