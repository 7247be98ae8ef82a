/* SPDX-License-Identifier: MIT */
/*
 * One table holds every option: its name, its argument, what sets it, and its text. The
 * parser, --help and the test that compares the manual all read that table.
 */
#include "opts_impl.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <unistd.h>

#define CACHE_DEFAULT ((uint64_t)256 << 20)
#define SIZE_WAIT_DEFAULT 30
#define SIZE_WAIT_MAX 86400

static void opts_parser_done(struct parser *p)
{
	zr_opts_done(&p->o);
	zr_buf_done(&p->fuse);
}

#define AT(member) offsetof(struct parser, member)
#define NO_OWNER UINT32_MAX /* (uid_t)-1 */

static const struct opt opts_table[] = {
	{.help = "What the files hold:"},
	{"missing", "fill|error", zr_opts_set_word, AT(missing), 0,
         "a chunk that is not stored: the fill value (the\n"
         "default), or an error for whoever reads it"},
	{"nonfinite", "null|string", zr_opts_set_word, AT(nonfinite), 0,
         "NaN and infinities in records.jsonl: null (the\n"
         "default), or \"NaN\", \"Infinity\", \"-Infinity\""},
	{"follow_symlinks", NULL, zr_opts_set_flag, AT(o.follow_symlinks), 0,
         "follow symbolic links that leave the store"},
	{"text", "plain|fixed", zr_opts_set_word, AT(text), 0,
         "field files: each value as long as it is (the\n"
         "default), or in columns of constant width, whose\n"
         "sizes are known without measuring"},
	{"view", "text|csv|raw|npy", zr_opts_set_word, AT(view), 0,
         "what is at the root of the mount (default: text);\n"
         "then without the others, unless views= names some"},
	{"views", "LIST", zr_opts_set_views, 0, 0,
         "which of .csv, .raw, .npy and .zarr are there too\n"
         "(default csv,raw,npy,zarr; none: none of them)"},

	{.help = "Memory and time:"},
	{"cache", "SIZE", zr_opts_set_size, AT(o.cache_bytes), 0,
         "memory for decoded chunks, like 512M or 2G (default\n"
         "256M, at least 1M)"},
	{"size_wait", "SECONDS", zr_opts_set_number, AT(o.size_wait), SIZE_WAIT_MAX,
         "how long a program may be kept waiting for the size\n"
         "of a text file (default 30; 0: not at all)"},
	{"index", "on|off", zr_opts_set_word, AT(index), 0,
         "keep the sizes of text files on disk, so that the\n"
         "next mount knows them (the default), or do not"},
	{"index_dir", "DIR", zr_opts_set_string, AT(o.index_dir), 0,
         "where (default: zarrfs in $XDG_CACHE_HOME, else in\n"
         "~/.cache or, for root, /var/cache); nobody else may\n"
         "write to it"},

	{.help = "Owner and access:"},
	{"uid", "N", zr_opts_set_number, AT(o.uid), NO_OWNER - 1,
         "owner of all files (default: you)"},
	{"gid", "N", zr_opts_set_number, AT(o.gid), NO_OWNER - 1,
         "group of all files (default: yours)"},
	{"umask", "OCTAL", zr_opts_set_octal, AT(o.umask), 0777,
         "permissions to take away (default 0)"},
	{"allow_other", NULL, zr_opts_set_flag_and_fuse, AT(allow_other), 0,
         "let other users in (unless you are root, needs\n"
         "user_allow_other in /etc/fuse.conf)"},
	{"allow_root", NULL, zr_opts_set_flag_and_fuse, AT(allow_root), 0,
         "let root in (needs the same)"},
	{"default_permissions", NULL, zr_opts_set_flag_and_fuse,
         AT(o.default_permissions), 0,
         "let the kernel enforce owner and permissions; for\n"
         "use with allow_other"},

	{.help = "The mount:"},
	{"auto_unmount", NULL, zr_opts_set_fuse, 0, 0,
         "unmount also when zarrfs is killed or crashes"},
	{"fsname", "NAME", zr_opts_set_fuse, 0, 0,
         "what df and mount call it (default: STORE's path)"},
	{"log", "FILE", zr_opts_set_string, AT(o.log_file), 0,
         "append the log to FILE (default: stderr with -f,\n"
         "else syslog)"},
	{"noexec", NULL, zr_opts_set_fuse, 0, 0, "refuse to run files as programs"},
};

