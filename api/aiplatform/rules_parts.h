/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/aiplatform/rules_parts.h: functions that the files of rules call in each other. Each rule adds its violations
 * and lets the other rules continue. */
#include <jansson.h>
#include <stdbool.h>

#include "api/aiplatform/findings.h"
#include "api/aiplatform/rules.h"

/* Check fields that several resources have: display name, labels, encryption key. */
void check_display_name(struct findings *findings, const json_t *resource);
void check_labels(struct findings *findings, const json_t *resource);
void check_encryption_spec(struct findings *findings, const json_t *resource);

/* Check, at the current path of @findings: a CustomJobSpec, its pools, and the container of a pool. */
void check_job_spec(struct findings *findings, const json_t *spec,
		    const struct aiplatform_settings *settings);
void check_worker_pools(struct findings *findings, const json_t *pools,
			const struct aiplatform_settings *settings);
void check_machine_spec(struct findings *findings, const json_t *machine_spec,
			const struct aiplatform_settings *settings);
void check_task(struct findings *findings, const json_t *pool);
void check_env(struct findings *findings, const json_t *list);
void check_image(struct findings *findings, const char *field, const char *image);

/* Checks a StudySpec at the current path. */
void check_study_spec(struct findings *findings, const json_t *spec);
/* Checks the fields common to a tuning job and the inputs of a tuning task. */
void check_tuning(struct findings *findings, const json_t *job, const struct aiplatform_settings *settings);

/* Call last: refuses requests that the service would run and trainyard does not support. */
void check_job_spec_capabilities(struct findings *findings, const json_t *spec,
				 const struct aiplatform_settings *settings);
void check_study_spec_capabilities(struct findings *findings, const json_t *spec);
void check_tuning_capabilities(struct findings *findings, const json_t *job,
			       const struct aiplatform_settings *settings);

/* True if the pool is empty: a client sends an empty pool only to keep the indexes of the pools after it. */
bool pool_is_skipped(const json_t *pool);
/* The GPUs of each machine of a pool: the requested ones, or those that its machine type implies. *ret_type NULL:
 * none. */
void pool_accelerators(const json_t *pool, const char **ret_type, unsigned *ret_count);
/* True if the service has withdrawn the accelerator; lenient settings still accept it. */
bool accelerator_is_retired(const char *type);
/* True if the pool's machine has a TPU. */
bool pool_has_tpu(const json_t *pool);
