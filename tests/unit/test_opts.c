/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <errno.h>
#include <unistd.h>

#include "opts.h"

#define CSV (1 << ZR_TREE_CSV)
#define RAW (1 << ZR_TREE_RAW)
#define NPY (1 << ZR_TREE_NPY)
#define ZARR (1 << ZR_TREE_ZARR)

/* Parses a command line given as one string, cut at each '|'. */
static int parse(const char *line, struct zr_opts *ret, struct zr_err *err)
{
	char *copy = strdup(line), *argv[32];
	int argc = 0, r;

	CHECK(copy);
	*err = (struct zr_err){0};
	argv[argc++] = "zarrfs";
	for (char *s = copy; s; argc++) {
		argv[argc] = s;
		s = strchr(s, '|');
		if (s)
			*s++ = '\0';
	}
	argv[argc] = NULL;
	r = zr_opts_parse(argc, argv, ret, err);
	free(copy);
	return r;
}

static void parse_ok(const char *line, struct zr_opts *ret)
{
	struct zr_err err;
	int r = parse(line, ret, &err);

	if (r < 0)
		fprintf(stderr, "%s: %s\n", line, err.text);
	CHECK_INT(r, 0);
	CHECK_INT(err.code, 0);
}

static void defaults_are_what_the_help_says(void)
{
	ZR_CLEANUP(zr_opts_done) struct zr_opts o;

	parse_ok("a.zarr|mnt", &o);
	CHECK_INT(o.action, ZR_ACTION_MOUNT);
	CHECK_STR(o.store, "a.zarr");
	CHECK_STR(o.mountpoint, "mnt");
	CHECK(!o.foreground && !o.debug && !o.missing_is_error && !o.follow_symlinks);
	CHECK(!o.default_permissions && !o.log_file);
	CHECK_INT(o.uid, getuid());
	CHECK_INT(o.gid, getgid());
	CHECK_INT(o.umask, 0);
	CHECK_INT(o.cache_bytes, 256 << 20);
	CHECK_INT(o.size_wait, 30);
	CHECK_INT(o.render.nonfinite, ZR_NONFINITE_NULL);
	CHECK(!o.render.fixed_text);
	CHECK_INT(o.view, ZR_TREE_TEXT);
	CHECK_INT(o.views, CSV | RAW | NPY | ZARR);
	CHECK(!o.index_off && !o.index_dir);
	CHECK_STR(o.fuse_opts, "");
}

static void options_stand_anywhere(void)
{
	static const char *const lines[] = {
		"a|b|-f|-o|uid=5,gid=6",           /* as mount(8) has them */
		"-f|-o|uid=5,gid=6|a|b",           /* as most people do */
		"a|-fouid=5|b|-ogid=6",            /* grouped, and apart */
		"-n|a|-o|gid=6,uid=5|-sv|b|-f|-r", /* what mount(8) adds */
		"-f|-o|uid=5|-o|gid=6|--|a|b",
	};

	for (size_t i = 0; i < ZR_COUNT(lines); i++) {
		ZR_CLEANUP(zr_opts_done) struct zr_opts o;

		parse_ok(lines[i], &o);
		CHECK_STR(o.store, "a");
		CHECK_STR(o.mountpoint, "b");
		CHECK(o.foreground);
		CHECK_INT(o.uid, 5);
		CHECK_INT(o.gid, 6);
	}
}

static void environment_does_not_change_the_order(void)
{
	ZR_CLEANUP(zr_opts_done) struct zr_opts o;

	CHECK_INT(setenv("POSIXLY_CORRECT", "1", 1), 0);
	parse_ok("a|b|-f", &o);
	CHECK(o.foreground);
	CHECK_INT(unsetenv("POSIXLY_CORRECT"), 0);
}

static void names_may_begin_with_a_dash_after_two(void)
{
	ZR_CLEANUP(zr_opts_done) struct zr_opts o;

	parse_ok("-f|--|-a|--b", &o);
	CHECK_STR(o.store, "-a");
	CHECK_STR(o.mountpoint, "--b");
}

