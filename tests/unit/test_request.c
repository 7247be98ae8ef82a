/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "request.h"

/* A job that does what the test tells it, and counts what happens to it. It lives as long
 * as the test: its memory is looked at after done(). */
struct task {
	struct zr_job job; /* first: the queue sees only this */
	struct zr_queue *q;
	atomic_int runs, dones, abandons;
	atomic_bool hold;  /* run() stays inside until this is false */
	bool deaf;         /* even when it was abandoned */
	atomic_int parks;  /* how often run() still answers ZR_JOB_PARK */
	atomic_int inside; /* threads in run() */
	unsigned int usec; /* how long a run takes */
	atomic_int *order; /* counts the jobs that ended */
	int rank;          /* the value of *order when this one ended */
	struct timespec ended;
};

static double seconds_since(const struct timespec *from, const struct timespec *to)
{
	return (double)(to->tv_sec - from->tv_sec) +
	       1e-9 * (double)(to->tv_nsec - from->tv_nsec);
}

static struct timespec now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t;
}

/* Waits for what another thread is about to do; at most ten seconds. */
#define WAIT_FOR(cond)                                                                   \
	do {                                                                             \
		struct timespec from_ = now(), to_;                                      \
		while (!(cond)) {                                                        \
			usleep(200);                                                     \
			to_ = now();                                                     \
			CHECK(seconds_since(&from_, &to_) < 10);                         \
		}                                                                        \
	} while (0)

static enum zr_job_result task_run(struct zr_job *job)
{
	struct task *t = (struct task *)job;

	CHECK(t->dones == 0);
	CHECK_INT(atomic_fetch_add(&t->inside, 1), 0); /* never twice at a time */
	t->runs++;
	if (t->usec)
		usleep(t->usec);
	while (t->hold && (t->deaf || !job->abandoned))
		usleep(200);
	atomic_fetch_sub(&t->inside, 1);
	return t->parks > 0 && t->parks-- > 0 ? ZR_JOB_PARK : ZR_JOB_DONE;
}

static void task_done(struct zr_job *job)
{
	struct task *t = (struct task *)job;

	CHECK_INT(t->inside, 0);
	t->ended = now();
	if (t->order)
		t->rank = ++*t->order;
	CHECK_INT(atomic_fetch_add(&t->dones, 1), 0);
}

static void task_abandon(struct zr_job *job)
{
	struct task *t = (struct task *)job;

	CHECK_INT(t->dones, 0);
	CHECK(job->abandoned);
	CHECK_INT(atomic_fetch_add(&t->abandons, 1), 0);
}

static void task_init(struct task *t, struct zr_queue *q, uint64_t key)
{
	*t = (struct task){.job = {.key = key,
	                           .run = task_run,
	                           .done = task_done,
	                           .abandon = task_abandon},
	                   .q = q};
}

static void task_add(struct task *t, struct zr_queue *q, uint64_t key)
{
	task_init(t, q, key);
	zr_queue_add(q, &t->job);
}

static void job_runs_once_and_ends(void)
{
	struct zr_queue *q = zr_queue_new();
	struct task t;

	CHECK(q);
	task_add(&t, q, 7);
	WAIT_FOR(t.dones == 1);
	zr_queue_free(q);
	CHECK_INT(t.runs, 1);
	CHECK_INT(t.dones, 1);
	CHECK_INT(t.abandons, 0);
}

static void free_takes_null_and_an_idle_queue(void)
{
	zr_queue_free(NULL);
	zr_queue_free(zr_queue_new());
}

static void key_has_few_jobs_running(void)
{
	enum { N = 12 };
	struct zr_queue *q = zr_queue_new();
	struct task t[N];
	int running = 0;

	for (int i = 0; i < N; i++) {
		task_init(&t[i], q, 1);
		t[i].hold = true;
		zr_queue_add(q, &t[i].job);
	}
	WAIT_FOR(t[ZR_KEY_THREADS - 1].runs == 1);
	usleep(20000);
	for (int i = 0; i < N; i++)
		running += t[i].runs;
	CHECK_INT(running, ZR_KEY_THREADS);
	for (int i = 0; i < N; i++)
		t[i].hold = false;
	for (int i = 0; i < N; i++)
		WAIT_FOR(t[i].dones == 1);
	zr_queue_free(q);
}

