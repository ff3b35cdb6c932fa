/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/retention.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "daemon/base/amount.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "daemon/base/small_thread.h"
#include "store/jobs/job_purge.h"
#include "store/store.h"

enum { LOOK_S = 5 };

struct retention {
	struct retention_options options;
	int64_t keep_us, max_bytes; /* 0: no limit */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t ends; /* on the monotonic clock */
	bool stopping;       /* guarded by lock, like the members below */
	int64_t used_bytes;
	uint64_t removed;
};

/* ---- the thread ---- */

/* Returns the next job to remove, and in *ret_why the option that demands it; 0: none, or *err is set. */
static int64_t next_find(struct retention *retention, const char **ret_why, struct error *err)
{
	struct store *store = retention->options.store;
	int64_t job = 0, used = 0;

	if (retention->keep_us &&
	    job_purge_next(store, clock_wall_us(retention->options.clock) - retention->keep_us, &job, err))
		return 0;
	*ret_why = "keep";
	if (store_used_bytes(store, &used, err))
		return 0;
	pthread_mutex_lock(&retention->lock);
	retention->used_bytes = used;
	pthread_mutex_unlock(&retention->lock);
	if (job || !retention->max_bytes || used <= retention->max_bytes)
		return job;
	*ret_why = "max-state";
	return job_purge_next(store, INT64_MAX, &job, err) ? 0 : job;
}

/* Removes one job. Returns false if there is none to remove now, or if it failed; the next pass tries again. */
static bool one_remove(struct retention *retention)
{
	struct error err AUTO_ERROR = { 0 };
	const char *why = NULL;
	const int64_t job = next_find(retention, &why, &err);

	if (job && job_purge(retention->options.store, job, &err) == STATUS_OK) {
		log_event(LOG_INFO, "job-removed", "id=%" PRId64 " reason=%s", job, why);
		pthread_mutex_lock(&retention->lock);
		retention->removed++;
		pthread_mutex_unlock(&retention->lock);
		return true;
	}
	if (err.status)
		log_event(LOG_WARNING, "job-removal-failed", "id=%" PRId64 " error=\"%s\"", job,
			  err.text ? err.text : "");
	return false;
}

/* Waits for the time of the next pass; with @at_once it does not wait. Returns false if the thread must end. */
static bool look_wait(struct retention *retention, bool at_once)
{
	struct timespec until;
	bool goes_on;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += at_once ? 0 : LOOK_S;
	pthread_mutex_lock(&retention->lock);
	while (!retention->stopping && !at_once &&
	       pthread_cond_timedwait(&retention->ends, &retention->lock, &until) == 0)
		;
	goes_on = !retention->stopping;
	pthread_mutex_unlock(&retention->lock);
	return goes_on;
}

static void *retention_main(void *arg)
{
	struct retention *retention = arg;
	bool at_once = true;

	while (look_wait(retention, at_once))
		at_once = one_remove(retention);
	return NULL;
}

static void retention_free(struct retention *retention)
{
	pthread_cond_destroy(&retention->ends);
	pthread_mutex_destroy(&retention->lock);
	free(retention);
}

enum status retention_open(const struct retention_options *options, struct retention **ret_retention,
			   struct error *err)
{
	struct retention *retention;
	pthread_condattr_t attributes;
	enum status rc;

	*ret_retention = NULL;
	if (!options->keep && !options->max_state)
		return STATUS_OK;
	retention = memory_calloc(1, sizeof(*retention));
	retention->options = *options;
	if (options->keep)
		duration_read(options->keep, &retention->keep_us); /* checked when it was read */
	if (options->max_state)
		size_read(options->max_state, &retention->max_bytes);
	pthread_mutex_init(&retention->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&retention->ends, &attributes);
	pthread_condattr_destroy(&attributes);
	rc = small_thread_start(&retention->thread, retention_main, retention, err);
	if (rc) {
		retention_free(retention);
		return rc;
	}
	*ret_retention = retention;
	return STATUS_OK;
}

void retention_close(struct retention *retention)
{
	if (!retention)
		return;
	pthread_mutex_lock(&retention->lock);
	retention->stopping = true;
	pthread_cond_signal(&retention->ends);
	pthread_mutex_unlock(&retention->lock);
	pthread_join(retention->thread, NULL);
	retention_free(retention);
}

json_t *retention_report(struct retention *retention)
{
	json_t *reported;

	if (!retention)
		return NULL;
	pthread_mutex_lock(&retention->lock);
	reported = json_pack("{s:I, s:I}", "usedBytes", (json_int_t)retention->used_bytes, "removedJobs",
			     (json_int_t)retention->removed);
	pthread_mutex_unlock(&retention->lock);
	if (retention->keep_us)
		json_object_set_new(reported, "keep", json_string(retention->options.keep));
	if (retention->max_bytes)
		json_object_set_new(reported, "maxStateBytes", json_integer(retention->max_bytes));
	return reported;
}
