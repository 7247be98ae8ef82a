/* SPDX-License-Identifier: MIT */
#include "names.h"

#include <xxhash.h>

#include "utf8.h"

#define NAME_HASH 17 /* bytes of '~' and sixteen digits */

/* File names that mean something in one of the trees. */
static const char *const name_reserved[] = {
	"records.jsonl",   "records.csv",    "records",
	"records.npy",     "unreadable.txt", "zarr.json",
	"attributes.json", "schema.json",    "chunks.tsv",
};

static bool name_is_reserved(const char *name, size_t len)
{
	for (size_t i = 0; i < ZR_COUNT(name_reserved); i++) {
		if (strlen(name_reserved[i]) == len &&
		    memcmp(name_reserved[i], name, len) == 0)
			return true;
	}
	return false;
}

static bool name_ends_npy(const char *name, size_t len)
{
	return len >= 4 && memcmp(name + len - 4, ".npy", 4) == 0;
}

/* Reads like a name that was cut. */
static bool name_ends_hash(const char *name, size_t len)
{
	if (len < NAME_HASH || name[len - NAME_HASH] != '~')
		return false;
	for (size_t i = len - NAME_HASH + 1; i < len; i++) {
		if (!(name[i] >= '0' && name[i] <= '9') &&
		    !(name[i] >= 'a' && name[i] <= 'f'))
			return false;
	}
	return true;
}

static char *name_hex(uint64_t v, unsigned int digits, const char *set, char *out)
{
	for (unsigned int i = digits; i > 0; i--)
		*out++ = set[v >> 4 * (i - 1) & 15];
	return out;
}

/* Writes a character of n bytes, escaped or not; returns the end. */
static char *name_put(const uint8_t *p, unsigned int n, bool escape, char *out)
{
	if (!escape) {
		memcpy(out, p, n);
		return out + n;
	}
	for (unsigned int i = 0; i < n; i++) {
		*out++ = '%';
		out = name_hex(p[i], 2, "0123456789ABCDEF", out);
	}
	return out;
}

/* The three places of a name whose character is escaped for where it stands. */
struct name_marks {
	size_t first, dot, tilde; /* SIZE_MAX: none */
};

static struct name_marks name_look(const char *name, size_t len, enum zr_name_form form)
{
	struct name_marks m = {SIZE_MAX, SIZE_MAX, SIZE_MAX};

	if (len == 0)
		return m;
	if (name[0] == '.' || name[0] == '-' || name_is_reserved(name, len))
		m.first = 0;
	if (form == ZR_NAME_NESTED && name_ends_npy(name, len))
		m.dot = len - 4;
	if (name_ends_hash(name, len))
		m.tilde = len - NAME_HASH;
	return m;
}

uint64_t zr_name_hash(const char *name, size_t len)
{
	return XXH64(name, len, 0);
}

size_t zr_name_escape(const char *name, size_t len, enum zr_name_form form,
                      char out[ZR_NAME_MAX + 1])
{
	const uint8_t *p = (const uint8_t *)name;
	const size_t suffix = form == ZR_NAME_NPY ? 4 : 0;
	const char *limit = out + ZR_NAME_MAX - suffix;
	const struct name_marks mark = name_look(name, len, form);
	char *end = out, *cut = out; /* cut: the last place that leaves room for a hash */

	if (len == 0)
		*end++ = '%';

	for (size_t at = 0; at < len;) {
		char piece[12]; /* four bytes, escaped */
		uint32_t cp = 0;
		unsigned int n = zr_utf8_decode(p + at, len - at, &cp);
		bool escape = !n || cp == '/' || cp == '%' || zr_is_control(cp) ||
		              at == mark.first || at == mark.dot || at == mark.tilde;
		size_t size;

		n = n ? n : 1;
		size = (size_t)(name_put(p + at, n, escape, piece) - piece);
		if (size > (size_t)(limit - end)) {
			end = cut;
			*end++ = '~';
			end = name_hex(zr_name_hash(name, len), 16, "0123456789abcdef",
			               end);
			break;
		}
		memcpy(end, piece, size);
		end += size;
		at += n;
		if (end <= limit - NAME_HASH)
			cut = end;
	}

	memcpy(end, ".npy", suffix);
	end += suffix;
	*end = '\0';
	return (size_t)(end - out);
}
