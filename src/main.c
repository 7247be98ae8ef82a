/* SPDX-License-Identifier: MIT */
/*
 * main.c - what the command line asks for, and the exit status
 */
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "buf.h"
#include "cmd.h"
#include "opts.h"

/* Of a verb. mount(8) calls the same 1, and takes 2 for a failure of the system. */
#define EXIT_USAGE 2

/* Without this, a store or the pipe could get number 0, 1 or 2, and be overwritten when
 * those become /dev/null. Read-only: what is
 * written to a stdout that is not there fails, and is not just gone. */
static void open_stdio(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/* Without TZ, glibc looks at the zone's file anew, and frees what it has, each time that
 * libzip asks for local time, which it does for every member; the sandbox hides the file.
 */
static void load_time_zone(void)
{
	setenv("TZ", ":/etc/localtime", 0);
	tzset();
}

static void tune_process(void)
{
	struct rlimit files;

	/* Chunks come and go: where the last one was is the best place for the next,
	 * since a mapping of its own has every page cleared anew. Only what is rarely so
	 * large goes back to the system at once. (By itself glibc raises the threshold to
	 * the size of what was freed last.) */
	mallopt(M_MMAP_THRESHOLD, 8 << 20);
	/* What is free at the end of the heap will be needed at once. */
	mallopt(M_TRIM_THRESHOLD, 4 << 20);
	/* Up to a hundred threads wait for a store, and no loop allocates: one heap, in
	 * which what one frees is there for another. */
	mallopt(M_ARENA_MAX, 1);

	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

int main(int argc, char **argv)
{
	static int (*const commands[])(const struct zr_opts *) = {
		[ZR_ACTION_MOUNT] = zr_cmd_mount, [ZR_ACTION_LS] = zr_cmd_ls,
		[ZR_ACTION_CAT] = zr_cmd_cat,     [ZR_ACTION_CHECK] = zr_cmd_check,
		[ZR_ACTION_INDEX] = zr_cmd_index,
	};
	ZR_CLEANUP(zr_opts_done) struct zr_opts o = {0};
	ZR_CLEANUP(zr_buf_done) struct zr_buf text = {0};
	struct zr_err err = {0};

	open_stdio();
	if (zr_opts_parse(argc, argv, &o, &err) < 0) {
		zr_cmd_complain(&err);
		return o.action == ZR_ACTION_MOUNT ? EXIT_FAILURE : EXIT_USAGE;
	}
	switch (o.action) {
	case ZR_ACTION_HELP:
		zr_opts_help(o.about, &text);
		return zr_cmd_print(&text);
	case ZR_ACTION_VERSION:
		zr_buf_addf(&text, "zarrfs " ZR_VERSION " (libfuse %s)\n",
		            zr_cmd_libfuse());
		return zr_cmd_print(&text);
	default:
		load_time_zone();
		tune_process();
		return commands[o.action](&o);
	}
}
