/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/aiplatform/rules_parts.h: what the files of rules share. Each rule adds what it finds, and lets the
 * others go on. */
#include <jansson.h>
#include <stdbool.h>

#include "api/aiplatform/findings.h"
#include "api/aiplatform/rules.h"

/* What several resources have: a display name, labels, an encryption key. */
void check_display_name(struct findings *findings, const json_t *resource);
void check_labels(struct findings *findings, const json_t *resource);
void check_encryption_spec(struct findings *findings, const json_t *resource);

/* A CustomJobSpec, at the path; its pools; what a pool runs. */
void check_job_spec(struct findings *findings, const json_t *spec,
		    const struct aiplatform_settings *settings);
void check_worker_pools(struct findings *findings, const json_t *pools,
			const struct aiplatform_settings *settings);
void check_machine_spec(struct findings *findings, const json_t *machine_spec,
			const struct aiplatform_settings *settings);
void check_task(struct findings *findings, const json_t *pool);
void check_env(struct findings *findings, const json_t *list);
void check_image(struct findings *findings, const char *field, const char *image);

/* A StudySpec, at the path. */
void check_study_spec(struct findings *findings, const json_t *spec);
/* What a tuning job and the inputs of a tuning task have alike. */
void check_tuning(struct findings *findings, const json_t *job, const struct aiplatform_settings *settings);

/* Last of all: what the service would run, and trainyard does not. */
void check_job_spec_capabilities(struct findings *findings, const json_t *spec,
				 const struct aiplatform_settings *settings);
void check_study_spec_capabilities(struct findings *findings, const json_t *spec);
void check_tuning_capabilities(struct findings *findings, const json_t *job,
			       const struct aiplatform_settings *settings);

/* Pools that have nothing in them are skipped. */
bool pool_is_skipped(const json_t *pool);
/* The GPUs that each machine of a pool has: what is asked for, or what comes with its type. *ret_type NULL: none. */
void pool_accelerators(const json_t *pool, const char **ret_type, unsigned *ret_count);
/* What the service has no more, though machines took it once; lenient settings take it still. */
bool accelerator_is_retired(const char *type);
/* A machine with a TPU. */
bool pool_has_tpu(const json_t *pool);
