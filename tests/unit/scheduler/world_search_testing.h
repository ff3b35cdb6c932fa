/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/scheduler/world_search_testing.h: searches of world_testing.h: their trials in the store, suggestions that are
 * computed when a history says so, and what trials report. Each change is compared with the truth before it is kept. */
#include "scheduler/search/suggester.h"
#include "scheduler/search/trial_directory.h"
#include "scheduler/search/trial_metrics.h"
#include "scheduler/tuning/measurements.h"
#include "store/jobs/trials.h"
#include "tests/unit/scheduler/world_store_testing.h"

typeof(trial_list_read) __wrap_trial_list_read;
typeof(trials_start) __wrap_trials_start;
typeof(trial_end) __wrap_trial_end;
typeof(trial_stop) __wrap_trial_stop;
typeof(trial_curves_put) __wrap_trial_curves_put;
typeof(trial_curves_visit) __wrap_trial_curves_visit;
typeof(job_cancel_by_id) __wrap_job_cancel_by_id;
typeof(suggester_new) __wrap_suggester_new;
typeof(suggester_free) __wrap_suggester_free;
typeof(suggester_ask) __wrap_suggester_ask;
typeof(suggester_take) __wrap_suggester_take;
typeof(suggester_forget) __wrap_suggester_forget;
typeof(trial_directory_path) __wrap_trial_directory_path;
typeof(trial_directory_make) __wrap_trial_directory_make;
typeof(trial_directory_remove) __wrap_trial_directory_remove;
typeof(trial_metrics_new) __wrap_trial_metrics_new;
typeof(trial_metrics_free) __wrap_trial_metrics_free;
typeof(trial_metrics_resume) __wrap_trial_metrics_resume;
typeof(trial_metrics_finish) __wrap_trial_metrics_finish;
typeof(trial_metrics_read) __wrap_trial_metrics_read;
typeof(trial_metrics_all) __wrap_trial_metrics_all;
typeof(trial_metrics_from_events) __wrap_trial_metrics_from_events;
typeof(trial_metrics_text) __wrap_trial_metrics_text;
typeof(trial_metrics_stored) __wrap_trial_metrics_stored;
typeof(trial_metrics_changed) __wrap_trial_metrics_changed;
typeof(trial_metrics_absence) __wrap_trial_metrics_absence;
typeof(trial_metrics_caveat) __wrap_trial_metrics_caveat;
typeof(study_should_stop) __wrap_study_should_stop;

/* ---- trials in the store ---- */

enum status __wrap_trial_list_read(struct store *store, int64_t job, struct trial_list *ret_list,
				   struct error *err)
{
	const struct client_job *of = client_job(job);

	(void)store, (void)err;
	ret_list->count = of->trial_count;
	ret_list->trials = calloc(TRIALS_MAX, sizeof(*ret_list->trials));
	for (size_t i = 0; i < of->trial_count; i++) {
		const struct job *row = &client_job(of->trials[i].run)->row;
		struct stored_trial *trial = &ret_list->trials[i];

		*trial = of->trials[i];
		trial->parameters = text_of(trial->parameters);
		trial->final = text_of(trial->final);
		trial->state = row->state;
		trial->started_us = row->started_us;
		trial->running_us = row->running_us;
		trial->ended_us = row->ended_us;
	}
	return STATUS_OK;
}

static void trial_begin(struct client_job *of, struct trial_start *start)
{
	struct stored_trial *trial = &of->trials[of->trial_count];
	struct client_job *run = &world.jobs[world.job_count];

	if (start->number != of->trial_count + 1)
		VIOLATE("job %d begins trial %u after %zu", (int)of->row.id, start->number, of->trial_count);
	if (of->trial_count == of->trial_limit || world.job_count == JOBS_MAX) {
		VIOLATE("job %d begins a trial more than it may", (int)of->row.id);
		return;
	}
	if (start->known > trials_with(of, OUTCOME_COMPLETED) + trials_with(of, OUTCOME_INFEASIBLE) +
				   trials_with(of, OUTCOME_CANCELLED))
		VIOLATE("trial %u knows of trials that have not ended", start->number);
	world.job_count++;
	of->trial_count++;
	start->run_id = (int64_t)world.job_count;
	*trial = (struct stored_trial){ .number = start->number,
					.run = start->run_id,
					.known = start->known,
					.parameters = strdup(start->parameters) };
	*run = (struct client_job){ .row = row_copy(start->run) };
	run->row.id = start->run_id;
	run->row.state = JOB_QUEUED;
	run->row.created_us = world.wall_us;
	run->row.attempt = 1;
	run->running_us = of->trial_running_us;
	if (trials_with(of, OUTCOME_OPEN) > of->parallel)
		VIOLATE("job %d has more than %u trials under way", (int)of->row.id, of->parallel);
	TELL("store: job %d begins trial %u as job %d", (int)of->row.id, start->number, (int)start->run_id);
}

