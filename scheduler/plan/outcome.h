/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/outcome.h: what the exits of a job's replicas mean for the job, and in which words.
 * Pure.
 *
 *   master 0 exits 0                      SUCCEEDED; the others are stopped, whatever they do
 *   another replica exits 0               nothing
 *   ordinary non-zero exit, out of memory FAILED
 *   SIGABRT, SIGSEGV (6, 134, 11, 139)    the whole job again, up to 3 times, then FAILED
 *   lost with the engine, or the engine   likewise
 *   failed inside itself (of the latter the dialect says how often)
 * A job that never retries is not tried again once it ran, for any of these reasons.
 * Choice: of crashes by signal, too. The service's field (disableRetries) speaks of internal errors alone; but the page
 * of exit codes counts these crashes, like those, as what may pass by itself, and a user that forbids retries so that a run is
 * never repeated on half-written outputs would not have it repeated for a crash either.
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
	END_EXIT,    /* by itself, with exit_code */
	END_LOST,    /* by the engine's doing: it restarted, or somebody removed the container */
	END_REFUSED, /* the engine would not start it; text says why */
	END_BROKEN,  /* the engine could not start it, through no fault of the job; text says why */
};

struct replica_outcome {
	enum role role;
	unsigned index;
	enum replica_end end;
	int exit_code; /* 128+n for signal n */
	bool out_of_memory;
	bool of_itself;   /* EXIT: no signal was sent to it, so the code is what its program ended with */
	bool ordered;     /* LOST: by a rule of faults.h */
	const char *text; /* REFUSED, BROKEN */
};

struct job_outcome {
	/* UNSPECIFIED: nothing is decided; PREPARING: try the whole job again */
	enum job_state outcome;
	char *message;    /* errorMessage's first sentences, or why it is tried again; NULL for SUCCEEDED */
	enum status code; /* what clients that are told a code are told with it */
};

/* @attempt: which try of the whole job these are the outcomes of, from 1. @ran: whether the job was RUNNING, in this
 * or an earlier one. The message is the caller's. */
struct job_outcome job_outcome_of(const struct plan *plan, const struct replica_outcome *outcomes,
				  size_t count, unsigned attempt, bool ran);

/* Whether such an end is a reason to fail, or to try the job again. */
bool end_is_bad(enum replica_end end, int exit_code);

/* The whole errorMessage of a failed job: the sentences, the end of what the replica wrote to stderr
 * (of that the last twenty lines, 16 KiB at most, and where the last traceback begins before them its beginning), and where
 * to look further. The caller frees. */
char *error_message_text(const char *sentences, const char *stderr_tail, const char *project_number,
			 const char *job_id);

/* How many bytes of an errorMessage come before where to look further. */
size_t error_message_reason(const char *message);
