/* SPDX-License-Identifier: MIT */
/* numcodecs' base64: the whole buffer as one text. */
#include "codec_impl.h"

#include "base64.h"

static int base64_decode(struct zr_codec *c, struct zr_buf *in,
                         const struct zr_want *want, struct zr_buf *ret,
                         struct zr_err *reterr)
{
	/* The decoder may use whole groups of three before it sees the padding. */
	struct zr_want room = {.exact = ZR_SIZE_UNKNOWN, .max = want->max};
	uint64_t n = (uint64_t)in->len / 4 * 3;
	int r;

	if (room.max <= UINT64_MAX - 2)
		room.max += 2;
	r = zr_codec_room(c, n, &room, ret, reterr);
	if (r < 0)
		return r;
	r = zr_base64_decode((const char *)in->data, in->len, ret->data, &ret->len);
	if (r < 0)
		return zr_codec_fail(c, reterr, -EUCLEAN, "is no base64");
	return 0;
}

static uint64_t base64_encoded_size(const struct zr_codec *c, uint64_t decoded)
{
	(void)c;
	return decoded > UINT64_MAX / 2 ? ZR_SIZE_UNKNOWN : zr_base64_len(decoded);
}

int zr_codecs_add_base64(struct zr_codecs *c, const char *name)
{
	static const struct zr_codec_ops ops = {.decode = base64_decode,
	                                        .encoded_size = base64_encoded_size};

	return zr_codec_add(c, zr_codec_new(sizeof(struct zr_codec), &ops, name));
}
