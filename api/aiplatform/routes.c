/* SPDX-License-Identifier: Apache-2.0 */
/* The surface of aiplatform.googleapis.com, as far as custom training needs it.
 * Source: https://cloud.google.com/vertex-ai/docs/reference/rest (read 2026-11-22) */
#include "api/aiplatform/aiplatform.h"
#include "api/aiplatform/messages.h"
#include "api/message/discovery.h"
#include "api/training/study_answer.h"

#define API(VERSION)                                                                                         \
	{                                                                                                    \
		.name = "aiplatform", .version = (VERSION), .revision = "20251213",                          \
		.title = "Vertex AI API",                                                                    \
		.description = "Custom training of Vertex AI, run on this machine by trainyard.",            \
		.canonical_name = "Aiplatform", .joined_names = true,                                        \
		.documentation_link = "https://cloud.google.com/vertex-ai/",                                 \
	}
const struct discovery_api aiplatform_api = API("v1");
const struct discovery_api aiplatform_beta_api = API("v1beta1");

#define LOCATION "/projects/{project}/locations/{location}"

/* Operations of a location, or of a resource in it. PLACE begins with the version. DOC makes the last column, or
 * UNPUBLISHED. */
#define OPERATION_ROWS(PLACE, DOC)                                                                           \
	{ "GET",                                                                                             \
	  PLACE "/operations",                                                                               \
	  operation_list_handle,                                                                             \
	  &aiplatform_operation_list_request,                                                                \
	  NULL,                                                                                              \
	  NULL,                                                                                              \
	  DOC("name", aiplatform_operation_list_response, "Lists the operations there, newest first.") },    \
		{ "GET",                                                                                     \
		  PLACE "/operations/{operation}",                                                           \
		  operation_get_handle,                                                                      \
		  NULL,                                                                                      \
		  NULL,                                                                                      \
		  NULL,                                                                                      \
		  DOC("name", aiplatform_operation, "Tells about an operation.") },                          \
		{ "DELETE",                                                                                  \
		  PLACE "/operations/{operation}",                                                           \
		  operation_delete_handle,                                                                   \
		  NULL,                                                                                      \
		  NULL,                                                                                      \
		  NULL,                                                                                      \
		  DOC("name", aiplatform_empty, "Forgets an operation; what it did stays done.") },          \
		{ "POST",                                                                                    \
		  PLACE "/operations/{operation}:cancel",                                                    \
		  operation_cancel_handle,                                                                   \
		  NULL,                                                                                      \
		  NULL,                                                                                      \
		  NULL,                                                                                      \
		  DOC("name", aiplatform_empty,                                                              \
		      "Comes too late: operations are done when they are told of.") },                       \
	{                                                                                                    \
		"POST", PLACE "/operations/{operation}:wait", operation_wait_handle,                         \
			&aiplatform_operation_wait_request, &aiplatform_operation_wait_request, "",          \
			DOC("name", aiplatform_operation, "Tells about an operation, which is done.")        \
	}
#define UNPUBLISHED(RESOURCE, RESPONSE, HELP) NULL

#define LOCATION_ROWS(VERSION, DOC)                                                                          \
	{ "GET",                                                                                             \
	  VERSION "/projects/{project}/locations",                                                           \
	  location_list_handle,                                                                              \
	  &aiplatform_location_list_request,                                                                 \
	  NULL,                                                                                              \
	  NULL,                                                                                              \
	  DOC("name", aiplatform_location_list_response, "Lists the regions, page by page.") },              \
	{                                                                                                    \
		"GET", VERSION LOCATION, location_get_handle, NULL, NULL, NULL,                              \
			DOC("name", aiplatform_location, "Tells about a region.")                            \
	}

