/* SPDX-License-Identifier: MIT */
#include "meta_doc.h"

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
		("field 'a': data type 'string' has a variable length, which a field of "
	         "a "
	         "struct cannot have"),
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
		("codec 'transpose' behind a codec that depends on the order is not "
	         "supported"),
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

	for (int n = 32; n <= 33; n++) {
		struct zr_meta m;

		head[0] = tail[0] = '\0';
		for (int i = 0; i < n; i++) {
			strcat(head, "{'name':'struct','configuration':{'fields':[['a',");
			strcat(tail, "]]}}");
		}
		sprintf(text, "%s'uint8'%s", head, tail);
		m = parse_v3((struct doc_v3){.type = text});
		CHECK_INT(m.why.code, n == 32 ? 0 : -EOPNOTSUPP);
		CHECK(n == 32 || strstr(m.why.text, "more than 32 structs"));
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
	RUN(refused_types_are_named);
	RUN(refused_codecs_are_named);
	RUN(refused_shards_are_explained);
	RUN(refused_members_are_named);
	RUN(other_grids_are_refused_by_name);
	RUN(structs_are_bounded);
	RUN(documents_are_bounded);
	return EXIT_SUCCESS;
}
