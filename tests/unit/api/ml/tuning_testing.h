/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/api/ml/tuning_testing.h: tuning jobs with trials in the store, as if a scheduler had run them. */
#include "scheduler/tuning/study.h"
#include "store/jobs/trials.h"
#include "tests/unit/api/ml/ml_testing.h"

#define RATE "{'name':'rate','type':'double','scale':'linear','minimum':0,'maximum':1}"
#define KIND "{'name':'kind','type':'categorical','scale':'linear','categories':['plain','a, \\'b\\'']}"

/* A study of @parameters (the inside of an array, ' for "). */
static inline json_t *search_of(const char *parameters, bool minimized)
{
	AUTO(json)
	json_t *search =
		json_of("{'seed':7,'algorithm':'bandit','stopping':'none','metrics':[{'name':'loss'}]}");
	struct text text AUTO_TEXT = { 0 };

	text_printf(&text, "[%s]", parameters);
	json_object_set_new(json_array_get(json_object_get(search, "metrics"), 0), "minimized",
			    json_boolean(minimized));
	json_object_set_new(search, "parameters", json_of(text.data));
	return TAKE(search);
}

/* Stores a tuning job with this search, which it frees. */
static inline int64_t search_store(struct bench *bench, const char *job_id, json_t *search)
{
	AUTO(plan) struct plan *plan = plan_of("demo", job_id, 0, 0);

	plan->search = search;
	plan->trial_count = 9;
	plan->parallel_trial_count = 2;
	return plan_store(bench, plan, "{'hyperparameters':{'maxTrials':9}}");
}

/* Adds a trial; returns its run. */
static inline int64_t trial_store(struct bench *bench, int64_t job, unsigned number, const char *parameters)
{
	char name[32];
	struct job run;
	struct trial_start start = { .number = number, .parameters = parameters, .run = &run };

	snprintf(name, sizeof(name), "run.%d.%u", (int)job, number);
	run = job_named(name);
	run.parent = job;
	run.trial = number;
	if (trials_start(bench->store, job, &start, 1, &bench->err))
		fail_msg("%s", bench->err.text);
	return start.run_id;
}

static inline void state_set(struct bench *bench, int64_t job, enum job_state from, enum job_state to)
{
	const int64_t now_us = clock_wall_us(&bench->clock);
	struct job_change change = { .job = job, .from = from, .to = to };

	if (to == JOB_PREPARING)
		change.started_us = now_us;
	if (to == JOB_RUNNING)
		change.running_us = now_us;
	if (job_state_is_final(to))
		change.ended_us = now_us + 1000000;
	assert_int_equal(job_apply(bench->store, &change, 1, &bench->err), STATUS_OK);
	assert_true(change.applied);
}

static inline void job_to_running(struct bench *bench, int64_t job)
{
	state_set(bench, job, JOB_QUEUED, JOB_PREPARING);
	state_set(bench, job, JOB_PREPARING, JOB_RUNNING);
}

/* Ends a trial that never ran, with step 3 as its last. @final: NULL: without a measurement; @curve may be NULL. */
static inline void trial_finish(struct bench *bench, int64_t job, unsigned number, int64_t run,
				const char *final, const char *curve)
{
	const struct trial_ending ending = { .job = job,
					     .number = number,
					     .run = run,
					     .outcome = OUTCOME_COMPLETED,
					     .final_step = 3,
					     .final = final,
					     .curve = curve };

	job_to_running(bench, run);
	state_set(bench, run, JOB_RUNNING, JOB_SUCCEEDED);
	assert_int_equal(trial_end(bench->store, &ending, &bench->err), STATUS_OK);
}
