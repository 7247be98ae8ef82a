/* SPDX-License-Identifier: MIT */
#include "meta_doc.h"

static void ordinary_array_is_understood(void)
{
	struct zr_meta m = parse_v3((struct doc_v3){
		.shape = "[5,7]",
		.type = "'int32'",
		.chunks = "[2,3]",
		.codecs = "[{'name':'bytes','configuration':{'endian':'big'}},"
			  "{'name':'zstd','configuration':{'level':0,'checksum':false}},'"
			  "crc32c']",
		.fill = "1",
		.extra = ",'attributes':{'unit' : 'mV'},'dimension_names':['y','x'],"
			 "'storage_transformers':[],'consolidated_metadata':null"});
	const struct zr_array *a = m.array;

	CHECK_INT(m.kind, ZR_NODE_ARRAY);
	CHECK_STR(m.why.text, "");
	CHECK(m.has_attributes);
	CHECK_MEM(m.attributes.data, m.attributes.len, "{\"unit\" : \"mV\"}", 15);
	CHECK_INT(a->zarr_format, 3);
	CHECK_INT(a->ndim, 2);
	CHECK_INT(a->shape[0], 5);
	CHECK_INT(a->shape[1], 7);
	CHECK_INT(a->nrecords, 35);
	CHECK_INT(a->type.kind, ZR_INT);
	CHECK_INT(a->type.bits, 32);
	CHECK_INT(a->type.size, 4);
	CHECK(a->type.big);
	CHECK_STR(fill_hex(&m), "00000001");
	CHECK_STR(a->dims[0].data, "y");
	CHECK_STR(a->dims[1].data, "x");
	CHECK(!a->v2_keys && a->separator == '/' && !a->try_slash);
	CHECK_INT(a->nlevels, 1);
	CHECK_INT(a->levels[0].chunk[0], 2);
	CHECK_INT(a->levels[0].chunk[1], 3);
	CHECK_INT(a->levels[0].axis[0], 0);
	CHECK_INT(a->levels[0].axis[1], 1);
	CHECK_STR(chain_names(a->levels[0].codecs), "zstd crc32c");
	zr_meta_done(&m);
}

static void group_is_told_from_array(void)
{
	struct zr_meta m =
		parse_text_v3("{'zarr_format':3,'node_type':'group',"
	                      "'consolidated_metadata':{'metadata':{}},'x':1}");

	CHECK_INT(m.kind, ZR_NODE_GROUP);
	CHECK_INT(m.why.code, 0);
	CHECK(!m.array);
	CHECK_MEM(m.attributes.data, m.attributes.len, "{}", 2);
	zr_meta_done(&m);
}

static void documents_that_tell_nothing_are_groups_with_a_reason(void)
{
	static const struct {
		const char *text, *want;
		bool attributes;
	} row[] = {
		{"",
	         "not valid JSON: line 1 column 1: the text ends too early (zarr.json)",
	         false},
		{"[1,2]", "a list instead of an object (zarr.json)", false},
		{"NaN", "NaN instead of an object (zarr.json)", false},
		{"{}", "member 'node_type' is missing (zarr.json)", false},
		{"{'zarr_format':3,'node_type':'table'}",
	         "node_type 'table' is unknown (zarr.json)", true},
		{"{'zarr_format':4,'node_type':'group'}",
	         "zarr_format is 4 instead of 3 (zarr.json)", true},
		{"{'node_type':'group'}", "member 'zarr_format' is missing (zarr.json)",
	         true},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_meta m = parse_text_v3(row[i].text);

		CHECK_STR(m.why.text, row[i].want);
		CHECK_INT(m.kind, ZR_NODE_GROUP);
		CHECK_INT(m.has_attributes, row[i].attributes);
		zr_meta_done(&m);
	}
}

