/* SPDX-License-Identifier: MIT */
#include "test.h"
#include "json.h"
#include "bounds.h"

#include <errno.h>

static void valid_documents_pass(void)
{
	static const char *const row[] = {"{}",
	                                  "[]",
	                                  "null",
	                                  " true\n",
	                                  "\"\"",
	                                  "0",
	                                  "-0",
	                                  "-0.0",
	                                  "1e5",
	                                  "1E+5",
	                                  "1.5e-3",
	                                  "[1,2,[3,{}],{\"a\":[]}]",
	                                  "{\"a\":1,\"a\":2}",
	                                  "NaN",
	                                  "[Infinity,-Infinity,NaN]",
	                                  "\"\\ud800\"",
	                                  "\"\\ude00\\ud83d\"",
	                                  "\"\\u0000\"",
	                                  "{\"\\u0000\":1}",
	                                  "18446744073709551616",
	                                  "1e400",
	                                  "\"\xc3\xa9\xf0\x9f\x98\x80\"",
	                                  "\"\x7f\"",
	                                  "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
	                                  "\xef\xbb\xbf{}",
	                                  "\t\r\n [ ] "};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_err e = {0};
		json_t *v = NULL;

		CHECK_INT(zr_json_check(row[i], strlen(row[i]), &e), 0);
		CHECK_STR(e.text, "");
		CHECK_INT(zr_json_parse(row[i], strlen(row[i]), NULL, &v, &e), 0);
		json_decref(v);
	}
}

static void broken_documents_are_refused_with_a_place(void)
{
	static const struct {
		const char *text, *want;
	} row[] = {
		{"", "line 1 column 1: the text ends too early"},
		{"{\"zarr_format\":3,\n\"node_type\":\"array\",",
	         "line 2 column 21: the text ends too early"},
		{"{'a':1}",
	         "line 1 column 2: a member name in quotation marks is expected"},
		{"{\"a\":1,}",
	         "line 1 column 8: a member name in quotation marks is expected"},
		{"{\"a\" 1}", "line 1 column 6: a colon is expected"},
		{"[1,]", "line 1 column 4: a value is expected"},
		{"[1 2]", "line 1 column 4: a comma or ] is expected"},
		{"{\"a\":1]", "line 1 column 7: a comma or } is expected"},
		{"[1}", "line 1 column 3: a comma or ] is expected"},
		{"1 2", "line 1 column 3: text behind the value"},
		{"01", "line 1 column 2: text behind the value"},
		{"+1", "line 1 column 1: a value is expected"},
		{"1.x", "line 1 column 3: a digit is expected"},
		{".5", "line 1 column 1: a value is expected"},
		{"1ex", "line 1 column 3: a digit is expected"},
		{"-x", "line 1 column 2: a value is expected"},
		{"-NaN", "line 1 column 2: a value is expected"},
		{"nan", "line 1 column 1: a value is expected"},
		{"True", "line 1 column 1: a value is expected"},
		{"/**/1", "line 1 column 1: a value is expected"},
		{"\"a\tb\"", "line 1 column 3: a control character in a string"},
		{"\"\\x41\"", "line 1 column 2: no such escape in a string"},
		{"\"\\u12g4\"", "line 1 column 2: \\u without four hexadecimal digits"},
		{"\"\xc3\xa9\xff\"", "line 1 column 3: invalid UTF-8 in a string"},
		{"\"\xed\xa0\x80\"", "line 1 column 2: invalid UTF-8 in a string"},
		{"\"\xc0\x80\"", "line 1 column 2: invalid UTF-8 in a string"},
		{"\"abc", "line 1 column 5: the text ends too early"},
		{"\"abc\\", "line 1 column 5: \\u without four hexadecimal digits"},
		{"\"abc\\u00", "line 1 column 5: \\u without four hexadecimal digits"},
		{"{1:2}",
	         "line 1 column 2: a member name in quotation marks is expected"},
		{"\x0b"
	         "1",
	         "line 1 column 1: a value is expected"},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_err e = {0};
		json_t *v = NULL;

		CHECK_INT(zr_json_check(row[i].text, strlen(row[i].text), &e), -EINVAL);
		CHECK_INT(e.code, -EINVAL);
		CHECK_STR(e.text, row[i].want);
		CHECK_INT(zr_json_parse(row[i].text, strlen(row[i].text), NULL, &v, NULL),
		          -EINVAL);
		CHECK(!v);
	}
	CHECK_INT(zr_json_check("[\0]", 3, NULL), -EINVAL);
	CHECK_INT(zr_json_check("1\0", 2, NULL), -EINVAL);
}

