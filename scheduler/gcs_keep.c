/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/gcs_keep.h"

#include "scheduler/job_run.h"
#include "scheduler/node.h"
#include "scheduler/plan/assignment.h"
#include "scheduler/plan/deviation.h"
#include "scheduler/reconciler.h"

static const char missing[] = "gcs-missing";

static bool is_reported(const struct job_run *run)
{
	bool has_text;

	return run->assignment && deviations_count(run->assignment->deviations, missing, "", &has_text) > 0;
}

static void missing_report(struct job_run *run, const char *reason)
{
	if (!is_reported(run))
		job_run_differ(run, missing, "",
			       "Cloud Storage is not there as files at " GCS_PLACE ": %s. " GCS_PLACE
			       " is empty and read-only: a program that writes there fails.",
			       reason);
}

const char *gcs_keep(struct reconciler *reconciler, struct job_run *run, const struct node *node)
{
	struct error err AUTO_ERROR = { 0 };
	const char *directory;

	if (!run->plan->mounts_gcs)
		return NULL;
	if (!reconciler->gcs.place) {
		missing_report(run, "this daemon does not offer them");
		return NULL;
	}
	if (reconciler->gcs.place(reconciler->gcs.arg, node->index, &directory, &err) == STATUS_OK)
		return directory;
	missing_report(run, err.text ? err.text : status_name(err.status));
	return NULL;
}
