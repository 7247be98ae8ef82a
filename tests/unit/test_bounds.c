/* SPDX-License-Identifier: MIT */
/*
 * Every number of bounds.h: what reaches it is read, what is beyond is refused with a
 * line that says so. docs/formats.md lists them for users.
 */
#include "bounds.h"

#include <blosc.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "chunk.h"
#include "fake_store.h"
#include "files.h"
#include "meta_doc.h"
#include "names.h"
#include "request.h"

static const char *why_v3(struct doc_v3 d)
{
	static char text[sizeof(((struct zr_err *)0)->text)];
	struct zr_meta m = parse_v3(d);

	strcpy(text, m.why.text);
	zr_meta_done(&m);
	return text;
}

static const char *why_v2(struct doc_v2 d)
{
	static char text[sizeof(((struct zr_err *)0)->text)];
	struct zr_meta m = parse_v2(d);

	strcpy(text, m.why.text);
	zr_meta_done(&m);
	return text;
}

/* "[a,a,...,a]", n of them. */
static const char *list_of(const char *item, unsigned int n)
{
	static struct zr_buf b;

	b.len = 0;
	for (unsigned int i = 0; i < n; i++) {
		zr_buf_addc(&b, i ? ',' : '[');
		zr_buf_adds(&b, item);
	}
	zr_buf_adds(&b, "]");
	zr_buf_addc(&b, '\0');
	CHECK_INT(zr_buf_check(&b), 0);
	return (const char *)b.data;
}

/* n times `head`, the middle, n times `tail`. */
static const char *nested(const char *head, const char *middle, const char *tail,
                          unsigned int n)
{
	static struct zr_buf b;

	b.len = 0;
	for (unsigned int i = 0; i < n; i++)
		zr_buf_adds(&b, head);
	zr_buf_adds(&b, middle);
	for (unsigned int i = 0; i < n; i++)
		zr_buf_adds(&b, tail);
	zr_buf_addc(&b, '\0');
	CHECK_INT(zr_buf_check(&b), 0);
	return (const char *)b.data;
}

static void dimensions(void)
{
	CHECK_STR(why_v3((struct doc_v3){.shape = list_of("1", 32)}), "");
	CHECK_STR(why_v3((struct doc_v3){.shape = list_of("1", 33)}),
	          "shape has 33 entries, at most 32 are supported (zarr.json)");
}

static void bytes_of_a_document(void)
{
	struct zr_meta m;

	/* Looked at before any byte of it is. */
	CHECK_INT(zr_meta_parse_v3((struct zr_doc){"{}", ZR_MAX_METADATA + 1}, &m), 0);
	CHECK_STR(m.why.text, "larger than 64 MiB (zarr.json)");
	zr_meta_done(&m);
}

/* The largest struct that a document can hold still fits what is parsed of one. */
static void bytes_of_a_document_that_are_parsed(void)
{
	struct zr_meta m;
	char *s;
	int n = asprintf(&s, "{\"zarr_format\":3,\"node_type\":\"group\",\"x\":\"%*s\"}",
	                 8 << 20, "");

	CHECK(n > 0);
	CHECK_INT(zr_meta_parse_v3((struct zr_doc){s, (size_t)n}, &m), 0);
	CHECK_STR(m.why.text, "larger than 8 MiB besides attributes (zarr.json)");
	zr_meta_done(&m);
	free(s);
}

static void depth_of_json(void)
{
	static const char group[] =
		"{\"zarr_format\":3,\"node_type\":\"group\",\"x\":%s}";

	for (unsigned int depth = 159; depth <= 160; depth++) { /* and the object */
		struct zr_meta m;
		char *s;
		int n = asprintf(&s, group, nested("[", "", "]", depth));

		CHECK(n > 0);
		CHECK_INT(zr_meta_parse_v3((struct zr_doc){s, (size_t)n}, &m), 0);
		CHECK_STR(m.why.text, depth < 160 ? ""
		                                  : "not valid JSON: line 1 column 201: "
		                                    "nested too deeply (zarr.json)");
		zr_meta_done(&m);
		free(s);
	}
}

