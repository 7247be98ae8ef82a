/* SPDX-License-Identifier: MIT */
/*
 * zip_writer.h - writes zip archives by hand, true or not
 *
 * libzip writes no broken ones, no duplicates and no names that lead out. For one test
 * file: all is static.
 */
#pragma once

#include <libdeflate.h>

#include "buf.h"
#include "test.h"

/* One member as it is to be written, true or not. */
struct entry {
	const char *name;
	const char *data;  /* as it stands in the archive */
	size_t stored;     /* bytes of data; 0: its length */
	unsigned method;   /* of zip */
	unsigned flags;    /* bit 0: encrypted */
	uint64_t size;     /* declared; 0: stored */
	uint32_t crc_flip; /* XORed into the true CRC-32 of crc_of or data */
	const char *crc_of;
	bool zip64; /* sizes and offset in the extra field, as if they were large */
	const char *local_name; /* in the header in front of the data; NULL: name */
	unsigned local_extra;   /* bytes more of an extra field there */
	size_t other;           /* offset: that of the member so many places farther */
};

/* Of zlib.compressobj(9, zlib.DEFLATED, -15) in Python: "hello" 20 times. */
#define HELLO5 "hellohellohellohellohello"
#define HELLO20 HELLO5 HELLO5 HELLO5 HELLO5
static const char hello_deflated[] = "\xcb\x48\xcd\xc9\xc9\xcf\xa0\x2d\x01\x00";
#define HELLO_N (sizeof(hello_deflated) - 1)

#define STORED(n, d, ...)                                                                \
	{                                                                                \
		.name = n, .data = d, ##__VA_ARGS__                                      \
	}
#define HELLO(n, len, ...)                                                               \
	{                                                                                \
		.name = n, .data = hello_deflated, .stored = len, .method = 8,           \
		.crc_of = HELLO20, __VA_ARGS__                                           \
	}

static void put(struct zr_buf *b, uint64_t v, unsigned size)
{
	uint8_t le[8];

	zr_store_uint(le, v, size, false);
	zr_buf_add(b, le, size);
}

/* What local header and central directory have in common, from "version needed" on. */
static void put_common(struct zr_buf *b, const struct entry *e, uint32_t crc,
                       size_t extra)
{
	uint64_t stored = e->stored ? e->stored : strlen(e->data);

	put(b, e->zip64 ? 45 : 20, 2);
	put(b, e->flags, 2);
	put(b, e->method, 2);
	put(b, 0x6c00, 2); /* 13:32:00 */
	put(b, 0x58a5, 2); /* 2024-05-05 */
	put(b, crc, 4);
	put(b, e->zip64 ? UINT32_MAX : stored, 4);
	put(b, e->zip64 ? UINT32_MAX : e->size ? e->size : stored, 4);
	put(b, strlen(e->name), 2);
	put(b, extra, 2);
}

static void put_extra(struct zr_buf *b, const struct entry *e, bool central,
                      uint64_t offset)
{
	uint64_t stored = e->stored ? e->stored : strlen(e->data);

	if (!e->zip64)
		return;
	put(b, 1, 2);
	put(b, central ? 24 : 16, 2);
	put(b, e->size ? e->size : stored, 8);
	put(b, stored, 8);
	if (central)
		put(b, offset, 8);
}

/* One that nobody knows. */
static void put_local_extra(struct zr_buf *b, unsigned len)
{
	if (len == 0)
		return;
	put(b, 0x7a72, 2);
	put(b, len - 4, 2);
	for (unsigned i = 4; i < len; i++)
		put(b, 'P', 1);
}

static uint32_t entry_crc(const struct entry *e)
{
	const char *of = e->crc_of ? e->crc_of : e->data;

	return libdeflate_crc32(0, of, strlen(of)) ^ e->crc_flip;
}

static void put_end(struct zr_buf *b, size_t n, uint64_t start, bool zip64)
{
	uint64_t end = b->len;

	if (zip64) {
		put(b, 0x06064b50, 4);
		put(b, 44, 8);
		put(b, 45, 2);
		put(b, 45, 2);
		put(b, 0, 8);
		put(b, n, 8);
		put(b, n, 8);
		put(b, end - start, 8);
		put(b, start, 8);
		put(b, 0x07064b50, 4);
		put(b, 0, 4);
		put(b, end, 8);
		put(b, 1, 4);
	}
	put(b, 0x06054b50, 4);
	put(b, 0, 4);
	put(b, zip64 ? UINT16_MAX : n, 2);
	put(b, zip64 ? UINT16_MAX : n, 2);
	put(b, zip64 ? UINT32_MAX : end - start, 4);
	put(b, zip64 ? UINT32_MAX : start, 4);
	put(b, 0, 2);
}

/* Writes an archive by hand: libzip writes no broken ones. */
static inline struct zr_buf archive(const struct entry *e, size_t n)
{
	struct zr_buf b = {0};
	uint64_t at[32], start;
	bool zip64 = false;

	CHECK(n <= ZR_COUNT(at));
	for (size_t i = 0; i < n; i++) {
		at[i] = b.len;
		put(&b, 0x04034b50, 4);
		put_common(&b, &e[i], entry_crc(&e[i]),
		           (e[i].zip64 ? 20 : 0) + e[i].local_extra);
		zr_buf_adds(&b, e[i].local_name ? e[i].local_name : e[i].name);
		put_extra(&b, &e[i], false, 0);
		put_local_extra(&b, e[i].local_extra);
		zr_buf_add(&b, e[i].data, e[i].stored ? e[i].stored : strlen(e[i].data));
		zip64 |= e[i].zip64;
	}
	start = b.len;
	for (size_t i = 0; i < n; i++) {
		put(&b, 0x02014b50, 4);
		put(&b, 0x0314, 2);
		put_common(&b, &e[i], entry_crc(&e[i]), e[i].zip64 ? 28 : 0);
		put(&b, 0, 2 + 2 + 2);
		put(&b, 0100644u << 16, 4);
		put(&b, e[i].zip64 ? UINT32_MAX : at[i + e[i].other], 4);
		zr_buf_adds(&b, e[i].name);
		put_extra(&b, &e[i], true, at[i]);
	}
	put_end(&b, n, start, zip64);
	CHECK_INT(zr_buf_check(&b), 0);
	return b;
}
