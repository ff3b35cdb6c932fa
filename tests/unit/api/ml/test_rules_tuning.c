/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/api/ml/job_testing.h"

#define SPEC(rest)  "{'hyperparameters':{" rest "}}"
#define PARAM(rest) SPEC("'params':[{'parameterName':'p'," rest "}]")
#define FIRST       "hyperparameters.params[0]"
#define GOOD        NULL, NULL

static void parameters_have_what_their_type_needs(void **state)
{
	static const struct input_row rows[] = {
		{ PARAM("'type':'DOUBLE','minValue':0,'maxValue':1"), GOOD },
		{ PARAM("'type':'DOUBLE','minValue':1,'maxValue':1"), GOOD },
		{ PARAM("'type':'DOUBLE','minValue':-1"), GOOD },
		{ PARAM("'type':'DOUBLE'"), FIRST, "needs minValue and maxValue" },
		{ PARAM("'type':'INTEGER'"), FIRST, "needs minValue and maxValue" },
		{ PARAM("'type':'INTEGER','maxValue':1"), GOOD },
		{ PARAM("'type':'INTEGER','minValue':-9007199254740992,'maxValue':9007199254740992"), GOOD },
		{ PARAM("'type':'INTEGER','maxValue':9007199254740994"), FIRST, "2^53" },
		{ PARAM("'type':'INTEGER','minValue':-1e300"), FIRST, "2^53" },
		{ PARAM("'type':'DOUBLE','minValue':-1e308,'maxValue':1e308"), GOOD },
		{ PARAM("'type':'INTEGER','minValue':5,'maxValue':4"), FIRST, "greater" },
		{ PARAM("'type':'INTEGER','minValue':1.5,'maxValue':7"), FIRST, "whole" },
		{ PARAM("'type':'INTEGER','minValue':'-Infinity','maxValue':7"), FIRST, "finite" },
		{ PARAM("'type':'DISCRETE','discreteValues':[1],'minValue':9,'maxValue':3"), GOOD },
		{ PARAM("'type':'CATEGORICAL','categoricalValues':['a'],'maxValue':1"), FIRST,
		  "or maxValue" },
		{ PARAM("'type':'DOUBLE','maxValue':1,'scaleType':'UNIT_LINEAR_SCALE'"), GOOD },
		{ PARAM("'type':'PARAMETER_TYPE_UNSPECIFIED','maxValue':1"), FIRST, "type is required" },
		{ PARAM("'type':'DOUBLE','minValue':2,'maxValue':1"), FIRST, "greater" },
		{ PARAM("'type':'DOUBLE','minValue':'NaN','maxValue':1"), FIRST, "finite" },
		{ PARAM("'type':'DOUBLE','maxValue':'Infinity'"), FIRST, "finite" },
		{ PARAM("'type':'INTEGER','minValue':-3,'maxValue':7.0"), GOOD },
		{ PARAM("'type':'INTEGER','minValue':1,'maxValue':7.5"), FIRST, "whole" },
		{ PARAM("'type':'CATEGORICAL','categoricalValues':['a']"), GOOD },
		{ PARAM("'type':'CATEGORICAL'"), FIRST, "categoricalValues" },
		{ PARAM("'type':'CATEGORICAL','categoricalValues':['a'],'minValue':1"), FIRST,
		  "no minValue" },
		{ PARAM("'type':'CATEGORICAL','categoricalValues':['a'],'scaleType':'UNIT_LINEAR_SCALE'"),
		  FIRST, "no scaleType" },
		{ PARAM("'type':'CATEGORICAL','categoricalValues':['a'],'scaleType':'NONE'"), GOOD },
		{ PARAM("'type':'DISCRETE','discreteValues':[1,2.5,4]"), GOOD },
		{ PARAM("'type':'DISCRETE','discreteValues':[0]"), GOOD },
		{ PARAM("'type':'DISCRETE'"), FIRST, "discreteValues" },
		{ PARAM("'type':'DISCRETE','discreteValues':[1,1]"), FIRST, "increasing" },
		{ PARAM("'type':'DISCRETE','discreteValues':[2,1]"), FIRST, "increasing" },
		{ PARAM("'type':'DISCRETE','discreteValues':['NaN']"), FIRST, "finite" },
		{ PARAM("'maxValue':1"), FIRST, "type is required" },
	};

	(void)state;
	assert_input_rows(rows, COUNT_OF(rows));
}

