/* SPDX-License-Identifier: MIT */
#include "codec.h"

#include <errno.h>

#include "test.h"

static const struct zr_label labels[] = {
	{"a", 1}, {"\xc3\xa9\xf0\x9f\x98\x80", 6}, {"long", 4}};

static void codecs_freep(struct zr_codecs **c)
{
	zr_codecs_free(*c);
}

static struct zr_codecs *chain(char kind, unsigned int size, bool big,
                               uint64_t utf32_size, bool texts_big)
{
	struct zr_numtype code = {.kind = kind, .size = size, .big = big};
	struct zr_codecs *c = zr_codecs_new();

	CHECK(c);
	CHECK_INT(zr_codecs_add_categorize(c, "categorize", &code, labels,
	                                   ZR_COUNT(labels), utf32_size, texts_big),
	          0);
	return c;
}

static int decode(struct zr_codecs *c, const void *codes, size_t n, uint64_t exact,
                  uint64_t max, struct zr_buf *ret, struct zr_err *err)
{
	struct zr_buf in = {0};

	zr_buf_add(&in, codes, n);
	return zr_codecs_decode(c, &in, exact, max, ret, err);
}

static void check(struct zr_codecs *own_c, const void *codes, size_t n, uint64_t exact,
                  const void *want, size_t want_len)
{
	ZR_CLEANUP(codecs_freep) struct zr_codecs *c = own_c;
	ZR_CLEANUP(zr_buf_done) struct zr_buf out = {0};
	struct zr_err err = {0};

	CHECK_INT(decode(c, codes, n, exact, 1000, &out, &err), 0);
	CHECK_MEM(out.data, out.len, want, want_len);
}

/* As numcodecs.Categorize(...).decode() gives them. */
static void codes_become_texts_of_a_fixed_size(void)
{
	check(chain('u', 1, false, 8, false), "\2\0\1\3\4\377", 6, 48,
	      "\xe9\0\0\0\0\xf6\1\0\0\0\0\0\0\0\0\0a\0\0\0\0\0\0\0l\0\0\0o\0\0\0"
	      "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
	      48);
	check(chain('u', 2, false, 8, true), "\2\0\0\1\3\0", 6, 24,
	      "\0\0\0\xe9\0\1\xf6\0\0\0\0\0\0\0\0\0\0\0\0l\0\0\0o", 24);
	check(chain('i', 2, true, 8, false), "\0\2\377\377\0\1", 6, 24,
	      "\xe9\0\0\0\0\xf6\1\0\0\0\0\0\0\0\0\0a\0\0\0\0\0\0\0", 24);
}

static void codes_become_counted_texts(void)
{
	check(chain('u', 1, false, 0, false), "\2\0\3\4", 4, UINT64_MAX,
	      "\4\0\0\0\6\0\0\0\xc3\xa9\xf0\x9f\x98\x80\0\0\0\0\4\0\0\0long\0\0\0\0", 30);
	check(chain('u', 1, false, 0, false), "", 0, UINT64_MAX, "\0\0\0\0", 4);
}

/* Likewise, of 200 labels: -56 is not the 200th. */
static void codes_below_0_have_no_label(void)
{
	struct zr_label many[200];
	struct zr_numtype code = {.kind = 'i', .size = 1};
	struct zr_codecs *c = zr_codecs_new();

	CHECK(c);
	for (size_t i = 0; i < ZR_COUNT(many); i++)
		many[i] = (struct zr_label){"x", 1};
	CHECK_INT(zr_codecs_add_categorize(c, "x", &code, many, ZR_COUNT(many), 4, false),
	          0);
	check(c, "\177\200\310\377\1", 5, 20, "x\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0x\0\0", 20);
}

static void what_is_too_much_or_torn_is_refused(void)
{
	ZR_CLEANUP(codecs_freep) struct zr_codecs *c = chain('u', 2, false, 0, false);
	struct zr_numtype code = {.kind = 'u', .size = 1};
	struct zr_err err = {0};
	struct zr_buf out = {0};

	CHECK_INT(decode(c, "\1\0\2", 3, UINT64_MAX, 100, &out, &err), -EUCLEAN);
	CHECK_STR(err.text, "codec 'categorize': 3 bytes are no whole codes of 2 bytes");
	CHECK_INT(decode(c, "\3\0\3\0", 4, UINT64_MAX, 19, &out, NULL), -EUCLEAN);
	CHECK_INT(decode(c, "\3\0\3\0", 4, UINT64_MAX, 20, &out, NULL), 0);
	zr_buf_done(&out);
	CHECK_INT(zr_codecs_add_categorize(c, "x", &code, labels, ZR_COUNT(labels),
	                                   (uint64_t)1 << 62, false),
	          -EOPNOTSUPP);
	CHECK_INT(zr_codecs_add_categorize(c, "x", &code, labels, ZR_COUNT(labels),
	                                   (16 << 20) + 4, false),
	          -EOPNOTSUPP);
	CHECK_INT(zr_codecs_count(c), 1);
}

int main(void)
{
	RUN(codes_become_texts_of_a_fixed_size);
	RUN(codes_become_counted_texts);
	RUN(codes_below_0_have_no_label);
	RUN(what_is_too_much_or_torn_is_refused);
	return EXIT_SUCCESS;
}