static void slow_key_does_not_delay_another(void)
{
	enum { N = 100 };
	static struct task slow[N];
	struct zr_queue *q = zr_queue_new();
	struct timespec start, end;
	struct task quick;

	for (int i = 0; i < N; i++) {
		task_init(&slow[i], q, 1);
		slow[i].usec = 20000;
		zr_queue_add(q, &slow[i].job);
	}
	start = now();
	task_add(&quick, q, 2);
	WAIT_FOR(quick.dones == 1);
	end = now();
	CHECK_INT(slow[N - 1].dones, 0);
	/* All of the slow ones take half a second; a busy machine takes its share. */
	CHECK(seconds_since(&start, &end) < 0.25);
	zr_queue_free(q);
	for (int i = 0; i < N; i++)
		CHECK_INT(slow[i].dones, 1);
}

/* While more than half of the threads are busy a key has one of them: so 127 keys with
 * slow jobs leave a thread for the last one, whatever else they have queued. */
static void busy_queue_gives_each_key_one_thread(void)
{
	enum { KEYS = ZR_QUEUE_THREADS - 1, EACH = 3 };
	static struct task slow[EACH][KEYS];
	struct zr_queue *q = zr_queue_new();
	struct task last;
	int running = 0;

	for (int k = 0; k < KEYS; k++) {
		task_init(&slow[0][k], q, 100 + (uint64_t)k);
		slow[0][k].hold = true;
		zr_queue_add(q, &slow[0][k].job);
	}
	for (int k = 0; k < KEYS; k++)
		WAIT_FOR(slow[0][k].runs == 1);
	for (int i = 1; i < EACH; i++)
		for (int k = 0; k < KEYS; k++) {
			task_init(&slow[i][k], q, 100 + (uint64_t)k);
			slow[i][k].hold = true;
			zr_queue_add(q, &slow[i][k].job);
		}
	task_add(&last, q, 1);
	WAIT_FOR(last.dones == 1);
	for (int i = 0; i < EACH; i++)
		for (int k = 0; k < KEYS; k++)
			running += slow[i][k].runs;
	CHECK_INT(running, KEYS);
	zr_queue_free(q);
}

/* With one thread for all (the others are held), keys take turns job by job. */
static void keys_take_turns(void)
{
	enum { HELD = ZR_QUEUE_THREADS - 1, N = 10 };
	static struct task held[HELD], a[N], b[N], c;
	struct zr_queue *q = zr_queue_new();
	atomic_int order = 0;

	for (int i = 0; i < HELD; i++) {
		task_init(&held[i], q, 100 + (uint64_t)i);
		held[i].hold = true;
		zr_queue_add(q, &held[i].job);
	}
	for (int i = 0; i < HELD; i++)
		WAIT_FOR(held[i].runs == 1);
	task_init(&c, q, 3); /* holds the last thread until all are queued */
	c.hold = true;
	zr_queue_add(q, &c.job);
	WAIT_FOR(c.runs == 1);
	for (int i = 0; i < 2 * N; i++) {
		struct task *t = i < N ? &a[i] : &b[i - N];

		task_init(t, q, i < N ? 1 : 2);
		t->order = &order;
		zr_queue_add(q, &t->job);
	}
	c.hold = false;
	for (int i = 0; i < N; i++) {
		WAIT_FOR(a[i].dones == 1 && b[i].dones == 1);
		CHECK_INT(a[i].rank, 2 * i + 1);
		CHECK_INT(b[i].rank, 2 * i + 2);
	}
	zr_queue_free(q);
}

/* The same for keys that have a job running already: with one thread below half of them,
 * one such job at a time is started. */
