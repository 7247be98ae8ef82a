/* SPDX-License-Identifier: MIT */
#include "npy.h"

#include "meta_doc.h"

#define CASES "tests/unit/data/npy_cases.txt"

/* The longest name that NumPy writes a header of version 1 for, and how long the header
 * of the next one is. */
#define LAST_OF_1 65439
#define LEN_OF_2 65600

/* The header of a leaf, or of the records (-1), of a v2 array. */
static struct zr_buf header_of(const struct zr_array *a, int leaf)
{
	struct zr_layout l;
	struct zr_buf b = {0};

	CHECK_INT(zr_layout_build(&a->type, &l), 0);
	CHECK(leaf < (int)l.nleaves);
	if (leaf < 0)
		CHECK_INT(zr_npy_records(a, &b), 0);
	else
		CHECK_INT(zr_npy_leaf(a, &l.leaves[leaf], &b), 0);
	zr_layout_done(&l);
	return b;
}

/* Chunks of one record each. */
static struct zr_buf header_v2(const char *dtype, const char *shape, int leaf)
{
	static const char *const chunks[] = {"[]", "[1]", "[1,1]", "[1,1,1]",
	                                     "[1,1,1,1]"};
	int ndim = shape[1] != ']';
	struct zr_meta m;
	struct zr_buf b;

	for (const char *s = shape; *s; s++)
		ndim += *s == ',';
	CHECK(ndim <= 4);
	m = parse_v2(
		(struct doc_v2){.dtype = dtype, .shape = shape, .chunks = chunks[ndim]});

	CHECK_STR(m.why.text, "");
	b = header_of(m.array, leaf);
	zr_meta_done(&m);
	return b;
}

/* Version, lengths and padding are as they must be, and between them stands `dict`. */
static void check_header(const struct zr_buf *b, uint8_t version, size_t len,
                         const char *dict, size_t dict_len)
{
	size_t width = version == 1 ? 2 : 4, at = 8 + width;

	CHECK_INT(b->len, len);
	CHECK(memcmp(b->data, "\x93NUMPY", 6) == 0);
	CHECK_INT(b->data[6], version);
	CHECK_INT(b->data[7], 0);
	CHECK_INT(zr_load_uint(b->data + 8, (unsigned int)width, false), len - at);
	CHECK(at + dict_len < len);
	CHECK_MEM(b->data + at, dict_len, dict, dict_len);
	for (at += dict_len; at < len - 1; at++)
		CHECK_INT(b->data[at], ' ');
	CHECK_INT(b->data[at], '\n');
}

static size_t from_hex(char *s)
{
	size_t n = strcspn(s, "\n") / 2;

	for (size_t i = 0; i < n; i++) {
		unsigned int byte;

		CHECK(sscanf(s + 2 * i, "%2x", &byte) == 1);
		s[i] = (char)byte;
	}
	return n;
}

/* UTF-8 of characters below U+0100, in place. */
static size_t to_latin1(char *s, size_t n)
{
	size_t len = 0;

	for (size_t i = 0; i < n; i++, len++) {
		if ((s[i] & 0xc0) == 0xc0) {
			s[len] = (char)((s[i] & 3) << 6 | (s[i + 1] & 0x3f));
			i++;
		} else {
			s[len] = s[i];
		}
	}
	return len;
}

static void headers_are_those_of_numpy(void)
{
	ZR_CLEANUP(zr_freep) char *line = NULL;
	FILE *f = fopen(CASES, "r");
	size_t cap = 0, n;
	int cases = 0;

	CHECK(f);
	while (getline(&line, &cap, f) > 0) {
		char *word[6], *at = line;
		struct zr_buf b;

		if (*line == '#')
			continue;
		for (int i = 0; i < 6; i++)
			CHECK((word[i] = strsep(&at, "\t")));
		n = from_hex(word[5]);
		if (atoi(word[3]) < 3)
			n = to_latin1(word[5], n);
		/* Documents of tests are written with other quotation marks. */
		b = header_v2(word[0], word[1], atoi(word[2]));
		check_header(&b, (uint8_t)atoi(word[3]), (size_t)atoi(word[4]), word[5],
		             n);
		zr_buf_done(&b);
		cases++;
	}
	fclose(f);
	CHECK(cases > 70);
}

static void types_without_a_name_in_numpy_are_void(void)
{
	static const struct {
		const char *type, *descr;
	} row[] = {
		{"'bfloat16'", "|V2"},
		{"'float8_e4m3'", "|V1"},
		{"'float8_e8m0fnu'", "|V1"},
		{"'float4_e2m1fn'", "|V1"},
		{"'int4'", "|V1"},
		{"'uint2'", "|V1"},
		{"'complex_float16'", "|V4"},
		{"'complex_bfloat16'", "|V4"},
		{"'r24'", "|V3"},
		{"'float16'", "<f2"},
		{"'complex64'", "<c8"},
		{"'bool'", "|b1"},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		bool pair = strstr(row[i].type, "complex");
		struct zr_meta m = parse_v3(
			(struct doc_v3){.type = row[i].type,
		                        .codecs = BIG,
		                        .fill = pair                          ? "[0,0]"
		                                : strstr(row[i].type, "r24")  ? "[0,0,0]"
		                                : strstr(row[i].type, "bool") ? "false"
		                                : strstr(row[i].type, "e8m0") ? "1"
		                                                              : "0"});
		struct zr_buf b;
		char want[100];

		CHECK_STR(m.why.text, "");
		b = header_of(m.array, 0);
		snprintf(want, sizeof(want),
		         "{'descr': '%s', 'fortran_order': False, 'shape': (4,), }",
		         row[i].descr);
		check_header(&b, 1, 128, want, strlen(want));
		zr_buf_done(&b);
		zr_meta_done(&m);
	}
}

/* A struct of one field with a name of n characters. */
static struct zr_buf header_of_long_name(size_t n)
{
	char *dtype = malloc(n + 20), name[1] = "a";
	struct zr_buf b;

	CHECK(dtype);
	strcpy(dtype, "[['");
	memset(dtype + 3, *name, n);
	strcpy(dtype + 3 + n, "','<i4']]");
	b = header_v2(dtype, "[3]", -1);
	free(dtype);
	return b;
}

static void a_header_beyond_64_kib_is_of_version_2(void)
{
	struct zr_buf b = header_of_long_name(LAST_OF_1);

	CHECK_INT(b.data[6], 1);
	CHECK_INT(b.len, 65536);
	CHECK_INT(zr_load_u16(b.data + 8, false), 65526);
	zr_buf_done(&b);

	b = header_of_long_name(LAST_OF_1 + 1);
	CHECK_INT(b.data[6], 2);
	CHECK_INT(b.len, LEN_OF_2);
	CHECK_INT(zr_load_u32(b.data + 8, false), LEN_OF_2 - 12);
	CHECK(memcmp(b.data + 12, "{'descr': [('aaa", 16) == 0);
	zr_buf_done(&b);
}

int main(void)
{
	RUN(headers_are_those_of_numpy);
	RUN(types_without_a_name_in_numpy_are_void);
	RUN(a_header_beyond_64_kib_is_of_version_2);
	return EXIT_SUCCESS;
}
