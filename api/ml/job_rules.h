/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/job_rules.h: the service's semantic checks of a job, beyond the types of its fields.
 *
 * Pure: takes values, returns an outcome. Thread: any. */
#include <jansson.h>
#include <stdbool.h>

#include "daemon/base/error.h"

struct image_map;
struct runtime_map;

/* The configuration for jobs, borrowed. NULL: not configured. */
struct ml_settings {
	bool lenient; /* accept well-formed names of unknown regions, machine types and runtime versions */
	const struct image_map *images;
	const struct runtime_map *runtimes;
	const char *tpu_config; /* the value of TPU_CONFIG: a JSON object */
};

/* Checks a canonical Job (from message_read()) for creation. *err has all violations, each as `Field: <field> Error:
 * <text>`; fields of TrainingInput are named without a prefix.
 *
 * A valid job may still be of a kind that trainyard does not run: it is refused with INVALID_ARGUMENT too, but only if
 * nothing else is wrong. */
enum status job_rules_check(const json_t *job, const struct ml_settings *settings, struct error *err);

/* Checks a canonical map of labels; NULL: no labels. The field of violations is `labels`. */
enum status labels_check(const json_t *labels, struct error *err);