static void structs_in_structs(void)
{
	CHECK_STR(why_v2((struct doc_v2){.dtype = nested("[['a',", "'|u1'", "]]", 32),
	                                 .fill = "null"}),
	          "");
	CHECK(strstr(why_v2((struct doc_v2){.dtype = nested("[['a',", "'|u1'", "]]", 33),
	                                    .fill = "null"}),
	             "more than 32 structs inside of one another are not supported"));
}

static void fields(void)
{
	for (unsigned int n = ZR_MAX_FIELDS; n <= ZR_MAX_FIELDS + 1; n++) {
		struct zr_buf b = {0};

		for (unsigned int i = 0; i < n; i++)
			zr_buf_addf(&b, "%s['%u','|u1']", i ? "," : "[", i);
		zr_buf_adds(&b, "]");
		zr_buf_addc(&b, '\0');
		CHECK_STR(why_v2((struct doc_v2){.dtype = (char *)b.data, .fill = "0"}),
		          n == ZR_MAX_FIELDS
		                  ? ""
		                  : "more than 32768 fields are not supported (.zarray)");
		zr_buf_done(&b);
	}
}

static void codecs_of_a_chain(void)
{
	static const char bytes[] =
		"[{'name':'bytes','configuration':{'endian':'little'}}%s]";
	struct zr_buf b = {0};

	for (unsigned int n = 2; n <= 17; n++) {
		char list[1000];

		zr_buf_adds(&b, ",'crc32c'");
		zr_buf_addc(&b, '\0');
		snprintf(list, sizeof(list), bytes, (char *)b.data);
		b.len--;
		CHECK_STR(why_v3((struct doc_v3){.codecs = list}),
		          n <= ZR_MAX_CODECS
		                  ? ""
		                  : "codecs: more than 16 codecs are not supported "
		                    "(zarr.json)");
	}
	zr_buf_done(&b);
	CHECK_STR(why_v2((struct doc_v2){.filters = list_of("{'id':'crc32'}", 15),
	                                 .compressor = "{'id':'zlib'}"}),
	          "");
	CHECK_STR(why_v2((struct doc_v2){.filters = list_of("{'id':'crc32'}", 16)}),
	          "16 filters are not supported, only less than 16 (.zarray)");
}

static void shards_in_shards(void)
{
	static const char head[] =
		"[{'name':'sharding_indexed','configuration':{'chunk_shape':[4],"
		"'index_codecs':[{'name':'bytes','configuration':{'endian':'little'}}],"
		"'codecs':";

	CHECK_STR(why_v3((struct doc_v3){.codecs = nested(head, LITTLE, "}}]", 4)}), "");
	CHECK_STR(why_v3((struct doc_v3){.codecs = nested(head, LITTLE, "}}]", 5)}),
	          "more than 4 shards inside of one another are not supported "
	          "(zarr.json)");
}

static void bytes_of_a_decoded_chunk(void)
{
	static const char line[] =
		"chunks of more than 1024 MiB when decoded are not supported (zarr.json)";

	CHECK_STR(why_v3((struct doc_v3){.chunks = "[1073741824]"}), "");
	CHECK_STR(why_v3((struct doc_v3){.chunks = "[1073741825]"}), line);
	CHECK_STR(why_v3((struct doc_v3){.chunks = "[134217729]", .type = "'float64'"}),
	          line);
	/* The product is looked at, without overflow. */
	CHECK_STR(why_v3((struct doc_v3){.shape = "[4,4,4]",
	                                 .chunks = "[4294967296,4294967296,4]"}),
	          line);
}

