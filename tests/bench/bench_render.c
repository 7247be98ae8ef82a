/* SPDX-License-Identifier: MIT */
/*
 * bench_render.c - nanoseconds for each value, by kind: written and measured
 *
 * Not part of the test run. Build in a release tree:
 *   cc -O3 -std=gnu17 -D_GNU_SOURCE -Isrc tests/bench/bench_render.c libzr.a -lstdc++
 * One line for each kind: text written, text skipped, all forms measured, and records of
 * a struct of 16 such fields as JSON.
 */
#include "render.h"

#include <stdio.h>
#include <time.h>

#define N 65536
#define WINDOW (128 << 10)
#define FIELDS 16

static const struct zr_render_opts opts = {.nonfinite = ZR_NONFINITE_NULL};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint64_t next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(0x2545F4914F6CDD1D);
}

static void put_all(const struct zr_line *line, const uint8_t *rec, uint64_t size,
                    uint64_t n, char *window)
{
	const uint64_t index[1] = {0};

	for (uint64_t done = 0; done < n;) {
		char *out = window;
		uint64_t k = zr_line_put_run(line, rec + done * size, size, n - done,
		                             index, &out, window + WINDOW);

		if (k == 0)
			abort();
		done += k;
	}
}

/* The best of several rounds, for each of n values. */
#define BEST(ret, n, what)                                                               \
	do {                                                                             \
		(ret) = 1e30;                                                            \
		for (int round_ = 0; round_ < 15; round_++) {                            \
			double start_ = now(), ns_;                                      \
			what;                                                            \
			ns_ = (now() - start_) / (double)(n);                            \
			(ret) = ns_ < (ret) ? ns_ : (ret);                               \
		}                                                                        \
	} while (0)

static double bench_struct(const struct zr_type *scalar, const uint8_t *data)
{
	struct zr_field f[FIELDS];
	struct zr_type t = {.kind = ZR_STRUCT, .nfields = FIELDS, .fields = f};
	struct zr_array a = {.ndim = 1, .shape = {N}, .nrecords = N};
	struct zr_layout l;
	struct zr_line *line;
	char *window = malloc(WINDOW);
	static char names[FIELDS][16];
	double ns;

	for (int i = 0; i < FIELDS; i++) {
		f[i] = (struct zr_field){.name = names[i], .count = 1, .type = *scalar};
		f[i].name_len = (size_t)sprintf(names[i], "column_%d", i);
		f[i].offset = t.size;
		t.size += scalar->size;
	}
	a.type = t;
	if (!window || zr_layout_build(&t, &l) < 0)
		abort();
	line = zr_line_new_json(&a, &l, 0, &opts);
	if (!line)
		abort();
	BEST(ns, N / FIELDS * FIELDS, put_all(line, data, t.size, N / FIELDS, window));
	zr_line_free(line);
	zr_layout_done(&l);
	free(window);
	return ns;
}

static void bench(const char *name, const struct zr_type *t, const uint8_t *data)
{
	struct zr_array a = {.type = *t, .ndim = 1, .shape = {N}, .nrecords = N};
	struct zr_layout l;
	struct zr_line *line;
	struct zr_measure *m;
	char *window = malloc(WINDOW);
	uint64_t sums[3] = {0}, bytes;
	double put, skip, measure;

	if (!window || zr_layout_build(t, &l) < 0)
		abort();
	line = zr_line_new_text(&l, 0, &opts);
	m = zr_measure_new(&a, &l, &opts);
	if (!line || !m)
		abort();
	BEST(put, N, put_all(line, data, t->size, N, window));
	BEST(skip, N, zr_line_skip_run(line, data, t->size, N, NULL, UINT64_MAX, &bytes));
	BEST(measure, N, zr_measure_run(m, data, t->size, N, sums));
	printf("%-28s put %7.1f  skip %7.1f  measure %7.1f  json of 16 %7.1f ns\n", name,
	       put, skip, measure, bench_struct(t, data));
	zr_measure_free(m);
	zr_line_free(line);
	zr_layout_done(&l);
	free(window);
}

