/* SPDX-License-Identifier: MIT */
/*
 * Every line of data/codec/vectors.txt (see make.py there, which describes it): decoded
 * to the right bytes, and then shortened, lengthened, cut off and flipped.
 */
#include "test.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>

#include "codec.h"

#define VECTORS "tests/unit/data/codec/vectors.txt"
#define FIELDS_MAX 8

struct bytes {
	uint8_t *data;
	size_t len;
};

struct named {
	char *name;
	struct bytes bytes;
};

struct sample {
	char seal[8];
	char *chain;
	const struct bytes *want; /* of a struct named */
	struct bytes stored;
};

static struct named data[1000];
static struct sample samples[1000];
static size_t ndata, nsamples;

static struct bytes from_hex(const char *s)
{
	struct bytes b = {.data = malloc(strlen(s) / 2 + 1)};
	unsigned int v;

	CHECK(b.data);
	for (; isxdigit((unsigned char)s[0]); s += 2) {
		CHECK_INT(sscanf(s, "%2x", &v), 1);
		b.data[b.len++] = (uint8_t)v;
	}
	return b;
}

static const struct bytes *find_data(const char *name)
{
	for (size_t i = 0; i < ndata; i++)
		if (strcmp(data[i].name, name) == 0)
			return &data[i].bytes;
	CHECK(!"data of this name");
	return NULL;
}

static void read_vectors(void)
{
	char *line = NULL, *f[5];
	size_t cap = 0;
	FILE *in = fopen(VECTORS, "r");

	CHECK(in);
	while (getline(&line, &cap, in) > 0) {
		size_t n = 0;

		for (char *s = strtok(line, " \n"); s && n < 5; s = strtok(NULL, " \n"))
			f[n++] = s;
		if (strcmp(f[0], "data") == 0) {
			CHECK(n == 3 && ndata < ZR_COUNT(data));
			data[ndata].name = strdup(f[1]);
			data[ndata++].bytes = from_hex(f[2]);
		} else {
			CHECK(n == 5 && nsamples < ZR_COUNT(samples));
			snprintf(samples[nsamples].seal, 8, "%s", f[1]);
			samples[nsamples].chain = strdup(f[2]);
			samples[nsamples].want = find_data(f[3]);
			samples[nsamples++].stored = from_hex(f[4]);
		}
	}
	free(line);
	fclose(in);
}

static void forget_vectors(void)
{
	for (size_t i = 0; i < ndata; i++) {
		free(data[i].name);
		free(data[i].bytes.data);
	}
	for (size_t i = 0; i < nsamples; i++) {
		free(samples[i].chain);
		free(samples[i].stored.data);
	}
}

/* "33,dict=4096,lc=1": a filter and its options. */
static struct zr_lzma_filter parse_filter(char *s)
{
	struct zr_lzma_filter f = {.preset = 6};
	char *save = NULL;

	f.id = strtoull(s, NULL, 10);
	strtok_r(s, ",", &save);
	while ((s = strtok_r(NULL, ",", &save))) {
		char *eq = strchr(s, '=');
		uint32_t v = (uint32_t)strtoul(eq + 1, NULL, 10);

		*eq = '\0';
		f.dist = strcmp(s, "dist") == 0 ? v : f.dist;
		f.preset = strcmp(s, "preset") == 0 ? v : f.preset;
		f.dict_size = strcmp(s, "dict") == 0 ? v : f.dict_size;
		f.lc = strcmp(s, "lc") == 0 ? v : f.lc;
		f.lp = strcmp(s, "lp") == 0 ? v : f.lp;
		f.pb = strcmp(s, "pb") == 0 ? v : f.pb;
		f.has_lclppb = f.has_lclppb || strcmp(s, "lc") == 0;
	}
	return f;
}

static int add_lzma(struct zr_codecs *c, char **f, size_t n)
{
	struct zr_lzma_filter filter[4];

	for (size_t i = 2; i < n; i++)
		filter[i - 2] = parse_filter(f[i]);
	return zr_codecs_add_lzma(c, "lzma", (enum zr_lzma_format)atoi(f[1]), filter,
	                          n > 2 ? n - 2 : 0, NULL);
}

static int add_checksum(struct zr_codecs *c, char **f, size_t n)
{
	static const char *const kind[] = {"crc32", "crc32c", "adler32", "fletcher32",
	                                   "jenkins"};
	struct bytes prefix = from_hex(n > 4 ? f[4] : "");
	size_t k = 0;
	int r;

	while (strcmp(kind[k], f[1]) != 0)
		k++;
	r = zr_codecs_add_checksum(
		c, f[1], (enum zr_checksum)k, strcmp(f[2], "start") == 0,
		n > 3 ? (uint32_t)atoi(f[3]) : 0, prefix.data, prefix.len);
	free(prefix.data);
	return r;
}

