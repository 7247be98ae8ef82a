/* SPDX-License-Identifier: MIT */
/*
 * codec.h - a chain of codecs: stored bytes to decoded bytes
 *
 *   store bytes -> [ codec ] -> chunk cache -> view -> render -> fuse reply
 *
 * A chain is listed in the order of encoding, as metadata does, and decoded from
 * the last to the first. It turns bytes into bytes; what the bytes mean (types,
 * byte order, transposition, shards) is for dtype.h, array.h and chunk.h. The
 * array-to-array codecs that compute (delta, fixedscaleoffset, astype) are members
 * too: they map the packed elements of a chunk to packed elements.
 *
 * One file for each library: codec_zstd.c is the only one with <zstd.h>, and so on.
 * Sources: Zarr v3 core codecs, zarr-extensions registry, numcodecs.
 *
 * Layer 1. May include layer 0.
 *
 * Memory: a chain owns its codecs. A buffer that is decoded is handed over.
 * Threads: a chain is immutable once built, and decodes in any number of threads.
 * Errors: -EUCLEAN the bytes are damaged: wrong size, bad checksum, no such frame;
 *         -EOPNOTSUPP a parameter that is not supported; -EINVAL one that makes no
 *         sense; -ENOMEM. The text names codec and cause.
 */
#pragma once

#include "buf.h"
#include "err.h"
#include "util.h"

struct zr_codecs;

struct zr_codecs *zr_codecs_new(void);    /* an empty chain; NULL: no memory */
void zr_codecs_free(struct zr_codecs *c); /* NULL is allowed */
size_t zr_codecs_count(const struct zr_codecs *c);
/* Name of codec i as given when it was added, for messages and schema.json. Borrowed. */
const char *zr_codecs_name(const struct zr_codecs *c, size_t i);

/* Whether what is stored has a checksum, so that another byte in it is noticed. */
bool zr_codecs_sum(const struct zr_codecs *c);
/* The codec that was added last was told to make one. */
void zr_codecs_set_sum(struct zr_codecs *c);

/* How the elements of a numcodecs dtype string look ("<f4", ">i2", "|u1", "|b1"). */
struct zr_numtype {
	char kind;         /* 'b' bool, 'i', 'u', 'f' */
	unsigned int size; /* bytes: 1, 2, 4, 8 */
	bool big;
};

/* Reads a NumPy type string of a number. -EINVAL, -EOPNOTSUPP. */
ZR_MUST_CHECK int zr_numtype_parse(const char *s, struct zr_numtype *ret,
                                   struct zr_err *reterr);

enum zr_checksum {
	ZR_CRC32,
	ZR_CRC32C,
	ZR_ADLER32,
	ZR_FLETCHER32,
	ZR_JENKINS_LOOKUP3,
};

enum zr_lzma_format { ZR_LZMA_XZ = 1, ZR_LZMA_ALONE = 2, ZR_LZMA_RAW = 3 };

struct zr_lzma_filter {
	uint64_t id;        /* 0x21 LZMA2, 0x4000000000000001 LZMA1, 0x03 delta, others as
	                       liblzma */
	uint32_t dist;      /* delta */
	uint32_t preset;    /* LZMA: 0..9; used where dict_size is 0 */
	uint32_t dict_size; /* LZMA: 0 = the preset's */
	uint32_t lc, lp, pb;
	bool has_lclppb;
};

/* Each appends one codec; `name` is how the metadata called it. All return 0 or an error
 * as above and leave the chain as it was then. */
ZR_MUST_CHECK int zr_codecs_add_zstd(struct zr_codecs *c, const char *name);
ZR_MUST_CHECK int zr_codecs_add_blosc(struct zr_codecs *c, const char *name);
ZR_MUST_CHECK int zr_codecs_add_gzip(struct zr_codecs *c, const char *name);
ZR_MUST_CHECK int zr_codecs_add_zlib(struct zr_codecs *c, const char *name);
ZR_MUST_CHECK int zr_codecs_add_lz4(struct zr_codecs *c,
                                    const char *name); /* numcodecs' */
