/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/tuner.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "scheduler/difference.h"
#include "scheduler/earlier_trials.h"
#include "scheduler/scheduler_state.h"
#include "scheduler/trial_directory.h"
#include "scheduler/trial_metrics.h"
#include "scheduler/trial_plan.h"
#include "scheduler/tuning/study.h"
#include "store/logs.h"
#include "store/trials.h"

enum {
	RETRY_AFTER_US = 1000000, /* when the store did not answer */
	READ_EVERY_US = 2000000,  /* reports of trials that may be stopped early */
};

/* What is kept between two looks; all of it can be made anew. */
struct tuner {
	struct study *study;
	struct earlier_trials earlier;
	struct trial_metrics **metrics; /* by number - 1; NULL: not read yet, or not any more */
	size_t metric_size;
	bool exhausted;     /* there is nothing left to try */
	int64_t read_at_us; /* monotonic: when reports were read last; 0: never */
};

/* One look at a tuning job. */
struct look {
	struct scheduler *scheduler;
	struct reconciler *reconciler;
	struct job_run *run;
	struct tuner *tuner;
	const struct study *study;
	struct trial_list list;
	/* The same for the library, once it is needed, behind those of resumed jobs; their values in one block. */
	struct trial *all;
	size_t all_count;
	struct trial *trials; /* the job's own, within all */
	double *values;
	unsigned open, completed, failed;
};

void tuner_free(struct tuner *tuner)
{
	if (!tuner)
		return;
	for (size_t i = 0; i < tuner->metric_size; i++)
		trial_metrics_free(tuner->metrics[i]);
	free(tuner->metrics);
	earlier_trials_deinit(&tuner->earlier);
	study_free(tuner->study);
	free(tuner);
}

void tuner_wake(struct scheduler *scheduler, const struct job_run *run)
{
	struct job_run *owner = run->row->parent ? scheduler_find(scheduler, run->row->parent) : NULL;

	if (!owner)
		return;
	owner->dirty = true;
	scheduler->again = true;
}

static void postpone(struct look *look, const char *event, const struct error *err)
{
	log_event(LOG_ERROR, event, "job=%s error=\"%s\"", look->run->row->job_id,
		  err->text ? err->text : "");
	look->run->hold_until_us = clock_mono_us(look->reconciler->clock) + RETRY_AFTER_US;
}

/* ---- a look ---- */

static struct tuner *tuner_open(struct store *store, struct job_run *run, struct error *err)
{
	struct tuner *tuner = calloc(1, sizeof(*tuner));

	if (!tuner) {
		error_no_memory(err);
		return NULL;
	}
	if (study_from_json(run->plan->search, &tuner->study, err) ||
	    earlier_trials_read(store, run->plan, tuner->study, &tuner->earlier, err)) {
		tuner_free(tuner);
		return NULL;
	}
	return tuner;
}

/* The earlier ones come first. */
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

static void trials_count(struct look *look)
{
	for (size_t i = 0; i < look->list.count; i++) {
		look->open += look->list.trials[i].outcome == OUTCOME_OPEN;
		look->completed += look->list.trials[i].outcome == OUTCOME_COMPLETED;
		look->failed += look->list.trials[i].outcome == OUTCOME_INFEASIBLE;
	}
}

static enum status look_open(struct look *look, struct error *err)
{
	enum status rc = trial_list_read(look->reconciler->store, look->run->row->id, &look->list, err);

	if (!rc)
		trials_count(look);
	return rc;
}

/* Only for looks that need them: with many trials it takes a while. */
static enum status trials_fill(struct look *look, struct error *err)
{
	const struct earlier_trials *earlier = &look->tuner->earlier;
	enum status rc = STATUS_OK;

	look->all_count = earlier->count + look->list.count;
	look->all = calloc(look->all_count + 1, sizeof(*look->all));
	look->values = calloc((look->list.count + 1) * look->study->parameter_count, sizeof(*look->values));
	if (!look->all || !look->values)
		return error_no_memory(err);
	if (earlier->count)
		memcpy(look->all, earlier->trials, earlier->count * sizeof(*look->all));
	look->trials = look->all + earlier->count;
	for (size_t i = 0; !rc && i < look->list.count; i++)
		rc = trial_fill(look, i, err);
	return rc;
}

