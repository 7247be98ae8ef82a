/* SPDX-License-Identifier: MIT */
#include "meta_doc.h"

static void ordinary_array_is_understood(void)
{
	struct zr_meta m = parse_v2((struct doc_v2){
		.shape = "[5,7]",
		.dtype = "'>i4'",
		.chunks = "[2,3]",
		.compressor = "{'id':'blosc','cname':'lz4','clevel':5,'shuffle':1,'"
			      "blocksize':0}",
		.filters = "[{'id':'shuffle','elementsize':4},{'id':'zlib','level':1}]",
		.fill = "1",
		.extra = ",'order':'F','written_by':'something'",
		.attributes = "{'_ARRAY_DIMENSIONS' : ['y','x']}"});
	const struct zr_array *a = m.array;

	CHECK_INT(m.kind, ZR_NODE_ARRAY);
	CHECK_STR(m.why.text, "");
	CHECK_MEM(m.attributes.data, m.attributes.len,
	          "{\"_ARRAY_DIMENSIONS\" : [\"y\",\"x\"]}", 33);
	CHECK_INT(a->zarr_format, 2);
	CHECK_INT(a->ndim, 2);
	CHECK_INT(a->nrecords, 35);
	CHECK_INT(a->type.kind, ZR_INT);
	CHECK(a->type.big);
	CHECK_STR(fill_hex(&m), "00000001");
	CHECK_STR(a->dims[0].data, "y");
	CHECK(a->v2_keys && a->separator == '.' && a->try_slash);
	CHECK_INT(a->nlevels, 1);
	CHECK_INT(a->levels[0].chunk[0], 2);
	CHECK_INT(a->levels[0].chunk[1], 3);
	CHECK_MEM(a->levels[0].axis, 2, "\1\0", 2);
	CHECK_STR(chain_names(a->levels[0].codecs), "shuffle zlib blosc");
	zr_meta_done(&m);
}

static void group_is_told_from_array(void)
{
	struct zr_meta m = parse_text_v2("{'zarr_format':2}", NULL, NULL);

	CHECK_INT(m.kind, ZR_NODE_GROUP);
	CHECK_INT(m.why.code, 0);
	CHECK(!m.array && m.has_attributes);
	CHECK_MEM(m.attributes.data, m.attributes.len, "{}", 2);
	zr_meta_done(&m);

	m = parse_text_v2("{'zarr_format':2}",
	                  "{'zarr_format':2,'shape':[],'chunks':[],'dtype':'|u1',"
	                  "'compressor':null,'filters':null,'fill_value':0,'order':'C'}",
	                  "{'a':[NaN]}");
	CHECK_INT(m.kind, ZR_NODE_ARRAY);
	CHECK_STR(m.why.text, "");
	CHECK_INT(m.array->nrecords, 1);
	CHECK_MEM(m.attributes.data, m.attributes.len, "{\"a\":[NaN]}", 11);
	zr_meta_done(&m);
}

static void broken_documents_are_named(void)
{
	static const struct {
		const char *zgroup, *zarray, *zattrs, *want;
		enum zr_node_kind kind;
		bool attributes;
	} row[] = {
		{NULL, "{", NULL,
	         "not valid JSON: line 1 column 2: the text ends too early (.zarray)",
	         ZR_NODE_ARRAY, false},
		{"{}", NULL, "{'a':}",
	         "not valid JSON: line 1 column 6: a value is expected (.zattrs)",
	         ZR_NODE_GROUP, false},
		{"[]", NULL, NULL, "a list instead of an object (.zgroup)", ZR_NODE_GROUP,
	         true},
		{"{'zarr_format':1}", NULL, NULL,
	         "zarr_format is 1 instead of 2 (.zgroup)", ZR_NODE_GROUP, true},
		{NULL, "{}", "{}", "member 'zarr_format' is missing (.zarray)",
	         ZR_NODE_ARRAY, true},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_meta m =
			parse_text_v2(row[i].zgroup, row[i].zarray, row[i].zattrs);

		CHECK_STR(m.why.text, row[i].want);
		CHECK_INT(m.kind, row[i].kind);
		CHECK_INT(m.has_attributes, row[i].attributes);
		CHECK(!m.array);
		zr_meta_done(&m);
	}
}