static void nesting_is_bounded_where_it_is_parsed(void)
{
	char text[2 * ZR_MAX_JSON_DEPTH + 32];
	const char *skip[] = {"a", NULL};
	struct zr_err e = {0};
	json_t *v = NULL;
	int n = ZR_MAX_JSON_DEPTH, at;

	memset(text, '[', (size_t)n);
	memset(text + n, ']', (size_t)n);
	CHECK_INT(zr_json_parse(text, 2 * (size_t)n, NULL, &v, &e), 0);
	json_decref(v);

	/* One more: inside of a member left out it does not matter. */
	at = sprintf(text, "{\"a\":");
	memset(text + at, '[', (size_t)n);
	memset(text + at + n, ']', (size_t)n);
	text[at + 2 * n] = '}';
	CHECK_INT(zr_json_check(text, (size_t)(at + 2 * n + 1), NULL), 0);
	CHECK_INT(zr_json_parse(text, (size_t)(at + 2 * n + 1), skip, &v, &e), 0);
	CHECK_INT(json_object_size(v), 0);
	json_decref(v);
	CHECK_INT(zr_json_parse(text, (size_t)(at + 2 * n + 1), NULL, &v, &e), -EINVAL);
	CHECK_STR(e.text, "line 1 column 165: nested too deeply");
}

static json_t *parsed(const char *text, const char *const *skip)
{
	struct zr_err e = {0};
	json_t *v = NULL;

	CHECK_INT(zr_json_parse(text, strlen(text), skip, &v, &e), 0);
	return v;
}

static void odd_strings_come_back_true(void)
{
	static const struct {
		const char *text;
		const char *want;
		size_t len;
	} row[] = {
		{"\"\"", "", 0},
		{"\"plain \\u00e9\\n\"", "plain \xc3\xa9\n", 9},
		{"\"a\\u0000b\"", "a\0b", 3},
		{"\"\\ud800\"", "\xed\xa0\x80", 3},
		{"\"\\udfffx\\ud83d\\ude00\"", "\xed\xbf\xbfx\xf0\x9f\x98\x80", 8},
		{"\"\\ud83d\\u0041\"", "\xed\xa0\xbd\x41", 4},
		{"\"\\ud83d\\ud83d\\ude00\"", "\xed\xa0\xbd\xf0\x9f\x98\x80", 7},
		{"\"\\u0001x41\"", "\1x41", 4},
		{"\"\\u0001n5\"", "\1n5", 3},
		{"\"\\u0001\"", "\1", 1},
		{"\"a\\u0001\"", "a\1", 2},
		{"\"\\/\\\"\\\\\\b\\f\\r\\t\\u0000\"", "/\"\\\b\f\r\t\0", 8},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		ZR_CLEANUP(zr_buf_done) struct zr_buf b = {0};
		json_t *v = parsed(row[i].text, NULL);

		CHECK(json_is_string(v));
		CHECK(!zr_json_number(v));
		CHECK_INT(zr_json_string(v, &b), 0);
		CHECK_MEM(b.data, b.len, row[i].want, row[i].len);
		CHECK_INT(b.data[b.len], 0);
		json_decref(v);
	}
}