static void look_close(struct look *look)
{
	trial_list_deinit(&look->list);
	free(look->all);
	free(look->values);
}

/* ---- metrics ---- */

static struct trial_metrics *metrics_of(struct look *look, const struct stored_trial *stored)
{
	struct tuner *tuner = look->tuner;
	AUTO(string) char *directory = trial_directory_path(look->reconciler, stored->run);

	if (stored->number > tuner->metric_size) {
		struct trial_metrics **grown =
			realloc(tuner->metrics, stored->number * sizeof(struct trial_metrics *));

		if (!grown)
			return NULL;
		memset(grown + tuner->metric_size, 0,
		       (stored->number - tuner->metric_size) * sizeof(struct trial_metrics *));
		tuner->metrics = grown;
		tuner->metric_size = stored->number;
	}
	if (!tuner->metrics[stored->number - 1] && directory)
		tuner->metrics[stored->number - 1] =
			trial_metrics_new(look->study, directory, (double)stored->running_us / 1e6);
	return tuner->metrics[stored->number - 1];
}

/* What others may be compared with stays, and so does its file, for the next daemon. */
static void metrics_forget(struct look *look, const struct stored_trial *stored)
{
	struct tuner *tuner = look->tuner;

	if (look->study->stopping != STOPPING_NONE) {
		trial_metrics_settle(tuner->metrics[stored->number - 1]);
		return;
	}
	trial_metrics_free(tuner->metrics[stored->number - 1]);
	tuner->metrics[stored->number - 1] = NULL;
	trial_directory_remove(look->reconciler, stored->run);
}

static char *final_text(const struct study *study, const struct measurement *final)
{
	AUTO(json) json_t *values = json_array();
	AUTO(json) json_t *object = NULL;

	for (size_t m = 0; m < study->metric_count; m++)
		json_array_append_new(values,
				      isnan(final->values[m]) ? json_null() : json_real(final->values[m]));
	object = json_pack("{s:I, s:O}", "step", (json_int_t) final->step, "values", values);
	return json_dump_compact(object);
}

/* ---- trials that have ended ---- */

static enum trial_outcome outcome_of(const struct stored_trial *stored)
{
	switch (stored->state) {
	case JOB_SUCCEEDED:
		return OUTCOME_COMPLETED;
	case JOB_CANCELLED:
		return stored->stopped_early ? OUTCOME_COMPLETED : OUTCOME_CANCELLED;
	default:
		return OUTCOME_INFEASIBLE;
	}
}

static void absence_tell(struct look *look, const struct stored_trial *stored,
			 const struct trial_metrics *metrics)
{
	struct text text AUTO_TEXT = { 0 };

	trial_metrics_absence(metrics, &text);
	if (!text.failed)
		job_run_say(look->run, SEVERITY_WARNING, "Trial %u has no value of its metric: %s",
			    stored->number, text.data);
}

static enum status ended_store(struct look *look, const struct stored_trial *stored, struct error *err)
{
	const enum trial_outcome outcome = outcome_of(stored);
	struct trial_metrics *metrics;
	struct trial whole = { 0 };
	struct measurement final;
	AUTO(string) char *text = NULL;
	enum status rc;

	if (!look->study)
		return trial_end(look->reconciler->store, look->run->row->id, stored->number, outcome, NULL,
				 err);
	metrics = metrics_of(look, stored);
	if (!metrics)
		return error_no_memory(err);
	trial_metrics_read(metrics);
	whole.measurements = (struct measurement *)trial_metrics_all(metrics, &whole.measurement_count);
	if (trial_final(look->study, &whole, &final)) {
		text = final_text(look->study, &final);
		if (!text)
			return error_no_memory(err);
	} else if (outcome == OUTCOME_COMPLETED) {
		absence_tell(look, stored, metrics);
	}
	rc = trial_end(look->reconciler->store, look->run->row->id, stored->number, outcome, text, err);
	if (!rc)
		metrics_forget(look, stored);
	return rc;
}

