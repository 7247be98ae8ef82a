/* SPDX-License-Identifier: MIT */
/*
 * One table holds every option of -o: its name, its argument, what sets it, and its text;
 * those of opts_help.c hold what else the command line knows. Parser and --help read
 * them, and a test (tests/unit/check_docs.sh) holds manual and completions against
 * --help.
 */
#include "opts_impl.h"

#include <errno.h>
#include <getopt.h>
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
         "default), or an error for whoever reads it",
         FOR(CAT) | FOR(CHECK) | FOR(INDEX)},
	{"nonfinite", "null|string", zr_opts_set_word, AT(nonfinite), 0,
         "NaN and infinities in JSON: null (the default), or\n"
         "\"NaN\", \"Infinity\", \"-Infinity\"",
         FOR(CAT) | FOR(LS) | FOR(INDEX)},
	{"follow_symlinks", NULL, zr_opts_set_flag, AT(o.follow_symlinks), 0,
         "follow symbolic links that leave the store", FOR_ALL},
	{"text", "plain|fixed", zr_opts_set_word, AT(text), 0,
         "field files: each value as long as it is (the\n"
         "default), or in columns of constant width, whose\n"
         "sizes are known without measuring",
         FOR(CAT) | FOR(INDEX)},
	{"view", "text|csv|raw|npy", zr_opts_set_word, AT(view), 0,
         "what is at the root of the mount (default: text);\n"
         "then without the others, unless views= names some",
         0},
	{"views", "LIST", zr_opts_set_views, 0, 0,
         "which of .csv, .raw, .npy and .zarr are there too\n"
         "(default csv,raw,npy,zarr; none: none of them)",
         0},

	{.help = "Memory and time:"},
	{"cache", "SIZE", zr_opts_set_size, AT(o.cache_bytes), 0,
         "memory for decoded chunks, like 512M or 2G (default\n"
         "256M, at least 1M)",
         FOR(CAT) | FOR(CHECK) | FOR(INDEX)},
	{"size_wait", "SECONDS", zr_opts_set_number, AT(o.size_wait), SIZE_WAIT_MAX,
         "how long a program may be kept waiting for the size\n"
         "of a text file (default 30; 0: not at all)",
         0},
	{"index", "on|off", zr_opts_set_word, AT(index), 0,
         "keep the sizes of text files on disk, so that the\n"
         "next mount knows them (the default), or do not",
         FOR(INDEX)},
	{"index_dir", "DIR", zr_opts_set_string, AT(o.index_dir), 0,
         "where (default: zarrfs in $XDG_CACHE_HOME, else in\n"
         "~/.cache or, for root, /var/cache); nobody else may\n"
         "write to it; made if it is missing",
         FOR(INDEX)},

	{.help = "Owner and access:"},
	{"uid", "N", zr_opts_set_number, AT(o.uid), NO_OWNER - 1,
         "owner of all files (default: you)", 0},
	{"gid", "N", zr_opts_set_number, AT(o.gid), NO_OWNER - 1,
         "group of all files (default: yours)", 0},
	{"umask", "OCTAL", zr_opts_set_octal, AT(o.umask), 0777,
         "permissions to take away (default 0)", 0},
	{"allow_other", NULL, zr_opts_set_flag_and_fuse, AT(allow_other), 0,
         "let other users in (unless you are root, needs\n"
         "user_allow_other in /etc/fuse.conf)",
         0},
	{"allow_root", NULL, zr_opts_set_flag_and_fuse, AT(allow_root), 0,
         "let root in (needs the same)", 0},
	{"default_permissions", NULL, zr_opts_set_flag_and_fuse,
         AT(o.default_permissions), 0,
         "let the kernel enforce owner and permissions; for\n"
         "use with allow_other",
         0},

	{.help = "The mount:"},
	{"fsname", "NAME", zr_opts_set_fuse, 0, 0,
         "what df and mount call it (default: STORE's path)", 0},
	{"log", "FILE", zr_opts_set_string, AT(o.log_file), 0,
         "append the log to FILE (default: stderr with -f,\n"
         "else syslog)",
         0},
	{"noexec", NULL, zr_opts_set_fuse, 0, 0, "refuse to run files as programs", 0},
	{"sandbox", "on|off", zr_opts_set_word, AT(sandbox), 0,
         "let the daemon do nothing but serve this store (the\n"
         "default, as far as the kernel can do that), or do\n"
         "without",
         0},
	{"user", "NAME", zr_opts_set_string, AT(o.user), 0,
         "if root mounts: as whom the daemon goes on, and so\n"
         "who keeps sizes (default: the owner of STORE)",
         FOR(INDEX)},
};