static void every_type_string_has_kind_and_size(void)
{
	static const struct {
		const char *dtype;
		enum zr_kind kind;
		int detail; /* bits, or format of floats */
		uint64_t size;
		bool big;
	} row[] = {
		{"'|b1'", ZR_BOOL, 0, 1, false},
		{"'<b1'", ZR_BOOL, 0, 1, false},
		{"'|i1'", ZR_INT, 8, 1, false},
		{"'<i2'", ZR_INT, 16, 2, false},
		{"'>i8'", ZR_INT, 64, 8, true},
		{"'<u1'", ZR_UINT, 8, 1, false},
		{"'>u4'", ZR_UINT, 32, 4, true},
		{"'=u4'", ZR_UINT, 32, 4, false},
		{"'u4'", ZR_UINT, 32, 4, false},
		{"'>f2'", ZR_FLOAT, ZR_F16, 2, true},
		{"'<f4'", ZR_FLOAT, ZR_F32, 4, false},
		{"'<f8'", ZR_FLOAT, ZR_F64, 8, false},
		{"'<c8'", ZR_COMPLEX, ZR_F32, 8, false},
		{"'>c16'", ZR_COMPLEX, ZR_F64, 16, true},
		{"'|S5'", ZR_CHARS, 0, 5, false},
		{"'<U3'", ZR_UTF32, 0, 12, false},
		{"'>U1'", ZR_UTF32, 0, 4, true},
		{"'|V240'", ZR_RAW, 0, 240, false},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_meta m =
			parse_v2((struct doc_v2){.dtype = row[i].dtype, .fill = "null"});

		CHECK_STR(m.why.text, "");
		CHECK_INT(m.array->type.kind, row[i].kind);
		CHECK_INT(row[i].kind == ZR_FLOAT || row[i].kind == ZR_COMPLEX
		                  ? (int)m.array->type.flt
		                  : m.array->type.bits,
		          row[i].detail);
		CHECK_INT(m.array->type.size, row[i].size);
		CHECK_INT(m.array->type.big, row[i].big);
		zr_meta_done(&m);
	}
}

static void times_have_unit_and_scale(void)
{
	static const struct {
		const char *dtype;
		enum zr_kind kind;
		enum zr_unit unit;
		uint32_t scale;
		bool big;
	} row[] = {
		{"'<M8[ns]'", ZR_DATETIME, ZR_NS, 1, false},
		{"'>m8[10s]'", ZR_TIMEDELTA, ZR_SECOND, 10, true},
		{"'<M8'", ZR_DATETIME, ZR_GENERIC, 1, false},
		{"'<M8[generic]'", ZR_DATETIME, ZR_GENERIC, 1, false},
		{"'<m8[2147483647as]'", ZR_TIMEDELTA, ZR_AS, 2147483647, false},
		{"'<M8[\xce\xbcs]'", ZR_DATETIME, ZR_US, 1, false},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_meta m = parse_v2((struct doc_v2){.dtype = row[i].dtype});

		CHECK_STR(m.why.text, "");
		CHECK_INT(m.array->type.kind, row[i].kind);
		CHECK_INT(m.array->type.unit, row[i].unit);
		CHECK_INT(m.array->type.scale, row[i].scale);
		CHECK_INT(m.array->type.big, row[i].big);
		CHECK_INT(m.array->type.size, 8);
		zr_meta_done(&m);
	}
}

