/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of HyperparameterTuningJob and its trials, and of the tuning task of a pipeline. */
#include "api/aiplatform/field_rows.h"
#include "api/aiplatform/messages.h"

#define OF(NAME) "google.cloud.aiplatform.v1." NAME

static const struct field metric_fields[] = {
	FIELD(1, "metricId", STRING, OUT, "The metric's name."),
	FIELD(2, "value", DOUBLE, OUT, "What was reported of it."),
	END_OF_FIELDS,
};
static const struct message metric = { OF("Measurement.Metric"), metric_fields, "One metric." };

static const struct field measurement_fields[] = {
	FIELD(1, "elapsedDuration", DURATION, OUT, "How long the trial had run."),
	FIELD(2, "stepCount", INT64, OUT, "How many steps it had made."),
	MESSAGE(3, "metrics", metric, REPEATED | OUT, "What it reported."),
	END_OF_FIELDS,
};
const struct message aiplatform_measurement = { OF("Measurement"), measurement_fields,
						"One report of a trial." };

static const struct field trial_parameter_fields[] = {
	FIELD(1, "parameterId", STRING, OUT, "The parameter's name."),
	FIELD(2, "value", VALUE, OUT, "A number, or one of the categories."),
	END_OF_FIELDS,
};
static const struct message trial_parameter = { OF("Trial.Parameter"), trial_parameter_fields,
						"One parameter of a trial." };

static const struct enum_value trial_state_values[] = {
	{ "STATE_UNSPECIFIED", 0, "Not specified." },
	{ "REQUESTED", 1, "Asked for, and not yet there." },
	{ "ACTIVE", 2, "Runs, or is about to." },
	{ "STOPPING", 3, "Is being stopped early." },
	{ "SUCCEEDED", 4, "Over, with a final measurement." },
	{ "INFEASIBLE", 5, "Over, without one." },
	END_OF_VALUES,
};
const struct enum_type aiplatform_trial_state = { OF("Trial.State"), trial_state_values };

static const struct field trial_fields[] = {
	FIELD(1, "name", STRING, OUT, "The trial's resource name."),
	FIELD(2, "id", STRING, OUT, "Its number, from 1."),
	ENUM(3, "state", aiplatform_trial_state, OUT, "Where it is in its life."),
	MESSAGE(4, "parameters", trial_parameter, REPEATED | OUT, "What is tried."),
	MESSAGE(5, "finalMeasurement", aiplatform_measurement, OUT, "What it reached."),
	MESSAGE(6, "measurements", aiplatform_measurement, REPEATED | OUT, "Its reports, by step."),
	FIELD(7, "startTime", TIMESTAMP, OUT, "When it was started."),
	FIELD(8, "endTime", TIMESTAMP, OUT, "When it was over."),
	FIELD(9, "clientId", STRING, OUT, "The client that asked for it."),
	FIELD(10, "infeasibleReason", STRING, OUT, "Why it reached nothing."),
	FIELD(11, "customJob", STRING, OUT, "The name of its CustomJob."),
	FIELD(12, "webAccessUris", STRING, MAP | OUT, "Addresses of its shells, by replica."),
	END_OF_FIELDS,
};
const struct message aiplatform_trial = { OF("Trial"), trial_fields, "One point of a search." };

