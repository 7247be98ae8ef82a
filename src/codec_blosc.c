/* SPDX-License-Identifier: MIT */
/*
 * Blosc 1: a header of 16 bytes, the offsets of the blocks, the blocks. Whoever wrote the
 * frame chose its compressor and shuffle; the header says which.
 *
 * The library (1.21.3) trusts the size in the header, so that is compared with the bytes
 * that there are; it then keeps within them. One thing it does not survive is a run of
 * 255s in a blosclz stream so long that the length of a match overflows its int32, see
 * blosc_check_runs(). Bytes behind the frame are ignored, as numcodecs does.
 *
 * Only blosc_decompress_ctx() with one thread is used: the plain call takes a global lock
 * and listens to environment variables.
 */
#include "codec_impl.h"

#include <blosc.h>

#define BLOSC_HEADER 16
#define BLOSC_SPLITS_MAX 16      /* the library's MAX_SPLITS */
#define BLOSC_SPLIT_SIZE_MIN 128 /* its MIN_BUFFERSIZE */
#define BLOSC_FLAG_COPIED 0x02
#define BLOSC_FLAG_WHOLE 0x10 /* blocks are not split by bytes of the elements */

/* 255s in a row. Each adds 255 to the length of a match; no block is longer than a third
 * of INT_MAX (BLOSC_MAX_BLOCKSIZE), so a sound stream has fewer, and three times as many
 * are needed to overflow. */
#define BLOSC_RUN_MAX (INT32_MAX / 3 / 255 + 1)

struct blosc_header {
	uint8_t flags, typesize;
	uint32_t nbytes, blocksize, cbytes;
};

static bool blosc_has_long_run(const uint8_t *p, size_t n)
{
	size_t run = 0;

	for (size_t i = 0; i < n; i++) {
		run = p[i] == 0xff ? run + 1 : 0;
		if (run > BLOSC_RUN_MAX)
			return true;
	}
	return false;
}

/* Looks at the streams of the block at `at`, which decodes to `size` bytes. */
static bool blosc_block_is_sane(const struct blosc_header *h, const uint8_t *frame,
                                uint64_t at, uint32_t size)
{
	uint32_t n = 1;

	if (!(h->flags & BLOSC_FLAG_WHOLE) && h->typesize <= BLOSC_SPLITS_MAX &&
	    size / h->typesize >= BLOSC_SPLIT_SIZE_MIN && size == h->blocksize)
		n = h->typesize;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t len;

		if (at + 4 > h->cbytes)
			return false;
		len = zr_load_u32(frame + at, false);
		at += 4;
		if (len > h->cbytes - at)
			return false;
		/* As long as what it decodes to: stored, not compressed. */
		if (len != size / n && blosc_has_long_run(frame + at, len))
			return false;
		at += len;
	}
	return true;
}

/* False for a frame that would make blosclz write a negative number of bytes. Costs
 * nothing for chunks below some megabytes. */
static bool blosc_check_runs(const struct blosc_header *h, const uint8_t *frame)
{
	uint64_t nblocks;

	if (h->flags >> 5 != BLOSC_BLOSCLZ_FORMAT || h->flags & BLOSC_FLAG_COPIED ||
	    h->cbytes <= BLOSC_RUN_MAX)
		return true;
	nblocks = ((uint64_t)h->nbytes + h->blocksize - 1) / h->blocksize;
	if (BLOSC_HEADER + 4 * nblocks > h->cbytes)
		return false;
	for (uint64_t i = 0; i < nblocks; i++) {
		uint64_t left = h->nbytes - i * h->blocksize;
		uint32_t at = zr_load_u32(frame + BLOSC_HEADER + 4 * i, false);

		if (!blosc_block_is_sane(h, frame, at,
		                         (uint32_t)ZR_MIN(left, h->blocksize)))
			return false;
	}
	return true;
}

static int blosc_check(const struct zr_codec *c, const struct zr_buf *in,
                       struct blosc_header *h, struct zr_err *reterr)
{
	size_t nbytes;

	if (in->len < BLOSC_HEADER)
		return zr_codec_fail(c, reterr, -EUCLEAN, "is cut off");
	h->flags = in->data[2];
	h->typesize = in->data[3];
	h->nbytes = zr_load_u32(in->data + 4, false);
	h->blocksize = zr_load_u32(in->data + 8, false);
	h->cbytes = zr_load_u32(in->data + 12, false);
	if (h->cbytes > in->len)
		return zr_codec_fail(c, reterr, -EUCLEAN,
		                     "is cut off: %zu of %" PRIu32 " bytes", in->len,
		                     h->cbytes);
	if (blosc_cbuffer_validate(in->data, h->cbytes, &nbytes) < 0)
		return zr_codec_fail(c, reterr, -EUCLEAN, "is no Blosc 1 frame");
	if (nbytes > 0 &&
	    (h->blocksize == 0 || h->blocksize > nbytes || h->typesize == 0))
		return zr_codec_fail(c, reterr, -EUCLEAN, "has a damaged header");
	if (nbytes > 0 && !blosc_check_runs(h, in->data))
		return zr_codec_fail(c, reterr, -EUCLEAN, "is damaged");
	return 0;
}

static int blosc_decode(struct zr_codec *c, struct zr_buf *in, const struct zr_want *want,
                        struct zr_buf *ret, struct zr_err *reterr)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf out = {0};
	struct blosc_header h = {0};
	int r, n;

	r = blosc_check(c, in, &h, reterr);
	if (r < 0)
		return r;
	r = zr_codec_room(c, h.nbytes, want, &out, reterr);
	if (r < 0)
		return r;
	n = blosc_decompress_ctx(in->data, out.data, out.len, 1);
	if (n == -5)
		return zr_codec_fail(c, reterr, -EOPNOTSUPP,
		                     "compressor %d is not in this build of Blosc",
		                     h.flags >> 5);
	if (n < 0 || (size_t)n != out.len)
		return zr_codec_fail(c, reterr, -EUCLEAN, "is damaged");
	return zr_codec_pass(&out, ret);
}

int zr_codecs_add_blosc(struct zr_codecs *c, const char *name)
{
	static const struct zr_codec_ops ops = {.decode = blosc_decode};

	return zr_codec_add(c, zr_codec_new(sizeof(struct zr_codec), &ops, name));
}
