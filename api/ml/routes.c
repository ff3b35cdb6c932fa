/* SPDX-License-Identifier: Apache-2.0 */
/* The routes of ml.googleapis.com v1.
 * Source: https://cloud.google.com/ai-platform/training/docs/reference/rest */
#include "api/message/discovery.h"
#include "api/ml/messages.h"
#include "api/ml/ml.h"
#include "api/training/study_answer.h"

/* revision is that of the public discovery document with the same fields. */
const struct discovery_api ml_api = {
	.name = "ml",
	.version = "v1",
	.revision = "20251213",
	.title = "AI Platform Training API",
	.description = "Training jobs of AI Platform, run on this machine by trainyard.",
	.canonical_name = "Cloud Machine Learning Engine",
	.documentation_link = "https://cloud.google.com/ai-platform/training/docs",
};

const struct route ml_routes[] = {
	{ "POST", "/v1/projects/{project}/jobs", job_create_handle, NULL, &ml_job, "job",
	  METHOD_DOC("parent", ml_job,
		     "Submits a training job. It is stored and queued before this answers.") },
	{ "GET", "/v1/projects/{project}/jobs", job_list_handle, &ml_list_jobs_query, NULL, NULL,
	  METHOD_DOC("parent", ml_list_jobs_response,
		     "Lists the jobs of a project, newest first, page by page.") },
	{ "GET", "/v1/projects/{project}/jobs/{job}", job_get_handle, NULL, NULL, NULL,
	  METHOD_DOC("name", ml_job, "Tells all about a job.") },
	{ "PATCH", "/v1/projects/{project}/jobs/{job}", job_patch_handle, &ml_update_job_query, &ml_job,
	  "job", METHOD_DOC("name", ml_job, "Replaces the labels of a job, in whatever state it is.") },
	{ "POST", "/v1/projects/{project}/jobs/{job}:cancel", job_cancel_handle, NULL, &ml_cancel_job, "",
	  METHOD_DOC(
		  "name", ml_empty,
		  "Has a job stopped. This does not wait for the end; a job that has ended stays as it is.") },
	{ "GET", "/v1/projects/{project}/jobs/{job}:getIamPolicy", policy_get_handle,
	  &ml_get_iam_policy_query, NULL, NULL,
	  METHOD_DOC("resource", ml_policy,
		     "Reads the policy of a job; an empty one, with an etag, when none was set.") },
	{ "POST", "/v1/projects/{project}/jobs/{job}:setIamPolicy", policy_set_handle, NULL,
	  &ml_set_iam_policy, "", METHOD_DOC("resource", ml_policy, "Replaces the policy of a job.") },
	{ "POST", "/v1/projects/{project}/jobs/{job}:testIamPermissions", permissions_test_handle, NULL,
	  &ml_test_iam_permissions, "",
	  METHOD_DOC(
		  "resource", ml_test_iam_permissions_response,
		  "Tells which of some permissions the caller has on a job: those that exist for jobs, and none "
		  "on a job that does not exist.") },
	{ "GET", "/v1/projects/{project}:getConfig", config_get_handle, NULL, NULL, NULL,
	  METHOD_DOC("name", ml_get_config_response,
		     "Tells which service accounts the jobs of a project use.") },
	{ "GET", "/v1/projects/{project}/locations", location_list_handle, &ml_list_locations_query, NULL,
	  NULL,
	  METHOD_DOC("parent", ml_list_locations_response,
		     "Lists the regions in which jobs can ask to run, page by page.") },
	{ "GET", "/v1/projects/{project}/locations/{location}", location_get_handle, NULL, NULL, NULL,
	  METHOD_DOC("name", ml_location,
		     "Tells what can be run in a region, and with which accelerators.") },
	{ 0 },
};

const struct route ml_emulator_routes[] = {
	{ "GET", "/_trainyard/v1/projects/{project}/jobs/{job}/report", job_report_handle, NULL, NULL, NULL,
	  NULL },
	{ "GET", "/_trainyard/v1/projects/{project}/jobs/{job}/study", job_study_handle, &study_query, NULL,
	  NULL, NULL },
	{ "POST", "/_trainyard/v1/projects/{project}/jobs:plan", job_plan_handle, NULL, &ml_job, "job",
	  NULL },
	{ 0 },
};

#define ABSENT(method_, path_)                                                                               \
	{                                                                                                    \
		.method = (method_), .path = (path_)                                                         \
	}

const struct route ml_absent[] = {
	ABSENT("POST", "/v1/projects/{project}:predict"),
	ABSENT("POST", "/v1/projects/{project}:explain"),
	ABSENT("GET", "/v1/projects/{project}/locations/{location}/studies"),
	ABSENT("POST", "/v1/projects/{project}/locations/{location}/studies"),
	ABSENT("GET", "/v1/projects/{project}/models"),
	ABSENT("POST", "/v1/projects/{project}/models"),
	ABSENT("GET", "/v1/projects/{project}/models/{model}"),
	ABSENT("PATCH", "/v1/projects/{project}/models/{model}"),
	ABSENT("DELETE", "/v1/projects/{project}/models/{model}"),
	ABSENT("GET", "/v1/projects/{project}/models/{model}/versions"),
	ABSENT("POST", "/v1/projects/{project}/models/{model}/versions"),
	ABSENT("GET", "/v1/projects/{project}/models/{model}/versions/{version}"),
	ABSENT("PATCH", "/v1/projects/{project}/models/{model}/versions/{version}"),
	ABSENT("DELETE", "/v1/projects/{project}/models/{model}/versions/{version}"),
	ABSENT("POST", "/v1/projects/{project}/models/{model}/versions/{version}:setDefault"),
	ABSENT("GET", "/v1/projects/{project}/operations"),
	ABSENT("GET", "/v1/projects/{project}/operations/{operation}"),
	ABSENT("POST", "/v1/projects/{project}/operations/{operation}:cancel"),
	{ 0 },
};