#define CUSTOM_JOB_ROWS(VERSION)                                                                             \
	{ "POST",                                                                                            \
	  VERSION LOCATION "/customJobs",                                                                    \
	  custom_job_create_handle,                                                                          \
	  NULL,                                                                                              \
	  &aiplatform_custom_job,                                                                            \
	  "custom_job",                                                                                      \
	  METHOD_DOC("parent", aiplatform_custom_job,                                                        \
		     "Submits a job of containers or Python packages. It is stored before this answers.") }, \
		{ "GET",                                                                                     \
		  VERSION LOCATION "/customJobs",                                                            \
		  custom_job_list_handle,                                                                    \
		  &aiplatform_custom_job_list_request,                                                       \
		  NULL,                                                                                      \
		  NULL,                                                                                      \
		  METHOD_DOC("parent", aiplatform_custom_job_list_response,                                  \
			     "Lists the jobs of a location, newest first, page by page.") },                 \
		{ "GET",                                                                                     \
		  VERSION LOCATION "/customJobs/{customJob}",                                                \
		  custom_job_get_handle,                                                                     \
		  NULL,                                                                                      \
		  NULL,                                                                                      \
		  NULL,                                                                                      \
		  METHOD_DOC("name", aiplatform_custom_job, "Tells all about a job.") },                     \
		{ "DELETE",                                                                                  \
		  VERSION LOCATION "/customJobs/{customJob}",                                                \
		  custom_job_delete_handle,                                                                  \
		  NULL,                                                                                      \
		  NULL,                                                                                      \
		  NULL,                                                                                      \
		  METHOD_DOC("name", aiplatform_operation,                                                   \
			     "Deletes a job that has ended. The operation is done when this answers.") },    \
		{ "POST",                                                                                    \
		  VERSION LOCATION "/customJobs/{customJob}:cancel",                                         \
		  custom_job_cancel_handle,                                                                  \
		  NULL,                                                                                      \
		  &aiplatform_cancel_request,                                                                \
		  "",                                                                                        \
		  METHOD_DOC(                                                                                \
			  "name", aiplatform_empty,                                                          \
			  "Has a job stopped. This does not wait for the end; a job that has ended stays "   \
			  "as it is.") },                                                                    \
		OPERATION_ROWS(VERSION LOCATION "/customJobs/{customJob}", METHOD_DOC)

#define TUNING_JOB_ROWS(VERSION, TUNING_JOB)                                                                 \
	{ "POST",                                                                                            \
	  VERSION LOCATION "/hyperparameterTuningJobs",                                                      \
	  tuning_job_create_handle,                                                                          \
	  NULL,                                                                                              \
	  &(TUNING_JOB),                                                                                     \
	  "hyperparameter_tuning_job",                                                                       \
	  METHOD_DOC("parent", TUNING_JOB,                                                                   \
		     "Submits a search for parameters by trials. It is stored before this answers.") },      \
		{ "GET",                                                                                     \
		  VERSION LOCATION "/hyperparameterTuningJobs",                                              \
		  tuning_job_list_handle,                                                                    \
		  &aiplatform_tuning_job_list_request,                                                       \
		  NULL,                                                                                      \
		  NULL,                                                                                      \
		  METHOD_DOC("parent", aiplatform_tuning_job_list_response,                                  \
			     "Lists the jobs of a location, newest first, page by page, without their "      \
			     "trials.") },                                                                   \
		{ "GET",                                                                                     \
		  VERSION LOCATION "/hyperparameterTuningJobs/{hyperparameterTuningJob}",                    \
		  tuning_job_get_handle,                                                                     \
		  NULL,                                                                                      \
		  NULL,                                                                                      \
		  NULL,                                                                                      \
		  METHOD_DOC("name", TUNING_JOB, "Tells all about a job, its trials too.") },                \
		{ "DELETE",                                                                                  \
		  VERSION LOCATION "/hyperparameterTuningJobs/{hyperparameterTuningJob}",                    \
		  tuning_job_delete_handle,                                                                  \
		  NULL,                                                                                      \
		  NULL,                                                                                      \
		  NULL,                                                                                      \
		  METHOD_DOC("name", aiplatform_operation,                                                   \
			     "Deletes a job that has ended; its trials' custom jobs stay. The operation is " \
			     "done when this answers.") },                                                   \
		{ "POST",                                                                                    \
		  VERSION LOCATION "/hyperparameterTuningJobs/{hyperparameterTuningJob}:cancel",             \
		  tuning_job_cancel_handle,                                                                  \
		  NULL,                                                                                      \
		  &aiplatform_cancel_request,                                                                \
		  "",                                                                                        \
		  METHOD_DOC("name", aiplatform_empty,                                                       \
			     "Has a job stopped, with the trials under way. This does not wait for the "     \
			     "end; a job that has ended stays as it is.") },                                 \
		OPERATION_ROWS(VERSION LOCATION "/hyperparameterTuningJobs/{hyperparameterTuningJob}",       \
			       METHOD_DOC)

