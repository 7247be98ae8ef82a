/* SPDX-License-Identifier: MIT */
#include "schema.h"

#include "meta_doc.h"

#define HASH_OF_252_X "a37a0ff78882e816" /* XXH64, seed 0 */

static const struct zr_render_opts opts = {.nonfinite = ZR_NONFINITE_NULL};

static char *schema_of(const char *path, struct zr_meta *own_m)
{
	struct zr_buf b = {0};
	struct zr_layout l;

	CHECK_STR(own_m->why.text, "");
	CHECK_INT(zr_layout_build(&own_m->array->type, &l), 0);
	CHECK_INT(zr_schema(path, own_m, &l, &opts, &b), 0);
	zr_layout_done(&l);
	zr_meta_done(own_m);
	CHECK_INT(b.data[b.len - 1], '\n');
	zr_buf_addc(&b, '\0');
	CHECK_INT(zr_buf_check(&b), 0);
	CHECK_INT(strlen((char *)b.data), b.len - 1);
	return (char *)b.data;
}

static void check_schema(const char *path, struct zr_meta m, const char *want)
{
	char *got = schema_of(path, &m);

	CHECK_STR(got, want);
	free(got);
}

static void check_has(struct zr_meta m, const char *want)
{
	char *got = schema_of("", &m);

	if (!strstr(got, want))
		fprintf(stderr, "%s\nlacks %s\n", got, want);
	CHECK(strstr(got, want));
	free(got);
}

static void a_struct_of_v3_is_told_in_full(void)
{
	check_schema(
		"data/trials",
		parse_v3((struct doc_v3){
			.shape = "[10,4]",
			.chunks = "[5,4]",
			.type = "{'name':'struct','configuration':{'fields':["
				"{'name':'id','data_type':'int32'},"
				"{'name':'at','data_type':{'name':'numpy.datetime64',"
				"'configuration':{'unit':'ms','scale_factor':10}}},"
				"{'name':'pos','data_type':{'name':'struct','"
				"configuration':"
				"{'fields':[{'name':'x','data_type':'float32'},"
				"{'name':'tag','data_type':{'name':'fixed_length_utf32',"
				"'configuration':{'length_bytes':8}}}]}}},"
				"{'name':'on','data_type':'bool'}]}}",
			.codecs = "[{'name':'transpose','configuration':{'order':[1,0]}},"
				  "{'name':'bytes','configuration':{'endian':'big'}},"
				  "{'name':'zstd','configuration':{'level':0,'checksum':"
				  "false}},'crc32c']",
			.fill = "{'id':-1,'at':'NaT','pos':{'x':'NaN','tag':'a'},'on':"
				"true}",
			.extra = ",'dimension_names':['row',null]"}),
		"{\n"
		"  \"path\": \"data/trials\",\n"
		"  \"zarr_format\": 3,\n"
		"  \"shape\": [10, 4],\n"
		"  \"chunk_shape\": [5, 4],\n"
		"  \"dimension_names\": [\"row\", null],\n"
		"  \"codecs\": [\"transpose\", \"bytes\", \"zstd\", \"crc32c\"],\n"
		"  \"fill_value\": "
		"{\"id\":-1,\"at\":null,\"pos\":{\"x\":null,\"tag\":\"a\"},\"on\":true},"
		"\n"
		"  \"record_size\": 25,\n"
		"  \"fields\": {\n"
		"    \"id\": {\"name\": \"id\", \"type\": \"int32\", \"offset\": 0, "
		"\"size\": 4, \"byte_order\": \"big\"},\n"
		"    \"at\": {\"name\": \"at\", \"type\": \"numpy.datetime64\", "
		"\"offset\": 4, \"size\": 8, \"byte_order\": \"big\", \"unit\": \"ms\", "
		"\"scale\": 10},\n"
		"    \"pos\": {\"name\": \"pos\", \"type\": \"struct\", \"offset\": 12, "
		"\"size\": 12, \"fields\": {\n"
		"      \"x\": {\"name\": \"x\", \"type\": \"float32\", \"offset\": 12, "
		"\"size\": 4, \"byte_order\": \"big\"},\n"
		"      \"tag\": {\"name\": \"tag\", \"type\": \"fixed_length_utf32\", "
		"\"offset\": 16, \"size\": 8, \"byte_order\": \"big\"}\n"
		"    }},\n"
		"    \"on\": {\"name\": \"on\", \"type\": \"bool\", \"offset\": 24, "
		"\"size\": 1}\n"
		"  }\n"
		"}\n");
}