/* True when there were some: the next look sees them. */
static bool ended_take(struct look *look)
{
	struct error err AUTO_ERROR = { 0 };
	bool any = false;

	for (size_t i = 0; i < look->list.count; i++) {
		const struct stored_trial *stored = &look->list.trials[i];

		if (stored->outcome != OUTCOME_OPEN || !job_state_is_final(stored->state))
			continue;
		if (ended_store(look, stored, &err)) {
			postpone(look, "trial-unstored", &err);
			return false;
		}
		any = true;
	}
	return any;
}

/* ---- the job's own states ---- */

static struct planned_change *decide(struct look *look, enum job_state verdict)
{
	struct planned_change *planned = pass_add(look->reconciler->pass, look->run, look->run->row->state);

	if (!planned)
		return NULL;
	planned->change.decides = true;
	planned->change.verdict = verdict;
	log_event(LOG_INFO, "job-decided", "project=%s job=%s verdict=%s", look->run->row->project,
		  look->run->row->job_id, job_state_name(verdict));
	return planned;
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

/* The trial's own errorMessage, without the pointer to the logs that the job's own will have. */
static void failure_write(struct text *text, const struct look *look, size_t index)
{
	const struct stored_trial *stored = &look->list.trials[index];
	const char *message = stored->error_message ? stored->error_message : "";
	const char *more = strstr(message, "\n\nTo find out more");

	text_printf(
		text,
		"Hyperparameter Tuning Trial #%u Failed before any other successful trials were completed. "
		"The failed trial had parameters: ",
		stored->number);
	parameters_write(text, look, index);
	text_puts(text, ". The trial's error message was: ");
	text_append(text, message, more ? (size_t)(more - message) : strlen(message));
}

static size_t first_failed(const struct look *look)
{
	size_t first = look->list.count;

	for (size_t i = 0; i < look->list.count; i++)
		if (look->list.trials[i].outcome == OUTCOME_INFEASIBLE &&
		    (first == look->list.count ||
		     look->list.trials[i].ended_as < look->list.trials[first].ended_as))
			first = i;
	return first;
}

static bool too_many_failed(const struct look *look)
{
	const struct plan *plan = look->run->plan;
	const unsigned half = plan->trial_count / 2;

	if (!look->failed)
		return false;
	if (plan->failed_trial_count)
		return look->failed >= plan->failed_trial_count;
	return !look->completed || look->failed > (half > 1 ? half : 1);
}

static void fail(struct look *look)
{
	struct error err AUTO_ERROR = { 0 };
	struct text text AUTO_TEXT = { 0 };
	struct planned_change *planned;

	if (trials_fill(look, &err)) {
		postpone(look, "trials-unread", &err);
		return;
	}
	planned = decide(look, JOB_FAILED);
	if (!planned)
		return;
	if (!look->completed)
		failure_write(&text, look, first_failed(look));
	else
		text_printf(&text, "%u trials of the hyperparameter tuning job failed.", look->failed);
	planned->verdict_message = text_take(&text);
}

static void begin(struct look *look)
{
	struct planned_change *planned = pass_add(look->reconciler->pass, look->run, JOB_PREPARING);
	AUTO(string) char *line = differences_line(look->run->plan->differences, NULL);

	if (!planned)
		return;
	planned->change.started_us = clock_wall_us(look->reconciler->clock);
	if (line)
		job_run_say(look->run, SEVERITY_NOTICE, "%s", line);
}

static bool some_trial_ran(const struct look *look)
{
	for (size_t i = 0; i < look->list.count; i++)
		if (look->list.trials[i].running_us)
			return true;
	return false;
}

static void declare_running(struct look *look)
{
	struct planned_change *planned = pass_add(look->reconciler->pass, look->run, JOB_RUNNING);

	if (planned)
		planned->change.running_us = clock_wall_us(look->reconciler->clock);
}

/* ---- new trials ---- */

struct batch {
	struct trial_start *starts;
	struct job *runs;
	double **values;
	size_t count;
};

static void batch_deinit(struct batch *batch)
{
	for (size_t i = 0; i < batch->count; i++) {
		free((char *)batch->starts[i].parameters);
		job_deinit(&batch->runs[i]);
		free(batch->values[i]);
	}
	free(batch->starts);
	free(batch->runs);
	free(batch->values);
}

static enum status batch_init(struct batch *batch, const struct study *study, size_t count, struct error *err)
{
	batch->starts = calloc(count, sizeof(*batch->starts));
	batch->runs = calloc(count, sizeof(*batch->runs));
	batch->values = calloc(count, sizeof(*batch->values));
	if (!batch->starts || !batch->runs || !batch->values)
		return error_no_memory(err);
	batch->count = count;
	for (size_t i = 0; i < count; i++) {
		batch->values[i] = calloc(study->parameter_count, sizeof(double));
		if (!batch->values[i])
			return error_no_memory(err);
	}
	return STATUS_OK;
}

/* The job that runs a trial. Its id holds what no client's may: a point. */
static enum status run_make(const struct look *look, unsigned number, const double *values, struct job *job,
			    struct error *err)
{
	const struct job *row = look->run->row;
	AUTO(plan) struct plan *plan = NULL;
	enum status rc = trial_plan_make(look->run->plan, look->study, number, values, &plan, err);