enum status __wrap_trials_start(struct store *store, int64_t job, struct trial_start *starts, size_t count,
				struct error *err)
{
	struct client_job *of = client_job(job);

	(void)store;
	if (!store_works(err))
		return STATUS_INTERNAL;
	if (choose(32) == 31)
		client_cancel(of); /* just before */
	if (job_state_is_final(of->row.state) || of->row.outcome)
		return error_set(err, STATUS_ABORTED, NULL, "the tuning job is about to end");
	for (size_t i = 0; i < count; i++)
		trial_begin(of, &starts[i]);
	return STATUS_OK;
}

static enum trial_outcome true_outcome(const struct stored_trial *trial, const struct job *row)
{
	const enum job_state state = job_state_is_final(row->state) ? row->state : row->outcome;

	if (!job_state_is_final(state))
		VIOLATE("trial %u ends before its job %d", trial->number, (int)row->id);
	if (state == JOB_CANCELLED)
		return trial->stopped_early ? OUTCOME_COMPLETED : OUTCOME_CANCELLED;
	return state == JOB_SUCCEEDED ? OUTCOME_COMPLETED : OUTCOME_INFEASIBLE;
}

/* The last report of a trial is its result. */
static double report_value(int64_t run, unsigned step)
{
	return (double)((uint64_t)(run * 131 + step * 7) * 0x9e3779b97f4a7c15u >> 40);
}

static void final_check(const struct trial_ending *ending, const struct client_job *run)
{
	AUTO(json) json_t *final = ending->final ? json_loads(ending->final, 0, NULL) : NULL;

	if (!final != !run->reports)
		VIOLATE("trial %u %s", ending->number,
			run->reports ? "lost its result" : "has a result, and reported none");
	else if (final && json_number_value(json_array_get(final, 0)) !=
				  report_value(ending->run, run->reports))
		VIOLATE("trial %u has the result %s after %u reports", ending->number, ending->final,
			run->reports);
}

enum status __wrap_trial_end(struct store *store, const struct trial_ending *ending, struct error *err)
{
	struct client_job *of = client_job(ending->job);
	struct stored_trial *trial = &of->trials[ending->number - 1];
	struct client_job *run = client_job(trial->run);

	(void)store;
	if (!store_works(err))
		return STATUS_INTERNAL;
	TELL("store: trial %u of job %d ends: %d, %s", ending->number, (int)ending->job, ending->outcome,
	     ending->final ? ending->final : "without a result");
	if (trial->outcome != OUTCOME_OPEN)
		VIOLATE("trial %u of job %d ends twice", ending->number, (int)ending->job);
	if (ending->run != trial->run || ending->outcome != true_outcome(trial, &run->row))
		VIOLATE("trial %u of job %d has the wrong outcome %d", ending->number, (int)ending->job,
			ending->outcome);
	final_check(ending, run);
	for (size_t i = 0; i < world.container_count; i++)
		if (world.containers[i].status.key.job == trial->run && world.containers[i].exists &&
		    world.containers[i].status.observed == REPLICA_RUNNING)
			VIOLATE("trial %u ends while %s runs", ending->number,
				key_text(&world.containers[i].status.key));
	trial->ended_as = 1 + of->trial_count - trials_with(of, OUTCOME_OPEN);
	trial->outcome = ending->outcome;
	trial->final = text_of(ending->final);
	if (ending->curve)
		run->reports_stored = run->reports;
	return STATUS_OK;
}

enum status __wrap_trial_stop(struct store *store, const struct trial_stopping *stopping, struct error *err)
{
	struct client_job *of = client_job(stopping->job);
	struct stored_trial *trial = &of->trials[stopping->number - 1];

	(void)store;
	if (!store_works(err))
		return STATUS_INTERNAL;
	if (trial->outcome != OUTCOME_OPEN || trial->stopped_early ||
	    job_state_is_final(client_job(trial->run)->row.outcome))
		return STATUS_OK;
	TELL("store: trial %u of job %d is stopped", stopping->number, (int)stopping->job);
	if (!of->stops_early || client_job(trial->run)->row.state != JOB_RUNNING)
		VIOLATE("trial %u of job %d is stopped", stopping->number, (int)stopping->job);
	trial->stopped_early = true;
	client_cancel(client_job(trial->run));
	return STATUS_OK;
}

