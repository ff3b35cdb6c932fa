/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/search/look.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/job_run.h"
#include "scheduler/scheduler_state.h"
#include "scheduler/search/suggester.h"

enum { RETRY_AFTER_US = 1000000 }; /* pause after the store did not answer */

void tuner_free(struct tuner *tuner)
{
	if (!tuner)
		return;
	for (size_t i = 0; i < tuner->metric_size; i++)
		trial_metrics_free(tuner->metrics[i]);
	free(tuner->metrics);
	suggestion_free(tuner->suggestion);
	earlier_trials_deinit(&tuner->earlier);
	study_free(tuner->study);
	free(tuner);
}

void tuner_suggestion_drop(struct tuner *tuner)
{
	suggestion_free(tuner->suggestion);
	tuner->suggestion = NULL;
	tuner->asked = false;
}

void look_fail(struct look *look, const char *event, struct error *err)
{
	look->decision.trials.failed = event;
	error_move(&look->decision.trials.err, err);
}

void look_again(struct look *look, int64_t at_us)
{
	if (at_us && (!look->next_us || at_us < look->next_us))
		look->next_us = at_us;
}

void look_postpone(struct scheduler *scheduler, struct job_run *run, const char *event,
		   const struct error *err)
{
	log_event(LOG_ERROR, event, "job=%s error=\"%s\"", run->row->job_id, err->text ? err->text : "");
	job_run_hold(run, clock_mono_us(scheduler->reconciler.clock) + RETRY_AFTER_US);
}

/* Fills an element of look->trials. Trials of resumed jobs come before the job's own, which changes
 * the ids. */
static enum status trial_fill(struct look *look, size_t index, struct error *err)
{
	const unsigned earlier = (unsigned)look->tuner->earlier.count;
	struct trial *trial = &look->trials[index];
	enum status rc = trial_from_stored(look->study, &look->list.trials[index],
					   look->values + index * look->study->parameter_count, trial, err);

	trial->id += earlier;
	trial->known += earlier;
	trial->ended_as += trial->ended_as ? earlier : 0;
	return rc;
}

enum status look_fill(struct look *look, struct error *err)
{
	const struct earlier_trials *earlier = &look->tuner->earlier;
	enum status rc = STATUS_OK;

	if (look->all)
		return STATUS_OK;
	look->all_count = earlier->count + look->list.count;
	look->all = memory_calloc(look->all_count + 1, sizeof(*look->all));
	look->values =
		memory_calloc((look->list.count + 1) * look->study->parameter_count, sizeof(*look->values));
	if (earlier->count)
		memcpy(look->all, earlier->trials, earlier->count * sizeof(*look->all));
	look->trials = look->all + earlier->count;
	for (size_t i = 0; !rc && i < look->list.count; i++)
		rc = trial_fill(look, i, err);
	return rc;
}
