/* SPDX-License-Identifier: MIT */
#include "sizes.h"

#include "array_case.h"
#include "sizes_impl.h"

/* --- a store that can be held up ------------------------------------------------------
 */

static pthread_mutex_t hold_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t hold_changed = PTHREAD_COND_INITIALIZER;
static const char *held_key; /* reading it, or listing it, waits as long as it is so; with
                              * a slash at its end: whatever lies below */
static unsigned int waiting;

static void hold(const char *key)
{
	pthread_mutex_lock(&hold_lock);
	held_key = key;
	pthread_cond_broadcast(&hold_changed);
	pthread_mutex_unlock(&hold_lock);
}

static bool is_held(const char *key)
{
	size_t len = held_key ? strlen(held_key) : 0;

	if (len > 0 && held_key[len - 1] == '/')
		return strncmp(held_key, key, len) == 0;
	return len > 0 && strcmp(held_key, key) == 0;
}

static void hold_pass(const char *key)
{
	pthread_mutex_lock(&hold_lock);
	while (is_held(key)) {
		waiting++;
		pthread_cond_broadcast(&hold_changed);
		pthread_cond_wait(&hold_changed, &hold_lock);
		waiting--;
	}
	pthread_mutex_unlock(&hold_lock);
}

static void wait_until_held(void)
{
	pthread_mutex_lock(&hold_lock);
	while (waiting == 0)
		pthread_cond_wait(&hold_changed, &hold_lock);
	pthread_mutex_unlock(&hold_lock);
}

static int held_get(struct zr_store *s, const char *key, uint64_t max, struct zr_buf *ret,
                    struct zr_err *reterr)
{
	hold_pass(key);
	return fake_get(s, key, max, ret, reterr);
}

static int held_list(struct zr_store *s, const char *key, struct zr_dirlist *ret,
                     struct zr_err *reterr)
{
	hold_pass(key);
	return fake_list(s, key, ret, reterr);
}

static const struct zr_store_ops held_ops = {.get = held_get,
                                             .get_range = fake_get_range,
                                             .stat = fake_stat,
                                             .list = held_list,
                                             .free = fake_free};

/* 10 chunks of 5 records; nothing stays in the cache. */
static const struct case_spec ten = {"[50]", "[5]", NULL, NULL, .budget = 1};

/* Nobody has read the names. */
static struct array_case *ten_chunks_unlisted(void)
{
	struct array_case *c = case_new(&ten);

	c->store.base.ops = &held_ops;
	return c;
}

/* All files are measured together. */
static struct array_case *ten_chunks(unsigned int wait)
{
	struct array_case *c = ten_chunks_unlisted();

	c->sizes->size_wait = wait;
	zr_sizes_expect(c->sizes);
	return c;
}

static int size_of(struct array_case *c, uint32_t file, uint64_t *ret)
{
	struct zr_ticket ticket = {0};
	int r;

	while ((r = zr_sizes_get(c->sizes, file, &ticket, ret)) == -EINPROGRESS)
		usleep(200);
	return r;
}

/* --- one pass -------------------------------------------------------------------------
 */

static void *ask_for_all(void *arg)
{
	struct array_case *c = arg;
	uint64_t size;

	for (uint32_t f = 0; f < FILE_CSV; f++) {
		CHECK_INT(size_of(c, f, &size), 0);
		CHECK_INT(size, c->file[f].want.len);
	}
	return NULL;
}

static void one_pass_serves_all_files_and_askers(void)
{
	struct array_case *c = ten_chunks(60);
	pthread_t thread[16];

	for (size_t i = 0; i < ZR_COUNT(thread); i++)
		CHECK_INT(pthread_create(&thread[i], NULL, ask_for_all, c), 0);
	for (size_t i = 0; i < ZR_COUNT(thread); i++)
		pthread_join(thread[i], NULL);
	CHECK_INT(c->store.gets, 10);
	CHECK_INT(c->store.lists, 1);
	CHECK(zr_sizes_known(c->sizes));
	CHECK(zr_sizes_bytes(c->sizes) > sizeof(struct zr_sizes));
	case_free(c);
}