static void every_data_type_has_kind_and_size(void)
{
	static const struct {
		const char *type;
		enum zr_kind kind;
		int detail; /* bits, or format of floats */
		uint64_t size;
	} row[] = {
		{"'bool'", ZR_BOOL, 0, 1},
		{"'int8'", ZR_INT, 8, 1},
		{"'int64'", ZR_INT, 64, 8},
		{"'uint16'", ZR_UINT, 16, 2},
		{"{'name':'uint32'}", ZR_UINT, 32, 4},
		{"{'name':'uint64','configuration':{}}", ZR_UINT, 64, 8},
		{"'int2'", ZR_INT, 2, 1},
		{"'uint4'", ZR_UINT, 4, 1},
		{"'float16'", ZR_FLOAT, ZR_F16, 2},
		{"'float32'", ZR_FLOAT, ZR_F32, 4},
		{"'float64'", ZR_FLOAT, ZR_F64, 8},
		{"'bfloat16'", ZR_FLOAT, ZR_BF16, 2},
		{"'float8_e5m2'", ZR_FLOAT, ZR_F8_E5M2, 1},
		{"'float8_e8m0fnu'", ZR_FLOAT, ZR_F8_E8M0FNU, 1},
		{"'float6_e3m2fn'", ZR_FLOAT, ZR_F6_E3M2FN, 1},
		{"'float4_e2m1fn'", ZR_FLOAT, ZR_F4_E2M1FN, 1},
		{"'complex64'", ZR_COMPLEX, ZR_F32, 8},
		{"'complex128'", ZR_COMPLEX, ZR_F64, 16},
		{"'complex_float32'", ZR_COMPLEX, ZR_F32, 8},
		{"'complex_bfloat16'", ZR_COMPLEX, ZR_BF16, 4},
		{"'complex_float8_e4m3'", ZR_COMPLEX, ZR_F8_E4M3, 2},
		{"'r8'", ZR_RAW, 0, 1},
		{"'r24'", ZR_RAW, 0, 3},
		{"{'name':'fixed_length_utf32','configuration':{'length_bytes':2048}}",
	         ZR_UTF32, 0, 2048},
		{"{'name':'null_terminated_bytes','configuration':{'length_bytes':7}}",
	         ZR_CHARS, 0, 7},
		{"{'name':'raw_bytes','configuration':{'length_bytes':240}}", ZR_RAW, 0,
	         240},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_meta m =
			parse_v3((struct doc_v3){.type = row[i].type, .fill = "null"});

		CHECK_STR(m.why.text, "");
		CHECK_INT(m.array->type.kind, row[i].kind);
		CHECK_INT(row[i].kind == ZR_FLOAT || row[i].kind == ZR_COMPLEX
		                  ? (int)m.array->type.flt
		                  : m.array->type.bits,
		          row[i].detail);
		CHECK_INT(m.array->type.size, row[i].size);
		zr_meta_done(&m);
	}
}

static void times_have_unit_and_scale(void)
{
	static const struct {
		const char *unit;
		enum zr_unit want;
	} row[] = {{"Y", ZR_YEAR},         {"M", ZR_MONTH},      {"W", ZR_WEEK},
	           {"D", ZR_DAY},          {"h", ZR_HOUR},       {"m", ZR_MINUTE},
	           {"s", ZR_SECOND},       {"ms", ZR_MS},        {"us", ZR_US},
	           {"\xce\xbcs", ZR_US},   {"\xc2\xb5s", ZR_US}, {"ns", ZR_NS},
	           {"ps", ZR_PS},          {"fs", ZR_FS},        {"as", ZR_AS},
	           {"generic", ZR_GENERIC}};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_meta m;
		char type[200];

		sprintf(type,
		        "{'name':'numpy.timedelta64','configuration':{'unit':'%s',"
		        "'scale_factor':2147483647}}",
		        row[i].unit);
		m = parse_v3((struct doc_v3){.type = type});
		CHECK_STR(m.why.text, "");
		CHECK_INT(m.array->type.kind, ZR_TIMEDELTA);
		CHECK_INT(m.array->type.unit, row[i].want);
		CHECK_INT(m.array->type.scale, 2147483647);
		zr_meta_done(&m);
	}
}

