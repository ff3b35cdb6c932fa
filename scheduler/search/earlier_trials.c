/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/search/earlier_trials.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/plan/plan.h"
#include "scheduler/plan/trial_plan.h"
#include "store/jobs/jobs.h"
#include "store/jobs/trials.h"

enum { SHOWN_BYTES = 200 };

void earlier_trials_deinit(struct earlier_trials *earlier)
{
	free(earlier->trials);
	free(earlier->values);
	*earlier = (struct earlier_trials){ 0 };
}

/* ---- studies ---- */

static const struct parameter *parameter_named(const struct study *study, const char *name, size_t *ret_index)
{
	for (*ret_index = 0; *ret_index < study->parameter_count; ++*ret_index)
		if (strcmp(study->parameters[*ret_index].name, name) == 0)
			return &study->parameters[*ret_index];
	return NULL;
}

static enum status differs(struct error *err, const char *what, const char *name)
{
	return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "%s '%.*s'", what, SHOWN_BYTES, name);
}

enum status study_continues(const struct study *from, const struct study *to, struct error *err)
{
	size_t index;

	for (size_t i = 0; i < from->parameter_count; i++)
		if (!parameter_named(to, from->parameters[i].name, &index))
			return differs(err, "it has the parameter", from->parameters[i].name);
	for (size_t i = 0; i < to->parameter_count; i++) {
		const struct parameter *same = parameter_named(from, to->parameters[i].name, &index);

		if (!same)
			return differs(err, "it does not have the parameter", to->parameters[i].name);
		if (same->type != to->parameters[i].type)
			return differs(err, "it has another type for the parameter", same->name);
	}
	if (strcmp(from->metrics[0].name, to->metrics[0].name) != 0)
		return differs(err, "its metric is", from->metrics[0].name);
	if (from->metrics[0].minimized != to->metrics[0].minimized)
		return differs(err, "it has another goal for the metric", from->metrics[0].name);
	return STATUS_OK;
}

/* The index in @to of the category with @value's name; NaN: @to has no such category. */
static double category_carry(const struct parameter *from, double value, const struct parameter *to)
{
	if (isnan(value))
		return NAN;
	for (size_t i = 0; i < to->value_count; i++)
		if (strcmp(to->categories[i], from->categories[(size_t)value]) == 0)
			return (double)i;
	return NAN;
}

bool study_values_carry(const struct study *from, const double *values, const struct study *to,
			double *ret_values)
{
	for (size_t i = 0; i < to->parameter_count; i++) {
		size_t index;
		const struct parameter *same = parameter_named(from, to->parameters[i].name, &index);

		ret_values[i] = same ? values[index] : NAN;
		if (same && same->type == PARAMETER_CATEGORICAL)
			ret_values[i] = category_carry(same, values[index], &to->parameters[i]);
		if (isnan(ret_values[i]))
			return false;
	}
	return true;
}

/* ---- trials ---- */

static void trials_grow(struct earlier_trials *earlier, size_t more, const struct study *study)
{
	const size_t count = earlier->count + more + 1;

	earlier->trials = memory_resize(earlier->trials, count, sizeof(*earlier->trials));
	earlier->values =
		memory_resize(earlier->values, count * study->parameter_count, sizeof(*earlier->values));
}

enum status trial_from_stored(const struct study *study, const struct stored_trial *stored, double *values,
			      struct trial *ret_trial, struct error *err)
{
	AUTO(json) json_t *final = NULL;
	enum status rc = trial_values_from_text(study, stored->parameters, values, err);

	*ret_trial = (struct trial){ .id = stored->number,
				     .values = values,
				     .ended_as = stored->ended_as,
				     .known = stored->known,
				     .stopped_early = stored->stopped_early };
	if (!rc && stored->final)
		rc = json_parse_own(stored->final, &final, err);
	for (size_t m = 0; m < METRICS_MAX; m++) {
		const json_t *value = json_array_get(final, m);

		ret_trial->final[m] = json_is_number(value) ? json_number_value(value) : NAN;
	}
	if (stored->outcome == OUTCOME_COMPLETED && !isnan(ret_trial->final[0]))
		ret_trial->state = TRIAL_COMPLETED;
	else
		ret_trial->state = stored->outcome == OUTCOME_OPEN ? TRIAL_PENDING : TRIAL_INFEASIBLE;
	return rc;
}

