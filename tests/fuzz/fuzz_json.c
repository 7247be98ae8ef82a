/* SPDX-License-Identifier: MIT */
/*
 * The input is a text that may be JSON. jansson, which knows the RFC and no more, is the
 * judge where it can be.
 */
#include "check.h"
#include "fuzz.h"
#include "json.h"

static const char *const skip[] = {"attributes", NULL};

/* A parsed value as strict text reads back as itself. */
static void check_compact(const json_t *v)
{
	struct zr_buf text = {0}, again = {0};
	json_error_t e;
	json_t *strict, *back;

	CHECK_INT(zr_json_compact(v, &text), 0);
	CHECK_INT(zr_json_check((const char *)text.data, text.len, NULL), 0);
	check_clean(text.data, text.len, "");
	strict = json_loadb((const char *)text.data, text.len,
	                    JSON_DECODE_ANY | JSON_ALLOW_NUL, &e);
	/* It knows no integers beyond int64 and no NUL in a key. */
	CHECK(strict || strstr(e.text, "integer") || strstr(e.text, "NUL") ||
	      strstr(e.text, "real number overflow"));
	CHECK_INT(zr_json_parse((const char *)text.data, text.len, NULL, &back, NULL), 0);
	CHECK_INT(zr_json_compact(back, &again), 0);
	CHECK_MEM(again.data, again.len, text.data, text.len);
	json_decref(strict);
	json_decref(back);
	zr_buf_done(&text);
	zr_buf_done(&again);
}

/* Members are found in the text as they are in what was parsed. */
static void check_members(const char *text, size_t len, const json_t *v)
{
	static const char *const keys[] = {"a", "shape", "zarr_format", "data_type"};

	for (size_t i = 0; i < ZR_COUNT(keys); i++) {
		struct zr_json_slice s = zr_json_member(text, len, keys[i]);
		const json_t *member;
		json_t *sliced;

		CHECK_INT(zr_json_get(v, keys[i], strlen(keys[i]), &member), 0);
		if (!json_is_object(v))
			member = NULL;
		CHECK((member != NULL) == (s.data != NULL));
		if (!s.data)
			continue;
		CHECK(s.data >= text && s.data + s.len <= text + len);
		CHECK_INT(zr_json_parse(s.data, s.len, NULL, &sliced, NULL), 0);
		CHECK(json_equal(sliced, member));
		json_decref(sliced);
	}
}

/* What jansson takes may not be refused; but that it overlooks a NUL behind a number. */
static bool is_strict(const char *text, size_t len)
{
	json_error_t e;
	json_t *v = json_loadb(text, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &e);

	json_decref(v);
	return v && !memchr(text, '\0', len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct zr_err err = {0}, why = {0};
	int checked = zr_json_check(text, size, &err);
	json_t *v = NULL, *less = NULL;
	int r = zr_json_parse(text, size, NULL, &v, &why);

	if (checked < 0) {
		check_err(&err, checked);
		check_err(&why, r);
		CHECK(!is_strict(text, size));
		CHECK(zr_json_parse(text, size, skip, &less, NULL) < 0);
		return 0;
	}
	if (r < 0) {
		CHECK_INT(r, -EINVAL);
		CHECK(strstr(why.text, "nested too deeply"));
		return 0;
	}
	check_compact(v);
	check_members(text, size, v);
	CHECK_INT(zr_json_parse(text, size, skip, &less, NULL), 0);
	if (json_is_object(v)) {
		json_object_del(v, skip[0]);
		CHECK(json_equal(v, less));
	}
	json_decref(v);
	json_decref(less);
	return 0;
}