/* --- one file alone -------------------------------------------------------------------
 */

/* The chunk that a pass has read last is in the cache until the next one is. Which one
 * that is depends on its threads. */
static void forget_the_last_chunk(struct array_case *c)
{
	zr_cache_forget(c->cache, c->source.owner);
}

static void the_first_files_have_their_own_pass_and_the_next_one_is_for_all(void)
{
	static const uint32_t first[ZR_SOLOS] = {FILE_S, FILE_JSON, FILE_Q};
	struct array_case *c = ten_chunks_unlisted();
	struct zr_shown shown[ZR_SOLOS];
	uint64_t size, record, offset;

	CHECK_INT(zr_sizes_shown(c->sizes, shown), 0);
	for (unsigned int i = 0; i < ZR_SOLOS; i++) {
		forget_the_last_chunk(c);
		CHECK_INT(size_of(c, first[i], &size), 0);
		CHECK_INT(size, c->file[first[i]].want.len);
		CHECK_INT(c->store.gets, 10 * (i + 1));
		CHECK(!zr_sizes_known(c->sizes));
		CHECK(!zr_sizes_peek(c->sizes, FILE_A, &size));
		CHECK_INT(zr_sizes_shown(c->sizes, shown), i + 1);
		CHECK_INT(shown[0].file, first[i]);
		CHECK_INT(shown[0].size, c->file[first[i]].want.len);
		CHECK_INT(size_of(c, first[0], &size), 0);
		CHECK_INT(size, c->file[first[0]].want.len);
		CHECK(zr_sizes_peek_locate(c->sizes, first[i], 0, &record, &offset));
	}
	forget_the_last_chunk(c);
	ask_for_all(c);
	CHECK_INT(c->store.gets, 10 * (ZR_SOLOS + 1));
	CHECK(zr_sizes_known(c->sizes));
	case_free(c);
}

static void who_asks_for_sizes_and_reads_nothing_wants_them_all(void)
{
	struct array_case *c = ten_chunks_unlisted();
	uint64_t size;

	CHECK_INT(size_of(c, 0, &size), 0); /* alone */
	forget_the_last_chunk(c);
	ask_for_all(c);
	CHECK_INT(c->store.gets, 20);
	CHECK(zr_sizes_known(c->sizes));
	case_free(c);
}

static void while_its_pass_runs_another_file_is_not_kept_waiting(void)
{
	struct array_case *c = ten_chunks_unlisted();
	struct zr_ticket ticket = {0};
	uint64_t size;

	hold("a/c/9");
	CHECK_INT(zr_sizes_get(c->sizes, FILE_A, &ticket, &size), -EINPROGRESS);
	wait_until_held();
	CHECK(zr_sizes_busy(c->sizes));
	hold(NULL);
	CHECK_INT(size_of(c, FILE_JSON, &size), 0);
	CHECK_INT(size, c->file[FILE_JSON].want.len);
	CHECK_INT(size_of(c, FILE_A, &size), 0);
	CHECK_INT(size, c->file[FILE_A].want.len);
	case_free(c);
}

static void a_size_that_was_shown_stays_whatever_the_pass_over_all_finds(void)
{
	struct array_case *c = ten_chunks_unlisted();
	uint64_t size;

	zr_sizes_show(c->sizes, FILE_S, 5);
	zr_sizes_expect(c->sizes);
	CHECK(zr_sizes_peek(c->sizes, FILE_S, &size));
	CHECK_INT(size, 5);
	CHECK(!zr_sizes_peek(c->sizes, FILE_A, &size));
	CHECK_INT(size_of(c, FILE_A, &size), 0);
	CHECK_INT(size, c->file[FILE_A].want.len);
	CHECK_INT(size_of(c, FILE_S, &size), 0);
	CHECK_INT(size, 5);
	CHECK_INT(zr_sizes_known(c->sizes)[FILE_S], 5);
	case_free(c);
}

static enum cell_state never(const uint64_t at[CASE_DIMS])
{
	(void)at;
	return MISSING;
}