static void logarithmic_scales_need_positive_values(void **state)
{
	static const struct input_row rows[] = {
		{ PARAM("'type':'DOUBLE','minValue':0.1,'maxValue':1,'scaleType':'UNIT_LOG_SCALE'"), GOOD },
		{ PARAM("'type':'DOUBLE','minValue':0,'maxValue':1,'scaleType':'UNIT_LOG_SCALE'"), FIRST,
		  "greater than 0" },
		{ PARAM("'type':'INTEGER','minValue':-1,'maxValue':1,'scaleType':'UNIT_REVERSE_LOG_SCALE'"),
		  FIRST, NULL },
		{ PARAM("'type':'DOUBLE','minValue':-1,'maxValue':1,'scaleType':'UNIT_LINEAR_SCALE'"), GOOD },
		{ PARAM("'type':'DISCRETE','discreteValues':[0,1],'scaleType':'UNIT_LOG_SCALE'"), FIRST,
		  NULL },
	};

	(void)state;
	assert_input_rows(rows, COUNT_OF(rows));
}

#define NAMED(name) "{'parameterName':'" name "','type':'CATEGORICAL','categoricalValues':['a']}"

static void names_become_flags(void **state)
{
	static const struct input_row rows[] = {
		{ SPEC("'params':[" NAMED("a") "," NAMED("b_c") "," NAMED("d.e-f") "]"), GOOD },
		{ SPEC("'params':[" NAMED("a") "," NAMED("a") "]"), "hyperparameters.params[1]",
		  "given twice" },
		{ SPEC("'params':[" NAMED("") "]"), FIRST, "parameterName" },
		{ SPEC("'params':[" NAMED("-a") "]"), FIRST, NULL },
		{ SPEC("'params':[" NAMED("a=b") "]"), FIRST, NULL },
		{ SPEC("'params':[" NAMED("a b") "]"), FIRST, NULL },
		{ SPEC("'params':[]"), "hyperparameters.params", "At least one" },
		{ SPEC(""), "hyperparameters.params", "At least one" },
	};

	(void)state;
	assert_input_rows(rows, COUNT_OF(rows));
}

static void a_grid_has_no_doubles_and_counts_are_not_negative(void **state)
{
	static const struct input_row rows[] = {
		{ SPEC("'algorithm':'GRID_SEARCH','params':[" NAMED("a") "]"), GOOD },
		{ SPEC("'algorithm':'GRID_SEARCH','params':[{'parameterName':'p','type':'DOUBLE','maxValue':"
		       "1}]"),
		  FIRST, "GRID_SEARCH" },
		{ SPEC("'maxTrials':1,'maxParallelTrials':2147483647,'params':[" NAMED("a") "]"), GOOD },
		{ SPEC("'maxTrials':0,'maxParallelTrials':0,'maxFailedTrials':0,'params':[" NAMED("a") "]"),
		  GOOD },
		{ SPEC("'maxFailedTrials':3,'maxTrials':2,'params':[" NAMED("a") "]"), GOOD },
		{ SPEC("'algorithm':'GRID_SEARCH','params':[{'parameterName':'p','type':'INTEGER','maxValue':"
		       "3}]"),
		  GOOD },
		{ SPEC("'algorithm':'GRID_SEARCH','params':[{'parameterName':'p','type':'DISCRETE',"
		       "'discreteValues':[1,2]}]"),
		  GOOD },
		{ SPEC("'algorithm':'RANDOM_SEARCH','params':[{'parameterName':'p','type':'DOUBLE',"
		       "'maxValue':1}]"),
		  GOOD },
		{ SPEC("'algorithm':'POPULATION_BASED_TRAINING','params':[{'parameterName':'p','type':"
		       "'DOUBLE','maxValue':1}]"),
		  "hyperparameters.algorithm", "does not run population-based training" },
		{ SPEC("'goal':'GOAL_TYPE_UNSPECIFIED','params':[" NAMED("a") "]"), GOOD },
		{ SPEC("'resumePreviousJobId':'earlier_1','params':[" NAMED("a") "]"), GOOD },
		{ SPEC("'resumePreviousJobId':'earlier-1','params':[" NAMED("a") "]"),
		  "hyperparameters.resume_previous_job_id", "'earlier-1' is not the id of a job" },
		{ SPEC("'maxTrials':10000,'params':[" NAMED("a") "]"), GOOD },
		{ SPEC("'maxTrials':10001,'params':[" NAMED("a") "]"), "hyperparameters.max_trials",
		  "at most 10000 trials" },
		{ SPEC("'maxFailedTrials':2147483647,'params':[" NAMED("a") "]"), GOOD },
		{ SPEC("'maxTrials':-1,'params':[" NAMED("a") "]"), "hyperparameters.max_trials", NULL },
		{ SPEC("'maxParallelTrials':-1,'params':[" NAMED("a") "]"),
		  "hyperparameters.max_parallel_trials", NULL },
		{ SPEC("'maxFailedTrials':-1,'params':[" NAMED("a") "]"), "hyperparameters.max_failed_trials",
		  NULL },
	};

	(void)state;
	assert_input_rows(rows, COUNT_OF(rows));
}