static void both_struct_names_take_both_field_forms(void)
{
	static const char *const row[] = {
		FIELDS("struct",
	               "{'name':'a','data_type':'int32'},{'name':'p','data_type':" FIELDS(
			       "struct",
			       "{'name':'x','data_type':{'name':'float64'}}") "}"),
		FIELDS("structured",
	               "['a','int32'],['p'," FIELDS("structured", "['x','float64']") "]"),
		FIELDS("struct",
	               "['a',{'name':'int32'}],['p'," FIELDS(
			       "structured", "{'data_type':'float64','name':'x'}") "]"),
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_meta m =
			parse_v3((struct doc_v3){.type = row[i], .codecs = BIG});
		const struct zr_type *t = &m.array->type;

		CHECK_STR(m.why.text, "");
		CHECK_INT(t->kind, ZR_STRUCT);
		CHECK_INT(t->size, 12);
		CHECK_INT(t->nfields, 2);
		CHECK_STR(t->fields[0].name, "a");
		CHECK_INT(t->fields[0].type.kind, ZR_INT);
		CHECK_INT(t->fields[1].offset, 4);
		CHECK_INT(t->fields[1].count, 1);
		CHECK_INT(t->fields[1].type.size, 8);
		CHECK_STR(t->fields[1].type.fields[0].name, "x");
		CHECK_INT(t->fields[1].type.fields[0].offset, 0);
		CHECK(t->fields[1].type.fields[0].type.big);
		zr_meta_done(&m);
	}
}

static void names_are_free_text(void)
{
	struct zr_meta m = parse_v3((struct doc_v3){
		.type = FIELDS("struct",
	                       "['','uint8'],['..','uint8'],['a\\u0000b','uint8'],"
	                       "['\\ud800','uint8'],['a','uint8']")});
	const struct zr_field *f = m.array->type.fields;

	CHECK_MEM(f[0].name, f[0].name_len, "", 0);
	CHECK_MEM(f[1].name, f[1].name_len, "..", 2);
	CHECK_MEM(f[2].name, f[2].name_len, "a\0b", 3);
	CHECK_MEM(f[3].name, f[3].name_len, "\xed\xa0\x80", 3);
	zr_meta_done(&m);
}

static void missing_endian_is_little_for_structured_only(void)
{
	static const char *const bare[] = {"[{'name':'bytes'}]", "['bytes']",
	                                   "[{'name':'bytes','configuration':null}]"};
	struct zr_meta m;

	for (size_t i = 0; i < ZR_COUNT(bare); i++) {
		m = parse_v3(
			(struct doc_v3){.type = FIELDS("structured", "['a','int32']"),
		                        .codecs = bare[i]});
		CHECK_STR(m.why.text, "");
		CHECK(!m.array->type.fields[0].type.big);
		zr_meta_done(&m);
		m = parse_v3((struct doc_v3){.type = FIELDS("struct", "['a','int32']"),
		                             .codecs = bare[i]});
		CHECK_STR(m.why.text, "codec 'bytes' has no endian, which the data type "
		                      "needs (zarr.json)");
		zr_meta_done(&m);
		m = parse_v3((struct doc_v3){.type = FIELDS("struct", "['a','r32']"),
		                             .codecs = bare[i]});
		CHECK_STR(m.why.text, "");
		zr_meta_done(&m);
	}
}

static void key_encodings_and_separators(void)
{
	static const struct {
		const char *keys;
		bool v2;
		char separator;
	} row[] = {
		{"'default'", false, '/'},
		{"{'name':'default'}", false, '/'},
		{"{'name':'default','configuration':{}}", false, '/'},
		{"{'name':'default','configuration':{'separator':'.'}}", false, '.'},
		{"'v2'", true, '.'},
		{"{'name':'v2','configuration':{'separator':'/'}}", true, '/'},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_meta m = parse_v3((struct doc_v3){.keys = row[i].keys});

		CHECK_STR(m.why.text, "");
		CHECK_INT(m.array->v2_keys, row[i].v2);
		CHECK_INT(m.array->separator, row[i].separator);
		CHECK(!m.array->try_slash);
		zr_meta_done(&m);
	}
}

