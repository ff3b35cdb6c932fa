/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/plan/assignment.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/plan/deviation.h"

struct assignment *assignment_new(void)
{
	struct assignment *assignment = memory_calloc(1, sizeof(*assignment));

	assignment->deviations = json_array();
	return assignment;
}

void assignment_free(struct assignment *assignment)
{
	if (!assignment)
		return;
	for (int role = 0; role < ROLE_COUNT; role++) {
		json_decref(assignment->devices[role]);
		json_decref(assignment->nodes[role]);
	}
	json_decref(assignment->deviations);
	free(assignment->node);
	free(assignment->placed);
	free(assignment);
}

static json_t *limits_write(const struct limits *limits)
{
	return json_pack("{s:I, s:I, s:I}", "nano_cpus", (json_int_t)limits->nano_cpus, "memory_bytes",
			 (json_int_t)limits->memory_bytes, "shm_bytes", (json_int_t)limits->shm_bytes);
}

char *assignment_to_text(const struct assignment *assignment)
{
	json_t *limits = json_object(), *devices = json_object();
	AUTO(json) json_t *nodes = json_object();
	AUTO(json)
	json_t *object = json_pack("{s:o, s:o, s:b, s:O}", "limits", limits, "devices", devices, "shared",
				   assignment->shared, "differences", assignment->deviations);

	for (int role = 0; role < ROLE_COUNT; role++) {
		const char *name = role_name((enum role)role);
		json_t *lists = assignment->devices[role];

		json_object_set_new(limits, name, limits_write(&assignment->limits[role]));
		if (lists)
			json_object_set(devices, name, lists);
		if (assignment->nodes[role])
			json_object_set(nodes, name, assignment->nodes[role]);
	}
	if (json_object_size(nodes))
		json_object_set(object, "nodes", nodes);
	if (assignment->node)
		json_object_set_new(object, "node", json_string(assignment->node));
	if (assignment->placed)
		json_object_set_new(object, "placed", json_string(assignment->placed));
	if (assignment->is_given_up)
		json_object_set_new(object, "given_up", json_true());
	if (assignment->network) {
		json_object_set_new(object, "network", json_integer(assignment->network));
		json_object_set_new(object, "network_turn", json_integer(assignment->network_turn));
	}
	return json_dump_compact(object);
}

static enum status text_fault(const char *what, struct error *err)
{
	return error_set(err, STATUS_INTERNAL, NULL, "stored assignment cannot be read: %s", what);
}

static enum status limits_read(const json_t *object, struct limits *limits, struct error *err)
{
	limits->nano_cpus = json_int_at(object, "nano_cpus", -1);
	limits->memory_bytes = json_int_at(object, "memory_bytes", -1);
	limits->shm_bytes = json_int_at(object, "shm_bytes", -1);
	if (limits->nano_cpus < 0 || limits->memory_bytes < 0 || limits->shm_bytes < 0)
		return text_fault("limits", err);
	return STATUS_OK;
}

static bool are_names(const json_t *names)
{
	size_t index;
	const json_t *name;

	json_array_foreach((json_t *)names, index, name) {
		if (!json_is_string(name))
			return false;
	}
	return !names || json_is_array(names);
}

static bool are_device_ids(const json_t *ids)
{
	size_t index;
	const json_t *id;

	if (!json_is_array(ids))
		return false;
	json_array_foreach((json_t *)ids, index, id) {
		if (!json_string_length(id))
			return false;
	}
	return true;
}

static enum status devices_read(json_t *lists, json_t **ret_lists, struct error *err)
{
	size_t index;
	const json_t *ids;

	if (!lists)
		return STATUS_OK;
	if (!json_is_array(lists))
		return text_fault("devices", err);
	json_array_foreach(lists, index, ids) {
		if (!are_device_ids(ids))
			return text_fault("devices", err);
	}
	*ret_lists = json_incref(lists);
	return STATUS_OK;
}

static enum status pools_read(const json_t *object, struct assignment *assignment, struct error *err)
{
	const json_t *limits = json_object_get(object, "limits");
	const json_t *devices = json_object_get(object, "devices"), *nodes = json_object_get(object, "nodes");
	enum status rc = STATUS_OK;

