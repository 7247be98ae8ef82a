/* SPDX-License-Identifier: MIT */
/* numcodecs' lz4: the decoded size as u32 little-endian, then one LZ4 block. */
#include "codec_impl.h"

#include <lz4.h>

static int lz4_decode(struct zr_codec *c, struct zr_buf *in, const struct zr_want *want,
                      struct zr_buf *ret, struct zr_err *reterr)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf out = {0};
	uint32_t size;
	int r, n;

	if (in->len < 5)
		return zr_codec_fail(c, reterr, -EUCLEAN, "is cut off");
	size = zr_load_u32(in->data, false);
	if (in->len - 4 > INT32_MAX || size > INT32_MAX)
		return zr_codec_fail(c, reterr, -EUCLEAN, "is larger than 2 GiB");
	r = zr_codec_room(c, size, want, &out, reterr);
	if (r < 0)
		return r;
	/* Insists on using up the input. */
	n = LZ4_decompress_safe((const char *)in->data + 4, (char *)out.data,
	                        (int)(in->len - 4), (int)size);
	if (n < 0 || (uint32_t)n != size)
		return zr_codec_fail(c, reterr, -EUCLEAN,
		                     "is no block of %" PRIu32 " bytes", size);
	return zr_codec_pass(&out, ret);
}

int zr_codecs_add_lz4(struct zr_codecs *c, const char *name)
{
	static const struct zr_codec_ops ops = {.decode = lz4_decode};

	return zr_codec_add(c, zr_codec_new(sizeof(struct zr_codec), &ops, name));
}
