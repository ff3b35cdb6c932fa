/* SPDX-License-Identifier: Apache-2.0 */
/* Lets a queued job in, with what was assigned to it: from here on the engine may hold something of it. */
#include "scheduler/steps.h"

#include <stdlib.h>

#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "scheduler/plan/dialect.h"
#include "scheduler/plan/difference.h"
#include "scheduler/plan/placement.h"
#include "scheduler/spare_network.h"
#include "store/logs/logs.h"

static void tell_differences(struct job_run *run, json_t **ret_told)
{
	json_t *all = run->assignment->differences;
	json_t *fresh = run->told ? differences_untold(run->told, all) : NULL;
	AUTO(string) char *line = differences_line(run->plan->differences, fresh ? fresh : all);

	if (line)
		job_run_say(run, SEVERITY_NOTICE, "%s", line);
	*ret_told = fresh;
}

/* What holds for every job of this daemon. False when memory ran out. */
static bool surroundings_differ(const struct reconciler *reconciler, json_t *differences)
{
	if (reconciler->adc &&
	    !difference_add(
		    differences, DONE_OTHERWISE, "adc-given", NULL,
		    "The replicas are given the developer's own credentials (--adc), not those of the "
		    "job's service account."))
		return false;
	return !reconciler->cut_off ||
	       difference_add(differences, DONE_OTHERWISE, "cut-off", NULL,
			      "The replicas are cut off from the outside (--egress none).");
}

void step_admit(struct reconciler *reconciler, struct job_run *run)
{
	spare_network_take(reconciler->spares, run);
	AUTO(string)
	char *text = surroundings_differ(reconciler, run->assignment->differences)
			     ? assignment_to_text(run->assignment)
			     : NULL;
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
	tell_differences(run, &planned->told);
	job_run_say_all(run, SEVERITY_INFO, dialect_of(run->plan)->admitted);
}
