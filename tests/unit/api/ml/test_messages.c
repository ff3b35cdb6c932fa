/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/messages.h"

#include <ctype.h>

#include "api/message/names.h"
#include "tests/unit/api/message/json_testing.h"

static const struct message *const roots[] = {
	&ml_job,
	&ml_list_jobs_query,
	&ml_list_jobs_response,
	&ml_update_job_query,
	&ml_cancel_job,
	&ml_empty,
	&ml_policy,
	&ml_get_iam_policy_query,
	&ml_set_iam_policy,
	&ml_test_iam_permissions,
	&ml_test_iam_permissions_response,
	&ml_get_config_response,
	&ml_location,
	&ml_list_locations_query,
	&ml_list_locations_response,
};

/* Calls @check for each field of each message that can be reached. No message here contains itself. */
static void each_field(const struct message *message,
		       void (*check)(const struct message *, const struct field *))
{
	for (const struct field *field = message->fields; field->name; field++) {
		check(message, field);
		if (field->type == FIELD_MESSAGE)
			each_field(field->message, check);
	}
}

static void check_row(const struct message *message, const struct field *field)
{
	AUTO(string) char *snake = name_to_snake(field->name);

	if (!field->help || !*field->help)
		fail_msg("%s.%s has no help", message->full_name, field->name);
	assert_true(islower((unsigned char)field->name[0]));
	assert_null(strchr(field->name, '_'));
	assert_ptr_equal(field_find(message, field->name), field); /* no two fields have the same name */
	assert_ptr_equal(field_find(message, snake), field);
	assert_int_equal(field->type == FIELD_ENUM, field->enum_type != NULL);
	assert_int_equal(field->type == FIELD_MESSAGE, field->message != NULL);
}

static void every_row_is_whole_and_its_name_its_own(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(roots); i++)
		each_field(roots[i], check_row);
}

static void check_enum(const struct message *message, const struct field *field)
{
	(void)message;
	if (field->type != FIELD_ENUM)
		return;
	assert_non_null(enum_name(field->enum_type, 0));
	assert_int_equal(strncmp(field->enum_type->full_name, "google.", 7), 0);
	for (const struct enum_value *value = field->enum_type->values; value->name; value++) {
		int number = -1;

		assert_true(enum_number(field->enum_type, value->name, &number));
		assert_int_equal(number, value->number);
		if (number != ENUM_BY_NAME)
			assert_string_equal(enum_name(field->enum_type, number), value->name);
		assert_true(value->help && *value->help);
	}
}

static void every_enum_has_a_zero_and_no_number_twice(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(roots); i++)
		each_field(roots[i], check_enum);
}

/* The enum numbers of google/cloud/ml/v1/job_service.proto and google/iam/v1/policy.proto that differ from the name's
 * position in the discovery document, numbers next to these, and numbers that only such a position would give. */