static void bytes_of_a_record(void)
{
	CHECK_STR(why_v2((struct doc_v2){.dtype = "'|V67108864'", .fill = "null"}), "");
	CHECK(strstr(why_v2((struct doc_v2){.dtype = "'|V67108865'", .fill = "null"}),
	             "too long"));
	CHECK(strstr(why_v2((struct doc_v2){.dtype = "[['a','|u1',[8192,8193]]]",
	                                    .fill = "null"}),
	             "records of more than 64 MiB are not supported"));
	CHECK(strstr(
		why_v2((struct doc_v2){.dtype = "[['a','|u1',[4294967296,4294967296]]]",
	                               .fill = "null"}),
		"records of more than 64 MiB are not supported"));
}

static const char *why_shard(const char *shape, const char *index_codecs)
{
	char codecs[500];

	snprintf(codecs, sizeof(codecs),
	         "[{'name':'sharding_indexed','configuration':{'chunk_shape':[1],"
	         "'codecs':['bytes'],'index_codecs':[{'name':'bytes','configuration':{"
	         "'endian':'little'}}%s]}}]",
	         index_codecs);
	return why_v3((struct doc_v3){.shape = shape, .codecs = codecs});
}

static void bytes_of_an_index_of_a_shard(void)
{
	CHECK_STR(why_shard("[4194304]", ""), "");
	CHECK_STR(why_shard("[4194304]", ",'crc32c'"),
	          "codec 'sharding_indexed': an index of more than 64 MiB is not "
	          "supported (zarr.json)");
	CHECK_STR(why_shard("[4194305]", ""),
	          "codec 'sharding_indexed': more than 4194304 chunks in a shard are "
	          "not supported (zarr.json)");
}

static void records(void)
{
	static const char line[] =
		"shape: more than 2^60 records are not supported (zarr.json)";

	CHECK_STR(why_v3((struct doc_v3){.shape = "[1152921504606846976]",
	                                 .chunks = "[1]"}),
	          "");
	CHECK_STR(why_v3((struct doc_v3){.shape = "[1152921504606846977]",
	                                 .chunks = "[1]"}),
	          line);
	CHECK_STR(why_v3((struct doc_v3){.shape = "[4294967296,4294967296]",
	                                 .chunks = "[1,1]"}),
	          line);
	/* With an axis of length 0 there are none, however long the others. */
	CHECK_STR(why_v3((struct doc_v3){.shape = "[0,4294967296,4294967296]",
	                                 .chunks = "[1,1,1]"}),
	          "");
}

static void memory_of_lzma(void)
{
	static const char filter[] = "{'id':'lzma','format':3,'filters':[{'id':33,"
				     "'dict_size':%u}]}";
	char compressor[200];

	snprintf(compressor, sizeof(compressor), filter, 200u << 20);
	CHECK_STR(why_v2((struct doc_v2){.compressor = compressor}), "");
	snprintf(compressor, sizeof(compressor), filter, 256u << 20);
	CHECK_STR(why_v2((struct doc_v2){.compressor = compressor}),
	          "codec 'lzma': needs more than 256 MiB of memory (.zarray)");
}

/* --- through a store -----------------------------------------------------------------
 */

static void stored_bytes_of_an_object(void)
{
	char dir[] = "/tmp/zarrfs.bounds.XXXXXX", *path;
	struct zr_buf b = {0};
	struct zr_err err = {0};
	struct zr_store *s;
	int fd;

	CHECK(mkdtemp(dir) && asprintf(&path, "%s/c", dir) > 0);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	CHECK(fd >= 0);
	CHECK_INT(ftruncate(fd, (off_t)ZR_MAX_STORED + 1), 0); /* sparse */
	close(fd);
	CHECK_INT(zr_store_open(dir, false, &s, NULL), 0);
	CHECK_INT(zr_store_get(s, "c", ZR_MAX_STORED, &b, &err), -EFBIG);
	CHECK_STR(err.text,
	          "'c' has 2147483649 bytes, more than the 2147483648 that are read");
	zr_store_unref(s);
	unlink(path);
	rmdir(dir);
	free(path);
}

