/* SPDX-License-Identifier: MIT */
/*
 * What sets an option, by the kind of its value.
 */
#include "opts_impl.h"

#include <errno.h>
#include <stdio.h>

#define CACHE_MIN ((uint64_t)1 << 20)
#define CACHE_MAX ((uint64_t)1 << 60)

static void *opts_at(struct parser *p, const struct opt *opt)
{
	return (char *)p + opt->at;
}

/* Decimal or octal digits: strtoull() alone takes signs and blanks too. */
static ZR_MUST_CHECK bool opts_digits(const char *s, int base, uint64_t max,
                                      uint64_t *ret, const char **ret_end)
{
	char *end;

	if (*s < '0' || *s > '9')
		return false;
	errno = 0;
	*ret = strtoull(s, &end, base);
	*ret_end = end;
	return errno == 0 && *ret <= max;
}

int zr_opts_keep(char **where, const char *value)
{
	char *copy = strdup(value);

	if (!copy)
		return -ENOMEM;
	free(*where);
	*where = copy;
	return 0;
}

/* Hands an option on to libfuse, which unescapes values as we do. */
int zr_opts_set_fuse(struct parser *p, const struct opt *opt, const char *value,
                     struct zr_err *reterr)
{
	(void)reterr;
	if (p->fuse.len)
		zr_buf_addc(&p->fuse, ',');
	zr_buf_adds(&p->fuse, opt->name);
	if (value) {
		zr_buf_addc(&p->fuse, '=');
		zr_opts_escape(&p->fuse, value);
	}
	return zr_buf_check(&p->fuse);
}

int zr_opts_set_flag(struct parser *p, const struct opt *opt, const char *value,
                     struct zr_err *reterr)
{
	(void)value, (void)reterr;
	*(bool *)opts_at(p, opt) = true;
	return 0;
}

int zr_opts_set_flag_and_fuse(struct parser *p, const struct opt *opt, const char *value,
                              struct zr_err *reterr)
{
	*(bool *)opts_at(p, opt) = true;
	return zr_opts_set_fuse(p, opt, value, reterr);
}

int zr_opts_set_string(struct parser *p, const struct opt *opt, const char *value,
                       struct zr_err *reterr)
{
	(void)reterr;
	return zr_opts_keep(opts_at(p, opt), value);
}

/* "fill or error", "text, csv, raw or npy" out of what opt->arg has bars between. */
static void words_show(const char *words, char *out, size_t size)
{
	size_t n;

	*out = '\0';
	for (; *words; words += n + (words[n] == '|')) {
		size_t len = strlen(out);

		n = strcspn(words, "|");
		snprintf(out + len, size - len, "%s%.*s",
		         len == 0   ? ""
		         : words[n] ? ", "
		                    : " or ",
		         (int)n, words);
	}
}

/* opt->arg holds the words, as in "fill|error". */
int zr_opts_set_word(struct parser *p, const struct opt *opt, const char *value,
                     struct zr_err *reterr)
{
	const char *word = opt->arg;
	char shown[64];

	for (uint32_t i = 0; *word; i++) {
		size_t n = strcspn(word, "|");

		if (strlen(value) == n && strncmp(value, word, n) == 0) {
			*(uint32_t *)opts_at(p, opt) = i;
			return 0;
		}
		word += n + (word[n] == '|');
	}
	words_show(opt->arg, shown, sizeof(shown));
	return zr_err_set(reterr, -EINVAL, "%s=%s: must be %s", opt->name, value, shown);
}

/* The bit of a tree that views= names; 0 for none; -1: there is no such tree. */
static int opts_views_bit(const char *name, size_t len)
{
	static const char *const names[ZR_NTREES] = {
		[ZR_TREE_TEXT] = "none", [ZR_TREE_CSV] = "csv",   [ZR_TREE_RAW] = "raw",
		[ZR_TREE_NPY] = "npy",   [ZR_TREE_ZARR] = "zarr",
	};

	for (int i = 0; i < ZR_NTREES; i++)
		if (strlen(names[i]) == len && strncmp(name, names[i], len) == 0)
			return i == ZR_TREE_TEXT ? 0 : 1 << i;
	return -1;
}

int zr_opts_add_view(struct parser *p, const char *name, size_t len,
                     struct zr_err *reterr)
{
	int bit = opts_views_bit(name, len);

	if (bit < 0)
		return -ENOENT;
	if (p->has_views && (bit == 0 || p->o.views == 0))
		return zr_err_set(reterr, -EINVAL,
		                  "views=none: none cannot stand beside another");
	p->o.views |= (unsigned int)bit;
	p->has_views = true;
	return 0;
}

