/* SPDX-License-Identifier: MIT */
/*
 * dtype.h - the type of an array's records: a tree of fields
 *
 *   store bytes -> codec -> chunk cache -> view -> render -> fuse reply
 *
 * One description for Zarr v2 lists, v3 `struct` and v3 `structured`. Offsets and
 * sizes are those of the packed record as it is stored. Every leaf carries its own
 * byte order, because v2 records may mix them; bytes are swapped when a value is
 * loaded, never in a chunk. This module knows types, not JSON (meta_*.c) and not
 * text (render_*.c).
 *
 * Layer 1. May include layer 0.
 *
 * Memory: a struct zr_type owns its fields; zr_type_done() frees them.
 * Threads: immutable once built.
 */
#pragma once

#include "buf.h"
#include "util.h"

enum zr_kind {
	ZR_BOOL,    /* 1 byte; any value but 0 is true */
	ZR_INT,     /* two's complement; `bits` that count, the upper ones ignored */
	ZR_UINT,    /* likewise */
	ZR_FLOAT,   /* `flt` */
	ZR_COMPLEX, /* two floats of `flt`: real, imaginary; swapped one by one */
	ZR_UTF32, /* code units of 4 bytes, swapped one by one; trailing NULs are padding
	           */
	ZR_CHARS, /* S, null_terminated_bytes: text; trailing NULs are padding */
	ZR_RAW,   /* V, r*, raw_bytes: opaque */
	ZR_DATETIME,  /* int64 count of `scale` `unit`s since 1970; INT64_MIN is NaT */
	ZR_TIMEDELTA, /* likewise, a duration */
	ZR_STRUCT,    /* fields */
	ZR_STRING,    /* variable length: UTF-8. An element is a struct zr_item */
	ZR_VBYTES,    /* variable length: opaque. Likewise */
	ZR_JSON, /* item of a v2 json2 chunk, 's' + UTF-8 or 'j' + compact JSON. Likewise
	          */
	ZR_LIST, /* variable length: packed numbers or times, of the type of the one field
	          * that it has. Likewise */
};

enum zr_float {
	ZR_F64,
	ZR_F32,
	ZR_F16,
	ZR_BF16,
	ZR_F8_E3M4,
	ZR_F8_E4M3,
	ZR_F8_E4M3B11FNUZ,
	ZR_F8_E4M3FNUZ,
	ZR_F8_E5M2,
	ZR_F8_E5M2FNUZ,
	ZR_F8_E8M0FNU,
	ZR_F8_E4M3FN,
	ZR_F6_E2M3FN,
	ZR_F6_E3M2FN,
	ZR_F4_E2M1FN,
};

enum zr_unit {
	ZR_GENERIC,
	ZR_YEAR,
	ZR_MONTH,
	ZR_WEEK,
	ZR_DAY,
	ZR_HOUR,
	ZR_MINUTE,
	ZR_SECOND,
	ZR_MS,
	ZR_US,
	ZR_NS,
	ZR_PS,
	ZR_FS,
	ZR_AS,
};

/* One element of a variable-length type in a decoded chunk: where its bytes are.
 * The bytes belong to the chunk (or to the array, for the fill value). */
struct zr_item {
	const uint8_t *data;
	uint64_t len;
};

struct zr_field;

struct zr_type {
	enum zr_kind kind;
	enum zr_float flt; /* ZR_FLOAT, ZR_COMPLEX */
	uint8_t bits;      /* ZR_INT, ZR_UINT: 2, 4, 8, 16, 32 or 64 */
	bool big;          /* stored most significant byte first */
	enum zr_unit unit; /* ZR_DATETIME, ZR_TIMEDELTA */
	uint32_t scale;    /* likewise: 1 to 2^31-1 */
	uint64_t size;     /* bytes of one element in a decoded chunk; variable length:
	                    * sizeof(struct zr_item) */
	uint32_t nfields;  /* ZR_STRUCT; ZR_LIST: 1 */
	struct zr_field *fields; /* owned, in declared order */
};

struct zr_field {
	char *name;      /* owned; any bytes, NULs too; UTF-8 but for lone surrogates */
	size_t name_len; /* bytes */
	bool hidden;     /* anonymous padding of v2: counted, not shown */
	uint64_t offset; /* bytes from the start of the record of *this* struct */
	uint32_t ndim;   /* of a sub-array (v2 only); 0: none */
	uint64_t *shape; /* owned, ndim entries; an entry may be 0 */
	uint64_t count;  /* product of shape; 1 without a sub-array */
	struct zr_type type; /* of one element; the field takes count * type.size bytes */
};

/* Bytes that are reversed together in a value of this type: 1 where order is
 * irrelevant. Not for ZR_STRUCT. */
unsigned int zr_type_swap_unit(const struct zr_type *t);

bool zr_type_is_variable(const struct zr_type *t);

/* Whether any leaf, at any depth, spans several bytes that have an order. */
bool zr_type_has_order(const struct zr_type *t);

/* Sets the byte order of every leaf, at any depth. */
void zr_type_set_order(struct zr_type *t, bool big);

/*
 * Appends the type as NumPy and Zarr v2 spell it: "<i4", "|S5", ">M8[25us]", "|O" for
 * variable length; "|V1" where NumPy has no name for it (bfloat16, float8, int4 and their
 * like). `big`: the byte order that it says. Not for ZR_STRUCT.
 */
void zr_type_numpy(const struct zr_type *t, bool big, struct zr_buf *ret);

/* Bytes of one float of that format. */
unsigned int zr_float_size(enum zr_float f);

/* Swaps every leaf of one record between the order of its own and little-endian, in
 * place. Only for records of our own making (fill values), never for cached chunks. */
void zr_type_swap_record(const struct zr_type *t, uint8_t *record);

/* Frees what the type owns; it is all zero then. NULL is allowed. */
void zr_type_done(struct zr_type *t);
