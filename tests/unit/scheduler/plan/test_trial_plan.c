/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <sodium.h>
#include <string.h>

#include "daemon/base/json.h"
#include "scheduler/plan/trial_plan.h"
#include "scheduler/tuning/study.h"
#include "tests/unit/scheduler/plan/plan_testing.h"
#include "tests/unit/testing.h"

static char *const optimizers[] = { (char *)"sgd", (char *)"-a=b c", (char *)"adam" };
static double adam[] = { 2 };
static struct parameter parameters[] = {
	{ .name = (char *)"rate", .type = PARAMETER_DOUBLE, .minimum = 0, .maximum = 1, .parent = -1 },
	{ .name = (char *)"layers", .type = PARAMETER_INTEGER, .minimum = 1, .maximum = 9, .parent = -1 },
	{ .name = (char *)"optimizer",
	  .type = PARAMETER_CATEGORICAL,
	  .categories = (char **)optimizers,
	  .value_count = 3,
	  .parent = -1 },
	{ .name = (char *)"beta",
	  .type = PARAMETER_DOUBLE,
	  .minimum = 0,
	  .maximum = 1,
	  .parent = 2,
	  .parent_values = adam,
	  .parent_value_count = 1 },
};
static struct metric metric = { .name = (char *)"accuracy" };
static const struct study study = {
	.seed = 1, .parameters = parameters, .parameter_count = 4, .metrics = &metric, .metric_count = 1
};

static struct plan *tuning_plan(const char *job_dir)
{
	struct plan *plan = plan_named("p", "t");

	plan->job_dir = job_dir ? strdup(job_dir) : NULL;
	plan->search = study_to_json(&study);
	plan->trial_count = 5;
	plan->parallel_trial_count = 1;
	plan->max_running_us = plan->max_wait_us = 1000;
	plan->pools[ROLE_MASTER].count = 1;
	plan->pools[ROLE_MASTER].image = strdup("image:1");
	plan->pools[ROLE_MASTER].args = json_pack("[s, s]", "--epochs", "3");
	plan->pools[ROLE_WORKER].count = 2;
	plan->pools[ROLE_WORKER].image = strdup("image:1");
	return plan;
}

static struct plan *trial_of(const char *job_dir, unsigned number, const double *values)
{
	AUTO(plan) struct plan *job = tuning_plan(job_dir);
	struct plan *plan = trial_plan_make(job, &study, number, values);

	assert_true(plan_tunes(job));
	assert_false(plan_tunes(plan));
	return plan;
}

static void assert_args(const struct plan *plan, enum role role, const char *expected)
{
	AUTO(string) char *text = json_dump_compact(plan->pools[role].args);

	assert_string_equal(text, expected);
}

static void parameters_come_behind_the_clients_arguments_and_the_directory_last(void **state)
{
	(void)state;
	const double values[] = { 0.1 + 0.2, 3, 2, 0.9 };
	AUTO(plan) struct plan *plan = trial_of("gs://b/d", 7, values);

	assert_args(plan, ROLE_MASTER,
		    "[\"--epochs\",\"3\",\"--rate=0.30000000000000004\",\"--layers=3\",\"--optimizer=adam\","
		    "\"--beta=0.9\",\"--job-dir\",\"gs://b/d/7\"]");
	assert_args(plan, ROLE_WORKER,
		    "[\"--rate=0.30000000000000004\",\"--layers=3\",\"--optimizer=adam\","
		    "\"--beta=0.9\",\"--job-dir\",\"gs://b/d/7\"]");
	assert_int_equal(plan->trial, 7);
	assert_true(plan->max_running_us == 0 && plan->max_wait_us == 0);
}

/* Vertex AI passes the directory in variables. */
static void only_one_dialect_passes_the_directory(void **state)
{
	(void)state;
	const double values[] = { 0.5, 1, 0, NAN };
	AUTO(plan) struct plan *job = tuning_plan("gs://b/d/");
	AUTO(plan) struct plan *plan = NULL;

	free(job->dialect);
	job->dialect = strdup("aiplatform");
	plan = trial_plan_make(job, &study, 3, values);
	assert_args(plan, ROLE_WORKER, "[\"--rate=0.5\",\"--layers=1\",\"--optimizer=sgd\"]");
	assert_string_equal(plan->job_dir, "gs://b/d/3/");
}