static void struct_is_a_packed_list_of_fields(void)
{
	struct zr_meta m = parse_v2((struct doc_v2){
		.dtype =
			"[['a','<i4'],['b','>f8'],['','|V3'],['z','<i2',[2,2]],"
			"['p',[['x','<f4'],['n','>u2']],[3]],[['Title','t'],'|S0'],"
			"['s','|V2',[]],['one','|u1',1],['none','<f8',[0,9]],['','|V1']]",
		.fill = "null"});
	const struct zr_field *f = m.array->type.fields;
	static const struct {
		const char *name;
		uint64_t offset, count, size;
		uint32_t ndim;
		bool hidden, big;
	} want[] = {
		{"a", 0, 1, 4, 0, false, false},     {"b", 4, 1, 8, 0, false, true},
		{"", 12, 1, 3, 0, true, false},      {"z", 15, 4, 2, 2, false, false},
		{"p", 23, 3, 6, 1, false, false},    {"t", 41, 1, 0, 0, false, false},
		{"s", 41, 1, 2, 0, false, false},    {"one", 43, 1, 1, 1, false, false},
		{"none", 44, 0, 8, 2, false, false}, {"", 44, 1, 1, 0, true, false},
	};

	CHECK_STR(m.why.text, "");
	CHECK_INT(m.array->type.size, 45);
	CHECK_INT(m.array->type.nfields, ZR_COUNT(want));
	for (size_t i = 0; i < ZR_COUNT(want); i++) {
		CHECK_STR(f[i].name, want[i].name);
		CHECK_INT(f[i].offset, want[i].offset);
		CHECK_INT(f[i].count, want[i].count);
		CHECK_INT(f[i].type.size, want[i].size);
		CHECK_INT(f[i].ndim, want[i].ndim);
		CHECK_INT(f[i].hidden, want[i].hidden);
		CHECK_INT(f[i].type.big, want[i].big);
	}
	CHECK_INT(f[3].shape[0], 2);
	CHECK_INT(f[8].shape[1], 9);
	CHECK(f[4].type.fields[1].type.big);
	CHECK_INT(f[4].type.fields[1].offset, 4);
	zr_meta_done(&m);
}

static void objects_are_of_the_kind_of_their_first_filter(void)
{
	static const struct {
		const char *filters;
		enum zr_kind kind;
		const char *chain;
		uint8_t axis0; /* of two, order F */
	} row[] = {
		{"[{'id':'vlen-utf8'}]", ZR_STRING, "gzip", 1},
		{"[{'id':'vlen-bytes'},{'id':'crc32'}]", ZR_VBYTES, "crc32 gzip", 1},
		{"[{'id':'json2','encoding':'utf-8'}]", ZR_JSON, "gzip", 0},
		{"[{'id':'vlen-array','dtype':'>i2'}]", ZR_LIST, "gzip", 1},
		{"[{'id':'categorize','labels':['a','\\u00e9'],'dtype':'|O','astype':'|"
	         "u1'}]",
	         ZR_STRING, "categorize gzip", 1},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_meta m = parse_v2((struct doc_v2){.shape = "[2,3]",
		                                            .dtype = "'|O'",
		                                            .filters = row[i].filters,
		                                            .compressor = "{'id':'gzip'}",
		                                            .extra = ",'order':'F'"});

		CHECK_STR(m.why.text, "");
		CHECK_INT(m.array->type.kind, row[i].kind);
		CHECK_INT(m.array->type.size, sizeof(struct zr_item));
		CHECK_STR(chain_names(m.array->levels[0].codecs), row[i].chain);
		CHECK_INT(m.array->levels[0].axis[0], row[i].axis0);
		zr_meta_done(&m);
	}
}

static void every_codec_id_is_known(void)
{
	static const char *const row[] = {
		"{'id':'zlib','level':1}",
		"{'id':'gzip','level':1}",
		"{'id':'bz2','level':1}",
		"{'id':'lz4','acceleration':1}",
		"{'id':'zstd','level':1}",
		"{'id':'lzma','format':1,'check':-1,'preset':null,'filters':null}",
		"{'id':'lzma','format':2}",
		"{'id':'lzma','format':3,'filters':[{'id':3,'dist':4},{'id':33,'preset':"
		"1}]}",
		"{'id':'blosc','cname':'zstd','clevel':5,'shuffle':-1,'blocksize':0}",
		"{'id':'base64'}",
		"{'id':'shuffle'}",
		"{'id':'delta','dtype':'<i4','astype':'|i1'}",
		"{'id':'delta','dtype':'>i4'}",
		"{'id':'fixedscaleoffset','scale':10,'offset':1000.5,'dtype':'<f8','"
		"astype':'|u1'}",
		"{'id':'quantize','digits':2,'dtype':'<f8','astype':'<f4'}",
		"{'id':'astype','encode_dtype':'<f4','decode_dtype':'>f8'}",
		"{'id':'bitround','keepbits':5}",
		"{'id':'packbits'}",
		"{'id':'crc32'}",
		"{'id':'crc32','location':'end'}",
		"{'id':'crc32c'}",
		"{'id':'adler32','location':null}",
		"{'id':'fletcher32'}",
		"{'id':'jenkins_lookup3','initval':0,'prefix':null}",
		"{'id':'jenkins_lookup3','initval':4294967295,'prefix':[1,255]}",
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_meta m = parse_v2((struct doc_v2){.compressor = row[i]});

		CHECK_STR(m.why.text, "");
		CHECK_INT(zr_codecs_count(m.array->levels[0].codecs), 1);
		zr_meta_done(&m);
	}
}

