/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/api/aiplatform/aiplatform_testing.h"

#define DEFINITIONS "gs://google-cloud-aiplatform/schema/trainingjob/definition/"
#define PIPELINE                                                                                             \
	"{'displayName':'x','trainingTaskDefinition':'" DEFINITIONS "custom_task_1.0.0.yaml',"               \
	"'trainingTaskInputs':{'worker_pool_specs':[{'machine_spec':{'machineType':'n1-standard-4'},"        \
	"'replica_count':1.0,'containerSpec':{'imageUri':'gcr.io/p/i'}}],'scheduling':{'strategy':null}}}"
#define TUNING                                                                                               \
	"{'trainingTaskDefinition':'" DEFINITIONS "hyperparameter_tuning_task_1.0.0.yaml',"                  \
	"'trainingTaskInputs':{'worker_pool_specs':null,'scheduling':null,'maxTrialCount':2.0,"              \
	"'parallelTrialCount':1,'studySpec':" STUDY ",'trialJobSpec':{'workerPoolSpecs':[" POOL "]"

static enum status check(const json_t *pipeline, struct error *err)
{
	return pipeline_rules_check(pipeline, &strict, NULL, NULL, err);
}

static void pipelines_are_checked(void **state)
{
	/* clang-format off */
	static const struct rule_row rows[] = {
		{ "{}", NULL },
		{ "{'displayName':null,'labels':{'a':'B'}}", "1.Field: training_pipeline.display_name; Message: The display name must be specified.|2.Field: "
		  "training_pipeline.labels; Message: There can be no more than 64 labels attached to a single resource. Label keys and values can only "
		  "contain lowercase letters, numbers, dashes and underscores. Label keys must start with a letter or number, must be less than 64 "
		  "characters in length, and must be less that 128 bytes in length when encoded in UTF-8. Label values must be less than 64 characters "
		  "in length, and must be less that 128 bytes in length when encoded in UTF-8." },
		{ "{'trainingTaskDefinition':'" DEFINITIONS "automl_tabular_1.0.0.yaml'}",
		  "1.Field: training_pipeline.training_task_definition; Message: trainyard runs " DEFINITIONS "custom_task_1.0.0.yaml and " DEFINITIONS
		  "hyperparameter_tuning_task_1.0.0.yaml, not '" DEFINITIONS "automl_tabular_1.0.0.yaml'." },
		{ "{'trainingTaskInputs':null}", "1.Field: training_pipeline.training_task_inputs; Message: The training task inputs must be specified." },
		{ "{'trainingTaskInputs':{'network':'n'}}",
		  "1.Field: training_pipeline.training_task_inputs.network; Message: 'n' is malformed: it should be projects/PROJECT_NUMBER/global/networks/NAME, "
		  "with the project's number, not its id." },
		{ "{'modelToUpload':{'displayName':'m'}}",
		  "1.Field: training_pipeline.model_to_upload.artifact_uri; Message: Either artifact_uri or the base output directory of the training task must be specified." },
		{ "{'modelToUpload':{'displayName':'m','artifactUri':'gs://bucket/m'}}", NULL },
		{ "{'modelToUpload':{'displayName':'m','artifactUri':'gs://bucket/m','versionAliases':['default','a-B1']}}", NULL },
		{ "{'modelToUpload':{'displayName':'m','artifactUri':'gs://bucket/m','versionAliases':['ok','a-']}}",
		  "1.Field: training_pipeline.model_to_upload.version_aliases; Message: 'a-' is not valid: it should match [a-z][a-zA-Z0-9-]{0,126}[a-z0-9]." },
		{ "{'modelToUpload':{'displayName':'m'},'trainingTaskInputs':{'baseOutputDirectory':{'output_uri_prefix':'gs://bucket'}}}", NULL },
		{ "{'modelId':'1a','parentModel':'m'}",
		  "1.Field: training_pipeline.parent_model; Message: 'm' is malformed: it should be projects/PROJECT/locations/LOCATION/models/MODEL.|2.Field: "
		  "training_pipeline.model_id; Message: '1a' is not valid: it should have at most 63 lowercase letters, digits, dashes and underscores, and "
		  "not begin with a digit or a dash." },
		{ "{'inputDataConfig':{'datasetId':'1','annotationSchemaUri':'gs://x'}}",
		  "1.Field: training_pipeline.input_data_config; Message: trainyard has no managed data sets: leave inputDataConfig out, and let the program "
		  "read its data from Cloud Storage." },
		{ TUNING "}}}",
		  "1.Field: training_pipeline.training_task_inputs.trial_job_spec.base_output_directory; Message: An output directory must be specified for a "
		  "hyperparameter tuning task." },
		{ TUNING ",'baseOutputDirectory':{'outputUriPrefix':'gs://bucket/d'}}}}", NULL },
	};
	/* clang-format on */

	(void)state;
	assert_rule_rows(&aiplatform_training_pipeline, PIPELINE, check, rows, COUNT_OF(rows));
}

