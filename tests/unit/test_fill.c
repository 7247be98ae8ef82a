/* SPDX-License-Identifier: MIT */
/* Bytes are from the specifications, from NumPy and from ml_dtypes. */
#include "meta_doc.h"

#define UTF32_2 "{'name':'fixed_length_utf32','configuration':{'length_bytes':8}}"
#define CHARS_3 "{'name':'null_terminated_bytes','configuration':{'length_bytes':3}}"
#define RAW_3 "{'name':'raw_bytes','configuration':{'length_bytes':3}}"
#define TIME "{'name':'numpy.datetime64','configuration':{'unit':'ns','scale_factor':1}}"
#define ONE(t)                                                                           \
	"{'name':'struct','configuration':{'fields':[{'name':'a','data_type':" t "}]}}"
#define TWO                                                                              \
	"{'name':'struct','configuration':{'fields':[{'name':'a','data_type':'int32'},"  \
	"{'name':'p','data_type':{'name':'struct','configuration':{'fields':["           \
	"{'name':'x','data_type':'float32'},{'name':'y','data_type':'uint16'}]}}}]}}"

static void scalar_forms_become_stored_bytes(void)
{
	static const struct {
		const char *type, *fill, *want;
	} row[] = {
		{"'bool'", "true", "01"},
		{"'bool'", "false", "00"},
		{"'bool'", "1", "01"},
		{"'int8'", "-128", "80"},
		{"'int16'", "-2", "feff"},
		{"'int32'", "0.0", "00000000"},
		{"'int32'", "-5.0", "fbffffff"},
		{"'int32'", "'7'", "07000000"},
		{"'int32'", "'0.0'", "00000000"},
		{"'int64'", "9007199254740993", "0100000000002000"},
		{"'int64'", "-9223372036854775808", "0000000000000080"},
		{"'uint64'", "18446744073709551615", "ffffffffffffffff"},
		{"'uint64'", "'18446744073709551615'", "ffffffffffffffff"},
		{"'uint64'", "1e19", "0000e8890423c78a"},
		{"'int2'", "-2", "fe"},
		{"'uint4'", "15", "0f"},
		{"'float16'", "1", "003c"},
		{"'float16'", "65520", "007c"},
		{"'float16'", "1e-8", "0000"},
		{"'float16'", "5.960464477539063e-08", "0100"},
		{"'float16'", "'0x3c01'", "013c"},
		{"'float16'", "'0x7'", "0700"},
		{"'float32'", "0.1", "cdcccc3d"},
		{"'float32'", "-0.0", "00000080"},
		{"'float32'", "'NaN'", "0000c07f"},
		{"'float32'", "NaN", "0000c07f"},
		{"'float32'", "'0x7f800001'", "0100807f"},
		{"'float32'", "'Infinity'", "0000807f"},
		{"'float32'", "-Infinity", "000080ff"},
		{"'float32'", "1e39", "0000807f"},
		{"'float32'", "'0.0'", "00000000"},
		{"'float32'", "'-1.5'", "0000c0bf"},
		{"'float64'", "1e400", "000000000000f07f"},
		{"'float64'", "-0.0", "0000000000000080"},
		{"'float64'", "'0x7ff8dead00000000'", "00000000addef87f"},
		{"'float64'", "'NaN'", "000000000000f87f"},
		{"'float64'", "123456789012345678901234567890", "3e376cff90eef845"},
		{"'complex64'", "[1,'NaN']", "0000803f0000c07f"},
		{"'complex128'", "[0.0,-0.0]", "00000000000000000000000000000080"},
		{"'complex64'", "2", "0000004000000000"},
		{"'bfloat16'", "1.0", "803f"},
		{"'bfloat16'", "'NaN'", "c07f"},
		{"'float8_e3m4'", "'NaN'", "78"},
		{"'float8_e4m3'", "'NaN'", "7c"},
		{"'float8_e5m2'", "'NaN'", "7e"},
		{"'float8_e5m2'", "-1e9", "fc"},
		{"'float8_e4m3fn'", "448", "7e"},
		{"'float8_e4m3fn'", "1e9", "7f"},
		{"'float8_e4m3fnuz'", "'NaN'", "80"},
		{"'float8_e4m3b11fnuz'", "-0.0", "00"},
		{"'float8_e5m2fnuz'", "1.5", "42"},
		{"'float8_e8m0fnu'", "'NaN'", "ff"},
		{"'float8_e8m0fnu'", "1.5", "80"},
		{"'float6_e2m3fn'", "-1", "28"},
		{"'float6_e3m2fn'", "1.5", "0e"},
		{"'float4_e2m1fn'", "100", "07"},
		{"'r16'", "[1,255]", "01ff"},
		{RAW_3, "'AQID'", "010203"},
		{CHARS_3, "'YQ=='", "610000"},
		{CHARS_3, "''", "000000"},
		{UTF32_2, "'a\xc3\xa9'", "61000000e9000000"},
		{UTF32_2, "'\\ud83d\\ude00'", "00f6010000000000"},
		{UTF32_2, "'\\ud800'", "00d8000000000000"},
		{TIME, "'NaT'", "0000000000000080"},
		{TIME, "-9223372036854775808", "0000000000000080"},
		{TIME, "1", "0100000000000000"},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_meta m = parse_v3(
			(struct doc_v3){.type = row[i].type, .fill = row[i].fill});

		CHECK_STR(fill_hex(&m), row[i].want);
		zr_meta_done(&m);
	}
}

