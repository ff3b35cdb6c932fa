/* SPDX-License-Identifier: Apache-2.0 */
/* Lets a queued job in, with what was assigned to it: from here on the engine may hold something of it. */
#include "scheduler/steps.h"

#include <stdlib.h>

#include "daemon/base/log.h"
#include "scheduler/admission.h"
#include "scheduler/difference.h"
#include "store/logs.h"

static void tell_differences(struct job_run *run)
{
	AUTO(string) char *line = differences_line(run->plan->differences, run->assignment->differences);

	if (line)
		job_run_say(run, SEVERITY_NOTICE, "%s", line);
}

void step_admit(struct reconciler *reconciler, struct job_run *run)
{
	AUTO(string) char *text = assignment_to_text(run->assignment);
	struct error err AUTO_ERROR = { 0 };
	struct planned_change *planned;
	struct lease *leases = NULL;
	size_t count = 0;

	if (!text || assignment_leases(run->assignment, run->row->id, &leases, &count, &err))
		return;
	planned = pass_add(reconciler->pass, run, JOB_PREPARING);
	if (!planned) {
		leases_free(leases, count);
		return;
	}
	planned->assignment = TAKE(text);
	planned->leases = leases;
	planned->lease_count = count;
	planned->change.started_us = clock_wall_us(reconciler->clock);
	tell_differences(run);
	job_run_say(run, SEVERITY_INFO, "Waiting for job to be provisioned.");
	job_run_say(run, SEVERITY_INFO, "Job is preparing.");
}
