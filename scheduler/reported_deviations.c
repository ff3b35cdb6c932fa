/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/reported_deviations.h"

#include "daemon/base/json.h"
#include "scheduler/job_run.h"
#include "scheduler/job_table.h"
#include "scheduler/plan/assignment.h"
#include "scheduler/plan/deviation.h"
#include "scheduler/scheduler_state.h"
#include "store/jobs/jobs.h"
#include "store/jobs/trials.h"

json_t *deviations_unreported(const json_t *reported, json_t *deviations)
{
	json_t *fresh = json_array();
	json_t *deviation;
	size_t index;

	json_array_foreach(deviations, index, deviation) {
		const char *code = json_string_value(json_object_get(deviation, "code"));
		const char *text = json_string_value(json_object_get(deviation, "text"));
		bool has = false, again = false;

		deviations_count(reported, code ? code : "", text ? text : "", &has);
		deviations_count(fresh, code ? code : "", text ? text : "", &again);
		if (!has && !again)
			json_array_append(fresh, deviation);
	}
	return fresh;
}

void deviations_mark_reported(json_t *reported, json_t *fresh)
{
	json_array_extend(reported, fresh);
}

static void one_recall(struct store *store, int64_t trial, json_t *reported)
{
	AUTO(job) struct job *row = NULL;
	AUTO(assignment) struct assignment *assignment = NULL;
	AUTO(json) json_t *fresh = NULL;

	if (job_get_by_id(store, trial, &row, NULL) || !row->assignment ||
	    assignment_from_text(row->assignment, &assignment, NULL))
		return;
	fresh = deviations_unreported(reported, assignment->deviations);
	deviations_mark_reported(reported, fresh);
}

/* The deviations reported by trials that an earlier daemon admitted. If they cannot be read now, they are reported
 * again. */
static json_t *reported_recall(struct store *store, int64_t owner)
{
	struct trial_list list AUTO_TRIAL_LIST = { 0 };
	json_t *reported = json_array();

	if (trial_list_read(store, owner, &list, NULL))
		return reported;
	for (size_t i = 0; i < list.count; i++)
		if (list.trials[i].started_us)
			one_recall(store, list.trials[i].run, reported);
	return reported;
}

void reported_share(struct scheduler *scheduler, struct job_run *run)
{
	struct job_run *owner = run->row->parent ? scheduler_find(scheduler, run->row->parent) : NULL;

	if (!owner)
		return;
	if (!owner->reported)
		owner->reported = reported_recall(scheduler->reconciler.store, owner->row->id);
	run->reported = json_incref(owner->reported);
}
