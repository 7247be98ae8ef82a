/* SPDX-License-Identifier: MIT */
#include "meta_doc.h"

#define FIELDS(name, list) "{'name':'" name "','configuration':{'fields':[" list "]}}"
#define SHARD(shape, codecs, more)                                                       \
	"{'name':'sharding_indexed','configuration':{'chunk_shape':" shape               \
	",'codecs':" codecs ",'index_codecs':[{'name':'bytes','configuration':{"         \
	"'endian':'little'}},{'name':'crc32c'}]" more "}}"
#define TRANSPOSE(order) "{'name':'transpose','configuration':{'order':" order "}}"

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

static void check_refusals(const struct doc_v3 *doc, const char *const *want, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct zr_meta m = parse_v3(doc[i]);
		char text[300];

		snprintf(text, sizeof(text), "%s (zarr.json)", want[i]);
		CHECK_STR(m.why.text, text);
		CHECK(m.why.code == -EINVAL || m.why.code == -EOPNOTSUPP);
		CHECK(!m.array && m.has_attributes);
		CHECK_INT(m.kind, ZR_NODE_ARRAY);
		zr_meta_done(&m);
	}
}

static void refused_types_are_named(void)
{
	static const struct doc_v3 doc[] = {
		{.type = "'no.such'"},
		{.type = "{'name':'numpy.void','configuration':{'x':1}}"},
		{.type = FIELDS("struct", "['p'," FIELDS("struct", "['x','foo']") "]"),
	         .fill = "{}"},
		{.type = FIELDS("struct", "['a','string']")},
		{.type = FIELDS("struct", "")},
		{.type = FIELDS("struct", "['a','int8'],['b','int8'],['a','int8']")},
		{.type = FIELDS("struct", "{'name':'a','data_type':'int8','shape':[3]}")},
		{.type = FIELDS("struct", "['a','int8',[3]]")},
		{.type = FIELDS("struct", "{'name':'a'}")},
		{.type = "'struct'"},
		{.type = "'r12'"},
		{.type = "'r0'"},
		{.type = "'r99999999999'"},
		{.type = "{'name':'fixed_length_utf32','configuration':{'length_bytes':6}"
	                 "}"},
		{.type = "{'name':'raw_bytes'}"},
		{.type = "{'name':'raw_bytes','configuration':{'length_bytes':0}}"},
		{.type = "{'name':'raw_bytes','configuration':{'length_bytes':67108865}"
	                 "}"},
		{.type = "{'name':'numpy.datetime64','configuration':{'unit':'B','scale_"
	                 "factor':1}}"},
		{.type = "{'name':'numpy.datetime64','configuration':{'unit':'s'}}"},
		{.type = "{'name':'numpy.datetime64','configuration':{'unit':'s','scale_"
	                 "factor':2147483648}}"},
		{.type = "{'name':'int8','configuration':{'bits':5}}"},
		{.type = "[['x','uint8']]"},
		{.type = "{'id':'int8'}"},
	};
	static const char *const want[] = {
		"data type 'no.such' is not supported",
		"data type 'numpy.void' is not supported",
		"field 'p.x': data type 'foo' is not supported",
		"field 'a': a data type of variable length inside of a struct",
		"a struct without fields",
		"field 'a': the name is used twice",
		"field 'a' has members besides name and data_type",
		"a field of a struct has no name or no data type",
		"a field of a struct has no name or no data type",
		"data type 'struct' has no list of fields",
		"data type 'r12': the bits are no multiple of 8",
		"data type 'r0' is not supported",
		"data type 'r99999999999' is not supported",
		"data type 'fixed_length_utf32' needs a length_bytes that fits it",
		"data type 'raw_bytes' needs a length_bytes that fits it",
		"records of no bytes are not supported",
		"data type 'raw_bytes' is too long",
		"data type 'numpy.datetime64': unit 'B' is unknown",
		"data type 'numpy.datetime64' needs a scale_factor of 1 to 2147483647",
		"data type 'numpy.datetime64' needs a scale_factor of 1 to 2147483647",
		"data type 'int8' has an unknown member 'bits'",
		"a data type is a list instead of a name",
		"a data type is an object without name instead of a name",
	};

	CHECK_INT(ZR_COUNT(doc), ZR_COUNT(want));
	check_refusals(doc, want, ZR_COUNT(doc));
}

