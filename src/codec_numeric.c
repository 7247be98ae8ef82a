/* SPDX-License-Identifier: MIT */
/*
 * delta, fixedscaleoffset and cast (astype, quantize): what numcodecs computes with
 * NumPy 2, bit for bit.
 *
 * Elements are worked on a block at a time, widened to 64 bits: integers and bools in
 * two's complement, floats as double. Which precision a step has is then a matter of
 * rounding to it, since double holds every value of the smaller floats.
 *
 * Where NumPy's result depends on the machine (a float that does not fit the integer it
 * is cast to, NaN too), it is what NumPy gives on x86-64: the value as int32, or as int64
 * for types of 8 bytes and uint32, with the most negative number for what does not fit,
 * cut to the type's size.
 */
#include "codec_impl.h"

#include <float.h>
#include <math.h>

/* The x87 would keep more digits than a double has. */
_Static_assert(FLT_EVAL_METHOD == 0 || FLT_EVAL_METHOD == 1,
               "needs exact double arithmetic: on 32-bit x86, -msse2 -mfpmath=sse");

#define NUMERIC_BLOCK 512 /* elements */

union wide {
	uint64_t u[NUMERIC_BLOCK]; /* kinds b, i, u */
	double f[NUMERIC_BLOCK];   /* kind f */
};

struct codec_numeric {
	struct zr_codec base;
	struct zr_numtype decoded, stored;
	double offset, scale;
};

/* The names that zarr-python writes into v3 metadata where v2 has type strings. */
static const char *numtype_of_name(const char *s)
{
	static const char *const names[][2] = {
		{"bool", "b1"},    {"?", "b1"},      {"int8", "i1"},    {"int16", "i2"},
		{"int32", "i4"},   {"int64", "i8"},  {"uint8", "u1"},   {"uint16", "u2"},
		{"uint32", "u4"},  {"uint64", "u8"}, {"float16", "f2"}, {"float32", "f4"},
		{"float64", "f8"},
	};

	for (size_t i = 0; i < ZR_COUNT(names); i++)
		if (strcmp(s, names[i][0]) == 0)
			return names[i][1];
	return s;
}

static bool numtype_is_known(const struct zr_numtype *t)
{
	bool power = t->size == 1 || t->size == 2 || t->size == 4 || t->size == 8;

	switch (t->kind) {
	case 'b':
		return t->size == 1;
	case 'i':
	case 'u':
		return power;
	case 'f':
		return power && t->size > 1;
	default:
		return false;
	}
}

/* Without an order the machine's own is meant, on which little-endian is the bet. */
int zr_numtype_parse(const char *s, struct zr_numtype *ret, struct zr_err *reterr)
{
	const char *p = numtype_of_name(s + (*s != '\0' && strchr("<>|=", *s) != NULL));
	struct zr_numtype t = {.big = *s == '>'};

	if (*p == '\0' || !strchr("biufcmMSUVO", *p))
		return zr_err_set(reterr, -EINVAL, "'%.64s' is no type of elements", s);
	t.kind = *p++;
	for (; *p >= '0' && *p <= '9' && t.size < 1000; p++)
		t.size = 10 * t.size + (unsigned int)(*p - '0');

	if (*p != '\0' || !numtype_is_known(&t))
		return zr_err_set(reterr, -EOPNOTSUPP, "elements of type '%.64s'", s);
	*ret = t;
	return 0;
}

