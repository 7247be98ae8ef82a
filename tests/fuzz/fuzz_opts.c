/* SPDX-License-Identifier: MIT */
/*
 * The input is a command line: arguments with LFs between. And one value, which is
 * escaped and read back.
 */
#include "check.h"
#include "fuzz.h"
#include "opts.h"

#define MAX_ARGS 32

static void check_opts(const struct zr_opts *o)
{
	if (o->action != ZR_ACTION_MOUNT)
		return;
	CHECK(o->store && o->mountpoint);
	CHECK((unsigned int)o->view < ZR_NTREES);
	CHECK((o->views & ~((1u << ZR_NTREES) - 1)) == 0);
	CHECK(o->cache_bytes >= 1 << 20);
	CHECK((o->umask & ~0777u) == 0);
}

/* As the value of an option, text that is no path of its own is what it was. */
static void check_escape(char *value)
{
	struct zr_buf list = {0};
	struct zr_opts o = {0};
	struct zr_err err = {0};
	char *argv[] = {"zarrfs", "-o", NULL, "store", "mnt", NULL};
	int r;

	if (value[0] == '\0')
		return;
	zr_buf_adds(&list, "log=");
	zr_opts_escape(&list, value);
	zr_buf_adds(&list, ",size_wait=7");
	zr_buf_addc(&list, '\0');
	CHECK_INT(zr_buf_check(&list), 0);
	argv[2] = (char *)list.data;
	r = zr_opts_parse(5, argv, &o, &err);
	if (r < 0) {
		check_err(&err, r);
	} else {
		CHECK_STR(o.log_file, value);
		CHECK_INT(o.size_wait, 7);
		zr_opts_done(&o);
	}
	zr_buf_done(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	char *argv[MAX_ARGS + 2] = {"zarrfs"};
	struct zr_opts o = {0};
	struct zr_err err = {0};
	int argc = 1, r;
	size_t len;

	while (in.left > 0 && argc < MAX_ARGS)
		argv[argc++] = take_text(&in, '\n', &len);
	if (argc > 1)
		check_escape(argv[argc - 1]);
	r = zr_opts_parse(argc, argv, &o, &err);
	if (r < 0)
		check_err(&err, r);
	else
		check_opts(&o);
	if (r == 0)
		zr_opts_done(&o);
	for (int i = 1; i < argc; i++)
		free(argv[i]);
	return 0;
}