static void enums_have_the_numbers_of_the_public_protocol_buffers(void **state)
{
	static const struct {
		const char *given, *name; /* NULL: refused */
	} rows[] = {
		{ "{'trainingInput':{'scaleTier':1}}", "STANDARD_1" },
		{ "{'trainingInput':{'scaleTier':2}}", NULL },
		{ "{'trainingInput':{'scaleTier':3}}", "PREMIUM_1" },
		{ "{'trainingInput':{'scaleTier':4}}", NULL },
		{ "{'trainingInput':{'scaleTier':5}}", "CUSTOM" },
		{ "{'trainingInput':{'scaleTier':6}}", "BASIC_GPU" },
		{ "{'trainingInput':{'scaleTier':'6'}}", "BASIC_GPU" },
		{ "{'trainingInput':{'scaleTier':'BASIC_TPU'}}", "BASIC_TPU" },
		{ "{'trainingInput':{'masterConfig':{'acceleratorConfig':{'type':5}}}}", "NVIDIA_TESLA_T4" },
		{ "{'trainingInput':{'masterConfig':{'acceleratorConfig':{'type':6}}}}", NULL },
		{ "{'trainingInput':{'masterConfig':{'acceleratorConfig':{'type':'TPU_V2'}}}}", "TPU_V2" },
		{ "{'trainingInput':{'hyperparameters':{'goal':2}}}", "MINIMIZE" },
		{ "{'trainingInput':{'hyperparameters':{'algorithm':1}}}", NULL },
		{ "{'trainingInput':{'hyperparameters':{'params':[{'type':4}]}}}", "DISCRETE" },
		{ "{'trainingInput':{'hyperparameters':{'params':[{'scaleType':3}]}}}",
		  "UNIT_REVERSE_LOG_SCALE" },
		{ "{'predictionInput':{'dataFormat':1}}", "TEXT" },
		{ "{'predictionInput':{'dataFormat':3}}", "TF_RECORD_GZIP" },
		{ "{'predictionInput':{'dataFormat':4}}", NULL },
		{ "{'predictionInput':{'dataFormat':'JSON'}}", "\"JSON\"" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(json) json_t *body = json_of(rows[i].given);
		AUTO(json) json_t *job = NULL;
		const enum status rc = message_read(&ml_job, body, "job", &job, NULL);
		AUTO(string) char *shown = job ? json_dumps(job, JSON_COMPACT) : NULL;

		if (rc != (rows[i].name ? STATUS_OK : STATUS_INVALID_ARGUMENT) ||
		    (rows[i].name && !strstr(shown, rows[i].name)))
			fail_msg("%s: %s", rows[i].given, shown ? shown : "refused");
	}
}

/* A name is known if either of the two published schemas has it. */
static void fields_of_both_schemas_are_known(void **state)
{
	AUTO(json)
	json_t *body = json_of(
		"{'jobId':'j','trainingInput':{'nasJobSpec':{'multiTrialAlgorithmSpec':{'x':1},'"
		"previousNasJobId':'1'},"
		"'scheduling':{'strategy':'LOW_COST','resilientToWorkerRestart':true},"
		"'hyperparameters':{'algorithm':'POPULATION_BASED_TRAINING'}},"
		"'explanationInput':{'modelName':'m'},'explanationOutput':{'outputPath':'p'},"
		"'predictionInput':{'dataFormat':'TEXT','inputPaths':['gs://b/i'],'outputPath':'gs://b/o',"
		"'region':'us-central1','uri':'gs://b/m','batchSize':'8','maxWorkerCount':'2'}}");
	AUTO(json) json_t *job = NULL;
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	if (message_read(&ml_job, body, "job", &job, &err))
		fail_msg("%s", err.text);
	assert_json_text(
		job,
		"{'jobId':'j','trainingInput':{'hyperparameters':{'algorithm':'POPULATION_BASED_TRAINING'},"
		"'scheduling':{'strategy':'LOW_COST','resilientToWorkerRestart':true},"
		"'nasJobSpec':{'multiTrialAlgorithmSpec':{'x':1},'previousNasJobId':'1'}},"
		"'predictionInput':{'uri':'gs://b/m','dataFormat':'TEXT','inputPaths':['gs://b/i'],"
		"'outputPath':'gs://b/o','maxWorkerCount':'2','region':'us-central1','batchSize':'8'},"
		"'explanationInput':{'modelName':'m'}}");
}

/* Clients post the answer of a get. */
static void an_answered_job_can_be_posted_again(void **state)
{
	AUTO(json)
	json_t *body = json_of(
		"{'jobId':'j','trainingInput':{'region':'us-central1'},'createTime':'2022-02-09T17:36:42Z',"
		"'startTime':'2022-02-09T17:36:43Z','endTime':'2022-02-09T17:36:44Z','state':'SUCCEEDED',"
		"'errorMessage':'x','jobPosition':'3','etag':'2KRqIbAhzvM=','predictionOutput':{'nodeHours':"
		"1.5},"
		"'trainingOutput':{'consumedMLUnits':3.55,'completedTrialCount':'5','"
		"isHyperparameterTuningJob':true,"
		"'hyperparameterMetricTag':'t','webAccessUris':{'master-replica-0':'http://"
		"x'},'nasJobOutput':{},"
		"'builtInAlgorithmOutput':{'framework':'TENSORFLOW'},'isBuiltInAlgorithmJob':true,'trials':["
		"{'trialId':'1','hyperparameters':{'lr':'0.1'},'finalMetric':{'trainingStep':'7','"
		"objectiveValue':0.5},"
		"'state':'SUCCEEDED','startTime':'2022-02-09T17:36:42Z','isTrialStoppedEarly':true}]}}");
	AUTO(json) json_t *job = NULL;
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	if (message_read(&ml_job, body, "job", &job, &err))
		fail_msg("%s", err.text);
	assert_json_text(job, "{'jobId':'j','trainingInput':{'region':'us-central1'},'etag':'2KRqIbAhzvM='}");
}

static void queries_are_known_by_their_published_names(void **state)
{
	AUTO(json) json_t *list = json_of("[['pageSize','100'],['filter','state:FAILED'],['pageToken','t']]");
	AUTO(json) json_t *patch = json_of("[['updateMask','labels']]");
	AUTO(json) json_t *canonical = NULL;
	AUTO(json) json_t *mask = NULL;

	(void)state;
	assert_int_equal(message_read_query(&ml_list_jobs_query, list, &canonical, NULL), STATUS_OK);
	assert_json_text(canonical, "{'filter':'state:FAILED','pageToken':'t','pageSize':100}");
	assert_int_equal(message_read_query(&ml_update_job_query, patch, &mask, NULL), STATUS_OK);
	assert_json_text(mask, "{'updateMask':'labels'}");
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_whole_and_its_name_its_own),
		cmocka_unit_test(every_enum_has_a_zero_and_no_number_twice),
		cmocka_unit_test(enums_have_the_numbers_of_the_public_protocol_buffers),
		cmocka_unit_test(fields_of_both_schemas_are_known),
		cmocka_unit_test(an_answered_job_can_be_posted_again),
		cmocka_unit_test(queries_are_known_by_their_published_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
