/* SPDX-License-Identifier: MIT */
/*
 * The sizes of a chain are worked out from the array's side: what codec 0 decodes to is
 * the size that is asked for, and the size before that follows where a codec keeps it or
 * changes it by a fixed amount. Behind a compressor nothing is known but that it did not
 * make its input much larger.
 */
#include "codec.h"

#include <stdarg.h>
#include <stdio.h>

#include "codec_impl.h"
#include "bounds.h"

struct zr_codecs {
	struct zr_codec *codec[ZR_MAX_CODECS]; /* in the order of encoding */
	size_t n;
};

struct zr_codecs *zr_codecs_new(void)
{
	return calloc(1, sizeof(struct zr_codecs));
}

static void codec_free(struct zr_codec *c)
{
	if (!c)
		return;
	if (c->ops->done)
		c->ops->done(c);
	free(c->name);
	free(c);
}

void zr_codecs_free(struct zr_codecs *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n; i++)
		codec_free(c->codec[i]);
	free(c);
}

size_t zr_codecs_count(const struct zr_codecs *c)
{
	return c->n;
}

const char *zr_codecs_name(const struct zr_codecs *c, size_t i)
{
	return c->codec[i]->name;
}

bool zr_codecs_sum(const struct zr_codecs *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->codec[i]->sums)
			return true;
	return false;
}

void zr_codecs_set_sum(struct zr_codecs *c)
{
	if (c->n > 0)
		c->codec[c->n - 1]->sums = true;
}

void *zr_codec_new(size_t size, const struct zr_codec_ops *ops, const char *name)
{
	ZR_CLEANUP(zr_freep) struct zr_codec *c = calloc(1, size);

	if (!c)
		return NULL;
	c->ops = ops;
	c->name = strdup(name);
	return c->name ? ZR_TAKE(c) : NULL;
}

int zr_codec_add(struct zr_codecs *chain, struct zr_codec *own_codec)
{
	if (!own_codec)
		return -ENOMEM;
	if (chain->n == ZR_MAX_CODECS) {
		codec_free(own_codec);
		return -EOPNOTSUPP;
	}
	chain->codec[chain->n++] = own_codec;
	return 0;
}

int zr_codec_fail(const struct zr_codec *c, struct zr_err *reterr, int code,
                  const char *fmt, ...)
{
	char cause[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cause, sizeof(cause), fmt, ap);
	va_end(ap);
	return zr_err_set(reterr, code, "codec '%.64s': %s", c->name, cause);
}

int zr_codec_check(const struct zr_codec *c, uint64_t n, const struct zr_want *want,
                   struct zr_err *reterr)
{
	if (want->exact != ZR_SIZE_UNKNOWN && n != want->exact)
		return zr_codec_fail(c, reterr, -EUCLEAN,
		                     "decodes to %" PRIu64 " bytes in place of %" PRIu64,
		                     n, want->exact);
	if (n > want->max)
		return zr_codec_fail(c, reterr, -EUCLEAN,
		                     "decodes to %" PRIu64
		                     " bytes, more than the %" PRIu64 " allowed",
		                     n, want->max);
	return 0;
}

int zr_codec_room(const struct zr_codec *c, uint64_t n, const struct zr_want *want,
                  struct zr_buf *ret, struct zr_err *reterr)
{
	int r;

	r = zr_codec_check(c, n, want, reterr);
	if (r < 0)
		return r;
	/* At least one byte: libraries do not like NULL, not even for nothing. */
	if (n > SIZE_MAX || zr_buf_reserve(ret, ZR_MAX((size_t)n, 1)) < 0)
		return zr_codec_fail(c, reterr, -ENOMEM,
		                     "no memory for %" PRIu64 " bytes", n);
	ret->len = (size_t)n;
	return 0;
}

int zr_sink_init(struct zr_sink *s, const struct zr_codec *c, const struct zr_want *want,
                 uint64_t guess, struct zr_err *reterr)
{
	int r;

	*s = (struct zr_sink){.codec = c, .want = *want};
	guess = ZR_MIN(ZR_MAX(guess, 4096), want->max);
	r = zr_codec_room(c, want->exact != ZR_SIZE_UNKNOWN ? want->exact : guess, want,
	                  &s->buf, reterr);
	s->buf.len = 0;
	return r;
}

void zr_sink_done(struct zr_sink *s)
{
	zr_buf_done(&s->buf);
}

int zr_sink_grow(struct zr_sink *s, struct zr_err *reterr)
{
	uint64_t cap = s->buf.cap;

	if (cap >= s->want.max)
		return zr_codec_fail(s->codec, reterr, -EUCLEAN,
		                     "decodes to more than %" PRIu64 " bytes",
		                     s->want.max);
	cap = ZR_MIN(2 * cap, s->want.max);
	if (cap > SIZE_MAX || zr_buf_reserve(&s->buf, (size_t)cap - s->buf.len) < 0)
		return zr_codec_fail(s->codec, reterr, -ENOMEM,
		                     "no memory for %" PRIu64 " bytes", cap);
	return 0;
}

int zr_sink_space(struct zr_sink *s, uint8_t **ret_p, size_t *ret_n,
                  struct zr_err *reterr)
{
	int r;

	if (s->buf.len >= s->want.max) {
		*ret_p = &s->beyond;
		*ret_n = 1;
		return 0;
	}
	if (s->buf.len == s->buf.cap) {
		r = zr_sink_grow(s, reterr);
		if (r < 0)
			return r;
	}
	*ret_p = s->buf.data + s->buf.len;
	*ret_n = (size_t)ZR_MIN(s->buf.cap, s->want.max) - s->buf.len;
	return 0;
}

