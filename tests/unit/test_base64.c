/* SPDX-License-Identifier: MIT */
#include "test.h"
#include "base64.h"

#include <errno.h>

static void vectors_of_rfc_4648_hold(void)
{
	static const struct {
		const char *plain, *coded;
	} row[] = {
		{"", ""},
		{"f", "Zg=="},
		{"fo", "Zm8="},
		{"foo", "Zm9v"},
		{"foob", "Zm9vYg=="},
		{"fooba", "Zm9vYmE="},
		{"foobar", "Zm9vYmFy"},
		{"\xfb\xff\xbf", "+/+/"}, /* Python: b64encode */
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		size_t n = strlen(row[i].plain), len = SIZE_MAX;
		char coded[16];
		uint8_t plain[16];
		char *end = zr_base64_encode((const uint8_t *)row[i].plain, n, coded);

		CHECK_INT(zr_base64_len(n), strlen(row[i].coded));
		CHECK_MEM(coded, (size_t)(end - coded), row[i].coded,
		          strlen(row[i].coded));
		CHECK_INT(zr_base64_decode(coded, (size_t)(end - coded), plain, &len), 0);
		CHECK_MEM(plain, len, row[i].plain, n);
	}
}

static void every_byte_comes_back_at_every_place(void)
{
	for (unsigned int b = 0; b < 256; b++) {
		for (size_t at = 0; at < 5; at++) {
			uint8_t plain[5] = {1, 2, 3, 4, 5}, back[6];
			char coded[8];
			size_t len;

			plain[at] = (uint8_t)b;
			CHECK(zr_base64_encode(plain, 5, coded) == coded + 8);
			CHECK_INT(zr_base64_decode(coded, 8, back, &len), 0);
			CHECK_MEM(back, len, plain, 5);
		}
	}
}

static void what_the_encoder_would_not_write_is_refused(void)
{
	static const char *const bad[] = {
		"Z",    "Zg",       "Zg=",      "Zg==Zg==", "Z===",
		"====", "=g==",     "Zm8=Zm8=", "Zm9v\n",   "Zm9\n",
		"Zm-v", "Zm_v",     "Zm v",     "Zh==",     "Zm9=", /* stray bits */
		"Zg=g", "Zm9vY===", "\x80m9v",
	};

	for (size_t i = 0; i < ZR_COUNT(bad); i++) {
		uint8_t out[16];
		size_t len = 77;

		CHECK_INT(zr_base64_decode(bad[i], strlen(bad[i]), out, &len), -EINVAL);
		CHECK_INT(len, 77);
	}
}

static void all_other_characters_are_refused(void)
{
	static const char set[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (unsigned int c = 0; c < 256; c++) {
		char in[4] = {(char)c, 'A', 'A', 'A'};
		const char *p = c ? strchr(set, (int)c) : NULL;
		uint8_t out[3];
		size_t len;

		CHECK_INT(zr_base64_decode(in, 4, out, &len), p ? 0 : -EINVAL);
		if (p)
			CHECK_INT(out[0] >> 2, p - set);
	}
}

int main(void)
{
	RUN(vectors_of_rfc_4648_hold);
	RUN(every_byte_comes_back_at_every_place);
	RUN(what_the_encoder_would_not_write_is_refused);
	RUN(all_other_characters_are_refused);
	return EXIT_SUCCESS;
}