static void bytes_of_a_text_file(void)
{
	static const char doc[] =
		"{\"zarr_format\":2,\"shape\":[%llu],\"chunks\":[1],\"dtype\":\"|S%d\","
		"\"compressor\":null,\"filters\":null,\"fill_value\":\"%s\",\"order\":"
		"\"C\"}";
	static const char *const want[] = {
		NULL,
		"shape: the text of 1152921504606846976 records would be longer than "
		"2^62 bytes"};

	/* 2^60 records of 2 bytes; of 5: JSON has quotation marks. */
	for (int i = 0; i < 2; i++) {
		char text[300];
		struct fake_object o[] = {{.key = ".zarray", .data = text}};
		struct fake_store st = FAKE_STORE(o);
		struct zr_known_sizes known = {0};
		struct zr_files *f;
		struct zr_env env = {.store = &st.base,
		                     .cache = zr_cache_new(1 << 20),
		                     .gate = zr_gate_new(1),
		                     .queue = zr_queue_new()};

		o[0].len = (size_t)snprintf(text, sizeof(text), doc,
		                            1ull << (i ? 60 : 59), 2, i ? "QUI=" : "");
		CHECK_INT(zr_files_load(&env, "", 1, &known, &f), 0);
		CHECK_STR(zr_files_why(f) ? zr_files_why(f) : "", want[i] ? want[i] : "");
		zr_files_unref(f);
		zr_queue_free(env.queue);
		zr_cache_free(env.cache);
		zr_gate_free(env.gate);
	}
}

/* --- bombs ---------------------------------------------------------------------------
 */

#define BOMB ((size_t)32 << 20) /* bytes of zeros that each decodes to */

static size_t bomb_gzip(const uint8_t *zeros, uint8_t *out, size_t room)
{
	struct libdeflate_compressor *c = libdeflate_alloc_compressor(6);
	size_t n = libdeflate_gzip_compress(c, zeros, BOMB, out, room);

	libdeflate_free_compressor(c);
	return n;
}

static size_t bomb_zstd(const uint8_t *zeros, uint8_t *out, size_t room)
{
	return ZSTD_compress(out, room, zeros, BOMB, 3);
}

static size_t bomb_blosc(const uint8_t *zeros, uint8_t *out, size_t room)
{
	return (size_t)blosc_compress_ctx(5, 0, 1, BOMB, zeros, out, room, "lz4", 0, 1);
}

/* A bomb costs what the chunk's declared size costs, and is told from a chunk. */
static void ratio_of_decompression(void)
{
	static const struct {
		int (*add)(struct zr_codecs *c, const char *name);
		size_t (*make)(const uint8_t *zeros, uint8_t *out, size_t room);
		const char *want;
	} row[] = {
		{zr_codecs_add_gzip, bomb_gzip,
	         "codec 'c': decodes to more than 1000 bytes"},
		{zr_codecs_add_zstd, bomb_zstd,
	         "codec 'c': Destination buffer is too small"},
		{zr_codecs_add_blosc, bomb_blosc,
	         "codec 'c': decodes to 33554432 bytes in place of 1000"},
	};
	uint8_t *zeros = calloc(1, BOMB);

	CHECK(zeros);
	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_codecs *c = zr_codecs_new();
		struct zr_buf in = {0}, out = {0};
		struct zr_err err = {0};

		CHECK(c && row[i].add(c, "c") == 0);
		CHECK_INT(zr_buf_reserve(&in, 1 << 20), 0);
		in.len = row[i].make(zeros, in.data, 1 << 20);
		CHECK(in.len > 0 && in.len < BOMB / 100);
		CHECK_INT(zr_codecs_decode(c, &in, 1000, 0, &out, &err), -EUCLEAN);
		CHECK_STR(err.text, row[i].want);
		CHECK(!out.data);
		zr_codecs_free(c);
	}
	free(zeros);
}

