/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/outcome.h: decides a job's outcome by the exits of its replicas, and words it.
 * Pure.
 *
 *   master 0 exits 0                      SUCCEEDED; the others are stopped, whatever they do
 *   another replica exits 0               nothing
 *   ordinary non-zero exit, out of memory FAILED
 *   SIGABRT, SIGSEGV (6, 134, 11, 139)    the whole job again, up to 3 times, then FAILED
 *   lost with the engine                  the same
 *   the engine failed inside itself       the same, but the dialect says how often
 * A job that never retries is not tried again once it ran, for any of these reasons.
 * Choice: this includes crashes by signal. The service's field (disableRetries) mentions internal errors only; but the page
 * of exit codes treats both as transient errors, and a user that forbids retries, so that a job never runs again on
 * half-written outputs, does not want a retry after a crash either.
 * A replica that is lost alone is restarted first (job_run.h); but with preemptible machines that counts as a lack of
 * resources, for which the whole job begins again, up to 6 times.
 * Source: https://cloud.google.com/ai-platform/training/docs/understanding-training-service
 * Source: https://cloud.google.com/vertex-ai/docs/training/exit-codes (read 2026-11-20): how often
 * Source: https://cloud.google.com/vertex-ai/docs/training/use-spot-vms: how often with preemptible machines */
#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/error.h"
#include "scheduler/plan/plan.h"
#include "store/jobs/job_state.h"

enum replica_end {
	END_NONE,    /* not ended */
	END_EXIT,    /* it ended by itself, with exit_code */
	END_LOST,    /* lost by the engine: it restarted, or another program removed the container */
	END_REFUSED, /* the engine refused to start it; text says why */
	END_BROKEN,  /* the engine failed to start it, which is not the job's fault; text says why */
};

struct replica_outcome {
	enum role role;
	unsigned index;
	enum replica_end end;
	int exit_code; /* 128+n for signal n */
	bool out_of_memory;
	bool of_itself;   /* END_EXIT: no signal was sent to it, so the exit code is the program's own */
	bool ordered;     /* END_LOST: by an injected fault (faults.h) */
	const char *text; /* REFUSED, BROKEN; LOST: why, or NULL */
};

struct job_outcome {
	/* UNSPECIFIED: not decided yet; PREPARING: retry the whole job */
	enum job_state outcome;
	char *message;    /* the first sentences of errorMessage, or why it is retried; NULL for SUCCEEDED */
	enum status code; /* the error code for clients of APIs that have one */
};

/* Decides the outcome of a job by the ends of its replicas. @attempt: the attempt of the whole job that ended like
 * this, from 1. @ran: whether the job was RUNNING, in this attempt or an earlier one. The caller frees the message. */
struct job_outcome job_outcome_of(const struct plan *plan, const struct replica_outcome *outcomes,
				  size_t count, unsigned attempt, bool ran);

/* Whether this end of a replica makes the job fail, or be retried. */
bool end_is_bad(enum replica_end end, int exit_code);

/* The whole errorMessage of a failed job: the sentences, the end of the replica's stderr (its last twenty lines, at
 * most 16 KiB, and the beginning of the last traceback if that is further up), and a sentence that says where to
 * look further. *ret_reason_bytes: the length of everything before that sentence. The caller frees. */
char *error_message_text(const char *sentences, const char *stderr_tail, const char *project_number,
			 const char *job_id, size_t *ret_reason_bytes);
