/* SPDX-License-Identifier: MIT */
/*
 * smallfloat.h - shortest digits of the floats of 16 bits and less
 *
 *   store bytes -> codec -> chunk cache -> view -> [ render ] -> fuse reply
 *
 * float16, bfloat16 and the float8, float6 and float4 formats of dtype.h: the fewest
 * digits that read back as the same bits of that very format, and of those the nearest
 * to the exact value.
 *
 * Layer 1. May include dtype.h and layer 0. Threads: no state; any.
 */
#pragma once

#include "dtype.h"
#include "shortest.h"

/* Bits above those of the format are ignored. Not for ZR_F64 and ZR_F32. */
struct zr_decimal zr_shortest_small(enum zr_float f, uint32_t bits);
