/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/start_estimate.h: whether a new or queued job would start at once, and with which resources.
 *
 * It predicts what the scheduler does with the present free resources and queue, which may change at any moment. */
#include <stdbool.h>

#include "daemon/base/error.h"
#include "daemon/base/json.h"
#include "scheduler/plan/placement.h"

struct job;
struct job_list;
struct training_context;

struct start_estimate {
	bool known; /* false: the machine's resources are unknown; only text is set */
	bool starts_now;
	enum shortage
		shortage; /* unless starts_now: what is short for the job, or for the one it waits behind */
	char *text;       /* why it does not start, one sentence; NULL: it starts */
	char *behind;     /* the job, named as in job_name.h, that has to start before it; NULL: none */
	/* The resources that the job would be given. Its devices are chosen only at the start, so they are set only if
	 * it starts now. NULL: unknown. */
	struct assignment *assignment;
};

void start_estimate_deinit(struct start_estimate *start_estimate);
#define AUTO_START_ESTIMATE __attribute__((cleanup(start_estimate_deinit)))

/* Estimates when a job starts: @job, which is queued and has this plan, or a new job if @job is NULL. Reads the queue
 * from the store. Thread: any. FAILED_PRECONDITION: this machine can never run the job; the text is for the client. */
enum status start_estimate_make(const struct training_context *context, const struct plan *plan,
				const struct job *job, struct start_estimate *ret_estimate,
				struct error *err);
/* As start_estimate_make(), with a given list of unfinished jobs, for callers that estimate several; NULL: the list is
 * read. */
enum status start_estimate_among(const struct training_context *context, const struct plan *plan,
				 const struct job *job, const struct job_list *unfinished,
				 struct start_estimate *ret_estimate, struct error *err);
/* {"now", "shortage", "behind", "text"}; members without a value are absent. */
json_t *start_estimate_json(const struct start_estimate *start_estimate);