static void what_was_never_written_is_not_read(void)
{
	static const struct case_spec spec = {"[50,60]", "[1,10]", NULL, never,
	                                      .budget = 0};
	struct array_case *c = case_new(&spec);
	uint64_t size;

	for (uint32_t f = 0; f < FILE_CSV; f++) {
		CHECK_INT(size_of(c, f, &size), 0);
		CHECK_INT(size, c->file[f].want.len);
	}
	CHECK_INT(c->store.gets, 0);
	case_free(c);
}

static void a_text_of_more_than_2_to_the_62_bytes_has_no_size(void)
{
	static const struct case_spec spec = {"[1152921504606846976]", "[1000]", NULL,
	                                      NULL, .budget = 0};
	struct array_case *c = calloc(1, sizeof(*c));
	uint64_t size = 77;

	CHECK(c);
	c->spec = &spec;
	c->store = (struct fake_store){.base = {.ops = &fake_ops, .refs = 1},
	                               .objects = c->objects};
	c->meta = parse_v3((struct doc_v3){
		.shape = spec.shape, .chunks = spec.chunks, .fill = "255"});
	case_open(c);
	CHECK_INT(size_of(c, 0, &size), -EOVERFLOW);
	CHECK(!zr_sizes_peek(c->sizes, 0, &size));
	CHECK_INT(size, 77);
	case_free(c);
}

static void sizes_of_an_earlier_pass_are_taken_over(void)
{
	static const uint64_t known[FILE_CSV + 1] = {11, 12, 13, 14, 15, 16};
	static const bool indexed[FILE_CSV + 1] = {0};
	struct array_case *c = ten_chunks(60);
	uint64_t size;

	zr_sizes_free(c->sizes);
	c->sizes = zr_sizes_new(&c->source, c->measure, indexed, c->queue, 60, known);
	CHECK(c->sizes);
	for (uint32_t f = 0; f <= FILE_CSV; f++) {
		CHECK(zr_sizes_peek(c->sizes, f, &size));
		CHECK_INT(size, 11 + f);
	}
	CHECK_INT(c->store.gets, 0);
	case_free(c);
}

/* --- waiting --------------------------------------------------------------------------
 */

static void what_is_measured_is_known_before_the_rest(void)
{
	struct array_case *c = ten_chunks(60);
	uint64_t size, record, offset, middle = c->file[FILE_A].want.len / 2;
	struct zr_ticket ticket = {0};

	hold("a/c/6");
	CHECK_INT(zr_sizes_get(c->sizes, 0, &ticket, &size), -EINPROGRESS);
	wait_until_held();
	CHECK(!zr_sizes_peek(c->sizes, 0, &size));
	CHECK(zr_sizes_busy(c->sizes));
	/* All lies in one block, which is known only as a whole. */
	CHECK_INT(zr_sizes_locate(c->sizes, 0, middle, &ticket, &record, &offset),
	          -EINPROGRESS);
	hold(NULL);
	CHECK_INT(size_of(c, 0, &size), 0);
	CHECK_INT(size, c->file[FILE_A].want.len);
	CHECK_INT(zr_sizes_locate(c->sizes, 0, middle, &ticket, &record, &offset), 0);
	CHECK(offset <= middle);
	case_free(c);
}

static void a_wait_is_bounded_and_the_pass_goes_on(void)
{
	struct array_case *c = ten_chunks(0);
	struct zr_ticket ticket = {0}, other = {0};
	uint64_t size;

	hold("a/c/3");
	CHECK_INT(zr_sizes_get(c->sizes, 0, &ticket, &size), -EINPROGRESS);
	wait_until_held();
	CHECK_INT(zr_sizes_get(c->sizes, 0, &ticket, &size), -ETIMEDOUT);
	CHECK_INT(zr_sizes_get(c->sizes, 0, &other, &size), -ETIMEDOUT);
	hold(NULL);
	while (!zr_sizes_peek(c->sizes, 0, &size))
		usleep(200);
	CHECK_INT(size, c->file[FILE_A].want.len);
	CHECK_INT(c->store.gets, 10);
	case_free(c);
}