static void odd_keys_come_back_true(void)
{
	static const struct {
		const char *text;
		const char *want;
		size_t len;
	} row[] = {
		{"{\"\":1}", "", 0},
		{"{\"a\\u0000\":1}", "a\0", 2},
		{"{\"\\udc00\":1}", "\xed\xb0\x80", 3},
		{"{\"\\u0001\":1}", "\1", 1},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		ZR_CLEANUP(zr_buf_done) struct zr_buf b = {0};
		json_t *v = parsed(row[i].text, NULL);

		CHECK_INT(zr_json_key(json_object_iter_key(json_object_iter(v)), &b), 0);
		CHECK_MEM(b.data, b.len, row[i].want, row[i].len);
		json_decref(v);
	}
}

static void odd_numbers_keep_their_text(void)
{
	static const struct {
		const char *text, *want;
	} row[] = {
		{"NaN", "NaN"},
		{"Infinity", "Infinity"},
		{"-Infinity", "-Infinity"},
		{"9223372036854775808", "9223372036854775808"},
		{"-9223372036854775809", "-9223372036854775809"},
		{"18446744073709551615", "18446744073709551615"},
		{"1e400", "1e400"},
		{"9223372036854775807", NULL},
		{"-9223372036854775808", NULL},
		{"1.5", NULL},
		{"1e-400", NULL},
		{"\"NaN\"", NULL},
		{"null", NULL},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		ZR_CLEANUP(zr_buf_done) struct zr_buf b = {0};
		json_t *v = parsed(row[i].text, NULL);
		const char *got = zr_json_number(v);

		CHECK(!got == !row[i].want);
		if (got) {
			CHECK_STR(got, row[i].want);
			CHECK_INT(zr_json_string(v, &b), -EINVAL);
		}
		json_decref(v);
	}
}

static void integers_are_exact(void)
{
	json_t *v = parsed("[9007199254740993,-9223372036854775808,9223372036854775807]",
	                   NULL);

	CHECK_INT(json_integer_value(json_array_get(v, 0)), 9007199254740993);
	CHECK(json_integer_value(json_array_get(v, 1)) == INT64_MIN);
	CHECK(json_integer_value(json_array_get(v, 2)) == INT64_MAX);
	json_decref(v);
}

static void members_are_left_out_on_top_only(void)
{
	static const char *const skip[] = {"attributes", "b", NULL};
	static const struct {
		const char *text, *want;
	} row[] = {
		{"{\"attributes\":{\"x\":[1,{}]},\"a\":1}", "{\"a\":1}"},
		{"{\"a\":1,\"b\":NaN}", "{\"a\":1}"},
		{"{\"a\":1,\"b\":2,\"c\":{\"b\":[3]}}", "{\"a\":1,\"c\":{\"b\":[3]}}"},
		{"{\"b\":[],\"b\":{}}", "{}"},
		{"{ \"\\u0062\" : 1 , \"c\" : [ ] }", "{\"c\":[]}"},
		{"[{\"b\":1}]", "[{\"b\":1}]"},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		json_t *v = parsed(row[i].text, skip);
		char *got = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);

		CHECK(got);
		CHECK_STR(got, row[i].want);
		free(got);
		json_decref(v);
	}
	CHECK_INT(zr_json_check("{\"b\":[1,}", 9, NULL), -EINVAL);
}