static void every_option_is_taken(void)
{
	ZR_CLEANUP(zr_opts_done) struct zr_opts o;

	parse_ok("-d|a|b|-o|missing=error,nonfinite=string,follow_symlinks,cache=2G,"
	         "size_wait=0,uid=1000,gid=4294967294,umask=027,allow_other,"
	         "default_permissions,auto_unmount,fsname=x,log=/tmp/l,noexec,"
	         "text=fixed,index=off,index_dir=/i,user=root,sandbox=off",
	         &o);
	CHECK(o.index_off && o.sandbox_off);
	CHECK_STR(o.user, "root");
	CHECK_STR(o.index_dir, "/i");
	CHECK(o.debug && o.foreground && o.missing_is_error && o.follow_symlinks);
	CHECK_INT(o.render.nonfinite, ZR_NONFINITE_STRING);
	CHECK(o.render.fixed_text);
	CHECK_INT(o.cache_bytes, (uint64_t)2 << 30);
	CHECK_INT(o.size_wait, 0);
	CHECK_INT(o.uid, 1000);
	CHECK_INT(o.gid, 4294967294u);
	CHECK_INT(o.umask, 027);
	CHECK(o.default_permissions);
	CHECK_STR(o.log_file, "/tmp/l");
	CHECK_STR(o.fuse_opts, "allow_other,default_permissions,fsname=x,noexec");
}

static void last_of_equals_wins(void)
{
	ZR_CLEANUP(zr_opts_done) struct zr_opts o;

	parse_ok("a|b|-o|uid=1,missing=error,log=x|-o|missing=fill,uid=2,log=y", &o);
	CHECK_INT(o.uid, 2);
	CHECK(!o.missing_is_error);
	CHECK_STR(o.log_file, "y");
}

static void what_mount_adds_is_ignored(void)
{
	ZR_CLEANUP(zr_opts_done) struct zr_opts o;

	parse_ok("a|b|-o|rw,dev,suid,,ro,nodev,nosuid,exec,noatime,relatime,_netdev,"
	         "nofail,"
	         "defaults,user,noauto,x-systemd.automount,x-gvfs-show,comment=a b,"
	         "user=me,subtype=zarrfs,|-o|",
	         &o);
	CHECK_STR(o.fuse_opts, "");
}

static void backslash_makes_a_comma_ordinary(void)
{
	ZR_CLEANUP(zr_opts_done) struct zr_opts o;

	parse_ok("a|b|-o|log=a\\,b\\\\c\\d\\,,fsname=x\\,y\\\\z,umask=7", &o);
	CHECK_STR(o.log_file, "a,b\\c\\d,");
	CHECK_STR(o.fuse_opts, "fsname=x\\,y\\\\z"); /* escaped again */
	CHECK_INT(o.umask, 7);
}

static void trees_are_chosen(void)
{
	static const struct {
		const char *options;
		enum zr_tree_form view;
		unsigned int views;
	} row[] = {
		{"views=raw", ZR_TREE_TEXT, RAW},
		{"views=csv,zarr,uid=5", ZR_TREE_TEXT, CSV | ZARR},
		{"views=csv\\,npy", ZR_TREE_TEXT, CSV | NPY},
		{"views=none", ZR_TREE_TEXT, 0},
		{"views=", ZR_TREE_TEXT, 0},
		{"views=csv,raw,views=npy", ZR_TREE_TEXT, NPY},
		{"views=none,views=npy,zarr", ZR_TREE_TEXT, NPY | ZARR},
		{"view=raw", ZR_TREE_RAW, 0},
		{"view=csv", ZR_TREE_CSV, 0},
		{"view=npy,views=zarr", ZR_TREE_NPY, ZARR},
		{"views=raw,zarr,view=raw", ZR_TREE_RAW, ZARR},
		{"view=raw,view=text", ZR_TREE_TEXT, CSV | RAW | NPY | ZARR},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		ZR_CLEANUP(zr_opts_done) struct zr_opts o;
		char line[64];

		snprintf(line, sizeof(line), "a|b|-o|%s", row[i].options);
		parse_ok(line, &o);
		CHECK_INT(o.view, row[i].view);
		CHECK_INT(o.views, row[i].views);
	}
}

static void sizes_have_units(void)
{
	static const struct {
		const char *text;
		uint64_t want;
	} row[] = {
		{"1048576", 1 << 20},
		{"1024K", 1 << 20},
		{"1m", 1 << 20},
		{"512M", 512 << 20},
		{"3g", (uint64_t)3 << 30},
		{"2T", (uint64_t)2 << 40},
		{"1152921504606846976", (uint64_t)1 << 60},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		ZR_CLEANUP(zr_opts_done) struct zr_opts o;
		char line[64];

		snprintf(line, sizeof(line), "a|b|-o|cache=%s", row[i].text);
		parse_ok(line, &o);
		CHECK_INT(o.cache_bytes, row[i].want);
	}
}