/* What mount(8) and /etc/fstab add or what holds anyway: the mount is read-only, nosuid
 * and nodev whatever is asked for. mount(8) passes "rw" whenever "ro" was not given. */
static const char *const opts_ignored[] = {
	"ro",          "rw",       "dev",     "nodev",    "suid",       "nosuid",
	"exec",        "atime",    "noatime", "diratime", "nodiratime", "relatime",
	"strictatime", "lazytime", "sync",    "async",    "dirsync",    "auto",
	"noauto",      "user",     "nouser",  "users",    "owner",      "group",
	"_netdev",     "nofail",   "silent",  "defaults", "nonempty",
};

static const char *const opts_ignored_prefixes[] = {
	"x-", "X-", "comment=", "user=", "uhelper=", "helper=", "subtype=",
};

static bool opts_is_ignored(const char *item)
{
	for (size_t i = 0; i < ZR_COUNT(opts_ignored); i++)
		if (strcmp(item, opts_ignored[i]) == 0)
			return true;
	for (size_t i = 0; i < ZR_COUNT(opts_ignored_prefixes); i++)
		if (strncmp(item, opts_ignored_prefixes[i],
		            strlen(opts_ignored_prefixes[i])) == 0)
			return true;
	return false;
}

/* One "name" or "name=value", unescaped; cut in two here. */
static int opts_item(struct parser *p, char *item, struct zr_err *reterr)
{
	char *value;

	if (opts_is_ignored(item))
		return 0;

	value = strchr(item, '=');
	if (value)
		*value++ = '\0';
	for (size_t i = 0; i < ZR_COUNT(opts_table); i++) {
		const struct opt *opt = &opts_table[i];

		if (!opt->name || strcmp(item, opt->name) != 0)
			continue;
		if (opt->arg && (!value || (!*value && opt->set != zr_opts_set_views)))
			return zr_err_set(reterr, -EINVAL, "%s needs a value: %s=%s",
			                  item, item, opt->arg);
		if (!opt->arg && value)
			return zr_err_set(reterr, -EINVAL, "%s=%s: %s takes no value",
			                  item, value, item);
		return opt->set(p, opt, value, reterr);
	}
	if (p->has_views && !value && zr_opts_views_bit(item, strlen(item)) > 0) {
		p->o.views |= (unsigned int)zr_opts_views_bit(item, strlen(item));
		return 0;
	}
	return zr_err_set(reterr, -EINVAL, "unknown option '%s' in -o", item);
}

/* Cuts a list at its commas. A backslash makes a comma or a backslash an ordinary
 * character; before anything else it is one itself. */
static int opts_list(struct parser *p, const char *list, struct zr_err *reterr)
{
	ZR_CLEANUP(zr_freep) char *item = malloc(strlen(list) + 1);
	size_t len = 0;
	int r = 0;

	if (!item)
		return -ENOMEM;
	for (const char *s = list; r == 0; s++) {
		if (*s == '\\' && (s[1] == ',' || s[1] == '\\')) {
			item[len++] = *++s;
			continue;
		}
		if (*s && *s != ',') {
			item[len++] = *s;
			continue;
		}
		item[len] = '\0';
		if (len)
			r = opts_item(p, item, reterr);
		len = 0;
		if (!*s)
			break;
	}
	return r;
}