static void member_is_found_as_it_stands(void)
{
	static const struct {
		const char *text, *key, *want;
	} row[] = {
		{"{\"a\":1}", "a", "1"},
		{" {\n\"a\" : [ 1, {\"b\": \"}\"} ] , \"b\":2}", "a",
	         "[ 1, {\"b\": \"}\"} ]"},
		{"{\"a\":{\"b\":1},\"b\":2}", "b", "2"},
		{"{\"a\":1,\"a\":\"x\\\"y\"}", "a", "\"x\\\"y\""},
		{"{\"\\u0061\":NaN}", "a", "NaN"},
		{"{\"a\\u0000\":1}", "a", NULL},
		{"{\"ab\":1}", "a", NULL},
		{"{\"a\":1}", "ab", NULL},
		{"{\"\":\"\"}", "", "\"\""},
		{"{}", "a", NULL},
		{"[\"a\",1]", "a", NULL},
		{"{\"x\":\"\\\\\",\"a\":-1.5e3}", "a", "-1.5e3"},
		{"\xef\xbb\xbf{\"a\":true}", "a", "true"},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_json_slice s =
			zr_json_member(row[i].text, strlen(row[i].text), row[i].key);

		CHECK(!s.data == !row[i].want);
		if (s.data)
			CHECK_MEM(s.data, s.len, row[i].want, strlen(row[i].want));
	}
}

static void last_of_equal_keys_wins(void)
{
	json_t *v = parsed("{\"a\":1,\"\\u0061\":2}", NULL);

	CHECK_INT(json_integer_value(json_object_get(v, "a")), 2);
	json_decref(v);
}

static void members_are_found_by_true_name(void)
{
	static const struct {
		const char *text, *name;
		size_t len;
		int want; /* -1: none */
	} row[] = {
		{"{\"a\":1}", "a", 1, 1},
		{"{\"a\":1}", "b", 1, -1},
		{"{\"\":1}", "", 0, 1},
		{"{\"a\\u0000\":1,\"a\":2}", "a\0", 2, 1},
		{"{\"a\\u0000\":1,\"a\":2}", "a", 1, 2},
		{"{\"\\ud800\":1}", "\xed\xa0\x80", 3, 1},
		{"{\"\\ud7ff\":1}", "\xed\x9f\xbf", 3, 1},
		{"{\"\\u0001x6100\":1}", "a\0", 2, -1},
		{"{\"\\u0001x6100\":1}", "\1x6100", 6, 1},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		json_t *v = parsed(row[i].text, NULL);
		const json_t *got;

		CHECK_INT(zr_json_get(v, row[i].name, row[i].len, &got), 0);
		CHECK_INT(got ? json_integer_value(got) : -1, row[i].want);
		json_decref(v);
	}
}

/* The results are those of Python: json.loads, then repr() of floats. */
static void values_are_written_compactly(void)
{
	static const struct {
		const char *text, *want;
	} row[] = {
		{"[1, 2.50,{ \"b\" : true, \"a\":[ ],\"c\":{}},null,false]",
	         "[1,2.5,{\"b\":true,\"a\":[],\"c\":{}},null,false]"},
		{"[NaN,Infinity,-Infinity,1e400]", "[null,null,null,null]"},
		{"18446744073709551616", "18446744073709551616"},
		{"-0.0", "-0.0"},
		{"5", "5"},
		{"5.0", "5.0"},
		{"0.1", "0.1"},
		{"1e16", "1e+16"},
		{"123456789012345678.0", "1.2345678901234568e+17"},
		{"1e15", "1000000000000000.0"},
		{"0.0001", "0.0001"},
		{"0.00001", "1e-05"},
		{"-1.5e-7", "-1.5e-07"},
		{"5e-324", "5e-324"},
		{"1.7976931348623157e308", "1.7976931348623157e+308"},
		{"7.120236347223045e-307", "7.120236347223045e-307"}, /* 2^-1017 */
		{"0.30000000000000004", "0.30000000000000004"},
		{"\"\\b\\f\\n\\r\\t\\\"\\\\\\/\"", "\"\\b\\f\\n\\r\\t\\\"\\\\/\""},
		{"\"\\u0000\\u001f\x7f\\u0080\\u009f\\u00a0\"",
	         "\"\\u0000\\u001f\\u007f\\u0080\\u009f\xc2\xa0\""},
		{"\"\\ud800x\\ud83d\\ude00\"", "\"\xef\xbf\xbdx\xf0\x9f\x98\x80\""},
		{"{\"\\ud800\":\"\\u0001n5\"}", "{\"\xef\xbf\xbd\":\"\\u0001n5\"}"},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		ZR_CLEANUP(zr_buf_done) struct zr_buf b = {0};
		json_t *v = parsed(row[i].text, NULL);

		CHECK_INT(zr_json_compact(v, &b), 0);
		CHECK_MEM(b.data, b.len, row[i].want, strlen(row[i].want));
		json_decref(v);
	}
}