/* IEEE 754 binary16: 1 sign, 5 exponent, 10 fraction bits. */
static double half_load(uint16_t h)
{
	int exponent = h >> 10 & 31;
	uint64_t sign = (uint64_t)(h >> 15) << 63, fraction = h & 1023, bits;
	double v;

	if (exponent == 0) {
		v = (double)fraction * 0x1p-24;
		return sign ? -v : v;
	}
	bits = sign | fraction << 42 |
	       (uint64_t)(exponent == 31 ? 2047 : exponent - 15 + 1023) << 52;
	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* To the nearest, ties to even. */
static uint16_t half_store(double v)
{
	uint64_t bits;
	uint16_t sign;
	double a = fabs(v);

	memcpy(&bits, &v, sizeof(bits));
	sign = (uint16_t)(bits >> 48 & 0x8000);
	if (isnan(v)) {
		uint16_t payload = bits >> 42 & 1023;

		return sign | 0x7c00 | (payload ? payload : 1);
	}
	if (a >= 65520) /* half way from the largest finite value to the next power */
		return sign | 0x7c00;
	if (a < 0x1p-14) {
		/* Subnormal: adding 2^28 leaves the sum's unit in the last place at
		 * 2^-24, so the processor rounds. A carry makes it the smallest normal
		 * value, whose bits continue the count. */
		return sign | (uint16_t)((a + 0x1p28 - 0x1p28) * 0x1p24);
	}
	/* The same for normal values, on the bits: a carry runs into the exponent. */
	bits &= ~(UINT64_C(1) << 63);
	bits += (UINT64_C(1) << 41) - 1 + (bits >> 42 & 1);
	return sign | (uint16_t)((bits >> 42) - ((uint64_t)(1023 - 15) << 10));
}

static double half_round(double v)
{
	return half_load(half_store(v));
}

static void numeric_load(const struct zr_numtype *t, const uint8_t *p, size_t n,
                         union wide *w)
{
	unsigned int size = t->size, unused = 64 - 8 * size;

	for (size_t i = 0; i < n; i++, p += size) {
		uint64_t u = zr_load_uint(p, size, t->big);

		if (t->kind == 'b') {
			w->u[i] = u != 0;
		} else if (t->kind == 'i') {
			w->u[i] = (uint64_t)((int64_t)(u << unused) >> unused);
		} else if (t->kind == 'u' || size == 8) {
			w->u[i] = u;
		} else if (size == 4) {
			uint32_t bits = (uint32_t)u;
			float f;

			memcpy(&f, &bits, sizeof(f));
			w->f[i] = (double)f;
		} else {
			w->f[i] = half_load((uint16_t)u);
		}
	}
}

static void numeric_store(const struct zr_numtype *t, const union wide *w, size_t n,
                          uint8_t *p)
{
	unsigned int size = t->size;

	for (size_t i = 0; i < n; i++, p += size) {
		uint64_t u = w->u[i];

		if (t->kind == 'f' && size == 4) {
			float f = (float)w->f[i];
			uint32_t bits;

			memcpy(&bits, &f, sizeof(bits));
			u = bits;
		} else if (t->kind == 'f' && size == 2) {
			u = half_store(w->f[i]);
		}
		zr_store_uint(p, u, size, t->big);
	}
}

static uint64_t numeric_int32(double v)
{
	bool fits = v > -2147483649.0 && v < 2147483648.0;

	return (uint64_t)(int64_t)(fits ? (int32_t)v : INT32_MIN);
}

static uint64_t numeric_int64(double v)
{
	bool fits = v >= -0x1p63 && v < 0x1p63;

	return (uint64_t)(fits ? (int64_t)v : INT64_MIN);
}

static uint64_t numeric_uint64(double v)
{
	if (v >= 0x1p63)
		return v < 0x1p64 ? (uint64_t)v : 0;
	return numeric_int64(v);
}

static void numeric_from_float(const struct zr_numtype *to, union wide *w, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double v = w->f[i];

		if (to->kind == 'b')
			w->u[i] = v != 0;
		else if (to->size == 8 && to->kind == 'u')
			w->u[i] = numeric_uint64(v);
		else if (to->size == 8 || (to->size == 4 && to->kind == 'u'))
			w->u[i] = numeric_int64(v);
		else
			w->u[i] = numeric_int32(v);
	}
}

/* Straight to the precision of the target: by way of double would round twice. */
static void numeric_to_float(const struct zr_numtype *from, const struct zr_numtype *to,
                             union wide *w, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t u = w->u[i];

		if (from->kind == 'i' && to->size == 8)
			w->f[i] = (double)(int64_t)u;
		else if (from->kind == 'i')
			w->f[i] = (double)(float)(int64_t)u;
		else if (to->size == 8)
			w->f[i] = (double)u;
		else
			w->f[i] = (double)(float)u;
	}
}

/* Changes values of one type to another's kind; numeric_store() then cuts or rounds. */
static void numeric_convert(const struct zr_numtype *from, const struct zr_numtype *to,
                            union wide *w, size_t n)
{
	if (from->kind == 'f' && to->kind != 'f') {
		numeric_from_float(to, w, n);
	} else if (from->kind != 'f' && to->kind == 'f') {
		numeric_to_float(from, to, w, n);
	} else if (to->kind == 'b') {
		for (size_t i = 0; i < n; i++)
			w->u[i] = w->u[i] != 0;
	}
}

