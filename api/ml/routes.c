/* SPDX-License-Identifier: Apache-2.0 */
/* The surface of ml.googleapis.com v1.
 * Source: https://cloud.google.com/ai-platform/training/docs/reference/rest */
#include <string.h>

#include "api/ml/messages.h"
#include "api/ml/ml.h"

const struct route ml_routes[] = {
	{ "POST", "/v1/projects/{project}/jobs", job_create_handle, NULL, &ml_job, "job" },
	{ "GET", "/v1/projects/{project}/jobs", job_list_handle, &ml_list_jobs_query, NULL, NULL },
	{ "GET", "/v1/projects/{project}/jobs/{job}", job_get_handle, NULL, NULL, NULL },
	{ "PATCH", "/v1/projects/{project}/jobs/{job}", job_patch_handle, &ml_update_job_query, &ml_job,
	  "job" },
	{ "POST", "/v1/projects/{project}/jobs/{job}:cancel", job_cancel_handle, NULL, &ml_cancel_job, "" },
	{ 0 },
};

#define ABSENT(method, path)                                                                                 \
	{                                                                                                    \
		method, path, NULL, NULL, NULL, NULL                                                         \
	}

const struct route ml_absent[] = {
	ABSENT("GET", "/v1/projects/{project}/jobs/{job}:getIamPolicy"),
	ABSENT("POST", "/v1/projects/{project}/jobs/{job}:setIamPolicy"),
	ABSENT("POST", "/v1/projects/{project}/jobs/{job}:testIamPermissions"),
	ABSENT("GET", "/v1/projects/{project}:getConfig"),
	ABSENT("POST", "/v1/projects/{project}:predict"),
	ABSENT("POST", "/v1/projects/{project}:explain"),
	ABSENT("GET", "/v1/projects/{project}/locations"),
	ABSENT("GET", "/v1/projects/{project}/locations/{location}"),
	ABSENT("GET", "/v1/projects/{project}/locations/{location}/studies"),
	ABSENT("POST", "/v1/projects/{project}/locations/{location}/studies"),
	ABSENT("GET", "/v1/projects/{project}/locations/{location}/operations/{operation}"),
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

const char *ml_project(const struct call *call)
{
	const struct ml_context *context = call->context;
	const char *named = call_param(call, "project");

	return strcmp(named, context->project_number) == 0 ? context->project_id : named;
}
