/* SPDX-License-Identifier: MIT */
/*
 * A header is 30 bytes, the name, an "extra field" of a length that only the header
 * tells: so it is looked for from its end. Most extra fields are short.
 */
#include "archive_header.h"

#include <errno.h>

#include "store.h"

#define HEADER_FIXED 30
#define HEADER_NAME_LEN 26
#define HEADER_EXTRA_LEN 28
#define SHORT_EXTRA 64

static bool is_header(const uint8_t *p, const char *name, size_t name_len, size_t extra)
{
	return memcmp(p, "PK\3\4", 4) == 0 &&
	       zr_load_u16(p + HEADER_NAME_LEN, false) == name_len &&
	       zr_load_u16(p + HEADER_EXTRA_LEN, false) == extra &&
	       memcmp(p + HEADER_FIXED, name, name_len) == 0;
}

/* Looks for it with an extra field of at most `most` bytes. */
static int look(int fd, uint64_t end, const char *name, size_t most)
{
	ZR_CLEANUP(zr_freep) uint8_t *bytes = NULL;
	size_t name_len = strlen(name), least = HEADER_FIXED + name_len, len;
	int r;

	if (end < least)
		return -EUCLEAN;
	len = (size_t)ZR_MIN(end, least + most);
	bytes = malloc(len);
	if (!bytes)
		return -ENOMEM;
	r = zr_store_pread(fd, bytes, len, end - len);
	if (r < 0)
		return r;
	for (size_t extra = 0; least + extra <= len; extra++)
		if (is_header(bytes + len - least - extra, name, name_len, extra))
			return 0;
	return -EUCLEAN;
}

int zr_archive_header_check(int fd, uint64_t end, const char *name)
{
	int r = look(fd, end, name, SHORT_EXTRA);

	return r == -EUCLEAN ? look(fd, end, name, UINT16_MAX) : r;
}
