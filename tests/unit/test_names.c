/* SPDX-License-Identifier: MIT */
#include "test.h"
#include "names.h"
#include "util.h"

/* The hashes were computed by a plain XXH64 in Python. */

static void escapes(const char *name, size_t len, enum zr_name_form form,
                    const char *want)
{
	char out[ZR_NAME_MAX + 1];
	size_t n = zr_name_escape(name, len, form, out);

	CHECK_STR(out, want);
	CHECK_INT(n, strlen(want));
}

static void names_are_escaped_and_nothing_else_is(void)
{
	static const struct {
		const char *name, *want;
	} row[] = {
		{"x", "x"},
		{"", "%"},
		{"a/b", "a%2Fb"},
		{"%", "%25"},
		{".", "%2E"},
		{"..", "%2E."},
		{".hidden", "%2Ehidden"},
		{"a.b", "a.b"},
		{"-", "%2D"},
		{"-rf", "%2Drf"},
		{"--checkpoint=1", "%2D-checkpoint=1"},
		{"a-b", "a-b"},
		{"a\tb\n", "a%09b%0A"},
		{"\x7f", "%7F"},
		{"\xc2\x9b"
	         "31m",
	         "%C2%9B31m"},
		{"\xc2\x80\xc2\x9f\xc2\xa0", "%C2%80%C2%9F\xc2\xa0"},
		{"\xc3\xa9\xe4\xb8\xad", "\xc3\xa9\xe4\xb8\xad"},
		{"\xff\xc3", "%FF%C3"},
		{"\xed\xa0\x80", "%ED%A0%80"},
		{"a b~", "a b~"},
		{"~", "~"},
		{"a~0123456789abcdef", "a%7E0123456789abcdef"},
		{"~0123456789abcdef", "%7E0123456789abcdef"},
		{"a~0123456789abcde", "a~0123456789abcde"},
		{"a~0123456789ABCDEF", "a~0123456789ABCDEF"},
		/* Does not end so: the line feed is the last character. */
		{"a~0123456789abcdef\n", "a~0123456789abcdef%0A"},
		{"x.npy", "x.npy"},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++)
		escapes(row[i].name, strlen(row[i].name), ZR_NAME_PLAIN, row[i].want);
	escapes("a\0b", 3, ZR_NAME_PLAIN, "a%00b");
}

static void reserved_names_are_escaped_in_every_tree(void)
{
	static const char *const reserved[] = {
		"records.jsonl", "records.csv",     "records",
		"records.npy",   "unreadable.txt",  "zarr.json",
		"schema.json",   "attributes.json", "chunks.tsv",
	};

	for (size_t i = 0; i < ZR_COUNT(reserved); i++) {
		char want[64];

		snprintf(want, sizeof(want), "%%%02X%s", reserved[i][0], reserved[i] + 1);
		escapes(reserved[i], strlen(reserved[i]), ZR_NAME_PLAIN, want);
		strcat(want, ".npy");
		escapes(reserved[i], strlen(reserved[i]), ZR_NAME_NPY, want);
	}
	escapes("records2", 8, ZR_NAME_PLAIN, "records2");
	escapes("record", 6, ZR_NAME_PLAIN, "record");
	escapes("records\0", 8, ZR_NAME_PLAIN, "records%00");
}

static void npy_files_and_nested_directories_keep_apart(void)
{
	static const struct {
		const char *name;
		enum zr_name_form form;
		const char *want;
	} row[] = {
		{"x", ZR_NAME_NPY, "x.npy"},
		{"x.npy", ZR_NAME_NPY, "x.npy.npy"},
		{"", ZR_NAME_NPY, "%.npy"},
		{"-", ZR_NAME_NPY, "%2D.npy"},
		{"-~0123456789abcdef", ZR_NAME_NPY, "%2D%7E0123456789abcdef.npy"},
		{"x", ZR_NAME_NESTED, "x"},
		{"x.npy", ZR_NAME_NESTED, "x%2Enpy"},
		{".npy", ZR_NAME_NESTED, "%2Enpy"},
		{"npy", ZR_NAME_NESTED, "npy"},
		{"records.npy", ZR_NAME_NESTED, "%72ecords%2Enpy"},
		{"", ZR_NAME_NESTED, "%"},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++)
		escapes(row[i].name, strlen(row[i].name), row[i].form, row[i].want);
}