enum status __wrap_job_cancel_by_id(struct store *store, int64_t id, const char *message, struct error *err)
{
	(void)store, (void)message;
	if (!store_works(err))
		return STATUS_INTERNAL;
	client_cancel(client_job(id));
	return STATUS_OK;
}

enum status __wrap_trial_curves_put(struct store *store, const struct trial_curve *curves, size_t count,
				    struct error *err)
{
	(void)store;
	if (!store_works(err))
		return STATUS_INTERNAL;
	for (size_t i = 0; i < count; i++)
		client_job(curves[i].run)->reports_stored = (unsigned)atoi(curves[i].points);
	return STATUS_OK;
}

enum status __wrap_trial_curves_visit(struct store *store, int64_t job,
				      enum status (*visit)(void *arg, const struct trial_curve *curve,
							   struct error *err),
				      void *arg, struct error *err)
{
	const struct client_job *of = client_job(job);

	(void)store;
	for (size_t i = 0; i < of->trial_count; i++) {
		const struct client_job *run = client_job(of->trials[i].run);
		char points[16];

		snprintf(points, sizeof(points), "%u", run->reports_stored);
		if (run->reports_stored)
			visit(arg,
			      &(struct trial_curve){ .number = of->trials[i].number,
						     .run = run->row.id,
						     .outcome = of->trials[i].outcome,
						     .running_us = run->row.running_us,
						     .points = points },
			      err);
	}
	return STATUS_OK;
}

/* ---- reports ---- */

struct trial_metrics {
	struct measurements all;
	int64_t run;
	unsigned stored;
	bool finished;
};

char *__wrap_trial_directory_path(const struct reconciler *reconciler, int64_t run)
{
	char *path = NULL;

	(void)reconciler;
	return asprintf(&path, "%d", (int)run) > 0 ? path : NULL;
}

char *__wrap_trial_directory_make(const struct reconciler *reconciler, const struct job_run *run,
				  struct error *err)
{
	(void)reconciler, (void)err;
	if (world.effects_left && run->plan->trial)
		client_job(run->row->id)->has_directory = true;
	return strdup("/reports");
}

void __wrap_trial_directory_remove(const struct reconciler *reconciler, int64_t run)
{
	(void)reconciler;
	if (world.effects_left)
		client_job(run)->has_directory = false;
}

struct trial_metrics *__wrap_trial_metrics_new(const struct study *study, const struct trial_source *place,
					       double started_s)
{
	struct trial_metrics *metrics = calloc(1, sizeof(*metrics));

	(void)started_s;
	measurements_init(&metrics->all, study);
	metrics->run = atoll(place->directory);
	return metrics;
}

void __wrap_trial_metrics_free(struct trial_metrics *metrics)
{
	if (!metrics)
		return;
	measurements_deinit(&metrics->all);
	free(metrics);
}

static void reports_add(struct trial_metrics *metrics, unsigned until)
{
	for (unsigned step = (unsigned)metrics->all.reported + 1; step <= until; step++) {
		struct measurement next = { .step = step, .elapsed_s = step };

		next.values[0] = report_value(metrics->run, step);
		measurements_add(&metrics->all, &next);
	}
}

void __wrap_trial_metrics_read(struct trial_metrics *metrics)
{
	if (metrics->finished)
		VIOLATE("reports of job %d are read again", (int)metrics->run);
	reports_add(metrics, client_job(metrics->run)->reports);
}

enum status __wrap_trial_metrics_resume(struct trial_metrics *metrics, const char *text, struct error *err)
{
	(void)err;
	reports_add(metrics, (unsigned)atoi(text));
	metrics->stored = (unsigned)metrics->all.reported;
	return STATUS_OK;
}

void __wrap_trial_metrics_finish(struct trial_metrics *metrics)
{
	metrics->finished = true;
}

const struct measurements *__wrap_trial_metrics_all(const struct trial_metrics *metrics)
{
	return &metrics->all;
}

bool __wrap_trial_metrics_from_events(const struct trial_metrics *metrics)
{
	(void)metrics;
	return false;
}

char *__wrap_trial_metrics_text(const struct trial_metrics *metrics)
{
	char *text = NULL;

	return asprintf(&text, "%u", (unsigned)metrics->all.reported) > 0 ? text : NULL;
}

void __wrap_trial_metrics_stored(struct trial_metrics *metrics)
{
	metrics->stored = (unsigned)metrics->all.reported;
}

bool __wrap_trial_metrics_changed(const struct trial_metrics *metrics)
{
	return metrics->stored != metrics->all.reported;
}