static void names_of_dimensions_have_two_sources(void)
{
	static const struct {
		const char *own, *attribute, *want;
	} row[] = {
		{"['x','y']", "['a','b']", "x y"},
		{"null", "['x','y']", "x y"},
		{"[null,null]", "['x','y']", "x y"},
		{"[]", "['x','y']", "x y"},
		{"['x',null]", "['a','b']", "x -"},
		{"null", "['a']", NULL},
		{"['a']", "['x','y']", NULL},
		{"null", "'xy'", NULL},
		{"null", "null", NULL},
		{"null", "[1,'y']", "- y"},
		{"['','y']", "null", " y"},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_meta m;
		char extra[200], got[100];

		sprintf(extra,
		        ",'dimension_names':%s,'attributes':{'_ARRAY_DIMENSIONS':%s}",
		        row[i].own, row[i].attribute);
		m = parse_v3((struct doc_v3){.shape = "[2,3]", .extra = extra});
		CHECK_STR(m.why.text, "");
		CHECK(!m.array->dims == !row[i].want);
		if (row[i].want) {
			const struct zr_str *d = m.array->dims;

			sprintf(got, "%s %s", d[0].data ? d[0].data : "-",
			        d[1].data ? d[1].data : "-");
			CHECK_STR(got, row[i].want);
		}
		zr_meta_done(&m);
	}
}

static void transpositions_are_multiplied_out(void)
{
	static const struct {
		const char *order;
		uint8_t axis[3];
	} row[] = {
		{TRANSPOSE("[0,1,2]"), {0, 1, 2}},
		{TRANSPOSE("'C'"), {0, 1, 2}},
		{TRANSPOSE("'F'"), {2, 1, 0}},
		{TRANSPOSE("[2,0,1]"), {2, 0, 1}},
		/* encoded axis i of the second is axis order[i] of the first's result */
		{TRANSPOSE("[2,0,1]") "," TRANSPOSE("[1,0,2]"), {0, 2, 1}},
		{TRANSPOSE("[1,2,0]") "," TRANSPOSE("[1,2,0]"), {2, 0, 1}},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_meta m;
		char codecs[300];

		sprintf(codecs, "[%s,'bytes','gzip']", row[i].order);
		m = parse_v3((struct doc_v3){.shape = "[2,3,4]", .codecs = codecs});
		CHECK_STR(m.why.text, "");
		CHECK_MEM(m.array->levels[0].axis, 3, row[i].axis, 3);
		CHECK_STR(chain_names(m.array->levels[0].codecs), "gzip");
		zr_meta_done(&m);
	}
}

static void shards_become_levels(void)
{
	struct zr_meta m = parse_v3((struct doc_v3){
		.shape = "[100,200]",
		.type = "'uint16'",
		.chunks = "[24,40]",
		/* shards of 40 x 24 after the transposition, in pieces of 20 x 6, these
	         * again in pieces of 5 x 3 that are stored the other way round */
		.codecs = "[" TRANSPOSE("[1,0]") "," SHARD(
			"[20,6]",
			"[" SHARD("[5,3]",
	                          "[" TRANSPOSE("'F'") ",{'name':'bytes','configuration':"
	                                               "{'endian':'big'}},'zstd']",
	                          ",'index_location':'start'") "]",
			"") ",'gzip']"});
	const struct zr_level *l;

	CHECK_STR(m.why.text, "");
	CHECK_INT(m.array->nlevels, 3);
	CHECK(m.array->type.big);
	l = &m.array->levels[0];
	CHECK_INT(l->chunk[0], 24);
	CHECK_INT(l->chunk[1], 40);
	CHECK_MEM(l->axis, 2, "\1\0", 2);
	CHECK_STR(chain_names(l->codecs), "gzip");
	CHECK_STR(chain_names(l->index_codecs), "crc32c");
	CHECK_INT(l->index_size, 16 * 8 + 4); /* (40/20) * (24/6) */
	CHECK(!l->index_at_start && !l->index_big);
	l = &m.array->levels[1];
	CHECK_INT(l->chunk[0], 6);
	CHECK_INT(l->chunk[1], 20);
	CHECK_MEM(l->axis, 2, "\1\0", 2);
	CHECK_INT(zr_codecs_count(l->codecs), 0);
	CHECK_INT(l->index_size, 16 * 8 + 4); /* (20/5) * (6/3) */
	CHECK(l->index_at_start);
	l = &m.array->levels[2];
	CHECK_INT(l->chunk[0], 3);
	CHECK_INT(l->chunk[1], 5);
	CHECK_MEM(l->axis, 2, "\0\1", 2);
	CHECK_STR(chain_names(l->codecs), "zstd");
	CHECK(!l->index_codecs);
	zr_meta_done(&m);
}

