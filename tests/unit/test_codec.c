/* SPDX-License-Identifier: MIT */
/*
 * The chain itself, and what a codec must refuse. That each codec decodes what numcodecs
 * encodes is test_codec_vectors.c's business.
 */
#include "test.h"

#include <errno.h>
#include <pthread.h>

#include "codec.h"
#include "bounds.h"

#define UNKNOWN UINT64_MAX

static void codecs_freep(struct zr_codecs **c)
{
	zr_codecs_free(*c);
}

static struct zr_buf bytes(const void *p, size_t n)
{
	struct zr_buf b = {0};

	CHECK_INT(zr_buf_reserve(&b, n), 0);
	zr_buf_add(&b, p, n);
	return b;
}

/* A chain of one codec that needs no parameters. */
typedef int (*add_fn)(struct zr_codecs *c, const char *name);

static struct zr_codecs *chain(add_fn add)
{
	struct zr_codecs *c = zr_codecs_new();

	CHECK(c);
	if (add)
		CHECK_INT(add(c, "x"), 0);
	return c;
}

static void check_decodes(const struct zr_codecs *c, const void *p, size_t n,
                          const void *want, size_t want_len)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf out = {0};
	struct zr_buf in = bytes(p, n);

	CHECK_INT(zr_codecs_decode(c, &in, want_len, 0, &out, NULL), 0);
	CHECK_INT(out.len, want_len);
	CHECK(want_len == 0 || memcmp(out.data, want, want_len) == 0);
}

static void check_refused(const struct zr_codecs *c, const void *p, size_t n,
                          uint64_t exact, uint64_t max, int code, const char *text)
{
	struct zr_buf in = bytes(p, n), out = {0};
	struct zr_err err = {0};

	CHECK_INT(zr_codecs_decode(c, &in, exact, max, &out, &err), code);
	CHECK(out.data == NULL && in.data == NULL);
	CHECK_INT(err.code, code);
	if (!strstr(err.text, text))
		fprintf(stderr, "\"%s\" is not in \"%s\"\n", text, err.text);
	CHECK(strstr(err.text, text));
}

static void an_empty_chain_hands_the_bytes_through(void)
{
	ZR_CLEANUP(codecs_freep) struct zr_codecs *c = chain(NULL);
	ZR_CLEANUP(zr_buf_done) struct zr_buf out = {0};
	struct zr_buf in = bytes("abcd", 4);
	uint8_t *was = in.data;

	CHECK_INT(zr_codecs_count(c), 0);
	CHECK_INT(zr_codecs_decode(c, &in, 4, 4, &out, NULL), 0);
	CHECK(out.data == was && in.data == NULL);
	check_decodes(c, "abcd", 4, "abcd", 4);
	check_decodes(c, "", 0, "", 0);
	check_refused(c, "abcd", 4, 5, 5, -EUCLEAN, "4 bytes are stored in place of 5");
	check_refused(c, "abcd", 4, 3, 3, -EUCLEAN, "4 bytes are stored in place of 3");
	check_refused(c, "abcd", 4, UNKNOWN, 3, -EUCLEAN, "at most 3");
}

static void names_are_those_of_the_metadata(void)
{
	ZR_CLEANUP(codecs_freep) struct zr_codecs *c = zr_codecs_new();
	char name[] = "numcodecs.zstd";

	CHECK_INT(zr_codecs_add_nothing(c, "bitround"), 0);
	CHECK_INT(zr_codecs_add_zstd(c, name), 0);
	name[0] = '!';
	CHECK_INT(zr_codecs_count(c), 2);
	CHECK_STR(zr_codecs_name(c, 0), "bitround");
	CHECK_STR(zr_codecs_name(c, 1), "numcodecs.zstd");
	check_refused(c, "abcd", 4, 4, 4, -EUCLEAN, "codec 'numcodecs.zstd': ");
}

static void a_chain_has_a_longest_length(void)
{
	ZR_CLEANUP(codecs_freep) struct zr_codecs *c = zr_codecs_new();

	for (int i = 0; i < ZR_MAX_CODECS; i++)
		CHECK_INT(zr_codecs_add_zstd(c, "zstd"), 0);
	CHECK_INT(zr_codecs_add_zstd(c, "zstd"), -EOPNOTSUPP);
	CHECK_INT(zr_codecs_add_checksum(c, "crc", ZR_CRC32, true, 0, "abc", 3),
	          -EOPNOTSUPP);
	CHECK_INT(zr_codecs_count(c), ZR_MAX_CODECS);
}

