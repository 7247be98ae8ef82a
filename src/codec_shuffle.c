/* SPDX-License-Identifier: MIT */
/*
 * numcodecs' shuffle: first byte 0 of every element, then byte 1 of every element, and
 * so on over the whole buffer.
 */
#include "codec_impl.h"

/* Bytes of the result that are put together at a time, so that they stay in the cache
 * while every plane is gone through. */
#define SHUFFLE_BLOCK 8192

struct codec_shuffle {
	struct zr_codec base;
	uint64_t elementsize;
};

/* Element by element; with a constant size the compiler makes vectors of it. */
static inline void shuffle_gather_small(const uint8_t *restrict in, size_t n, size_t size,
                                        uint8_t *restrict out)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < size; j++)
			out[i * size + j] = in[j * n + i];
}

/* Plane by plane, a block of elements at a time. */
static void shuffle_gather_any(const uint8_t *in, size_t n, size_t size, uint8_t *out)
{
	size_t block = ZR_MAX(SHUFFLE_BLOCK / size, 1);

	for (size_t at = 0; at < n; at += block) {
		size_t some = ZR_MIN(block, n - at);

		for (size_t j = 0; j < size; j++) {
			const uint8_t *plane = in + j * n + at;
			uint8_t *o = out + at * size + j;

			for (size_t i = 0; i < some; i++)
				o[i * size] = plane[i];
		}
	}
}

/* n elements of `size` bytes each. */
static void shuffle_gather(const uint8_t *in, size_t n, size_t size, uint8_t *out)
{
	if (size == 2)
		shuffle_gather_small(in, n, 2, out);
	else if (size == 4)
		shuffle_gather_small(in, n, 4, out);
	else if (size == 8)
		shuffle_gather_small(in, n, 8, out);
	else
		shuffle_gather_any(in, n, size, out);
}

static int shuffle_decode(struct zr_codec *c, struct zr_buf *in,
                          const struct zr_want *want, struct zr_buf *ret,
                          struct zr_err *reterr)
{
	uint64_t size = ((const struct codec_shuffle *)c)->elementsize;
	int r;

	if (size <= 1 || in->len == 0)
		return zr_codec_pass(in, ret);
	if (in->len % size != 0)
		return zr_codec_fail(
			c, reterr, -EUCLEAN,
			"%zu bytes are no multiple of the element size %" PRIu64, in->len,
			size);
	r = zr_codec_room(c, in->len, want, ret, reterr);
	if (r < 0)
		return r;
	shuffle_gather(in->data, (size_t)(in->len / size), (size_t)size, ret->data);
	return 0;
}

static uint64_t shuffle_encoded_size(const struct zr_codec *c, uint64_t decoded)
{
	(void)c;
	return decoded;
}

int zr_codecs_add_shuffle(struct zr_codecs *c, const char *name, uint64_t elementsize)
{
	static const struct zr_codec_ops ops = {.decode = shuffle_decode,
	                                        .encoded_size = shuffle_encoded_size};
	struct codec_shuffle *s = zr_codec_new(sizeof(*s), &ops, name);

	if (!s)
		return -ENOMEM;
	s->elementsize = elementsize;
	return zr_codec_add(c, &s->base);
}
