/* SPDX-License-Identifier: MIT */
/*
 * Four bytes, little-endian, in front of the data or behind: the data are handed on in
 * the buffer they came in.
 *
 * Fletcher-32 and Jenkins' lookup3 are as HDF5 defines them (its file format
 * specification; lookup3 is Bob Jenkins' public "hashlittle").
 */
#include "codec_impl.h"

#include "crc32c.h"

struct codec_checksum {
	struct zr_codec base;
	enum zr_checksum kind;
	bool at_start;
	uint32_t initval;
	struct zr_buf prefix;
};

/* Sums of big-endian 16-bit words, each folded to 16 bits; an odd last byte is the high
 * half of a word. 360 words cannot overflow 32 bits. */
static uint32_t checksum_fletcher32(const uint8_t *p, size_t n)
{
	uint32_t sum1 = 0, sum2 = 0;

	for (size_t words = n / 2; words > 0;) {
		size_t some = ZR_MIN(words, 360);

		words -= some;
		for (; some > 0; some--, p += 2) {
			sum1 += zr_load_u16(p, true);
			sum2 += sum1;
		}
		sum1 = (sum1 & 0xffff) + (sum1 >> 16);
		sum2 = (sum2 & 0xffff) + (sum2 >> 16);
	}
	if (n % 2) {
		sum1 += (uint32_t)*p << 8;
		sum2 += sum1;
		sum1 = (sum1 & 0xffff) + (sum1 >> 16);
		sum2 = (sum2 & 0xffff) + (sum2 >> 16);
	}
	sum1 = (sum1 & 0xffff) + (sum1 >> 16);
	sum2 = (sum2 & 0xffff) + (sum2 >> 16);
	return sum2 << 16 | sum1;
}

static uint32_t rotl(uint32_t x, int k)
{
	return x << k | x >> (32 - k);
}

/* lookup3 over data that come in pieces: 12 bytes wait until it is known whether they are
 * the last ones, which are mixed in another way. */
struct jenkins {
	uint32_t a, b, c;
	uint8_t last[12];
	size_t nlast;
};

static void jenkins_add(struct jenkins *j, const uint8_t *p)
{
	j->a += zr_load_u32(p, false);
	j->b += zr_load_u32(p + 4, false);
	j->c += zr_load_u32(p + 8, false);
}

static void jenkins_mix(struct jenkins *j)
{
	j->a -= j->c, j->a ^= rotl(j->c, 4), j->c += j->b;
	j->b -= j->a, j->b ^= rotl(j->a, 6), j->a += j->c;
	j->c -= j->b, j->c ^= rotl(j->b, 8), j->b += j->a;
	j->a -= j->c, j->a ^= rotl(j->c, 16), j->c += j->b;
	j->b -= j->a, j->b ^= rotl(j->a, 19), j->a += j->c;
	j->c -= j->b, j->c ^= rotl(j->b, 4), j->b += j->a;
}

static void jenkins_feed(struct jenkins *j, const uint8_t *p, size_t n)
{
	while (n > 0) {
		size_t some;

		if (j->nlast == sizeof(j->last)) {
			jenkins_add(j, j->last);
			jenkins_mix(j);
			j->nlast = 0;
		}
		for (; j->nlast == 0 && n > sizeof(j->last); p += 12, n -= 12) {
			jenkins_add(j, p);
			jenkins_mix(j);
		}
		some = ZR_MIN(n, sizeof(j->last) - j->nlast);
		memcpy(j->last + j->nlast, p, some);
		j->nlast += some;
		p += some;
		n -= some;
	}
}

static uint32_t jenkins_end(struct jenkins *j)
{
	if (j->nlast == 0)
		return j->c; /* no data at all */
	memset(j->last + j->nlast, 0, sizeof(j->last) - j->nlast);
	jenkins_add(j, j->last);
	j->c ^= j->b, j->c -= rotl(j->b, 14);
	j->a ^= j->c, j->a -= rotl(j->c, 11);
	j->b ^= j->a, j->b -= rotl(j->a, 25);
	j->c ^= j->b, j->c -= rotl(j->b, 16);
	j->a ^= j->c, j->a -= rotl(j->c, 4);
	j->b ^= j->a, j->b -= rotl(j->a, 14);
	j->c ^= j->b, j->c -= rotl(j->b, 24);
	return j->c;
}

static uint32_t checksum_lookup3(const struct codec_checksum *k, const uint8_t *p,
                                 size_t n)
{
	uint32_t start = 0xdeadbeef + (uint32_t)(k->prefix.len + n) + k->initval;
	struct jenkins j = {.a = start, .b = start, .c = start};

	jenkins_feed(&j, k->prefix.data, k->prefix.len);
	jenkins_feed(&j, p, n);
	return jenkins_end(&j);
}

static uint32_t checksum_of(const struct codec_checksum *k, const uint8_t *p, size_t n)
{
	switch (k->kind) {
	case ZR_CRC32:
		return zr_deflate_crc32(p, n);
	case ZR_CRC32C:
		return zr_crc32c(p, n);
	case ZR_ADLER32:
		return zr_deflate_adler32(p, n);
	case ZR_FLETCHER32:
		return checksum_fletcher32(p, n);
	case ZR_JENKINS_LOOKUP3:
		break;
	}
	return checksum_lookup3(k, p, n);
}

static int checksum_decode(struct zr_codec *c, struct zr_buf *in,
                           const struct zr_want *want, struct zr_buf *ret,
                           struct zr_err *reterr)
{
	const struct codec_checksum *k = (const struct codec_checksum *)c;
	uint32_t stored, computed;
	uint8_t *data = in->data;
	size_t n;

	(void)want;
	if (in->len < 4)
		return zr_codec_fail(c, reterr, -EUCLEAN, "is cut off");
	n = in->len - 4;
	stored = zr_load_u32(k->at_start ? data : data + n, false);
	computed = checksum_of(k, k->at_start ? data + 4 : data, n);
	if (stored != computed)
		return zr_codec_fail(c, reterr, -EUCLEAN,
		                     "checksum is %08" PRIx32 ", stored is %08" PRIx32,
		                     computed, stored);
	if (k->at_start)
		memmove(data, data + 4, n);
	in->len = n;
	return zr_codec_pass(in, ret);
}

static uint64_t checksum_encoded_size(const struct zr_codec *c, uint64_t decoded)
{
	(void)c;
	return decoded > UINT64_MAX - 4 ? ZR_SIZE_UNKNOWN : decoded + 4;
}

static void checksum_done(struct zr_codec *c)
{
	zr_buf_done(&((struct codec_checksum *)c)->prefix);
}

int zr_codecs_add_checksum(struct zr_codecs *c, const char *name, enum zr_checksum kind,
                           bool at_start, uint32_t initval, const void *prefix,
                           size_t prefix_len)
{
	static const struct zr_codec_ops ops = {.decode = checksum_decode,
	                                        .encoded_size = checksum_encoded_size,
	                                        .done = checksum_done};
	ZR_CLEANUP(zr_buf_done) struct zr_buf copy = {0};
	struct codec_checksum *k;

	zr_buf_add(&copy, prefix, prefix_len);
	if (zr_buf_check(&copy) < 0)
		return -ENOMEM;
	k = zr_codec_new(sizeof(*k), &ops, name);
	if (!k)
		return -ENOMEM;
	k->base.sums = true;
	k->kind = kind;
	k->at_start = at_start;
	k->initval = initval;
	zr_codec_pass(&copy, &k->prefix);
	return zr_codec_add(c, &k->base);
}
