/* SPDX-License-Identifier: Apache-2.0 */
#include "api/aiplatform/rpcs.h"

#include "api/aiplatform/field_rows.h"
#include "api/aiplatform/messages.h"

/* Requests have in one message what HTTP parts into path, query and body. */
static const struct field named_fields[] = {
	FIELD(1, "name", STRING, 0, ""),
	END_OF_FIELDS,
};
static const struct message named = { "a request for what has a name", named_fields, "" };

static const struct field list_fields[] = {
	FIELD(1, "parent", STRING, 0, ""),  FIELD(2, "filter", STRING, 0, ""),
	FIELD(3, "pageSize", INT32, 0, ""), FIELD(4, "pageToken", STRING, 0, ""),
	FIELD(5, "readMask", MASK, 0, ""),  END_OF_FIELDS,
};
static const struct message list = { "a request for a page of resources", list_fields, "" };

#define CREATE_REQUEST(SYMBOL, FIELD_NAME, OF)                                                               \
	static const struct field SYMBOL##_fields[] = {                                                      \
		FIELD(1, "parent", STRING, 0, ""),                                                           \
		MESSAGE(2, FIELD_NAME, OF, 0, ""),                                                           \
		END_OF_FIELDS,                                                                               \
	};                                                                                                   \
	static const struct message SYMBOL = { "a request that creates", SYMBOL##_fields, "" }

CREATE_REQUEST(custom_job_create, "customJob", aiplatform_custom_job);
CREATE_REQUEST(tuning_job_create, "hyperparameterTuningJob", aiplatform_tuning_job);
CREATE_REQUEST(tuning_job_create_beta, "hyperparameterTuningJob", aiplatform_tuning_job_beta);
CREATE_REQUEST(pipeline_create, "trainingPipeline", aiplatform_training_pipeline);

static const struct field model_versions_fields[] = {
	FIELD(1, "name", STRING, 0, ""),    FIELD(2, "pageToken", STRING, 0, ""),
	FIELD(3, "pageSize", INT32, 0, ""), FIELD(4, "filter", STRING, 0, ""),
	FIELD(5, "readMask", MASK, 0, ""),  END_OF_FIELDS,
};
static const struct message model_versions = { "google.cloud.aiplatform.v1.ListModelVersionsRequest",
					       model_versions_fields, "" };

static const struct field operation_list_fields[] = {
	FIELD(4, "name", STRING, 0, ""),
	FIELD(1, "filter", STRING, 0, ""),
	FIELD(2, "pageSize", INT32, 0, ""),
	FIELD(3, "pageToken", STRING, 0, ""),
	END_OF_FIELDS,
};
static const struct message operation_list = { "google.longrunning.ListOperationsRequest",
					       operation_list_fields, "" };

static const struct field operation_wait_fields[] = {
	FIELD(1, "name", STRING, 0, ""),
	FIELD(2, "timeout", DURATION, 0, ""),
	END_OF_FIELDS,
};
static const struct message operation_wait = { "google.longrunning.WaitOperationRequest",
					       operation_wait_fields, "" };

static const struct field location_list_fields[] = {
	FIELD(1, "name", STRING, 0, ""),
	FIELD(2, "filter", STRING, 0, ""),
	FIELD(3, "pageSize", INT32, 0, ""),
	FIELD(4, "pageToken", STRING, 0, ""),
	END_OF_FIELDS,
};
static const struct message location_list = { "google.cloud.location.ListLocationsRequest",
					      location_list_fields, "" };

#define LOCATION "projects/*/locations/*"

/* The five methods that each kind of job has. */
#define RESOURCE(VERSION, SERVICE, ONE, MANY, COLLECTION, BODY, CREATE, RESPONSE, PAGE)                      \
	{ "/google.cloud.aiplatform." VERSION "." SERVICE "/Create" ONE,                                     \
	  &(CREATE),                                                                                         \
	  &(RESPONSE),                                                                                       \
	  "POST",                                                                                            \
	  "/" VERSION "/{parent=" LOCATION "}/" COLLECTION,                                                  \
	  BODY },                                                                                            \
		{ "/google.cloud.aiplatform." VERSION "." SERVICE "/Get" ONE, &named, &(RESPONSE), "GET",    \
		  "/" VERSION "/{name=" LOCATION "/" COLLECTION "/*}",        NULL },                        \
		{ "/google.cloud.aiplatform." VERSION "." SERVICE "/List" MANY,                              \
		  &list,                                                                                     \
		  &(PAGE),                                                                                   \
		  "GET",                                                                                     \
		  "/" VERSION "/{parent=" LOCATION "}/" COLLECTION,                                          \
		  NULL },                                                                                    \
		{ "/google.cloud.aiplatform." VERSION "." SERVICE "/Delete" ONE,                             \
		  &named,                                                                                    \
		  &aiplatform_operation,                                                                     \
		  "DELETE",                                                                                  \
		  "/" VERSION "/{name=" LOCATION "/" COLLECTION "/*}",                                       \
		  NULL },                                                                                    \
	{                                                                                                    \
		"/google.cloud.aiplatform." VERSION "." SERVICE "/Cancel" ONE, &named, &aiplatform_empty,    \
			"POST", "/" VERSION "/{name=" LOCATION "/" COLLECTION "/*}:cancel", "*"              \
	}

/* Models come from pipelines: they are not created. */
#define MODEL(VERSION, METHOD, REQUEST, RESPONSE, VERB, PATH)                                                \
	{                                                                                                    \
		"/google.cloud.aiplatform." VERSION ".ModelService/" METHOD, &(REQUEST), &(RESPONSE), VERB,  \
			"/" VERSION PATH, NULL                                                               \
	}
#define MODELS(VERSION)                                                                                      \
	MODEL(VERSION, "GetModel", named, aiplatform_model, "GET", "/{name=" LOCATION "/models/*}"),         \
		MODEL(VERSION, "ListModels", list, aiplatform_model_list_response, "GET",                    \
		      "/{parent=" LOCATION "}/models"),                                                      \
		MODEL(VERSION, "ListModelVersions", model_versions, aiplatform_model_versions_response,      \
		      "GET", "/{name=" LOCATION "/models/*}:listVersions"),                                  \
		MODEL(VERSION, "DeleteModel", named, aiplatform_operation, "DELETE",                         \
		      "/{name=" LOCATION "/models/*}")

#define RESOURCES(VERSION, TUNING_CREATE, TUNING)                                                            \
	RESOURCE(VERSION, "JobService", "CustomJob", "CustomJobs", "customJobs", "customJob",                \
		 custom_job_create, aiplatform_custom_job, aiplatform_custom_job_list_response),             \
		RESOURCE(VERSION, "JobService", "HyperparameterTuningJob", "HyperparameterTuningJobs",       \
			 "hyperparameterTuningJobs", "hyperparameterTuningJob", TUNING_CREATE, TUNING,       \
			 aiplatform_tuning_job_list_response),                                               \
		RESOURCE(VERSION, "PipelineService", "TrainingPipeline", "TrainingPipelines",                \
			 "trainingPipelines", "trainingPipeline", pipeline_create,                           \
			 aiplatform_training_pipeline, aiplatform_training_pipeline_list_response),          \
		MODELS(VERSION)

static const struct rpc resources[] = {
	RESOURCES("v1", tuning_job_create, aiplatform_tuning_job),
	RESOURCES("v1beta1", tuning_job_create_beta, aiplatform_tuning_job_beta),
	{ .path = NULL },
};

/* Of a location, or of a resource in it. */
#define OPERATION_PARENT "projects/*/locations/**"
#define OPERATION        OPERATION_PARENT "/operations/*"

/* Services that all APIs have. */
static const struct rpc mixins[] = {
	{ "/google.longrunning.Operations/GetOperation", &named, &aiplatform_operation, "GET",
	  "/ui/{name=" OPERATION "}", NULL },
	{ "/google.longrunning.Operations/ListOperations", &operation_list,
	  &aiplatform_operation_list_response, "GET", "/ui/{name=" OPERATION_PARENT "}/operations", NULL },
	{ "/google.longrunning.Operations/WaitOperation", &operation_wait, &aiplatform_operation, "POST",
	  "/ui/{name=" OPERATION "}:wait", "*" },
	{ "/google.longrunning.Operations/CancelOperation", &named, &aiplatform_empty, "POST",
	  "/ui/{name=" OPERATION "}:cancel", "*" },
	{ "/google.longrunning.Operations/DeleteOperation", &named, &aiplatform_empty, "DELETE",
	  "/ui/{name=" OPERATION "}", NULL },
	{ "/google.cloud.location.Locations/GetLocation", &named, &aiplatform_location, "GET",
	  "/ui/{name=" LOCATION "}", NULL },
	{ "/google.cloud.location.Locations/ListLocations", &location_list,
	  &aiplatform_location_list_response, "GET", "/ui/{name=projects/*}/locations", NULL },
	{ .path = NULL },
};

const struct rpc *const aiplatform_rpcs[] = { resources, mixins, NULL };
const struct message *const aiplatform_any[] = { &aiplatform_delete_operation_metadata,
						 &aiplatform_delete_operation_metadata_beta,
						 &aiplatform_empty, NULL };