static void errors_name_what_is_wrong(void)
{
	static const struct {
		const char *line, *want;
	} row[] = {
		{"a|b|-o|foo", "unknown option 'foo' in -o"},
		{"a|b|-o|ro,foo=1,bar", "unknown option 'foo' in -o"},
		/* Planned for later. */
		{"a|b|-o|max_read=1", "unknown option 'max_read' in -o"},
		{"a|b|-o|cach", "unknown option 'cach' in -o"},
		{"a|b|-x", "unknown option '-x'"},
		{"a|b|-fx", "unknown option '-x'"},
		{"a|b|-xf", "unknown option '-x'"},
		{"--foo|a|b", "unknown option '--foo'"},
		{"--help=3", "unknown option '--help=3'"},
		{"a|b|-o", "-o needs a list of options, like -o cache=1G"},
		{"a|b|-o|cache=12x", "cache=12x: not a size (like 512M)"},
		{"a|b|-o|cache=12MB", "cache=12MB: not a size (like 512M)"},
		{"a|b|-o|cache=-5M", "cache=-5M: not a size (like 512M)"},
		{"a|b|-o|cache= 5M", "cache= 5M: not a size (like 512M)"},
		{"a|b|-o|cache=M", "cache=M: not a size (like 512M)"},
		{"a|b|-o|cache=1.5G", "cache=1.5G: not a size (like 512M)"},
		{"a|b|-o|cache=0", "cache=0: must be at least 1M"},
		{"a|b|-o|cache=1023K", "cache=1023K: must be at least 1M"},
		{"a|b|-o|cache=18446744073709551616",
	         "cache=18446744073709551616: too large"},
		{"a|b|-o|cache=17179869184G", "cache=17179869184G: too large"},
		{"a|b|-o|cache=1048577T", "cache=1048577T: too large"},
		{"a|b|-o|cache=1152921504606846977",
	         "cache=1152921504606846977: too large"},
		{"a|b|-o|cache", "cache needs a value: cache=SIZE"},
		{"a|b|-o|cache=", "cache needs a value: cache=SIZE"},
		{"a|b|-o|log=", "log needs a value: log=FILE"},
		{"a|b|-o|allow_other=1", "allow_other=1: allow_other takes no value"},
		{"a|b|-o|follow_symlinks=", "follow_symlinks=: follow_symlinks takes no "
	                                    "value"},
		{"a|b|-o|missing=no", "missing=no: must be fill or error"},
		{"a|b|-o|missing=fil", "missing=fil: must be fill or error"},
		{"a|b|-o|missing=filler", "missing=filler: must be fill or error"},
		{"a|b|-o|nonfinite=NaN", "nonfinite=NaN: must be null or string"},
		{"a|b|-o|text=wide", "text=wide: must be plain or fixed"},
		{"a|b|-o|text", "text needs a value: text=plain|fixed"},
		{"a|b|-o|view=zarr", "view=zarr: must be text, csv, raw or npy"},
		{"a|b|-o|view=", "view needs a value: view=text|csv|raw|npy"},
		{"a|b|-o|views", "views needs a value: views=LIST"},
		{"a|b|-o|views=text",
	         "views=text: must be some of csv, raw, npy and zarr, or none"},
		{"a|b|-o|views=csv\\,ra",
	         "views=csv,ra: must be some of csv, raw, npy and zarr, or none"},
		{"a|b|-o|views=csv,none", "views=none: none cannot stand beside another"},
		{"a|b|-o|views=none,csv", "views=none: none cannot stand beside another"},
		{"a|b|-o|views=none\\,csv",
	         "views=none: none cannot stand beside another"},
		{"a|b|-o|none", "unknown option 'none' in -o"},
		{"a|b|-o|raw,views=csv", "unknown option 'raw' in -o"},
		{"a|b|-o|index=no", "index=no: must be on or off"},
		{"a|b|-o|index_dir", "index_dir needs a value: index_dir=DIR"},
		{"a|b|-o|size_wait=1s", "size_wait=1s: not a number from 0 to 86400"},
		{"a|b|-o|size_wait=86401",
	         "size_wait=86401: not a number from 0 to 86400"},
		{"a|b|-o|uid=root", "uid=root: not a number from 0 to 4294967294"},
		{"a|b|-o|uid=-1", "uid=-1: not a number from 0 to 4294967294"},
		{"a|b|-o|gid=4294967295",
	         "gid=4294967295: not a number from 0 to 4294967294"},
		{"a|b|-o|umask=8", "umask=8: not an octal number from 0 to 777"},
		{"a|b|-o|umask=0x1", "umask=0x1: not an octal number from 0 to 777"},
		{"a|b|-o|umask=1000", "umask=1000: not an octal number from 0 to 777"},
		{"a|b|-o|allow_other,allow_root",
	         "allow_other and allow_root exclude each other"},
		{"a|b|c", "one argument too many: 'c' (after STORE and MOUNTPOINT)"},
		{"--|a|b|-f", "one argument too many: '-f' (after STORE and MOUNTPOINT)"},
		{"|b", "STORE is empty"},
		{"a|", "MOUNTPOINT is empty"},
		{"a", "MOUNTPOINT is missing (usage: zarrfs [OPTIONS] STORE MOUNTPOINT; "
	              "zarrfs --help says more)"},
		{"-f", "STORE and MOUNTPOINT are missing (usage: zarrfs [OPTIONS] STORE "
	               "MOUNTPOINT; zarrfs --help says more)"},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_opts o = {.size_wait = 12345};
		struct zr_err err;

		CHECK_INT(parse(row[i].line, &o, &err), -EINVAL);
		CHECK_INT(err.code, -EINVAL);
		CHECK_STR(err.text, row[i].want);
		CHECK_INT(o.size_wait, 12345); /* nothing is written */
		CHECK(!o.store);
	}
}