/* From the table of vectors in the notes on the format. */
static void known_checksums_are_accepted(void)
{
	static const struct {
		enum zr_checksum kind;
		bool at_start;
		uint32_t initval;
		const char *data, *sum;
		size_t n;
	} row[] = {
		{ZR_CRC32, true, 0, "\0\1\2\3\4\5\6\7", "\x9f\x68\xaa\x88", 8},
		{ZR_ADLER32, true, 0, "\0\1\2\3\4\5\6\7", "\x1d\x00\x5c\x00", 8},
		{ZR_CRC32C, false, 0, "123456789", "\x83\x92\x06\xe3", 9},
		{ZR_CRC32C, false, 0, "\0\1\2\3\4\5\6\7", "\x3b\xbc\x2c\x8a", 8},
		{ZR_FLETCHER32, false, 0, "\0\1\2\3\4\5\6\7", "\x10\x0c\x1e\x14", 8},
		{ZR_FLETCHER32, false, 0, "\1\2\3\4\5", "\x06\x09\x0e\x0e", 5},
		{ZR_JENKINS_LOOKUP3, false, 0, "", "\xef\xbe\xad\xde", 0},
		{ZR_JENKINS_LOOKUP3, false, 0, "Four score and seven years ago",
	         "\x51\x05\x77\x17", 30},
		{ZR_JENKINS_LOOKUP3, false, 1, "Four score and seven years ago",
	         "\x61\x81\x62\xcd", 30},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		ZR_CLEANUP(codecs_freep) struct zr_codecs *c = zr_codecs_new();
		uint8_t stored[64];
		size_t n = row[i].n, at = row[i].at_start ? 0 : n;

		memcpy(stored + at, row[i].sum, 4);
		memcpy(stored + (row[i].at_start ? 4 : 0), row[i].data, n);
		CHECK_INT(zr_codecs_add_checksum(c, "sum", row[i].kind, row[i].at_start,
		                                 row[i].initval, NULL, 0),
		          0);
		check_decodes(c, stored, n + 4, row[i].data, n);
		stored[at + 3] ^= 1;
		check_refused(c, stored, n + 4, n, 0, -EUCLEAN, "checksum is ");
		check_refused(c, stored, 3, UNKNOWN, 100, -EUCLEAN, "is cut off");
	}
}

static const struct zr_numtype i1 = {.kind = 'i', .size = 1};
static const struct zr_numtype i4 = {.kind = 'i', .size = 4};
static const struct zr_numtype u1 = {.kind = 'u', .size = 1};
static const struct zr_numtype f8 = {.kind = 'f', .size = 8};
static const struct zr_numtype f8_big = {.kind = 'f', .size = 8, .big = true};

static void known_numbers_are_decoded(void)
{
	ZR_CLEANUP(codecs_freep) struct zr_codecs *delta = zr_codecs_new();
	ZR_CLEANUP(codecs_freep) struct zr_codecs *scale = zr_codecs_new();
	ZR_CLEANUP(codecs_freep) struct zr_codecs *bits = chain(zr_codecs_add_packbits);
	ZR_CLEANUP(codecs_freep) struct zr_codecs *lz4 = chain(zr_codecs_add_lz4);
	ZR_CLEANUP(codecs_freep) struct zr_codecs *shuffle = zr_codecs_new();

	CHECK_INT(zr_codecs_add_delta(delta, "delta", &i4, &i1, NULL), 0);
	check_decodes(delta, "\x0a\x02\xff\x09", 4,
	              "\x0a\0\0\0\x0c\0\0\0\x0b\0\0\0\x14\0\0\0", 16);
	/* 1000, 1000.5, 1002 */
	CHECK_INT(zr_codecs_add_fixedscaleoffset(scale, "fso", 1000, 10, &f8_big, &u1,
	                                         NULL),
	          0);
	check_decodes(
		scale, "\x00\x05\x14", 3,
		"\x40\x8f\x40\0\0\0\0\0\x40\x8f\x44\0\0\0\0\0\x40\x8f\x50\0\0\0\0\0", 24);
	check_decodes(bits, "\x06\x9c\xc0", 3, "\1\0\0\1\1\1\0\0\1\1", 10);
	check_decodes(lz4, "\x14\0\0\0\x1a\x61\x01\0\x50\x61\x61\x61\x61\x61", 14,
	              "aaaaaaaaaaaaaaaaaaaa", 20);
	CHECK_INT(zr_codecs_add_shuffle(shuffle, "shuffle", 4), 0);
	check_decodes(shuffle, "\0\4\1\5\2\6\3\7", 8, "\0\1\2\3\4\5\6\7", 8);
}

