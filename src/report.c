/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>

#include "cache.h"
#include "engine.h"
#include "tally.h"

static void put(struct zr_buf *out, const char *name, uint64_t n)
{
	zr_buf_addf(out, " %s=%" PRIu64, name, n);
}

/* Memory of the process in bytes, as /proc/self/status has it: now, and the most that it
 * ever was. 0: not known. */
static void find_memory(uint64_t *ret_now, uint64_t *ret_peak)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];
	uint64_t kib;

	*ret_now = *ret_peak = 0;
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "VmRSS: %" SCNu64, &kib) == 1)
			*ret_now = kib << 10;
		else if (sscanf(line, "VmHWM: %" SCNu64, &kib) == 1)
			*ret_peak = kib << 10;
	}
	if (f)
		fclose(f);
}

/* Open descriptors; the one that it takes to look is not counted. */
static uint64_t count_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;
	uint64_t n = 0;

	while (d && (e = readdir(d)))
		n += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return n > 0 ? n - 1 : 0;
}

static void put_tallies(struct zr_buf *out)
{
	static const char *const names[ZR_NTALLIES] = {
		[ZR_TALLY_LOOKUP] = "lookup",
		[ZR_TALLY_GETATTR] = "getattr",
		[ZR_TALLY_READ] = "read",
		[ZR_TALLY_READDIR] = "readdir",
		[ZR_TALLY_ANSWERED] = "answered",
		[ZR_TALLY_DECODED] = "decoded",
		[ZR_TALLY_DECODED_BYTES] = "decoded_bytes",
		[ZR_TALLY_MEASURED] = "measured",
		[ZR_TALLY_RENDERED] = "rendered",
	};

	for (enum zr_tally t = 0; t < ZR_NTALLIES; t++)
		put(out, names[t], zr_tally_get(t));
}

void zr_report(const struct zr_engine *e, struct zr_buf *out)
{
	struct zr_cache_stats cache;
	uint64_t now, peak;

	zr_cache_get_stats(e->env.cache, &cache);
	find_memory(&now, &peak);
	zr_buf_adds(out, "counters:");
	put_tallies(out);
	put(out, "hits", cache.hits);
	put(out, "misses", cache.loads + cache.errors);
	put(out, "waits", cache.waits);
	put(out, "cached", cache.bytes);
	put(out, "cached_peak", cache.peak);
	put(out, "memory", now);
	put(out, "memory_peak", peak);
	put(out, "descriptors", count_descriptors());
}