ZR_MUST_CHECK int zr_codecs_add_bz2(struct zr_codecs *c, const char *name);
/* nfilters filters, only for ZR_LZMA_RAW. */
ZR_MUST_CHECK int zr_codecs_add_lzma(struct zr_codecs *c, const char *name,
                                     enum zr_lzma_format format,
                                     const struct zr_lzma_filter *filters,
                                     size_t nfilters, struct zr_err *reterr);
ZR_MUST_CHECK int zr_codecs_add_base64(struct zr_codecs *c, const char *name);
/* at_start: the 4 bytes stand in front of the data, else behind. Jenkins: initval and
 * prefix (copied); others pass 0, NULL, 0. */
ZR_MUST_CHECK int zr_codecs_add_checksum(struct zr_codecs *c, const char *name,
                                         enum zr_checksum kind, bool at_start,
                                         uint32_t initval, const void *prefix,
                                         size_t prefix_len);
ZR_MUST_CHECK int zr_codecs_add_shuffle(struct zr_codecs *c, const char *name,
                                        uint64_t elementsize);
/* numcodecs.packbits: bools, most significant bit first, first byte the padding. */
ZR_MUST_CHECK int zr_codecs_add_packbits(struct zr_codecs *c, const char *name);
/* stored: the type of the encoded elements; decoded: that of the result. */
ZR_MUST_CHECK int zr_codecs_add_delta(struct zr_codecs *c, const char *name,
                                      const struct zr_numtype *decoded,
                                      const struct zr_numtype *stored,
                                      struct zr_err *reterr);
ZR_MUST_CHECK int zr_codecs_add_fixedscaleoffset(struct zr_codecs *c, const char *name,
                                                 double offset, double scale,
                                                 const struct zr_numtype *decoded,
                                                 const struct zr_numtype *stored,
                                                 struct zr_err *reterr);
/* astype, quantize: a cast from stored to decoded. */
ZR_MUST_CHECK int zr_codecs_add_cast(struct zr_codecs *c, const char *name,
                                     const struct zr_numtype *decoded,
                                     const struct zr_numtype *stored,
                                     struct zr_err *reterr);
/*
 * categorize: integers to texts, 0 to the empty one, k to labels[k - 1] (copied). The
 * texts come out as vlen-utf8 has them or, with utf32_size > 0, in so many bytes of
 * UTF-32 each. -EOPNOTSUPP when that would be too much.
 */
struct zr_label {
	const void *data; /* UTF-8 */
	size_t len;
};
ZR_MUST_CHECK int zr_codecs_add_categorize(struct zr_codecs *chain, const char *name,
                                           const struct zr_numtype *code,
                                           const struct zr_label *labels, size_t n,
                                           uint64_t utf32_size, bool big);
/* bitround: nothing to do when decoding; there for its name. */
ZR_MUST_CHECK int zr_codecs_add_nothing(struct zr_codecs *c, const char *name);

/*
 * Decode `own_stored` through the whole chain into *ret (which is written on success
 * only). The stored buffer is consumed in any case; an empty chain hands it through
 * without a copy.
 *
 * `exact`: the size that the result must have; nothing else is accepted. With
 * `exact` = UINT64_MAX the size is not known beforehand (variable-length elements)
 * and the result may have up to `max` bytes; `max` is not looked at otherwise.
 *
 * Whatever the headers in the data say, no step decodes to more than 2 * max + 1 MiB, or,
 * with an exact size, to more than twice that (8 times in front of a codec of numbers)
 * + 1 MiB, nor than 2 * ZR_MAX_CHUNK + 1 MiB.
 */
ZR_MUST_CHECK int zr_codecs_decode(const struct zr_codecs *c, struct zr_buf *own_stored,
                                   uint64_t exact, uint64_t max, struct zr_buf *ret,
                                   struct zr_err *reterr);