static void refused_codecs_are_named(void)
{
	static const struct doc_v3 doc[] = {
		{.codecs = "['bytes','no.such']", .fill = "'x'"},
		{.codecs = "['bytes',{'name':'numcodecs.pcodec'}]"},
		{.codecs = "['packbits']"},
		{.codecs = "['reshape','bytes']"},
		{.codecs = "['numcodecs.pickle']"},
		{.codecs = "['numcodecs.vlen-utf8']"},
		{.codecs = "[]"},
		{.codecs = "'bytes'"},
		{.codecs = "['gzip','bytes']"},
		{.codecs = "['bytes'," TRANSPOSE("[0]") "]"},
		{.codecs = "['bytes','bytes']"},
		{.codecs = "['gzip']"},
		{.codecs = "[{'name':'bytes','configuration':{'endian':'middle'}}]"},
		{.codecs = "[{'name':'bytes','configuration':{'order':'little'}}]"},
		{.codecs = "['vlen-utf8']"},
		{.type = "'string'"},
		{.type = "'string'", .codecs = "['vlen-bytes']"},
		{.codecs = "[" TRANSPOSE("[1]") ",'bytes']"},
		{.codecs = "[" TRANSPOSE("[0,1]") ",'bytes']"},
		{.codecs = "['transpose','bytes']"},
		{.codecs = "['bytes','gzip','gzip','gzip','gzip','gzip','gzip','gzip','"
	                   "gzip',"
	                   "'gzip','gzip','gzip','gzip','gzip','gzip','gzip','gzip']"},
		{.type = "'int32'",
	         .codecs = "[{'name':'numcodecs.delta','configuration':{'dtype':'<f4'}},'"
	                   "bytes']"},
		{.type = FIELDS("struct", "['a','uint8']"),
	         .codecs = "['numcodecs.delta','bytes']"},
		{.codecs = "['numcodecs.packbits','bytes']"},
		{.shape = "[2,2]",
	         .codecs = "['numcodecs.delta'," TRANSPOSE("[1,0]") ",'bytes']"},
	};
	static const char *const want[] = {
		"codec 'no.such' is unknown",
		"codec 'numcodecs.pcodec' is not supported",
		"codec 'packbits' is not supported",
		"codec 'reshape' is not supported",
		"codec 'numcodecs.pickle': pickled objects are never read",
		"codec 'numcodecs.vlen-utf8' is not supported",
		"codecs: there is no codec from array to bytes",
		"codecs is no list",
		"codec 'gzip' is not allowed in this place",
		"codec 'transpose' is not allowed in this place",
		"codec 'bytes' is not allowed in this place",
		"codec 'gzip' is not allowed in this place",
		"codec 'bytes': endian is 'middle'",
		"codec 'bytes' has an unknown member 'order'",
		"codec 'vlen-utf8' does not fit the data type",
		"codec 'bytes' does not fit a data type of variable length",
		"codec 'vlen-bytes' does not fit the data type",
		"codec 'transpose': order is no permutation of the axes",
		"codec 'transpose': order is no permutation of the axes",
		"codec 'transpose': order is null instead of a list",
		"codecs: more than 16 codecs are not supported",
		"codec 'numcodecs.delta': its dtype is not that of the elements",
		"codec 'numcodecs.delta': its dtype is not that of the elements",
		"codec 'numcodecs.packbits': the elements are no bools",
		"codec 'transpose' behind a codec that depends on the order is not "
		"supported",
	};

	CHECK_INT(ZR_COUNT(doc), ZR_COUNT(want));
	check_refusals(doc, want, ZR_COUNT(doc));
}

