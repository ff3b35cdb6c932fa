/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/job_name.h: names and states of jobs, as clients of AI Platform and Vertex AI see them. Thread: any. */
#include "daemon/base/text.h"

struct job;
struct training_context;

/* Appends projects/PROJECT/locations/LOCATION/COLLECTION/ID.
 * Choice: PROJECT is the number of the project only for the project of @context; any other project is given as the
 * caller named it, so that the caller can use the result. */
void resource_name_write(const struct training_context *context, const char *project, const char *location,
			 const char *collection, const char *id, struct text *text);
/* Appends the job's resource name; for AI Platform projects/PROJECT/jobs/ID. */
void job_name_write(const struct training_context *context, const struct job *job, struct text *text);
/* Returns the job's state in the form of its API: "RUNNING", "JOB_STATE_RUNNING". Never NULL. */
const char *job_state_reported(const struct job *job);
