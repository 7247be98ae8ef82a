/* SPDX-License-Identifier: MIT */
/*
 * numcodecs' lzma, which is Python's: .xz, the older .lzma ("alone"), or bare filters.
 * Several streams may follow each other; .xz may have padding between them. A stream
 * must have an end: Python writes an end marker where the format has none.
 */
#include "codec_impl.h"

#include <lzma.h>

#include "bounds.h"

struct codec_lzma {
	struct zr_codec base;
	enum zr_lzma_format format;
	lzma_filter filter[LZMA_FILTERS_MAX + 1];
	union {
		lzma_options_lzma lzma;
		lzma_options_delta delta;
	} options[LZMA_FILTERS_MAX];
};

static void lzma_endp(lzma_stream *s)
{
	lzma_end(s);
}

static int lzma_fail(const struct zr_codec *c, lzma_ret code, struct zr_err *reterr)
{
	switch (code) {
	case LZMA_MEM_ERROR:
		return zr_codec_fail(c, reterr, -ENOMEM, "no memory");
	case LZMA_MEMLIMIT_ERROR:
		return zr_codec_fail(c, reterr, -EOPNOTSUPP,
		                     "needs more than %" PRIu64 " MiB of memory",
		                     ZR_MAX_LZMA_MEMORY >> 20);
	case LZMA_UNSUPPORTED_CHECK:
		return zr_codec_fail(c, reterr, -EOPNOTSUPP, "unknown kind of checksum");
	case LZMA_BUF_ERROR:
		return zr_codec_fail(c, reterr, -EUCLEAN, "is cut off");
	case LZMA_FORMAT_ERROR:
		return zr_codec_fail(c, reterr, -EUCLEAN,
		                     "is no stream, or bytes follow it");
	default:
		return zr_codec_fail(c, reterr, -EUCLEAN, "is damaged");
	}
}

static lzma_ret lzma_begin(const struct codec_lzma *z, lzma_stream *s)
{
	switch (z->format) {
	case ZR_LZMA_XZ:
		return lzma_stream_decoder(s, ZR_MAX_LZMA_MEMORY,
		                           LZMA_CONCATENATED |
		                                   LZMA_TELL_UNSUPPORTED_CHECK);
	case ZR_LZMA_ALONE:
		return lzma_alone_decoder(s, ZR_MAX_LZMA_MEMORY);
	case ZR_LZMA_RAW:
		break;
	}
	return lzma_raw_decoder(s, z->filter);
}

/* Decodes the stream that begins at *at and moves that to its end. */
static int lzma_one(const struct codec_lzma *z, struct zr_sink *sink,
                    const struct zr_buf *in, size_t *at, struct zr_err *reterr)
{
	ZR_CLEANUP(lzma_endp) lzma_stream s = LZMA_STREAM_INIT;
	lzma_ret code = lzma_begin(z, &s);
	int r;

	s.next_in = in->data + *at;
	s.avail_in = in->len - *at;
	while (code == LZMA_OK) {
		size_t room;

		r = zr_sink_space(sink, &s.next_out, &room, reterr);
		if (r < 0)
			return r;
		s.avail_out = room;
		code = lzma_code(&s, LZMA_FINISH);
		r = zr_sink_wrote(sink, room - s.avail_out, reterr);
		if (r < 0)
			return r;
	}
	*at = in->len - s.avail_in;
	return code == LZMA_STREAM_END ? 0 : lzma_fail(&z->base, code, reterr);
}

static int lzma_decode(struct zr_codec *c, struct zr_buf *in, const struct zr_want *want,
                       struct zr_buf *ret, struct zr_err *reterr)
{
	ZR_CLEANUP(zr_sink_done) struct zr_sink sink;
	size_t at = 0;
	int r;

	r = zr_sink_init(&sink, c, want, 4 * (uint64_t)in->len, reterr);
	if (r < 0)
		return r;
	do {
		r = lzma_one((const struct codec_lzma *)c, &sink, in, &at, reterr);
		if (r < 0)
			return r;
	} while (at < in->len);
	return zr_sink_finish(&sink, ret, reterr);
}

static int lzma_set_options(lzma_options_lzma *o, const struct zr_lzma_filter *f,
                            const char *name, struct zr_err *reterr)
{
	if (lzma_lzma_preset(o, f->preset))
		return zr_err_set(reterr, -EINVAL, "codec '%.64s': no preset %" PRIu32,
		                  name, f->preset);
	if (f->dict_size)
		o->dict_size = f->dict_size;
	if (f->has_lclppb) {
		o->lc = f->lc;
		o->lp = f->lp;
		o->pb = f->pb;
	}
	return 0;
}

static int lzma_set_filter(struct codec_lzma *z, size_t i, const struct zr_lzma_filter *f,
                           const char *name, struct zr_err *reterr)
{
	z->filter[i].id = f->id;
	if (!lzma_filter_decoder_is_supported(f->id))
		return zr_err_set(reterr, -EOPNOTSUPP,
		                  "codec '%.64s': filter %#" PRIx64 " is unknown", name,
		                  f->id);
	if (f->id == LZMA_FILTER_DELTA) {
		z->options[i].delta.type = LZMA_DELTA_TYPE_BYTE;
		z->options[i].delta.dist = f->dist;
		z->filter[i].options = &z->options[i].delta;
	} else if (f->id == LZMA_FILTER_LZMA1 || f->id == LZMA_FILTER_LZMA2) {
		z->filter[i].options = &z->options[i].lzma;
		return lzma_set_options(&z->options[i].lzma, f, name, reterr);
	}
	return 0; /* branch filters need no options */
}

static int lzma_set_filters(struct codec_lzma *z, const struct zr_lzma_filter *filters,
                            size_t n, const char *name, struct zr_err *reterr)
{
	uint64_t memory;
	int r;

	if (n == 0 || n > LZMA_FILTERS_MAX)
		return zr_err_set(reterr, -EINVAL, "codec '%.64s': %zu filters", name, n);
	for (size_t i = 0; i < n; i++) {
		r = lzma_set_filter(z, i, &filters[i], name, reterr);
		if (r < 0)
			return r;
	}
	z->filter[n].id = LZMA_VLI_UNKNOWN;

	memory = lzma_raw_decoder_memusage(z->filter);
	if (memory == UINT64_MAX)
		return zr_err_set(reterr, -EINVAL,
		                  "codec '%.64s': filters that do not go together", name);
	if (memory > ZR_MAX_LZMA_MEMORY)
		return lzma_fail(&z->base, LZMA_MEMLIMIT_ERROR, reterr);
	return 0;
}

int zr_codecs_add_lzma(struct zr_codecs *c, const char *name, enum zr_lzma_format format,
                       const struct zr_lzma_filter *filters, size_t nfilters,
                       struct zr_err *reterr)
{
	static const struct zr_codec_ops ops = {.decode = lzma_decode};
	struct codec_lzma *z;
	int r = 0;

	if (format != ZR_LZMA_XZ && format != ZR_LZMA_ALONE && format != ZR_LZMA_RAW)
		return zr_err_set(reterr, -EOPNOTSUPP, "codec '%.64s': format %d", name,
		                  (int)format);
	z = zr_codec_new(sizeof(*z), &ops, name);
	if (!z)
		return -ENOMEM;
	z->format = format;
	z->base.sums = format == ZR_LZMA_XZ;
	if (format == ZR_LZMA_RAW)
		r = lzma_set_filters(z, filters, nfilters, name, reterr);
	if (r < 0) {
		free(z->base.name);
		free(z);
		return r;
	}
	return zr_codec_add(c, &z->base);
}