static void separators(void)
{
	static const struct {
		const char *extra;
		char separator;
		bool try_slash;
	} row[] = {
		{"", '.', true},
		{",'dimension_separator':null", '.', true},
		{",'dimension_separator':'.'", '.', false},
		{",'dimension_separator':'/'", '/', false},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_meta m = parse_v2((struct doc_v2){.extra = row[i].extra});

		CHECK_STR(m.why.text, "");
		CHECK_INT(m.array->separator, row[i].separator);
		CHECK_INT(m.array->try_slash, row[i].try_slash);
		zr_meta_done(&m);
	}
}

static void refusals_say_what_and_where(void)
{
	static const struct {
		struct doc_v2 doc;
		const char *want;
	} row[] = {
		{{.dtype = "'<f16'"}, "dtype '<f16' is not supported (a long double)"},
		{{.dtype = "[['p',[['x','<c32']]]]"},
	         "field 'p.x': dtype '<c32' is not supported (a long double)"},
		{{.dtype = "'<i3'"}, "dtype '<i3' is not supported"},
		{{.dtype = "'|b2'"}, "dtype '|b2' is not supported"},
		{{.dtype = "'|i4'"}, "dtype '|i4' does not tell its byte order"},
		{{.dtype = "[['a','|U3']]"},
	         "field 'a': dtype '|U3' does not tell its byte order"},
		{{.dtype = "'x4'"}, "dtype 'x4' is not understood"},
		{{.dtype = "'<i4x'"}, "dtype '<i4x' is not understood"},
		{{.dtype = "'<i4[s]'"}, "dtype '<i4[s]' is not understood"},
		{{.dtype = "'(2,)<f8'"}, "dtype '(2,)<f8' is not understood"},
		{{.dtype = "'<M8[B]'"}, "dtype '<M8[B]' is not supported"},
		{{.dtype = "'<M8[0s]'"}, "dtype '<M8[0s]' is not supported"},
		{{.dtype = "'<M4[s]'"}, "dtype '<M4[s]' is not supported"},
		{{.dtype = "'|V99999999999999999999'"},
	         "dtype '|V99999999999999999999' is too long"},
		{{.dtype = "'|S0'"}, "records of no bytes are not supported"},
		{{.dtype = "[]"}, "a struct without fields"},
		{{.dtype = "[['','|V3']]"}, "dtype is a struct of padding only"},
		{{.dtype = "[['a','|u1'],['b','|u1'],['a','|u1']]"},
	         "field 'a': the name is used twice"},
		{{.dtype = "[['a']]"},
	         "a field of dtype is not [name, type] or [name, type, shape]"},
		{{.dtype = "[['p',[[5,'|u1']]]]"},
	         "field 'p': a field of dtype is not [name, type] or [name, type, "
	         "shape]"},
		{{.dtype = "[['a','|u1',[-1]]]"}, "field 'a': shape has an entry -1"},
		{{.dtype = "[['a','|u1',[4294967296,4294967296]]]"},
	         "field 'a': records of more than 64 MiB are not supported"},
		{{.dtype = "[['o','|O']]"},
	         "field 'o': dtype '|O' inside of a struct: pickled objects are never "
	         "read"},
		{{.dtype = "5"}, "dtype 5 is neither a string nor a list of fields"},
		{{.dtype = "'|O'"},
	         "dtype '|O' without a filter that makes bytes of objects"},
		/* the pickle is the reason, whatever else is wrong */
		{{.dtype = "'|O'",
	          .filters = "[{'id':'pickle','protocol':5}]",
	          .shape = "5"},
	         "filter 'pickle': pickled objects are never read"},
		{{.dtype = "'|O'", .filters = "[{'id':'msgpack2'}]"},
	         "filter 'msgpack2' is not supported"},
		{{.dtype = "'|O'", .filters = "[{'id':'vlen-array'}]"},
	         "filter 'vlen-array' without a dtype"},
		{{.dtype = "'|O'", .filters = "[{'id':'vlen-array','dtype':'<U4'}]"},
	         "filter 'vlen-array' of '<U4' is not supported"},
		{{.dtype = "'|O'", .filters = "[{'id':'vlen-array','dtype':'|O'}]"},
	         "filter 'vlen-array' of '|O' is not supported"},
		{{.dtype = "'|O'",
	          .filters = "[{'id':'vlen-array','dtype':'<i4'}]",
	          .fill = "[1]"},
	         "fill_value a list is no empty list"},
		{{.dtype = "'|O'", .filters = "[{'id':'categorize'}]"},
	         "codec 'categorize': dtype is no type string"},
		{{.dtype = "'|O'", .filters = "[{'id':'categorize','dtype':'<U2'}]"},
	         "codec 'categorize': its dtype is not that of the array"},
		{{.dtype = "'<U2'", .filters = "[{'id':'categorize','dtype':'|O'}]"},
	         "codec 'categorize': its dtype is not that of the array"},
		{{.dtype = "'<U2'", .filters = "[{'id':'categorize','dtype':'<i4'}]"},
	         "codec 'categorize': its dtype is none of texts"},
		{{.dtype = "'<U2'", .filters = "[{'id':'categorize','dtype':'<U2'}]"},
	         "codec 'categorize': labels is no list"},
		{{.dtype = "'<U2'",
	          .filters = "[{'id':'categorize','dtype':'<U2','labels':['a',5]}]"},
	         "codec 'categorize': a label is no text"},
		{{.dtype = "'<U2'",
	          .filters = "[{'id':'categorize','dtype':'<U2','labels':[],'astype':"
	                     "'<f4'}]"},
	         "codec 'categorize': astype is no type of integers"},
		{{.dtype = "'<U9999999'",
	          .filters =
	                  "[{'id':'categorize','dtype':'<U9999999','labels':['a','b']}]",
	          .chunks = "[1]"},
	         "codec 'categorize': its labels are too large"},
		{{.dtype = "'|O'", .filters = "[{'id':'json2','encoding':'utf-16'}]"},
	         "filter 'json2': encoding 'utf-16' is not supported"},
		{{.dtype = "'|O'", .filters = "[{'id':'zlib'}]"},
	         "dtype '|O': filter 'zlib' is not allowed in this place"},
		{{.dtype = "'|O'", .filters = "[{'id':'no-such'}]"},
	         "dtype '|O': filter 'no-such' is unknown"},
		{{.filters = "[{'id':'vlen-utf8'}]"},
	         "filter 'vlen-utf8' is not allowed in this place"},
		{{.filters = "[{'level':1}]"}, "filter without an id"},
		{{.filters = "{'id':'zlib'}"}, "filters is no list"},
		{{.compressor = "{'id':'no-such'}", .fill = "'x'"},
	         "compressor 'no-such' is unknown"},
		{{.compressor = "{'id':'pcodec'}"},
	         "compressor 'pcodec' is not supported"},
		{{.compressor = "'zlib'"}, "compressor without an id"},
		{{.compressor = "{'id':'lzma','format':3}"},
	         "codec 'lzma': format 3 needs 1 to 4 filters"},
		{{.compressor = "{'id':'crc32','location':'middle'}"},
	         "codec 'crc32': location is neither start nor end"},
		{{.compressor = "{'id':'delta'}"}, "codec 'delta': it has no dtype"},
		{{.compressor = "{'id':'fixedscaleoffset','dtype':'<f4','scale':1}"},
	         "codec 'fixedscaleoffset': offset is no number"},
		{{.compressor = "{'id':'shuffle','elementsize':-1}"},
	         "codec 'shuffle': elementsize is wrong"},
		{{.shape = "[2,2]", .chunks = "[2]"},
	         "chunks has 1 entries, shape has 2"},
		{{.chunks = "[0]"}, "chunks has an entry 0"},
		{{.extra = ",'order':'A'"}, "order is 'A' instead of 'C' or 'F'"},
		{{.extra = ",'dimension_separator':'-'"}, "dimension_separator is '-'"},
		{{.fill = "256"}, "fill_value 256 is out of the range of its type"},
		{{.dtype = "[['a','|u1'],['b','|u1']]", .fill = "'AA=='"},
	         "fill_value 'AA==' is not base64 of one record"},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_meta m = parse_v2(row[i].doc);
		char want[300];

		sprintf(want, "%s (.zarray)", row[i].want);
		CHECK_STR(m.why.text, want);
		CHECK(m.why.code == -EINVAL || m.why.code == -EOPNOTSUPP);
		CHECK(!m.array);
		zr_meta_done(&m);
	}
}

