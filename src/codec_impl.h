/* SPDX-License-Identifier: MIT */
/*
 * codec_impl.h - what one codec of a chain is, for the files codec_*.c only
 *
 * A codec turns one buffer into another. It is told beforehand how large the result
 * has to be, or at most may be (struct zr_want), and never allocates more than that
 * because of what a header in the data says.
 *
 * Layer 1, private. May include codec.h, limits.h and layer 0.
 *
 * Memory: a codec is one malloc()ed block that begins with struct zr_codec; the chain
 *         frees it after calling ops->done. The input belongs to the chain, but a codec
 *         may take it (zr_codec_pass) instead of making a buffer of its own.
 * Threads: decode runs in many threads at once on one codec; whatever state a codec
 *         changes it guards itself.
 * Errors: as codec.h; always set with zr_codec_fail(), so that the text names the codec.
 */
#pragma once

#include <errno.h>
#include <inttypes.h>

#include "codec.h"

#define ZR_SIZE_UNKNOWN UINT64_MAX

/* The size of a step's result in bytes. */
struct zr_want {
	uint64_t exact; /* or ZR_SIZE_UNKNOWN */
	uint64_t max;   /* the same as exact where that is known */
};

struct zr_codec;

struct zr_codec_ops {
	/* Decodes *in to *ret. The chain checks the size of the result once more. */
	int (*decode)(struct zr_codec *c, struct zr_buf *in, const struct zr_want *want,
	              struct zr_buf *ret, struct zr_err *reterr);
	/* What `decoded` bytes became by encoding, or ZR_SIZE_UNKNOWN. NULL: never known.
	 */
	uint64_t (*encoded_size)(const struct zr_codec *c, uint64_t decoded);
	/* Frees what hangs on the codec, not itself. NULL: nothing does. */
	void (*done)(struct zr_codec *c);
};

struct zr_codec {
	const struct zr_codec_ops *ops;
	char *name; /* as the metadata calls it; owned */
	bool sums;  /* what it decodes has a checksum: another byte is noticed */
};

/* A zeroed codec of `size` bytes, which begins with a struct zr_codec. NULL: no memory.
 */
void *zr_codec_new(size_t size, const struct zr_codec_ops *ops, const char *name);

/* Appends; the codec is freed if that fails. NULL (what zr_codec_new() gave) is -ENOMEM.
 */
ZR_MUST_CHECK int zr_codec_add(struct zr_codecs *chain, struct zr_codec *own_codec);

/* Sets "codec 'NAME': ..." and returns `code`. */
int zr_codec_fail(const struct zr_codec *c, struct zr_err *reterr, int code,
                  const char *fmt, ...) ZR_PRINTF(4, 5);

/* An error unless `n` is a size that `want` allows. */
ZR_MUST_CHECK int zr_codec_check(const struct zr_codec *c, uint64_t n,
                                 const struct zr_want *want, struct zr_err *reterr);

/* Room for exactly n bytes, and len = n, once zr_codec_check() has passed. */
ZR_MUST_CHECK int zr_codec_room(const struct zr_codec *c, uint64_t n,
                                const struct zr_want *want, struct zr_buf *ret,
                                struct zr_err *reterr);

/* Hands the input on as the result. */
static inline int zr_codec_pass(struct zr_buf *in, struct zr_buf *ret)
{
	*ret = *in;
	*in = (struct zr_buf){0};
	return 0;
}

/*
 * Output of a decoder that writes as much as there is room for and goes on when there is
 * more. An exact size is allocated at once, an unknown one grows with the data. One byte
 * beyond what is wanted is offered too: only a stream that is too long writes it.
 */
struct zr_sink {
	const struct zr_codec *codec;
	struct zr_want want;
	struct zr_buf buf;
	uint8_t beyond;
};

/* guess: how large the result may turn out when the size is not known. */
ZR_MUST_CHECK int zr_sink_init(struct zr_sink *s, const struct zr_codec *c,
                               const struct zr_want *want, uint64_t guess,
                               struct zr_err *reterr);
void zr_sink_done(struct zr_sink *s);
/* Doubles the room, up to want.max. -EUCLEAN when it is that large already. */
ZR_MUST_CHECK int zr_sink_grow(struct zr_sink *s, struct zr_err *reterr);
/* Where to write, and how much (at least 1 byte). */
ZR_MUST_CHECK int zr_sink_space(struct zr_sink *s, uint8_t **ret_p, size_t *ret_n,
                                struct zr_err *reterr);
/* n bytes were written to what zr_sink_space() gave. */
ZR_MUST_CHECK int zr_sink_wrote(struct zr_sink *s, size_t n, struct zr_err *reterr);
/* Checks the size and hands the bytes out. */
ZR_MUST_CHECK int zr_sink_finish(struct zr_sink *s, struct zr_buf *ret,
                                 struct zr_err *reterr);

/* libdeflate's, so that codec_deflate.c stays the only file that includes it. */
uint32_t zr_deflate_crc32(const void *p, size_t n);
uint32_t zr_deflate_adler32(const void *p, size_t n);
