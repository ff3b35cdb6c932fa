/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the trials of tuning jobs. The stored texts have the form in which clients read them: numbers are copied,
 * not parsed. */
#include "api/ml/trials_render.h"

#include <stdlib.h>
#include <string.h>

#include "api/message/message_write.h"
#include "api/ml/job_units.h"
#include "api/ml/messages.h"
#include "api/ml/ml.h"
#include "api/training/shells_render.h"
#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/plan/plan.h"
#include "scheduler/tuning/study.h"
#include "store/jobs/jobs.h"
#include "store/jobs/trials.h"

/* A trial, with the value by which the trials are sorted. */
struct shown {
	size_t begin, end; /* begin and end of the value in the stored text */
	unsigned number;
	bool measured, minimized;
	double value;
};

/* The jobs of a page, which are written one after the other. */
struct page {
	const struct call *call;
	const struct job *jobs;
	struct trials_reported *reported;
	int64_t *ids; /* ids of the tuning jobs; their indexes in jobs */
	size_t *places;
	size_t count, at; /* at: how many were begun */
	int64_t now_us;
	bool failed; /* the store failed: no further trials are written */

	/* Of the current job: */
	struct study *study; /* NULL: it cannot be read */
	struct plan *plan;   /* set only if shells; NULL: it cannot be read */
	bool read_whole;     /* all trials of the job could be read */
	bool shells;         /* answers have addresses of shells */
	unsigned completed;
	double ml_units;
	struct text text; /* the members of its trials so far */
	struct shown *shown;
	size_t shown_count, shown_size;
};

/* ---- a trial ---- */

enum { DIGITS_OF_WHOLE_NUMBERS = 15 };
static const char number_bytes[] = "+-.0123456789Ee";

/* Writes a whole number without a fraction, if doubles represent it exactly, as parameter_value_write() does. */
static void number_render(struct text *text, const char *number, size_t length)
{
	const bool whole = length > 2 && memcmp(number + length - 2, ".0", 2) == 0;

	if (whole && length - 2 - (*number == '-') <= DIGITS_OF_WHOLE_NUMBERS)
		length -= 2;
	text_putc(text, '"');
	text_append(text, number, length);
	text_putc(text, '"');
}

/* Writes the parameters. @values: "[0.5,null,2.0]"; the number of a category is its index. */
static void parameters_render(const struct study *study, const char *values, struct writer *answer)
{
	struct writer map = member_message(answer, "hyperparameters");

	for (size_t i = 0; i < study->parameter_count && (*values == '[' || *values == ','); i++) {
		const struct parameter *parameter = &study->parameters[i];
		const size_t length = strspn(++values, number_bytes);

		if (length && parameter->type == PARAMETER_CATEGORICAL) {
			const size_t category = strtoul(values, NULL, 10);

			member_text(&map, parameter->name,
				    category < parameter->value_count ? parameter->categories[category] : "");
		} else if (length) {
			number_render(member_begin(&map, parameter->name), values, length);
		}
		values += strcspn(values, ",]");
	}
	message_close(&map);
}

/* Writes the final measurement of @trial, which is stored as "[0.5,null]". */
static void final_render(const struct stored_trial *trial, struct shown *shown, struct writer *answer)
{
	const char *value = trial->final && *trial->final == '[' ? trial->final + 1 : "";
	const size_t length = strspn(value, number_bytes);
	struct writer metric;
	char *end;

	shown->value = strtod(value, &end);
	if (!length || end != value + length)
		return;
	shown->measured = true;
	metric = member_message(answer, "finalMetric");
	member_int(&metric, "trainingStep", trial->final_step);
	text_append(member_begin(&metric, "objectiveValue"), value, length);
	message_close(&metric);
}

/* Returns the trial's state. A trial that was stopped early counts as succeeded. */
static enum job_state state_of(const struct stored_trial *trial)
{
	return trial->stopped_early && trial->state == JOB_CANCELLED ? JOB_SUCCEEDED : trial->state;
}

static void trial_render(struct page *page, const struct stored_trial *trial, struct shown *shown)
{
	struct writer answer = message_open(&page->text, &ml_trial);

	member_int(&answer, "trialId", trial->number);
	parameters_render(page->study, trial->parameters, &answer);
	final_render(trial, shown, &answer);
	if (trial->stopped_early)
		member_bool(&answer, "isTrialStoppedEarly", true);
	member_time(&answer, "startTime", trial->started_us, TIME_SECONDS);
	member_time(&answer, "endTime", trial->ended_us, TIME_SECONDS);
	member_text(&answer, "state", job_state_name(state_of(trial)));
	if (page->shells && trial->state == JOB_RUNNING)
		shells_render(page->call, trial->run, page->plan, &answer);
	message_close(&answer);
}

/* ---- ML units of trials ---- */

static double trial_ml_units(const struct job *job, const struct stored_trial *trial, int64_t now_us)
{
	const struct job run = { .running_us = trial->running_us,
				 .started_us = trial->started_us,
				 .ended_us = trial->ended_us,
				 .state = trial->state,
				 .ml_units_per_hour = job->ml_units_per_hour };

	return job_ml_units(&run, now_us);
}

double trials_ml_units(const struct job *job, const struct trial_list *list, int64_t now_us)
{
	double units = 0;

	for (size_t i = 0; i < list->count; i++)
		units += trial_ml_units(job, &list->trials[i], now_us);
	return units;
}

/* ---- a job ---- */

static const struct job *job_at(const struct page *page)
{
	return &page->jobs[page->places[page->at - 1]];
}

