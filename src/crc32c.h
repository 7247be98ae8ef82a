/* SPDX-License-Identifier: MIT */
/*
 * crc32c.h - CRC-32C (Castagnoli, RFC 3720 appendix B.4), by SSE4.2 where the processor
 * has it
 *
 * Layer 0. May include util.h. Threads: no state but a table built at compile time.
 */
#pragma once

#include "util.h"

uint32_t zr_crc32c(const void *p, size_t n);

/* The one without special instructions; the same results. */
uint32_t zr_crc32c_portable(const void *p, size_t n);
