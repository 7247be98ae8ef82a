/* SPDX-License-Identifier: MIT */
#include "test.h"
#include "utf8.h"

/* The table itself, as data: whether n bytes are exactly one character. */
static bool by_the_book(const uint8_t *p, size_t n, uint32_t *ret_cp)
{
	static const struct {
		uint8_t lead[2], second[2];
		size_t n;
	} row[] = {
		/* Unicode 15, table 3-7; bytes three and four are 80 to BF. */
		{{0x00, 0x7f}, {0, 0}, 1},       {{0xc2, 0xdf}, {0x80, 0xbf}, 2},
		{{0xe0, 0xe0}, {0xa0, 0xbf}, 3}, {{0xe1, 0xec}, {0x80, 0xbf}, 3},
		{{0xed, 0xed}, {0x80, 0x9f}, 3}, {{0xee, 0xef}, {0x80, 0xbf}, 3},
		{{0xf0, 0xf0}, {0x90, 0xbf}, 4}, {{0xf1, 0xf3}, {0x80, 0xbf}, 4},
		{{0xf4, 0xf4}, {0x80, 0x8f}, 4},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		if (p[0] < row[i].lead[0] || p[0] > row[i].lead[1] || n < row[i].n)
			continue;
		if (row[i].n > 1 && (p[1] < row[i].second[0] || p[1] > row[i].second[1]))
			continue;
		*ret_cp = row[i].n == 1 ? p[0] : p[0] & (0x7fu >> row[i].n);
		for (size_t k = 1; k < row[i].n; k++) {
			if (k > 1 && (p[k] < 0x80 || p[k] > 0xbf))
				return false;
			*ret_cp = *ret_cp << 6 | (p[k] & 0x3f);
		}
		return row[i].n == n;
	}
	return false;
}

static void check_sequence(const uint8_t *p, size_t n)
{
	uint32_t cp = 1, want = 0;
	unsigned int len = zr_utf8_decode(p, n, &cp);
	bool valid = by_the_book(p, n, &want);

	CHECK(valid == (len == n));
	if (valid)
		CHECK_INT(cp, want);
}

static void sequences_are_valid_as_table_3_7_says(void)
{
	static const uint8_t edge[] = {0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90,
	                               0x9f, 0xa0, 0xbf, 0xc0, 0xff};

	for (unsigned int a = 0; a < 256; a++) {
		check_sequence((uint8_t[]){(uint8_t)a}, 1);
		for (unsigned int b = 0; b < 256; b++) {
			uint8_t p[4] = {(uint8_t)a, (uint8_t)b, 0, 0};

			check_sequence(p, 2);
			for (size_t c = 0; c < sizeof(edge); c++) {
				p[2] = edge[c];
				check_sequence(p, 3);
				for (size_t d = 0; d < sizeof(edge); d++) {
					p[3] = edge[d];
					check_sequence(p, 4);
				}
			}
		}
	}
}

static void every_scalar_is_written_and_read_back(void)
{
	for (uint32_t cp = 0; cp <= 0x10ffff; cp++) {
		uint8_t p[4];
		uint32_t got = UINT32_MAX;
		unsigned int n;

		if (!zr_is_scalar(cp))
			continue;
		n = zr_utf8_encode(cp, p);
		CHECK_INT(n, zr_utf8_size(cp));
		CHECK_INT(zr_utf8_decode(p, n, &got), n);
		CHECK_INT(got, cp);
		if (n > 1)
			CHECK_INT(zr_utf8_decode(p, n - 1, &got), 0);
	}
}

static void known_characters_have_their_bytes(void)
{
	uint8_t p[4];

	CHECK_MEM(p, zr_utf8_encode(0x00e9, p), "\xc3\xa9", 2);
	CHECK_MEM(p, zr_utf8_encode(0x20ac, p), "\xe2\x82\xac", 3);
	CHECK_MEM(p, zr_utf8_encode(0x1f600, p), "\xf0\x9f\x98\x80", 4);
	CHECK_MEM(p, zr_utf8_encode(0x10ffff, p), "\xf4\x8f\xbf\xbf", 4);
}

static size_t prefix(const char *s, size_t n)
{
	return zr_utf8_valid_prefix((const uint8_t *)s, n);
}

static void valid_prefix_ends_before_the_first_bad_byte(void)
{
	char text[40];

	CHECK_INT(prefix("", 0), 0);
	CHECK_INT(prefix("abc", 3), 3);
	CHECK_INT(prefix("a\xc3\xa9z", 4), 4);
	CHECK_INT(prefix("a\xc3", 2), 1);
	CHECK_INT(prefix("\xed\xa0\x80", 3), 0);
	CHECK_INT(prefix("\xc0\x80", 2), 0);
	CHECK_INT(prefix("\xf4\x90\x80\x80", 4), 0);
	/* A bad byte at every place, so in the steps of eight and outside them. */
	for (size_t at = 0; at < sizeof(text); at++) {
		memset(text, 'x', sizeof(text));
		text[at] = (char)0x80;
		CHECK_INT(prefix(text, sizeof(text)), at);
		text[at] = '\0';
		CHECK_INT(prefix(text, sizeof(text)), sizeof(text));
	}
}

static void cleaned_text_has_no_controls_and_is_utf8(void)
{
	static const struct {
		const char *text, *want;
	} row[] = {
		{"", ""},
		{"plain", "plain"},
		{"a\nb\tc\x1b[31m\x7f", "a?b?c?[31m?"},
		{"\x01\x1f ~", "?? ~"},
		{"caf\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80",
	         "caf\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80"},
		{"x\xc2\x80y\xc2\x9bz\xc2\x9f", "x??y??z??"}, /* C1 */
		{"\xc2\xa0", "\xc2\xa0"},                     /* just behind C1 */
		{"\x9b", "?"},                                /* stray C1 bytes */
		{"a\x9b\x80\x9f", "a???"},
		{"\xe4\xb8\xad\x9b", "\xe4\xb8\xad?"},
		{"\xc3\x9b", "\xc3\x9b"}, /* 9B as the tail of a letter */
		{"\xe2\x9b\x9b", "\xe2\x9b\x9b"},
		{"\xe2\x9b", "??"},
		{"\xed\xa0\x80", "???"},
		{"\xff\xc0\x9b", "???"},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		char text[64];

		strcpy(text, row[i].text);
		zr_utf8_clean(text);
		CHECK_STR(text, row[i].want);
	}
}

static void only_a_cut_character_is_trimmed(void)
{
	static const struct {
		const char *text, *want;
	} row[] = {
		{"", ""},
		{"abc", "abc"},
		{"a\xc3", "a"},
		{"a\xc3\xa9", "a\xc3\xa9"},
		{"a\xe4", "a"},
		{"a\xe4\xb8", "a"},
		{"a\xe4\xb8\xad", "a\xe4\xb8\xad"},
		{"a\xf0\x9f\x98", "a"},
		{"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
		{"a\x80\x80", "a\x80\x80"}, /* no beginning there */
		{"\x80\x80\x80\x80", "\x80\x80\x80\x80"},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		char text[64];

		strcpy(text, row[i].text);
		zr_utf8_trim(text);
		CHECK_STR(text, row[i].want);
	}
}

int main(void)
{
	RUN(sequences_are_valid_as_table_3_7_says);
	RUN(every_scalar_is_written_and_read_back);
	RUN(known_characters_have_their_bytes);
	RUN(valid_prefix_ends_before_the_first_bad_byte);
	RUN(cleaned_text_has_no_controls_and_is_utf8);
	RUN(only_a_cut_character_is_trimmed);
	return EXIT_SUCCESS;
}