static void variable_length_is_an_item(void)
{
	static const struct {
		const char *type, *codecs, *fill, *want;
	} row[] = {
		{"'string'", "[\'vlen-utf8\']", "'a\\u0000\xc3\xa9'", "6100c3a9"},
		{"'string'", "[\'vlen-utf8\']", "''", ""},
		{"'string'", "[\'vlen-utf8\']", "'\\ud800'", "efbfbd"},
		{"'bytes'", "[\'vlen-bytes\']", "[0,255]", "00ff"},
		{"'bytes'", "[\'vlen-bytes\']", "'AP8='", "00ff"},
		{"'variable_length_bytes'", "[\'vlen-bytes\']", "''", ""},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_meta m = parse_v3((struct doc_v3){.type = row[i].type,
		                                            .codecs = row[i].codecs,
		                                            .fill = row[i].fill});

		CHECK_STR(fill_hex(&m), row[i].want);
		zr_meta_done(&m);
	}
}

static void record_forms_become_stored_bytes(void)
{
	static const struct {
		const char *type, *codecs, *fill, *want;
	} row[] = {
		{TWO, LITTLE, "{'a':-2,'p':{'x':1.5,'y':258}}", "feffffff0000c03f0201"},
		{TWO, BIG, "{'a':-2,'p':{'x':1.5,'y':258}}", "fffffffe3fc000000102"},
		{TWO, LITTLE, "{'p':{'y':'1','x':'NaN','z':9},'a':0.0}",
	         "000000000000c07f0100"},
		{TWO, LITTLE, "{'a':1,'a':2,'p':null}", "02000000000000000000"},
		{TWO, LITTLE, "{'a':1,'p':'AADAPwIB'}", "010000000000c03f0201"},
		/* base64 of a record is in the order that the codec stores */
		{TWO, LITTLE, "'/v///wAAwD8CAQ=='", "feffffff0000c03f0201"},
		{TWO, BIG, "'/////j/AAAABAg=='", "fffffffe3fc000000102"},
		{TWO, LITTLE, "null", "00000000000000000000"},
		{TWO, LITTLE, "0", "00000000000000000000"},
		{ONE(TIME), LITTLE, "{'a':null}", "0000000000000080"},
		{ONE(TIME), LITTLE, "null", "0000000000000000"},
		/* one field: the bare scalar */
		{ONE("'int16'"), LITTLE, "-2", "feff"},
		{ONE("'int16'"), BIG, "'-2'", "fffe"},
		{ONE("'float32'"), LITTLE, "'AACAPw=='", "0000803f"},
		{ONE("'complex64'"), LITTLE, "[1,2]", "0000803f00000040"},
		{ONE(UTF32_2), LITTLE, "'ab'", "6100000062000000"},
		{ONE(UTF32_2), BIG, "{'a':'ab'}", "0000006100000062"},
		{ONE(ONE("'uint8'")), LITTLE, "7", "07"},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_meta m = parse_v3((struct doc_v3){.type = row[i].type,
		                                            .codecs = row[i].codecs,
		                                            .fill = row[i].fill});

		CHECK_STR(fill_hex(&m), row[i].want);
		zr_meta_done(&m);
	}
}

static void odd_field_names_are_found(void)
{
	static const char type[] =
		"{'name':'struct','configuration':{'fields':["
		"['a\\u0000b','uint8'],['\\ud800','uint8'],['\\u0001x41','uint8'],"
		"['','uint8'],['\\u00e9','uint8']]}}";
	static const char fill[] =
		"{'':4,'\\u0001x41':3,'\\ud800':2,'a\\u0000b':1,'\xc3\xa9':5}";
	struct zr_meta m = parse_v3((struct doc_v3){.type = type, .fill = fill});

	CHECK_STR(fill_hex(&m), "0102030405");
	zr_meta_done(&m);
}