#define PIPELINE_ROWS(VERSION)                                                                               \
	{ "POST",                                                                                            \
	  VERSION LOCATION "/trainingPipelines",                                                             \
	  pipeline_create_handle,                                                                            \
	  NULL,                                                                                              \
	  &aiplatform_training_pipeline,                                                                     \
	  "training_pipeline",                                                                               \
	  METHOD_DOC("parent", aiplatform_training_pipeline,                                                 \
		     "Submits a job, and what becomes of what it trained. It is stored before "              \
		     "this answers.") },                                                                     \
		{ "GET",                                                                                     \
		  VERSION LOCATION "/trainingPipelines",                                                     \
		  pipeline_list_handle,                                                                      \
		  &aiplatform_training_pipeline_list_request,                                                \
		  NULL,                                                                                      \
		  NULL,                                                                                      \
		  METHOD_DOC("parent", aiplatform_training_pipeline_list_response,                           \
			     "Lists the pipelines of a location, newest first, page by page.") },            \
		{ "GET",                                                                                     \
		  VERSION LOCATION "/trainingPipelines/{trainingPipeline}",                                  \
		  pipeline_get_handle,                                                                       \
		  NULL,                                                                                      \
		  NULL,                                                                                      \
		  NULL,                                                                                      \
		  METHOD_DOC("name", aiplatform_training_pipeline, "Tells all about a pipeline.") },         \
		{ "DELETE",                                                                                  \
		  VERSION LOCATION "/trainingPipelines/{trainingPipeline}",                                  \
		  pipeline_delete_handle,                                                                    \
		  NULL,                                                                                      \
		  NULL,                                                                                      \
		  NULL,                                                                                      \
		  METHOD_DOC("name", aiplatform_operation,                                                   \
			     "Deletes a pipeline that has ended; its job and its model stay. The "           \
			     "operation is done when this answers.") },                                      \
		{ "POST",                                                                                    \
		  VERSION LOCATION "/trainingPipelines/{trainingPipeline}:cancel",                           \
		  pipeline_cancel_handle,                                                                    \
		  NULL,                                                                                      \
		  &aiplatform_cancel_request,                                                                \
		  "",                                                                                        \
		  METHOD_DOC("name", aiplatform_empty,                                                       \
			     "Has the pipeline's job stopped. This does not wait for the end; what "         \
			     "has ended stays as it is.") },                                                 \
		OPERATION_ROWS(VERSION LOCATION "/trainingPipelines/{trainingPipeline}", METHOD_DOC)

#define MODEL_ROWS(VERSION)                                                                                  \
	{ "GET",                                                                                             \
	  VERSION LOCATION "/models",                                                                        \
	  model_list_handle,                                                                                 \
	  &aiplatform_model_list_request,                                                                    \
	  NULL,                                                                                              \
	  NULL,                                                                                              \
	  METHOD_DOC("parent", aiplatform_model_list_response,                                               \
		     "Lists the models of a location by their default versions, newest "                     \
		     "first, page by page.") },                                                              \
		{ "GET",                                                                                     \
		  VERSION LOCATION "/models/{model}",                                                        \
		  model_get_handle,                                                                          \
		  NULL,                                                                                      \
		  NULL,                                                                                      \
		  NULL,                                                                                      \
		  METHOD_DOC("name", aiplatform_model,                                                       \
			     "Tells all about a version of a model: ID@VERSION, ID@ALIAS, or "               \
			     "the default one.") },                                                          \
		{ "GET",                                                                                     \
		  VERSION LOCATION "/models/{model}:listVersions",                                           \
		  model_list_handle,                                                                         \
		  &aiplatform_model_versions_request,                                                        \
		  NULL,                                                                                      \
		  NULL,                                                                                      \
		  METHOD_DOC("name", aiplatform_model_versions_response,                                     \
			     "Lists the versions of a model, newest first, page by page.") },                \
		{ "DELETE",                                                                                  \
		  VERSION LOCATION "/models/{model}",                                                        \
		  model_delete_handle,                                                                       \
		  NULL,                                                                                      \
		  NULL,                                                                                      \
		  NULL,                                                                                      \
		  METHOD_DOC("name", aiplatform_operation,                                                   \
			     "Deletes a model with all its versions; its files stay. The "                   \
			     "operation is done when this answers.") },                                      \
		OPERATION_ROWS(VERSION LOCATION "/models/{model}", METHOD_DOC)

#define ROWS(VERSION, TUNING_JOB)                                                                            \
	CUSTOM_JOB_ROWS(VERSION), TUNING_JOB_ROWS(VERSION, TUNING_JOB), PIPELINE_ROWS(VERSION),              \
		MODEL_ROWS(VERSION), OPERATION_ROWS(VERSION LOCATION, METHOD_DOC),                           \
		LOCATION_ROWS(VERSION, METHOD_DOC),                                                          \
	{                                                                                                    \
		0                                                                                            \
	}

const struct route aiplatform_routes[] = { ROWS("/v1", aiplatform_tuning_job) };
const struct route aiplatform_beta_routes[] = { ROWS("/v1beta1", aiplatform_tuning_job_beta) };

