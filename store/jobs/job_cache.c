/* SPDX-License-Identifier: Apache-2.0 */
#include "store/jobs/job_cache.h"

#include <sodium.h>
#include <string.h>

void job_cache_init(struct job_cache *cache)
{
	*cache = (struct job_cache){ 0 };
	for (int i = 0; i < JOB_CACHE_SLOTS; i++)
		pthread_mutex_init(&cache->slots[i].lock, NULL);
}

void job_cache_deinit(struct job_cache *cache)
{
	for (int i = 0; i < JOB_CACHE_SLOTS; i++) {
		job_free(cache->slots[i].job);
		pthread_mutex_destroy(&cache->slots[i].lock);
	}
}

/* No secret key is needed: a client that fills one slot on purpose only slows down its own jobs. */
static struct job_cache_slot *slot_of(struct job_cache *cache, const char *job_id)
{
	static const unsigned char key[crypto_shorthash_KEYBYTES] = "trainyard cache";
	unsigned char hash[crypto_shorthash_BYTES];

	crypto_shorthash(hash, (const unsigned char *)job_id, strlen(job_id), key);
	return &cache->slots[hash[0] % JOB_CACHE_SLOTS];
}

struct job *job_cache_find(struct job_cache *cache, const char *project, const char *job_id,
			   uint64_t generation)
{
	struct job_cache_slot *slot = slot_of(cache, job_id);
	struct job *found = NULL;

	pthread_mutex_lock(&slot->lock);
	if (slot->job && slot->generation == generation && strcmp(slot->job->job_id, job_id) == 0 &&
	    strcmp(slot->job->project, project) == 0)
		found = job_share(slot->job);
	pthread_mutex_unlock(&slot->lock);
	return found;
}

void job_cache_put(struct job_cache *cache, struct job *job, uint64_t generation)
{
	struct job_cache_slot *slot = slot_of(cache, job->job_id);
	struct job *before;

	if (strlen(job->input) + strlen(job->plan) > JOB_CACHE_INPUT_MAX)
		return;
	pthread_mutex_lock(&slot->lock);
	before = slot->job;
	slot->job = job_share(job);
	slot->generation = generation;
	pthread_mutex_unlock(&slot->lock);
	job_free(before);
}
