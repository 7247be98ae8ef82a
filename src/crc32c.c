/* SPDX-License-Identifier: MIT */
/*
 * The portable way takes eight bytes a step: table[s][b] is what byte b does to the
 * register when s further bytes follow it. The register is linear in its bits, so a
 * slice of 256 entries is given by its entries for the eight single bits.
 */
#include "crc32c.h"

#define BIT(i, b, v) (((i) >> (b)&1) * UINT32_C(v))
#define ENTRY(i, a, b, c, d, e, f, g, h)                                                 \
	(BIT(i, 0, a) ^ BIT(i, 1, b) ^ BIT(i, 2, c) ^ BIT(i, 3, d) ^ BIT(i, 4, e) ^      \
	 BIT(i, 5, f) ^ BIT(i, 6, g) ^ BIT(i, 7, h))
#define ENTRIES_4(i, ...)                                                                \
	ENTRY(i, __VA_ARGS__), ENTRY(i + 1, __VA_ARGS__), ENTRY(i + 2, __VA_ARGS__),     \
		ENTRY(i + 3, __VA_ARGS__)
#define ENTRIES_16(i, ...)                                                               \
	ENTRIES_4(i, __VA_ARGS__), ENTRIES_4(i + 4, __VA_ARGS__),                        \
		ENTRIES_4(i + 8, __VA_ARGS__), ENTRIES_4(i + 12, __VA_ARGS__)
#define ENTRIES_64(i, ...)                                                               \
	ENTRIES_16(i, __VA_ARGS__), ENTRIES_16(i + 16, __VA_ARGS__),                     \
		ENTRIES_16(i + 32, __VA_ARGS__), ENTRIES_16(i + 48, __VA_ARGS__)
#define SLICE(...)                                                                       \
	{                                                                                \
		ENTRIES_64(0u, __VA_ARGS__), ENTRIES_64(64u, __VA_ARGS__),               \
			ENTRIES_64(128u, __VA_ARGS__), ENTRIES_64(192u, __VA_ARGS__)     \
	}

/* clang-format off */
static const uint32_t crc32c_table[8][256] = {
	SLICE(0xf26b8303, 0xe13b70f7, 0xc79a971f, 0x8ad958cf,
	      0x105ec76f, 0x20bd8ede, 0x417b1dbc, 0x82f63b78),
	SLICE(0x13a29877, 0x274530ee, 0x4e8a61dc, 0x9d14c3b8,
	      0x3fc5f181, 0x7f8be302, 0xff17c604, 0xfbc3faf9),
	SLICE(0xa541927e, 0x4f6f520d, 0x9edea41a, 0x38513ec5,
	      0x70a27d8a, 0xe144fb14, 0xc76580d9, 0x8b277743),
	SLICE(0xdd45aab8, 0xbf672381, 0x7b2231f3, 0xf64463e6,
	      0xe964b13d, 0xd725148b, 0xaba65fe7, 0x52a0c93f),
	SLICE(0x38116fac, 0x7022df58, 0xe045beb0, 0xc5670b91,
	      0x8f2261d3, 0x1ba8b557, 0x37516aae, 0x6ea2d55c),
	SLICE(0xef306b19, 0xdb8ca0c3, 0xb2f53777, 0x6006181f,
	      0xc00c303e, 0x85f4168d, 0x0e045beb, 0x1c08b7d6),
	SLICE(0x68032cc8, 0xd0065990, 0xa5e0c5d1, 0x4e2dfd53,
	      0x9c5bfaa6, 0x3d5b83bd, 0x7ab7077a, 0xf56e0ef4),
	SLICE(0x493c7d27, 0x9278fa4e, 0x211d826d, 0x423b04da,
	      0x847609b4, 0x0d006599, 0x1a00cb32, 0x34019664),
};
/* clang-format on */

static uint32_t crc32c_byte(uint32_t crc, uint8_t b)
{
	return crc32c_table[0][(crc ^ b) & 0xff] ^ crc >> 8;
}

uint32_t zr_crc32c_portable(const void *p, size_t n)
{
	const uint8_t *in = (const uint8_t *)p;
	uint32_t crc = UINT32_MAX;

	for (; n >= 8; in += 8, n -= 8) {
		uint64_t v = zr_load_u64(in, false) ^ crc;

		crc = 0;
		for (unsigned int i = 0; i < 8; i++)
			crc ^= crc32c_table[7 - i][v >> (8 * i) & 0xff];
	}
	while (n--)
		crc = crc32c_byte(crc, *in++);
	return ~crc;
}

#ifdef __x86_64__
#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static uint32_t crc32c_sse42(const uint8_t *in,
                                                               size_t n)
{
	uint64_t crc = UINT32_MAX;

	for (; n >= 8; in += 8, n -= 8)
		crc = _mm_crc32_u64(crc, zr_load_u64(in, false));
	while (n--)
		crc = _mm_crc32_u8((uint32_t)crc, *in++);
	return ~(uint32_t)crc;
}

uint32_t zr_crc32c(const void *p, size_t n)
{
	if (__builtin_cpu_supports("sse4.2"))
		return crc32c_sse42((const uint8_t *)p, n);
	return zr_crc32c_portable(p, n);
}
#else
uint32_t zr_crc32c(const void *p, size_t n)
{
	return zr_crc32c_portable(p, n);
}
#endif
