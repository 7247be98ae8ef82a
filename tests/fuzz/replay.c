/* SPDX-License-Identifier: MIT */
/*
 * replay.c - a corpus as an ordinary test: replay FILE|DIRECTORY...
 */
#include <dirent.h>
#include <sys/stat.h>

#include "fuzz.h"

/* Also without some of its end: what was cut off is the most common damage. */
static void replay(const uint8_t *data, size_t size)
{
	static const unsigned int sixteenths[] = {16, 15, 12, 8, 4, 1};

	for (size_t i = 0; i < ZR_COUNT(sixteenths); i++) {
		size_t n = size * sixteenths[i] / 16;
		uint8_t *exact = malloc(n + (n == 0));

		CHECK(exact);
		memcpy(exact, data, n);
		LLVMFuzzerTestOneInput(exact, n);
		free(exact);
	}
}

static void replay_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct stat st;
	uint8_t *data;

	if (!f || fstat(fileno(f), &st) < 0) {
		perror(path);
		exit(EXIT_FAILURE);
	}
	printf("%s\n", path);
	fflush(stdout); /* the last one to be seen is the one that fails */
	data = malloc((size_t)st.st_size + 1);
	CHECK(data);
	CHECK(fread(data, 1, (size_t)st.st_size, f) == (size_t)st.st_size);
	fclose(f);
	replay(data, (size_t)st.st_size);
	free(data);
}

static int is_shown(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static int replay_directory(const char *path)
{
	struct dirent **entries;
	int n = scandir(path, &entries, is_shown, alphasort);

	for (int i = 0; i < n; i++) {
		char *file;

		CHECK(asprintf(&file, "%s/%s", path, entries[i]->d_name) > 0);
		replay_file(file);
		free(file);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return n;
}

int main(int argc, char **argv)
{
	int count = 0;

	for (int i = 1; i < argc; i++) {
		int n = replay_directory(argv[i]);

		if (n < 0)
			replay_file(argv[i]);
		count += n < 0 ? 1 : n;
	}
	printf("%d inputs\n", count);
	return count > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
