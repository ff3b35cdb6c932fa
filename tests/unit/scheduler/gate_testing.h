/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/scheduler/gate_testing.h: suggestions that take as long as a test wants: while the gate is closed, a call
 * that makes one waits at it, until its result is no longer wanted. */
#include <pthread.h>
#include <time.h>

#include "scheduler/tuning/study.h"

static struct {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	bool open;
	unsigned standing, passed;
} gate = { .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .open = true };

static inline void gate_set(bool open)
{
	pthread_mutex_lock(&gate.mutex);
	gate.open = open;
	pthread_cond_broadcast(&gate.changed);
	pthread_mutex_unlock(&gate.mutex);
}

/* Waits until a call waits at the gate. */
static inline void gate_await(void)
{
	pthread_mutex_lock(&gate.mutex);
	while (!gate.standing)
		pthread_cond_wait(&gate.changed, &gate.mutex);
	pthread_mutex_unlock(&gate.mutex);
}

/* The number of calls that have passed the gate. */
static inline __attribute__((unused)) unsigned gate_passed(void)
{
	unsigned passed;

	pthread_mutex_lock(&gate.mutex);
	passed = gate.passed;
	pthread_mutex_unlock(&gate.mutex);
	return passed;
}

/* A suggest_function. The end of a request is not signalled, so it is polled. */
static inline enum status gate_suggest(const struct study *study, const struct trial *trials,
				       size_t trial_count, size_t count, const atomic_bool *ended,
				       double *const *ret_values, size_t *ret_count, struct error *err)
{
	pthread_mutex_lock(&gate.mutex);
	gate.standing++;
	pthread_cond_broadcast(&gate.changed);
	while (!gate.open && !atomic_load(ended)) {
		struct timespec soon;

		clock_gettime(CLOCK_REALTIME, &soon);
		soon.tv_nsec += 1000000;
		soon.tv_sec += soon.tv_nsec / 1000000000;
		soon.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&gate.changed, &gate.mutex, &soon);
	}
	gate.standing--;
	gate.passed++;
	pthread_mutex_unlock(&gate.mutex);
	return study_suggest(study, trials, trial_count, count, ended, ret_values, ret_count, err);
}
