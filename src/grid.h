/* SPDX-License-Identifier: MIT */
/*
 * grid.h - shape and chunk arithmetic of one array
 *
 *   store bytes -> codec -> chunk cache -> view -> render -> fuse reply
 *
 * Records are numbered in C order of the array's logical shape. A *cell* is a chunk of
 * the last level (array.h): what is decoded, cached and evicted; cells are numbered in C
 * order of their grid, and so are the *objects*, the chunks of level 0, which have keys
 * in the store. The bounds of array.h make all numbers here fit 64 bits.
 *
 * Layer 1. May include array.h and below.
 *
 * Memory: plain data, no allocation.
 * Threads: immutable once set up.
 */
#pragma once

#include "array.h"

struct zr_grid {
	uint32_t ndim;
	uint64_t nrecords;
	uint64_t shape[ZR_MAX_DIMS];
	uint64_t behind[ZR_MAX_DIMS]; /* records in one step along axis k */
	uint64_t cell[ZR_MAX_DIMS];   /* shape of a cell */
	uint64_t cells[ZR_MAX_DIMS];  /* how many cells along each axis */
	uint64_t step[ZR_MAX_DIMS];   /* records from one to the next along axis k, in the
	                               * decoded cell */
	uint64_t cell_records;        /* records in a decoded cell, overhang included */
	uint64_t object[ZR_MAX_DIMS]; /* shape of an object */
	uint64_t objects[ZR_MAX_DIMS];    /* how many along each axis */
	uint64_t nobjects;                /* product; 0 when the array has no records */
	uint64_t per_object[ZR_MAX_DIMS]; /* cells in an object along each axis */
	uint64_t cells_per_object; /* at most: those of an object that begins where the
	                            * array does. A shard may be larger than the array */
};

void zr_grid_init(struct zr_grid *g, const struct zr_array *a);

/* Indices of a record. */
void zr_grid_index(const struct zr_grid *g, uint64_t record, uint64_t index[ZR_MAX_DIMS]);

/*
 * The records that follow `record` (included) along the last axis without leaving its
 * cell or its row: a run (render.h).
 */
struct zr_run {
	uint64_t cell;   /* its number */
	uint64_t first;  /* record within the decoded cell */
	uint64_t step;   /* records from one to the next, within the decoded cell */
	uint64_t count;  /* >= 1 */
	uint64_t object; /* number of the object that the cell is in */
	uint64_t index[ZR_MAX_DIMS]; /* of the first record */
};
void zr_grid_run(const struct zr_grid *g, uint64_t record, struct zr_run *ret);

/* Coordinates of a cell or object from its number, and the number of an object. */
void zr_grid_cell_at(const struct zr_grid *g, uint64_t cell, uint64_t at[ZR_MAX_DIMS]);
void zr_grid_object_at(const struct zr_grid *g, uint64_t object,
                       uint64_t at[ZR_MAX_DIMS]);
uint64_t zr_grid_object(const struct zr_grid *g, const uint64_t at[ZR_MAX_DIMS]);

/*
 * Number of the `nth` cell (0 to cells_per_object - 1, in C order) of an object;
 * UINT64_MAX when that cell lies outside the array.
 */
uint64_t zr_grid_nth_cell(const struct zr_grid *g, uint64_t object, uint64_t nth);

/* The part of a cell that lies inside the array: its first indices and its extent. */
struct zr_box {
	uint64_t start[ZR_MAX_DIMS];
	uint64_t extent[ZR_MAX_DIMS]; /* >= 1 each */
};
void zr_grid_cell_box(const struct zr_grid *g, uint64_t cell, struct zr_box *ret);
void zr_grid_object_box(const struct zr_grid *g, uint64_t object, struct zr_box *ret);

/* Number of the record with these indices. */
uint64_t zr_grid_record(const struct zr_grid *g, const uint64_t index[ZR_MAX_DIMS]);

/*
 * How many decimal digits the indices of all records before `record` have together:
 * closed form, for `_index`. Saturates at ZR_MAX_FILE.
 */
uint64_t zr_grid_digits_before(const struct zr_grid *g, uint64_t record);

/* Digits of one record's indices. */
uint64_t zr_grid_digits(const struct zr_grid *g, const uint64_t index[ZR_MAX_DIMS]);

/*
 * The key of an object below the array's own path: "c/0/1", "0.1" … Room for ZR_KEY_MAX
 * bytes. `separator`: as in the array, or the other one that try_slash allows.
 */
#define ZR_KEY_MAX (2 + ZR_MAX_DIMS * 21)
void zr_grid_key(const struct zr_array *a, const uint64_t at[ZR_MAX_DIMS], char separator,
                 char key[ZR_KEY_MAX]);
