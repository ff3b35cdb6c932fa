/* SPDX-License-Identifier: Apache-2.0 */
/* The last words of a job, written before its final state, so that whoever sees the end can read them. */
#include "scheduler/steps.h"

#include "scheduler/plan/dialect.h"
#include "store/logs/logs.h"

static const char *last_words(enum job_state verdict)
{
	switch (verdict) {
	case JOB_SUCCEEDED:
		return "Job completed successfully.";
	case JOB_CANCELLED:
		return "Job cancelled.";
	default:
		return "Job failed.";
	}
}

void step_close(struct reconciler *reconciler, struct job_run *run)
{
	struct planned_change *planned = pass_add(reconciler->pass, run, run->row->state);

	if (!planned)
		return;
	planned->change.tears_down = true;
	if (run->row->started_us)
		job_run_say_all(run, SEVERITY_INFO, dialect_of(run->plan)->ended);
	job_run_say(run, SEVERITY_INFO, "%s", last_words(run->row->verdict));
}
