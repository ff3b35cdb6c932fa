/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/study_end.c: searches that end before they have had all their trials. */
#include "daemon/base/json.h"
#include "scheduler/study_limits.h"
#include "scheduler/tuning/study.h"
#include "store/trials.h"
#include "tests/unit/scheduler/scheduler_testing.h"

enum { TRIALS_MOST = 20 };

static const int64_t hour_us = INT64_C(3600) * 1000000;

static json_t *search_make(size_t metric_count)
{
	struct parameter parameter = {
		.name = (char *)"x", .type = PARAMETER_INTEGER, .minimum = 1, .maximum = 1000, .parent = -1
	};
	struct metric metrics[] = { { .name = (char *)"accuracy" }, { .name = (char *)"loss" } };
	const struct study study = { .seed = 7,
				     .parameters = &parameter,
				     .parameter_count = 1,
				     .metrics = metrics,
				     .metric_count = metric_count };

	return study_to_json(&study);
}

static int64_t search_submit(struct bench *bench, const struct study_limits *limits, unsigned parallel,
			     size_t metric_count)
{
	AUTO(plan) struct plan *plan = plan_new();
	AUTO(string) char *text = NULL;
	AUTO(job) struct job *stored = NULL;

	plan->dialect = strdup("ml");
	plan->project = strdup("p");
	plan->job_id = strdup("t");
	plan->cluster_id = strdup("ab12cd34ef");
	plan->region = strdup("us-central1");
	plan->input = strdup("{}");
	plan->search = search_make(metric_count);
	plan->study_limits = study_limits_to_json(limits);
	plan->trial_count = TRIALS_MOST;
	plan->parallel_trial_count = parallel;
	pool_fill(&plan->pools[ROLE_MASTER], &(struct shape){ .project = "p" }, "image:1", 1);
	text = plan_to_text(plan);
	assert_non_null(text);
	assert_int_equal(job_insert(bench->store,
				    &(struct job){ .project = (char *)"p",
						   .job_id = (char *)"t",
						   .input = (char *)"{}",
						   .output = (char *)"{}",
						   .plan = text },
				    NULL, 0, &stored, NULL),
			 STATUS_OK);
	return stored->id;
}

/* The trial, once it runs: its run. */
static int64_t trial_await(struct bench *bench, int64_t job, unsigned number)
{
	for (int i = 0; i < WAIT_MS; i++) {
		struct trial_list list AUTO_TRIAL_LIST = { 0 };

		assert_int_equal(trial_list_read(bench->store, job, &list, NULL), STATUS_OK);
		if (list.count >= number && list.trials[number - 1].state == JOB_RUNNING)
			return list.trials[number - 1].run;
		usleep(1000);
	}
	fail_msg("trial %u never ran", number);
	return 0;
}

static void trial_finish(struct bench *bench, int64_t run, double accuracy)
{
	const struct replica_key key = key_of(run, ROLE_MASTER, 0);
	char path[160];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%lld/output.metrics", bench->trials_dir, (long long)run);
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "{\"global_step\":\"1\",\"timestamp\":1.5,\"accuracy\":\"%.6f\",\"trial\":\"1\"}\n",
		accuracy);
	fclose(file);
	fake_engine_exit(bench->fake, &key, 0);
}

/* Until the tuner has looked at its end. */
static void outcome_await(struct bench *bench, int64_t job, unsigned number)
{
	for (int i = 0; i < WAIT_MS; i++) {
		struct trial_list list AUTO_TRIAL_LIST = { 0 };

		assert_int_equal(trial_list_read(bench->store, job, &list, NULL), STATUS_OK);
		if (list.trials[number - 1].outcome != OUTCOME_OPEN)
			return;
		usleep(1000);
	}
	fail_msg("trial %u never ended", number);
}

