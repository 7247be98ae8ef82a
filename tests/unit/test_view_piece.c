/* SPDX-License-Identifier: MIT */
/*
 * What a sequential reader is lent, made ahead or kept by the pass, must be the bytes
 * that a read gives.
 */
#include "ahead.h"
#include "view.h"

#include "array_case.h"
#include "sizes_impl.h"

#define RECORDS "[40000]"
#define FILES .files = 1 << FILE_JSON | 1 << FILE_RAW | 1 << FILE_RAW_A
#define LARGEST ((size_t)1 << 18)

static enum cell_state every_third(const uint64_t at[CASE_DIMS])
{
	return at[0] % 3 == 2 ? MISSING : STORED;
}

static enum cell_state fifth_is_damaged(const uint64_t at[CASE_DIMS])
{
	return at[0] == 5 ? DAMAGED : STORED;
}

/* Chunks that are pieces, or begin and end somewhere within them, or are smaller. */
static const struct case_spec specs[] = {
	{RECORDS, "[7001]", NULL, NULL, .budget = 64 << 20, FILES},
	{RECORDS, "[7001]", NULL, NULL, .budget = 1 << 20, FILES},
	{RECORDS, "[999]", NULL, NULL, .budget = 64 << 20, FILES},
	{RECORDS, "[7001]", NULL, every_third, .budget = 64 << 20, FILES},
	{RECORDS, "[7001]", NULL, fifth_is_damaged, .budget = 64 << 20, FILES},
	/* The largest lent part of a file takes several chunks, or pieces, of which the
         * cache holds none. */
	{RECORDS, "[999]", NULL, NULL, .budget = 1, FILES},
	{"[400,100]", "[70,100]", NULL, NULL, .budget = 64 << 20, FILES},
	{"[400,100]", "[70,33]", NULL, NULL, .budget = 64 << 20, FILES},
	{"[200,200]", "[199,101]", NULL, every_third, .budget = 8 << 20, FILES},
};

struct piece_case {
	struct array_case *c;
	struct zr_ahead_jobs jobs;
};

static void begin(struct piece_case *p, const struct case_spec *spec)
{
	*p = (struct piece_case){.c = case_new(spec)};
	p->jobs.queue = p->c->queue;
	p->c->source.ahead = &p->jobs;
}

static void until_idle(struct piece_case *p)
{
	while (zr_ahead_busy(&p->jobs) || zr_sizes_busy(p->c->sizes))
		usleep(200);
}

/* As if the array had just been found: nothing is measured, nothing in the cache. */
static const struct case_file *renew(struct piece_case *p, int file)
{
	struct array_case *c = p->c;
	bool indexed[CASE_FILES];

	until_idle(p);
	memcpy(indexed, c->sizes->indexed, c->sizes->nfiles * sizeof(*indexed));
	for (int i = 0; i < CASE_FILES; i++)
		zr_view_free(c->file[i].view);
	zr_sizes_free(c->sizes);
	zr_cache_forget(c->cache, c->source.owner);
	c->sizes = zr_sizes_new(&c->source, c->measure, indexed, c->queue, 60, NULL);
	CHECK(c->sizes);
	case_add_views(c);
	return &c->file[file];
}

static void end(struct piece_case *p)
{
	until_idle(p);
	case_free(p->c);
}

/* The bytes at `offset`, if they are lent: they must be right. */
static bool check_lent(const struct case_file *f, size_t offset, size_t len, bool wait)
{
	struct zr_lent lent;

	if (!zr_view_lend(f->view, offset, len, wait, NULL, &lent))
		return false;
	len = ZR_MIN(len, f->want.len - offset);
	for (unsigned int i = 0; i < lent.count; i++) {
		CHECK(lent.at[i].iov_len <= len);
		CHECK(memcmp(lent.at[i].iov_base, f->want.data + offset,
		             lent.at[i].iov_len) == 0);
		CHECK(!memchr(f->bad.data + offset, 1, lent.at[i].iov_len));
		offset += lent.at[i].iov_len;
		len -= lent.at[i].iov_len;
	}
	CHECK_INT(len, 0);
	zr_lent_done(&lent);
	return true;
}