static void sizes_that_cannot_be_are_refused(void)
{
	ZR_CLEANUP(codecs_freep) struct zr_codecs *cast = zr_codecs_new();
	ZR_CLEANUP(codecs_freep) struct zr_codecs *shuffle = zr_codecs_new();
	ZR_CLEANUP(codecs_freep) struct zr_codecs *bits = chain(zr_codecs_add_packbits);
	ZR_CLEANUP(codecs_freep) struct zr_codecs *wide = zr_codecs_new();

	CHECK_INT(zr_codecs_add_cast(cast, "astype", &i1, &i4, NULL), 0);
	check_refused(cast, "abcdefg", 7, UNKNOWN, 100, -EUCLEAN, "no multiple");
	check_refused(cast, "abcdefgh", 8, UNKNOWN, 1, -EUCLEAN, "more than the 1");
	check_refused(cast, "abcdefgh", 8, 3, 3, -EUCLEAN,
	              "8 bytes are stored in place of 12");
	CHECK_INT(zr_codecs_add_shuffle(shuffle, "shuffle", UINT64_MAX), 0);
	check_refused(shuffle, "abcdefg", 7, 7, 7, -EUCLEAN, "no multiple");
	check_refused(bits, "\x08\x00", 2, UNKNOWN, 100, -EUCLEAN, "8 bits of padding");
	check_refused(bits, "\x01", 1, UNKNOWN, 100, -EUCLEAN, "1 bits of padding");
	check_refused(bits, "", 0, UNKNOWN, 100, -EUCLEAN, "is empty");

	/* Each step wants eight times what the next one decodes to. */
	for (int i = 0; i < ZR_MAX_CODECS; i++)
		CHECK_INT(zr_codecs_add_cast(wide, "astype", &i1, &f8, NULL), 0);
	check_refused(wide, "abcdefgh", 8, 1000, 1000, -EUCLEAN, "more than the 1056576");
	check_refused(wide, "abcdefgh", 8, UINT64_MAX - 1, 0, -EUCLEAN, "");
}

/* A codec of numbers may store more than it decodes to, whatever `max` says. */
static void a_large_chunk_may_be_stored_eight_times_as_large(void)
{
	ZR_CLEANUP(codecs_freep) struct zr_codecs *c = zr_codecs_new();
	ZR_CLEANUP(zr_buf_done) struct zr_buf out = {0};
	struct zr_buf in = {0};
	size_t n = 300000;

	CHECK_INT(zr_codecs_add_cast(c, "astype", &u1, &f8, NULL), 0);
	CHECK_INT(zr_buf_reserve(&in, 8 * n), 0);
	memset(in.data, 0, 8 * n);
	in.len = 8 * n;
	CHECK_INT(zr_codecs_decode(c, &in, n, 0, &out, NULL), 0);
	CHECK_INT(out.len, n);
}

static void what_follows_a_frame_is_not_ignored(void)
{
	/* "hi" each time, made with Python's zlib, gzip and bz2 */
	static const char zlib[] = "\x78\x9c\xcb\xc8\x04\x00\x01\x3b\x00\xd2";
	static const char gzip[] = "\x1f\x8b\x08\0\0\0\0\0\x02\xff\xcb\xc8\x04\0\xac\x2a"
				   "\x93\xd8\x02\0\0\0";
	static const char zstd[] = "\x28\xb5\x2f\xfd\x20\x02\x11\0\0hi";
	static const char lz4[] = "\x02\0\0\0\x20hi";
	static const struct {
		add_fn add;
		const char *frame;
		size_t n;
	} row[] = {
		{zr_codecs_add_zlib, zlib, sizeof(zlib) - 1},
		{zr_codecs_add_gzip, gzip, sizeof(gzip) - 1},
		{zr_codecs_add_zstd, zstd, sizeof(zstd) - 1},
		{zr_codecs_add_lz4, lz4, sizeof(lz4) - 1},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		ZR_CLEANUP(codecs_freep) struct zr_codecs *c = chain(row[i].add);
		char more[64] = {0};

		check_decodes(c, row[i].frame, row[i].n, "hi", 2);
		memcpy(more, row[i].frame, row[i].n);
		if (row[i].add == zr_codecs_add_zlib) {
			memcpy(more + row[i].n, row[i].frame, row[i].n);
			check_refused(c, more, 2 * row[i].n, 4, 4, -EUCLEAN,
			              "10 bytes follow the stream");
		}
		more[row[i].n] = 'x';
		check_refused(c, more, row[i].n + 1, 2, 2, -EUCLEAN, "codec 'x': ");
		check_refused(c, more, row[i].n + 20, UNKNOWN, 200, -EUCLEAN,
		              "codec 'x': ");
	}
}

