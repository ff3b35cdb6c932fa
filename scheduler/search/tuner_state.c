/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/search/tuner_state.h"

#include <math.h>
#include <stdlib.h>

#include "scheduler/decide.h"
#include "scheduler/job_run.h"
#include "scheduler/plan/deviation.h"
#include "scheduler/plan/dialect.h"
#include "scheduler/plan/trial_plan.h"
#include "scheduler/search/ended_trials.h"
#include "scheduler/search/look.h"
#include "store/logs/logs.h"

/* ---- decisions ---- */

static void decide(struct look *look, enum job_state outcome, enum status code)
{
	decision_change(&look->decision, look->run, look->run->row->state);
	look->decision.change.decides = true;
	look->decision.change.outcome = outcome;
	look->decision.change.outcome_code = code;
}

static void parameters_write(struct text *text, const struct look *look, size_t index)
{
	for (size_t p = 0; p < look->study->parameter_count; p++) {
		if (isnan(look->trials[index].values[p]))
			continue;
		text_printf(text, "%s=", look->study->parameters[p].name);
		parameter_value_write(text, &look->study->parameters[p], look->trials[index].values[p]);
		text_puts(text, ", ");
	}
}

/* Appends the trial's errorMessage without its pointer to the logs, because the tuning job's message has one. */
static void message_write(struct text *text, const struct job *run)
{
	text_puts(text, " The trial's error message was: ");
	if (run->error_message)
		text_append(text, run->error_message, run->reason_bytes);
}

static void first_failure_write(struct text *text, const struct look *look, size_t index)
{
	text_printf(text,
		    "Hyperparameter Tuning Trial #%u Failed before any other successful trials were "
		    "completed. The failed trial had parameters: ",
		    look->list.trials[index].number);
	parameters_write(text, look, index);
	text_putc(text, '.');
}

/* Appends the service's message, including its missing space before "The last trial".
 * Source: https://github.com/tensorflow/models/issues/9658
 * Choice: "are too many." if the client gave no limit. */
static void many_failures_write(struct text *text, const struct look *look, size_t index)
{
	const unsigned limit = look->run->plan->failed_trial_count, number = look->list.trials[index].number;

	text_printf(text,
		    "Hyperparameter Tuning Trial #%u failed. %u total hyperparameter trial failures were "
		    "seen, out of %zu trials attempted which ",
		    number, look->failed, look->list.count);
	if (limit)
		text_printf(text, "reaches the user-specified limit of %u.", limit);
	else
		text_puts(text, "are too many.");
	text_printf(text, "The last trial to fail was #%u, with parameters: ", number);
	parameters_write(text, look, index);
	text_puts(text, ". ");
}

size_t last_failed(const struct look *look)
{
	size_t last = look->list.count;

	for (size_t i = 0; i < look->list.count; i++)
		if (look->list.trials[i].outcome == OUTCOME_INFEASIBLE &&
		    (last == look->list.count ||
		     look->list.trials[i].ended_as > look->list.trials[last].ended_as))
			last = i;
	return last;
}

bool too_many_failed(const struct look *look)
{
	const struct plan *plan = look->run->plan;
	const unsigned half = plan->trial_count / 2;

	if (!look->failed)
		return false;
	if (plan->failed_trial_count)
		return look->failed >= plan->failed_trial_count;
	return !look->completed || look->failed > (half > 1 ? half : 1);
}

void job_fail(struct look *look)
{
	const size_t last = last_failed(look);
	const struct job *run = look->failure;
	struct error err AUTO_ERROR = { 0 };
	struct text text AUTO_TEXT = { 0 };

	if (look_fill(look, &err)) {
		look_fail(look, "trials-unread", &err);
		return;
	}
	decide(look, JOB_FAILED, (enum status)run->error_code);
	if (look->run->plan->failed_trial_count || look->completed)
		many_failures_write(&text, look, last);
	else
		first_failure_write(&text, look, last);
	message_write(&text, run);
	look->decision.outcome_message = text_take(&text);
}

/* ---- following the trials ---- */

/* Returns the earlier of two times; a time of 0 is not known yet. */
static int64_t earlier_of(int64_t a_us, int64_t b_us)
{
	return !a_us || (b_us && b_us < a_us) ? b_us : a_us;
}

static void prepare(struct look *look, int64_t started_us)
{
	AUTO(string) char *line = deviations_line(look->run->plan->deviations, NULL);

	decision_change(&look->decision, look->run, JOB_PREPARING);
	look->decision.change.started_us = started_us;
	if (line)
		notes_say(&look->decision.says, SEVERITY_NOTICE, "%s", line);
}

static void declare_running(struct look *look, int64_t running_us)
{
	decision_change(&look->decision, look->run, JOB_RUNNING);
	look->decision.change.running_us = running_us;
}

bool state_follow(struct look *look)
{
	const enum job_state state = look->run->row->state;
	int64_t started_us = 0, running_us = 0;

	for (size_t i = 0; i < look->list.count; i++) {
		started_us = earlier_of(started_us, look->list.trials[i].started_us);
		running_us = earlier_of(running_us, look->list.trials[i].running_us);
	}
	if (state == JOB_QUEUED && started_us)
		prepare(look, started_us);
	else if (state == JOB_PREPARING && running_us)
		declare_running(look, running_us);
	else
		return false;
	return true;
}

void job_fault(struct look *look)
{
	decide(look, JOB_FAILED, STATUS_INTERNAL);
	look->decision.outcome_message = look->err.text ? TAKE(look->err.text) : NULL;
}

/* Ends a search with no trial running and none to come. A search that had nothing to try is still QUEUED: it is
 * admitted before it ends. */
void job_succeed(struct look *look)
{
	const int64_t now_us = look->context->wall_us;

	if (look->run->row->state == JOB_QUEUED) {
		prepare(look, now_us);
		return;
	}
	decide(look, JOB_SUCCEEDED, STATUS_OK);
	notes_say_all(&look->decision.says, SEVERITY_INFO, dialect_of(look->run->plan)->ending);
	/* The job counts as having run, even if no trial did. */
	if (!look->run->row->running_us)
		look->decision.change.running_us = now_us;
}

/* ---- the end of a search ---- */

void open_cancel(struct look *look)
{
	for (size_t i = 0; i < look->list.count; i++) {
		const struct stored_trial *stored = &look->list.trials[i];

		if (trial_goes_on(stored))
			trial_act_add(&look->decision.trials, TRIAL_CANCELS, stored);
	}
}

/* Takes the steps of a job that has no containers or networks of its own. */
void job_end(struct look *look)
{
	for (size_t i = 0; !look->run->row->torn_down && i < look->list.count; i++)
		trial_act_add(&look->decision.trials, TRIAL_CLEARS, &look->list.trials[i]);
	decide_end(&look->decision, look->run, look->context);
}
