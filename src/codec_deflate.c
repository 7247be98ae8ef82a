/* SPDX-License-Identifier: MIT */
/*
 * gzip (RFC 1952; any number of members, zero bytes behind the last, as Python's gzip
 * reads them) and zlib (RFC 1950; one stream, nothing behind it). libdeflate decodes
 * whole members into a buffer that must be large enough, so an unknown size is found by
 * trying again with twice the room.
 */
#include "codec_impl.h"

#include <libdeflate.h>

typedef enum libdeflate_result (*deflate_fn)(struct libdeflate_decompressor *d,
                                             const void *in, size_t in_len, void *out,
                                             size_t out_len, size_t *ret_in,
                                             size_t *ret_out);

struct codec_deflate {
	struct zr_codec base;
	deflate_fn fn;
	bool members; /* several may follow each other */
};

static void deflate_freep(struct libdeflate_decompressor **d)
{
	if (*d)
		libdeflate_free_decompressor(*d);
}

/* Decodes the member that begins at *at and moves that to its end. */
static int deflate_one(deflate_fn fn, struct libdeflate_decompressor *d,
                       struct zr_sink *sink, const struct zr_buf *in, size_t *at,
                       struct zr_err *reterr)
{
	enum libdeflate_result code;
	size_t used, n;
	int r;

	for (;;) {
		code = fn(d, in->data + *at, in->len - *at,
		          sink->buf.data + sink->buf.len,
		          (size_t)ZR_MIN(sink->buf.cap, sink->want.max) - sink->buf.len,
		          &used, &n);
		if (code != LIBDEFLATE_INSUFFICIENT_SPACE)
			break;
		r = zr_sink_grow(sink, reterr);
		if (r < 0)
			return r;
	}
	if (code != LIBDEFLATE_SUCCESS)
		return zr_codec_fail(sink->codec, reterr, -EUCLEAN, "is damaged");
	sink->buf.len += n;
	*at += used;
	return 0;
}

static bool deflate_all_zero(const struct zr_buf *in, size_t at)
{
	while (at < in->len && in->data[at] == 0)
		at++;
	return at == in->len;
}

static int deflate_decode(struct zr_codec *c, struct zr_buf *in,
                          const struct zr_want *want, struct zr_buf *ret,
                          struct zr_err *reterr)
{
	struct codec_deflate *z = (struct codec_deflate *)c;
	ZR_CLEANUP(zr_sink_done) struct zr_sink sink;
	ZR_CLEANUP(deflate_freep) struct libdeflate_decompressor *d = NULL;
	size_t at = 0;
	int r;

	r = zr_sink_init(&sink, c, want, 4 * (uint64_t)in->len, reterr);
	if (r < 0)
		return r;
	d = libdeflate_alloc_decompressor();
	if (!d)
		return zr_codec_fail(c, reterr, -ENOMEM, "no memory");
	do {
		r = deflate_one(z->fn, d, &sink, in, &at, reterr);
		if (r < 0)
			return r;
	} while (z->members && !deflate_all_zero(in, at));
	if (!z->members && at < in->len)
		return zr_codec_fail(c, reterr, -EUCLEAN, "%zu bytes follow the stream",
		                     in->len - at);
	return zr_sink_finish(&sink, ret, reterr);
}

static int deflate_add(struct zr_codecs *c, const char *name, deflate_fn fn, bool members)
{
	static const struct zr_codec_ops ops = {.decode = deflate_decode};
	struct codec_deflate *z = zr_codec_new(sizeof(*z), &ops, name);

	if (!z)
		return -ENOMEM;
	z->fn = fn;
	z->members = members;
	z->base.sums = true;
	return zr_codec_add(c, &z->base);
}

int zr_codecs_add_gzip(struct zr_codecs *c, const char *name)
{
	return deflate_add(c, name, libdeflate_gzip_decompress_ex, true);
}

int zr_codecs_add_zlib(struct zr_codecs *c, const char *name)
{
	return deflate_add(c, name, libdeflate_zlib_decompress_ex, false);
}

uint32_t zr_deflate_crc32(const void *p, size_t n)
{
	return libdeflate_crc32(0, p, n);
}

uint32_t zr_deflate_adler32(const void *p, size_t n)
{
	return libdeflate_adler32(1, p, n);
}