static void bytes_behind_a_blosc_frame_are_ignored(void)
{
	static const char frame[] =
		"\x02\x01\x33\x01\x04\0\0\0\x04\0\0\0\x14\0\0\0abcdTAIL";
	ZR_CLEANUP(codecs_freep) struct zr_codecs *c = chain(zr_codecs_add_blosc);

	check_decodes(c, frame, 20, "abcd", 4);
	check_decodes(c, frame, 24, "abcd", 4);
	check_refused(c, frame, 19, 4, 4, -EUCLEAN, "is cut off: 19 of 20");
	check_refused(c, frame, 15, 4, 4, -EUCLEAN, "is cut off");
	check_refused(c, frame, 20, 5, 5, -EUCLEAN, "decodes to 4 bytes in place of 5");
}

static void an_empty_input_is_refused(void)
{
	static const add_fn add[] = {zr_codecs_add_zstd, zr_codecs_add_blosc,
	                             zr_codecs_add_gzip, zr_codecs_add_zlib,
	                             zr_codecs_add_lz4,  zr_codecs_add_bz2};

	for (size_t i = 0; i < ZR_COUNT(add); i++) {
		ZR_CLEANUP(codecs_freep) struct zr_codecs *c = chain(add[i]);
		struct zr_buf none = {0}, out = {0};

		check_refused(c, "", 0, 0, 0, -EUCLEAN, "codec 'x': ");
		CHECK_INT(zr_codecs_decode(c, &none, UNKNOWN, 10, &out, NULL), -EUCLEAN);
	}
}

/* Headers that claim 2^40 bytes, or as much as they can. Nothing is allocated for them:
 * the address space of a sanitizer's run would not mind, but the answer must be a size.
 */
static void a_claimed_size_is_not_believed(void)
{
	static const struct {
		add_fn add;
		const char *frame;
		size_t n;
	} row[] = {
		/* frame content size 2^40 in 8 bytes; one raw block of 1 byte */
		{zr_codecs_add_zstd, "\x28\xb5\x2f\xfd\xe0\0\0\0\0\0\x01\0\0\x09\0\0z",
	         17},
		{zr_codecs_add_blosc,
	         "\x02\x01\x33\x01\xef\xff\xff\x7f\x04\0\0\0\x14\0\0\0abcd", 20},
		{zr_codecs_add_lz4, "\xff\xff\xff\x7f\x10z", 6},
		{zr_codecs_add_lz4, "\xff\xff\xff\xff\x10z", 6},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		ZR_CLEANUP(codecs_freep) struct zr_codecs *c = chain(row[i].add);

		check_refused(c, row[i].frame, row[i].n, 1, 1, -EUCLEAN, "codec 'x': ");
		check_refused(c, row[i].frame, row[i].n, UNKNOWN, 1 << 20, -EUCLEAN,
		              "codec 'x': ");
	}
}

/* Frames that really are that long: 64 KiB of zeros in some bytes, as often as fits. */
static void a_bomb_stops_at_the_allowed_size(void)
{
	ZR_CLEANUP(codecs_freep) struct zr_codecs *c = chain(zr_codecs_add_zstd);
	ZR_CLEANUP(codecs_freep) struct zr_codecs *two = chain(zr_codecs_add_zstd);
	/* no content size, window 1 MiB, RLE blocks of 65536 bytes "z", not the last */
	uint8_t bomb[6 + 4 * 2000] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x50};

	CHECK_INT(zr_codecs_add_zstd(two, "second"), 0);
	for (size_t at = 6; at < sizeof(bomb); at += 4)
		memcpy(bomb + at, "\x02\0\x08z", 4);
	bomb[sizeof(bomb) - 4] = 3; /* the last */
	check_refused(c, bomb, sizeof(bomb), 100000, 100000, -EUCLEAN, "codec 'x': ");
	check_refused(c, bomb, sizeof(bomb), UNKNOWN, 100000, -EUCLEAN,
	              "decodes to more than 100000 bytes");
	/* between two codecs 2 * 10 + 1 MiB are allowed */
	check_refused(two, bomb, sizeof(bomb), 10, 0, -EUCLEAN,
	              "codec 'second': decodes to more than 1048596 bytes");
}