static double numeric_round(double v, unsigned int size)
{
	if (size == 4)
		return (double)(float)v;
	return size == 2 ? half_round(v) : v;
}

/* v / scale + offset, in the precision of the stored floats, or double for integers.
 * Each operation is rounded by itself; for these operations rounding a double result is
 * as good as computing in the smaller type. */
static void numeric_scale(const struct codec_numeric *c, union wide *w, size_t n)
{
	static const struct zr_numtype f8 = {.kind = 'f', .size = 8};
	unsigned int size = c->stored.kind == 'f' ? c->stored.size : 8;
	double scale = numeric_round(c->scale, size);
	double offset = numeric_round(c->offset, size);

	numeric_convert(&c->stored, &f8, w, n);
	for (size_t i = 0; i < n; i++) {
		double v = numeric_round(w->f[i] / scale, size);

		w->f[i] = numeric_round(v + offset, size);
	}
	numeric_convert(&f8, &c->decoded, w, n);
}

static void numeric_cast(const struct codec_numeric *c, union wide *w, size_t n)
{
	numeric_convert(&c->stored, &c->decoded, w, n);
}

/* The sum so far, from block to block. */
struct delta_sum {
	uint64_t u;
	double f;
	bool begun; /* 0 + -0.0 would be 0.0 */
};

/* The float that holds every value of the type, or is the largest. */
static unsigned int numeric_float_size(const struct zr_numtype *t)
{
	return t->kind == 'f' ? t->size : ZR_MIN(t->kind == 'b' ? 2 : 2 * t->size, 8);
}

/* Integers are added modulo the size of the decoded type. If either type is a float, the
 * sum goes on in the smallest float that holds both and is not rounded to the decoded
 * type on the way, only its copies are. (NumPy adds up int64 and uint64 as doubles; that
 * loses digits which are there, and is not followed.) */
static void numeric_sum(const struct codec_numeric *c, union wide *w, size_t n,
                        struct delta_sum *s)
{
	struct zr_numtype f = {.kind = 'f',
	                       .size = ZR_MAX(numeric_float_size(&c->decoded),
	                                      numeric_float_size(&c->stored))};

	if (c->decoded.kind != 'f' && c->stored.kind != 'f') {
		for (size_t i = 0; i < n; i++)
			w->u[i] = s->u += w->u[i];
		return;
	}
	numeric_convert(&c->stored, &f, w, n);
	for (size_t i = 0; i < n; i++) {
		double v = numeric_round(w->f[i], f.size);

		w->f[i] = s->f = s->begun ? numeric_round(s->f + v, f.size) : v;
		s->begun = true;
	}
	numeric_convert(&f, &c->decoded, w, n);
}

/* How many elements, and room for them. */
static int numeric_room(const struct codec_numeric *c, const struct zr_buf *in,
                        const struct zr_want *want, struct zr_buf *ret,
                        struct zr_err *reterr)
{
	uint64_t n = in->len / c->stored.size;

	if (in->len % c->stored.size != 0)
		return zr_codec_fail(&c->base, reterr, -EUCLEAN,
		                     "%zu bytes are no multiple of the element size %u",
		                     in->len, c->stored.size);
	return zr_codec_room(&c->base, n * c->decoded.size, want, ret, reterr);
}

enum numeric_step { NUMERIC_DELTA, NUMERIC_SCALE, NUMERIC_CAST };

static inline int numeric_decode(struct zr_codec *base, const struct zr_buf *in,
                                 const struct zr_want *want, struct zr_buf *ret,
                                 struct zr_err *reterr, enum numeric_step step)
{
	const struct codec_numeric *c = (const struct codec_numeric *)base;
	size_t total = in->len / c->stored.size;
	struct delta_sum sum = {0};
	union wide w;
	int r;

	r = numeric_room(c, in, want, ret, reterr);
	if (r < 0)
		return r;
	for (size_t at = 0; at < total; at += NUMERIC_BLOCK) {
		size_t n = ZR_MIN(total - at, NUMERIC_BLOCK);

		numeric_load(&c->stored, in->data + at * c->stored.size, n, &w);
		if (step == NUMERIC_DELTA)
			numeric_sum(c, &w, n, &sum);
		else if (step == NUMERIC_SCALE)
			numeric_scale(c, &w, n);
		else
			numeric_cast(c, &w, n);
		numeric_store(&c->decoded, &w, n, ret->data + at * c->decoded.size);
	}
	return 0;
}