static void help_and_version_need_no_operands(void)
{
	static const struct {
		const char *line;
		enum zr_action want;
	} row[] = {
		{"--help", ZR_ACTION_HELP},
		{"-h", ZR_ACTION_HELP},
		{"a|b|c|--help", ZR_ACTION_MOUNT},
		{"-V", ZR_ACTION_VERSION},
		{"a|--version|-o|foo", ZR_ACTION_VERSION},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		ZR_CLEANUP(zr_opts_done) struct zr_opts o = {0};
		struct zr_err err;

		/* What is wrong before the word is still said. */
		if (row[i].want == ZR_ACTION_MOUNT) {
			CHECK_INT(parse(row[i].line, &o, &err), -EINVAL);
			continue;
		}
		parse_ok(row[i].line, &o);
		CHECK_INT(o.action, row[i].want);
	}
}

/* No line of the text is longer than a terminal is wide, or ends in blanks. */
static void check_lines(const char *s)
{
	CHECK_INT(s[strlen(s) - 1], '\n');
	while (*s) {
		size_t len = strcspn(s, "\n");

		CHECK(len <= 80);
		CHECK(len == 0 || s[len - 1] != ' ');
		s += len + 1;
	}
}

static void help_fits_a_terminal_and_names_every_option(void)
{
	static const char *const words[][20] = {
		[ZR_ACTION_MOUNT] = {"zarrfs [OPTIONS] STORE MOUNTPOINT",
	                             "zarrfs ls STORE [PATH]", "zarrfs cat STORE PATH...",
	                             "zarrfs check STORE [PATH]", "-f", "-d",
	                             "-h, --help", "-V, --version", "missing=fill|error",
	                             "text=plain|fixed", "view=text|csv|raw|npy",
	                             "views=LIST", "cache=SIZE", "uid=N", "umask=OCTAL",
	                             "log=FILE", "allow_other"},
		[ZR_ACTION_LS] = {"zarrfs ls [OPTIONS] STORE [PATH]", "--json",
	                          "-o follow_symlinks", "-h, --help"},
		[ZR_ACTION_CAT] = {"zarrfs cat [OPTIONS] STORE PATH...", "--rows A:B",
	                           "-o cache=SIZE", "-o text=plain|fixed"},
		[ZR_ACTION_CHECK] = {"zarrfs check [OPTIONS] STORE [PATH]",
	                             "-o missing=fill|error", "-V, --version"},
		[ZR_ACTION_INDEX] = {"zarrfs index [OPTIONS] STORE...",
	                             "-o index_dir=DIR", "-o nonfinite=null|string"},
	};

	for (enum zr_action v = 0; v < ZR_NVERBS; v++) {
		ZR_CLEANUP(zr_buf_done) struct zr_buf b = {0};
		const char *s;

		zr_opts_help(v, &b);
		zr_buf_addc(&b, '\0');
		CHECK_INT(zr_buf_check(&b), 0);
		s = (const char *)b.data;
		for (size_t i = 0; i < ZR_COUNT(words[v]) && words[v][i]; i++)
			CHECK(strstr(s, words[v][i]));
		CHECK(v == ZR_ACTION_MOUNT || !strstr(s, "-o uid"));
		check_lines(s);
	}
}

