/* SPDX-License-Identifier: MIT */
/* bzip2: any number of streams one behind the other, nothing else. */
#include "codec_impl.h"

#include <bzlib.h>

static void bz2_endp(bz_stream *s)
{
	BZ2_bzDecompressEnd(s); /* of one that was not begun: BZ_PARAM_ERROR, harmless */
}

static int bz2_fail(const struct zr_codec *c, int code, struct zr_err *reterr)
{
	if (code == BZ_MEM_ERROR)
		return zr_codec_fail(c, reterr, -ENOMEM, "no memory");
	if (code == BZ_DATA_ERROR_MAGIC)
		return zr_codec_fail(c, reterr, -EUCLEAN,
		                     "is no stream, or bytes follow it");
	return zr_codec_fail(c, reterr, -EUCLEAN, "is damaged");
}

/* Decodes the stream that begins at *at and moves that to its end. */
static int bz2_one(struct zr_sink *sink, const struct zr_buf *in, size_t *at,
                   struct zr_err *reterr)
{
	ZR_CLEANUP(bz2_endp) bz_stream s = {0};
	int code, r;

	code = BZ2_bzDecompressInit(&s, 0, 0);
	while (code == BZ_OK) {
		unsigned int avail_in, avail_out;
		uint8_t *p;
		size_t n;

		r = zr_sink_space(sink, &p, &n, reterr);
		if (r < 0)
			return r;
		avail_in = (unsigned int)ZR_MIN(in->len - *at, UINT32_MAX);
		avail_out = (unsigned int)ZR_MIN(n, UINT32_MAX);
		s.next_in = (char *)in->data + *at;
		s.avail_in = avail_in;
		s.next_out = (char *)p;
		s.avail_out = avail_out;
		code = BZ2_bzDecompress(&s);
		*at += avail_in - s.avail_in;
		r = zr_sink_wrote(sink, avail_out - s.avail_out, reterr);
		if (r < 0)
			return r;
		if (code == BZ_OK && s.avail_out > 0 && *at == in->len)
			return zr_codec_fail(sink->codec, reterr, -EUCLEAN, "is cut off");
	}
	return code == BZ_STREAM_END ? 0 : bz2_fail(sink->codec, code, reterr);
}

static int bz2_decode(struct zr_codec *c, struct zr_buf *in, const struct zr_want *want,
                      struct zr_buf *ret, struct zr_err *reterr)
{
	ZR_CLEANUP(zr_sink_done) struct zr_sink sink;
	size_t at = 0;
	int r;

	r = zr_sink_init(&sink, c, want, 4 * (uint64_t)in->len, reterr);
	if (r < 0)
		return r;
	do {
		r = bz2_one(&sink, in, &at, reterr);
		if (r < 0)
			return r;
	} while (at < in->len);
	return zr_sink_finish(&sink, ret, reterr);
}

int zr_codecs_add_bz2(struct zr_codecs *c, const char *name)
{
	static const struct zr_codec_ops ops = {.decode = bz2_decode};
	struct zr_codec *bz2 = zr_codec_new(sizeof(*bz2), &ops, name);

	if (bz2)
		bz2->sums = true;
	return zr_codec_add(c, bz2);
}