#define TUNING_JOB_ROWS(STUDY_SPEC)                                                                          \
	FIELD(1, "name", STRING, OUT, "projects/NUMBER/locations/L/hyperparameterTuningJobs/ID"),            \
		FIELD(2, "displayName", STRING, REQUIRED,                                                    \
		      "The client's name for it, of at most 128 characters."),                               \
		MESSAGE(4, "studySpec", STUDY_SPEC, REQUIRED, "What to vary, and what for."),                \
		FIELD(5, "maxTrialCount", INT32, REQUIRED, "How many trials."),                              \
		FIELD(6, "parallelTrialCount", INT32, REQUIRED, "How many of them at once."),                \
		FIELD(7, "maxFailedTrialCount", INT32, 0,                                                    \
		      "The job fails when this number of trials have failed; 0: the service decides."),      \
		MESSAGE(8, "trialJobSpec", aiplatform_custom_job_spec, REQUIRED,                             \
			"What each trial runs, and on which machines."),                                     \
		MESSAGE(9, "trials", aiplatform_trial, REPEATED | OUT, "The trials."),                       \
		ENUM(10, "state", aiplatform_job_state, OUT, "Where the job is in its life."),               \
		FIELD(11, "createTime", TIMESTAMP, OUT, "When the job was accepted."),                       \
		FIELD(12, "startTime", TIMESTAMP, OUT, "When its first trial ran."),                         \
		FIELD(13, "endTime", TIMESTAMP, OUT, "When the job was over."),                              \
		FIELD(14, "updateTime", TIMESTAMP, OUT, "When the job was changed last."),                   \
		MESSAGE(15, "error", aiplatform_status, OUT, "Why the job failed or was cancelled."),        \
		FIELD(16, "labels", STRING, MAP, "The client's own marks on the job."),                      \
		MESSAGE(17, "encryptionSpec", aiplatform_encryption_spec, 0,                                 \
			"The key for what is stored; without effect."),                                      \
		FIELD(19, "satisfiesPzs", BOOL, OUT, "Reserved."),                                           \
		FIELD(20, "satisfiesPzi", BOOL, OUT, "Reserved."), END_OF_FIELDS

static const struct field tuning_job_fields[] = { TUNING_JOB_ROWS(aiplatform_study_spec) };
const struct message aiplatform_tuning_job = { OF("HyperparameterTuningJob"), tuning_job_fields,
					       "A search for parameters by trials." };

static const struct field tuning_job_beta_fields[] = { TUNING_JOB_ROWS(aiplatform_study_spec_beta) };
const struct message aiplatform_tuning_job_beta = { "google.cloud.aiplatform.v1beta1.HyperparameterTuningJob",
						    tuning_job_beta_fields,
						    "A search for parameters by trials." };

static const struct field tuning_job_list_response_fields[] = {
	MESSAGE(1, "hyperparameterTuningJobs", aiplatform_tuning_job, REPEATED,
		"The jobs, newest first, without their trials."),
	FIELD(2, "nextPageToken", STRING, 0, "Asks for the next page; absent on the last."),
	END_OF_FIELDS,
};
const struct message aiplatform_tuning_job_list_response = { OF("ListHyperparameterTuningJobsResponse"),
							     tuning_job_list_response_fields,
							     "A page of jobs." };

/* This is the schema of the task, not a message of the API: it is never sent in binary form, so the numbers only count
 * the rows.
 * Source: gs://google-cloud-aiplatform/schema/trainingjob/definition/hyperparameter_tuning_task_1.0.0.yaml, as
 * https://cloud.google.com/vertex-ai/docs/training/create-training-pipeline describes it */
static const struct field tuning_task_inputs_fields[] = {
	MESSAGE(1, "studySpec", aiplatform_study_spec, REQUIRED, "What to vary, and what for."),
	MESSAGE(2, "trialJobSpec", aiplatform_custom_job_spec, REQUIRED,
		"What each trial runs, and on which machines."),
	FIELD(3, "maxTrialCount", INT32, REQUIRED, "How many trials."),
	FIELD(4, "parallelTrialCount", INT32, REQUIRED, "How many of them at once."),
	FIELD(5, "maxFailedTrialCount", INT32, 0,
	      "The job fails when this number of trials have failed; 0: the service decides."),
	END_OF_FIELDS,
};
const struct message aiplatform_tuning_task_inputs = { OF("schema.HyperparameterTuningTaskInputs"),
						       tuning_task_inputs_fields, "What a pipeline tunes." };
