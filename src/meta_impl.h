/* SPDX-License-Identifier: MIT */
/*
 * meta_impl.h - what meta*.c and fill.c share, and nobody else includes
 *
 *   meta.c            kind of node, attributes, dimension names
 *   meta_v3.c         zarr.json of an array
 *   meta_v2.c         .zarray
 *   meta_type.c       what the type trees of both have in common
 *   meta_type_v3.c    data_type
 *   meta_type_v2.c    dtype
 *   meta_chain.c      codecs of v3: levels, transpositions, byte order
 *   meta_codec.c      one codec of a chain, v3 and numcodecs
 *   meta_categorize.c the codec of v2 that holds texts
 *   meta_names.c      names of codecs, for schema.json
 *   meta_read.c       members, with a clear line when they are not as they must be
 *   fill.c            fill_value by type
 *   fill_number.c     the spellings of numbers in one
 *   fill_float.c      floats of every format
 *
 * Layer 2. May include array.h and below, json.h.
 *
 * Errors: -EINVAL, -EOPNOTSUPP with a text that does not name the document (meta.c adds
 *         that), or -ENOMEM.
 */
#pragma once

#include <errno.h>

#include "array.h"
#include "err.h"
#include "json.h"

/* Bytes of a document besides attributes and consolidated metadata: what is parsed takes
 * some twenty times the memory of its text. A struct of ZR_MAX_FIELDS fields fits. */
#define ZR_MAX_PARSED ((size_t)8 << 20)

/* --- meta_read.c ------------------------------------------------------------------- */

/* A field inside of fields: a list on the stack, innermost first. */
struct zr_where {
	const struct zr_where *up;
	const char *name; /* name_len bytes */
	size_t name_len;
};

#define ZR_SHOWN 120 /* bytes of a buffer for a piece of a message */

/* "field 'a.b': ", or "" for no field. */
const char *zr_where_show(const struct zr_where *w, char buf[ZR_SHOWN]);

/* A value as a message names it: 'text' in quotation marks, numbers, kinds of others. */
const char *zr_meta_show(const json_t *v, char buf[ZR_SHOWN]);

/* A named extension: {"name", "configuration"?, "must_understand"?} or a bare name. */
struct zr_ext {
	const char *name;   /* borrowed */
	const json_t *conf; /* borrowed; an object, or NULL */
};

/* `what` it is, for messages: "codec". */
ZR_MUST_CHECK int zr_ext_read(const json_t *v, const char *what, struct zr_ext *ret,
                              struct zr_err *reterr);

/* Refuses members of an object that are not in `known` (NULL-terminated). */
ZR_MUST_CHECK int zr_meta_only(const json_t *object, const char *const *known,
                               const char *what, struct zr_err *reterr);

/* A required member. */
ZR_MUST_CHECK int zr_meta_need(const json_t *object, const char *key, const json_t **ret,
                               struct zr_err *reterr);

/* A whole number >= 0. */
bool zr_meta_uint(const json_t *v, uint64_t *ret);

/* A list of at most ZR_MAX_DIMS whole numbers >= 0. */
ZR_MUST_CHECK int zr_meta_sizes(const json_t *v, const char *what, uint64_t *ret,
                                uint32_t *ret_n, struct zr_err *reterr);

/* Product of n numbers; false when it is beyond max. A 0 among them makes it 0. */
ZR_MUST_CHECK bool zr_meta_product(const uint64_t *v, uint32_t n, uint64_t max,
                                   uint64_t *ret);

/* shape, ndim and nrecords of the array. */
ZR_MUST_CHECK int zr_meta_shape(struct zr_array *a, const json_t *doc,
                                struct zr_err *reterr);

/* levels[0]: the chunk shape of the store's grid, axes in order, an empty chain. */
ZR_MUST_CHECK int zr_meta_grid(struct zr_array *a, const json_t *chunks, const char *what,
                               struct zr_err *reterr);

/* Whether a chunk of the last level can be decoded in memory, its records are not empty,
 * and those of the levels above can be counted. */
ZR_MUST_CHECK int zr_meta_check_bottom(const struct zr_array *a, struct zr_err *reterr);

/* --- meta_type*.c ------------------------------------------------------------------ */

/* While a type is read. */
struct zr_type_build {
	uint32_t nfields; /* so far, all levels together */
	struct zr_err *reterr;
};

/* Makes *t a struct without fields that has room for n; where: the struct itself. */
ZR_MUST_CHECK int zr_struct_begin(struct zr_type_build *b, struct zr_type *t, size_t n,
                                  unsigned int depth, const struct zr_where *where);

/* Appends a field, whose name, sub-array and type are set; the struct owns it then, also
 * on failure. */
ZR_MUST_CHECK int zr_struct_add(struct zr_type_build *b, struct zr_type *t,
                                struct zr_field *own_f, const struct zr_where *where);

/* Refuses names that are used twice, or would be as file names. */
ZR_MUST_CHECK int zr_struct_end(struct zr_type_build *b, const struct zr_type *t,
                                const struct zr_where *where);

