/* SPDX-License-Identifier: MIT */
/*
 * util.h - scope-bound cleanup, hand-over, and byte-order loads
 *
 * Layer 0. Includes nothing of zarrfs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ZR_MUST_CHECK __attribute__((warn_unused_result))
#define ZR_CLEANUP(f) __attribute__((cleanup(f)))
#define ZR_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* The value of a pointer variable, which is NULL afterwards: hands ownership out. */
#define ZR_TAKE(p)                                                                       \
	({                                                                               \
		__typeof__(p) take_ = (p);                                               \
		(p) = NULL;                                                              \
		take_;                                                                   \
	})

#define ZR_COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define ZR_MIN(a, b) ((a) < (b) ? (a) : (b))
#define ZR_MAX(a, b) ((a) > (b) ? (a) : (b))

/* For ZR_CLEANUP on a `char *` or any other malloc()ed pointer. */
static inline void zr_freep(void *p)
{
	free(*(void **)p);
}

/* Unaligned loads. `big`: most significant byte first. */
static inline uint16_t zr_load_u16(const void *p, bool big)
{
	uint16_t v;
	memcpy(&v, p, sizeof(v));
	return big == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? v : __builtin_bswap16(v);
}

static inline uint32_t zr_load_u32(const void *p, bool big)
{
	uint32_t v;
	memcpy(&v, p, sizeof(v));
	return big == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? v : __builtin_bswap32(v);
}

static inline uint64_t zr_load_u64(const void *p, bool big)
{
	uint64_t v;
	memcpy(&v, p, sizeof(v));
	return big == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? v : __builtin_bswap64(v);
}

/* Stores `size` (1, 2, 4 or 8) low bytes of v. */
static inline void zr_store_uint(void *p, uint64_t v, unsigned int size, bool big)
{
	uint8_t *b = (uint8_t *)p;

	for (unsigned int i = 0; i < size; i++)
		b[big ? size - 1 - i : i] = (uint8_t)(v >> (8 * i));
}

/* An unsigned integer of 1, 2, 4 or 8 bytes. */
static inline uint64_t zr_load_uint(const void *p, unsigned int size, bool big)
{
	switch (size) {
	case 1:
		return *(const uint8_t *)p;
	case 2:
		return zr_load_u16(p, big);
	case 4:
		return zr_load_u32(p, big);
	default:
		return zr_load_u64(p, big);
	}
}

/* A checked product: false when it does not fit. */
static inline ZR_MUST_CHECK bool zr_mul(uint64_t a, uint64_t b, uint64_t *ret)
{
	return !__builtin_mul_overflow(a, b, ret);
}

/* Sums and products that stay at UINT64_MAX where they would be more. */
static inline uint64_t zr_add_most(uint64_t a, uint64_t b)
{
	return __builtin_add_overflow(a, b, &a) ? UINT64_MAX : a;
}

static inline uint64_t zr_mul_most(uint64_t a, uint64_t b)
{
	return __builtin_mul_overflow(a, b, &a) ? UINT64_MAX : a;
}
