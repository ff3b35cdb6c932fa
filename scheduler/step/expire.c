/* SPDX-License-Identifier: Apache-2.0 */
/* Cancels a job whose time is up: to wait before it ran, or to run since it did. */
#include "scheduler/steps.h"

#include <stdio.h>

#include "daemon/base/memory.h"
#include "scheduler/plan/dialect.h"

static bool is_limited(const struct job_run *run)
{
	return run->plan && !(plan_tunes(run->plan) && run->plan->limits_each_trial);
}

/* From what the wall clock says now. A start that lies ahead of it, since the clock was put back, was just now. */
static int64_t deadline_reckon(const struct job_run *run, int64_t wall_us, int64_t mono_us)
{
	int64_t from = run->row->running_us ? run->row->running_us : run->row->created_us;
	int64_t limit = !is_limited(run)       ? 0
			: run->row->running_us ? run->plan->max_running_us
					       : run->plan->max_wait_us;

	if (from > wall_us)
		from = wall_us;
	return limit ? mono_us + (from + limit - wall_us) : INT64_MAX;
}

int64_t job_deadline_us(struct job_run *run, int64_t wall_us, int64_t mono_us)
{
	if (!run->deadline_us || run->deadline_of_us != run->row->running_us) {
		run->deadline_us = deadline_reckon(run, wall_us, mono_us);
		run->deadline_of_us = run->row->running_us;
	}
	return run->deadline_us;
}

void step_expire(struct reconciler *reconciler, struct job_run *run)
{
	struct planned_change *planned = pass_add(reconciler->pass, run, JOB_CANCELLING);
	bool ran = run->row->running_us != 0;
	const struct dialect *dialect = dialect_of(run->plan);
	int64_t limit_us = ran ? run->plan->max_running_us : run->plan->max_wait_us;

	if (!planned)
		return;
	planned->change.decides = true;
	planned->change.verdict = JOB_CANCELLED;
	planned->change.verdict_code = STATUS_CANCELLED;
	if (asprintf(&planned->verdict_message,
		     "The job was cancelled because it %s longer than its %s of %.15gs.",
		     ran ? "ran" : "waited", ran ? dialect->running_limit : dialect->wait_limit,
		     (double)limit_us / 1e6) < 0) {
		memory_note_failure();
		planned->verdict_message = NULL;
	}
}
