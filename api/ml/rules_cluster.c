/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of tiers, machine types, counts and accelerators.
 * Source: https://cloud.google.com/ai-platform/training/docs/machine-types and
 * https://cloud.google.com/ai-platform/training/docs/reference/rest/v1/projects.jobs#TrainingInput */
#include <string.h>

#include "api/ml/rules.h"
#include "api/training/forms.h"
#include "daemon/base/json.h"
#include "daemon/base/text.h"
#include "scheduler/plan/machine.h"

/* Choice: the service names no limit; more replicas than this would not fit on one machine. */
enum { ROLE_COUNT_LIMIT = 1000 };

/* Refuses types and counts of a role in a tier other than CUSTOM, because the tier sets them. */
static void check_tier_owns(struct rules *rules, enum role role)
{
	const struct role_fields *fields = &ml_roles[role];

	if (json_text_at(rules->input, fields->type))
		rules_refuse(rules, fields->type_snake,
			     "A machine type can only be given when the scale tier is CUSTOM, not %s.",
			     tier_name(rules->tier));
	if (fields->count && json_int_at(rules->input, fields->count, 0))
		rules_refuse(rules, fields->count_snake,
			     "A count can only be given when the scale tier is CUSTOM, not %s.",
			     tier_name(rules->tier));
}

static void check_count(struct rules *rules, const struct role_fields *fields,
			const struct role_request *request)
{
	if (request->count < 0 || request->count > ROLE_COUNT_LIMIT)
		rules_refuse(rules, fields->count_snake, "The count must be from 0 to %d, not %lld.",
			     ROLE_COUNT_LIMIT, (long long)request->count);
	else if (request->count && !request->machine_type)
		rules_refuse(rules, fields->type_snake, "A machine type is required when %s is given.",
			     fields->count_snake);
	else if (!request->count && request->machine_type)
		rules_refuse(rules, fields->count_snake, "A count is required when %s is given.",
			     fields->type_snake);
}

static void check_instance_lock(struct rules *rules, enum role role, const struct role_request *request)
{
	if (rules->tier != TIER_CUSTOM)
		check_tier_owns(rules, role);
	else if (role != ROLE_MASTER)
		check_count(rules, &ml_roles[role], request);
	else if (!request->machine_type)
		rules_refuse(rules, "master_type",
			     "A machine type is required when the scale tier is CUSTOM.");
}

/* Cloud TPUs can only be workers. */
static bool check_tpu_place(struct rules *rules, enum role role, const struct role_request *request)
{
	if (role == ROLE_MASTER) {
		rules_refuse(
			rules, "master_type",
			"The specified machine type for master is not supported in TPU training jobs: %s",
			request->machine_type);
		return false;
	}
	if (role != ROLE_WORKER) {
		rules_refuse(rules, ml_roles[role].type_snake, "The machine type %s is for workers only.",
			     request->machine_type);
		return false;
	}
	if (request->count > 1) {
		rules_refuse(rules, "worker_count", "The count must be 1 when the worker type is %s.",
			     request->machine_type);
		return false;
	}
	return true;
}

/* True if the role's machine type exists and is allowed for the role; *ret_machine is then its row. */
static bool check_machine(struct rules *rules, enum role role, const struct role_request *request,
			  struct machine *ret_machine)
{
	if (!request->machine_type)
		return false;
	if (rules->tier != TIER_CUSTOM)
		return machine_find_in(request->machine_type, MACHINE_OF_ML, ret_machine);
	if (!machine_find_in(request->machine_type, MACHINE_OF_ML, ret_machine) ||
	    ret_machine->category == MACHINE_OF_TIER) {
		if (!rules->settings->lenient || !is_cloud_name(request->machine_type))
			rules_refuse(rules, ml_roles[role].type_snake,
				     "The specified machine type for %s is not supported: %.*s",
				     ml_roles[role].noun, RULES_SHOWN_BYTES, request->machine_type);
		return false;
	}
	return ret_machine->category != MACHINE_TPU || check_tpu_place(rules, role, request);
}

/* A role's machine type must be a legacy one if the master's is, and a Compute Engine one if the master's is; Cloud
 * TPUs go with both. */