static void version_2_has_forms_of_its_own(void)
{
	static const struct {
		const char *dtype, *filters, *fill, *want;
	} row[] = {
		{"'<i4'", "null", "null", "00000000"},
		{"'>i4'", "null", "1", "00000001"},
		{"'>f8'", "null", "'NaN'", "7ff8000000000000"},
		{"'<f4'", "null", "NaN", "0000c07f"},
		{"'|b1'", "null", "1", "01"},
		{"'<M8[ns]'", "null", "null", "0000000000000080"},
		{"'>m8[s]'", "null", "-1", "ffffffffffffffff"},
		{"'|S3'", "null", "0", "000000"},
		{"'|S3'", "null", "'MA=='", "300000"},
		{"'<U2'", "null", "'0'", "3000000000000000"},
		{"'>U2'", "null", "'0'", "0000003000000000"},
		{"'<U2'", "null", "0", "0000000000000000"},
		{"'|V2'", "null", "'AQI='", "0102"},
		/* the specification's own example: 7 and 1.5 of <i4 and >f8 */
		{"[['a','<i4'],['b','>f8']]", "null", "'BwAAAD/4AAAAAAAA'",
	         "070000003ff8000000000000"},
		{"[['a','<i4'],['b','>f8']]", "null", "0", "000000000000000000000000"},
		{"[['a','<i4'],['b','>f8']]", "null", "{'a':7,'b':1.5}",
	         "070000003ff8000000000000"},
		{"[['a','|u1'],['','|V3']]", "null", "{'a':7}", "07000000"},
		{"[['a','<i2',[2]]]", "null", "'AQACAA=='", "01000200"},
		{"[['a','<i2',[2]],['b','|u1']]", "null", "{'a':'AQACAA==','b':3}",
	         "0100020003"},
		{"'|O'", "[{'id':'vlen-utf8'}]", "0", ""},
		{"'|O'", "[{'id':'vlen-utf8'}]", "null", ""},
		{"'|O'", "[{'id':'vlen-utf8'}]", "'0'", "30"},
		{"'|O'", "[{'id':'vlen-bytes'}]", "0", ""},
		{"'|O'", "[{'id':'vlen-bytes'}]", "'AQI='", "0102"},
		{"'|O'", "[{'id':'json2'}]", "0", "73"},
		{"'|O'", "[{'id':'json2'}]", "'0'", "7330"},
		{"'|O'", "[{'id':'json2'}]", "false", "6a66616c7365"},
		{"'|O'", "[{'id':'json2'}]", "[1, NaN]", "6a5b312c6e756c6c5d"},
		{"'|O'", "[{'id':'json2'}]", "NaN", "6a6e756c6c"},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_meta m = parse_v2((struct doc_v2){.dtype = row[i].dtype,
		                                            .filters = row[i].filters,
		                                            .fill = row[i].fill});

		CHECK_STR(fill_hex(&m), row[i].want);
		zr_meta_done(&m);
	}
}