int zr_sink_wrote(struct zr_sink *s, size_t n, struct zr_err *reterr)
{
	if (n > 0 && s->buf.len >= s->want.max)
		return zr_codec_fail(s->codec, reterr, -EUCLEAN,
		                     "decodes to more than %" PRIu64 " bytes",
		                     s->want.max);
	s->buf.len += n;
	return 0;
}

int zr_sink_finish(struct zr_sink *s, struct zr_buf *ret, struct zr_err *reterr)
{
	uint8_t *less;
	int r;

	r = zr_codec_check(s->codec, s->buf.len, &s->want, reterr);
	if (r < 0)
		return r;
	/* The result may live long in a cache: give back what doubling took too much. */
	if (s->buf.cap - s->buf.len > s->buf.len / 8 && s->buf.len > 0) {
		less = realloc(s->buf.data, s->buf.len);
		if (less) {
			s->buf.data = less;
			s->buf.cap = s->buf.len;
		}
	}
	return zr_codec_pass(&s->buf, ret);
}

static int nothing_decode(struct zr_codec *c, struct zr_buf *in,
                          const struct zr_want *want, struct zr_buf *ret,
                          struct zr_err *reterr)
{
	(void)c, (void)want, (void)reterr;
	return zr_codec_pass(in, ret);
}

static uint64_t nothing_encoded_size(const struct zr_codec *c, uint64_t decoded)
{
	(void)c;
	return decoded;
}

int zr_codecs_add_nothing(struct zr_codecs *c, const char *name)
{
	static const struct zr_codec_ops ops = {.decode = nothing_decode,
	                                        .encoded_size = nothing_encoded_size};

	return zr_codec_add(c, zr_codec_new(sizeof(struct zr_codec), &ops, name));
}

/* 2 * n + 1 MiB, or the largest number. */
static uint64_t codecs_slack(uint64_t n)
{
	return n > UINT64_MAX / 4 ? UINT64_MAX / 2 : 2 * n + ((uint64_t)1 << 20);
}

/* The most that a step may come to. A codec of numbers may store eight bytes for one. */
static uint64_t codecs_limit(uint64_t exact, uint64_t max)
{
	uint64_t mib = (uint64_t)1 << 20;

	if (exact == ZR_SIZE_UNKNOWN)
		return codecs_slack(max);
	return ZR_MIN(ZR_MIN(exact, ZR_MAX_CHUNK) * 8 + mib, codecs_slack(ZR_MAX_CHUNK));
}

/* want[i]: what codec i has to decode to; want[n]: what has to be stored. */
static int codecs_sizes(const struct zr_codecs *c, uint64_t exact, uint64_t max,
                        struct zr_want *want, struct zr_err *reterr)
{
	uint64_t limit = codecs_limit(exact, max);

	want[0].exact = exact;
	want[0].max = exact != ZR_SIZE_UNKNOWN ? exact : max;
	for (size_t i = 0; i < c->n; i++) {
		const struct zr_codec *codec = c->codec[i];
		uint64_t size = ZR_SIZE_UNKNOWN;

		if (want[i].exact != ZR_SIZE_UNKNOWN && codec->ops->encoded_size)
			size = codec->ops->encoded_size(codec, want[i].exact);
		if (size != ZR_SIZE_UNKNOWN && size > limit)
			return zr_codec_fail(codec, reterr, -EUCLEAN,
			                     "encodes to %" PRIu64
			                     " bytes, more than the %" PRIu64 " allowed",
			                     size, limit);
		want[i + 1].exact = size;
		want[i + 1].max = size != ZR_SIZE_UNKNOWN
		                          ? size
		                          : ZR_MIN(codecs_slack(want[i].max), limit);
	}
	return 0;
}

static bool want_met(const struct zr_want *want, uint64_t n)
{
	return want->exact != ZR_SIZE_UNKNOWN ? n == want->exact : n <= want->max;
}

/* The stored size tells a truncated chunk before anything is done, and, where no codec
 * is, is all there is to check. */
static int codecs_check_stored(const struct zr_codecs *c, const struct zr_want *want,
                               uint64_t n, struct zr_err *reterr)
{
	if (want->exact == ZR_SIZE_UNKNOWN && c->n > 0)
		return 0; /* how well it was compressed is nobody's business */
	if (want_met(want, n))
		return 0;
	return zr_err_set(reterr, -EUCLEAN,
	                  "%" PRIu64 " bytes are stored in place of %s%" PRIu64, n,
	                  want->exact == ZR_SIZE_UNKNOWN ? "at most " : "", want->max);
}

int zr_codecs_decode(const struct zr_codecs *c, struct zr_buf *own_stored, uint64_t exact,
                     uint64_t max, struct zr_buf *ret, struct zr_err *reterr)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf buf = *own_stored;
	struct zr_want want[ZR_MAX_CODECS + 1];
	int r;

	*own_stored = (struct zr_buf){0};
	r = codecs_sizes(c, exact, max, want, reterr);
	if (r < 0)
		return r;
	r = codecs_check_stored(c, &want[c->n], buf.len, reterr);
	if (r < 0)
		return r;
	/* So that no codec meets a NULL input. */
	if (c->n > 0 && !buf.data && zr_buf_reserve(&buf, 1) < 0)
		return -ENOMEM;

	for (size_t i = c->n; i-- > 0;) {
		ZR_CLEANUP(zr_buf_done) struct zr_buf out = {0};
		struct zr_codec *codec = c->codec[i];

		r = codec->ops->decode(codec, &buf, &want[i], &out, reterr);
		if (r == 0)
			r = zr_codec_check(codec, out.len, &want[i], reterr);
		if (r < 0)
			return r;
		zr_buf_done(&buf);
		zr_codec_pass(&out, &buf);
	}
	zr_codec_pass(&buf, ret);
	return 0;
}
