/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/cluster.h: scale tiers and roles: the machines that a TrainingInput requests.
 *
 * Pure. Thread: any.
 * Source: https://cloud.google.com/ai-platform/training/docs/machine-types#scale_tiers */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "scheduler/plan/plan.h"

enum tier {
	TIER_BASIC,
	TIER_STANDARD_1,
	TIER_PREMIUM_1,
	TIER_BASIC_GPU,
	TIER_BASIC_TPU,
	TIER_CUSTOM,
	TIER_COUNT
};

/* The field names of a role in TrainingInput: in JSON, and in error messages. */
struct role_fields {
	const char *config, *type, *count; /* count is NULL for the master, which has one replica */
	const char *config_snake, *type_snake, *count_snake;
	const char *noun; /* "worker" */
};

extern const struct role_fields ml_roles[ROLE_COUNT];

/* Size of a buffer for "parameter_server_config.disk_config.boot_disk_size_gb" and similar names. */
enum { FIELD_NAME_SIZE = 96 };
/* Writes "worker_config.image_uri" to @name; returns @name. */
const char *role_field(enum role role, const char *below, char name[FIELD_NAME_SIZE]);

/* The machines that a job requests for a role, by its tier or by its fields. Borrowed from the input. */
struct role_request {
	int64_t count;
	const char *machine_type; /* NULL: none */
	const json_t *config;     /* ReplicaConfig or NULL */
	const char *
		accelerator_type; /* given by the tier; the name of a machine may imply one, too: see machine.h */
	unsigned accelerator_count;
};

/* masterType without a tier, or with the default tier (which cannot be distinguished), means CUSTOM: the documented
 * command `--master-machine-type … --worker-count …` gives no tier.
 * Source: https://cloud.google.com/ai-platform/training/docs/using-containers */
enum tier input_tier(const json_t *input);
const char *tier_name(enum tier tier);
/* The accelerators of each replica of a role, from acceleratorConfig, the tier, or the name of the machine type. A
 * Cloud TPU without further fields has eight cores of version 2.
 * Source: https://cloud.google.com/ai-platform/training/docs/using-tpus */
struct role_accelerators {
	const char *type; /* NULL: none */
	int64_t count;    /* 0: none */
};
void input_accelerators(const json_t *input, enum role role, struct role_accelerators *ret_accelerators);
/* Reads the request for a role. In a tier other than CUSTOM, the tier sets types and counts. */
void input_role(const json_t *input, enum role role, struct role_request *ret_request);
/* True if the workers are a Cloud TPU, which runs no container. */
bool input_has_tpu(const json_t *input);
/* Returns the image of a role: its own or else the master's; NULL: none. */
const char *input_image(const json_t *input, enum role role);