/* The library would add these up to a negative length and write before the buffer. */
static void a_blosc_match_of_2_gib_is_refused(void)
{
	ZR_CLEANUP(codecs_freep) struct zr_codecs *c = chain(zr_codecs_add_blosc);
	uint32_t nbytes = 16 << 20, run = 8421520, n = run + 14, cbytes = 24 + n;
	struct zr_buf in = {0}, out = {0};
	uint8_t *p;

	CHECK_INT(zr_buf_reserve(&in, cbytes), 0);
	p = in.data;
	memcpy(p, "\x02\x01\x10\x01", 4);
	zr_store_uint(p + 4, nbytes, 4, false);
	zr_store_uint(p + 8, nbytes, 4, false);
	zr_store_uint(p + 12, cbytes, 4, false);
	zr_store_uint(p + 16, 20, 4, false);
	zr_store_uint(p + 20, n, 4, false);
	memcpy(p + 24, "\x01zz\xe0", 4);
	memset(p + 28, 0xff, run);
	memset(p + 28 + run, 0, n - 4 - run);
	in.len = cbytes;
	CHECK_INT(zr_codecs_decode(c, &in, nbytes, nbytes, &out, NULL), -EUCLEAN);
}

static void types_of_numbers_are_parsed(void)
{
	static const struct {
		const char *s;
		struct zr_numtype want;
	} good[] = {
		{"<f4", {'f', 4, false}},     {">i2", {'i', 2, true}},
		{"|u1", {'u', 1, false}},     {"|b1", {'b', 1, false}},
		{"?", {'b', 1, false}},       {"<f2", {'f', 2, false}},
		{"u8", {'u', 8, false}},      {"=i4", {'i', 4, false}},
		{"bool", {'b', 1, false}},    {"int64", {'i', 8, false}},
		{"float32", {'f', 4, false}},
	};
	static const struct {
		const char *s;
		int code;
	} bad[] = {
		{"", -EINVAL},
		{"<", -EINVAL},
		{"<x4", -EINVAL},
		{"4", -EINVAL},
		{"int", -EOPNOTSUPP},
		{"<f16", -EOPNOTSUPP},
		{"<c8", -EOPNOTSUPP},
		{"<M8[s]", -EOPNOTSUPP},
		{"|O", -EOPNOTSUPP},
		{"<i3", -EOPNOTSUPP},
		{"<i99999999999", -EOPNOTSUPP},
		{"<f1", -EOPNOTSUPP},
		{"|b2", -EOPNOTSUPP},
		{"<i4 ", -EOPNOTSUPP},
		{"<U5", -EOPNOTSUPP},
		{"<<i4", -EINVAL},
	};

	for (size_t i = 0; i < ZR_COUNT(good); i++) {
		struct zr_numtype t = {0};

		CHECK_INT(zr_numtype_parse(good[i].s, &t, NULL), 0);
		CHECK_INT(t.kind, good[i].want.kind);
		CHECK_INT(t.size, good[i].want.size);
		CHECK_INT(t.big, good[i].want.big);
	}
	for (size_t i = 0; i < ZR_COUNT(bad); i++) {
		struct zr_numtype t = {'q', 77, false};
		struct zr_err err = {0};

		CHECK_INT(zr_numtype_parse(bad[i].s, &t, &err), bad[i].code);
		CHECK(t.kind == 'q' && t.size == 77 && strchr(err.text, '\''));
	}
}

