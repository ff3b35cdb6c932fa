/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/outlook.h: whether a job that were created now, or one that is queued, would start at once, and with what.
 *
 * It foretells what the scheduler does with the room and the queue as they are; the next moment may be another. */
#include <stdbool.h>

#include "daemon/base/error.h"
#include "daemon/base/json.h"
#include "scheduler/admission.h"

struct job;
struct training_context;

struct outlook {
	bool known; /* false: what the machine has is not known, nothing else is said but text */
	bool starts_now;
	enum shortage shortage; /* otherwise: what is short, for the job or for the one it waits behind */
	char *text;             /* why it does not start, a sentence; NULL when it does */
	char *behind;           /* the job, as job_name.h names it, that has to start before it; NULL: none */
	/* What it would be let in with; its devices are drawn only when it starts, so they are there only then.
	 * NULL: cannot be told. */
	struct assignment *assignment;
};

void outlook_deinit(struct outlook *outlook);
#define AUTO_OUTLOOK __attribute__((cleanup(outlook_deinit)))

/* Of @job, which is queued and whose plan this is; NULL: of one that were created now.
 * Reads the queue from the store, and nothing of what a client sent but the plan. Thread: any.
 * FAILED_PRECONDITION: this machine can never run the job, in words for the client. */
enum status outlook_make(const struct training_context *context, const struct plan *plan,
			 const struct job *job, struct outlook *ret_outlook, struct error *err);
/* {"now", "shortage", "behind", "text"}, of which those that have nothing to say are not there. NULL: memory ran out. */
json_t *outlook_json(const struct outlook *outlook);
