/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/messages.h: the messages of AI Platform Training v1 as tables.
 *
 * They have the fields of both published schemas: the public discovery document, and the wider one that gcloud was
 * built with; so fields of either client are known. Fields are in the order of their numbers, as far as they are known;
 * the order is visible in the input that replicas read back.
 *
 * Source: https://ml.googleapis.com/$discovery/rest?version=v1 and
 * https://cloud.google.com/ai-platform/training/docs/reference/rest/v1/projects.jobs */
#include "api/message/message.h"

/* Requests and the job. */
extern const struct message ml_job;
extern const struct message ml_list_jobs_query;
extern const struct message ml_list_jobs_response;
extern const struct message ml_update_job_query;
extern const struct message ml_cancel_job;
extern const struct message ml_empty;

/* Policies of jobs. */
extern const struct message ml_policy;
extern const struct message ml_get_iam_policy_query;
extern const struct message ml_set_iam_policy;
extern const struct message ml_test_iam_permissions;
extern const struct message ml_test_iam_permissions_response;

/* Projects. */
extern const struct message ml_get_config_response;
extern const struct message ml_location;
extern const struct message ml_list_locations_query;
extern const struct message ml_list_locations_response;

/* The messages of trainingInput. */
extern const struct message ml_training_input;
extern const struct message ml_replica_config;
extern const struct message ml_hyperparameter_spec;
extern const struct message ml_nas_spec;
extern const struct message ml_prediction_input;
extern const struct message ml_explanation_input;

/* Output. */
extern const struct message ml_training_output;
extern const struct message ml_trial;
extern const struct message ml_prediction_output;
extern const struct message ml_explanation_output;

extern const struct enum_type ml_job_state;
extern const struct enum_type ml_scale_tier;
extern const struct enum_type ml_accelerator_type;
