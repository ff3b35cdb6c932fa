/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/scheduler/gate_testing.h: suggestions that take as long as a test wants: while the gate is shut, a caller that is
 * to make one stands before it, until nobody waits for it any more. */
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

/* Until somebody stands before it. */
static inline void gate_await(void)
{
	pthread_mutex_lock(&gate.mutex);
	while (!gate.standing)
		pthread_cond_wait(&gate.changed, &gate.mutex);
	pthread_mutex_unlock(&gate.mutex);
}

/* How many have been through. */
static inline __attribute__((unused)) unsigned gate_passed(void)
{
	unsigned passed;

	pthread_mutex_lock(&gate.mutex);
	passed = gate.passed;
	pthread_mutex_unlock(&gate.mutex);
	return passed;
}

/* A suggest_function. Nobody signals that it is ended, so it is asked again and again. */
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