static enum status study_read(struct page *page, const struct job *job, struct error *err)
{
	AUTO(json) json_t *search = NULL;
	enum status rc = plan_search_from_text(job->plan, &search, err);

	if (!rc)
		rc = study_from_json(search, &page->study, err);
	if (!rc && page->shells)
		rc = plan_from_text(job->plan, &page->plan, err);
	return rc;
}

/* Begins a job of the page; the one before was completed. */
static void job_begin(struct page *page)
{
	struct error err AUTO_ERROR = { 0 };
	const struct job *job;

	page->at++;
	job = job_at(page);
	page->shells = shells_reported(page->call, job);
	page->completed = 0;
	page->ml_units = 0;
	page->shown_count = 0;
	text_clear(&page->text);
	page->read_whole = !study_read(page, job, &err);
	if (!page->read_whole)
		log_event(LOG_ERROR, "trials-unread", "job=%s error=\"%s\"", job->job_id,
			  err.text ? err.text : "");
}

/* Sorts the best trial first, and trials without a value last. Source: outputs of finished jobs, which begin with
 * the best trial. */
static int compare_values(const void *left, const void *right)
{
	const struct shown *a = left, *b = right;
	const double way = a->minimized ? 1 : -1;

	if (a->measured != b->measured)
		return a->measured ? -1 : 1;
	if (a->measured && a->value != b->value)
		return way * a->value < way * b->value ? -1 : 1;
	return a->number < b->number ? -1 : 1;
}

static void list_render(struct page *page, struct text *text)
{
	struct writer output = message_open(text, &ml_training_output);
	struct writer trials;

	if (job_state_is_final(job_at(page)->state) && page->shown_count)
		qsort(page->shown, page->shown_count, sizeof(*page->shown), compare_values);
	if (page->completed)
		member_int(&output, "completedTrialCount", page->completed);
	trials = member_list(&output, "trials");
	for (size_t i = 0; i < page->shown_count; i++)
		element_json(&trials, page->text.data + page->shown[i].begin,
			     page->shown[i].end - page->shown[i].begin);
	message_close(&trials);
	member_bool(&output, "isHyperparameterTuningJob", true);
	member_text(&output, "hyperparameterMetricTag", page->study->metrics[0].name);
	message_close(&output);
}

static void job_finish(struct page *page)
{
	struct trials_reported *reported;

	if (!page->at)
		return;
	reported = &page->reported[page->places[page->at - 1]];
	if (page->read_whole && !page->failed) {
		list_render(page, &reported->output);
		reported->ml_units = page->ml_units;
	}
	study_free(page->study);
	plan_free(page->plan);
	page->study = NULL;
	page->plan = NULL;
}

/* Begins the output of all jobs up to index @at, also of jobs without trials. */
static void page_advance(struct page *page, size_t at)
{
	while (page->at < at) {
		job_finish(page);
		job_begin(page);
	}
}

static struct shown *shown_add(struct page *page)
{
	if (page->shown_count == page->shown_size) {
		page->shown_size = page->shown_size ? page->shown_size * 2 : 128;
		page->shown = memory_resize(page->shown, page->shown_size, sizeof(*page->shown));
	}
	return &page->shown[page->shown_count++];
}

static void trial_take(void *arg, size_t index, const struct stored_trial *trial)
{
	struct page *page = arg;
	struct shown *shown;

	page_advance(page, index + 1);
	if (!page->read_whole)
		return;
	shown = shown_add(page);
	*shown = (struct shown){ .begin = page->text.length,
				 .number = trial->number,
				 .minimized = page->study->metrics[0].minimized };
	trial_render(page, trial, shown);
	shown->end = page->text.length;
	page->completed += trial->outcome == OUTCOME_COMPLETED;
	page->ml_units += trial_ml_units(job_at(page), trial, page->now_us);
}

/* ---- a page ---- */

static bool page_tunes(const struct page *page, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if ((page->jobs[i].traits & JOB_TRAIT_SEARCH))
			return true;
	return false;
}

static void page_init(struct page *page, size_t count)
{
	page->reported = memory_calloc(count + 1, sizeof(*page->reported));
	page->ids = memory_calloc(count + 1, sizeof(*page->ids));
	page->places = memory_calloc(count + 1, sizeof(*page->places));
	for (size_t i = 0; i < count; i++) {
		if (!(page->jobs[i].traits & JOB_TRAIT_SEARCH))
			continue;
		page->ids[page->count] = page->jobs[i].id;
		page->places[page->count++] = i;
	}
}

static void page_deinit(struct page *page)
{
	free(page->ids);
	free(page->places);
	free(page->shown);
	text_deinit(&page->text);
}

static void page_read(struct page *page, struct store *store)
{
	struct error err AUTO_ERROR = { 0 };

	if (!page->count)
		return;
	if (trials_visit(store, page->ids, page->count, trial_take, page, &err)) {
		log_event(LOG_ERROR, "trials-unread", "error=\"%s\"", err.text ? err.text : "");
		page->failed = true;
	} else {
		page_advance(page, page->count);
	}
	job_finish(page);
}

struct trials_reported *trials_render(const struct call *call, const struct job *jobs, size_t count)
{
	const struct ml_context *context = call->context;
	struct page page = { .call = call, .jobs = jobs, .now_us = clock_wall_us(context->training.clock) };

	if (!page_tunes(&page, count))
		return NULL;
	page_init(&page, count);
	page_read(&page, context->training.store);
	page_deinit(&page);
	return page.reported;
}

void trials_reported_free(struct trials_reported *reported, size_t count)
{
	for (size_t i = 0; reported && i < count; i++)
		text_deinit(&reported[i].output);
	free(reported);
}