/* cast, delta, scale: the last two fields are the types. */
static int add_numeric(struct zr_codecs *c, char **f, size_t n)
{
	struct zr_numtype decoded, stored;

	CHECK_INT(zr_numtype_parse(f[n - 2], &decoded, NULL), 0);
	CHECK_INT(zr_numtype_parse(f[n - 1], &stored, NULL), 0);
	if (strcmp(f[0], "cast") == 0)
		return zr_codecs_add_cast(c, f[0], &decoded, &stored, NULL);
	if (strcmp(f[0], "delta") == 0)
		return zr_codecs_add_delta(c, f[0], &decoded, &stored, NULL);
	return zr_codecs_add_fixedscaleoffset(
		c, f[0], strtod(f[1], NULL), strtod(f[2], NULL), &decoded, &stored, NULL);
}

static int add_codec(struct zr_codecs *c, char *spec)
{
	static const struct {
		const char *name;
		int (*add)(struct zr_codecs *c, const char *name);
	} plain[] = {
		{"zstd", zr_codecs_add_zstd},       {"blosc", zr_codecs_add_blosc},
		{"gzip", zr_codecs_add_gzip},       {"zlib", zr_codecs_add_zlib},
		{"lz4", zr_codecs_add_lz4},         {"bz2", zr_codecs_add_bz2},
		{"base64", zr_codecs_add_base64},   {"packbits", zr_codecs_add_packbits},
		{"nothing", zr_codecs_add_nothing},
	};
	char *f[FIELDS_MAX], *save = NULL;
	size_t n = 0;

	for (char *s = strtok_r(spec, ":", &save); s; s = strtok_r(NULL, ":", &save))
		f[n++] = s;
	for (size_t i = 0; i < ZR_COUNT(plain); i++)
		if (strcmp(f[0], plain[i].name) == 0)
			return plain[i].add(c, f[0]);
	if (strcmp(f[0], "lzma") == 0)
		return add_lzma(c, f, n);
	if (strcmp(f[0], "checksum") == 0)
		return add_checksum(c, f, n);
	if (strcmp(f[0], "shuffle") == 0)
		return zr_codecs_add_shuffle(c, f[0], strtoull(f[1], NULL, 10));
	return add_numeric(c, f, n);
}

static struct zr_codecs *build(const char *chain)
{
	struct zr_codecs *c = zr_codecs_new();
	char *copy = strdup(chain), *save = NULL;

	for (char *s = strtok_r(copy, "/", &save); s; s = strtok_r(NULL, "/", &save))
		CHECK_INT(add_codec(c, s), 0);
	free(copy);
	return c;
}

static void codecs_freep(struct zr_codecs **c)
{
	zr_codecs_free(*c);
}

/* In a block of exactly the size, so that a sanitizer sees a read beyond. */
static int decode(const struct zr_codecs *c, const uint8_t *p, size_t n, uint64_t exact,
                  uint64_t max, struct zr_buf *out)
{
	struct zr_buf in = {.data = malloc(n ? n : 1), .len = n, .cap = n};
	int r;

	CHECK(in.data);
	memcpy(in.data, p, n);
	r = zr_codecs_decode(c, &in, exact, max, out, NULL);
	CHECK(in.data == NULL);
	if (r < 0)
		CHECK(out->data == NULL);
	return r;
}

static void check_same(const struct sample *s, const struct zr_buf *out)
{
	if (out->len == s->want->len && memcmp(out->data, s->want->data, out->len) == 0)
		return;
	fprintf(stderr, "%s line with chain %s:\n got", VECTORS, s->chain);
	for (size_t i = 0; i < out->len; i++)
		fprintf(stderr, " %02x", out->data[i]);
	fprintf(stderr, "\nwant");
	for (size_t i = 0; i < s->want->len; i++)
		fprintf(stderr, " %02x", s->want->data[i]);
	fprintf(stderr, "\n");
	CHECK(!"the same bytes");
}