/* A zstd frame that does not say its size (RFC 8878, 3.1.1): blocks of 128 KiB that
 * repeat one byte. */
static void put_rle(struct zr_buf *b, unsigned int blocks)
{
	zr_buf_add(b, "\x28\xb5\x2f\xfd\x00\x50", 6);
	for (unsigned int i = 1; i <= blocks; i++) {
		uint8_t head[4] = {0};

		zr_store_uint(head, (i == blocks) | 1 << 1 | (128 << 10) << 3, 4, false);
		zr_buf_add(b, head, 3);
		zr_buf_addc(b, '\0');
	}
	CHECK_INT(zr_buf_check(b), 0);
}

/* Where nothing says how much text there is: 65 MiB in one string. */
static void ratio_of_decompression_of_text(void)
{
	static char text[] =
		"{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[1],"
		"\"data_type\":\"string\",\"fill_value\":\"\",\"chunk_grid\":{\"name\":"
		"\"regular\",\"configuration\":{\"chunk_shape\":[1]}},"
		"\"chunk_key_encoding\":\"default\",\"codecs\":[\"vlen-utf8\",\"zstd\"]}";
	struct fake_object o[] = {{.key = "a/c/0"}};
	struct fake_store st = FAKE_STORE(o);
	struct zr_cache *cache = zr_cache_new(1 << 20);
	struct zr_gate *gate = zr_gate_new(1);
	struct zr_buf bomb = {0};
	struct zr_cache_stats stats;
	struct zr_chunk *chunk;
	struct zr_source s;
	struct zr_meta m;

	CHECK_INT(zr_meta_parse_v3((struct zr_doc){text, strlen(text)}, &m), 0);
	CHECK_STR(m.why.text, "");
	put_rle(&bomb, 65 << 3);
	o[0].data = bomb.data;
	o[0].len = bomb.len;
	CHECK_INT(zr_source_init(&s, &st.base, "a", m.array, cache, gate, 1, false), 0);
	CHECK_INT(zr_source_get(&s, 0, &chunk), -EUCLEAN); /* and a line in the log */
	zr_cache_get_stats(cache, &stats);
	CHECK(stats.peak < 66 << 20);
	zr_source_done(&s);
	zr_meta_done(&m);
	zr_cache_free(cache);
	zr_gate_free(gate);
	zr_buf_done(&bomb);
}

static void length_of_a_name(void)
{
	static char name[100001];
	char out[ZR_NAME_MAX + 1];

	memset(name, 'n', sizeof(name) - 1);
	CHECK_INT(zr_name_escape(name, 255, ZR_NAME_PLAIN, out), 255);
	CHECK(strncmp(name, out, 255) == 0);
	CHECK_INT(zr_name_escape(name, 256, ZR_NAME_PLAIN, out), 255);
	CHECK(out[238] == '~');
	CHECK_INT(zr_name_escape(name, 100000, ZR_NAME_NPY, out), 255);
	CHECK_STR(out + 251, ".npy");
}

int main(void)
{
	RUN(dimensions);
	RUN(bytes_of_a_document);
	RUN(bytes_of_a_document_that_are_parsed);
	RUN(depth_of_json);
	RUN(structs_in_structs);
	RUN(fields);
	RUN(codecs_of_a_chain);
	RUN(shards_in_shards);
	RUN(bytes_of_a_decoded_chunk);
	RUN(bytes_of_a_record);
	RUN(bytes_of_an_index_of_a_shard);
	RUN(records);
	RUN(memory_of_lzma);
	RUN(stored_bytes_of_an_object);
	RUN(bytes_of_a_text_file);
	RUN(ratio_of_decompression);
	RUN(ratio_of_decompression_of_text);
	RUN(length_of_a_name);
	return EXIT_SUCCESS;
}