static void refused_shards_are_explained(void)
{
	static const struct doc_v3 doc[] = {
		{.codecs = "[" SHARD("[3]", "['bytes']", "") "]"},
		{.codecs = "[" SHARD("[0]", "['bytes']", "") "]"},
		{.codecs = "[" SHARD("[2,2]", "['bytes']", "") "]"},
		{.codecs = "[" SHARD("[2]", "['bytes','no.such']", "") "]"},
		{.codecs =
	                 "[" SHARD("[2]", "['bytes']", ",'index_location':'middle'") "]"},
		{.codecs = "[" SHARD("[2]", "['bytes']", ",'surprise':1") "]"},
		{.codecs = "['numcodecs.delta'," SHARD("[2]", "['bytes']", "") "]"},
		{.codecs =
	                 "[{'name':'sharding_indexed','configuration':{'chunk_shape':[2],"
	                 "'codecs':['bytes'],'index_codecs':['bytes']}}]"},
		{.codecs =
	                 "[{'name':'sharding_indexed','configuration':{'chunk_shape':[2],"
	                 "'codecs':['bytes'],'index_codecs':" LITTLE "}}]",
	         .shape = "[4000000000000]"},
		{.codecs =
	                 "[{'name':'sharding_indexed','configuration':{'chunk_shape':[2],"
	                 "'codecs':['bytes'],'index_codecs':['bytes','gzip']}}]"},
		{.codecs =
	                 "[{'name':'sharding_indexed','configuration':{'chunk_shape':[2],"
	                 "'codecs':['bytes']}}]"},
		{.codecs = "[" SHARD(
			 "[4]",
			 "[" SHARD("[4]",
	                           "[" SHARD("[4]",
	                                     "[" SHARD("[4]",
	                                               "[" SHARD("[4]", "['bytes']",
	                                                         "") "]",
	                                               "") "]",
	                                     "") "]",
	                           "") "]",
			 "") "]"},
	};
	static const char *const want[] = {
		"codec 'sharding_indexed': chunk_shape does not divide the shape of a "
		"shard",
		"codec 'sharding_indexed': chunk_shape does not divide the shape of a "
		"shard",
		"codec 'sharding_indexed': chunk_shape has 2 entries, shape has 1",
		"codec 'no.such' is unknown",
		"codec 'sharding_indexed': index_location is neither start nor end",
		"codec 'sharding_indexed' has an unknown member 'surprise'",
		"codec 'numcodecs.delta' is not supported before 'sharding_indexed'",
		"index_codecs: codec 'bytes' has no endian",
		"codec 'sharding_indexed': more than 4194304 chunks in a shard are not "
		"supported",
		"index_codecs: codec 'gzip' is not supported there",
		"index_codecs is no list",
		"more than 4 shards inside of one another are not supported",
	};

	CHECK_INT(ZR_COUNT(doc), ZR_COUNT(want));
	check_refusals(doc, want, ZR_COUNT(doc));
}

static void refused_members_are_named(void)
{
	static const struct doc_v3 doc[] = {
		{.extra = ",'surprise':1"},
		{.extra = ",'surprise':{'must_understand':true}"},
		{.extra = ",'storage_transformers':[{'name':'x'}]"},
		{.shape = "[2,2]", .chunks = "[2]"},
		{.shape = "[-1]"},
		{.shape = "[1.5]"},
		{.shape = "[18446744073709551615]"},
		{.shape = "5"},
		{.shape = "[2000000000,2000000000]"},
		{.shape = "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
	                  "1,1,1]"},
		{.chunks = "[0]"},
		{.chunks = "[1073741825]"},
		{.keys = "'v9'"},
		{.keys = "{'name':'default','configuration':{'separator':'-'}}"},
		{.keys = "{'name':'default','surprise':1}"},
	};
	static const char *const want[] = {
		"member 'surprise' is unknown and must be understood",
		"member 'surprise' is unknown and must be understood",
		"storage transformer 'x' is not supported",
		"chunk_shape has 1 entries, shape has 2",
		"shape has an entry -1",
		"shape has an entry 1.5",
		"shape has an entry 18446744073709551615",
		"shape is 5 instead of a list",
		"shape: more than 2^60 records are not supported",
		"shape has 33 entries, at most 32 are supported",
		"chunk_shape has an entry 0",
		"chunks of more than 1024 MiB when decoded are not supported",
		"chunk_key_encoding 'v9' is unknown",
		"chunk_key_encoding: separator is '-'",
		"chunk_key_encoding 'default' has an unknown member 'surprise'",
	};
	struct zr_meta m =
		parse_v3((struct doc_v3){.extra = ",'s':{'must_understand':false}"});

	CHECK_STR(m.why.text, "");
	zr_meta_done(&m);
	CHECK_INT(ZR_COUNT(doc), ZR_COUNT(want));
	check_refusals(doc, want, ZR_COUNT(doc));
}