static int opts_operand(struct parser *p, const char *arg, struct zr_err *reterr)
{
	static const char *const what[] = {"STORE", "MOUNTPOINT"};

	if (p->operands == ZR_COUNT(what))
		return zr_err_set(
			reterr, -EINVAL,
			"one argument too many: '%s' (after STORE and MOUNTPOINT)", arg);
	if (!*arg)
		return zr_err_set(reterr, -EINVAL, "%s is empty", what[p->operands]);
	return zr_opts_keep(p->operands++ ? &p->o.mountpoint : &p->o.store, arg);
}

static int opts_finish(struct parser *p, struct zr_err *reterr)
{
	if (p->o.action != ZR_ACTION_MOUNT)
		return 0;
	if (p->operands < 2)
		return zr_err_set(reterr, -EINVAL,
		                  "%s missing (usage: zarrfs [OPTIONS] STORE MOUNTPOINT; "
		                  "zarrfs --help says more)",
		                  p->operands ? "MOUNTPOINT is"
		                              : "STORE and MOUNTPOINT are");
	if (p->allow_other && p->allow_root)
		return zr_err_set(reterr, -EINVAL,
		                  "allow_other and allow_root exclude each other");
	return 0;
}

static int opts_letter(struct parser *p, int c, char **argv, struct zr_err *reterr)
{
	switch (c) {
	case 1: /* not an option */
		return opts_operand(p, optarg, reterr);
	case 'd':
		p->o.debug = true;
		p->o.foreground = true;
		return 0;
	case 'f':
		p->o.foreground = true;
		return 0;
	case 'h':
		p->o.action = ZR_ACTION_HELP;
		return 0;
	case 'V':
		p->o.action = ZR_ACTION_VERSION;
		return 0;
	case 'o':
		return opts_list(p, optarg, reterr);
	case 'n': /* mount(8): leave /etc/mtab alone, */
	case 'r': /* read-only, */
	case 's': /* tolerate options, */
	case 'v': /* be verbose */
		return 0;
	case ':':
		return zr_err_set(reterr, -EINVAL,
		                  "-o needs a list of options, like -o cache=1G");
	default: /* a word, or a letter among others */
		if (strncmp(argv[optind - 1], "--", 2) == 0)
			return zr_err_set(reterr, -EINVAL, "unknown option '%s'",
			                  argv[optind - 1]);
		return zr_err_set(reterr, -EINVAL, "unknown option '-%c'", optopt);
	}
}

/* The words of view= are in the order of enum zr_tree_form. */
static void opts_set_trees(struct parser *p)
{
	p->o.view = (enum zr_tree_form)p->view;
	if (!p->has_views && p->o.view == ZR_TREE_TEXT)
		p->o.views = (1u << ZR_NTREES) - 1;
	p->o.views &= ~(1u << ZR_TREE_TEXT | 1u << p->o.view);
}

int zr_opts_parse(int argc, char **argv, struct zr_opts *ret, struct zr_err *reterr)
{
	static const struct option words[] = {
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},
		{0},
	};
	ZR_CLEANUP(opts_parser_done)
	struct parser p = {.o = {.uid = getuid(),
	                         .gid = getgid(),
	                         .cache_bytes = CACHE_DEFAULT,
	                         .size_wait = SIZE_WAIT_DEFAULT}};
	int c, r = 0;

	/* '-': operands come in order, between the options, whatever the environment
	 * says (POSIXLY_CORRECT); ':': no messages. 0 makes glibc start afresh. */
	optind = 0;
	while (r == 0 && p.o.action == ZR_ACTION_MOUNT &&
	       (c = getopt_long(argc, argv, "-:hVfdnrsvo:", words, NULL)) != -1)
		r = opts_letter(&p, c, argv, reterr);
	while (r == 0 && p.o.action == ZR_ACTION_MOUNT && optind < argc)
		r = opts_operand(&p, argv[optind++], reterr);
	if (r == 0)
		r = opts_finish(&p, reterr);
	if (r == 0) {
		zr_buf_addc(&p.fuse, '\0');
		r = zr_buf_check(&p.fuse);
	}
	if (r < 0)
		return zr_err_set(reterr, r, "out of memory"); /* the first text wins */

	p.o.missing_is_error = p.missing;
	p.o.index_off = p.index;
	p.o.render.fixed_text = p.text;
	opts_set_trees(&p);
	p.o.render.nonfinite = p.nonfinite ? ZR_NONFINITE_STRING : ZR_NONFINITE_NULL;
	p.o.fuse_opts = (char *)ZR_TAKE(p.fuse.data);
	*ret = p.o;
	p.o = (struct zr_opts){0};
	return 0;
}

