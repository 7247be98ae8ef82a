/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <unistd.h>

#include "request.h"

struct zr_gate {
	sem_t slots;
	sem_t decoding;
};

/* The cores that this process may use: a container or taskset may allow fewer than the
 * machine has. The set is too small for a machine of more than 1024; then count all. */
static unsigned int gate_cores(void)
{
	cpu_set_t set;
	long n;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		n = CPU_COUNT(&set);
	else
		n = sysconf(_SC_NPROCESSORS_ONLN);
	return n > 0 ? (unsigned int)n : 1;
}

struct zr_gate *zr_gate_new(unsigned int width)
{
	struct zr_gate *g = malloc(sizeof(*g));

	if (!g)
		return NULL;
	width = width ? width : gate_cores();
	if (sem_init(&g->slots, 0, width) < 0 || sem_init(&g->decoding, 0, width) < 0) {
		free(g);
		return NULL;
	}
	return g;
}

void zr_gate_free(struct zr_gate *g)
{
	if (!g)
		return;
	sem_destroy(&g->slots);
	sem_destroy(&g->decoding);
	free(g);
}

static void gate_wait(sem_t *slots)
{
	while (sem_wait(slots) < 0 && errno == EINTR)
		;
}

void zr_gate_enter(struct zr_gate *g)
{
	gate_wait(&g->slots);
}

void zr_gate_leave(struct zr_gate *g)
{
	sem_post(&g->slots);
}

void zr_gate_enter_decoding(struct zr_gate *g)
{
	gate_wait(&g->decoding);
}

void zr_gate_leave_decoding(struct zr_gate *g)
{
	sem_post(&g->decoding);
}