static void index_may_be_big_and_without_checksum(void)
{
	struct zr_meta m = parse_v3((struct doc_v3){
		.codecs =
			"[{'name':'sharding_indexed','configuration':{'chunk_shape':[2],"
			"'codecs':['bytes'],'index_codecs':" BIG "}}]"});

	CHECK_STR(m.why.text, "");
	CHECK_INT(m.array->levels[0].index_size, 32);
	CHECK(m.array->levels[0].index_big);
	CHECK_INT(zr_codecs_count(m.array->levels[0].index_codecs), 0);
	zr_meta_done(&m);
}

static void array_codecs_come_first_in_the_chain(void)
{
	static const struct {
		const char *type, *codecs, *want;
	} row[] = {
		{"'int32'",
	         "[{'name':'numcodecs.delta','configuration':{'dtype':'<i4','astype':'<"
	         "i2'}},"
	         "{'name':'bytes','configuration':{'endian':'big'}},'numcodecs.zlib']",
	         "numcodecs.delta numcodecs.zlib"},
		/* what is stored has one byte: no endian needed */
		{"'float64'",
	         "[{'name':'numcodecs.fixedscaleoffset','configuration':{'offset':0,"
	         "'scale':10,'dtype':'float64','astype':'uint8'}},'bytes']",
	         "numcodecs.fixedscaleoffset"},
		{"'bool'", "['numcodecs.packbits','bytes','numcodecs.bz2']",
	         "numcodecs.packbits numcodecs.bz2"},
		{"'float32'",
	         "[{'name':'numcodecs.quantize','configuration':{'digits':2,'dtype':'<f4'"
	         "}},"
	         "{'name':'bitround','configuration':{'keepbits':3}},"
	         "{'name':'bytes','configuration':{'endian':'little'}}]",
	         "numcodecs.quantize bitround"},
		{"'float64'",
	         "[{'name':'numcodecs.astype','configuration':{'encode_dtype':'<f4',"
	         "'decode_dtype':'<f8'}},{'name':'numcodecs.bitround'},"
	         "{'name':'bytes','configuration':{'endian':'little'}}]",
	         "numcodecs.astype numcodecs.bitround"},
		{"'uint8'",
	         "['bytes',{'name':'numcodecs.shuffle','configuration':{'elementsize':4}}"
	         ","
	         "'numcodecs.lz4','numcodecs.adler32','numcodecs.fletcher32',"
	         "'numcodecs.crc32','numcodecs.jenkins_lookup3','numcodecs.blosc',"
	         "{'name':'numcodecs.lzma','configuration':{'format':1,'filters':null}}]",
	         "numcodecs.shuffle numcodecs.lz4 numcodecs.adler32 numcodecs.fletcher32 "
	         "numcodecs.crc32 numcodecs.jenkins_lookup3 numcodecs.blosc "
	         "numcodecs.lzma"},
		{"'string'", "[{'name':'vlen-utf8'},{'name':'blosc'}]", "blosc"},
		{"'binary'", "['vlen-bytes','zstd']", "zstd"},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_meta m = parse_v3((struct doc_v3){
			.type = row[i].type, .codecs = row[i].codecs, .fill = "null"});

		CHECK_STR(m.why.text, "");
		CHECK_STR(chain_names(m.array->levels[0].codecs), row[i].want);
		zr_meta_done(&m);
	}
}

