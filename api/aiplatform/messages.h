/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/aiplatform/messages.h: the messages of Vertex AI v1 for custom training, as tables.
 *
 * Fields are in the order of their numbers. The table of a query has no rows for fields that the request's path
 * determines (name, parent). The tables also serve v1beta1; if that has more fields, it has a table of its own, with
 * "beta" in its name.
 *
 * Source: https://github.com/googleapis/googleapis/tree/master/google/cloud/aiplatform/v1 and
 * https://cloud.google.com/vertex-ai/docs/reference/rest/v1 */
#include "api/message/message.h"

/* Custom jobs. */
extern const struct message aiplatform_custom_job;
extern const struct message aiplatform_custom_job_spec;
extern const struct message aiplatform_custom_job_list_request;
extern const struct message aiplatform_custom_job_list_response;
extern const struct message aiplatform_gcs_destination;
extern const struct message aiplatform_encryption_spec;
extern const struct message aiplatform_env_var;

/* Tuning jobs. */
extern const struct message aiplatform_tuning_job;
extern const struct message aiplatform_tuning_job_beta; /* of v1beta1: has transferLearningConfig */
extern const struct message aiplatform_tuning_job_list_request;
extern const struct message aiplatform_tuning_job_list_response;
extern const struct message aiplatform_study_spec;
extern const struct message aiplatform_study_spec_beta;
extern const struct message aiplatform_trial;
extern const struct message aiplatform_measurement;

/* Training pipelines. */
extern const struct message aiplatform_training_pipeline;
extern const struct message aiplatform_training_pipeline_list_request;
extern const struct message aiplatform_training_pipeline_list_response;
/* A pipeline's trainingTaskInputs; depending on the pipeline's definition they are a CustomJobSpec or this message. */
extern const struct message aiplatform_tuning_task_inputs;
extern const struct message aiplatform_model;
extern const struct message aiplatform_model_list_request;
extern const struct message aiplatform_model_list_response;
extern const struct message aiplatform_model_versions_request;
extern const struct message aiplatform_model_versions_response;

/* Operations and the messages that they contain. */
extern const struct message aiplatform_operation;
extern const struct message aiplatform_operation_list_request;
extern const struct message aiplatform_operation_list_response;
extern const struct message aiplatform_operation_wait_request;
extern const struct message aiplatform_delete_operation_metadata;
extern const struct message aiplatform_delete_operation_metadata_beta; /* of v1beta1 */
extern const struct message aiplatform_status;

/* Locations. */
extern const struct message aiplatform_location;
extern const struct message aiplatform_location_list_request;
extern const struct message aiplatform_location_list_response;

/* The bodies of cancel requests, and the answers to cancels and deletes. */
extern const struct message aiplatform_cancel_request;
extern const struct message aiplatform_empty;

/* Requests of gRPC: one message has all that HTTP puts into path, query and body. */
extern const struct message aiplatform_named_request;
extern const struct message aiplatform_list_request;
extern const struct message aiplatform_custom_job_create;
extern const struct message aiplatform_tuning_job_create;
extern const struct message aiplatform_tuning_job_create_beta;
extern const struct message aiplatform_pipeline_create;
extern const struct message aiplatform_model_versions;
extern const struct message aiplatform_operation_list;
extern const struct message aiplatform_operation_wait;
extern const struct message aiplatform_location_list;

extern const struct enum_type aiplatform_job_state;
extern const struct enum_type aiplatform_pipeline_state;
extern const struct enum_type aiplatform_trial_state;
extern const struct enum_type aiplatform_accelerator_type;
extern const struct enum_type aiplatform_strategy;
