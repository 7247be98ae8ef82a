/* SPDX-License-Identifier: MIT */
/*
 * The input is a number of codecs, each with its parameters; the size that is wanted;
 * and the stored bytes.
 */
#include "fuzz.h"

#include "check.h"
#include "codec.h"

#define MAX_SIZE 65536 /* of what is decoded */

static const char *const numbers[] = {"|u1", "|i1", "<u2", ">i2", "<i4", ">u4",
                                      "<i8", ">u8", "<f2", ">f4", "<f8", "|b1"};

static struct zr_numtype take_number(struct input *in)
{
	struct zr_numtype n = {0};

	CHECK_INT(zr_numtype_parse(numbers[take_below(in, ZR_COUNT(numbers))], &n, NULL),
	          0);
	return n;
}

static double take_double(struct input *in)
{
	uint64_t bits = take_uint(in, 8);
	double d;

	memcpy(&d, &bits, sizeof(d));
	return d;
}

static int add_checksum(struct input *in, struct zr_codecs *c)
{
	enum zr_checksum kind = take_below(in, ZR_JENKINS_LOOKUP3 + 1);
	bool at_start = take_byte(in) & 1;
	uint32_t initval = 0;
	uint8_t *prefix = NULL;
	size_t len = 0;
	int r;

	if (kind == ZR_JENKINS_LOOKUP3) {
		initval = (uint32_t)take_uint(in, 4);
		prefix = take_block(in, take_byte(in), &len);
	}
	r = zr_codecs_add_checksum(c, "checksum", kind, at_start, initval, prefix, len);
	free(prefix);
	return r;
}

static int add_lzma(struct input *in, struct zr_codecs *c, struct zr_err *reterr)
{
	static const uint64_t ids[] = {0x21, 0x4000000000000001, 3, 4, 5, 6, 7, 8, 9, 10};
	enum zr_lzma_format format = 1 + take_below(in, 3);
	struct zr_lzma_filter f[4];
	size_t n = format == ZR_LZMA_RAW ? 1 + take_below(in, 4) : 0;

	for (size_t i = 0; i < n; i++) {
		unsigned int id = take_byte(in);

		f[i] = (struct zr_lzma_filter){
			.id = id < ZR_COUNT(ids) ? ids[id] : id,
			.dist = (uint32_t)take_uint(in, 2),
			.preset = take_byte(in),
			.dict_size = (uint32_t)take_uint(in, 4),
			.lc = take_below(in, 6),
			.lp = take_below(in, 6),
			.pb = take_below(in, 6),
			.has_lclppb = take_byte(in) & 1,
		};
		if (f[i].dict_size > 1 << 20) /* it is allocated, which takes time */
			f[i].dict_size >>= 12;
	}
	return zr_codecs_add_lzma(c, "lzma", format, n ? f : NULL, n, reterr);
}

static int add_numeric(struct input *in, struct zr_codecs *c, unsigned int which,
                       struct zr_err *reterr)
{
	struct zr_numtype decoded = take_number(in), stored = take_number(in);

	if (which == 0)
		return zr_codecs_add_delta(c, "delta", &decoded, &stored, reterr);
	if (which == 1)
		return zr_codecs_add_cast(c, "astype", &decoded, &stored, reterr);
	return zr_codecs_add_fixedscaleoffset(c, "fixedscaleoffset", take_double(in),
	                                      take_double(in), &decoded, &stored, reterr);
}

static int add_categorize(struct input *in, struct zr_codecs *c)
{
	struct zr_numtype code = take_number(in);
	uint64_t utf32_size = 4 * (uint64_t)take_below(in, 16);
	size_t n = take_below(in, 6);
	struct zr_label labels[6];
	uint8_t *texts[6];
	int r;

	for (size_t i = 0; i < n; i++) {
		texts[i] = take_block(in, take_below(in, 24), &labels[i].len);
		labels[i].data = texts[i];
	}
	r = zr_codecs_add_categorize(c, "categorize", &code, labels, n, utf32_size,
	                             take_byte(in) & 1);
	while (n > 0)
		free(texts[--n]);
	return r;
}

static int add_codec(struct input *in, struct zr_codecs *c, struct zr_err *reterr)
{
	unsigned int which = take_below(in, 16);

	switch (which) {
	case 0:
		return zr_codecs_add_zstd(c, "zstd");
	case 1:
		return zr_codecs_add_blosc(c, "blosc");
	case 2:
		return zr_codecs_add_gzip(c, "gzip");
	case 3:
		return zr_codecs_add_zlib(c, "zlib");
	case 4:
		return zr_codecs_add_lz4(c, "lz4");
	case 5:
		return zr_codecs_add_bz2(c, "bz2");
	case 6:
		return add_lzma(in, c, reterr);
	case 7:
		return zr_codecs_add_base64(c, "base64");
	case 8:
		return add_checksum(in, c);
	case 9:
		return zr_codecs_add_shuffle(c, "shuffle", take_byte(in));
	case 10:
		return zr_codecs_add_packbits(c, "packbits");
	case 11:
	case 12:
	case 13:
		return add_numeric(in, c, which - 11, reterr);
	case 14:
		return add_categorize(in, c);
	default:
		return zr_codecs_add_nothing(c, "bitround");
	}
}

/* What the bytes decode to; data NULL: they do not. */
static struct zr_buf decode(const struct zr_codecs *c, struct input in, uint64_t exact,
                            uint64_t max)
{
	struct zr_buf stored = {0}, out = {0};
	struct zr_err err = {0};
	int r;

	stored.data = take_block(&in, in.left, &stored.len);
	stored.cap = stored.len;
	r = zr_codecs_decode(c, &stored, exact, max, &out, &err);
	CHECK(!stored.data);
	if (r < 0) {
		check_err(&err, r);
		CHECK(!out.data && r != -ENOMEM);
		return out;
	}
	CHECK(exact == UINT64_MAX ? out.len <= max : out.len == exact);
	CHECK_INT(zr_buf_reserve(&out, 1), 0); /* never NULL */
	return out;
}

static bool same(const struct zr_buf *a, const struct zr_buf *b)
{
	return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

static void check_decode(const struct zr_codecs *c, struct input in, uint64_t size)
{
	struct zr_buf exact = decode(c, in, size, 0);
	struct zr_buf any = decode(c, in, UINT64_MAX, MAX_SIZE), again;

	/* Whether the size is known or not, the bytes are the same. */
	if (exact.data && any.data)
		CHECK(same(&exact, &any));
	if (any.data) {
		again = decode(c, in, any.len, 0);
		if (again.data)
			CHECK(same(&again, &any));
		zr_buf_done(&again);
		/* Nor do they decode to anything else if that is asked for. */
		again = decode(c, in, any.len + 1, 0);
		CHECK(!again.data);
		if (any.len > 0) {
			again = decode(c, in, UINT64_MAX, any.len - 1);
			CHECK(!again.data);
		}
	}
	zr_buf_done(&exact);
	zr_buf_done(&any);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	struct zr_codecs *c = zr_codecs_new();
	unsigned int n = take_below(&in, 5);
	struct zr_err err = {0};
	int r = 0;

	CHECK(c);
	for (unsigned int i = 0; r == 0 && i < n; i++)
		r = add_codec(&in, c, &err);
	if (r < 0)
		check_err(&err, r);
	else
		CHECK_INT(zr_codecs_count(c), n);
	if (r == 0) {
		uint64_t wanted = take_uint(&in, 2);

		check_decode(c, in, wanted);
	}
	zr_codecs_free(c);
	return 0;
}