static void when_the_time_is_over_it_pauses_and_resumes_for_who_asks(void)
{
	struct array_case *c = ten_chunks(60);
	struct zr_ticket ticket = {0};
	uint64_t size;

	hold("a/c/"); /* all jobs: none may come to the last chunk before its time is over
	               */
	CHECK_INT(zr_sizes_get(c->sizes, 0, &ticket, &size), -EINPROGRESS);
	wait_until_held();
	pthread_mutex_lock(&c->sizes->lock);
	c->sizes->stops = 0;
	pthread_mutex_unlock(&c->sizes->lock);
	hold(NULL);
	while (zr_sizes_busy(c->sizes))
		usleep(200);
	/* Whoever waited in that window is told; the next one gets a new window. */
	CHECK_INT(zr_sizes_get(c->sizes, 0, &ticket, &size), -ETIMEDOUT);
	CHECK_INT(size_of(c, 0, &size), 0);
	CHECK_INT(size, c->file[FILE_A].want.len);
	CHECK_INT(c->store.gets, 10); /* nothing was measured again */
	case_free(c);
}

/* Nobody who only looks, or reads what is known, waits for the listing of directories. */
static void no_lock_is_held_while_the_store_is_listed(void)
{
	struct array_case *c = ten_chunks(60);
	struct zr_ticket ticket = {0};
	uint64_t size, left, record, offset;
	uint8_t out[10];
	size_t len;

	hold("a/c");
	CHECK_INT(zr_sizes_get(c->sizes, 0, &ticket, &size), -EINPROGRESS);
	wait_until_held();
	CHECK(!zr_sizes_peek(c->sizes, 0, &size));
	CHECK(!zr_sizes_peek_locate(c->sizes, 0, 5, &record, &offset));
	CHECK(zr_sizes_agree(c->sizes, 0, 0, 0, &left));
	CHECK(zr_sizes_busy(c->sizes));
	CHECK(zr_sizes_bytes(c->sizes) > 0);
	CHECK_INT(case_read(c->file[FILE_A].view, 0, 10, out, &len), 0);
	CHECK_MEM(out, len, c->file[FILE_A].want.data, 10);
	hold(NULL);
	CHECK_INT(size_of(c, 0, &size), 0);
	case_free(c);
}

/* --- failing --------------------------------------------------------------------------
 */

/* The other jobs of a pass go on for a moment after the one that has failed. */
static void until_idle(struct array_case *c)
{
	while (zr_sizes_busy(c->sizes))
		usleep(200);
}

static void a_chunk_that_cannot_be_read_is_tried_again(void)
{
	struct array_case *c = ten_chunks(60);
	unsigned int failing = 0;
	uint64_t size;

	/* All at once: the jobs of a pass run ahead of one another. */
	for (size_t i = 1; i < c->store.count; i += 4)
		c->objects[i].fail = -EACCES;
	for (size_t i = 1; i < c->store.count; i += 4) {
		CHECK_INT(size_of(c, FILE_JSON, &size), -EIO);
		CHECK(!zr_sizes_peek(c->sizes, 0, &size));
		until_idle(c);
		c->objects[i].fail = 0;
		failing++;
	}
	CHECK_INT(size_of(c, FILE_JSON, &size), 0);
	CHECK_INT(size, c->file[FILE_JSON].want.len);
	/* What was measured stays so: each chunk once, those that fail once a window
	 * more. */
	CHECK(c->store.gets >= 10 + (int)failing);
	CHECK(c->store.gets <= 10 + (int)(failing * failing));
	case_free(c);
}

static void a_store_that_cannot_be_listed_is_asked_again(void)
{
	struct array_case *c = ten_chunks(60);
	uint64_t size;

	c->store.fail_all = -EIO;
	CHECK_INT(size_of(c, 0, &size), -EIO);
	CHECK_INT(size_of(c, 0, &size), -EIO);
	until_idle(c);
	c->store.fail_all = 0;
	CHECK_INT(size_of(c, 0, &size), 0);
	CHECK_INT(size, c->file[FILE_A].want.len);
	case_free(c);
}

/* --- stopping -------------------------------------------------------------------------
 */

