/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/job_cache.h: jobs as they were last read, for clients that ask for the same ones again and again.
 *
 * An entry holds as long as nothing was committed to state.db since before it was read: every commit
 * makes all entries stale at once, so nothing has to be told what it changed. Few small slots, one job
 * each; large jobs are not kept. Thread: any. */
#include <pthread.h>
#include <stdint.h>

#include "store/jobs/job.h"

enum { JOB_CACHE_SLOTS = 64, JOB_CACHE_INPUT_MAX = 16 * 1024 };

struct job_cache {
	struct job_cache_slot {
		pthread_mutex_t lock;
		struct job *job; /* NULL: empty */
		uint64_t generation;
	} slots[JOB_CACHE_SLOTS];
};

void job_cache_init(struct job_cache *cache);
void job_cache_deinit(struct job_cache *cache);
/* The job as of @generation, for the caller to job_free(), or NULL. */
struct job *job_cache_find(struct job_cache *cache, const char *project, const char *job_id,
			   uint64_t generation);
/* @generation: read before the job was. The caller keeps @job. */
void job_cache_put(struct job_cache *cache, struct job *job, uint64_t generation);