static void trials_check(struct bench *bench, int64_t job, size_t completed, size_t cancelled)
{
	struct trial_list list AUTO_TRIAL_LIST = { 0 };
	size_t counts[OUTCOME_CANCELLED + 1] = { 0 };

	assert_int_equal(trial_list_read(bench->store, job, &list, NULL), STATUS_OK);
	for (size_t i = 0; i < list.count; i++)
		counts[list.trials[i].outcome]++;
	assert_int_equal(list.count, completed + cancelled);
	assert_int_equal(counts[OUTCOME_COMPLETED], completed);
	assert_int_equal(counts[OUTCOME_CANCELLED], cancelled);
}

/* Broken: progress_fill() without ended_since_best: all twenty were tried. */
static void a_search_that_gets_no_better_ends(void **state)
{
	static const struct study_limits limits = { .idle_trials = 2 };
	static const double reached[] = { 0.5, 0.4, 0.9, 0.8, 0.7 };
	struct bench *bench = *state;
	const int64_t job = search_submit(bench, &limits, 1, 1);

	fake_engine_up(bench->fake);
	for (unsigned i = 0; i < COUNT_OF(reached); i++)
		trial_finish(bench, trial_await(bench, job, i + 1), reached[i]);
	idle_await(bench);
	job_check(bench, job, JOB_SUCCEEDED, NULL);
	trials_check(bench, job, COUNT_OF(reached), 0);
}

/* Which of two metrics would be better? Broken: has_progress for any number of them: ended after one trial. */
static void with_two_metrics_nothing_is_better(void **state)
{
	static const struct study_limits limits = { .idle_trials = 1, .most_trials = 3 };
	struct bench *bench = *state;
	const int64_t job = search_submit(bench, &limits, 1, 2);

	fake_engine_up(bench->fake);
	for (unsigned i = 1; i <= 3; i++)
		trial_finish(bench, trial_await(bench, job, i), 0.5);
	idle_await(bench);
	trials_check(bench, job, 3, 0);
}

/* Nothing else happens at that moment. Broken: study_room() without next_us: looked at when the trials ended. */
static void what_runs_when_the_time_is_over_is_stopped_if_that_is_wanted(void **state)
{
	static const struct study_limits limits = { .most_us = INT64_C(3600) * 1000000, .interrupts = true };
	struct bench *bench = *state;
	const int64_t job = search_submit(bench, &limits, 2, 1);

	fake_engine_up(bench->fake);
	trial_finish(bench, trial_await(bench, job, 1), 0.5);
	trial_await(bench, job, 2);
	trial_await(bench, job, 3);
	step_clock_move(&bench->clock.step, 2 * hour_us * 1000);
	scheduler_clock_stepped(bench->scheduler);
	idle_await(bench);
	job_check(bench, job, JOB_SUCCEEDED, NULL);
	trials_check(bench, job, 3, 0);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_STOP), 2);
}

/* Broken: open_interrupt() whatever the limits say: the second was stopped. */
static void what_runs_when_the_time_is_over_runs_to_its_end_otherwise(void **state)
{
	static const struct study_limits limits = { .most_us = INT64_C(3600) * 1000000 };
	struct bench *bench = *state;
	const int64_t job = search_submit(bench, &limits, 2, 1);
	int64_t first, second;

	fake_engine_up(bench->fake);
	first = trial_await(bench, job, 1);
	second = trial_await(bench, job, 2);
	step_clock_move(&bench->clock.step, 2 * hour_us * 1000);
	scheduler_clock_stepped(bench->scheduler);
	trial_finish(bench, first, 0.5);
	outcome_await(bench, job, 1);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_STOP),
			 0); /* what is stopped cannot be finished */
	trial_finish(bench, second, 0.6);
	idle_await(bench);
	job_check(bench, job, JOB_SUCCEEDED, NULL);
	trials_check(bench, job, 2, 0);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_STOP), 0);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(a_search_that_gets_no_better_ends),
		TEST(with_two_metrics_nothing_is_better),
		TEST(what_runs_when_the_time_is_over_is_stopped_if_that_is_wanted),
		TEST(what_runs_when_the_time_is_over_runs_to_its_end_otherwise),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	if (sodium_init() < 0)
		return 1;
	return cmocka_run_group_tests_name("study end", tests, NULL, NULL);
}
