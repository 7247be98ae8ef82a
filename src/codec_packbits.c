/* SPDX-License-Identifier: MIT */
/*
 * numcodecs' packbits: one byte that says how many bits of the last byte are padding,
 * then eight bools to a byte, the most significant bit first.
 */
#include "codec_impl.h"

static int packbits_decode(struct zr_codec *c, struct zr_buf *in,
                           const struct zr_want *want, struct zr_buf *ret,
                           struct zr_err *reterr)
{
	uint64_t n;
	int r;

	if (in->len == 0)
		return zr_codec_fail(c, reterr, -EUCLEAN, "is empty");
	if (in->data[0] > 7 || (in->len == 1 && in->data[0] > 0))
		return zr_codec_fail(c, reterr, -EUCLEAN, "%u bits of padding",
		                     in->data[0]);
	n = 8 * ((uint64_t)in->len - 1) - in->data[0];
	r = zr_codec_room(c, n, want, ret, reterr);
	if (r < 0)
		return r;
	for (size_t i = 0; i < ret->len; i++)
		ret->data[i] = in->data[1 + i / 8] >> (7 - i % 8) & 1;
	return 0;
}

static uint64_t packbits_encoded_size(const struct zr_codec *c, uint64_t decoded)
{
	(void)c;
	return 1 + decoded / 8 + (decoded % 8 != 0);
}

int zr_codecs_add_packbits(struct zr_codecs *c, const char *name)
{
	static const struct zr_codec_ops ops = {.decode = packbits_decode,
	                                        .encoded_size = packbits_encoded_size};

	return zr_codec_add(c, zr_codec_new(sizeof(struct zr_codec), &ops, name));
}
