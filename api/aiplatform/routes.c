/* SPDX-License-Identifier: Apache-2.0 */
/* The routes of aiplatform.googleapis.com that custom training needs.
 * Source: https://cloud.google.com/vertex-ai/docs/reference/rest (read 2026-11-22) */
#include "api/aiplatform/aiplatform.h"
#include "api/aiplatform/messages.h"
#include "api/grpc/rpc.h"
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

/* Operations of a location, or of a resource in it. PLACE: the beginning of their paths. DOC and CALL: macros that make
 * the columns doc and rpc; NONE leaves a column empty. */
#define OPERATION_ROWS(PLACE, DOC, CALL)                                                                     \
	{ .method = "GET",                                                                                   \
	  .path = PLACE "/operations",                                                                       \
	  .handler = operation_list_handle,                                                                  \
	  .query = &aiplatform_operation_list_request,                                                       \
	  .doc = DOC("name", aiplatform_operation_list_response,                                             \
		     "Lists the operations there, newest first."),                                           \
	  .rpc = CALL("ListOperations", operation_list, "", operation_list_response) },                      \
		{ .method = "GET",                                                                           \
		  .path = PLACE "/operations/{operation}",                                                   \
		  .handler = operation_get_handle,                                                           \
		  .doc = DOC("name", aiplatform_operation, "Tells about an operation."),                     \
		  .rpc = CALL("GetOperation", named_request, "/operations/*", operation) },                  \
		{ .method = "DELETE",                                                                        \
		  .path = PLACE "/operations/{operation}",                                                   \
		  .handler = operation_delete_handle,                                                        \
		  .doc = DOC("name", aiplatform_empty, "Forgets an operation; what it did stays done."),     \
		  .rpc = CALL("DeleteOperation", named_request, "/operations/*", empty) },                   \
		{ .method = "POST",                                                                          \
		  .path = PLACE "/operations/{operation}:cancel",                                            \
		  .handler = operation_cancel_handle,                                                        \
		  .doc = DOC("name", aiplatform_empty,                                                       \
			     "Comes too late: operations are done when their names are answered."),         \
		  .rpc = CALL("CancelOperation", named_request, "/operations/*", empty) },                   \
	{                                                                                                    \
		.method = "POST", .path = PLACE "/operations/{operation}:wait",                              \
		.handler = operation_wait_handle, .query = &aiplatform_operation_wait_request,               \
		.body = &aiplatform_operation_wait_request, .body_root = "",                                 \
		.doc = DOC("name", aiplatform_operation, "Tells about an operation, which is done."),        \
		.rpc = CALL("WaitOperation", operation_wait, "/operations/*", operation)                     \
	}
#define NONE(...) NULL
/* The gRPC methods that all of Google's APIs have. Their rows have no doc, so the resource is set here. One method
 * serves the operations of a location and those of every resource in it: "**" matches either. */
#define OPERATIONS_CALL(NAME, REQUEST, TAIL, RESPONSE)                                                       \
	(&(const struct rpc){ .path = "/google.longrunning.Operations/" NAME,                                \
			      .request = &aiplatform_##REQUEST,                                              \
			      .resource = "name",                                                            \
			      .response = &aiplatform_##RESPONSE,                                            \
			      .pattern = "projects/*/locations/**" TAIL })
#define LOCATIONS_CALL(NAME, REQUEST, RESPONSE)                                                              \
	(&(const struct rpc){ .path = "/google.cloud.location.Locations/" NAME,                              \
			      .request = &aiplatform_##REQUEST,                                              \
			      .resource = "name",                                                            \
			      .response = &aiplatform_##RESPONSE })
#define CALL(SERVICE, NAME, REQUEST)                                                                         \
	(&(const struct rpc){ .path = "/google.cloud.aiplatform." API_VERSION "." SERVICE "/" NAME,          \
			      .request = &(REQUEST) })

const struct route aiplatform_routes[] = {
#define API_VERSION       "v1"
#define TUNING_JOB        aiplatform_tuning_job
#define TUNING_JOB_CREATE aiplatform_tuning_job_create
#include "api/aiplatform/version_routes.inc"
#undef API_VERSION
#undef TUNING_JOB
#undef TUNING_JOB_CREATE
};
const struct route aiplatform_beta_routes[] = {
#define API_VERSION       "v1beta1"
#define TUNING_JOB        aiplatform_tuning_job_beta
#define TUNING_JOB_CREATE aiplatform_tuning_job_create_beta
#include "api/aiplatform/version_routes.inc"
};

#define CUSTOM_JOBS "/_trainyard/v1" LOCATION "/customJobs"
#define PIPELINES   "/_trainyard/v1" LOCATION "/trainingPipelines"
#define TUNING_JOBS "/_trainyard/v1" LOCATION "/hyperparameterTuningJobs"

const struct route aiplatform_other_routes[] = {
	OPERATION_ROWS("/ui" LOCATION, NONE, OPERATIONS_CALL),
	OPERATION_ROWS("/ui" LOCATION "/customJobs/{customJob}", NONE, NONE),
	OPERATION_ROWS("/ui" LOCATION "/hyperparameterTuningJobs/{hyperparameterTuningJob}", NONE, NONE),
	OPERATION_ROWS("/ui" LOCATION "/trainingPipelines/{trainingPipeline}", NONE, NONE),
	OPERATION_ROWS("/ui" LOCATION "/models/{model}", NONE, NONE),
	{ .method = "GET",
	  .path = "/ui/projects/{project}/locations",
	  .handler = location_list_handle,
	  .query = &aiplatform_location_list_request,
	  .rpc = LOCATIONS_CALL("ListLocations", location_list, location_list_response) },
	{ .method = "GET",
	  .path = "/ui" LOCATION,
	  .handler = location_get_handle,
	  .rpc = LOCATIONS_CALL("GetLocation", named_request, location) },
	{ .method = "POST",
	  .path = CUSTOM_JOBS ":plan",
	  .handler = resource_plan_handle,
	  .body = &aiplatform_custom_job,
	  .body_root = "custom_job",
	  .methods = &custom_job_methods },
	{ .method = "POST",
	  .path = PIPELINES ":plan",
	  .handler = pipeline_plan_handle,
	  .body = &aiplatform_training_pipeline,
	  .body_root = "training_pipeline" },
	{ .method = "GET",
	  .path = CUSTOM_JOBS "/{customJob}/report",
	  .handler = resource_report_handle,
	  .methods = &custom_job_methods },
	{ .method = "POST",
	  .path = TUNING_JOBS ":plan",
	  .handler = resource_plan_handle,
	  .body = &aiplatform_tuning_job,
	  .body_root = "hyperparameter_tuning_job",
	  .methods = &tuning_job_methods },
	{ .method = "GET",
	  .path = TUNING_JOBS "/{hyperparameterTuningJob}/report",
	  .handler = resource_report_handle,
	  .methods = &tuning_job_methods },
	{ .method = "GET",
	  .path = TUNING_JOBS "/{hyperparameterTuningJob}/study",
	  .handler = tuning_job_study_handle,
	  .query = &study_query },
	{ 0 },
};

const struct message *const aiplatform_any[] = { &aiplatform_delete_operation_metadata,
						 &aiplatform_delete_operation_metadata_beta,
						 &aiplatform_empty, NULL };

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