	if (rc)
		return rc;
	*job = (struct job){ .priority = row->priority,
			     .ml_units_per_hour = row->ml_units_per_hour,
			     .parent = row->id,
			     .trial = number };
	job->project = strdup(row->project);
	/* What is offered of a running job is told by its input. */
	job->input =
		strdup(strstr(row->input, "\"enableWebAccess\":true") ? "{\"enableWebAccess\":true}" : "{}");
	job->plan = plan_to_text(plan);
	if (asprintf(&job->job_id, "%s.%u", row->job_id, number) < 0)
		job->job_id = NULL;
	return job->project && job->input && job->plan && job->job_id ? STATUS_OK : error_no_memory(err);
}

static enum status batch_fill(const struct look *look, struct batch *batch, size_t count, struct error *err)
{
	enum status rc = STATUS_OK;

	for (size_t i = 0; !rc && i < count; i++) {
		const unsigned number = (unsigned)(look->list.count + i + 1);
		AUTO(json) json_t *values = trial_values_to_json(look->study, batch->values[i]);

		rc = run_make(look, number, batch->values[i], &batch->runs[i], err);
		batch->starts[i] = (struct trial_start){ .number = number,
							 .known = (unsigned)look->list.count - look->open,
							 .parameters = json_dump_compact(values),
							 .run = &batch->runs[i] };
		if (!rc && !batch->starts[i].parameters)
			rc = error_no_memory(err);
	}
	return rc;
}

/* The scheduler takes up what was stored, as if it had been told by a client. */
static enum status runs_take_up(struct look *look, const struct batch *batch, size_t count, struct error *err)
{
	enum status rc = STATUS_OK;

	for (size_t i = 0; !rc && i < count; i++) {
		struct job *row = NULL;

		rc = job_get_by_id(look->reconciler->store, batch->starts[i].run_id, &row, err);
		if (!rc)
			rc = scheduler_add(look->scheduler, row, err);
	}
	if (rc)
		look->scheduler->catch_up_at_us = clock_mono_us(look->reconciler->clock) + RETRY_AFTER_US;
	look->scheduler->queue_stirred = look->scheduler->again = true;
	return rc;
}

static enum status trials_add(struct look *look, size_t wanted, struct error *err)
{
	struct batch batch = { 0 };
	size_t count = 0;
	enum status rc = batch_init(&batch, look->study, wanted, err);