/* Chunks as zarr-python 3.4 stores them: the type strings say little, the codec big. */
static void computing_codecs_work_in_the_stored_order(void)
{
	static const struct {
		const char *type, *codec, *stored, *want;
		size_t stored_len, want_len;
	} row[] = {
		{"'int32'",
	         "{'name':'numcodecs.delta','configuration':{'dtype':'<i4','astype':'<i2'"
	         "}}",
	         "\0\x0a\0\2\xff\xff\0\x09", "\0\0\0\x0a\0\0\0\x0c\0\0\0\x0b\0\0\0\x14",
	         8, 16},
		{"'float64'",
	         "{'name':'numcodecs.fixedscaleoffset','configuration':{'offset':1000,"
	         "'scale':10,'dtype':'float64','astype':'int16'}}",
	         "\0\0\0\5\0\x14\0\0",
	         "\x40\x8f\x40\0\0\0\0\0\x40\x8f\x44\0\0\0\0\0"
	         "\x40\x8f\x50\0\0\0\0\0\x40\x8f\x40\0\0\0\0\0",
	         8, 32},
		{"'float64'",
	         "{'name':'numcodecs.astype','configuration':{'encode_dtype':'<f4',"
	         "'decode_dtype':'<f8'}}",
	         "\x3f\x80\0\0\x3f\xc0\0\0\x40\0\0\0\x40\x40\0\0",
	         "\x3f\xf0\0\0\0\0\0\0\x3f\xf8\0\0\0\0\0\0"
	         "\x40\0\0\0\0\0\0\0\x40\x08\0\0\0\0\0\0",
	         16, 32},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		ZR_CLEANUP(zr_buf_done) struct zr_buf stored = {0};
		ZR_CLEANUP(zr_buf_done) struct zr_buf got = {0};
		struct zr_meta m;
		char codecs[300];

		sprintf(codecs, "[%s,{'name':'bytes','configuration':{'endian':'big'}}]",
		        row[i].codec);
		m = parse_v3((struct doc_v3){.type = row[i].type, .codecs = codecs});
		CHECK_STR(m.why.text, "");
		CHECK(m.array->type.big);
		zr_buf_add(&stored, row[i].stored, row[i].stored_len);
		CHECK_INT(zr_codecs_decode(m.array->levels[0].codecs, &stored,
		                           row[i].want_len, row[i].want_len, &got, NULL),
		          0);
		CHECK_MEM(got.data, got.len, row[i].want, row[i].want_len);
		zr_meta_done(&m);
	}
}

static void zero_chunk_is_one_on_an_axis_without_elements(void)
{
	struct zr_meta m = parse_v3((struct doc_v3){.shape = "[3,0]", .chunks = "[2,0]"});

	CHECK_STR(m.why.text, "");
	CHECK_INT(m.array->nrecords, 0);
	CHECK_INT(m.array->levels[0].chunk[1], 1);
	zr_meta_done(&m);
}

static void no_dimensions_are_one_record(void)
{
	struct zr_meta m = parse_v3(
		(struct doc_v3){.shape = "[]", .extra = ",'dimension_names':[]"});

	CHECK_STR(m.why.text, "");
	CHECK_INT(m.array->nrecords, 1);
	CHECK(!m.array->dims);
	zr_meta_done(&m);
}

int main(void)
{
	RUN(ordinary_array_is_understood);
	RUN(group_is_told_from_array);
	RUN(documents_that_tell_nothing_are_groups_with_a_reason);
	RUN(every_data_type_has_kind_and_size);
	RUN(times_have_unit_and_scale);
	RUN(both_struct_names_take_both_field_forms);
	RUN(names_are_free_text);
	RUN(missing_endian_is_little_for_structured_only);
	RUN(key_encodings_and_separators);
	RUN(names_of_dimensions_have_two_sources);
	RUN(transpositions_are_multiplied_out);
	RUN(shards_become_levels);
	RUN(index_may_be_big_and_without_checksum);
	RUN(array_codecs_come_first_in_the_chain);
	RUN(computing_codecs_work_in_the_stored_order);
	RUN(zero_chunk_is_one_on_an_axis_without_elements);
	RUN(no_dimensions_are_one_record);
	return EXIT_SUCCESS;
}
