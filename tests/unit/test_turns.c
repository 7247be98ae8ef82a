/* SPDX-License-Identifier: MIT */
/*
 * Large documents are read one after the other, whoever asks: the first reader is held
 * while it still works on its document, and the second one is looked at when it sleeps.
 */
#include <semaphore.h>

#include "asleep.h"
#include "consolidated.h"
#include "fake_store.h"
#include "files.h"

#define LARGE_DOC (((size_t)1 << 20) + 1)
#define GROUP "{\"zarr_format\":3,\"node_type\":\"group\"}"

static atomic_int large_reads;
static const char *held_key; /* whoever asks for its date waits */
static sem_t holds, let_go;

static int held_get(struct zr_store *s, const char *key, uint64_t max, struct zr_buf *ret,
                    struct zr_err *reterr)
{
	int r = fake_get(s, key, max, ret, reterr);

	large_reads += r == 0 && ret->len >= LARGE_DOC;
	return r;
}

static int held_stat(struct zr_store *s, const char *key, struct zr_stat *ret,
                     struct zr_err *reterr)
{
	if (strcmp(key, held_key) == 0) {
		sem_post(&holds);
		sem_wait(&let_go);
	}
	return fake_stat(s, key, ret, reterr);
}

static const struct zr_store_ops held_ops = {.get = held_get,
                                             .get_range = fake_get_range,
                                             .stat = held_stat,
                                             .list = fake_list,
                                             .free = fake_free};

typedef void (*work_fn)(const struct zr_env *env, const char *path);

static void load(const struct zr_env *env, const char *path)
{
	static const struct zr_known_sizes none;
	struct zr_files *f;

	CHECK_INT(zr_files_load(env, path, 1, &none, &f), 0);
	CHECK(zr_files_is_group(f));
	zr_files_unref(f);
}

static void learn(const struct zr_env *env, const char *path)
{
	CHECK_INT(zr_consolidated_learn(env->store, path, NULL), 0);
}

struct worker {
	pthread_t thread;
	struct sleeper at;
	work_fn work;
	const struct zr_env *env;
	const char *path;
};

static void *worker_main(void *arg)
{
	struct worker *w = arg;

	sleeper_begin(&w->at);
	w->work(w->env, w->path);
	sleeper_end(&w->at);
	return NULL;
}

static void worker_start(struct worker *w)
{
	CHECK_INT(pthread_create(&w->thread, NULL, worker_main, w), 0);
}

/* held: what the first one asks for when it has read its document. */
static void check_turns(work_fn first, const char *held, work_fn second)
{
	static char large[LARGE_DOC];
	struct fake_object o[] = {{"a/zarr.json", large, sizeof(large), 0},
	                          {"b/zarr.json", large, sizeof(large), 0},
	                          {"small/zarr.json", GROUP, sizeof(GROUP) - 1, 0}};
	struct fake_store fake = {
		.base = {.ops = &held_ops, .refs = 1}, .objects = o, .count = 3};
	struct zr_env env = {.store = zr_consolidated_new(&fake.base)};
	struct worker a = {.work = first, .env = &env, .path = "a"};
	struct worker b = {.work = second, .env = &env, .path = "b"};

	memset(large, ' ', sizeof(large));
	memcpy(large, GROUP, sizeof(GROUP) - 1);
	CHECK(env.store);
	held_key = held;
	large_reads = 0;
	worker_start(&a);
	sem_wait(&holds);
	CHECK_INT(large_reads, 1);
	load(&env, "small");
	learn(&env, "small");

	worker_start(&b);
	CHECK(!sleeper_ends(&b.at));
	CHECK_INT(large_reads, 1);

	sem_post(&let_go);
	pthread_join(a.thread, NULL);
	pthread_join(b.thread, NULL);
	CHECK_INT(large_reads, 2);
	zr_store_unref(env.store);
}

static void nodes_take_turns(void)
{
	check_turns(load, "a/.zgroup", load);
}

static void consolidated_metadata_take_turns(void)
{
	check_turns(learn, "a/zarr.json", learn);
}

static void both_take_turns_together(void)
{
	check_turns(load, "a/.zgroup", learn);
	check_turns(learn, "a/zarr.json", load);
}

int main(void)
{
	sem_init(&holds, 0, 0);
	sem_init(&let_go, 0, 0);
	RUN(nodes_take_turns);
	RUN(consolidated_metadata_take_turns);
	RUN(both_take_turns_together);
	return EXIT_SUCCESS;
}