static void parameters_that_make_no_sense_are_refused(void)
{
	ZR_CLEANUP(codecs_freep) struct zr_codecs *c = zr_codecs_new();
	static const struct zr_numtype b1 = {'b', 1, false}, c8 = {'c', 8, false};
	static const struct {
		struct zr_lzma_filter f[2];
		size_t n;
		int code;
	} row[] = {
		{{{.id = 0}}, 0, -EINVAL},
		{{{.id = 0x21}}, 5, -EINVAL},
		{{{.id = 0x7777}}, 1, -EOPNOTSUPP},
		{{{.id = 0x21, .preset = 10}}, 1, -EINVAL},
		{{{.id = 0x21, .dict_size = 1 << 30}}, 1, -EOPNOTSUPP},
		{{{.id = 0x4000000000000001, .lc = 9, .has_lclppb = true}}, 1, -EINVAL},
		{{{.id = 3, .dist = 1}}, 1, -EINVAL}, /* delta may not be the last */
		{{{.id = 3, .dist = 0}, {.id = 0x21}}, 2, -EINVAL},
		{{{.id = 0x21}, {.id = 0x21}}, 2, -EINVAL},
	};
	struct zr_err err = {0};

	CHECK_INT(zr_codecs_add_delta(c, "d", &b1, &b1, &err), -EOPNOTSUPP);
	CHECK(strstr(err.text, "codec 'd': "));
	CHECK_INT(zr_codecs_add_cast(c, "a", &c8, &i4, NULL), -EOPNOTSUPP);
	CHECK_INT(zr_codecs_add_cast(c, "a", &i4, &c8, NULL), -EOPNOTSUPP);
	CHECK_INT(zr_codecs_add_fixedscaleoffset(c, "f", 0, 0, &f8, &u1, NULL), -EINVAL);
	CHECK_INT(zr_codecs_add_lzma(c, "l", (enum zr_lzma_format)4, NULL, 0, NULL),
	          -EOPNOTSUPP);
	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_err e = {0};

		CHECK_INT(zr_codecs_add_lzma(c, "lzma", ZR_LZMA_RAW, row[i].f, row[i].n,
		                             &e),
		          row[i].code);
		CHECK(strstr(e.text, "codec 'lzma': "));
	}
	CHECK_INT(zr_codecs_count(c), 0);
}

/* A .lzma header that asks for a dictionary of 4 GiB. */
static void lzma_memory_is_limited(void)
{
	ZR_CLEANUP(codecs_freep) struct zr_codecs *c = zr_codecs_new();

	CHECK_INT(zr_codecs_add_lzma(c, "lzma", ZR_LZMA_ALONE, NULL, 0, NULL), 0);
	check_refused(c, "\x5d\0\0\0\xc0\x0a\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20, 10, 10,
	              -EOPNOTSUPP, "256 MiB");
}

static void *decode_often(void *arg)
{
	static const char stored[] = "\x28\xb5\x2f\xfd\x20\x02\x11\0\0hi\xfc\x92\xa9\xf1";
	const struct zr_codecs *c = arg;

	for (int i = 0; i < 200; i++) {
		check_decodes(c, stored, 15, "hi", 2);
		check_refused(c, stored, 14, 2, 2, -EUCLEAN, "");
	}
	return NULL;
}

static void one_chain_decodes_in_many_threads(void)
{
	ZR_CLEANUP(codecs_freep) struct zr_codecs *c = chain(zr_codecs_add_zstd);
	pthread_t t[6];

	CHECK_INT(zr_codecs_add_checksum(c, "crc32c", ZR_CRC32C, false, 0, NULL, 0), 0);
	for (size_t i = 0; i < ZR_COUNT(t); i++)
		CHECK_INT(pthread_create(&t[i], NULL, decode_often, c), 0);
	for (size_t i = 0; i < ZR_COUNT(t); i++)
		CHECK_INT(pthread_join(t[i], NULL), 0);
}

int main(void)
{
	RUN(an_empty_chain_hands_the_bytes_through);
	RUN(names_are_those_of_the_metadata);
	RUN(a_chain_has_a_longest_length);
	RUN(known_checksums_are_accepted);
	RUN(known_numbers_are_decoded);
	RUN(sizes_that_cannot_be_are_refused);
	RUN(a_large_chunk_may_be_stored_eight_times_as_large);
	RUN(what_follows_a_frame_is_not_ignored);
	RUN(bytes_behind_a_blosc_frame_are_ignored);
	RUN(an_empty_input_is_refused);
	RUN(a_claimed_size_is_not_believed);
	RUN(a_bomb_stops_at_the_allowed_size);
	RUN(a_blosc_match_of_2_gib_is_refused);
	RUN(types_of_numbers_are_parsed);
	RUN(parameters_that_make_no_sense_are_refused);
	RUN(lzma_memory_is_limited);
	RUN(one_chain_decodes_in_many_threads);
	return EXIT_SUCCESS;
}