static void check_category(struct rules *rules, enum role role, const struct machine *machine)
{
	const char *master_type = json_text_at(rules->input, "masterType");
	struct machine master;

	if (rules->tier != TIER_CUSTOM || role == ROLE_MASTER || !master_type ||
	    machine->category == MACHINE_TPU)
		return;
	if (!machine_find_in(master_type, MACHINE_OF_ML, &master) || master.category == MACHINE_TPU ||
	    master.category == MACHINE_OF_TIER || master.category == machine->category)
		return;
	rules_refuse(rules, ml_roles[role].type_snake,
		     "The machine types of all roles must be of one kind, legacy or Compute Engine: %s does "
		     "not go with the "
		     "master's %s.",
		     machine->name, master.name);
}

/* "1, 2 or 4" */
static void counts_list(struct text *text, unsigned counts)
{
	for (unsigned count = 1; counts; count *= 2) {
		if (!(counts & count))
			continue;
		counts &= ~count;
		text_printf(text, "%s%u", !text->length ? "" : counts ? ", " : " or ", count);
	}
}

static void refuse_accelerators(struct rules *rules, const char *field, const struct machine *machine,
				const char *type, int64_t count)
{
	unsigned counts = machine_accelerator_counts(machine, type);
	struct text may AUTO_TEXT = { 0 };

	if (machine->category == MACHINE_LEGACY || machine->category == MACHINE_OF_TIER) {
		rules_refuse(
			rules, field,
			"Accelerators can only be given with a Compute Engine machine type, not with %s.",
			machine->name);
	} else if (!counts) {
		rules_refuse(rules, field, "The machine type %s does not take accelerators of type %s.",
			     machine->name, type);
	} else {
		counts_list(&may, counts);
		rules_refuse(rules, field, "The machine type %s takes %s accelerators of type %s, not %lld.",
			     machine->name, may.data, type, (long long)count);
	}
}

/* A2 machines have built-in accelerators; the service requires that the request names them. */
static void check_no_accelerators(struct rules *rules, const char *field, const struct machine *machine)
{
	if (machine && machine->category == MACHINE_COMPUTE_ENGINE && machine->accelerator_type)
		rules_refuse(rules, field,
			     "The machine type %s needs an accelerator configuration with %u of type %s.",
			     machine->name, machine->accelerator_count, machine->accelerator_type);
}

/* @machine: NULL if the role has no machine type, or an unknown one. */
static void check_accelerators(struct rules *rules, enum role role, const struct role_request *request,
			       const struct machine *machine)
{
	const json_t *config = json_object_get(request->config, "acceleratorConfig");
	const char *type = json_text_at(config, "type");
	int64_t count = json_int_at(config, "count", 0);
	char name[FIELD_NAME_SIZE];
	const char *field = role_field(role, "accelerator_config", name);

	if (!type && !count)
		check_no_accelerators(rules, field, machine);
	else if (!type)
		rules_refuse(rules, field, "An accelerator type is required when a count is given.");
	else if (rules->tier != TIER_CUSTOM && !(machine && machine->category == MACHINE_TPU))
		rules_refuse(rules, field,
			     "Accelerators can only be given when the scale tier is CUSTOM, not %s.",
			     tier_name(rules->tier));
	else if (count <= 0)
		rules_refuse(rules, field, "The number of accelerators must be greater than 0, not %lld.",
			     (long long)count);
	else if (machine && !machine_takes(machine, type, count))
		refuse_accelerators(rules, field, machine, type, count);
	else if (!request->machine_type)
		rules_refuse(
			rules, field,
			"Accelerators can only be given with a Compute Engine machine type; the %s has none.",
			ml_roles[role].noun);
	else if (!machine && count > ROLE_COUNT_LIMIT)
		rules_refuse(rules, field, "The number of accelerators must be at most %d, not %lld.",
			     ROLE_COUNT_LIMIT, (long long)count);
}

void rules_check_cluster(struct rules *rules)
{
	for (int role = 0; role < ROLE_COUNT; role++) {
		struct role_request request;
		struct machine machine;
		bool known;

		input_role(rules->input, (enum role)role, &request);
		check_instance_lock(rules, (enum role)role, &request);
		known = check_machine(rules, (enum role)role, &request, &machine);
		if (known)
			check_category(rules, (enum role)role, &machine);
		check_accelerators(rules, (enum role)role, &request, known ? &machine : NULL);
	}
}
