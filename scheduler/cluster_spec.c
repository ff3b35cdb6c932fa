/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/cluster_spec.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "daemon/base/json.h"
#include "scheduler/trial_plan.h"

void replica_address_name(const struct plan *plan, enum role role, unsigned index,
			  char ret_name[REPLICA_NAME_MAX])
{
	snprintf(ret_name, REPLICA_NAME_MAX, "cmle-training-%s-%s-%u", role_name(role), plan->cluster_id,
		 index);
}

/* Lowercase hex of a hash over a name: stable, and different for each name. */
static void hash_hex(const char *name, char *ret_hex, size_t bytes)
{
	unsigned char hash[crypto_generichash_BYTES];

	crypto_generichash(hash, sizeof(hash), (const unsigned char *)name, strlen(name), NULL, 0);
	sodium_bin2hex(ret_hex, bytes * 2 + 1, hash, bytes);
}

void replica_host_name(const struct plan *plan, enum role role, unsigned index,
		       char ret_name[REPLICA_NAME_MAX])
{
	char address[REPLICA_NAME_MAX];
	char suffix[7];

	replica_address_name(plan, role, index, address);
	hash_hex(address, suffix, 3);
	snprintf(ret_name, REPLICA_NAME_MAX, "%.57s-%.5s", address, suffix);
}

void replica_task_name(enum role role, unsigned index, char ret_name[REPLICA_NAME_MAX])
{
	snprintf(ret_name, REPLICA_NAME_MAX, "%s-replica-%u", role_name(role), index);
}

static json_t *pool_addresses(const struct plan *plan, enum role role)
{
	json_t *addresses = json_array();
	char name[REPLICA_NAME_MAX];

	for (unsigned i = 0; i < plan->pools[role].count; i++) {
		replica_address_name(plan, role, i, name);
		json_array_append_new(addresses, json_sprintf("%s:%d", name, CLUSTER_PORT));
	}
	return addresses;
}

/* Evaluators are never part of it. A job of one replica is told its own loopback address. */
static json_t *cluster_members(const struct plan *plan, const char *master_name)
{
	json_t *cluster = json_object();

	if (plan_replica_count(plan) == 1) {
		json_object_set_new(cluster, master_name, json_pack("[s]", "127.0.0.1:2222"));
		return cluster;
	}
	json_object_set_new(cluster, master_name, pool_addresses(plan, ROLE_MASTER));
	if (plan->pools[ROLE_PS].count)
		json_object_set_new(cluster, "ps", pool_addresses(plan, ROLE_PS));
	if (plan->pools[ROLE_WORKER].count)
		json_object_set_new(cluster, "worker", pool_addresses(plan, ROLE_WORKER));
	return cluster;
}

static const char *task_type(enum role role, const char *master_name)
{
	return role == ROLE_MASTER ? master_name : role_name(role);
}

static char *specification_text(const struct plan *plan, enum role role, unsigned index,
				const char *master_name, bool names_cloud)
{
	AUTO(json) json_t *cluster = cluster_members(plan, master_name);
	AUTO(json)
	json_t *task =
		json_pack("{s:s, s:I}", "type", task_type(role, master_name), "index", (json_int_t)index);
	AUTO(json) json_t *whole = NULL;
	char id[17];

	if (names_cloud && plan_replica_count(plan) > 1) {
		hash_hex(plan->cluster_id, id, 8);
		json_object_set_new(task, "cloud", json_sprintf("w%s-ml", id));
	}
	if (plan->trial)
		json_object_set_new(task, "trial", json_sprintf("%u", plan->trial));
	/* "job" is text here, not an object: so it was seen in custom containers. */
	whole = json_pack("{s:O, s:s, s:O, s:s}", "cluster", cluster, "environment", "cloud", "task", task,
			  "job", plan->input);
	return json_dump_compact(whole);
}

char *cluster_spec_text(const struct plan *plan, enum role role, unsigned index)
{
	return specification_text(plan, role, index, "master", false);
}

char *tf_config_text(const struct plan *plan, enum role role, unsigned index)
{
	return specification_text(plan, role, index, plan->uses_chief ? "chief" : "master", true);
}

static enum status variable_add(json_t *environment, const char *name, const char *value, struct error *err)
{
	if (!value)
		return error_no_memory(err);
	if (strlen(name) + 1 + strlen(value) + 1 > ENVIRONMENT_MAX)
		return error_set(
			err, STATUS_INVALID_ARGUMENT, "args",
			"The job is too long to be passed to its replicas: %s would have %zu bytes, %d are possible.",
			name, strlen(value), ENVIRONMENT_MAX);
	if (json_array_append_new(environment, json_sprintf("%s=%s", name, value)))
		return error_no_memory(err);
	return STATUS_OK;
}

/* Programs tell by these that they are tuned. */
static enum status trial_variables_add(json_t *environment, const struct plan *plan, struct error *err)
{
	const json_t *metric = json_array_get(json_object_get(plan->search, "metrics"), 0);
	const char *tag = json_text_at(metric, "name");
	char number[16];
	enum status rc;

	snprintf(number, sizeof(number), "%u", plan->trial);
	rc = variable_add(environment, "CLOUD_ML_TRIAL_ID", number, err);
	if (!rc)
		rc = variable_add(environment, "CLOUD_ML_HP_METRIC_TAG", tag ? tag : "", err);
	if (!rc)
		rc = variable_add(environment, "CLOUD_ML_HP_METRIC_FILE", METRIC_FILE, err);
	return rc;
}

enum status replica_environment(const struct plan *plan, enum role role, unsigned index,
				json_t **ret_environment, struct error *err)
{
	AUTO(string) char *cluster_spec = cluster_spec_text(plan, role, index);
	AUTO(string) char *tf_config = tf_config_text(plan, role, index);
	AUTO(json) json_t *environment = json_array();
	const struct {
		const char *name, *value;
	} variables[] = {
		{ "CLUSTER_SPEC", cluster_spec },    { "TF_CONFIG", tf_config },
		{ "CLOUD_ML_JOB_ID", plan->job_id }, { "CLOUD_ML_PROJECT_ID", plan->project },
		{ "CLOUD_ML_JOB", plan->input },     { "TPU_CONFIG", plan->tpu_config },
	};
	/* The first one is for custom containers, the last one for masters that have it. */
	size_t first = plan->runtime_version ? 1 : 0;
	size_t count = sizeof(variables) / sizeof(variables[0]) - (role != ROLE_MASTER || !plan->tpu_config);

	for (size_t i = first; i < count; i++) {
		enum status rc = variable_add(environment, variables[i].name, variables[i].value, err);

		if (rc)
			return rc;
	}
	if (plan->trial) {
		enum status rc = trial_variables_add(environment, plan, err);

		if (rc)
			return rc;
	}
	*ret_environment = TAKE(environment);
	return STATUS_OK;
}