static void required_members_are_named(void)
{
	static const char *const row[][2] = {
		{"{'zarr_format':2}", "member 'shape' is missing (.zarray)"},
		{"{'zarr_format':2,'shape':[]}", "member 'dtype' is missing (.zarray)"},
		{"{'zarr_format':2,'shape':[],'dtype':'|u1'}",
	         "member 'chunks' is missing (.zarray)"},
		{"{'zarr_format':2,'shape':[],'dtype':'|u1','chunks':[]}",
	         "member 'compressor' is missing (.zarray)"},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_meta m = parse_text_v2(NULL, row[i][0], NULL);

		CHECK_STR(m.why.text, row[i][1]);
		zr_meta_done(&m);
	}
}

static void long_names_are_cut_in_messages(void)
{
	static char dtype[2000], name[700];
	struct zr_meta m;

	memset(name, 'n', sizeof(name) - 1);
	sprintf(dtype, "[['%s',[['%s','<f16']]]]", name, name);
	m = parse_v2((struct doc_v2){.dtype = dtype});
	CHECK(strstr(m.why.text,
	             "nnn...': dtype '<f16' is not supported (a long double) (.zarray)"));
	zr_meta_done(&m);
}

static void structs_and_fields_are_bounded(void)
{
	static char text[40000 * 20];
	struct zr_meta m;
	int at;

	for (int n = 32; n < 34; n++) {
		at = 0;
		for (int i = 0; i < n; i++)
			at += sprintf(text + at, "[['a',");
		at += sprintf(text + at, "'|u1'");
		for (int i = 0; i < n; i++)
			at += sprintf(text + at, "]]");
		m = parse_v2((struct doc_v2){.dtype = text});
		CHECK_INT(m.why.code, n == 32 ? 0 : -EOPNOTSUPP);
		zr_meta_done(&m);
	}
	for (int n = 32768; n < 32770; n++) {
		at = sprintf(text, "[");
		for (int i = 0; i < n; i++)
			at += sprintf(text + at, "%s['%d','|u1']", i ? "," : "", i);
		sprintf(text + at, "]");
		m = parse_v2((struct doc_v2){.dtype = text});
		CHECK_STR(m.why.text,
		          n == 32768
		                  ? ""
		                  : "more than 32768 fields are not supported (.zarray)");
		zr_meta_done(&m);
	}
}

int main(void)
{
	RUN(ordinary_array_is_understood);
	RUN(group_is_told_from_array);
	RUN(broken_documents_are_named);
	RUN(every_type_string_has_kind_and_size);
	RUN(times_have_unit_and_scale);
	RUN(struct_is_a_packed_list_of_fields);
	RUN(objects_are_of_the_kind_of_their_first_filter);
	RUN(every_codec_id_is_known);
	RUN(separators);
	RUN(refusals_say_what_and_where);
	RUN(required_members_are_named);
	RUN(long_names_are_cut_in_messages);
	RUN(structs_and_fields_are_bounded);
	return EXIT_SUCCESS;
}