static enum status trial_add(struct earlier_trials *earlier, const struct stored_trial *stored,
			     const struct study *from, const struct study *study, double *room,
			     struct error *err)
{
	struct trial trial;
	enum status rc;

	if (stored->outcome != OUTCOME_COMPLETED && stored->outcome != OUTCOME_INFEASIBLE)
		return STATUS_OK;
	rc = trial_from_stored(from, stored, room, &trial, err);
	if (rc ||
	    !study_values_carry(from, room, study, earlier->values + earlier->count * study->parameter_count))
		return rc;
	earlier->trials[earlier->count++] = trial;
	return STATUS_OK;
}

static enum status trials_add(struct earlier_trials *earlier, const struct trial_list *list,
			      const struct study *from, const struct study *study, struct error *err)
{
	double *room = memory_calloc(from->parameter_count, sizeof(*room));
	enum status rc = STATUS_OK;

	trials_grow(earlier, list->count, study);
	for (size_t i = 0; !rc && i < list->count; i++)
		rc = trial_add(earlier, &list->trials[i], from, study, room, err);
	free(room);
	return rc;
}

/* Sets the error for a job with unreadable trials. It is final, because trying again would
 * change nothing. */
static enum status unreadable(const char *job_id, const struct error *cause, struct error *err)
{
	return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
			 "The trials of the job '%s', which this one resumes, cannot be read: %s", job_id,
			 cause->text);
}

static enum status job_read(struct store *store, const char *project, const char *job_id,
			    const struct study *study, struct earlier_trials *earlier, struct error *err)
{
	AUTO(job) struct job *job = NULL;
	AUTO(plan) struct plan *plan = NULL;
	AUTO(study) struct study *from = NULL;
	struct trial_list list AUTO_TRIAL_LIST = { 0 };
	struct error cause AUTO_ERROR = { 0 };
	enum status rc = job_get(store, project, job_id, &job, &cause);

	if (rc == STATUS_NOT_FOUND)
		return unreadable(job_id, &cause, err);
	if (!rc)
		rc = trial_list_read(store, job->id, &list, &cause);
	if (rc)
		return error_move(err, &cause);
	rc = plan_from_text(job->plan, &plan, &cause);
	if (!rc)
		rc = study_from_json(plan->search, &from, &cause);
	if (!rc)
		rc = trials_add(earlier, &list, from, study, &cause);
	return rc ? unreadable(job_id, &cause, err) : STATUS_OK;
}

/* Drops the oldest trials beyond @most; the newest ones move to the front. */
static void oldest_drop(struct earlier_trials *earlier, size_t most, const struct study *study)
{
	const size_t dropped = earlier->count > most ? earlier->count - most : 0;

	earlier->count -= dropped;
	if (dropped) {
		memmove(earlier->trials, earlier->trials + dropped,
			earlier->count * sizeof(*earlier->trials));
		memmove(earlier->values, earlier->values + dropped * study->parameter_count,
			earlier->count * study->parameter_count * sizeof(*earlier->values));
	}
	for (size_t i = 0; i < earlier->count; i++) {
		struct trial *trial = &earlier->trials[i];

		trial->id = trial->ended_as = (unsigned)i + 1;
		trial->known = (unsigned)i;
		trial->values = earlier->values + i * study->parameter_count;
	}
}

enum status earlier_trials_read(struct store *store, const struct plan *plan, const struct study *study,
				struct earlier_trials *ret_earlier, struct error *err)
{
	struct earlier_trials earlier = { 0 };
	enum status rc = STATUS_OK;

	for (size_t i = 0; !rc && i < json_array_size(plan->resumed_jobs); i++) {
		rc = job_read(store, plan->project, json_string_value(json_array_get(plan->resumed_jobs, i)),
			      study, &earlier, err);
		if (!rc)
			oldest_drop(&earlier, EARLIER_TRIALS_MAX, study);
	}
	if (rc) {
		earlier_trials_deinit(&earlier);
		return rc;
	}
	*ret_earlier = earlier;
	return STATUS_OK;
}