static void inputs_that_cannot_be_read_have_the_services_sentence(void **state)
{
	AUTO(json)
	json_t *pipeline =
		patched(&aiplatform_training_pipeline, PIPELINE,
			"{'trainingTaskInputs':{'worker_pool_specs':[{'containerSpec':{'command':{}}}]}}");
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	assert_int_equal(check(pipeline, &err), STATUS_INVALID_ARGUMENT);
	assert_string_equal(
		err.text,
		"Unable to parse `training_pipeline.training_task_inputs` into custom task `inputs` defined in the "
		"file: " DEFINITIONS "custom_task_1.0.0.yaml");
	assert_int_equal(err.violation_count, 1);
}

static void data_sets_need_their_annotations_schema(void **state)
{
	AUTO(json)
	json_t *pipeline = patched(&aiplatform_training_pipeline, PIPELINE,
				   "{'inputDataConfig':{'datasetId':'1','fractionSplit':{}}}");
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	assert_int_equal(check(pipeline, &err), STATUS_FAILED_PRECONDITION);
	assert_string_equal(err.text,
			    "'annotation_schema_uri' should be set in the "
			    "TrainingPipeline.input_data_config for custom training or hyperparameter "
			    "tuning with managed dataset.");
}

/* Fails with: AutoML's pipelines were asked for annotations. */
static void data_sets_of_automl_are_not_what_is_wrong(void **state)
{
	AUTO(json)
	json_t *pipeline = patched(&aiplatform_training_pipeline, PIPELINE,
				   "{'inputDataConfig':{'datasetId':'1'},'trainingTaskDefinition':"
				   "'gs://google-cloud-aiplatform/schema/trainingjob/definition/"
				   "automl_image_classification_1.0.0.yaml'}");
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	assert_int_equal(check(pipeline, &err), STATUS_INVALID_ARGUMENT);
	assert_non_null(
		strstr(err.text, "training_pipeline.training_task_definition; Message: trainyard runs"));
}

static void the_backing_job_is_canonical(void **state)
{
	AUTO(json) json_t *pipeline = patched(&aiplatform_training_pipeline, PIPELINE, "{}");
	AUTO(json) json_t *job = NULL;
	struct error err AUTO_ERROR = { 0 };
	bool tunes = true;

	(void)state;
	assert_int_equal(pipeline_rules_check(pipeline, &strict, &job, &tunes, &err), STATUS_OK);
	assert_false(tunes);
	assert_json_text(job, "{'displayName':'x-custom-job','jobSpec':{'workerPoolSpecs':[{'machineSpec':"
			      "{'machineType':'n1-standard-4'},'replicaCount':'1','containerSpec':"
			      "{'imageUri':'gcr.io/p/i'}}],'scheduling':{}}}");
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pipelines_are_checked),
		cmocka_unit_test(inputs_that_cannot_be_read_have_the_services_sentence),
		cmocka_unit_test(data_sets_need_their_annotations_schema),
		cmocka_unit_test(data_sets_of_automl_are_not_what_is_wrong),
		cmocka_unit_test(the_backing_job_is_canonical),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
