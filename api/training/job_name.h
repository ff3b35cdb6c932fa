/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/job_name.h: what jobs of either family are called by clients. Thread: any. */
#include "daemon/base/text.h"

struct job;
struct training_context;

/* Appends projects/NUMBER/locations/LOCATION/COLLECTION/ID.
 * Choice: of projects other than the known one the name that the caller used, so that it finds them again. */
void resource_name_write(const struct training_context *context, const char *project, const char *location,
			 const char *collection, const char *id, struct text *text);
/* Appends the job's name as a resource; of one of AI Platform projects/PROJECT/jobs/ID. */
void job_name_write(const struct training_context *context, const struct job *job, struct text *text);
/* Its state as its family spells it: "RUNNING", "JOB_STATE_RUNNING". Never NULL. */
const char *job_state_reported(const struct job *job);