	if (!rc)
		rc = trials_fill(look, err);
	if (!rc)
		rc = study_suggest(look->study, look->all, look->all_count, wanted, batch.values, &count,
				   err);
	look->tuner->exhausted = !rc && count < wanted;
	if (!rc)
		rc = batch_fill(look, &batch, count, err);
	if (!rc && count)
		rc = trials_start(look->reconciler->store, look->run->row->id, batch.starts, count, err);
	if (!rc && count)
		rc = runs_take_up(look, &batch, count, err);
	batch_deinit(&batch);
	/* Whether the job ended meanwhile, or there is nothing left to try: the next look sees it. */
	look->run->stale = look->run->stale || rc == STATUS_ABORTED;
	look->run->dirty = look->scheduler->again = rc == STATUS_OK || rc == STATUS_ABORTED;
	return rc == STATUS_ABORTED ? STATUS_OK : rc;
}

static size_t trials_wanted(const struct look *look)
{
	const struct plan *plan = look->run->plan;
	const size_t left = plan->trial_count > look->list.count ? plan->trial_count - look->list.count : 0;
	const size_t room =
		plan->parallel_trial_count > look->open ? plan->parallel_trial_count - look->open : 0;

	if (look->tuner->exhausted)
		return 0;
	return left < room ? left : room;
}

/* ---- early stopping ---- */

static void trial_end_early(struct look *look, const struct stored_trial *stored)
{
	struct error err AUTO_ERROR = { 0 };

	if ((!stored->stopped_early &&
	     trial_stop(look->reconciler->store, look->run->row->id, stored->number, &err)) ||
	    job_cancel_by_id(look->reconciler->store, stored->run, "The trial was stopped early.", &err)) {
		postpone(look, "trial-unstopped", &err);
		return;
	}
	if (!stored->stopped_early)
		job_run_say(look->run, SEVERITY_INFO,
			    "Trial %u is stopped early: it is not likely to become the best.",
			    stored->number);
}

/* What the trial has reported: of one that has ended it is read once. */
static void curve_fill(struct look *look, size_t index)
{
	const struct stored_trial *stored = &look->list.trials[index];
	const bool runs = stored->state == JOB_RUNNING;
	struct trial_metrics *metrics;

	if (!runs && stored->outcome != OUTCOME_COMPLETED)
		return;
	metrics = metrics_of(look, stored);
	if (!metrics)
		return;
	trial_metrics_read(metrics);
	if (!runs)
		trial_metrics_settle(metrics);
	look->trials[index].measurements =
		(struct measurement *)trial_metrics_all(metrics, &look->trials[index].measurement_count);
}

/* Looks at what those that run have reported, and comes again. */
static void running_watch(struct look *look)
{
	const int64_t now_us = clock_mono_us(look->reconciler->clock);
	struct tuner *tuner = look->tuner;
	struct error err AUTO_ERROR = { 0 };

	look->run->look_at_us = tuner->read_at_us + READ_EVERY_US;
	if (tuner->read_at_us && now_us < look->run->look_at_us)
		return;
	tuner->read_at_us = now_us;
	look->run->look_at_us = now_us + READ_EVERY_US;
	if (trials_fill(look, &err)) {
		postpone(look, "trials-unread", &err);
		return;
	}
	for (size_t i = 0; i < look->list.count; i++)
		curve_fill(look, i);
	for (size_t i = 0; i < look->list.count; i++) {
		const struct stored_trial *stored = &look->list.trials[i];

		/* One that was marked, and not told before a crash, is told now. */
		if (stored->state == JOB_RUNNING &&
		    (stored->stopped_early || (look->trials[i].measurement_count &&
					       study_should_stop(look->study, look->all, look->all_count,
								 look->tuner->earlier.count + i))))
			trial_end_early(look, stored);
	}
}

/* ---- the end ---- */

static void open_cancel(struct look *look)
{
	struct error err AUTO_ERROR = { 0 };

	for (size_t i = 0; i < look->list.count; i++) {
		const struct stored_trial *stored = &look->list.trials[i];

		if (stored->outcome == OUTCOME_OPEN && !job_state_is_final(stored->state) &&
		    stored->state != JOB_CANCELLING &&
		    job_cancel_by_id(look->reconciler->store, stored->run,
				     "The trial was cancelled with its job.", &err)) {
			postpone(look, "trial-uncancelled", &err);
			return;
		}
	}
}

/* As for any job that has nothing in the engine. */
static void end(struct look *look)
{
	struct job_run *run = look->run;
	const struct job_view view = {
		.state = run->row->state,
		.verdict = run->row->verdict,
		.explained = run->row->verdict == JOB_SUCCEEDED || run->row->error_message,
		.torn_down = run->row->torn_down,
		.last_words_stored = run->last_words_stored,
	};

	for (size_t i = 0; !run->row->torn_down && i < look->list.count; i++)
		trial_directory_remove(look->reconciler, look->list.trials[i].run);
	switch (reconcile_next(&view)) {
	case STEP_EXPLAIN:
		step_explain(look->reconciler, run);
		break;
	case STEP_CLOSE:
		step_close(look->reconciler, run);
		break;
	case STEP_FINISH:
		step_finish(look->reconciler, run);
		break;
	default:
		break;
	}
}

static void next_while_wanted(struct look *look)
{
	const struct clock *clock = look->reconciler->clock;
	struct error err AUTO_ERROR = { 0 };
	const int64_t now_us = clock_mono_us(clock);
	const size_t wanted = trials_wanted(look);

	if (job_deadline_us(look->run, clock_wall_us(clock), now_us) <= now_us) {
		step_expire(look->reconciler, look->run);
	} else if (look->run->row->state == JOB_QUEUED) {
		begin(look);
	} else if (too_many_failed(look)) {
		fail(look);
	} else if (look->run->row->state == JOB_PREPARING && some_trial_ran(look)) {
		declare_running(look);
	} else if (wanted) {
		if (trials_add(look, wanted, &err))
			postpone(look, "trials-unstored", &err);
	} else if (!look->open) {
		decide(look, JOB_SUCCEEDED);
	} else if (look->study->stopping != STOPPING_NONE) {
		running_watch(look);
	}
}

static void look_act(struct look *look)
{
	if (ended_take(look)) {
		look->run->dirty = look->scheduler->again = true;
		return;
	}
	if (look->run->hold_until_us)
		return;
	if (look->run->row->verdict == JOB_STATE_UNSPECIFIED)
		next_while_wanted(look);
	else if (look->open)
		open_cancel(look);
	else
		end(look);
}

static void fault_decide(struct look *look, struct error *err)
{
	struct planned_change *planned = decide(look, JOB_FAILED);

	if (planned)
		planned->verdict_message = err->text ? TAKE(err->text) : NULL;
}

/* False: memory ran out, and it is tried again. A study that cannot be read leaves none. */
static bool study_open(struct look *look, struct error *err)
{
	struct job_run *run = look->run;

	if (!run->tuner)
		run->tuner = tuner_open(look->reconciler->store, run, err);
	if (!run->tuner && (err->status == STATUS_INTERNAL || err->status == STATUS_UNAVAILABLE)) {
		postpone(look, "study-unread", err);
		return false;
	}
	look->tuner = run->tuner;
	look->study = run->tuner ? run->tuner->study : NULL;
	return true;
}

void tuner_step(struct scheduler *scheduler, struct job_run *run)
{
	struct look look = { .scheduler = scheduler, .reconciler = &scheduler->reconciler, .run = run };
	struct error err AUTO_ERROR = { 0 };

	run->look_at_us = 0;
	if (run->change_pending || !study_open(&look, &err))
		return;
	if (!look.study && run->row->verdict == JOB_STATE_UNSPECIFIED)
		fault_decide(&look, &err);
	else if (look_open(&look, &err))
		postpone(&look, "trials-unread", &err);
	else
		look_act(&look);
	look_close(&look);
	if (run->note_count && !run->change_pending)
		pass_add(&scheduler->pass, run, run->row->state);
}