/* The commas between trees mostly are those between options: see opts_item(). */
int zr_opts_set_views(struct parser *p, const struct opt *opt, const char *value,
                      struct zr_err *reterr)
{
	size_t n;

	p->o.views = 0;
	p->has_views = false;
	for (const char *s = value; *s; s += n + (s[n] == ',')) {
		int r;

		n = strcspn(s, ",");
		r = zr_opts_add_view(p, s, n, reterr);
		if (r == -ENOENT)
			return zr_err_set(reterr, -EINVAL,
			                  "%s=%s: must be some of csv, raw, npy and "
			                  "zarr, or none",
			                  opt->name, value);
		if (r < 0)
			return r;
	}
	p->has_views = true;
	return 0;
}

int zr_opts_set_number(struct parser *p, const struct opt *opt, const char *value,
                       struct zr_err *reterr)
{
	const char *end;
	uint64_t n;

	if (!opts_digits(value, 10, opt->max, &n, &end) || *end)
		return zr_err_set(reterr, -EINVAL, "%s=%s: not a number from 0 to %u",
		                  opt->name, value, opt->max);
	*(uint32_t *)opts_at(p, opt) = (uint32_t)n;
	return 0;
}

int zr_opts_set_octal(struct parser *p, const struct opt *opt, const char *value,
                      struct zr_err *reterr)
{
	const char *end;
	uint64_t n;

	if (!opts_digits(value, 8, opt->max, &n, &end) || *end)
		return zr_err_set(reterr, -EINVAL,
		                  "%s=%s: not an octal number from 0 to %o", opt->name,
		                  value, opt->max);
	*(uint32_t *)opts_at(p, opt) = (uint32_t)n;
	return 0;
}

int zr_opts_set_size(struct parser *p, const struct opt *opt, const char *value,
                     struct zr_err *reterr)
{
	static const char units[] = "KkMmGgTt";
	const char *end = NULL;
	unsigned int shift = 0;
	uint64_t n;
	bool fits = opts_digits(value, 10, CACHE_MAX, &n, &end);

	if (end && *end) {
		const char *unit = strchr(units, *end);

		shift = unit ? 10 * (1 + (unsigned int)(unit - units) / 2) : 0;
		end += unit ? 1 : 0;
	}
	if (!end || *end)
		return zr_err_set(reterr, -EINVAL, "%s=%s: not a size (like 512M)",
		                  opt->name, value);
	if (!fits || n > CACHE_MAX >> shift)
		return zr_err_set(reterr, -EINVAL, "%s=%s: too large", opt->name, value);
	if (n << shift < CACHE_MIN)
		return zr_err_set(reterr, -EINVAL, "%s=%s: must be at least 1M",
		                  opt->name, value);
	*(uint64_t *)opts_at(p, opt) = n << shift;
	return 0;
}

/* An integer that may be below 0; `none` if there is none. */
static ZR_MUST_CHECK bool opts_signed(const char *s, int64_t none, int64_t *ret,
                                      const char **ret_end)
{
	bool below = *s == '-';
	uint64_t n;

	*ret = none;
	*ret_end = s;
	if (!below && (*s < '0' || *s > '9'))
		return true;
	if (!opts_digits(s + below, 10, INT64_MAX - 1, &n, ret_end))
		return false;
	*ret = below ? -(int64_t)n : (int64_t)n;
	return true;
}

int zr_opts_slice(const char *value, struct zr_slice *ret, struct zr_err *reterr)
{
	struct zr_slice s;
	const char *end;

	if (!opts_signed(value, 0, &s.first, &end) || *end != ':' ||
	    !opts_signed(end + 1, INT64_MAX, &s.last, &end) || *end)
		return zr_err_set(
			reterr, -EINVAL,
			"--rows %s: must be A:B, like 0:10, 100: or -10:", value);
	*ret = s;
	return 0;
}

static uint64_t slice_end(int64_t at, uint64_t count)
{
	if (at >= 0)
		return ZR_MIN((uint64_t)at, count);
	return (uint64_t)-at < count ? count - (uint64_t)-at : 0;
}

void zr_slice_of(const struct zr_slice *s, uint64_t count, uint64_t *ret_first,
                 uint64_t *ret_last)
{
	*ret_first = slice_end(s->first, count);
	*ret_last = ZR_MAX(*ret_first, slice_end(s->last, count));
}
