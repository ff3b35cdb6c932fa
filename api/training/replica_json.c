/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/replica_json.h"

#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/plan/dialect.h"
#include "scheduler/plan/placement.h"

/* Adds a member unless @wanted is false; takes ownership of @value. */
static void member_add(json_t *object, const char *name, bool wanted, json_t *value)
{
	if (wanted) {
		json_object_set_new(object, name, value);
		return;
	}
	json_decref(value);
}

static json_t *limits_json(const struct limits *limits)
{
	AUTO(json) json_t *object = json_object();

	member_add(object, "vcpus", limits->nano_cpus > 0, json_real((double)limits->nano_cpus / 1e9));
	member_add(object, "memoryBytes", limits->memory_bytes > 0, json_integer(limits->memory_bytes));
	member_add(object, "shmBytes", limits->shm_bytes > 0, json_integer(limits->shm_bytes));
	return TAKE(object);
}

static void assigned_add(json_t *object, const struct assignment *assignment, enum role role, unsigned index)
{
	const json_t *devices = assignment_devices(assignment, role, index);

	member_add(object, "limits", true, limits_json(&assignment->limits[role]));
	member_add(object, "devices", json_array_size(devices) > 0, json_incref((json_t *)devices));
}

json_t *replica_json(const struct plan *plan, const struct assignment *assignment, enum role role,
		     unsigned index)
{
	const struct pool *pool = &plan->pools[role];
	AUTO(json) json_t *object = NULL;
	char name[REPLICA_NAME_MAX], host_name[REPLICA_NAME_MAX], address_name[REPLICA_NAME_MAX];

	replica_task_name(plan, role, index, name);
	replica_host_name(plan, role, index, host_name);
	replica_address_name(plan, role, index, address_name);
	object = json_pack("{s:s, s:s, s:s, s:s, s:s*, s:s*, s:s*}", "name", name, "hostName", host_name,
			   "addressName", address_name, "image", pool->image, "cloudImage", pool->cloud_image,
			   "machineType", pool->machine_type, "acceleratorType", pool->accelerator_type);
	member_add(object, "acceleratorCount", pool->accelerator_count > 0,
		   json_integer(pool->accelerator_count));
	if (assignment)
		assigned_add(object, assignment, role, index);
	return TAKE(object);
}

/* For a field such as "pools.worker.machine_type" returns the part after the role's name, and the role; NULL for other
 * fields. */
static const char *pool_member(const char *field, enum role *ret_role)
{
	static const char prefix[] = "pools.";
	const char *dot;
	AUTO(string) char *name = NULL;

	if (!field || strncmp(field, prefix, strlen(prefix)) != 0)
		return NULL;
	field += strlen(prefix);
	dot = strchr(field, '.');
	name = dot ? memory_strndup(field, (size_t)(dot - field)) : NULL;
	return name && role_parse(name, ret_role) ? dot + 1 : NULL;
}

static json_t *deviation_json(const json_t *deviation, const json_t *input, pool_field_namer namer)
{
	AUTO(json) json_t *copy = json_copy((json_t *)deviation);
	enum role role = ROLE_MASTER;
	const char *member = pool_member(json_text_at(deviation, "field"), &role);

	if (member)
		json_object_set_new(copy, "field", namer(input, role, member));
	return TAKE(copy);
}

json_t *replicas_json(const struct plan *plan, const struct assignment *assignment, const char *main_node)
{
	AUTO(json) json_t *list = json_array();

	for (int role = 0; role < ROLE_COUNT; role++) {
		for (unsigned i = 0; i < plan->pools[role].count; i++) {
			json_t *replica = replica_json(plan, assignment, (enum role)role, i);
			const char *node =
				assignment ? assignment_node(assignment, (enum role)role, i) : NULL;

			if (!node && assignment)
				node = main_node;
			if (node)
				json_object_set_new(replica, "node", json_string(node));
			json_array_append_new(list, replica);
		}
	}
	return TAKE(list);
}

/* Whether the list has an equal deviation: the pools of one scale tier can have the same one, about the same field. */
static bool is_listed(const json_t *list, const json_t *deviation)
{
	const json_t *listed;
	size_t i;

	json_array_foreach(list, i, listed)
		if (json_equal(listed, deviation))
			return true;
	return false;
}

json_t *deviations_json(const struct plan *plan, const struct assignment *assignment, const json_t *input,
			pool_field_namer namer)
{
	AUTO(json) json_t *list = json_copy(plan->deviations);
	const json_t *deviation;
	size_t i;

	json_array_foreach(assignment ? assignment->deviations : NULL, i, deviation) {
		AUTO(json) json_t *reported = deviation_json(deviation, input, namer);

		if (!is_listed(list, reported))
			json_array_append(list, reported);
	}
	return TAKE(list);
}