static void fills_that_do_not_fit_are_refused(void)
{
	static const struct {
		const char *type, *fill, *want;
	} row[] = {
		{"'uint8'", "256",
	         "fill_value 256 is out of the range of its type (zarr.json)"},
		{"'uint8'", "-1",
	         "fill_value -1 is out of the range of its type (zarr.json)"},
		{"'int8'", "-129",
	         "fill_value -129 is out of the range of its type (zarr.json)"},
		{"'int4'", "8",
	         "fill_value 8 is out of the range of its type (zarr.json)"},
		{"'uint2'", "4",
	         "fill_value 4 is out of the range of its type (zarr.json)"},
		{"'int64'", "9223372036854775808",
	         "fill_value 9223372036854775808 is out of the range of its type "
	         "(zarr.json)"},
		{"'uint64'", "18446744073709551616",
	         "fill_value 18446744073709551616 is out of the range of its type "
	         "(zarr.json)"},
		{"'int32'", "0.5", "fill_value 0.5 is no whole number (zarr.json)"},
		{"'int32'", "NaN", "fill_value NaN is no whole number (zarr.json)"},
		{"'int32'", "'x'", "fill_value 'x' is no number (zarr.json)"},
		{"'int32'", "''", "fill_value '' is no number (zarr.json)"},
		{"'int32'", "[]", "fill_value a list is no number (zarr.json)"},
		{"'bool'", "'yes'",
	         "fill_value 'yes' is neither true nor false (zarr.json)"},
		{"'float32'", "'0x123456789'",
	         "fill_value '0x123456789' is no number (zarr.json)"},
		{"'float32'", "'0x'", "fill_value '0x' is no number (zarr.json)"},
		{"'float32'", "'1.5 '", "fill_value '1.5 ' is no number (zarr.json)"},
		{"'float32'", "{}", "fill_value an object is no number (zarr.json)"},
		{"'float4_e2m1fn'", "'NaN'",
	         "fill_value 'NaN' cannot be held by its type (zarr.json)"},
		{"'float6_e3m2fn'", "Infinity",
	         "fill_value Infinity cannot be held by its type (zarr.json)"},
		{"'complex64'", "[1]",
	         "fill_value a list is no pair of numbers (zarr.json)"},
		{RAW_3, "'AQIDBA=='",
	         "fill_value 'AQIDBA==' is not base64 that fits its type (zarr.json)"},
		{RAW_3, "'AQ'",
	         "fill_value 'AQ' is not base64 that fits its type (zarr.json)"},
		{RAW_3, "[1,256]",
	         "fill_value a list is not base64 that fits its type (zarr.json)"},
		{UTF32_2, "'abc'",
	         "fill_value 'abc' is longer than its type (zarr.json)"},
		{UTF32_2, "5", "fill_value 5 is no text (zarr.json)"},
		{TIME, "'2020-01-01'",
	         "fill_value '2020-01-01' is no number (zarr.json)"},
		{TWO, "{'a':1}", "field 'p': fill_value lacks this field (zarr.json)"},
		{TWO, "{'a':1,'p':{'x':1}}",
	         "field 'p.y': fill_value lacks this field (zarr.json)"},
		{TWO, "{'a':1,'p':{'x':1,'y':65536}}",
	         "field 'p.y': fill_value 65536 is out of the range of its type "
	         "(zarr.json)"},
		{TWO, "'AA=='",
	         "fill_value 'AA==' is not base64 of one record (zarr.json)"},
		{TWO, "[1,[2,3]]",
	         "fill_value a list is no object with a member for each field "
	         "(zarr.json)"},
		{TWO, "7",
	         "fill_value 7 is no object with a member for each field (zarr.json)"},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_meta m = parse_v3(
			(struct doc_v3){.type = row[i].type, .fill = row[i].fill});

		CHECK_STR(m.why.text, row[i].want);
		CHECK_INT(m.why.code, -EINVAL);
		CHECK(!m.array);
		CHECK_INT(m.kind, ZR_NODE_ARRAY);
		zr_meta_done(&m);
	}
}

static void missing_fill_is_an_error_in_version_3_only(void)
{
	struct zr_meta m = parse_text_v3(
		"{'zarr_format':3,'node_type':'array','shape':[1],'data_type':'uint8',"
		"'chunk_grid':{'name':'regular','configuration':{'chunk_shape':[1]}},"
		"'chunk_key_encoding':'default','codecs':['bytes']}");

	CHECK_STR(m.why.text, "member 'fill_value' is missing (zarr.json)");
	zr_meta_done(&m);

	m = parse_text_v2(NULL,
	                  "{'zarr_format':2,'shape':[1],'chunks':[1],'dtype':'|u1',"
	                  "'compressor':null}",
	                  NULL);
	CHECK_STR(fill_hex(&m), "00");
	zr_meta_done(&m);
}

static void text_of_objects_must_be_text(void)
{
	struct zr_meta m = parse_v2((struct doc_v2){
		.dtype = "'|O'", .filters = "[{'id':'vlen-utf8'}]", .fill = "5"});

	CHECK_STR(m.why.text, "fill_value 5 is no text (.zarray)");
	zr_meta_done(&m);
	m = parse_v2((struct doc_v2){
		.dtype = "'|O'", .filters = "[{'id':'vlen-bytes'}]", .fill = "'0'"});
	CHECK_STR(m.why.text, "fill_value '0' is no base64 (.zarray)");
	zr_meta_done(&m);
}

int main(void)
{
	RUN(scalar_forms_become_stored_bytes);
	RUN(variable_length_is_an_item);
	RUN(record_forms_become_stored_bytes);
	RUN(odd_field_names_are_found);
	RUN(version_2_has_forms_of_its_own);
	RUN(fills_that_do_not_fit_are_refused);
	RUN(missing_fill_is_an_error_in_version_3_only);
	RUN(text_of_objects_must_be_text);
	return EXIT_SUCCESS;
}
