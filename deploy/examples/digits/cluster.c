/* SPDX-License-Identifier: Apache-2.0 */
/* cluster.c: this replica's role, and its peers. CLUSTER_SPEC looks like
 *
 *   {"cluster": {"master": ["host-a:2222"], "worker": ["host-b:2222", "host-c:2222"], "ps": ["host-d:2222"]},
 *    "task": {"type": "worker", "index": 0}, ...}
 *
 * It is the same on every replica except for "task". A role that the job does not have is missing.
 */
#include "trainer.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

const char *const role_names[ROLE_COUNT] = {
	[ROLE_MASTER] = "master",
	[ROLE_WORKER] = "worker",
	[ROLE_PS] = "ps",
};

static bool is_address(const char *text)
{
	const char *colon = text ? strrchr(text, ':') : NULL;
	char *end = NULL;
	long port = colon ? strtol(colon + 1, &end, 10) : 0;
	return colon && colon > text && *end == '\0' && port >= 1 && port <= UINT16_MAX;
}

static void read_role(struct cluster *cluster, enum role role, const json_t *list)
{
	if (json_array_size(list) > MAX_TASKS)
		die(1, "CLUSTER_SPEC: more than %d tasks of type %s", MAX_TASKS, role_names[role]);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *address = json_string_value(json_array_get(list, i));
		if (!is_address(address))
			die(1, "CLUSTER_SPEC: cluster.%s[%zu] is not \"host:port\"", role_names[role], i);
		cluster->addresses[role][i] = strdup(address);
		if (!cluster->addresses[role][i])
			die(1, "out of memory");
	}
	cluster->count[role] = json_array_size(list);
}

static void read_task(struct cluster *cluster, const json_t *task)
{
	const char *type = json_string_value(json_object_get(task, "type"));
	json_int_t index = json_integer_value(json_object_get(task, "index"));
	int role = 0;
	while (role < ROLE_COUNT && (!type || strcmp(type, role_names[role]) != 0))
		role++;
	if (role == ROLE_COUNT)
		die(1, "CLUSTER_SPEC: task.type \"%s\" is not master, worker or ps", type ? type : "");
	if (index < 0 || index >= cluster->count[role])
		die(1, "CLUSTER_SPEC: there is no %s %lld in cluster", type, (long long)index);
	cluster->role = role;
	cluster->index = index;
}

void cluster_init(struct cluster *cluster, const char *spec)
{
	memset(cluster, 0, sizeof(*cluster));
	if (!spec)
		spec = "{\"cluster\": {\"master\": [\"127.0.0.1:2222\"]}, \"task\": {\"type\": \"master\", "
		       "\"index\": 0}}";

	json_error_t error;
	json_t *root = json_loads(spec, JSON_REJECT_DUPLICATES, &error);
	if (!root)
		die(1, "CLUSTER_SPEC: not JSON: %s", error.text);
	const json_t *roles = json_object_get(root, "cluster");
	for (int role = 0; role < ROLE_COUNT; role++)
		read_role(cluster, role, json_object_get(roles, role_names[role]));
	if (cluster->count[ROLE_MASTER] != 1)
		die(1, "CLUSTER_SPEC: cluster.master must name one task");
	read_task(cluster, json_object_get(root, "task"));
	json_decref(root);
}

enum role cluster_holder_role(const struct cluster *cluster)
{
	return cluster->count[ROLE_PS] ? ROLE_PS : ROLE_MASTER;
}

const char *cluster_own_address(const struct cluster *cluster)
{
	return cluster->addresses[cluster->role][cluster->index];
}

unsigned cluster_trainer_count(const struct cluster *cluster)
{
	return cluster->count[ROLE_MASTER] + cluster->count[ROLE_WORKER];
}

unsigned cluster_trainer_index(const struct cluster *cluster)
{
	return cluster->role == ROLE_MASTER ? 0 : cluster->index + 1;
}