/* Unit of a time as both versions spell it, len bytes. */
bool zr_unit_parse(const char *s, size_t len, enum zr_unit *ret);

/* *ret_legacy: it is a `structured`, whose missing endian means little. */
ZR_MUST_CHECK int zr_meta_type_v3(const json_t *v, struct zr_type *ret, bool *ret_legacy,
                                  struct zr_err *reterr);
ZR_MUST_CHECK int zr_meta_type_v2(const json_t *v, struct zr_type *ret,
                                  struct zr_err *reterr);

/* --- meta_codec.c, meta_chain.c ---------------------------------------------------- */

enum zr_codec_class {
	ZR_CODEC_UNKNOWN,
	ZR_CODEC_REFUSED, /* known, not supported */
	ZR_CODEC_PICKLE,
	ZR_CODEC_OBJECT,     /* v2: objects to bytes */
	ZR_CODEC_CATEGORIZE, /* v2: texts, objects or not, to integers */
	ZR_CODEC_TRANSPOSE,  /* v3 */
	ZR_CODEC_ARRAY,      /* array to array, each element by itself */
	ZR_CODEC_SEQUENCE,   /* array to array, depends on the order of elements */
	ZR_CODEC_BYTES,      /* v3, array to bytes */
	ZR_CODEC_VLEN,       /* v3, array to bytes */
	ZR_CODEC_SHARD,      /* v3, array to bytes */
	ZR_CODEC_CHECKSUM,   /* bytes to bytes, 4 bytes more */
	ZR_CODEC_STREAM,     /* bytes to bytes */
};

enum zr_codec_class zr_codec_class_v3(const char *name);
enum zr_codec_class zr_codec_class_v2(const char *id);

/* What surrounds a codec in v3. NULL for v2, whose type strings stand for themselves. */
struct zr_codec_env {
	struct zr_numtype elem; /* the array's elements on the way down, stored order;
	                         * kind 0: not numbers */
	uint64_t itemsize;
};

/* Appends an ARRAY, SEQUENCE, CHECKSUM or STREAM codec; env->elem is what it leaves. */
ZR_MUST_CHECK int zr_codec_append(struct zr_codecs *c, const char *name,
                                  const json_t *conf, struct zr_codec_env *env,
                                  struct zr_err *reterr);

/* meta_categorize.c: appends a categorize. objects: to those of dtype '|O'. */
ZR_MUST_CHECK int zr_categorize_append(struct zr_codecs *c, const json_t *conf,
                                       bool objects, struct zr_err *reterr);

/* The refusal of a codec that is not for this place. */
ZR_MUST_CHECK int zr_codec_refuse(enum zr_codec_class k, const json_t *name,
                                  const char *what, struct zr_err *reterr);

/* levels, nlevels and byte order, out of the list of codecs; zr_meta_grid() was called,
 * the type is set. */
ZR_MUST_CHECK int zr_meta_chain_v3(struct zr_array *a, const json_t *codecs, bool legacy,
                                   struct zr_err *reterr);

/* --- meta_names.c ------------------------------------------------------------------ */

/* Appends a JSON list of the names of an array's codecs, in the order of encoding, as the
 * document spells them; those inside of shards as {"sharding_indexed": [...]}. The list
 * was understood before. -ENOMEM. */
ZR_MUST_CHECK int zr_meta_codec_names_v3(const json_t *codecs, struct zr_buf *ret);
ZR_MUST_CHECK int zr_meta_codec_names_v2(const json_t *doc, struct zr_buf *ret);

/* --- meta_v3.c, meta_v2.c ---------------------------------------------------------- */

/* Fills in all but dims. */
ZR_MUST_CHECK int zr_meta_array_v3(struct zr_array *a, const json_t *doc,
                                   struct zr_err *reterr);
ZR_MUST_CHECK int zr_meta_array_v2(struct zr_array *a, const json_t *doc,
                                   struct zr_err *reterr);

/* --- fill.c, fill_number.c, fill_float.c -------------------------------------------- */

/* fill and fill_data of an array whose type is complete. v NULL: as null. */
ZR_MUST_CHECK int zr_fill_read(struct zr_array *a, const json_t *v,
                               struct zr_err *reterr);

/* A number, exact if it is whole. */
struct zr_number {
	bool whole;
	bool too_large; /* whole, but magnitude does not hold it */
	bool negative;
	uint64_t magnitude;
	double real; /* always */
};

/* Numbers, true and false, and the strings that stand for numbers: "NaN", "Infinity",
 * "-Infinity", and decimals. False: it is none. */
bool zr_number_read(const json_t *v, struct zr_number *ret);

/* "0x" and 1 to 2 * size hexadecimal digits: the bits of a float. False: it is not. */
bool zr_float_bits_read(const json_t *v, unsigned int size, uint64_t *ret);

/* The bits of a value in a format, rounded to nearest, ties to even. What is beyond the
 * largest one becomes infinity, NaN where there is none, the largest where there is
 * neither. False: the format cannot hold it at all (NaN and infinities of the last). */
bool zr_float_from_double(enum zr_float f, double v, uint64_t *ret_bits);
