/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/cluster.h"

#include <stdio.h>
#include <string.h>

#include "daemon/base/json.h"
#include "scheduler/plan/machine.h"

const struct role_fields ml_roles[ROLE_COUNT] = {
	[ROLE_MASTER] = { "masterConfig", "masterType", NULL, "master_config", "master_type", NULL,
			  "master" },
	[ROLE_WORKER] = { "workerConfig", "workerType", "workerCount", "worker_config", "worker_type",
			  "worker_count", "worker" },
	[ROLE_PS] = { "parameterServerConfig", "parameterServerType", "parameterServerCount",
		      "parameter_server_config", "parameter_server_type", "parameter_server_count",
		      "parameter server" },
	[ROLE_EVALUATOR] = { "evaluatorConfig", "evaluatorType", "evaluatorCount", "evaluator_config",
			     "evaluator_type", "evaluator_count", "evaluator" },
};

const char *role_field(enum role role, const char *below, char name[FIELD_NAME_SIZE])
{
	snprintf(name, FIELD_NAME_SIZE, "%s.%s", ml_roles[role].config_snake, below);
	return name;
}

struct tier_pool {
	unsigned count;
	const char *machine_type;
};

static const struct {
	const char *name;
	struct tier_pool pools[ROLE_COUNT];
	const char *accelerator_type; /* the master's */
	unsigned accelerator_count;
} tiers[TIER_COUNT] = {
	[TIER_BASIC] = { .name = "BASIC", .pools = { [ROLE_MASTER] = { 1, "n1-standard-4" } } },
	[TIER_STANDARD_1] = { .name = "STANDARD_1",
			      .pools = { [ROLE_MASTER] = { 1, "n1-highcpu-8" },
					 [ROLE_WORKER] = { 4, "n1-highcpu-8" },
					 [ROLE_PS] = { 3, "n1-standard-4" } } },
	[TIER_PREMIUM_1] = { .name = "PREMIUM_1",
			     .pools = { [ROLE_MASTER] = { 1, "n1-highcpu-16" },
					[ROLE_WORKER] = { 19, "n1-highcpu-16" },
					[ROLE_PS] = { 11, "n1-highmem-8" } } },
	[TIER_BASIC_GPU] = { .name = "BASIC_GPU",
			     .pools = { [ROLE_MASTER] = { 1, "n1-standard-8" } },
			     .accelerator_type = "NVIDIA_TESLA_K80",
			     .accelerator_count = 1 },
	[TIER_BASIC_TPU] = { .name = "BASIC_TPU",
			     .pools = { [ROLE_MASTER] = { 1, "n1-standard-4" },
					[ROLE_WORKER] = { 1, "cloud_tpu" } } },
	[TIER_CUSTOM] = { .name = "CUSTOM" },
};

enum tier input_tier(const json_t *input)
{
	const char *name = json_text_at(input, "scaleTier");

	for (int tier = 0; name && tier < TIER_COUNT; tier++)
		if (tier != TIER_BASIC && strcmp(tiers[tier].name, name) == 0)
			return (enum tier)tier;
	return json_text_at(input, "masterType") ? TIER_CUSTOM : TIER_BASIC;
}

const char *tier_name(enum tier tier)
{
	return tiers[tier].name;
}

void input_role(const json_t *input, enum role role, struct role_request *ret_request)
{
	const struct role_fields *fields = &ml_roles[role];
	enum tier tier = input_tier(input);

	*ret_request = (struct role_request){
		.count = tiers[tier].pools[role].count,
		.machine_type = tiers[tier].pools[role].machine_type,
		.config = json_object_get(input, fields->config),
	};
	if (role == ROLE_MASTER) {
		ret_request->accelerator_type = tiers[tier].accelerator_type;
		ret_request->accelerator_count = tiers[tier].accelerator_count;
	}
	if (tier != TIER_CUSTOM)
		return;
	ret_request->count = fields->count ? json_int_at(input, fields->count, 0) : 1;
	ret_request->machine_type = json_text_at(input, fields->type);
}

static void machine_accelerators(const char *machine_type, struct role_accelerators *ret_accelerators)
{
	struct machine machine;

	if (!machine_type || !machine_find_in(machine_type, MACHINE_OF_ML, &machine))
		return;
	if (machine.category == MACHINE_TPU)
		*ret_accelerators = (struct role_accelerators){ "TPU_V2", 8 };
	else if (machine.accelerator_type)
		*ret_accelerators =
			(struct role_accelerators){ machine.accelerator_type, machine.accelerator_count };
}

void input_accelerators(const json_t *input, enum role role, struct role_accelerators *ret_accelerators)
{
	struct role_request request;
	const json_t *config;
	const char *type;
	int64_t count;

	input_role(input, role, &request);
	config = json_object_get(request.config, "acceleratorConfig");
	type = json_text_at(config, "type");
	count = json_int_at(config, "count", 0);
	*ret_accelerators = (struct role_accelerators){ NULL, 0 };
	if (request.count <= 0)
		return;
	if (type && count > 0)
		*ret_accelerators = (struct role_accelerators){ type, count };
	else if (request.accelerator_type)
		*ret_accelerators =
			(struct role_accelerators){ request.accelerator_type, request.accelerator_count };
	else
		machine_accelerators(request.machine_type, ret_accelerators);
}

bool input_has_tpu(const json_t *input)
{
	struct role_request workers;
	struct machine machine;

	input_role(input, ROLE_WORKER, &workers);
	return workers.machine_type && machine_find_in(workers.machine_type, MACHINE_OF_ML, &machine) &&
	       machine.category == MACHINE_TPU;
}

const char *input_image(const json_t *input, enum role role)
{
	const char *own = json_text_at(json_object_get(input, ml_roles[role].config), "imageUri");

	return own ? own : json_text_at(json_object_get(input, "masterConfig"), "imageUri");
}
