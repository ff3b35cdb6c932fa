/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/scheduler/memory_testing.h: jobs of which some asking for memory finds none. Who waits for them asks for none
 * itself, unless it says so: else it may be the one that is met. */
#include "tests/support/memory_faults.h"
#include "tests/unit/scheduler/scheduler_testing.h"

/* What was missed is looked for a second later, or when the engine is asked again. */
static inline void time_pass(struct bench *bench)
{
	clock_step(bench, INT64_C(500000000));
}

static inline void quiet_await(struct bench *bench)
{
	for (int i = 0; i < WAIT_MS; i++) {
		if (scheduler_wait_idle(bench->scheduler, 1))
			return;
		time_pass(bench);
	}
	fail_msg("it never had nothing left to do");
}

/* Lets one asking fail, counted from the next time that something is done. */
struct trap {
	const char *event; /* an operation that the engine is asked for, or what else the test can meet */
	unsigned asking;   /* 0: not set */
};

/* May be what fake_engine_on_call() calls. */
static inline void trap_spring(void *arg, const char *event)
{
	struct trap *trap = arg;

	if (!trap->asking || strcmp(event, trap->event) != 0)
		return;
	memory_faults_begin(trap->asking, 1);
	trap->asking = 0;
}

/* One after the other, each with another asking that finds none, until one has met none: each of the first, among which
 * is what the test is about, then ever fewer of those behind. */
static inline void lives_sweep(struct bench *bench, const void *life,
			       bool (*lead)(struct bench *bench, const void *life, unsigned number))
{
	enum { FIRST = 64, MOST = 4000 };
	unsigned number = 1;

	while (lead(bench, life, number) && number < MOST)
		number += 1 + number / FIRST;
	assert_in_range(number, FIRST, MOST - 1);
}

static inline char *life_id(unsigned number, char ret_job_id[32])
{
	snprintf(ret_job_id, 32, "life%u", number);
	return ret_job_id;
}