void __wrap_trial_metrics_absence(const struct trial_metrics *metrics, struct text *text)
{
	(void)metrics;
	text_puts(text, "none was reported.");
}

void __wrap_trial_metrics_caveat(const struct trial_metrics *metrics, struct text *text)
{
	(void)metrics, (void)text;
}

bool __wrap_study_should_stop(const struct study *study, const struct trial *trials, size_t count,
			      size_t index)
{
	(void)study, (void)trials, (void)count, (void)index;
	return choose(3) == 1;
}

/* ---- suggestions ---- */

void __wrap_suggester_new(suggest_function suggest, void (*reported)(void *arg, int64_t job), void *arg,
			  struct suggester **ret_suggester)
{
	(void)suggest;
	world.suggested = reported;
	world.suggested_arg = arg;
	*ret_suggester = NULL;
}

static struct suggestion **suggestion_find(int64_t job)
{
	struct suggestion **at = &world.suggestions;

	while (*at && (*at)->job != job)
		at = &(*at)->next;
	return at;
}

static struct suggestion *suggestion_remove(struct suggestion **at)
{
	struct suggestion *suggestion = *at;

	if (suggestion)
		*at = suggestion->next;
	return suggestion;
}

void __wrap_suggester_free(struct suggester *suggester)
{
	(void)suggester;
	while (world.suggestions)
		suggestion_free(suggestion_remove(&world.suggestions));
}

void __wrap_suggester_ask(struct suggester *suggester, struct suggestion *suggestion)
{
	(void)suggester;
	if (!has_effect()) {
		suggestion_free(suggestion);
		return;
	}
	TELL("scheduler: asks for %zu trials of job %d", suggestion->wanted, (int)suggestion->job);
	if (*suggestion_find(suggestion->job))
		VIOLATE("job %d asks for two suggestions", (int)suggestion->job);
	suggestion->next = world.suggestions;
	world.suggestions = suggestion;
}

struct suggestion *__wrap_suggester_take(struct suggester *suggester, int64_t job)
{
	struct suggestion **at = suggestion_find(job);

	(void)suggester;
	return *at && (*at)->ended ? suggestion_remove(at) : NULL;
}

void __wrap_suggester_forget(struct suggester *suggester, int64_t job)
{
	(void)suggester;
	suggestion_free(suggestion_remove(suggestion_find(job)));
}

/* The one that was asked for first, of those that are not computed. @well: as asked for. */
static bool suggestion_compute(bool well)
{
	struct suggestion *suggestion = NULL;

	for (struct suggestion *one = world.suggestions; one; one = one->next)
		suggestion = one->ended ? suggestion : one;
	if (!suggestion)
		return false;
	suggestion->ended = true; /* here: it is computed */
	suggestion->count = suggestion->wanted;
	if (!well && choose(6) == 5) {
		suggestion->count = choose((unsigned)suggestion->wanted);
		client_job(suggestion->job)->exhausted = true;
	} else if (!well && choose(6) == 5) {
		suggestion->status = error_set(&suggestion->err, STATUS_INTERNAL, NULL, "as ordered");
	}
	for (size_t i = 0; i < suggestion->count; i++)
		suggestion->values[i][0] = 1.0 / (double)(suggestion->first + i);
	TELL("suggester: has %zu trials for job %d", suggestion->count, (int)suggestion->job);
	world.suggested(world.suggested_arg, suggestion->job);
	return true;
}

/* ---- clients ---- */

static void search_submit(unsigned trials, unsigned parallel, unsigned failed, bool stops_early)
{
	struct parameter parameter = {
		.name = (char *)"x", .type = PARAMETER_DOUBLE, .minimum = 0, .maximum = 1, .parent = -1
	};
	struct metric metric = { .name = (char *)"accuracy" };
	const struct study study = { .seed = 7,
				     .algorithm = ALGORITHM_RANDOM,
				     .stopping = stops_early ? STOPPING_MEDIAN : STOPPING_NONE,
				     .parameters = &parameter,
				     .parameter_count = 1,
				     .metrics = &metric,
				     .metric_count = 1 };
	AUTO(plan) struct plan *plan = client_plan(0, 0);
	struct client_job *job;

	if (!plan)
		return;
	plan->search = study_to_json(&study);
	plan->trial_count = trials;
	plan->parallel_trial_count = parallel;
	plan->failed_trial_count = failed;
	job = client_add(plan);
	job->searches = true;
	job->trial_limit = trials;
	job->parallel = parallel;
	job->failed_limit = failed;
	job->stops_early = stops_early;
	TELL("  it is a search: %u trials, %u at once", trials, parallel);
}