	for (int role = 0; !rc && role < ROLE_COUNT; role++) {
		const char *name = role_name((enum role)role);

		rc = limits_read(json_object_get(limits, name), &assignment->limits[role], err);
		if (!rc)
			rc = devices_read(json_object_get(devices, name), &assignment->devices[role], err);
		if (!rc && !are_names(json_object_get(nodes, name)))
			rc = text_fault("nodes", err);
		if (!rc)
			assignment->nodes[role] = json_incref(json_object_get(nodes, name));
	}
	return rc;
}

/* If the members are absent, no network was taken over. */
static enum status network_read(const json_t *object, struct assignment *assignment, struct error *err)
{
	const int64_t turn = json_int_at(object, "network_turn", 0);

	assignment->network = json_int_at(object, "network", 0);
	if (assignment->network < 0 || turn < 0 || turn > UINT_MAX)
		return text_fault("network", err);
	assignment->network_turn = (unsigned)turn;
	return STATUS_OK;
}

enum status assignment_from_text(const char *text, struct assignment **ret_assignment, struct error *err)
{
	AUTO(json) json_t *object = NULL;
	AUTO(assignment) struct assignment *assignment = NULL;
	json_t *deviations;
	enum status rc = json_parse_own(text, &object, err);

	if (rc)
		return rc;
	assignment = assignment_new();
	rc = pools_read(object, assignment, err);
	if (!rc)
		rc = network_read(object, assignment, err);
	if (rc)
		return rc;
	assignment->node = memory_strdup(json_text_at(object, "node"));
	assignment->placed = memory_strdup(json_text_at(object, "placed"));
	deviations = json_object_get(object, "differences");
	if (!deviations_valid(deviations))
		return text_fault("differences", err);
	json_decref(assignment->deviations);
	assignment->deviations = json_incref(deviations);
	assignment->shared = json_true_at(object, "shared");
	assignment->is_given_up = json_true_at(object, "given_up");
	*ret_assignment = TAKE(assignment);
	return STATUS_OK;
}

const json_t *assignment_devices(const struct assignment *assignment, enum role role, unsigned index)
{
	return json_array_get(assignment->devices[role], index);
}

const char *assignment_node(const struct assignment *assignment, enum role role, unsigned index)
{
	const char *name = json_string_value(json_array_get(assignment->nodes[role], index));

	if (!name)
		return assignment->node;
	return *name ? name : NULL;
}

static size_t lease_count(const struct assignment *assignment)
{
	size_t count = 0;

	for (int role = 0; role < ROLE_COUNT; role++)
		for (size_t i = 0; i < json_array_size(assignment->devices[role]); i++)
			count += json_array_size(json_array_get(assignment->devices[role], i));
	return count;
}

/* Appends the leases of one replica. */
static void leases_append(const json_t *ids, const struct lease *like, struct lease *leases, size_t *count)
{
	size_t index;
	const json_t *id;

	json_array_foreach((json_t *)ids, index, id) {
		struct lease *lease = &leases[(*count)++];

		*lease = *like;
		lease->device = memory_strdup(json_string_value(id));
		lease->node = memory_strdup(like->node);
	}
}

struct lease *assignment_leases(const struct assignment *assignment, int64_t job, size_t *ret_count)
{
	const size_t total = lease_count(assignment);
	struct lease *leases = total ? memory_calloc(total, sizeof(*leases)) : NULL;
	size_t count = 0;

	for (unsigned role = 0; role < ROLE_COUNT; role++) {
		for (unsigned i = 0; i < json_array_size(assignment->devices[role]); i++) {
			struct lease like = {
				.job = job,
				.role = role,
				.replica = i,
				.shared = assignment->shared,
				.node = (char *)assignment_node(assignment, (enum role)role, i),
			};

			leases_append(assignment_devices(assignment, (enum role)role, i), &like, leases,
				      &count);
		}
	}
	*ret_count = count;
	return leases;
}
