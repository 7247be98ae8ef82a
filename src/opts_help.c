/* SPDX-License-Identifier: MIT */
/*
 * The verbs, the words beside -o, and the texts of --help.
 */
#include "opts_impl.h"

#include <limits.h>
#include <stdio.h>

static const struct verb verbs[ZR_NVERBS] = {
	[ZR_ACTION_MOUNT] =
		{
			.operands = "STORE MOUNTPOINT",
			.first = "STORE",
			.second = "MOUNTPOINT",
			.least = 2,
			.most = 2,
			.what = "Show the Zarr store STORE (a directory or a zip "
				"archive; "
				"version 2 or 3)\n"
				"as plain files at the directory MOUNTPOINT, read-only. "
				"zarrfs returns as\n"
				"soon as the files are there, and serves them in the "
				"background.\n",
			.examples = "zarrfs store.zarr mnt && head mnt/trials/count; "
				    "fusermount3 -u mnt\n"
				    "zarrfs -o cache=2G,allow_other /data/store.zip "
				    "/srv/store\n"
				    "zarrfs ./ls mnt          a store that is called as "
				    "a verb "
				    "is\n",
		},
	[ZR_ACTION_LS] =
		{
			.name = "ls",
			.operands = "STORE [PATH]",
			.first = "STORE",
			.second = "PATH",
			.least = 1,
			.most = 2,
			.brief = "list groups, arrays and fields",
			.what = "List what is in the Zarr store STORE, or in its group "
				"or "
				"array PATH: of each\n"
				"array its type, shape and dimension names, how many of "
				"its chunks are\n"
				"stored and how many there are, and its codecs; of a "
				"struct its fields.\n",
			.examples = "zarrfs ls store.zarr\n"
				    "zarrfs ls --json store.zarr | jq -r '.[].path'\n",
		},
	[ZR_ACTION_CAT] =
		{
			.name = "cat",
			.operands = "STORE PATH...",
			.first = "STORE",
			.second = "PATH",
			.least = 2,
			.most = UINT_MAX,
			.brief = "write a file of the mount to stdout",
			.what = "Write the file PATH of a mount of the Zarr store STORE "
				"to "
				"standard output.\n"
				"Nothing is mounted, so FUSE is not needed, and nothing "
				"is "
				"measured: the\n"
				"first bytes come at once. Of several PATHs, which must "
				"be "
				"text files of\n"
				"arrays of the same length, line i is written side by "
				"side, with TABs\n"
				"between, as paste does.\n",
			.examples = "zarrfs cat store.zarr trials/records.jsonl\n"
				    "zarrfs cat store.zarr trials/start trials/stop\n"
				    "zarrfs cat --rows -10: store.zarr "
				    ".csv/trials/records.csv\n",
		},
	[ZR_ACTION_CHECK] =
		{
			.name = "check",
			.operands = "STORE [PATH]",
			.first = "STORE",
			.second = "PATH",
			.least = 1,
			.most = 2,
			.brief = "decode all, name damaged chunks",
			.what = "Decode every stored chunk of the Zarr store STORE, or "
				"of "
				"its group or array\n"
				"PATH. One line for each chunk that is damaged and each "
				"array that cannot be\n"
				"read, and one of counts. A changed byte is surely found "
				"where a checksum covers\n"
				"it (crc32c, gzip, zlib, bz2, xz; zstd if written with "
				"one); without one (blosc,\n"
				"lz4, no compression) only what does not decode is. The "
				"exit status is 0 if\n"
				"nothing was found, else 1.\n",
			.examples = "zarrfs check store.zarr\n"
				    "zarrfs check -o missing=error store.zarr trials\n",
		},
	[ZR_ACTION_INDEX] =
		{
			.name = "index",
			.operands = "STORE...",
			.first = "STORE",
			.second = "STORE",
			.least = 1,
			.most = UINT_MAX,
			.brief = "find out and keep all sizes",
			.what = "Find out the sizes of all text files of the Zarr store "
				"STORE, and keep them\n"
				"on disk, so that the first mount knows them at once. "
				"Arrays of which they\n"
				"are kept already are passed over, so it may be "
				"interrupted at any time and\n"
				"run again. The options must be those of the mount. The "
				"exit status is 0 if\n"
				"all are kept, else 1.\n",
			.examples = "zarrfs index store.zarr && zarrfs store.zarr mnt && "
				    "ls -lR mnt\n"
				    "zarrfs index -o index_dir=/srv/index /data/*.zarr\n",
		},
};

/* mount(8) gives -n (leave /etc/mtab alone), -r (read-only), -s (tolerate options) and
 * -v (be verbose). */
