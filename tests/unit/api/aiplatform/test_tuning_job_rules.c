/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/api/aiplatform/aiplatform_testing.h"

#define JOB                                                                                                  \
	"{'displayName':'x','maxTrialCount':4,'parallelTrialCount':2,'studySpec':" STUDY                     \
	",'trialJobSpec':{'workerPoolSpecs':[" POOL "]}}"
#define PARAMETERS(own) "{'studySpec':{'parameters':[" own "]}}"
#define PARAMETER(own)  PARAMETERS("{'parameterId':'a'," own "}")
#define FIELD           "1.Field: study_spec.parameters[0]"
#define CHILD(id, condition)                                                                                 \
	"{'parameterSpec':{'parameterId':'" id "','doubleValueSpec':{'maxValue':1}}" condition "}"
#define PARENT(children)                                                                                     \
	PARAMETER("'categoricalValueSpec':{'values':['x','y']},'conditionalParameterSpecs':[" children "]")
#define WHEN(values) ",'parentCategoricalValues':{'values':[" values "]}"

static enum status check(const json_t *job, struct error *err)
{
	return tuning_job_rules_check(job, &strict, err);
}

static void tuning_jobs_are_checked(void **state)
{
	/* clang-format off */
	static const struct rule_row rows[] = {
		{ "{}", NULL },
		{ "{'studySpec':null,'trialJobSpec':null}",
		  "1.Field: study_spec; Message: The study spec must be specified.|2.Field: trial_job_spec; Message: The trial job spec must be specified." },
		{ "{'maxTrialCount':0,'parallelTrialCount':0}",
		  "1.Field: max_trial_count; Message: The number must be from 1 to 10000, not 0.|2.Field: parallel_trial_count; Message: The number must be at least 1, not 0." },
		{ "{'maxFailedTrialCount':5}", "1.Field: max_failed_trial_count; Message: The number must not be greater than max_trial_count: 5." },
		{ "{'maxFailedTrialCount':4}", NULL },
		{ "{'trialJobSpec':{'network':'n'}}",
		  "1.Field: trial_job_spec.network; Message: 'n' is malformed: it should be projects/PROJECT_NUMBER/global/networks/NAME, with the project's number, not its id." },
		{ "{'studySpec':{'metrics':[]}}", "1.Field: study_spec.metrics; Message: At least one metric must be specified." },
		{ "{'studySpec':{'metrics':[{'metricId':'a'},{'metricId':'a'},{},{'metricId':'b c'}]}}",
		  "1.Field: study_spec.metrics[1].metric_id; Message: The metric id 'a' is not unique.|2.Field: study_spec.metrics[2].metric_id; Message: "
		  "The metric id must be specified.|3.Field: study_spec.metrics[3].metric_id; Message: The metric id must not contain whitespace: 'b c'." },
		{ PARAMETERS(""), "1.Field: study_spec.parameters; Message: At least one parameter must be specified." },
		{ PARAMETERS("{}"),
		  FIELD ".parameter_id; Message: The parameter id must be specified.|2.Field: study_spec.parameters[0]; Message: One of "
		  "double_value_spec, integer_value_spec, categorical_value_spec and discrete_value_spec must be specified." },
		{ PARAMETER("'doubleValueSpec':{'minValue':2,'maxValue':1}"), FIELD ".double_value_spec; Message: min_value must not be greater than max_value." },
		{ PARAMETER("'doubleValueSpec':{'maxValue':'NaN'}"), FIELD ".double_value_spec; Message: The bounds must be finite numbers." },
		{ PARAMETER("'integerValueSpec':{'maxValue':'9007199254740992'}"), NULL },
		{ PARAMETER("'integerValueSpec':{'maxValue':'9007199254740993'}"), FIELD ".integer_value_spec; Message: The bounds must lie between -2^53 and 2^53." },
		{ PARAMETER("'integerValueSpec':{'minValue':'-9223372036854775808','maxValue':1}"), FIELD ".integer_value_spec; Message: The bounds must lie between -2^53 and 2^53." },
		{ PARAMETER("'doubleValueSpec':{'maxValue':1},'scaleType':'UNIT_LOG_SCALE'"), FIELD ".double_value_spec; Message: The scale type UNIT_LOG_SCALE needs a min_value greater than 0." },
		{ PARAMETER("'categoricalValueSpec':{}"), FIELD ".categorical_value_spec.values; Message: At least one value must be specified." },
		{ PARAMETER("'categoricalValueSpec':{'values':['x','x']},'scaleType':1"),
		  FIELD ".scale_type; Message: A CATEGORICAL parameter has no scale type.|2.Field: study_spec.parameters[0].categorical_value_spec.values; Message: The value 'x' is not unique." },
		{ PARAMETER("'discreteValueSpec':{'values':[1,2,2]}"), FIELD ".discrete_value_spec.values; Message: The values must be finite, in increasing order and at least 1e-10 apart." },
		{ PARAMETER("'discreteValueSpec':{'values':[0,2]},'scaleType':3"), FIELD ".discrete_value_spec.values; Message: The scale type UNIT_REVERSE_LOG_SCALE needs values greater than 0." },
		{ "{'studySpec':{'algorithm':2}}", FIELD ".double_value_spec; Message: GRID_SEARCH takes INTEGER, CATEGORICAL and DISCRETE parameters only." },
		{ PARAMETERS("{'parameterId':'a b','doubleValueSpec':{}}"),
		  FIELD ".parameter_id; Message: The parameter id must be a word without whitespace and '=' that does not begin with '-': 'a b'." },
		{ PARAMETERS("{'parameterId':'a','doubleValueSpec':{}},{'parameterId':'a','doubleValueSpec':{}}"),
		  "1.Field: study_spec.parameters; Message: The parameter id 'a' is not unique: parameters may share one only when they have disjoint conditions on the same parent." },
		{ PARENT(CHILD("b", WHEN("'x'")) "," CHILD("b", WHEN("'y'"))), NULL },
		{ PARENT(CHILD("b", WHEN("'x'")) "," CHILD("b", WHEN("'y','x'"))),
		  "1.Field: study_spec.parameters; Message: The parameter id 'b' is not unique: parameters may share one only when they have disjoint conditions on the same parent." },
		{ PARENT(CHILD("b", "")), FIELD ".conditional_parameter_specs[0].parent_categorical_values; Message: It must be specified, as the parent is of type CATEGORICAL." },
		{ PARENT(CHILD("b", WHEN("'z'"))), FIELD ".conditional_parameter_specs[0].parent_categorical_values; Message: The parent cannot have the value at index 0." },
		{ PARENT(CHILD("b", ",'parentIntValues':{'values':[1]}")),
		  FIELD ".conditional_parameter_specs[0].parent_categorical_values; Message: It must be specified, as the parent is of type CATEGORICAL." },
		{ PARAMETER("'doubleValueSpec':{'maxValue':1},'conditionalParameterSpecs':[" CHILD("b", "") "]"),
		  FIELD ".conditional_parameter_specs[0]; Message: A parameter of type DOUBLE cannot have conditional parameters." },
		{ PARAMETER("'integerValueSpec':{'minValue':2,'maxValue':4},'conditionalParameterSpecs':[" CHILD("b", ",'parentIntValues':{'values':[4,5]}") "]"),
		  FIELD ".conditional_parameter_specs[0].parent_int_values; Message: The parent cannot have the value at index 1." },
		{ "{'studySpec':{'studyStoppingConfig':{'maxNumTrials':0,'minNumTrials':1}}}",
		  "1.Field: study_spec.study_stopping_config.max_num_trials; Message: The number must be at least 1, not 0.|2.Field: "
		  "study_spec.study_stopping_config.min_num_trials; Message: It must not be greater than max_num_trials." },
		{ "{'studySpec':{'convexAutomatedStoppingSpec':{'minStepCount':3}}}", NULL },
		{ "{'studySpec':{'convexAutomatedStoppingSpec':{'maxStepCount':-1}}}",
		  "1.Field: study_spec.convex_automated_stopping_spec.max_step_count; Message: The number must not be negative, nor too large: -1." },
		{ "{'studySpec':{'metrics':[{'metricId':'a','safetyConfig':{}}]}}",
		  "1.Field: study_spec.metrics[0].safety_config; Message: trainyard keeps no metrics safe: leave safetyConfig out." },
	};
	/* clang-format on */

	(void)state;
	assert_rule_rows(&aiplatform_tuning_job, JOB, check, rows, COUNT_OF(rows));
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(tuning_jobs_are_checked) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
