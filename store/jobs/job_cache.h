/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/job_cache.h: recently read jobs, for clients that request the same ones repeatedly.
 *
 * An entry is valid as long as nothing was committed to state.db since before it was read: every commit invalidates all
 * entries, so writers need not name what they change. A few small slots, one job each; large jobs are not cached.
 * Thread: any. */
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
/* The job as of @generation, to be released by job_free(), or NULL. */
struct job *job_cache_find(struct job_cache *cache, const char *project, const char *job_id,
			   uint64_t generation);
/* Stores a job in the cache. @generation: as read before the job was read. The caller keeps @job. */
void job_cache_put(struct job_cache *cache, struct job *job, uint64_t generation);