static int delta_decode(struct zr_codec *c, struct zr_buf *in, const struct zr_want *want,
                        struct zr_buf *ret, struct zr_err *reterr)
{
	return numeric_decode(c, in, want, ret, reterr, NUMERIC_DELTA);
}

static int scale_decode(struct zr_codec *c, struct zr_buf *in, const struct zr_want *want,
                        struct zr_buf *ret, struct zr_err *reterr)
{
	return numeric_decode(c, in, want, ret, reterr, NUMERIC_SCALE);
}

static int cast_decode(struct zr_codec *c, struct zr_buf *in, const struct zr_want *want,
                       struct zr_buf *ret, struct zr_err *reterr)
{
	return numeric_decode(c, in, want, ret, reterr, NUMERIC_CAST);
}

static uint64_t numeric_encoded_size(const struct zr_codec *c, uint64_t decoded)
{
	const struct codec_numeric *n = (const struct codec_numeric *)c;
	uint64_t size;

	if (!zr_mul(decoded / n->decoded.size, n->stored.size, &size))
		return ZR_SIZE_UNKNOWN;
	return size;
}

static int numeric_check_type(const struct zr_numtype *t, const char *name,
                              struct zr_err *reterr)
{
	if (numtype_is_known(t))
		return 0;
	return zr_err_set(reterr, -EOPNOTSUPP, "codec '%.64s': element type %c%u", name,
	                  t->kind, t->size);
}

static int numeric_add(struct zr_codecs *chain, const struct zr_codec_ops *ops,
                       const char *name, const struct codec_numeric *param,
                       struct zr_err *reterr)
{
	struct codec_numeric *c;
	int r;

	r = numeric_check_type(&param->decoded, name, reterr);
	if (r == 0)
		r = numeric_check_type(&param->stored, name, reterr);
	if (r < 0)
		return r;
	c = zr_codec_new(sizeof(*c), ops, name);
	if (!c)
		return -ENOMEM;
	c->decoded = param->decoded;
	c->stored = param->stored;
	c->offset = param->offset;
	c->scale = param->scale;
	return zr_codec_add(chain, &c->base);
}

int zr_codecs_add_delta(struct zr_codecs *c, const char *name,
                        const struct zr_numtype *decoded, const struct zr_numtype *stored,
                        struct zr_err *reterr)
{
	static const struct zr_codec_ops ops = {.decode = delta_decode,
	                                        .encoded_size = numeric_encoded_size};
	struct codec_numeric param = {.decoded = *decoded, .stored = *stored};

	/* NumPy's difference of bools is "unequal", its sum is "or": not undone. */
	if (decoded->kind == 'b')
		return zr_err_set(reterr, -EOPNOTSUPP,
		                  "codec '%.64s': differences of bools", name);
	return numeric_add(c, &ops, name, &param, reterr);
}

int zr_codecs_add_fixedscaleoffset(struct zr_codecs *c, const char *name, double offset,
                                   double scale, const struct zr_numtype *decoded,
                                   const struct zr_numtype *stored, struct zr_err *reterr)
{
	static const struct zr_codec_ops ops = {.decode = scale_decode,
	                                        .encoded_size = numeric_encoded_size};
	struct codec_numeric param = {
		.decoded = *decoded, .stored = *stored, .offset = offset, .scale = scale};

	if (!isfinite(offset) || !isfinite(scale) || scale == 0)
		return zr_err_set(reterr, -EINVAL, "codec '%.64s': offset %g, scale %g",
		                  name, offset, scale);
	return numeric_add(c, &ops, name, &param, reterr);
}

int zr_codecs_add_cast(struct zr_codecs *c, const char *name,
                       const struct zr_numtype *decoded, const struct zr_numtype *stored,
                       struct zr_err *reterr)
{
	static const struct zr_codec_ops ops = {.decode = cast_decode,
	                                        .encoded_size = numeric_encoded_size};
	struct codec_numeric param = {.decoded = *decoded, .stored = *stored};

	/* The same values in the same bits, but for their order: floats are moved as
	 * integers, which keeps every NaN as it is. */
	if (decoded->kind == stored->kind && decoded->size == stored->size) {
		if (decoded->size == 1 || decoded->big == stored->big)
			return zr_codecs_add_nothing(c, name);
		param.decoded.kind = param.stored.kind = 'u';
	}
	return numeric_add(c, &ops, name, &param, reterr);
}
