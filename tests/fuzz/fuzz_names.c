/* SPDX-License-Identifier: MIT */
/*
 * The input is a byte that picks the forms, and two names with a LF between.
 */
#include "fuzz.h"

#include <xxhash.h>

#include "check.h"
#include "names.h"

#define HASH_LEN 17 /* '~' and sixteen digits */

struct name {
	char *text;
	size_t len;
	enum zr_name_form form;
	char escaped[ZR_NAME_MAX + 1];
	size_t escaped_len;
};

static int hex_value(char c)
{
	CHECK((c >= '0' && c <= '9') || (c >= 'A' && c <= 'F'));
	return c <= '9' ? c - '0' : c - 'A' + 10;
}

/* Whether it was cut, and so ends in its hash: no whole name may look so. */
static bool is_cut(const char *s, size_t len)
{
	return len >= HASH_LEN && s[len - HASH_LEN] == '~' &&
	       strspn(s + len - HASH_LEN + 1, "0123456789abcdef") == HASH_LEN - 1;
}

/* Undoes the escape of a name that was not cut. */
static void check_reversible(const struct name *n, const char *s, size_t len)
{
	size_t at = 0;

	if (len == 1 && s[0] == '%') {
		CHECK_INT(n->len, 0);
		return;
	}
	for (size_t i = 0; i < len; i++, at++) {
		unsigned int c = (uint8_t)s[i];

		if (c == '%') {
			CHECK(i + 2 < len);
			c = (unsigned int)(16 * hex_value(s[i + 1]) +
			                   hex_value(s[i + 2]));
			i += 2;
		}
		CHECK(at < n->len && (uint8_t)n->text[at] == c);
	}
	CHECK_INT(at, n->len);
}

static void check_hash(const struct name *n, const char *hash)
{
	char want[32];

	snprintf(want, sizeof(want), "%016llx",
	         (unsigned long long)XXH64(n->text, n->len, 0));
	CHECK(strncmp(hash, want, 16) == 0);
}

static bool ends_npy(const char *s, size_t len)
{
	return len >= 4 && strcmp(s + len - 4, ".npy") == 0;
}

static void check_reserved(const char *s)
{
	static const char *const reserved[] = {
		"records.jsonl",   "records.csv",    "records",
		"records.npy",     "unreadable.txt", "zarr.json",
		"attributes.json", "schema.json",    "chunks.tsv",
	};

	for (size_t i = 0; i < ZR_COUNT(reserved); i++)
		CHECK(strcmp(s, reserved[i]) != 0);
}

static void escape(struct name *n)
{
	size_t len = zr_name_escape(n->text, n->len, n->form, n->escaped);
	char stem[ZR_NAME_MAX + 1];

	n->escaped_len = len;
	CHECK(len <= ZR_NAME_MAX);
	CHECK_INT(strlen(n->escaped), len);
	check_file_name(n->escaped);
	CHECK(n->form != ZR_NAME_NESTED || !ends_npy(n->escaped, len));
	check_reserved(n->escaped);
	memcpy(stem, n->escaped, len + 1);
	if (n->form == ZR_NAME_NPY) {
		CHECK(len > 4 && ends_npy(stem, len));
		len -= 4;
		stem[len] = '\0';
	}
	if (is_cut(stem, len))
		check_hash(n, stem + len - HASH_LEN + 1);
	else
		check_reversible(n, stem, len);
}

static struct name take_name(struct input *in, enum zr_name_form form)
{
	struct name n = {.form = form};

	n.text = take_text(in, '\n', &n.len);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* What stands beside one another in a directory. */
	static const enum zr_name_form pair[][2] = {
		{ZR_NAME_PLAIN, ZR_NAME_PLAIN},   {ZR_NAME_PLAIN, ZR_NAME_NESTED},
		{ZR_NAME_NESTED, ZR_NAME_NESTED}, {ZR_NAME_NPY, ZR_NAME_NPY},
		{ZR_NAME_NPY, ZR_NAME_NESTED},
	};
	struct input in = {data, size};
	unsigned int which = take_below(&in, ZR_COUNT(pair));
	struct name a = take_name(&in, pair[which][0]),
		    b = take_name(&in, pair[which][1]);
	bool same = a.len == b.len && memcmp(a.text, b.text, a.len) == 0;

	escape(&a);
	escape(&b);
	if (!same)
		CHECK(strcmp(a.escaped, b.escaped) != 0);
	else if (a.form == b.form)
		CHECK_STR(a.escaped, b.escaped);
	free(a.text);
	free(b.text);
	return 0;
}
