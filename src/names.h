/* SPDX-License-Identifier: MIT */
/*
 * names.h - the name of a field or node as a file name, and nothing but a file name
 *
 * Reversible and injective (DESIGN, 1.1): what a file system or a shell could trip
 * over is escaped as %XX, names over 255 bytes are cut and end in their hash.
 *
 * Layer 1. May include layer 0.
 *
 * Threads: no state; any.
 */
#pragma once

#include "util.h"

#define ZR_NAME_MAX 255

enum zr_name_form {
	ZR_NAME_PLAIN,  /* a field's file, a node's directory */
	ZR_NAME_NPY,    /* a field's file in the .npy tree: ends in ".npy" */
	ZR_NAME_NESTED, /* the directory of a nested struct: never ends in ".npy" */
};

/*
 * Write the file name of `name` (any bytes, `len` of them) with a closing NUL; returns
 * its length, 1 to ZR_NAME_MAX.
 */
size_t zr_name_escape(const char *name, size_t len, enum zr_name_form form,
                      char out[ZR_NAME_MAX + 1]);

/* What a name that is cut ends in, in hexadecimal digits. */
uint64_t zr_name_hash(const char *name, size_t len);