static void verbs_are_the_first_argument(void)
{
	static const struct {
		const char *line;
		enum zr_action action;
		const char *store;
		size_t npaths;
	} row[] = {
		{"ls|a", ZR_ACTION_LS, "a", 0},
		{"ls|a|b", ZR_ACTION_LS, "a", 1},
		{"ls|--json|ls|ls", ZR_ACTION_LS, "ls", 1},
		{"cat|a|b", ZR_ACTION_CAT, "a", 1},
		{"cat|a|b|-o|cache=1G|c|d|e|f|g|h|i|j|k", ZR_ACTION_CAT, "a", 10},
		{"cat|--|-a|-b", ZR_ACTION_CAT, "-a", 1},
		{"check|a", ZR_ACTION_CHECK, "a", 0},
		{"check|a|", ZR_ACTION_CHECK, "a", 1}, /* the root */
		{"index|a", ZR_ACTION_INDEX, "a", 0},
		{"index|-o|index=on,index_dir=/x|a|b|c", ZR_ACTION_INDEX, "a", 2},
		/* These are mounts. */
		{"./ls|mnt", ZR_ACTION_MOUNT, "./ls", 0},
		{"-f|cat|mnt", ZR_ACTION_MOUNT, "cat", 0},
		{"--|ls|mnt", ZR_ACTION_MOUNT, "ls", 0},
		{"lsx|mnt", ZR_ACTION_MOUNT, "lsx", 0},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		ZR_CLEANUP(zr_opts_done) struct zr_opts o;

		parse_ok(row[i].line, &o);
		CHECK_INT(o.action, row[i].action);
		CHECK_STR(o.store, row[i].store);
		CHECK_INT(o.npaths, row[i].npaths);
		CHECK(!o.mountpoint == (o.action != ZR_ACTION_MOUNT));
	}
}

static void mount_helper_knows_no_verbs(void)
{
	static const char *const names[] = {"mount.zarrfs", "/sbin/mount.fuse.zarrfs"};

	for (size_t i = 0; i < ZR_COUNT(names); i++) {
		char *argv[] = {(char *)names[i], "ls", "/mnt", "-o", "rw", NULL};
		ZR_CLEANUP(zr_opts_done) struct zr_opts o;
		struct zr_err err = {0};

		CHECK_INT(zr_opts_parse(5, argv, &o, &err), 0);
		CHECK_INT(o.action, ZR_ACTION_MOUNT);
		CHECK_STR(o.store, "ls");
	}
}

static void verbs_say_what_is_not_theirs(void)
{
	static const struct {
		const char *line, *want;
	} row[] = {
		{"ls", "STORE is missing (usage: zarrfs ls [OPTIONS] STORE [PATH]; "
	               "zarrfs ls --help says more)"},
		{"cat", "STORE and PATH are missing (usage: zarrfs cat [OPTIONS] STORE "
	                "PATH...; zarrfs cat --help says more)"},
		{"cat|a", "PATH is missing (usage: zarrfs cat [OPTIONS] STORE PATH...; "
	                  "zarrfs cat --help says more)"},
		{"ls|a|b|c", "one argument too many: 'c' (after STORE and PATH)"},
		{"check|", "STORE is empty"},
		{"ls|-f|a", "unknown option '-f'"},
		{"ls|--rows|1:2|a", "unknown option '--rows'"},
		{"a|b|--rows", "unknown option '--rows'"},
		{"a|b|--json", "unknown option '--json'"},
		{"ls|a|-o|uid=5", "-o uid is not for zarrfs ls"},
		{"check|a|-o|text=fixed", "-o text is not for zarrfs check"},
		{"index|a|", "STORE is empty"},
		{"index|a|-o|index=off",
	         "index=off leaves nothing to do for zarrfs index"},
		{"cat|a|b|-o|ro", "unknown option 'ro' in -o"},
		{"cat|a|b|--rows", "--rows needs a range, like --rows 0:10"},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		struct zr_opts o = {0};
		struct zr_err err;

		CHECK_INT(parse(row[i].line, &o, &err), -EINVAL);
		CHECK_STR(err.text, row[i].want);
		CHECK(!o.store && !o.paths);
		CHECK((o.action == ZR_ACTION_MOUNT) == (row[i].line[0] == 'a'));
	}
}