static const struct word words[] = {
	{'f', NULL, NULL, FOR(MOUNT), "stay in the foreground, log to stderr"},
	{'d', NULL, NULL, FOR(MOUNT), "as -f, and log every request"},
	{'n', NULL, NULL, FOR(MOUNT), NULL},
	{'r', NULL, NULL, FOR(MOUNT), NULL},
	{'s', NULL, NULL, FOR(MOUNT), NULL},
	{'v', NULL, NULL, FOR(MOUNT), NULL},
	{WORD_ROWS, "rows", "A:B", FOR(CAT),
         "only records A to B - 1; from the first one, or to\n"
         "the last one, without a number; below 0: from the\n"
         "end. A CSV keeps its header line"},
	{WORD_JSON, "json", NULL, FOR(LS), "as one JSON list, with each array's schema"},
	{'o', NULL, "OPTION[,OPTION...]", FOR_ALL,
         "the options below; a comma in a value is \\,"},
	{'h', "help", NULL, FOR_ALL, "print this text"},
	{'V', "version", NULL, FOR_ALL, "print the version"},
};

const struct word *zr_opts_word(size_t i)
{
	return i < ZR_COUNT(words) ? &words[i] : NULL;
}

const struct verb *zr_opts_verb(enum zr_action verb)
{
	return &verbs[verb];
}

void zr_opts_verbs(struct zr_buf *out)
{
	for (enum zr_action v = ZR_ACTION_MOUNT + 1; v < ZR_NVERBS; v++)
		zr_buf_addf(out, "%s%s", out->len ? ", " : "", verbs[v].name);
}

/* --- the texts -------------------------------------------------------------------------
 */

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

static void help_words(enum zr_action about, struct zr_buf *out)
{
	const struct word *w;

	for (size_t i = 0; (w = zr_opts_word(i)); i++) {
		char letter[3] = {'-', (char)w->letter, '\0'}, what[64];

		if (!w->help || !(w->verbs >> about & 1))
			continue;
		snprintf(what, sizeof(what), "%s%s%s%s%s%s",
		         w->letter < 256 ? letter : "",
		         w->letter < 256 && w->name ? ", " : "", w->name ? "--" : "",
		         w->name ? w->name : "", w->arg ? " " : "", w->arg ? w->arg : "");
		help_entry(out, what, w->help);
	}
}

/* The head line of a group when its first option comes. */
static void help_options(enum zr_action about, struct zr_buf *out)
{
	const struct opt *opt, *group = NULL;

	for (size_t i = 0; (opt = zr_opts_nth(i)); i++) {
		char what[64];

		if (!opt->name) {
			group = opt;
			continue;
		}
		if (about != ZR_ACTION_MOUNT && !(opt->verbs >> about & 1))
			continue;
		if (group)
			zr_buf_addf(out, "\n%s\n", group->help);
		group = NULL;
		snprintf(what, sizeof(what), "-o %s%s%s", opt->name, opt->arg ? "=" : "",
		         opt->arg ? opt->arg : "");
		help_entry(out, what, opt->help);
	}
}

static void help_usage(enum zr_action about, struct zr_buf *out)
{
	const struct verb *v = &verbs[about];

	if (v->name) {
		zr_buf_addf(out, "Usage: zarrfs %s [OPTIONS] %s\n", v->name, v->operands);
		return;
	}
	zr_buf_adds(out, "Usage: zarrfs [OPTIONS] STORE MOUNTPOINT     mount\n"
	                 "       fusermount3 -u MOUNTPOINT             unmount\n");
	for (size_t i = 1; i < ZR_NVERBS; i++) {
		int n = (int)out->len;

		zr_buf_addf(out, "       zarrfs %s %s", verbs[i].name, verbs[i].operands);
		n = (int)out->len - n;
		zr_buf_addf(out, "%*s%s\n", 45 - n, "", verbs[i].brief);
	}
}

static const char help_mount[] =
	"\n"
	"In the mount every array is a directory:\n"
	"  ARRAY/FIELD              a field of a struct array; line i is record i\n"
	"  ARRAY/values             the values of any other array, one a line\n"
	"  ARRAY/records.jsonl      whole records, one JSON value a line\n"
	"  .csv/ARRAY/records.csv   the same as CSV, with a header line\n"
	"  .raw/ARRAY/, .npy/ARRAY/ the same as flat binary, or for NumPy\n"
	"  .zarr/ARRAY/             metadata: zarr.json, schema.json, chunks.tsv\n";

static void help_examples(const char *lines, struct zr_buf *out)
{
	zr_buf_adds(out, "\nExamples:\n");
	while (*lines) {
		size_t len = strcspn(lines, "\n") + 1;

		zr_buf_addf(out, "  %.*s", (int)len, lines);
		lines += len;
	}
}

void zr_opts_help(enum zr_action about, struct zr_buf *out)
{
	help_usage(about, out);
	zr_buf_addf(out, "\n%s\nOptions:\n", verbs[about].what);
	help_words(about, out);
	help_options(about, out);
	if (about == ZR_ACTION_MOUNT)
		zr_buf_adds(out, help_mount);
	help_examples(verbs[about].examples, out);
}