/* All members or elements, as "key=value;". */
static void check_walk(const char *text, const char *want)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf got = {0};
	struct zr_json_walk w;
	struct zr_json_slice key, value;

	CHECK_INT(zr_json_check(text, strlen(text), NULL), 0);
	w = zr_json_walk(text, strlen(text));
	while (zr_json_next(&w, &key, &value)) {
		zr_buf_add(&got, key.data, key.len);
		zr_buf_addc(&got, '=');
		zr_buf_add(&got, value.data, value.len);
		zr_buf_addc(&got, ';');
	}
	CHECK(!zr_json_next(&w, NULL, &value));
	zr_buf_addc(&got, '\0');
	CHECK_STR((char *)got.data, want);
}

static void members_and_elements_are_walked_through(void)
{
	check_walk("{}", "");
	check_walk("[ ]", "");
	check_walk("5", "");
	check_walk("\"[]\"", "");
	check_walk("[1]", "=1;");
	check_walk("\xef\xbb\xbf [ 1 ,\"a,]\\\"\" , {\"b\":[2,3]},null,-1e5 ] ",
	           "=1;=\"a,]\\\"\";={\"b\":[2,3]};=null;=-1e5;");
	check_walk("{\"a\":1,\"a\" : [ ] , \"\\\"}\\\\\":{},\"\":\"\"}",
	           "a=1;a=[ ];\\\"}\\\\={};=\"\";");
	check_walk("[[[1,2],[3]],[]]", "=[[1,2],[3]];=[];");
}

static void strings_are_read_where_they_lie(void)
{
	char text[] = "a\\u00e9\\n\\/\\ud83d\\ude00\\ud800\\u0000\xc3\xa9";
	struct zr_json_slice s = {text, sizeof(text) - 1};
	size_t n = zr_json_unescape(s, text);

	CHECK_MEM(text, n, "a\xc3\xa9\n/\xf0\x9f\x98\x80\xed\xa0\x80\0\xc3\xa9", 15);
}

static void what_is_no_scalar_is_replaced(void)
{
	static const struct {
		const char *text, *want;
	} row[] = {
		{"", ""},
		{"\xc3\xa9", "\xc3\xa9"},
		{"\xed\xa0\x80", "\xef\xbf\xbd"},
		{"a\xed\xbf\xbf\xed\xa0\x80z", "a\xef\xbf\xbd\xef\xbf\xbdz"},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		ZR_CLEANUP(zr_buf_done) struct zr_buf b = {0};

		zr_json_add_scalars(&b, row[i].text, strlen(row[i].text));
		CHECK_INT(b.len, strlen(row[i].want));
		CHECK(b.len == 0 || memcmp(b.data, row[i].want, b.len) == 0);
	}
}

int main(void)
{
	RUN(valid_documents_pass);
	RUN(broken_documents_are_refused_with_a_place);
	RUN(nesting_is_bounded_where_it_is_parsed);
	RUN(odd_strings_come_back_true);
	RUN(odd_keys_come_back_true);
	RUN(odd_numbers_keep_their_text);
	RUN(integers_are_exact);
	RUN(members_are_left_out_on_top_only);
	RUN(member_is_found_as_it_stands);
	RUN(members_are_found_by_true_name);
	RUN(values_are_written_compactly);
	RUN(last_of_equal_keys_wins);
	RUN(members_and_elements_are_walked_through);
	RUN(strings_are_read_where_they_lie);
	RUN(what_is_no_scalar_is_replaced);
	return EXIT_SUCCESS;
}