/* What mount(8) and /etc/fstab add or what holds anyway: the mount is read-only, nosuid
 * and nodev whatever is asked for, and goes with the daemon. mount(8) passes "rw"
 * whenever "ro" was not given. */
static const char *const opts_ignored[] = {
	"ro",          "rw",       "dev",     "nodev",    "suid",       "nosuid",
	"exec",        "atime",    "noatime", "diratime", "nodiratime", "relatime",
	"strictatime", "lazytime", "sync",    "async",    "dirsync",    "auto",
	"noauto",      "user",     "nouser",  "users",    "owner",      "group",
	"_netdev",     "nofail",   "silent",  "defaults", "nonempty",   "auto_unmount",
};

static const char *const opts_ignored_prefixes[] = {
	"x-", "X-", "comment=", "uhelper=", "helper=", "subtype=",
};

const struct opt *zr_opts_nth(size_t i)
{
	return i < ZR_COUNT(opts_table) ? &opts_table[i] : NULL;
}

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
	int r;

	if (p->o.action == ZR_ACTION_MOUNT && opts_is_ignored(item))
		return 0;

	value = strchr(item, '=');
	if (value)
		*value++ = '\0';
	for (size_t i = 0; i < ZR_COUNT(opts_table); i++) {
		const struct opt *opt = &opts_table[i];

		if (!opt->name || strcmp(item, opt->name) != 0)
			continue;
		if (p->o.action != ZR_ACTION_MOUNT && !(opt->verbs >> p->o.action & 1))
			return zr_err_set(reterr, -EINVAL, "-o %s is not for zarrfs %s",
			                  item, zr_opts_verb(p->o.action)->name);
		if (opt->arg && (!value || (!*value && opt->set != zr_opts_set_views)))
			return zr_err_set(reterr, -EINVAL, "%s needs a value: %s=%s",
			                  item, item, opt->arg);
		if (!opt->arg && value)
			return zr_err_set(reterr, -EINVAL, "%s=%s: %s takes no value",
			                  item, value, item);
		return opt->set(p, opt, value, reterr);
	}
	r = p->has_views && !value ? zr_opts_add_view(p, item, strlen(item), reterr)
	                           : -ENOENT;
	if (r != -ENOENT)
		return r;
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

/* PATHs: as many as there are. */
static int opts_path(struct parser *p, const char *arg)
{
	if (p->o.npaths == p->paths_cap) {
		size_t cap = p->paths_cap ? 2 * p->paths_cap : 8;
		char **more = reallocarray(p->o.paths, cap, sizeof(*more));

		if (!more)
			return -ENOMEM;
		p->o.paths = more;
		p->paths_cap = cap;
	}
	p->o.paths[p->o.npaths] = strdup(arg);
	return p->o.paths[p->o.npaths++] ? 0 : -ENOMEM;
}

static int opts_operand(struct parser *p, const char *arg, struct zr_err *reterr)
{
	const struct verb *v = zr_opts_verb(p->o.action);
	unsigned int nth = p->operands;

	if (nth == v->most)
		return zr_err_set(reterr, -EINVAL,
		                  "one argument too many: '%s' (after %s and %s)", arg,
		                  v->first, v->second);
	/* An empty PATH is the store's root, as "." is. */
	if (!*arg && (nth == 0 || strcmp(v->second, "PATH") != 0))
		return zr_err_set(reterr, -EINVAL, "%s is empty",
		                  nth == 0 ? v->first : v->second);
	p->operands++;
	if (nth == 0)
		return zr_opts_keep(&p->o.store, arg);
	if (p->o.action == ZR_ACTION_MOUNT)
		return zr_opts_keep(&p->o.mountpoint, arg);
	return opts_path(p, arg);
}