static void other_grids_are_refused_by_name(void)
{
	static const char *const row[][2] = {
		{"{'name':'rectilinear','configuration':{}}",
	         "chunk_grid 'rectilinear' is not supported (zarr.json)"},
		{"'hexagonal'", "chunk_grid 'hexagonal' is unknown (zarr.json)"},
		{"{'name':'regular'}",
	         "chunk_shape is null instead of a list (zarr.json)"},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_meta m;
		char text[400];

		sprintf(text,
		        "{'zarr_format':3,'node_type':'array','shape':[1],'data_type':'"
		        "uint8',"
		        "'chunk_grid':%s,'chunk_key_encoding':'default','fill_value':0,"
		        "'codecs':['bytes']}",
		        row[i][0]);
		m = parse_text_v3(text);
		CHECK_STR(m.why.text, row[i][1]);
		zr_meta_done(&m);
	}
}

static void structs_are_bounded(void)
{
	static char text[40 * 200], head[40 * 100], tail[40 * 10];

	/* 31 of them reach the depth that a document may have. */
	for (int n = 31; n < 33; n++) {
		struct zr_meta m;

		head[0] = tail[0] = '\0';
		for (int i = 0; i < n; i++) {
			strcat(head, "{'name':'struct','configuration':{'fields':[['a',");
			strcat(tail, "]]}}");
		}
		sprintf(text, "%s'uint8'%s", head, tail);
		m = parse_v3((struct doc_v3){.type = text});
		CHECK_INT(m.why.code, n == 31 ? 0 : -EINVAL);
		CHECK(n == 31 || strstr(m.why.text, "nested too deeply"));
		zr_meta_done(&m);
	}
}

static void documents_are_bounded(void)
{
	static const char group[] =
		"{\"zarr_format\":3,\"node_type\":\"group\",\"%s\":\"%*s\"}";
	struct zr_meta m;
	char *s;
	int n;

	/* 9 MiB of white space, as attributes and as something else; then 65 MiB. */
	n = asprintf(&s, group, "attributes", 9 << 20, "");
	CHECK(n > 0);
	CHECK_INT(zr_meta_parse_v3((struct zr_doc){s, (size_t)n}, &m), 0);
	CHECK_STR(m.why.text, "");
	CHECK_INT(m.attributes.len, (9 << 20) + 2);
	zr_meta_done(&m);
	free(s);

	n = asprintf(&s, group, "other", 9 << 20, "");
	CHECK(n > 0);
	CHECK_INT(zr_meta_parse_v3((struct zr_doc){s, (size_t)n}, &m), 0);
	CHECK_STR(m.why.text, "larger than 8 MiB besides attributes (zarr.json)");
	CHECK(!m.has_attributes);
	zr_meta_done(&m);
	free(s);

	CHECK_INT(zr_meta_parse_v3((struct zr_doc){"{}", (size_t)65 << 20}, &m), 0);
	CHECK_STR(m.why.text, "larger than 64 MiB (zarr.json)");
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
	RUN(refused_types_are_named);
	RUN(refused_codecs_are_named);
	RUN(refused_shards_are_explained);
	RUN(refused_members_are_named);
	RUN(other_grids_are_refused_by_name);
	RUN(structs_are_bounded);
	RUN(documents_are_bounded);
	return EXIT_SUCCESS;
}