static void keys_with_a_job_running_take_turns(void)
{
	enum { HELD = ZR_QUEUE_THREADS / 2, N = 5 };
	static struct task held[HELD], a[N], b[N];
	struct zr_queue *q = zr_queue_new();
	atomic_int order = 0;

	for (int i = 0; i < HELD; i++) { /* the first two keep running */
		task_init(&held[i], q, 1 + (uint64_t)i);
		held[i].hold = true;
		zr_queue_add(q, &held[i].job);
	}
	for (int i = 0; i < HELD; i++)
		WAIT_FOR(held[i].runs == 1);
	for (int i = 0; i < 2 * N; i++) {
		struct task *t = i < N ? &a[i] : &b[i - N];

		task_init(t, q, i < N ? 1 : 2);
		t->order = &order;
		zr_queue_add(q, &t->job);
	}
	usleep(2000);
	CHECK_INT(order, 0);
	held[HELD - 1].hold = false;
	for (int i = 0; i < N; i++) {
		WAIT_FOR(a[i].dones == 1 && b[i].dones == 1);
		CHECK_INT(a[i].rank, 2 * i + 1);
		CHECK_INT(b[i].rank, 2 * i + 2);
	}
	zr_queue_free(q);
}

static void parked_job_runs_again_when_woken(void)
{
	struct zr_queue *q = zr_queue_new();
	struct timespec start, end;
	struct task t, other;
	int what = 0, else_ = 0;

	/* Whether the tick or wake() was first shows only in the time: try a few times,
	 * the machine may be busy. */
	for (int i = 0; i < 20; i++) {
		task_init(&other, q, 2);
		other.parks = 1;
		other.job.wait_on = &else_;
		zr_queue_add(q, &other.job);
		task_init(&t, q, 1);
		t.parks = 1;
		t.job.wait_on = &what;
		zr_queue_add(q, &t.job);
		WAIT_FOR(t.runs == 1 && t.inside == 0);
		usleep(1000);
		start = now();
		zr_queue_wake(q, &what);
		WAIT_FOR(t.dones == 1);
		end = now();
		WAIT_FOR(other.dones == 1);
		if (seconds_since(&start, &end) < 0.01 &&
		    seconds_since(&t.ended, &other.ended) > 0.01)
			break;
		CHECK(i < 19);
	}
	zr_queue_free(q);
}

static void parked_job_runs_again_after_the_tick(void)
{
	struct zr_queue *q = zr_queue_new();
	struct timespec start = now(), end;
	struct task t;

	task_init(&t, q, 1);
	t.parks = 2;
	zr_queue_add(q, &t.job);
	WAIT_FOR(t.dones == 1);
	end = now();
	CHECK_INT(t.runs, 3);
	CHECK(seconds_since(&start, &end) > 0.001 * ZR_PARK_TICK);
	zr_queue_free(q);
}

static int woken_inside;

static enum zr_job_result wake_inside_run(struct zr_job *job)
{
	struct task *t = (struct task *)job;

	/* As if another thread had done it: after this run has looked, before it parks.
	 */
	job->wait_on = &woken_inside;
	if (t->runs++ < 50) {
		zr_queue_wake(t->q, &woken_inside);
		return ZR_JOB_PARK;
	}
	return ZR_JOB_DONE;
}

static void wake_during_the_run_is_not_lost(void)
{
	struct zr_queue *q = zr_queue_new();
	struct timespec start = now(), end;
	struct task t;

	task_init(&t, q, 1);
	t.job.run = wake_inside_run;
	zr_queue_add(q, &t.job);
	WAIT_FOR(t.dones == 1);
	end = now();
	/* Fifty ticks would be 2.5 seconds. */
	CHECK(seconds_since(&start, &end) < 1);
	zr_queue_free(q);
}