enum content { RANDOM, SMALL, DECIMALS, ASCII, DATES };

static void fill(uint8_t *p, const struct zr_type *t, enum content content)
{
	uint64_t state = 1, unit = t->kind == ZR_UTF32 ? 4 : 1;

	memset(p, 0, N * t->size);
	for (uint64_t i = 0; i < N; i++, p += t->size) {
		uint64_t r = next(&state);
		double x = (double)(r >> 44) / 1000;
		float y = (float)x;

		if (content == RANDOM)
			memcpy(p, &r, t->size < 8 ? t->size : 8);
		else if (content == SMALL && t->kind == ZR_FLOAT)
			x = (double)(r >> 54), memcpy(p, &x, 8);
		else if (content == SMALL)
			zr_store_uint(p, r >> 54, (unsigned int)t->size, false);
		else if (content == DECIMALS && t->size == 8)
			memcpy(p, &x, 8);
		else if (content == DECIMALS)
			memcpy(p, &y, 4);
		else if (content == DATES)
			zr_store_uint(p, r >> 3, 8, false);
		else
			for (uint64_t k = 0; k < 4 + (r >> 60) && k * unit < t->size; k++)
				p[unit * k] = (uint8_t)('a' + (r >> (k % 50) & 15));
	}
}

int main(void)
{
	static const struct {
		const char *name;
		struct zr_type type;
		enum content content;
	} row[] = {
		{"bool", {.kind = ZR_BOOL, .size = 1}, RANDOM},
		{"int8", {.kind = ZR_INT, .bits = 8, .size = 1}, RANDOM},
		{"int32, small", {.kind = ZR_INT, .bits = 32, .size = 4}, SMALL},
		{"int32, any", {.kind = ZR_INT, .bits = 32, .size = 4}, RANDOM},
		{"int64, small", {.kind = ZR_INT, .bits = 64, .size = 8}, SMALL},
		{"int64, any", {.kind = ZR_INT, .bits = 64, .size = 8}, RANDOM},
		{"float16, any", {.kind = ZR_FLOAT, .flt = ZR_F16, .size = 2}, RANDOM},
		{"float32, any", {.kind = ZR_FLOAT, .flt = ZR_F32, .size = 4}, RANDOM},
		{"float32, decimals",
	         {.kind = ZR_FLOAT, .flt = ZR_F32, .size = 4},
	         DECIMALS},
		{"float64, whole", {.kind = ZR_FLOAT, .flt = ZR_F64, .size = 8}, SMALL},
		{"float64, decimals",
	         {.kind = ZR_FLOAT, .flt = ZR_F64, .size = 8},
	         DECIMALS},
		{"float64, any", {.kind = ZR_FLOAT, .flt = ZR_F64, .size = 8}, RANDOM},
		{"datetime ns",
	         {.kind = ZR_DATETIME, .unit = ZR_NS, .scale = 1, .size = 8},
	         DATES},
		{"datetime s",
	         {.kind = ZR_DATETIME, .unit = ZR_SECOND, .scale = 1, .size = 8},
	         SMALL},
		{"S16", {.kind = ZR_CHARS, .size = 16}, ASCII},
		{"U16", {.kind = ZR_UTF32, .size = 64}, ASCII},
		{"U512, mostly padding", {.kind = ZR_UTF32, .size = 2048}, ASCII},
		{"V8", {.kind = ZR_RAW, .size = 8}, RANDOM},
	};
	uint8_t *data = malloc((size_t)N * 2048);

	if (!data)
		return EXIT_FAILURE;
	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		fill(data, &row[i].type, row[i].content);
		bench(row[i].name, &row[i].type, data);
	}
	free(data);
	return EXIT_SUCCESS;
}
