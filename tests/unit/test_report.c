/* SPDX-License-Identifier: MIT */
#include "test.h"
#include "report.h"

#include "engine.h"
#include "err.h"
#include "opts.h"
#include "tally.h"

#include <fcntl.h>
#include <unistd.h>

static struct zr_engine *demo_engine(struct zr_opts *o)
{
	char *argv[] = {"zarrfs", "ls", "fixtures/demo/store", "-o", "follow_symlinks"};
	struct zr_engine *e;
	struct zr_err err = {0};

	CHECK_INT(zr_opts_parse(5, argv, o, &err), 0);
	CHECK_INT(zr_engine_open(o, &e, &err), 0);
	return e;
}

static uint64_t number_of(const struct zr_engine *e, const char *name)
{
	ZR_CLEANUP(zr_buf_done) struct zr_buf b = {0};
	char word[64], *at;

	zr_report(e, &b);
	zr_buf_addc(&b, '\0');
	CHECK_INT(zr_buf_check(&b), 0);
	CHECK_INT(strncmp((char *)b.data, "counters: ", 10), 0);
	CHECK(!strchr((char *)b.data, '\n'));
	snprintf(word, sizeof(word), " %s=", name);
	at = strstr((char *)b.data, word);
	CHECK(at);
	CHECK(!strstr(at + 1, word));
	return strtoull(at + strlen(word), NULL, 10);
}

static void counts_are_what_was_added(void)
{
	ZR_CLEANUP(zr_opts_done) struct zr_opts o = {0};
	struct zr_engine *e = demo_engine(&o);

	CHECK_INT(number_of(e, "read"), 0);
	zr_tally_add(ZR_TALLY_READ, 2);
	zr_tally_add(ZR_TALLY_READ, 3);
	zr_tally_add(ZR_TALLY_ANSWERED, (uint64_t)1 << 40);
	CHECK_INT(number_of(e, "read"), 5);
	CHECK_INT(number_of(e, "answered"), (int64_t)1 << 40);
	CHECK_INT(number_of(e, "hits"), 0);
	CHECK_INT(number_of(e, "cached"), 0);
	zr_engine_free(e);
}

static void memory_and_descriptors_are_those_of_the_process(void)
{
	ZR_CLEANUP(zr_opts_done) struct zr_opts o = {0};
	struct zr_engine *e = demo_engine(&o);
	uint64_t before = number_of(e, "descriptors");
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0);
	CHECK_INT(number_of(e, "descriptors"), before + 1);
	close(fd);
	CHECK_INT(number_of(e, "descriptors"), before);
	CHECK(number_of(e, "memory") > 100000);
	CHECK(number_of(e, "memory_peak") >= number_of(e, "memory") / 2);
	zr_engine_free(e);
}

int main(void)
{
	RUN(counts_are_what_was_added);
	RUN(memory_and_descriptors_are_those_of_the_process);
	return EXIT_SUCCESS;
}
