/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/job_rules.h: what a job must be beyond its fields' types: the service's semantic rules.
 *
 * Pure: takes values, returns an outcome. Thread: any. */
#include <jansson.h>
#include <stdbool.h>

#include "daemon/base/error.h"

struct image_map;
struct runtime_map;

/* What the configuration says about jobs. What it points to outlives it; a NULL stands for nothing said. */
struct ml_settings {
	bool lenient; /* take regions, machine types and runtime versions that no table knows, if they look like some */
	const struct image_map *images;
	const struct runtime_map *runtimes;
	const char *tpu_config; /* the value of TPU_CONFIG: a JSON object */
};

/* Checks a canonical Job (as message_read() gives it) for creation. All violations that are found are
 * in *err, each as `Field: <field> Error: <text>`; fields of TrainingInput are named without a prefix.
 *
 * A job that keeps every rule may still be of a kind that trainyard does not run: that is said, with
 * INVALID_ARGUMENT too, only when nothing else is wrong. */
enum status job_rules_check(const json_t *job, const struct ml_settings *settings, struct error *err);

/* Checks a canonical map of labels; NULL is an empty one. Violations are of the field `labels`. */
enum status labels_check(const json_t *labels, struct error *err);