static void parked_job_leaves_its_thread_to_others(void)
{
	enum { N = 4 * ZR_QUEUE_THREADS };
	static struct task parked[N];
	struct zr_queue *q = zr_queue_new();
	struct task t;

	for (int i = 0; i < N; i++) {
		task_init(&parked[i], q, 5);
		parked[i].parks = 1000000;
		zr_queue_add(q, &parked[i].job);
	}
	for (int i = 0; i < N; i++)
		WAIT_FOR(parked[i].runs > 0);
	task_add(&t, q, 5);
	WAIT_FOR(t.dones == 1);
	zr_queue_free(q);
	for (int i = 0; i < N; i++) {
		CHECK_INT(parked[i].dones, 1);
		CHECK_INT(parked[i].abandons, 1);
	}
}

/* A process that sleeps until it is killed. */
static pid_t start_asker(void)
{
	pid_t pid;

	signal(SIGUSR1, SIG_IGN); /* before the child could get one */
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* when a check fails */
		for (;;)
			pause();
	}
	signal(SIGUSR1, SIG_DFL);
	return pid;
}

static void kill_asker(pid_t pid)
{
	CHECK_INT(kill(pid, SIGKILL), 0);
	CHECK_INT(waitpid(pid, NULL, 0), pid);
}

static void killed_asker_ends_its_jobs_in_any_state(void)
{
	enum { RUNNING = ZR_KEY_THREADS, ALL = RUNNING + 2 };
	struct zr_queue *q = zr_queue_new();
	pid_t asker = start_asker();
	struct task t[ALL];

	/* The first of a key run, the next is queued; the last is parked. */
	for (int i = 0; i < ALL; i++) {
		task_init(&t[i], q, i < ALL - 1 ? 1 : 2);
		t[i].job.tid = asker;
		t[i].hold = t[i].deaf = i < ALL - 1;
		t[i].parks = i < ALL - 1 ? 0 : 1000000;
		zr_queue_add(q, &t[i].job);
		zr_queue_interrupt(q, &t[i].job);
		zr_queue_interrupt(q, &t[i].job);
	}
	WAIT_FOR(t[RUNNING - 1].runs == 1 && t[ALL - 1].runs >= 1);
	/* Alive, stopped, and with signals pending that do not kill: nothing changes. */
	kill(asker, SIGUSR1);
	kill(asker, SIGSTOP);
	CHECK_INT(waitpid(asker, NULL, WUNTRACED), asker);
	kill(asker, SIGTERM);
	usleep(3 * ZR_PARK_TICK * 1000);
	for (int i = 0; i < ALL; i++)
		CHECK_INT(t[i].abandons + t[i].dones, 0);

	kill_asker(asker);
	for (int i = 0; i < ALL; i++)
		WAIT_FOR(t[i].abandons == 1);
	WAIT_FOR(t[RUNNING].dones == 1 && t[ALL - 1].dones == 1);
	CHECK_INT(t[RUNNING].runs, 0);
	for (int i = 0; i < RUNNING; i++) { /* answered, but not over */
		CHECK_INT(t[i].dones, 0);
		t[i].hold = false;
	}
	for (int i = 0; i < RUNNING; i++)
		WAIT_FOR(t[i].dones == 1);
	zr_queue_free(q);
}

static void asker_is_not_looked_at_without_an_interrupt(void)
{
	struct zr_queue *q = zr_queue_new();
	pid_t asker = start_asker();
	struct task t, before, nobody;

	task_init(&t, q, 1);
	t.job.tid = asker;
	t.hold = true;
	task_init(&nobody, q, 2); /* no asker that could be gone */
	nobody.hold = true;
	zr_queue_add(q, &nobody.job);
	zr_queue_interrupt(q, &nobody.job);
	task_init(&before, q, 3); /* interrupted before it is added */
	before.job.tid = asker;
	before.hold = true;
	zr_queue_interrupt(q, &before.job);

	kill_asker(asker);
	zr_queue_add(q, &t.job);
	zr_queue_add(q, &before.job);
	WAIT_FOR(before.dones == 1);
	CHECK_INT(before.abandons, 1);
	usleep(ZR_PARK_TICK * 1000);
	CHECK_INT(t.abandons, 0);
	CHECK_INT(nobody.abandons, 0);
	zr_queue_free(q);
	CHECK_INT(t.abandons, 1);
	CHECK_INT(nobody.abandons, 1);
}

