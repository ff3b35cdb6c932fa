/* SPDX-License-Identifier: Apache-2.0 */
#include "store/job_changes.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "daemon/base/clock.h"
#include "daemon/base/memory.h"

struct job_changes {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t last;
	uint64_t lost;                  /* changes up to this number are no longer known */
	int64_t jobs[JOB_CHANGES_KEPT]; /* the job of change N is at N % JOB_CHANGES_KEPT */
};

struct job_changes *job_changes_new(void)
{
	struct job_changes *changes = memory_calloc(1, sizeof(*changes));
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&changes->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	pthread_mutex_init(&changes->lock, NULL);
	return changes;
}

void job_changes_free(struct job_changes *changes)
{
	if (!changes)
		return;
	pthread_cond_destroy(&changes->changed);
	pthread_mutex_destroy(&changes->lock);
	free(changes);
}

void job_changes_add(struct job_changes *changes, int64_t job)
{
	pthread_mutex_lock(&changes->lock);
	changes->last++;
	changes->jobs[changes->last % JOB_CHANGES_KEPT] = job;
	if (changes->last > changes->lost + JOB_CHANGES_KEPT)
		changes->lost = changes->last - JOB_CHANGES_KEPT;
	pthread_cond_broadcast(&changes->changed);
	pthread_mutex_unlock(&changes->lock);
}

void job_changes_lose(struct job_changes *changes)
{
	pthread_mutex_lock(&changes->lock);
	changes->lost = ++changes->last;
	pthread_cond_broadcast(&changes->changed);
	pthread_mutex_unlock(&changes->lock);
}

uint64_t job_changes_last(struct job_changes *changes)
{
	uint64_t last;

	pthread_mutex_lock(&changes->lock);
	last = changes->last;
	pthread_mutex_unlock(&changes->lock);
	return last;
}

static int number_compare(const void *left, const void *right)
{
	const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

bool job_changes_read(struct job_changes *changes, uint64_t after, int64_t *jobs, size_t *ret_count,
		      uint64_t *ret_last)
{
	size_t count = 0, kept = 0;
	bool known;

	pthread_mutex_lock(&changes->lock);
	known = after >= changes->lost && after <= changes->last;
	for (uint64_t number = after + 1; known && number <= changes->last; number++)
		jobs[count++] = changes->jobs[number % JOB_CHANGES_KEPT];
	*ret_last = changes->last;
	pthread_mutex_unlock(&changes->lock);
	qsort(jobs, count, sizeof(*jobs), number_compare);
	for (size_t i = 0; i < count; i++)
		if (!kept || jobs[kept - 1] != jobs[i])
			jobs[kept++] = jobs[i];
	*ret_count = kept;
	return known;
}

bool job_changes_await(struct job_changes *changes, uint64_t after, int64_t at_most_us)
{
	const int64_t end_us = clock_mono_us(&system_clock) + at_most_us;
	const struct timespec end = { .tv_sec = end_us / 1000000, .tv_nsec = end_us % 1000000 * 1000 };
	bool more;

	pthread_mutex_lock(&changes->lock);
	while (changes->last <= after && pthread_cond_timedwait(&changes->changed, &changes->lock, &end) == 0)
		;
	more = changes->last > after;
	pthread_mutex_unlock(&changes->lock);
	return more;
}