const struct route aiplatform_other_routes[] = {
	OPERATION_ROWS("/ui" LOCATION, UNPUBLISHED),
	OPERATION_ROWS("/ui" LOCATION "/customJobs/{customJob}", UNPUBLISHED),
	OPERATION_ROWS("/ui" LOCATION "/hyperparameterTuningJobs/{hyperparameterTuningJob}", UNPUBLISHED),
	OPERATION_ROWS("/ui" LOCATION "/trainingPipelines/{trainingPipeline}", UNPUBLISHED),
	OPERATION_ROWS("/ui" LOCATION "/models/{model}", UNPUBLISHED),
	LOCATION_ROWS("/ui", UNPUBLISHED),
	{ "POST", "/_trainyard/v1" LOCATION "/customJobs:plan", custom_job_plan_handle, NULL,
	  &aiplatform_custom_job, "custom_job", NULL },
	{ "GET", "/_trainyard/v1" LOCATION "/customJobs/{customJob}/report", custom_job_report_handle, NULL,
	  NULL, NULL, NULL },
	{ "POST", "/_trainyard/v1" LOCATION "/hyperparameterTuningJobs:plan", tuning_job_plan_handle, NULL,
	  &aiplatform_tuning_job, "hyperparameter_tuning_job", NULL },
	{ "GET", "/_trainyard/v1" LOCATION "/hyperparameterTuningJobs/{hyperparameterTuningJob}/report",
	  tuning_job_report_handle, NULL, NULL, NULL, NULL },
	{ "GET", "/_trainyard/v1" LOCATION "/hyperparameterTuningJobs/{hyperparameterTuningJob}/study",
	  tuning_job_study_handle, &study_query, NULL, NULL, NULL },
	{ 0 },
};

#define ABSENT(METHOD, PATH)                                                                                 \
	{                                                                                                    \
		.method = (METHOD), .path = (PATH)                                                           \
	}
/* A collection with its usual methods. */
#define ABSENT_COLLECTION(VERSION, NAME)                                                                     \
	ABSENT("POST", VERSION LOCATION "/" NAME), ABSENT("GET", VERSION LOCATION "/" NAME),                 \
		ABSENT("GET", VERSION LOCATION "/" NAME "/{id}"),                                            \
		ABSENT("PATCH", VERSION LOCATION "/" NAME "/{id}"),                                          \
		ABSENT("DELETE", VERSION LOCATION "/" NAME "/{id}")

#define ABSENT_ROWS(VERSION)                                                                                 \
	ABSENT_COLLECTION(VERSION, "batchPredictionJobs"), ABSENT_COLLECTION(VERSION, "dataLabelingJobs"),   \
		ABSENT_COLLECTION(VERSION, "datasets"),                                                      \
		ABSENT_COLLECTION(VERSION, "deploymentResourcePools"),                                       \
		ABSENT_COLLECTION(VERSION, "endpoints"), ABSENT_COLLECTION(VERSION, "featurestores"),        \
		ABSENT_COLLECTION(VERSION, "indexEndpoints"), ABSENT_COLLECTION(VERSION, "indexes"),         \
		ABSENT_COLLECTION(VERSION, "metadataStores"),                                                \
		ABSENT("PATCH", VERSION LOCATION "/models/{id}"),                                            \
		ABSENT("DELETE", VERSION LOCATION "/models/{id}:deleteVersion"),                             \
		ABSENT("POST", VERSION LOCATION "/models/{id}:export"),                                      \
		ABSENT("POST", VERSION LOCATION "/models/{id}:mergeVersionAliases"),                         \
		ABSENT("POST", VERSION LOCATION "/models:copy"),                                             \
		ABSENT("POST", VERSION LOCATION "/models:upload"),                                           \
		ABSENT("GET", VERSION LOCATION "/metadataStores/{store}/{kind}"),                            \
		ABSENT("POST", VERSION LOCATION "/metadataStores/{store}/{kind}"),                           \
		ABSENT("GET", VERSION LOCATION "/metadataStores/{store}/{kind}/{id}"),                       \
		ABSENT_COLLECTION(VERSION, "nasJobs"), ABSENT_COLLECTION(VERSION, "persistentResources"),    \
		ABSENT_COLLECTION(VERSION, "pipelineJobs"), ABSENT_COLLECTION(VERSION, "schedules"),         \
		ABSENT_COLLECTION(VERSION, "specialistPools"), ABSENT_COLLECTION(VERSION, "studies"),        \
		ABSENT_COLLECTION(VERSION, "tensorboards"),                                                  \
		ABSENT("POST", VERSION LOCATION "/endpoints/{id}:predict"),                                  \
		ABSENT("POST", VERSION LOCATION "/publishers/{publisher}/models/{model}:predict"),           \
		ABSENT("POST", VERSION LOCATION "/publishers/{publisher}/models/{model}:generateContent"),   \
	{                                                                                                    \
		0                                                                                            \
	}

const struct route aiplatform_absent[] = { ABSENT_ROWS("/v1") };
const struct route aiplatform_beta_absent[] = { ABSENT_ROWS("/v1beta1") };