static void a_struct_of_v2_has_types_of_numpy_and_hides_padding(void)
{
	check_schema(
		"",
		parse_v2((struct doc_v2){
			.shape = "[3]",
			.dtype = "[['a','>i2'],['','|V2'],['m','<f8',[2,3]],"
				 "['s',[['x','|S3'],['t','<m8[7D]']],[2]]]",
			.filters = "[{'id':'shuffle','elementsize':4}]",
			.compressor = "{'id':'zlib','level':1}",
			.fill = "null"}),
		"{\n"
		"  \"path\": \"\",\n"
		"  \"zarr_format\": 2,\n"
		"  \"shape\": [3],\n"
		"  \"chunk_shape\": [3],\n"
		"  \"codecs\": [\"shuffle\", \"zlib\"],\n"
		"  \"fill_value\": "
		"{\"a\":0,\"m\":[[0.0,0.0,0.0],[0.0,0.0,0.0]],\"s\":[{\"x\":\"\",\"t\":0}"
		","
		"{\"x\":\"\",\"t\":0}]},\n"
		"  \"record_size\": 74,\n"
		"  \"fields\": {\n"
		"    \"a\": {\"name\": \"a\", \"type\": \">i2\", \"offset\": 0, "
		"\"size\": 2, "
		"\"byte_order\": \"big\"},\n"
		"    \"m\": {\"name\": \"m\", \"type\": \"<f8\", \"offset\": 4, "
		"\"size\": 8, "
		"\"shape\": [2, 3], \"byte_order\": \"little\"},\n"
		"    \"s\": {\"name\": \"s\", \"type\": \"struct\", \"offset\": 52, "
		"\"size\": "
		"11, \"shape\": [2], \"fields\": {\n"
		"      \"x\": {\"name\": \"x\", \"type\": \"|S3\", \"offset\": 52, "
		"\"size\": "
		"3},\n"
		"      \"t\": {\"name\": \"t\", \"type\": \"<m8[7D]\", \"offset\": 55, "
		"\"size\": 8, \"byte_order\": \"little\", \"unit\": \"D\", \"scale\": "
		"7}\n"
		"    }}\n"
		"  }\n"
		"}\n");
}

static void a_plain_array_has_values_without_a_name(void)
{
	check_has(parse_v3((struct doc_v3){.type = "'float8_e4m3'"}),
	          "  \"fill_value\": 0.0,\n"
	          "  \"record_size\": 1,\n"
	          "  \"fields\": {\n"
	          "    \"values\": {\"name\": null, \"type\": \"float8_e4m3\", "
	          "\"offset\": 0, \"size\": 1}\n"
	          "  }\n"
	          "}\n");
	check_has(parse_v3((struct doc_v3){.shape = "[]"}), "\"shape\": [],");
}

static void variable_length_has_no_size(void)
{
	check_has(parse_v3((struct doc_v3){.type = "'string'",
	                                   .codecs = "['vlen-utf8']",
	                                   .fill = "'a\\tb'"}),
	          "  \"codecs\": [\"vlen-utf8\"],\n"
	          "  \"fill_value\": \"a\\tb\",\n"
	          "  \"fields\": {\n"
	          "    \"values\": {\"name\": null, \"type\": \"string\"}\n");
	check_has(parse_v2((struct doc_v2){.dtype = "'|O'",
	                                   .filters = "[{'id':'vlen-bytes'}]",
	                                   .fill = "null"}),
	          "{\"name\": null, \"type\": \"|O\"}");
	check_has(parse_v2((struct doc_v2){
			  .dtype = "'|O'",
			  .filters = "[{'id':'vlen-array','dtype':'>m8[s]'}]",
			  .fill = "null"}),
	          "{\"name\": null, \"type\": \"|O\", \"items\": \">m8[s]\"}");
}

