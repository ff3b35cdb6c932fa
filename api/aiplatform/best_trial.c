/* SPDX-License-Identifier: Apache-2.0 */
#include "api/aiplatform/best_trial.h"

#include "api/aiplatform/aiplatform.h"
#include "daemon/base/json.h"
#include "scheduler/tuning/study.h"
#include "store/jobs/trials.h"

/* False: it is none that can be best. */
static bool value_of(const struct stored_trial *trial, double *ret_value)
{
	AUTO(json) json_t *final = NULL;
	const json_t *value;

	if (trial->outcome != OUTCOME_COMPLETED || !trial->final ||
	    json_parse_own(trial->final, &final, NULL))
		return false;
	value = json_array_get(json_object_get(final, "values"), 0);
	*ret_value = json_number_value(value);
	return json_is_number(value);
}

static const struct stored_trial *best_of(const struct trial_list *list, bool minimized)
{
	const struct stored_trial *best = NULL;
	double best_value = 0, value;

	for (size_t i = 0; i < list->count; i++) {
		if (!value_of(&list->trials[i], &value) ||
		    (best && (minimized ? value >= best_value : value <= best_value)))
			continue;
		best = &list->trials[i];
		best_value = value;
	}
	return best;
}

enum status best_trial_find(const struct call *call, const struct job *tuning, struct job **ret_run,
			    struct error *err)
{
	const struct training_context *context = call->context;
	const struct stored_trial *best;
	struct trial_list list AUTO_TRIAL_LIST = { 0 };
	AUTO(plan) struct plan *plan = NULL;
	AUTO(study) struct study *study = NULL;
	enum status rc = plan_from_text(tuning->plan, &plan, err);

	if (!rc)
		rc = study_from_json(plan->search, &study, err);
	if (!rc)
		rc = trial_list_read(context->store, tuning->id, &list, err);
	if (rc)
		return rc;
	best = best_of(&list, study->metrics[0].minimized);
	return best ? job_get_by_id(context->store, best->run, ret_run, err) : STATUS_OK;
}
