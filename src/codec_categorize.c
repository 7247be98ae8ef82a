/* SPDX-License-Identifier: MIT */
/*
 * numcodecs' categorize: integers that stand for texts. Code k is the kth label; 0, and
 * whatever has no label, as no number below 0 has, is the empty text. What is written for
 * each code is laid out when the codec is made, so that decoding only copies.
 */
#include "codec_impl.h"

#include "utf8.h"

/* Bytes of texts of a fixed size, all labels together. */
#define MAX_ENTRIES ((uint64_t)64 << 20)

struct categorize {
	struct zr_codec base;
	struct zr_numtype code;
	bool counted; /* the number of texts stands in front of them */
	size_t count; /* entries: the empty text, then the labels */
	size_t *at;   /* owned, count + 1: where they are in `entries` */
	struct zr_buf entries;
};

/* As many code units as there is room for, the rest zero: as NumPy assigns a text. */
static void add_utf32(struct zr_buf *b, const struct zr_label *label, uint64_t size,
                      bool big)
{
	const uint8_t *p = (const uint8_t *)label->data;
	uint64_t put = 0;

	for (size_t at = 0; at < label->len && size - put >= 4; put += 4) {
		uint8_t unit[4];
		uint32_t cp = 0xfffd;
		unsigned int n = zr_utf8_decode(p + at, label->len - at, &cp);

		zr_store_uint(unit, cp, 4, big);
		zr_buf_add(b, unit, 4);
		/* What is no scalar (a lone surrogate) takes three bytes. */
		at += n ? n : ZR_MIN((size_t)3, label->len - at);
	}
	for (; put < size; put++)
		zr_buf_addc(b, '\0');
}

static void add_counted(struct zr_buf *b, const struct zr_label *label)
{
	uint8_t len[4];

	zr_store_uint(len, label->len, 4, false);
	zr_buf_add(b, len, 4);
	zr_buf_add(b, label->data, label->len);
}

static const size_t *entry_of(const struct categorize *c, const uint8_t *code)
{
	uint64_t k = zr_load_uint(code, c->code.size, c->code.big);
	bool negative = c->code.kind == 'i' && k >> (8 * c->code.size - 1) != 0;

	return c->at + (k < c->count && !negative ? k : 0);
}

static int categorize_decode(struct zr_codec *codec, struct zr_buf *in,
                             const struct zr_want *want, struct zr_buf *ret,
                             struct zr_err *reterr)
{
	const struct categorize *c = (const struct categorize *)codec;
	unsigned int size = c->code.size;
	uint64_t n = in->len / size, len = c->counted ? 4 : 0;
	uint8_t *out;
	int r;

	if (in->len % size != 0 || n > UINT32_MAX)
		return zr_codec_fail(codec, reterr, -EUCLEAN,
		                     "%zu bytes are no whole codes of %u bytes", in->len,
		                     size);
	/* Below 2^32 entries, each part of a document: no overflow. */
	for (uint64_t i = 0; i < n; i++) {
		const size_t *e = entry_of(c, in->data + i * size);

		len += e[1] - e[0];
	}
	r = zr_codec_room(codec, len, want, ret, reterr);
	if (r < 0)
		return r;
	out = ret->data;
	if (c->counted) {
		zr_store_uint(out, n, 4, false);
		out += 4;
	}
	for (uint64_t i = 0; i < n; i++) {
		const size_t *e = entry_of(c, in->data + i * size);

		memcpy(out, c->entries.data + e[0], e[1] - e[0]);
		out += e[1] - e[0];
	}
	return 0;
}

static uint64_t categorize_encoded_size(const struct zr_codec *codec, uint64_t decoded)
{
	const struct categorize *c = (const struct categorize *)codec;
	size_t each = c->at[1];

	return c->counted ? ZR_SIZE_UNKNOWN : decoded / each * c->code.size;
}

static void categorize_done(struct zr_codec *codec)
{
	struct categorize *c = (struct categorize *)codec;

	free(c->at);
	zr_buf_done(&c->entries);
}

int zr_codecs_add_categorize(struct zr_codecs *chain, const char *name,
                             const struct zr_numtype *code, const struct zr_label *labels,
                             size_t n, uint64_t utf32_size, bool big)
{
	static const struct zr_codec_ops ops = {.decode = categorize_decode,
	                                        .encoded_size = categorize_encoded_size,
	                                        .done = categorize_done};
	static const struct zr_label empty = {"", 0};
	struct categorize *c;
	uint64_t bytes;

	if (!zr_mul(n + 1, utf32_size, &bytes) || bytes > MAX_ENTRIES)
		return -EOPNOTSUPP;
	c = zr_codec_new(sizeof(*c), &ops, name);
	if (!c)
		return -ENOMEM;
	c->code = *code;
	c->counted = utf32_size == 0;
	c->count = n + 1;
	c->at = calloc(n + 2, sizeof(*c->at));
	for (size_t i = 0; c->at && i <= n; i++) {
		const struct zr_label *label = i ? &labels[i - 1] : &empty;

		if (c->counted)
			add_counted(&c->entries, label);
		else
			add_utf32(&c->entries, label, utf32_size, big);
		c->at[i + 1] = c->entries.len;
	}
	if (!c->at || zr_buf_check(&c->entries) < 0) {
		categorize_done(&c->base);
		free(c->base.name);
		free(c);
		return -ENOMEM;
	}
	return zr_codec_add(chain, &c->base);
}
