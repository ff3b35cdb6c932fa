/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/messages.h"

#include "api/ml/field_rows.h"

static const struct enum_value job_state_values[] = {
	{ "STATE_UNSPECIFIED", 0, "Not specified." },
	{ "QUEUED", 1, "Accepted; waits for room." },
	{ "PREPARING", 2, "Images are pulled and replicas are started." },
	{ "RUNNING", 3, "Every replica runs." },
	{ "SUCCEEDED", 4, "The program ended well." },
	{ "FAILED", 5, "The program or its start failed; errorMessage says why." },
	{ "CANCELLING", 6, "Told to end; replicas are being stopped." },
	{ "CANCELLED", 7, "Cancelled; errorMessage says by which call." },
	END_OF_VALUES,
};
const struct enum_type ml_job_state = { "google.cloud.ml.v1.Job.State", job_state_values };

static const struct field job_fields[] = {
	FIELD("jobId", STRING, REQUIRED | IMMUTABLE,
	      "The job's name, chosen by the client and unique in its project for good."),
	MESSAGE("trainingInput", ml_training_input, IMMUTABLE, "What to train, and on which machines."),
	MESSAGE("predictionInput", ml_prediction_input, IMMUTABLE,
		"Batch prediction; known so that it can be refused."),
	FIELD("createTime", TIMESTAMP, OUT, "When the job was accepted."),
	FIELD("startTime", TIMESTAMP, OUT, "When the job left the queue."),
	FIELD("endTime", TIMESTAMP, OUT, "When the job was over, teardown included."),
	ENUM("state", ml_job_state, OUT, "Where the job is in its life."),
	FIELD("errorMessage", STRING, OUT, "Why the job failed or was cancelled."),
	MESSAGE("trainingOutput", ml_training_output, OUT, "What a training job has given so far."),
	MESSAGE("predictionOutput", ml_prediction_output, OUT, "What a batch prediction has given so far."),
	FIELD("labels", STRING, MAP,
	      "The client's own marks on the job; the one thing that can be changed later."),
	FIELD("etag", BYTES, 0,
	      "Changes with every change of the job; a guard against overwriting another change."),
	FIELD("jobPosition", INT64, OUT, "Place in the queue, from 1; absent once the job was started."),
	MESSAGE("explanationInput", ml_explanation_input, IMMUTABLE,
		"Batch explanation; known so that it can be refused."),
	MESSAGE("explanationOutput", ml_explanation_output, OUT,
		"What a batch explanation has given so far."),
	END_OF_FIELDS,
};
const struct message ml_job = { "google.cloud.ml.v1.Job", job_fields, "A training job." };

static const struct field list_jobs_query_fields[] = {
	FIELD("filter", STRING, 0, "Which jobs: terms such as state:FAILED AND jobId:census*. Empty: all."),
	FIELD("pageToken", STRING, 0, "The nextPageToken of the previous page."),
	FIELD("pageSize", INT32, 0, "How many jobs at most; 20 unless given, never more than 100."),
	END_OF_FIELDS,
};
const struct message ml_list_jobs_query = { "google.cloud.ml.v1.ListJobsRequest", list_jobs_query_fields,
					    "Which page of which jobs." };

static const struct field list_jobs_response_fields[] = {
	MESSAGE("jobs", ml_job, REPEATED, "The jobs, newest first."),
	FIELD("nextPageToken", STRING, 0, "Asks for the next page; absent on the last."),
	END_OF_FIELDS,
};
const struct message ml_list_jobs_response = { "google.cloud.ml.v1.ListJobsResponse",
					       list_jobs_response_fields, "A page of jobs." };

static const struct field update_job_query_fields[] = {
	FIELD("updateMask", MASK, REQUIRED, "What to change: labels, etag, or both."),
	END_OF_FIELDS,
};
const struct message ml_update_job_query = { "google.cloud.ml.v1.UpdateJobRequest", update_job_query_fields,
					     "Which fields of the job to replace." };

static const struct field no_fields[] = { END_OF_FIELDS };
const struct message ml_cancel_job = { "google.cloud.ml.v1.CancelJobRequest", no_fields, "Holds nothing." };
const struct message ml_empty = { "google.protobuf.Empty", no_fields, "Holds nothing." };