void zr_opts_escape(struct zr_buf *out, const char *value)
{
	for (; *value; value++) {
		if (*value == ',' || *value == '\\')
			zr_buf_addc(out, '\\');
		zr_buf_addc(out, *value);
	}
}

void zr_opts_done(struct zr_opts *o)
{
	if (!o)
		return;
	free(o->store);
	free(o->mountpoint);
	free(o->log_file);
	free(o->index_dir);
	free(o->fuse_opts);
	*o = (struct zr_opts){0};
}

/* "  what    text", further lines of the text below the first. */
static void help_entry(struct zr_buf *out, const char *what, const char *text)
{
	zr_buf_addf(out, "  %-24s ", what);
	for (; *text; text++) {
		zr_buf_addc(out, *text);
		if (*text == '\n')
			zr_buf_addf(out, "%27s", "");
	}
	zr_buf_addc(out, '\n');
}

static void help_options(struct zr_buf *out)
{
	for (size_t i = 0; i < ZR_COUNT(opts_table); i++) {
		const struct opt *opt = &opts_table[i];
		char what[64];

		if (!opt->name) {
			zr_buf_addf(out, "\n%s\n", opt->help);
			continue;
		}
		snprintf(what, sizeof(what), "-o %s%s%s", opt->name, opt->arg ? "=" : "",
		         opt->arg ? opt->arg : "");
		help_entry(out, what, opt->help);
	}
}

void zr_opts_help(struct zr_buf *out)
{
	zr_buf_adds(out,
	            "Usage: zarrfs [OPTIONS] STORE MOUNTPOINT     mount\n"
	            "       fusermount3 -u MOUNTPOINT             unmount\n"
	            "\n"
	            "Show the Zarr store STORE (a directory or a zip archive; version 2 "
	            "or 3)\n"
	            "as plain files at the directory MOUNTPOINT, read-only. zarrfs "
	            "returns as\n"
	            "soon as the files are there, and serves them in the background.\n"
	            "\n"
	            "Options:\n");
	help_entry(out, "-f", "stay in the foreground, log to stderr");
	help_entry(out, "-d", "as -f, and log every request");
	help_entry(out, "-o OPTION[,OPTION...]",
	           "the options below; a comma in a value is \\,");
	help_entry(out, "-h, --help", "print this text");
	help_entry(out, "-V, --version", "print the version");
	help_options(out);
	zr_buf_adds(
		out,
		"\n"
		"In the mount every array is a directory:\n"
		"  ARRAY/FIELD              a field of a struct array; line i is record "
		"i\n"
		"  ARRAY/values             the values of any other array, one a line\n"
		"  ARRAY/records.jsonl      whole records, one JSON value a line\n"
		"  .csv/ARRAY/records.csv   the same as CSV, with a header line\n"
		"  .raw/ARRAY/, .npy/ARRAY/ the same as flat binary, or for NumPy\n"
		"  .zarr/ARRAY/             metadata: zarr.json, schema.json, "
		"chunks.tsv\n"
		"\n"
		"Examples:\n"
		"  zarrfs store.zarr mnt && head mnt/trials/count; fusermount3 -u mnt\n"
		"  zarrfs -o cache=2G,allow_other /data/store.zip /srv/store\n");
}
