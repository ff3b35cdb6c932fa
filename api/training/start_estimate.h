/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/start_estimate.h: whether a job that were created now, or one that is queued, would start at once, and with what.
 *
 * It foretells what the scheduler does with the room and the queue as they are; the next moment may be another. */
#include <stdbool.h>

#include "daemon/base/error.h"
#include "daemon/base/json.h"
#include "scheduler/plan/placement.h"

struct job;
struct job_list;
struct training_context;

struct start_estimate {
	bool known; /* false: what the machine has is not known, nothing else is said but text */
	bool starts_now;
	enum shortage shortage; /* otherwise: what is short, for the job or for the one it waits behind */
	char *text;             /* why it does not start, a sentence; NULL when it does */
	char *behind;           /* the job, as job_name.h names it, that has to start before it; NULL: none */
	/* What it would be let in with; its devices are drawn only when it starts, so they are there only then.
	 * NULL: cannot be told. */
	struct assignment *assignment;
};

void start_estimate_deinit(struct start_estimate *start_estimate);
#define AUTO_START_ESTIMATE __attribute__((cleanup(start_estimate_deinit)))

/* For @job, which is queued and has this plan; NULL: for a job that were created now.
 * Reads the queue from the store, and nothing of what a client sent but the plan. Thread: any.
 * FAILED_PRECONDITION: this machine can never run the job, in words for the client. */
enum status start_estimate_make(const struct training_context *context, const struct plan *plan,
				const struct job *job, struct start_estimate *ret_estimate,
				struct error *err);
/* The same where the caller has just read all unfinished jobs, to estimate several; NULL: they are read. */
enum status start_estimate_among(const struct training_context *context, const struct plan *plan,
				 const struct job *job, const struct job_list *unfinished,
				 struct start_estimate *ret_estimate, struct error *err);
/* {"now", "shortage", "behind", "text"}, of which those that have nothing to say are not there. */
json_t *start_estimate_json(const struct start_estimate *start_estimate);
