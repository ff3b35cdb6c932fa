/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the containers that are missing, all before any is started: most bad requests fail here,
 * before user code runs, and every name resolves from the first instruction on. */
#include "scheduler/steps.h"

#include <stdio.h>
#include <stdlib.h>

#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "scheduler/admission.h"
#include "scheduler/cluster_spec.h"

/* Of jobs that an earlier release let in, without limits. */
#define SHM_BYTES ((int64_t)2 << 30)
enum { PIDS_LIMIT = 32768 };

static void address_text(const struct job_run *run, enum role role, unsigned index, char ret_address[16])
{
	uint32_t address = run->network_status.gateway + 1 + plan_replica_ordinal(run->plan, role, index);

	snprintf(ret_address, 16, "%u.%u.%u.%u", address >> 24, address >> 16 & 255, address >> 8 & 255,
		 address & 255);
}

/* Every replica's name in every replica's /etc/hosts: they hold while a peer is down or not up yet. */
static json_t *hosts_of(const struct job_run *run)
{
	json_t *hosts = json_array();
	char name[REPLICA_NAME_MAX], address[16];

	if (run->replica_count == 1)
		return hosts;
	for (size_t i = 0; i < run->replica_count; i++) {
		const struct replica_key *key = &run->replicas[i].key;

		replica_address_name(run->plan, key->role, key->index, name);
		address_text(run, key->role, key->index, address);
		json_array_append_new(hosts, json_sprintf("%s:%s", name, address));
	}
	return hosts;
}

static void replica_create(struct reconciler *reconciler, struct job_run *run, struct replica_run *replica,
			   const json_t *hosts)
{
	static const struct limits none = { 0 };
	const struct pool *pool = &run->plan->pools[replica->key.role];
	const struct assignment *assignment = run->assignment;
	const struct limits *limits = assignment ? &assignment->limits[replica->key.role] : &none;
	char hostname[REPLICA_NAME_MAX], alias[REPLICA_NAME_MAX], address[16];
	AUTO(json) json_t *environment = NULL;
	struct error err AUTO_ERROR = { 0 };

	replica->seen = SEEN_CREATING;
	if (replica_environment(run->plan, replica->key.role, replica->key.index, &environment, &err)) {
		replica->seen = SEEN_NOTHING;
		replica->end = END_REFUSED;
		replica->refusal = err.text ? TAKE(err.text) : NULL;
		return;
	}
	replica_host_name(run->plan, replica->key.role, replica->key.index, hostname);
	replica_address_name(run->plan, replica->key.role, replica->key.index, alias);
	address_text(run, replica->key.role, replica->key.index, address);
	reconciler->engine->ops->create_replica(
		reconciler->engine,
		&(struct replica_spec){
			.key = replica->key,
			.project = run->row->project,
			.job_id = run->row->job_id,
			.image = run->image_ids[replica->key.role],
			.hostname = hostname,
			.alias = alias,
			.command = pool->command,
			.args = pool->args,
			.env = environment,
			.hosts = hosts,
			.network = run->network_status.id,
			.address = address,
			.device_ids = assignment ? assignment_devices(assignment, replica->key.role,
								      replica->key.index)
						 : NULL,
			.nano_cpus = limits->nano_cpus,
			.memory_bytes = limits->memory_bytes,
			.shm_bytes = limits->shm_bytes ? limits->shm_bytes : SHM_BYTES,
			.pids_limit = PIDS_LIMIT,
			.stop_grace_s = reconciler->stop_grace_s,
		});
}

void step_create(struct reconciler *reconciler, struct job_run *run)
{
	AUTO(json) json_t *hosts = hosts_of(run);

	for (size_t i = 0; i < run->replica_count; i++)
		if (run->replicas[i].seen == SEEN_NOTHING && run->replicas[i].end == END_NONE)
			replica_create(reconciler, run, &run->replicas[i], hosts);
}