/* What Python's range(count)[A:B] gives. */
static void rows_are_those_of_a_python_slice(void)
{
	static const struct {
		const char *rows;
		uint64_t count, first, last;
	} row[] = {
		{":", 10, 0, 10},
		{"0:3", 10, 0, 3},
		{":3", 10, 0, 3},
		{"3:", 10, 3, 10},
		{"-3:", 10, 7, 10},
		{":-3", 10, 0, 7},
		{"-3:-1", 10, 7, 9},
		{"2:2", 10, 2, 2},
		{"5:2", 10, 5, 5},
		{"-1:2", 10, 9, 9},
		{"20:30", 10, 10, 10},
		{"3:30", 10, 3, 10},
		{"-30:3", 10, 0, 3},
		{"-0:-0", 10, 0, 0},
		{"0:1", 0, 0, 0},
		{"-1:", 0, 0, 0},
		{"1152921504606846975:", (uint64_t)1 << 60, 1152921504606846975,
	         (uint64_t)1 << 60},
		{"9223372036854775806:", 5, 5, 5},
		{"-9223372036854775806:", 5, 0, 5},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		ZR_CLEANUP(zr_opts_done) struct zr_opts o;
		uint64_t first = 77, last = 77;
		char line[64];

		snprintf(line, sizeof(line), "cat|--rows|%s|a|b", row[i].rows);
		parse_ok(line, &o);
		CHECK(o.has_rows);
		zr_slice_of(&o.rows, row[i].count, &first, &last);
		CHECK_INT(first, row[i].first);
		CHECK_INT(last, row[i].last);
	}
}

static void rows_that_are_none_are_refused(void)
{
	static const char *const rows[] = {
		"",     "5",    "1:2:3", "a:b", "1:b", "1 :2",
		"+1:2", "--1:", "1.5:2", "-:",  "1-2", "9223372036854775807:"};

	for (size_t i = 0; i < ZR_COUNT(rows); i++) {
		struct zr_opts o = {0};
		struct zr_err err;
		char line[64], want[128];

		snprintf(line, sizeof(line), "cat|--rows|%s|a|b", rows[i]);
		snprintf(want, sizeof(want),
		         "--rows %s: must be A:B, like 0:10, 100: or -10:", rows[i]);
		CHECK_INT(parse(line, &o, &err), -EINVAL);
		CHECK_STR(err.text, want);
	}
}

static void help_is_of_the_verb(void)
{
	static const struct {
		const char *line;
		enum zr_action about;
	} row[] = {
		{"--help", ZR_ACTION_MOUNT},   {"-h|ls", ZR_ACTION_MOUNT},
		{"ls|--help", ZR_ACTION_LS},   {"cat|a|--help", ZR_ACTION_CAT},
		{"check|-h", ZR_ACTION_CHECK},
	};

	for (size_t i = 0; i < ZR_COUNT(row); i++) {
		ZR_CLEANUP(zr_opts_done) struct zr_opts o;

		parse_ok(row[i].line, &o);
		CHECK_INT(o.action, ZR_ACTION_HELP);
		CHECK_INT(o.about, row[i].about);
	}
}

int main(void)
{
	RUN(defaults_are_what_the_help_says);
	RUN(options_stand_anywhere);
	RUN(environment_does_not_change_the_order);
	RUN(names_may_begin_with_a_dash_after_two);
	RUN(every_option_is_taken);
	RUN(last_of_equals_wins);
	RUN(what_mount_adds_is_ignored);
	RUN(backslash_makes_a_comma_ordinary);
	RUN(trees_are_chosen);
	RUN(sizes_have_units);
	RUN(errors_name_what_is_wrong);
	RUN(help_and_version_need_no_operands);
	RUN(help_fits_a_terminal_and_names_every_option);
	RUN(help_is_of_the_verb);
	RUN(verbs_are_the_first_argument);
	RUN(mount_helper_knows_no_verbs);
	RUN(verbs_say_what_is_not_theirs);
	RUN(rows_are_those_of_a_python_slice);
	RUN(rows_that_are_none_are_refused);
	return EXIT_SUCCESS;
}