static struct task added_late;

static void add_another(struct zr_job *job)
{
	struct task *t = (struct task *)job;

	task_add(&added_late, t->q, 9);
	task_done(job);
}

static void free_abandons_jobs_in_every_state(void)
{
	enum { N = ZR_KEY_THREADS + 20 };
	struct zr_queue *q = zr_queue_new();
	struct task t[N], parked, bare;

	for (int i = 0; i < N; i++) {
		task_init(&t[i], q, 1);
		t[i].hold = true;
		if (i == 0) /* adds one while the queue is being freed */
			t[i].job.done = add_another;
		zr_queue_add(q, &t[i].job);
	}
	task_init(&parked, q, 2);
	parked.parks = 1000000;
	zr_queue_add(q, &parked.job);
	task_init(&bare, q, 3);
	bare.job.abandon = NULL;
	bare.hold = true;
	zr_queue_add(q, &bare.job);
	WAIT_FOR(t[ZR_KEY_THREADS - 1].runs && parked.runs && bare.runs);

	zr_queue_free(q);
	for (int i = 0; i < N; i++) {
		CHECK_INT(t[i].dones, 1);
		CHECK_INT(t[i].abandons, 1);
		CHECK_INT(t[i].runs, i < ZR_KEY_THREADS);
	}
	CHECK_INT(parked.dones, 1);
	CHECK_INT(parked.abandons, 1);
	CHECK_INT(bare.dones, 1);
	CHECK_INT(added_late.dones, 1);
	CHECK_INT(added_late.abandons, 1);
	CHECK_INT(added_late.runs, 0);
}

static unsigned long long blocked_signals(const char *status)
{
	unsigned long long mask = 0;
	char line[256];
	FILE *f = fopen(status, "r");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "SigBlk: %llx", &mask) == 1)
			break;
	if (f)
		fclose(f);
	return mask;
}

/* Threads that leave signals alone, but for those of a crash: whoever has a handler for
 * one is to report it. */
