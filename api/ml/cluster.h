/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/cluster.h: scale tiers and roles: which machines a TrainingInput asks for.
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

/* How TrainingInput spells a role, in JSON and in the words of errors. */
struct role_fields {
	const char *config, *type, *count; /* count: NULL for the master, of which there is one */
	const char *config_snake, *type_snake, *count_snake;
	const char *noun; /* "worker" */
};

extern const struct role_fields ml_roles[ROLE_COUNT];

/* The place for "parameter_server_config.disk_config.boot_disk_size_gb" and its like. */
enum { FIELD_NAME_SIZE = 96 };
/* "worker_config.image_uri" into @name; returns @name. */
const char *role_field(enum role role, const char *below, char name[FIELD_NAME_SIZE]);

/* What a role asks for, wherever it is said: by the tier or by the fields. Borrowed from the input. */
struct role_request {
	int64_t count;
	const char *machine_type; /* NULL: none */
	const json_t *config;     /* ReplicaConfig or NULL */
	const char
		*accelerator_type; /* of the tier alone; see machine.h for what comes with a machine's name */
	unsigned accelerator_count;
};

/* masterType without a tier, or with the tier that cannot be told from none, means CUSTOM: the
 * documented command `--master-machine-type … --worker-count …` gives no tier.
 * Source: https://cloud.google.com/ai-platform/training/docs/using-containers */
enum tier input_tier(const json_t *input);
const char *tier_name(enum tier tier);
/* The accelerators of each replica of a role, from acceleratorConfig, the tier, or the name of the machine type.
 * A Cloud TPU that nothing more is said of has eight cores of the second version.
 * Source: https://cloud.google.com/ai-platform/training/docs/using-tpus */
struct role_accelerators {
	const char *type; /* NULL: none */
	int64_t count;    /* 0: none */
};
void input_accelerators(const json_t *input, enum role role, struct role_accelerators *ret_accelerators);
/* In a tier other than CUSTOM the types and counts are the tier's own. */
void input_role(const json_t *input, enum role role, struct role_request *ret_request);
/* True when the workers are a Cloud TPU, which runs no container. */
bool input_has_tpu(const json_t *input);
/* The image that a role runs: its own or the master's; NULL when there is none. */
const char *input_image(const json_t *input, enum role role);
