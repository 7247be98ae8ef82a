/* SPDX-License-Identifier: MIT */
/*
 * Zstandard (RFC 8878): any number of frames one behind the other, skippable ones among
 * them. Where the decoded size is known, by us or by the frames, all of it is decoded in
 * one call, which needs no window; only frames that keep their size to themselves are
 * streamed.
 *
 * A decompression context costs about 160 KB and more time than a small chunk, so each
 * codec keeps a few that are idle.
 */
#include "codec_impl.h"

#include <pthread.h>
#include <zstd.h>
#include <zstd_errors.h>

#define ZSTD_IDLE_MAX 4

/* The largest window a stream may ask for, as a power of two: the library's own limit,
 * which every encoder stays under unless told otherwise. */
#define ZSTD_WINDOW_LOG 27

struct codec_zstd {
	struct zr_codec base;
	pthread_mutex_t lock;
	ZSTD_DCtx *idle[ZSTD_IDLE_MAX]; /* guarded by lock */
	size_t nidle;                   /* guarded by lock */
};

static ZSTD_DCtx *zstd_take(struct codec_zstd *z)
{
	ZSTD_DCtx *d = NULL;

	pthread_mutex_lock(&z->lock);
	if (z->nidle > 0)
		d = z->idle[--z->nidle];
	pthread_mutex_unlock(&z->lock);
	return d ? d : ZSTD_createDCtx();
}

static void zstd_give(struct codec_zstd *z, ZSTD_DCtx *own_d)
{
	pthread_mutex_lock(&z->lock);
	if (z->nidle < ZSTD_IDLE_MAX)
		z->idle[z->nidle++] = ZR_TAKE(own_d);
	pthread_mutex_unlock(&z->lock);
	ZSTD_freeDCtx(own_d);
}

static void zstd_dctxp(ZSTD_DCtx **d)
{
	ZSTD_freeDCtx(*d);
}

static int zstd_fail(const struct zr_codec *c, size_t code, struct zr_err *reterr)
{
	if (ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation)
		return zr_codec_fail(c, reterr, -ENOMEM, "no memory");
	return zr_codec_fail(c, reterr, -EUCLEAN, "%s", ZSTD_getErrorName(code));
}

/* The size that the frames' headers claim together; ZR_SIZE_UNKNOWN if one is silent. */
static int zstd_claimed_size(const struct zr_codec *c, const struct zr_buf *in,
                             uint64_t *ret, struct zr_err *reterr)
{
	uint64_t sum = 0;
	size_t at = 0;

	while (at < in->len) {
		unsigned long long n =
			ZSTD_getFrameContentSize(in->data + at, in->len - at);
		size_t len;

		if (n == ZSTD_CONTENTSIZE_ERROR)
			return zr_codec_fail(c, reterr, -EUCLEAN, "no frame at byte %zu",
			                     at);
		if (n == ZSTD_CONTENTSIZE_UNKNOWN ||
		    __builtin_add_overflow(sum, n, &sum)) {
			sum = ZR_SIZE_UNKNOWN;
			break;
		}
		len = ZSTD_findFrameCompressedSize(in->data + at, in->len - at);
		if (ZSTD_isError(len))
			return zstd_fail(c, len, reterr);
		at += len;
	}
	*ret = sum;
	return 0;
}

static int zstd_at_once(struct codec_zstd *z, const struct zr_buf *in, uint64_t size,
                        const struct zr_want *want, struct zr_buf *ret,
                        struct zr_err *reterr)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf out = {0};
	ZSTD_DCtx *d;
	size_t n;
	int r;

	r = zr_codec_room(&z->base, size, want, &out, reterr);
	if (r < 0)
		return r;
	d = zstd_take(z);
	if (!d)
		return zr_codec_fail(&z->base, reterr, -ENOMEM, "no memory");
	n = ZSTD_decompressDCtx(d, out.data, out.len, in->data, in->len);
	zstd_give(z, d);
	if (ZSTD_isError(n))
		return zstd_fail(&z->base, n, reterr);
	out.len = n;
	r = zr_codec_check(&z->base, n, want, reterr);
	return r < 0 ? r : zr_codec_pass(&out, ret);
}

/* With a context of its own: one that has streamed keeps its window for ever. */
static int zstd_stream(struct codec_zstd *z, const struct zr_buf *buf,
                       const struct zr_want *want, struct zr_buf *ret,
                       struct zr_err *reterr)
{
	ZR_CLEANUP(zr_sink_done) struct zr_sink sink;
	ZR_CLEANUP(zstd_dctxp) ZSTD_DCtx *d = ZSTD_createDCtx();
	ZSTD_inBuffer in = {.src = buf->data, .size = buf->len};
	size_t n;
	int r;

	r = zr_sink_init(&sink, &z->base, want, 4 * (uint64_t)buf->len, reterr);
	if (r < 0)
		return r;
	if (!d)
		return zr_codec_fail(&z->base, reterr, -ENOMEM, "no memory");
	n = ZSTD_DCtx_setParameter(d, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG);
	while (!ZSTD_isError(n)) {
		ZSTD_outBuffer out = {0};
		size_t before = in.pos;

		r = zr_sink_space(&sink, (uint8_t **)&out.dst, &out.size, reterr);
		if (r < 0)
			return r;
		n = ZSTD_decompressStream(d, &out, &in);
		if (ZSTD_isError(n))
			break;
		r = zr_sink_wrote(&sink, out.pos, reterr);
		if (r < 0)
			return r;
		/* 0: a frame has ended and everything of it is out. */
		if (n == 0 && in.pos == in.size)
			return zr_sink_finish(&sink, ret, reterr);
		if (in.pos == before && out.pos == 0)
			return zr_codec_fail(&z->base, reterr, -EUCLEAN, "is cut off");
	}
	return zstd_fail(&z->base, n, reterr);
}

static int zstd_decode(struct zr_codec *c, struct zr_buf *in, const struct zr_want *want,
                       struct zr_buf *ret, struct zr_err *reterr)
{
	struct codec_zstd *z = (struct codec_zstd *)c;
	uint64_t size = want->exact;
	int r;

	if (in->len == 0)
		return zr_codec_fail(c, reterr, -EUCLEAN, "is empty");
	if (size == ZR_SIZE_UNKNOWN) {
		r = zstd_claimed_size(c, in, &size, reterr);
		if (r < 0)
			return r;
		if (size == ZR_SIZE_UNKNOWN)
			return zstd_stream(z, in, want, ret, reterr);
	}
	return zstd_at_once(z, in, size, want, ret, reterr);
}

static void zstd_done(struct zr_codec *c)
{
	struct codec_zstd *z = (struct codec_zstd *)c;

	while (z->nidle > 0)
		ZSTD_freeDCtx(z->idle[--z->nidle]);
	pthread_mutex_destroy(&z->lock);
}

int zr_codecs_add_zstd(struct zr_codecs *c, const char *name)
{
	static const struct zr_codec_ops ops = {.decode = zstd_decode, .done = zstd_done};
	struct codec_zstd *z = zr_codec_new(sizeof(*z), &ops, name);

	if (!z)
		return -ENOMEM;
	pthread_mutex_init(&z->lock, NULL);
	return zr_codec_add(c, &z->base);
}