static int quiet_threads(void)
{
	glob_t found;
	int n = 0;

	CHECK_INT(glob("/proc/self/task/*/status", 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		unsigned long long mask = blocked_signals(found.gl_pathv[i]);

		n += (mask >> (SIGTERM - 1) & 1) && !(mask >> (SIGSEGV - 1) & 1);
	}
	globfree(&found);
	return n;
}

static void threads_have_signals_blocked(void)
{
	int before = quiet_threads(); /* an emulator's */
	struct zr_queue *q;
	char self[64];
	struct task t;

	/* A thread that was joined may still be seen for a moment. */
	for (int i = 0; i < 20; i++, usleep(1000))
		before = ZR_MIN(before, quiet_threads());
	q = zr_queue_new();
	task_add(&t, q, 1);
	WAIT_FOR(t.dones == 1);
	snprintf(self, sizeof(self), "/proc/self/task/%d/status", (int)getpid());
	CHECK_INT(blocked_signals(self) >> (SIGTERM - 1) & 1, 0);
	/* A thread that begins has everything blocked for a moment. */
	WAIT_FOR(quiet_threads() - before == 2);
	zr_queue_free(q);
}

/* Four threads add, wake and interrupt; every job ends once. */
enum { HAMMER_THREADS = 4, HAMMER_JOBS = 400 };

struct hammer {
	struct zr_queue *q;
	pid_t asker; /* gone */
	unsigned int seed;
	struct task t[HAMMER_JOBS];
	atomic_int freed;
};

/* A job that is freed at once, so that a look at it afterwards is found. */
struct fleeting {
	struct zr_job job;
	struct hammer *h;
	int parks;
};

static enum zr_job_result fleeting_run(struct zr_job *job)
{
	struct fleeting *f = (struct fleeting *)job;

	zr_queue_interrupt(f->h->q, job);
	job->wait_on = &f->h->t[f->parks];
	return f->parks-- > 0 ? ZR_JOB_PARK : ZR_JOB_DONE;
}

static void fleeting_abandon(struct zr_job *job)
{
	CHECK(job->abandoned);
}

static void fleeting_done(struct zr_job *job)
{
	((struct fleeting *)job)->h->freed++;
	free(job);
}

static void add_fleeting(struct hammer *h)
{
	struct fleeting *f = calloc(1, sizeof(*f));

	CHECK(f);
	f->h = h;
	f->parks = rand_r(&h->seed) % 4;
	f->job.key = (uint64_t)rand_r(&h->seed) % 20;
	f->job.run = fleeting_run;
	f->job.done = fleeting_done;
	f->job.abandon = fleeting_abandon;
	f->job.tid = rand_r(&h->seed) % 2 ? h->asker : getpid();
	if (rand_r(&h->seed) % 2)
		zr_queue_interrupt(h->q, &f->job);
	zr_queue_add(h->q, &f->job);
}

static void *hammer_thread(void *arg)
{
	struct hammer *h = arg;

	for (int i = 0; i < HAMMER_JOBS; i++) {
		struct task *t = &h->t[i];

		task_init(t, h->q, (uint64_t)rand_r(&h->seed) % 20);
		t->parks = rand_r(&h->seed) % 4;
		t->job.wait_on = &h->t[i % 8];
		t->job.tid = rand_r(&h->seed) % 2 ? h->asker : getpid();
		if (i % 16 == 0)
			zr_queue_interrupt(h->q, &t->job);
		t->usec = rand_r(&h->seed) % 8 ? 0 : 200;
		zr_queue_add(h->q, &t->job);
		add_fleeting(h);
		zr_queue_wake(h->q, &h->t[rand_r(&h->seed) % 8]);
		if (i % 3 == 0)
			zr_queue_interrupt(h->q, &t->job);
	}
	return NULL;
}

static void hammered_queue_ends_every_job_once(void)
{
	static struct hammer h[HAMMER_THREADS];
	struct zr_queue *q = zr_queue_new();
	pthread_t thread[HAMMER_THREADS];
	pid_t asker = start_asker();

	kill_asker(asker);
	for (int i = 0; i < HAMMER_THREADS; i++) {
		h[i].q = q;
		h[i].asker = asker;
		h[i].seed = (unsigned int)i;
		CHECK_INT(pthread_create(&thread[i], NULL, hammer_thread, &h[i]), 0);
	}
	for (int i = 0; i < HAMMER_THREADS; i++)
		CHECK_INT(pthread_join(thread[i], NULL), 0);
	usleep(ZR_PARK_TICK * 1000);
	zr_queue_free(q);
	for (int i = 0; i < HAMMER_THREADS; i++) {
		CHECK_INT(h[i].freed, HAMMER_JOBS);
		for (int k = 0; k < HAMMER_JOBS; k++)
			CHECK_INT(h[i].t[k].dones, 1);
	}
}

int main(void)
{
	RUN(job_runs_once_and_ends);
	RUN(free_takes_null_and_an_idle_queue);
	RUN(key_has_few_jobs_running);
	RUN(slow_key_does_not_delay_another);
	RUN(busy_queue_gives_each_key_one_thread);
	RUN(keys_take_turns);
	RUN(keys_with_a_job_running_take_turns);
	RUN(parked_job_runs_again_when_woken);
	RUN(parked_job_runs_again_after_the_tick);
	RUN(wake_during_the_run_is_not_lost);
	RUN(parked_job_leaves_its_thread_to_others);
	RUN(killed_asker_ends_its_jobs_in_any_state);
	RUN(asker_is_not_looked_at_without_an_interrupt);
	RUN(free_abandons_jobs_in_every_state);
	RUN(threads_have_signals_blocked);
	RUN(hammered_queue_ends_every_job_once);
	return EXIT_SUCCESS;
}