static void every_vector_decodes(void)
{
	for (size_t i = 0; i < nsamples; i++) {
		const struct sample *s = &samples[i];
		ZR_CLEANUP(codecs_freep) struct zr_codecs *c = build(s->chain);
		size_t n = s->want->len;
		const uint64_t sizes[][2] = {
			{n, n}, {n, 0}, {UINT64_MAX, n}, {UINT64_MAX, 9000}};

		for (size_t k = 0; k < ZR_COUNT(sizes); k++) {
			ZR_CLEANUP(zr_buf_done) struct zr_buf out = {0};
			int r = decode(c, s->stored.data, s->stored.len, sizes[k][0],
			               sizes[k][1], &out);

			if (r < 0)
				fprintf(stderr, "%s\n", s->chain);
			CHECK_INT(r, 0);
			check_same(s, &out);
		}
	}
}

static void another_size_is_refused(void)
{
	for (size_t i = 0; i < nsamples; i++) {
		const struct sample *s = &samples[i];
		ZR_CLEANUP(codecs_freep) struct zr_codecs *c = build(s->chain);
		size_t n = s->want->len;
		const uint64_t sizes[][2] = {{n + 1, n + 1},
		                             {n - 1, n - 1},
		                             {UINT64_MAX, n - 1},
		                             {2 * n + 1, 9000}};

		for (size_t k = 0; k < ZR_COUNT(sizes); k++) {
			struct zr_buf out = {0};

			if (n == 0 && (k == 1 || k == 2))
				continue;
			CHECK_INT(decode(c, s->stored.data, s->stored.len, sizes[k][0],
			                 sizes[k][1], &out),
			          -EUCLEAN);
		}
	}
}

/* How many places of a sample to damage. The decoders of bz2 and lzma need so much memory
 * that a sanitizer takes 100 times as long as the others. */
static size_t places(const struct sample *s)
{
	return strstr(s->chain, "bz2") || strstr(s->chain, "lzma") ? 40 : 160;
}

/* Whether losing the end may go unnoticed when the size is not known beforehand. */
static bool is_cut_visible(const struct sample *s)
{
	return s->want->len > 0 && !strstr(s->chain, "packbits");
}

static void a_truncated_input_is_refused(void)
{
	for (size_t i = 0; i < nsamples; i++) {
		const struct sample *s = &samples[i];
		ZR_CLEANUP(codecs_freep) struct zr_codecs *c = build(s->chain);
		size_t step = 1 + s->stored.len / places(s);

		for (size_t n = 0; n < s->stored.len; n += step) {
			ZR_CLEANUP(zr_buf_done) struct zr_buf out = {0};
			int r = decode(c, s->stored.data, n, s->want->len, 0, &out);

			/* Padding and empty frames at the end may go. */
			if (r == 0 && strcmp(s->seal, "strict") != 0)
				check_same(s, &out);
			else
				CHECK_INT(r, -EUCLEAN);
			if (r == 0)
				CHECK(!is_cut_visible(s) || n + 12 > s->stored.len);
			zr_buf_done(&out);
			r = decode(c, s->stored.data, n, UINT64_MAX, 5000, &out);
			CHECK(r == 0 || r == -EUCLEAN);
		}
	}
}

static void flip(struct sample *s, const struct zr_codecs *c, size_t bit)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf out = {0};
	int r;

	s->stored.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	r = decode(c, s->stored.data, s->stored.len, s->want->len, 0, &out);
	if (r == 0 && strcmp(s->seal, "loose") == 0) {
		CHECK_INT(out.len, s->want->len);
	} else if (r == 0 && strcmp(s->seal, "sealed") == 0) {
		check_same(s, &out);
	} else {
		CHECK(r == -EUCLEAN || r == -EOPNOTSUPP);
	}
	zr_buf_done(&out);
	r = decode(c, s->stored.data, s->stored.len, UINT64_MAX, 5000, &out);
	CHECK(r == 0 || r == -EUCLEAN || r == -EOPNOTSUPP);
	CHECK(out.len <= 5000);
	s->stored.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
}

/* Every bit of what is short and of every header, and as many again of the rest. */
static void a_flipped_bit_is_survived(void)
{
	for (size_t i = 0; i < nsamples; i++) {
		ZR_CLEANUP(codecs_freep) struct zr_codecs *c = build(samples[i].chain);
		size_t bits = 8 * samples[i].stored.len;
		size_t every = places(&samples[i]);

		if (strchr(samples[i].chain, '<'))
			continue; /* elements: any bits are some value */
		for (size_t bit = 0; bit < bits;
		     bit += bit < every ? 1 : 1 + bits / every)
			flip(&samples[i], c, bit);
	}
}

int main(void)
{
	read_vectors();
	CHECK(nsamples > 700);
	RUN(every_vector_decodes);
	RUN(another_size_is_refused);
	RUN(a_truncated_input_is_refused);
	RUN(a_flipped_bit_is_survived);
	forget_vectors();
	return EXIT_SUCCESS;
}