static void a_thousand_discrete_values_are_the_most(void **state)
{
	AUTO(json) json_t *job = job_with_input(PARAM("'type':'DISCRETE','discreteValues':[0]"));
	json_t *spec = json_object_get(json_object_get(job, "trainingInput"), "hyperparameters");
	json_t *values =
		json_object_get(json_array_get(json_object_get(spec, "params"), 0), "discreteValues");
	struct error err AUTO_ERROR = { 0 };
	struct error more AUTO_ERROR = { 0 };

	(void)state;
	for (int i = 1; i < 1000; i++)
		json_array_append_new(values, json_integer(i));
	assert_int_equal(job_rules_check(job, &strict, &err), STATUS_OK);
	json_array_append_new(values, json_integer(1000));
	job_rules_check(job, &strict, &more);
	assert_true(has_violation(&more, FIRST, "At most 1000"));
}

static enum status with_categories(size_t count, struct error *err)
{
	AUTO(json) json_t *job = job_with_input(PARAM("'type':'CATEGORICAL'"));
	json_t *spec = json_object_get(json_object_get(job, "trainingInput"), "hyperparameters");
	json_t *values = json_array();

	json_object_set_new(json_array_get(json_object_get(spec, "params"), 0), "categoricalValues", values);
	for (size_t i = 0; i < count; i++)
		json_array_append_new(values, json_sprintf("value %zu", i));
	return job_rules_check(job, &strict, err);
}

static void a_thousand_categories_are_the_most(void **state)
{
	struct error err AUTO_ERROR = { 0 };
	struct error more AUTO_ERROR = { 0 };

	(void)state;
	assert_int_equal(with_categories(1000, &err), STATUS_OK);
	assert_int_equal(with_categories(1001, &more), STATUS_INVALID_ARGUMENT);
	assert_true(has_violation(&more, FIRST, "At most 1000 categoricalValues"));
}

static void two_hundred_and_fifty_six_parameters_are_the_most(void **state)
{
	AUTO(json) json_t *job = job_with_input(PARAM("'type':'DOUBLE','maxValue':1"));
	json_t *spec = json_object_get(json_object_get(job, "trainingInput"), "hyperparameters");
	json_t *params = json_object_get(spec, "params");
	struct error err AUTO_ERROR = { 0 };
	struct error more AUTO_ERROR = { 0 };

	(void)state;
	for (int i = 1; i < 256; i++)
		json_array_append_new(params,
				      json_pack("{s:o, s:s, s:i}", "parameterName", json_sprintf("p%d", i),
						"type", "DOUBLE", "maxValue", 1));
	assert_int_equal(job_rules_check(job, &strict, &err), STATUS_OK);
	json_array_append_new(params, json_pack("{s:s, s:s, s:i}", "parameterName", "one_more", "type",
						"DOUBLE", "maxValue", 1));
	assert_int_equal(job_rules_check(job, &strict, &more), STATUS_INVALID_ARGUMENT);
	assert_true(has_violation(&more, "hyperparameters.params", "At most 256"));
}

static void a_spec_full_of_faults_gets_some_of_them_said(void **state)
{
	AUTO(json) json_t *job = job_with_input(SPEC("'params':[{}]"));
	json_t *params = json_object_get(
		json_object_get(json_object_get(job, "trainingInput"), "hyperparameters"), "params");
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	for (int i = 0; i < 20000; i++)
		json_array_append_new(params, json_object());
	assert_int_equal(job_rules_check(job, &strict, &err), STATUS_INVALID_ARGUMENT);
	assert_in_range(err.violation_count, 100, 110);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parameters_have_what_their_type_needs),
		cmocka_unit_test(logarithmic_scales_need_positive_values),
		cmocka_unit_test(names_become_flags),
		cmocka_unit_test(a_grid_has_no_doubles_and_counts_are_not_negative),
		cmocka_unit_test(a_thousand_discrete_values_are_the_most),
		cmocka_unit_test(a_thousand_categories_are_the_most),
		cmocka_unit_test(two_hundred_and_fifty_six_parameters_are_the_most),
		cmocka_unit_test(a_spec_full_of_faults_gets_some_of_them_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