/* As a mount does it: lent, or else read. Returns how many bytes were lent. */
static size_t check_all(const struct case_file *f, size_t step)
{
	static uint8_t out[LARGEST];
	size_t lent = 0;

	for (size_t offset = 0; offset < f->want.len; offset += step) {
		size_t want = ZR_MIN(step, f->want.len - offset), len = 0;
		bool bad = memchr(f->bad.data + offset, 1, want);
		int r;

		if (check_lent(f, offset, step, false) ||
		    check_lent(f, offset, step, true)) {
			CHECK(!bad);
			lent += want;
			continue;
		}
		r = case_read(f->view, offset, want, out, &len);
		CHECK_INT(r, bad ? -EIO : 0);
		if (!bad)
			CHECK_MEM(out, len, f->want.data + offset, want);
	}
	return lent;
}

static void check_file(struct piece_case *p, int file, bool alone)
{
	static const size_t steps[] = {LARGEST, 100001};

	for (size_t i = 0; i < ZR_COUNT(steps); i++) {
		const struct case_file *f = renew(p, file);
		uint64_t size;
		size_t lent;

		if (!alone)
			zr_sizes_expect(p->c->sizes);
		CHECK_INT(case_size(f->view, &size), 0);
		CHECK_INT(size, f->want.len);
		lent = check_all(f, steps[i]);
		if (file == FILE_JSON && !p->c->spec->state && p->c->spec->budget > 1)
			CHECK(lent > f->want.len / 2);
	}
}

static void what_is_lent_is_what_a_read_gives(void)
{
	for (size_t i = 0; i < ZR_COUNT(specs); i++) {
		struct piece_case p;

		begin(&p, &specs[i]);
		check_file(&p, FILE_JSON, true);
		check_file(&p, FILE_JSON, false);
		if (i < 4)
			check_file(&p, FILE_RAW, true);
		end(&p);
	}
}

/* No piece is made for it: all of them are there. */
static void the_pass_over_one_file_keeps_its_text(void)
{
	static const size_t which[] = {0, 2, 6};

	for (size_t i = 0; i < ZR_COUNT(which); i++) {
		const struct case_file *f;
		struct piece_case p;
		uint64_t size;

		begin(&p, &specs[which[i]]);
		f = renew(&p, FILE_JSON);
		CHECK_INT(case_size(f->view, &size), 0);
		p.c->store.gets = 0;
		for (size_t at = 0; at + 4096 < f->want.len; at += f->want.len / 37)
			CHECK(check_lent(f, at, 4096, false));
		CHECK_INT(p.c->store.gets, 0);
		end(&p);
	}
}

static void who_jumps_about_has_nothing_made(void)
{
	struct piece_case p;
	const struct case_file *f;
	uint64_t size;

	begin(&p, &specs[0]);
	f = renew(&p, FILE_JSON);
	zr_sizes_expect(p.c->sizes);
	CHECK_INT(case_size(f->view, &size), 0);
	CHECK(!check_lent(f, 0, 4096, true));
	CHECK(!check_lent(f, f->want.len - 4096, 4096, true));
	CHECK(!zr_ahead_busy(&p.jobs));
	end(&p);
}

static void records_as_they_are_stored_are_lent_from_the_chunk(void)
{
	const struct case_file *f;
	struct piece_case p;

	begin(&p, &specs[0]);
	f = renew(&p, FILE_RAW);
	CHECK_INT(check_all(f, 7001 * CASE_RECORD / 2), f->want.len);
	f = renew(&p, FILE_RAW_A);
	CHECK_INT(check_all(f, LARGEST), 0);
	end(&p);
}

int main(void)
{
	CHECK_INT(zr_log_to_file("/dev/null"), 0);
	RUN(what_is_lent_is_what_a_read_gives);
	RUN(the_pass_over_one_file_keeps_its_text);
	RUN(who_jumps_about_has_nothing_made);
	RUN(records_as_they_are_stored_are_lent_from_the_chunk);
	return EXIT_SUCCESS;
}