struct late {
	struct zr_job job;
	struct array_case *c;
	atomic_bool runs;
	int result;
};

static enum zr_job_result ask_when_abandoned(struct zr_job *job)
{
	struct late *l = (struct late *)job;
	struct zr_ticket ticket = {0};
	uint64_t size;

	l->runs = true;
	while (!atomic_load(&job->abandoned))
		usleep(100);
	l->result = zr_sizes_get(l->c->sizes, 0, &ticket, &size);
	return ZR_JOB_DONE;
}

static void do_nothing(struct zr_job *job)
{
	(void)job;
}

/* Jobs that are added to a queue that is being stopped are answered at once. */
static void a_pass_that_begins_while_all_is_stopped_hangs_nobody(void)
{
	struct array_case *c = ten_chunks(60);
	struct late l = {.job = {.run = ask_when_abandoned, .done = do_nothing}, .c = c};

	zr_queue_add(c->queue, &l.job);
	while (!l.runs)
		usleep(100);
	zr_queue_free(ZR_TAKE(c->queue));
	CHECK_INT(l.result, -EINPROGRESS);
	CHECK(!zr_sizes_busy(c->sizes));
	case_free(c);
}

static void *let_go_later(void *arg)
{
	(void)arg;
	usleep(2000);
	hold(NULL);
	return NULL;
}

static void a_pass_that_runs_is_stopped(void)
{
	static const char *const where[] = {"a/c", "a/c/0", "a/c/9"};

	for (size_t i = 0; i < ZR_COUNT(where); i++) {
		struct array_case *c = ten_chunks(60);
		struct zr_ticket ticket = {0};
		pthread_t thread;
		uint64_t size;

		hold(where[i]);
		CHECK_INT(zr_sizes_get(c->sizes, 0, &ticket, &size), -EINPROGRESS);
		wait_until_held();
		CHECK_INT(pthread_create(&thread, NULL, let_go_later, NULL), 0);
		zr_queue_free(ZR_TAKE(c->queue));
		pthread_join(thread, NULL);
		CHECK(!zr_sizes_busy(c->sizes));
		case_free(c);
	}
}

/* As the tree does with documents that were not used for long. */
static void sizes_may_be_freed_as_soon_as_no_job_is_left(void)
{
	for (int i = 0; i < 100; i++) {
		struct array_case *c = ten_chunks(60);
		struct zr_ticket ticket = {0};
		uint64_t size;

		CHECK_INT(zr_sizes_get(c->sizes, 0, &ticket, &size), -EINPROGRESS);
		while (zr_sizes_busy(c->sizes))
			;
		zr_sizes_free(ZR_TAKE(c->sizes));
		case_free(c);
	}
}

int main(void)
{
	CHECK_INT(zr_log_to_file("/dev/null"), 0);
	RUN(one_pass_serves_all_files_and_askers);
	RUN(the_first_files_have_their_own_pass_and_the_next_one_is_for_all);
	RUN(who_asks_for_sizes_and_reads_nothing_wants_them_all);
	RUN(while_its_pass_runs_another_file_is_not_kept_waiting);
	RUN(a_size_that_was_shown_stays_whatever_the_pass_over_all_finds);
	RUN(what_was_never_written_is_not_read);
	RUN(a_text_of_more_than_2_to_the_62_bytes_has_no_size);
	RUN(sizes_of_an_earlier_pass_are_taken_over);
	RUN(what_is_measured_is_known_before_the_rest);
	RUN(a_wait_is_bounded_and_the_pass_goes_on);
	RUN(when_the_time_is_over_it_pauses_and_resumes_for_who_asks);
	RUN(no_lock_is_held_while_the_store_is_listed);
	RUN(a_chunk_that_cannot_be_read_is_tried_again);
	RUN(a_store_that_cannot_be_listed_is_asked_again);
	RUN(a_pass_that_begins_while_all_is_stopped_hangs_nobody);
	RUN(a_pass_that_runs_is_stopped);
	RUN(sizes_may_be_freed_as_soon_as_no_job_is_left);
	return EXIT_SUCCESS;
}