/* `unit` `times` over, then `tail`. */
static size_t repeat(char *out, const char *unit, size_t times, const char *tail)
{
	size_t n = strlen(unit);

	for (size_t i = 0; i < times; i++)
		memcpy(out + i * n, unit, n);
	strcpy(out + times * n, tail);
	return times * n + strlen(tail);
}

static void long_names_are_cut_and_end_in_their_hash(void)
{
	static const struct {
		const char *unit;
		size_t times;
		const char *tail;
		enum zr_name_form form;
		const char *want_unit;
		size_t want_times;
		const char *want_tail;
	} row[] = {
		{"x", 255, "", ZR_NAME_PLAIN, "x", 255, ""},
		{"x", 256, "", ZR_NAME_PLAIN, "x", 238, "~026c8b9bc5af4750"},
		{"x", 238, "\xff\xff\xff\xff\xff\xff", ZR_NAME_PLAIN, "x", 238,
	         "~6bac1fd98e5953c7"},
		{"x", 251, "", ZR_NAME_NPY, "x", 251, ".npy"},
		{"x", 300, "", ZR_NAME_NPY, "x", 234, "~8377db93c80fd5bf.npy"},
		{"y", 260, ".npy", ZR_NAME_NESTED, "y", 238, "~b99d1b8aa932d0e5"},
		{"%", 85, "", ZR_NAME_PLAIN, "%25", 85, ""},
		{"%", 90, "", ZR_NAME_PLAIN, "%25", 79, "~cf07b40540de111b"},
		{"\xc3\xa9", 128, "", ZR_NAME_PLAIN, "\xc3\xa9", 119,
	         "~9b2210ff98cf44b0"},
		{"\xe4\xb8\xad", 85, "", ZR_NAME_PLAIN, "\xe4\xb8\xad", 85, ""},
		{"\xe4\xb8\xad", 86, "", ZR_NAME_PLAIN, "\xe4\xb8\xad", 79,
	         "~adea4030e88ee791"},
		{"\xf0\x9f\x98\x80", 64, "", ZR_NAME_PLAIN, "\xf0\x9f\x98\x80", 59,
	         "~0f29da10a3b11fdb"},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		char name[600], want[600];
		size_t n = repeat(name, row[i].unit, row[i].times, row[i].tail);

		repeat(want, row[i].want_unit, row[i].want_times, row[i].want_tail);
		escapes(name, n, row[i].form, want);
	}
}

static void a_name_of_any_length_fits(void)
{
	const size_t n = 1 << 20;
	char *name = malloc(n), out[ZR_NAME_MAX + 1];

	CHECK(name);
	memset(name, '/', n);
	for (int form = ZR_NAME_PLAIN; form <= ZR_NAME_NESTED; form++) {
		for (size_t len = 1; len < n; len += len < 400 ? 1 : len) {
			size_t got =
				zr_name_escape(name, len, (enum zr_name_form)form, out);

			CHECK(got >= 1 && got <= ZR_NAME_MAX && got == strlen(out));
			CHECK(!strchr(out, '/'));
		}
	}
	free(name);
}

int main(void)
{
	RUN(names_are_escaped_and_nothing_else_is);
	RUN(reserved_names_are_escaped_in_every_tree);
	RUN(npy_files_and_nested_directories_keep_apart);
	RUN(long_names_are_cut_and_end_in_their_hash);
	RUN(a_name_of_any_length_fits);
	return EXIT_SUCCESS;
}
