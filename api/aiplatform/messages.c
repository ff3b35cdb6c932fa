/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of CustomJob, and messages that several resources use. */
#include "api/aiplatform/messages.h"

#include "api/aiplatform/field_rows.h"

#define OF(NAME) "google.cloud.aiplatform.v1." NAME

static const struct enum_value job_state_values[] = {
	{ "JOB_STATE_UNSPECIFIED", 0, "Not specified." },
	{ "JOB_STATE_QUEUED", 1, "Accepted; waits for capacity." },
	{ "JOB_STATE_PENDING", 2, "Images are pulled and replicas are started." },
	{ "JOB_STATE_RUNNING", 3, "Every replica runs." },
	{ "JOB_STATE_SUCCEEDED", 4, "The program ended well." },
	{ "JOB_STATE_FAILED", 5, "The program or its start failed; error says why." },
	{ "JOB_STATE_CANCELLING", 6, "Told to end; replicas are being stopped." },
	{ "JOB_STATE_CANCELLED", 7, "Ended because it was told to." },
	{ "JOB_STATE_PAUSED", 8, "Never the state of a training job." },
	{ "JOB_STATE_EXPIRED", 9, "Never the state of a training job." },
	{ "JOB_STATE_UPDATING", 10, "Never the state of a training job." },
	{ "JOB_STATE_PARTIALLY_SUCCEEDED", 11, "Never the state of a training job." },
	END_OF_VALUES,
};
const struct enum_type aiplatform_job_state = { OF("JobState"), job_state_values };

static const struct field encryption_spec_fields[] = {
	FIELD(1, "kmsKeyName", STRING, REQUIRED, "projects/P/locations/R/keyRings/K/cryptoKeys/N"),
	END_OF_FIELDS,
};
const struct message aiplatform_encryption_spec = { OF("EncryptionSpec"), encryption_spec_fields,
						    "The client's own key for what is stored." };

static const struct field status_fields[] = {
	FIELD(1, "code", INT32, 0, "A code of google.rpc.Code."),
	FIELD(2, "message", STRING, 0, "What happened, for people."),
	FIELD(3, "details", STRUCT, REPEATED | ANY, "What happened, for programs."),
	END_OF_FIELDS,
};
const struct message aiplatform_status = { "google.rpc.Status", status_fields, "An error." };

static const struct field custom_job_fields[] = {
	FIELD(1, "name", STRING, OUT, "projects/NUMBER/locations/L/customJobs/ID"),
	FIELD(2, "displayName", STRING, REQUIRED, "The client's name for it, of at most 128 characters."),
	MESSAGE(4, "jobSpec", aiplatform_custom_job_spec, REQUIRED, "What to run, and on which machines."),
	ENUM(5, "state", aiplatform_job_state, OUT, "Where the job is in its life."),
	FIELD(6, "createTime", TIMESTAMP, OUT, "When the job was accepted."),
	FIELD(7, "startTime", TIMESTAMP, OUT, "When all its replicas ran for the first time."),
	FIELD(8, "endTime", TIMESTAMP, OUT, "When the job was over."),
	FIELD(9, "updateTime", TIMESTAMP, OUT, "When the job was changed last."),
	MESSAGE(10, "error", aiplatform_status, OUT, "Why the job failed or was cancelled."),
	FIELD(11, "labels", STRING, MAP, "The client's own marks on the job."),
	MESSAGE(12, "encryptionSpec", aiplatform_encryption_spec, 0,
		"The key for what is stored; without effect."),
	FIELD(16, "webAccessUris", STRING, MAP | OUT,
	      "Addresses of shells by replica, workerpool0-0; while it runs and with enableWebAccess."),
	FIELD(18, "satisfiesPzs", BOOL, OUT, "Reserved."),
	FIELD(19, "satisfiesPzi", BOOL, OUT, "Reserved."),
	END_OF_FIELDS,
};
const struct message aiplatform_custom_job = { OF("CustomJob"), custom_job_fields,
					       "A job of containers or Python packages." };

/* Fields of the list requests of all collections of jobs and pipelines. */
static const struct field list_request_fields[] = {
	FIELD(2, "filter", STRING, 0,
	      "Which ones: terms such as state=\"JOB_STATE_FAILED\" AND labels.env=dev. Empty: all."),
	FIELD(3, "pageSize", INT32, 0, "How many at most."),
	FIELD(4, "pageToken", STRING, 0, "The nextPageToken of the previous page."),
	FIELD(5, "readMask", MASK, 0, "Which fields to show; all unless given."),
	END_OF_FIELDS,
};
const struct message aiplatform_custom_job_list_request = { OF("ListCustomJobsRequest"), list_request_fields,
							    "Which page of which jobs." };
const struct message aiplatform_tuning_job_list_request = { OF("ListHyperparameterTuningJobsRequest"),
							    list_request_fields,
							    "Which page of which jobs." };
const struct message aiplatform_training_pipeline_list_request = { OF("ListTrainingPipelinesRequest"),
								   list_request_fields,
								   "Which page of which pipelines." };

static const struct field custom_job_list_response_fields[] = {
	MESSAGE(1, "customJobs", aiplatform_custom_job, REPEATED, "The jobs, newest first."),
	FIELD(2, "nextPageToken", STRING, 0, "Asks for the next page; absent on the last."),
	END_OF_FIELDS,
};
const struct message aiplatform_custom_job_list_response = { OF("ListCustomJobsResponse"),
							     custom_job_list_response_fields,
							     "A page of jobs." };

static const struct field no_fields[] = { END_OF_FIELDS };
const struct message aiplatform_cancel_request = { OF("CancelJobRequest"), no_fields, "Holds nothing." };
const struct message aiplatform_empty = { "google.protobuf.Empty", no_fields, "Holds nothing." };
