/* SPDX-License-Identifier: MIT */
#include "test.h"
#include "err.h"

#include <errno.h>

static void code_and_text_are_kept(void)
{
	struct zr_err err = {0};

	CHECK_INT(zr_err_set(&err, -EINVAL, "codec '%s' is unknown", "foo"), -EINVAL);
	CHECK_INT(err.code, -EINVAL);
	CHECK_STR(err.text, "codec 'foo' is unknown");
}

static void first_text_wins(void)
{
	struct zr_err err = {0};

	CHECK_INT(zr_err_set(&err, -EINVAL, "first"), -EINVAL);
	CHECK_INT(zr_err_set(&err, -EIO, "second"), -EIO);
	CHECK_INT(err.code, -EINVAL);
	CHECK_STR(err.text, "first");
}

static void nobody_needs_to_listen(void)
{
	CHECK_INT(zr_err_set(NULL, -EIO, "%d", 1), -EIO);
}

static void control_characters_are_cleaned(void)
{
	static const struct {
		const char *text, *want;
	} row[] = {
		{"two\nlines\r\t\x01", "two?lines???"}, /* C0 */
		{"\x7f", "?"},                          /* DEL */
		{"a\xc2\x9b"
	         "31m",
	         "a??31m"}, /* C1 in UTF-8 */
		{"x\x9b"
	         "31m",
	         "x?31m"}, /* stray C1, not only in front */
		{"\xc3\x9b\xe2\x80\x9f", "\xc3\x9b\xe2\x80\x9f"}, /* no C1 */
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_err err = {0};

		CHECK_INT(zr_err_set(&err, -EINVAL, "%s", row[i].text), -EINVAL);
		CHECK_STR(err.text, row[i].want);
	}
}

static void long_text_is_cut_at_a_character(void)
{
	/* Three bytes each: 255 is a whole number of them, 254 and 253 are not. */
	for (size_t lead = 0; lead < 3; lead++) {
		struct zr_err err = {0};
		char text[400] = "";

		memset(text, 'x', lead);
		for (size_t at = lead; at + 3 < sizeof(text); at += 3)
			memcpy(text + at, "\xe4\xb8\xad", 4);
		CHECK_INT(zr_err_set(&err, -EINVAL, "%s", text), -EINVAL);
		CHECK_INT(strlen(err.text), lead + (255 - lead) / 3 * 3);
		CHECK(strncmp(err.text, text, strlen(err.text)) == 0);
	}
}

int main(void)
{
	RUN(code_and_text_are_kept);
	RUN(first_text_wins);
	RUN(nobody_needs_to_listen);
	RUN(control_characters_are_cleaned);
	RUN(long_text_is_cut_at_a_character);
	return EXIT_SUCCESS;
}
