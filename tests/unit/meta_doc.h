/* SPDX-License-Identifier: MIT */
/*
 * meta_doc.h - metadata documents for tests, written with ' instead of "
 */
#pragma once

#include "test.h"
#include "meta.h"

#include <errno.h>

/* Members as JSON text; NULL: an ordinary value. An array of uint8 if all are NULL. */
struct doc_v3 {
	const char *shape, *type, *chunks, *codecs, *fill, *keys, *extra;
};

struct doc_v2 {
	const char *shape, *dtype, *chunks, *compressor, *filters, *fill, *extra,
		*attributes;
};

#define LITTLE "[{'name':'bytes','configuration':{'endian':'little'}}]"
#define BIG "[{'name':'bytes','configuration':{'endian':'big'}}]"

#define FIELDS(name, list) "{'name':'" name "','configuration':{'fields':[" list "]}}"
#define SHARD(shape, codecs, more)                                                       \
	"{'name':'sharding_indexed','configuration':{'chunk_shape':" shape               \
	",'codecs':" codecs ",'index_codecs':[{'name':'bytes','configuration':{"         \
	"'endian':'little'}},{'name':'crc32c'}]" more "}}"
#define TRANSPOSE(order) "{'name':'transpose','configuration':{'order':" order "}}"

static inline char *doc_quotes(char *s)
{
	for (char *p = s; *p; p++)
		if (*p == '\'')
			*p = '"';
	return s;
}

static inline const char *doc_or(const char *s, const char *other)
{
	return s ? s : other;
}

static inline struct zr_meta parse_text_v3(const char *text)
{
	struct zr_meta m = {0};
	char *s = doc_quotes(strdup(text));

	CHECK_INT(zr_meta_parse_v3((struct zr_doc){s, strlen(s)}, &m), 0);
	free(s);
	return m;
}

static inline struct zr_meta parse_v3(struct doc_v3 d)
{
	struct zr_meta m;
	char *s;

	CHECK(asprintf(&s,
	               "{'zarr_format':3,'node_type':'array','shape':%s,'data_type':%s,"
	               "'chunk_grid':{'name':'regular','configuration':{'chunk_shape':%s}"
	               "},"
	               "'chunk_key_encoding':%s,'fill_value':%s,'codecs':%s%s}",
	               doc_or(d.shape, "[4]"), doc_or(d.type, "'uint8'"),
	               doc_or(d.chunks, doc_or(d.shape, "[4]")),
	               doc_or(d.keys, "{'name':'default'}"), doc_or(d.fill, "0"),
	               doc_or(d.codecs, LITTLE), doc_or(d.extra, "")) > 0);
	m = parse_text_v3(s);
	free(s);
	return m;
}

static inline struct zr_meta parse_text_v2(const char *zgroup, const char *zarray,
                                           const char *zattrs)
{
	const char *text[3] = {zgroup, zarray, zattrs};
	struct zr_doc doc[3] = {{0}};
	struct zr_meta m = {0};

	for (int i = 0; i < 3; i++) {
		char *s = text[i] ? doc_quotes(strdup(text[i])) : NULL;

		doc[i] = (struct zr_doc){s, s ? strlen(s) : 0};
	}
	CHECK_INT(zr_meta_parse_v2(doc[0], doc[1], doc[2], &m), 0);
	for (int i = 0; i < 3; i++)
		free((char *)doc[i].data);
	return m;
}

static inline struct zr_meta parse_v2(struct doc_v2 d)
{
	struct zr_meta m;
	char *s;

	CHECK(asprintf(&s,
	               "{'zarr_format':2,'shape':%s,'dtype':%s,'chunks':%s,'compressor':%"
	               "s,"
	               "'filters':%s,'fill_value':%s%s}",
	               doc_or(d.shape, "[4]"), doc_or(d.dtype, "'|u1'"),
	               doc_or(d.chunks, doc_or(d.shape, "[4]")),
	               doc_or(d.compressor, "null"), doc_or(d.filters, "null"),
	               doc_or(d.fill, "0"), doc_or(d.extra, "")) > 0);
	m = parse_text_v2(NULL, s, d.attributes);
	free(s);
	return m;
}

static inline const char *doc_hex(const uint8_t *p, size_t n)
{
	static char hex[2048];

	hex[0] = '\0';
	for (size_t i = 0; i < n && i < sizeof(hex) / 2 - 1; i++)
		sprintf(hex + 2 * i, "%02x", p[i]);
	return hex;
}

/* The fill record as it would be stored, or the bytes of the item. */
static inline const char *fill_hex(const struct zr_meta *m)
{
	struct zr_item item;

	CHECK_STR(m->why.text, "");
	CHECK(m->array);
	if (!zr_type_is_variable(&m->array->type))
		return doc_hex(m->array->fill, m->array->type.size);
	memcpy(&item, m->array->fill, sizeof(item));
	return doc_hex(item.data, item.len);
}

/* Names of a chain, with a blank between. */
static inline const char *chain_names(const struct zr_codecs *c)
{
	static char names[1024];

	names[0] = '\0';
	for (size_t i = 0; i < zr_codecs_count(c); i++) {
		strcat(names, i ? " " : "");
		strcat(names, zr_codecs_name(c, i));
	}
	return names;
}
