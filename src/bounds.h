/* SPDX-License-Identifier: MIT */
/*
 * bounds.h - every bound on what a store may ask of us, in one place
 *
 * A store is hostile until shown otherwise. Each number here is checked before
 * anything is allocated or multiplied, and each refusal is one clear line.
 * docs/formats.md lists them for users.
 *
 * Layer 0. Includes nothing.
 */
#pragma once

#define ZR_MAX_DIMS 32                     /* dimensions of an array */
#define ZR_MAX_METADATA ((size_t)64 << 20) /* bytes of one metadata document */
#define ZR_MAX_JSON_DEPTH 160              /* nesting of a document (a struct: 4) */
#define ZR_MAX_STRUCT_DEPTH 32             /* structs in structs */
#define ZR_MAX_FIELDS 32768                /* fields of an array, all levels together */
#define ZR_MAX_CODECS 16                   /* codecs of one chain */
#define ZR_MAX_SHARD_DEPTH 4               /* shards in shards */
#define ZR_MAX_CHUNK ((uint64_t)1 << 30)   /* bytes of one decoded chunk */
#define ZR_MAX_STORED                                                                    \
	((uint64_t)1 << 31) /* bytes of one stored object that is read whole */
/* Where nothing says what a chunk of variable length decodes to, it may be so many times
 * what is stored of it, or, if that is more, ZR_FREE_TEXT bytes and some for each item;
 * never more than ZR_MAX_CHUNK. */
#define ZR_MAX_RATIO 128
#define ZR_FREE_TEXT ((uint64_t)64 << 20)
#define ZR_FREE_PER_ITEM 64
#define ZR_MAX_RECORD ((uint64_t)64 << 20)      /* bytes of one decoded record */
#define ZR_MAX_SHARD_INDEX ((uint64_t)64 << 20) /* bytes of one shard's index */
/* Axes of all columns of an array: each has a copy of those of the structs above. */
#define ZR_MAX_AXES ((uint64_t)1 << 20)
#define ZR_MAX_RECORDS ((uint64_t)1 << 60) /* records of one array */
#define ZR_MAX_FILE                                                                      \
	((uint64_t)1 << 62) /* bytes of one text file; the bound shown                   \
	                     * while a size is not known */
#define ZR_MAX_LZMA_MEMORY ((uint64_t)256 << 20)
#define ZR_MAX_MEMBERS ((uint64_t)16 << 20) /* of a zip archive */
#define ZR_MAX_LINKED ((size_t)128 << 20)   /* bytes of nodes that links lead to */
#define ZR_MAX_COPIES ((size_t)1 << 20)     /* documents in one consolidated document */
#define ZR_MAX_CONSOLIDATED                                                              \
	((size_t)256 << 20) /* bytes of consolidated metadata, all of a store */