static int opts_finish(struct parser *p, struct zr_err *reterr)
{
	const struct verb *v;

	if (p->o.action >= ZR_NVERBS)
		return 0;
	v = zr_opts_verb(p->o.action);
	if (p->operands < v->least)
		return zr_err_set(reterr, -EINVAL,
		                  "%s%s%s %s missing (usage: zarrfs%s%s [OPTIONS] %s; "
		                  "zarrfs%s%s --help says more)",
		                  p->operands ? v->second : v->first,
		                  p->operands + 1 < v->least ? " and " : "",
		                  p->operands + 1 < v->least ? v->second : "",
		                  p->operands + 1 < v->least ? "are" : "is",
		                  v->name ? " " : "", v->name ? v->name : "", v->operands,
		                  v->name ? " " : "", v->name ? v->name : "");
	if (p->o.action == ZR_ACTION_INDEX && p->index)
		return zr_err_set(reterr, -EINVAL,
		                  "index=off leaves nothing to do for zarrfs index");
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
		p->o.about = p->o.action;
		p->o.action = ZR_ACTION_HELP;
		return 0;
	case 'V':
		p->o.action = ZR_ACTION_VERSION;
		return 0;
	case 'o':
		return opts_list(p, optarg, reterr);
	case WORD_JSON:
		p->o.json = true;
		return 0;
	case WORD_ROWS:
		p->o.has_rows = true;
		return zr_opts_slice(optarg, &p->o.rows, reterr);
	case 'n': /* mount(8): leave /etc/mtab alone, */
	case 'r': /* read-only, */
	case 's': /* tolerate options, */
	case 'v': /* be verbose */
		return 0;
	case ':':
		if (optopt == WORD_ROWS)
			return zr_err_set(reterr, -EINVAL,
			                  "--rows needs a range, like --rows 0:10");
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

/* The verb that the first argument is. */
static enum zr_action opts_verb(int argc, char **argv)
{
	static const char helper[] = "mount.";
	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
	const char *self = slash ? slash + 1 : argc > 0 ? argv[0] : "";

	if (argc < 2 || strncmp(self, helper, strlen(helper)) == 0)
		return ZR_ACTION_MOUNT;
	for (enum zr_action v = ZR_ACTION_MOUNT + 1; v < ZR_NVERBS; v++)
		if (strcmp(argv[1], zr_opts_verb(v)->name) == 0)
			return v;
	return ZR_ACTION_MOUNT;
}

#define MAX_WORDS 16

/* What getopt_long() is to know for a verb. */
struct getopt {
	char letters[2 + 2 * MAX_WORDS + 1];
	struct option words[MAX_WORDS + 1];
};

/* '-': operands come in order, between the options, whatever the environment says
 * (POSIXLY_CORRECT); ':': no messages. */
static void getopt_fill(enum zr_action verb, struct getopt *ret)
{
	const struct word *w;
	size_t letters = 0, words = 0;

	*ret = (struct getopt){.letters = "-:"};
	letters = strlen(ret->letters);
	for (size_t i = 0; i < MAX_WORDS && (w = zr_opts_word(i)); i++) {
		if (!(w->verbs >> verb & 1))
			continue;
		if (w->letter < 256) {
			ret->letters[letters++] = (char)w->letter;
			if (w->arg)
				ret->letters[letters++] = ':';
		}
		if (w->name)
			ret->words[words++] = (struct option){
				w->name, w->arg ? required_argument : no_argument, NULL,
				w->letter};
	}
}

static int opts_words(struct parser *p, int argc, char **argv, struct zr_err *reterr)
{
	enum zr_action verb = p->o.action;
	struct getopt known;
	int c, r = 0;

	getopt_fill(verb, &known);
	optind = 0; /* makes glibc start afresh */
	while (r == 0 && p->o.action == verb &&
	       (c = getopt_long(argc, argv, known.letters, known.words, NULL)) != -1)
		r = opts_letter(p, c, argv, reterr);
	while (r == 0 && p->o.action == verb && optind < argc)
		r = opts_operand(p, argv[optind++], reterr);
	return r;
}

int zr_opts_parse(int argc, char **argv, struct zr_opts *ret, struct zr_err *reterr)
{
	const enum zr_action verb = opts_verb(argc, argv);
	ZR_CLEANUP(opts_parser_done)
	struct parser p = {.o = {.action = verb,
	                         .uid = getuid(),
	                         .gid = getgid(),
	                         .who = {geteuid(), getegid()},
	                         .cache_bytes = CACHE_DEFAULT,
	                         .size_wait = SIZE_WAIT_DEFAULT,
	                         .rows.last = INT64_MAX}};
	int skip = verb == ZR_ACTION_MOUNT ? 0 : 1;
	int r = opts_words(&p, argc - skip, argv + skip, reterr);

	if (r == 0)
		r = opts_finish(&p, reterr);
	if (r == 0) {
		zr_buf_addc(&p.fuse, '\0');
		r = zr_buf_check(&p.fuse);
	}
	if (r < 0) {
		ret->action = verb;
		return zr_err_set(reterr, r, "out of memory"); /* the first text wins */
	}

	p.o.missing_is_error = p.missing;
	p.o.render.fixed_text = p.text;
	p.o.index_off = p.index;
	p.o.sandbox_off = p.sandbox;
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
	for (size_t i = 0; i < o->npaths; i++)
		free(o->paths[i]);
	free(o->paths);
	free(o->log_file);
	free(o->user);
	free(o->index_dir);
	free(o->fuse_opts);
	*o = (struct zr_opts){0};
}