static void what_is_inactive_is_not_passed(void **state)
{
	(void)state;
	const double values[] = { 1e-300, 1, 1, NAN };
	AUTO(plan) struct plan *plan = trial_of(NULL, 1, values);

	assert_args(plan, ROLE_MASTER,
		    "[\"--epochs\",\"3\",\"--rate=1e-300\",\"--layers=1\",\"--optimizer=-a=b c\"]");
}

static void each_trial_has_its_own_directory_and_cluster(void **state)
{
	(void)state;
	const double values[] = { 0.5, 1, 0, NAN };
	AUTO(plan) struct plan *plain = trial_of("gs://b/d", 1, values);
	AUTO(plan) struct plan *slash = trial_of("gs://b/d/", 12, values);
	AUTO(plan) struct plan *again = trial_of("gs://b/d/", 12, values);

	assert_string_equal(plain->job_dir, "gs://b/d/1");
	assert_string_equal(slash->job_dir, "gs://b/d/12");
	assert_string_not_equal(plain->cluster_id, slash->cluster_id);
	assert_string_not_equal(plain->cluster_id, "ab12cd34ef");
	assert_string_equal(slash->cluster_id, again->cluster_id);
	assert_int_equal(strlen(plain->cluster_id), 10);
}

static void a_trials_plan_holds_the_metrics_and_no_more_of_the_study(void **state)
{
	(void)state;
	const double values[] = { 0.5, 1, 0, NAN };
	AUTO(plan) struct plan *plan = trial_of(NULL, 1, values);
	AUTO(string) char *text = json_dump_compact(plan->search);

	assert_string_equal(text, "{\"metrics\":[{\"name\":\"accuracy\",\"minimized\":false}]}");
}

static void values_come_back_from_the_store_as_they_were(void **state)
{
	(void)state;
	const double values[] = { 0.1 + 0.2, 9, 2, NAN };
	AUTO(json) json_t *list = trial_values_to_json(&study, values);
	AUTO(string) char *text = json_dump_compact(list);
	double back[4];

	assert_int_equal(trial_values_from_text(&study, text, back, NULL), STATUS_OK);
	for (int i = 0; i < 3; i++)
		assert_true(back[i] == values[i]);
	assert_true(isnan(back[3]));
}

static void stored_values_that_are_none_are_refused_or_left_out(void **state)
{
	(void)state;
	double back[4];

	assert_int_equal(trial_values_from_text(&study, "[1,2,3]", back, NULL), STATUS_INTERNAL);
	assert_int_equal(trial_values_from_text(&study, "{}", back, NULL), STATUS_INTERNAL);
	assert_int_not_equal(trial_values_from_text(&study, "[1,", back, NULL), STATUS_OK);
	assert_int_equal(trial_values_from_text(&study, "[\"a\",2,3,-1]", back, NULL), STATUS_OK);
	assert_true(isnan(back[0]) && back[1] == 2 && isnan(back[2]));
	assert_int_equal(trial_values_from_text(&study, "[1,2,-1,0]", back, NULL), STATUS_OK);
	assert_true(isnan(back[2]));
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parameters_come_behind_the_clients_arguments_and_the_directory_last),
		cmocka_unit_test(only_one_dialect_passes_the_directory),
		cmocka_unit_test(what_is_inactive_is_not_passed),
		cmocka_unit_test(each_trial_has_its_own_directory_and_cluster),
		cmocka_unit_test(a_trials_plan_holds_the_metrics_and_no_more_of_the_study),
		cmocka_unit_test(values_come_back_from_the_store_as_they_were),
		cmocka_unit_test(stored_values_that_are_none_are_refused_or_left_out),
	};

	if (sodium_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