static void shards_tell_both_shapes_and_the_codecs_inside(void)
{
	check_has(
		parse_v3((struct doc_v3){
			.shape = "[8,6]",
			.chunks = "[4,6]",
			.codecs = "[{'name':'sharding_indexed','configuration':{"
				  "'chunk_shape':[2,3],'codecs':['bytes',{'name':'gzip',"
				  "'configuration':{'level':1}}],'index_codecs':[{'name':"
				  "'bytes','configuration':{'endian':'little'}},'crc32c']"
				  "}},'crc32c']"}),
		"  \"chunk_shape\": [2, 3],\n"
		"  \"shard_shape\": [4, 6],\n"
		"  \"codecs\": [{\"sharding_indexed\": [\"bytes\", \"gzip\"]}, "
		"\"crc32c\"],\n");
}

#define FIELD                                                                            \
	"{'name':'struct','configuration':{'fields':[{'name':'%s','data_type':'int8'}]}" \
	"}"

static void check_name(const char *name, const char *want)
{
	char type[2000];

	snprintf(type, sizeof(type), FIELD, name);
	check_has(parse_v3((struct doc_v3){.type = type, .fill = "'AA=='"}), want);
}

static void names_are_true_and_file_names_are_escaped(void)
{
	check_name("a/b", "\n    \"a%2Fb\": {\"name\": \"a/b\", ");
	check_name("", "\n    \"%\": {\"name\": \"\", ");
	check_name("records", "\n    \"%72ecords\": {\"name\": \"records\", ");
	check_name("a\\u0000\\t\\u007f\\u009b", "\n    \"a%00%09%7F%C2%9B\": {\"name\": "
	                                        "\"a\\u0000\\t\\u007f\\u009b\", ");
	check_name("\\ud800x", "\n    \"%ED%A0%80x\": {\"name\": \"\\ud800x\", ");
	check_name("\\ud83d\\ude00", "\n    \"\xf0\x9f\x98\x80\": {\"name\": "
	                             "\"\xf0\x9f\x98\x80\", ");
	check_name("\\b\\u000b\\f\\\\\\\"", "{\"name\": \"\\b\\u000b\\f\\\\\\\"\", ");
}

/* 252 bytes fit, but not with ".npy" behind them. The hash is xxh64 of the name. */
static void a_name_that_npy_cuts_tells_both(void)
{
	char name[253], want[1000];

	memset(name, 'x', 252);
	name[252] = '\0';
	snprintf(want, sizeof(want),
	         "\n    \"%s\": {\"name\": \"%s\", \"npy\": \"%.234s~%s.npy\", \"type\"",
	         name, name, name, HASH_OF_252_X);
	check_name(name, want);
	name[251] = '\0';
	snprintf(want, sizeof(want), "\n    \"%s\": {\"name\": \"%s\", \"type\"", name,
	         name);
	check_name(name, want);
}

static void a_path_of_any_bytes_is_as_python_spells_it(void)
{
	struct zr_meta m = parse_v3((struct doc_v3){0});
	char *got = schema_of("a/\xff\xed\xa0\x80\n\xc3\xa9", &m);

	CHECK(strstr(got, "\"path\": \"a/\\udcff\\udced\\udca0\\udc80\\n\xc3\xa9\","));
	free(got);
}

int main(void)
{
	RUN(a_struct_of_v3_is_told_in_full);
	RUN(a_struct_of_v2_has_types_of_numpy_and_hides_padding);
	RUN(a_plain_array_has_values_without_a_name);
	RUN(variable_length_has_no_size);
	RUN(shards_tell_both_shapes_and_the_codecs_inside);
	RUN(names_are_true_and_file_names_are_escaped);
	RUN(a_name_that_npy_cuts_tells_both);
	RUN(a_path_of_any_bytes_is_as_python_spells_it);
	return EXIT_SUCCESS;
}
