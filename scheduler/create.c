/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/create.h"

#include "daemon/base/clock.h"
#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "scheduler/gateway.h"
#include "scheduler/job_run.h"
#include "scheduler/launcher/launcher.h"
#include "scheduler/plan/command_line.h"
#include "scheduler/plan/dialect.h"
#include "scheduler/plan/placement.h"
#include "scheduler/plan/trial_plan.h"
#include "scheduler/reconciler.h"
#include "scheduler/search/trial_directory.h"

/* The limits of a container of a job that an earlier release stored, which did not store limits. */
#define SHM_BYTES ((int64_t)2 << 30)
enum { PIDS_LIMIT = 32768 };

/* The path of the developer's credentials in a container. */
#define ADC_PLACE "/trainyard/adc.json"

/* The entries that the engine adds to /etc/hosts: the names of all replicas. They resolve even while a replica is down
 * or not up yet. */
static json_t *hosts_of(const struct job_run *run)
{
	json_t *hosts = json_array();
	char name[REPLICA_NAME_MAX], address[16];

	if (!replicas_have_names(run->plan))
		return hosts;
	for (size_t i = 0; i < run->replica_count; i++) {
		const struct replica_key *key = &run->replicas[i].key;

		replica_address_name(run->plan, key->role, key->index, name);
		job_run_address(run, key->role, key->index, address);
		json_array_append_new(hosts, json_sprintf("%s:%s", name, address));
	}
	return hosts;
}

/* Adds the mount "PATH:PLACE" to the list. @path: on this machine; NULL: nothing to mount. */
static void mount_add(json_t *mounts, const char *path, const char *place)
{
	if (path)
		json_array_append_new(mounts, json_sprintf("%s:%s", path, place));
}

/* Mounts the directory for a trial's reports into its first replica, the only one with reports that count. */
static enum status metrics_mount(const struct reconciler *reconciler, const struct job_run *run,
				 json_t *mounts, struct error *err)
{
	AUTO(string) char *directory = trial_directory_make(reconciler, run, err);

	mount_add(mounts, directory, METRIC_DIRECTORY);
	return directory ? STATUS_OK : STATUS_INTERNAL;
}

/* The directory for reports in a trial's other replicas, or NULL. It is not read: the other replicas have it because the
 * same program runs in all of them. */
static const char *scratch_of(const struct plan *plan, enum role role)
{
	return plan->trial && role != ROLE_MASTER ? METRIC_DIRECTORY : NULL;
}

/* GCS_PLACE if the plan wants Cloud Storage as files and there is none, else NULL. The directory is then mounted empty
 * and read-only, because files on the container's own disk would be lost. */
static const char *empty_of(const struct plan *plan, const char *gcs)
{
	return plan->mounts_gcs && !gcs ? GCS_PLACE : NULL;
}

/* The directories and files of this machine to mount into the replica. */
static enum status mounts_make(const struct reconciler *reconciler, const struct job_run *run, enum role role,
			       const char *gcs, json_t **ret_mounts, struct error *err)
{
	const char *wheels = pool_is_launched(&run->plan->pools[role]) ? reconciler->wheels : NULL;
	const char *trusted = run->gateway.observed == GATEWAY_OPEN ? run->gateway.place.ca_bundle : NULL;
	AUTO(json) json_t *mounts = json_array();

	mount_add(mounts, reconciler->adc, ADC_PLACE ":ro");
	mount_add(mounts, wheels, LAUNCHER_WHEELS ":ro");
	mount_add(mounts, trusted, GATEWAY_TRUSTED ":ro");
	mount_add(mounts, gcs, GCS_PLACE);
	if (run->plan->trial && role == ROLE_MASTER) {
		enum status rc = metrics_mount(reconciler, run, mounts, err);

		if (rc)
			return rc;
	}
	*ret_mounts = TAKE(mounts);
	return STATUS_OK;
}

/* Adds the variables and hosts that are the same for each dialect: those of --adc's credentials and of the gateway. */
static void common_environment_add(const struct reconciler *reconciler, const struct job_run *run,
				   json_t *environment, json_t *hosts)
{
	const struct gateway_run *gateway = &run->gateway;

	if (reconciler->adc)
		json_array_append_new(environment, json_string("GOOGLE_APPLICATION_CREDENTIALS=" ADC_PLACE));
	if (gateway->observed == GATEWAY_OPEN)
		gateway_environment(run->plan, run->network_status.reach.address, &gateway->place,
				    environment, hosts);
}

static enum status environment_make(const struct reconciler *reconciler, const struct job_run *run,
				    const struct replica_key *key, json_t *hosts, json_t **ret_environment,
				    struct error *err)
{
	enum status rc = replica_environment(run->plan, key->role, key->index, ret_environment, err);

	if (rc)
		return rc;
	common_environment_add(reconciler, run, *ret_environment, hosts);
	return replica_environment_extend(run->plan, key->role, *ret_environment, err);
}

/* The command of a container: the launcher's, or the command and arguments of its pool. */
static enum status replica_program(const struct plan *plan, enum role role, const json_t *environment,
				   json_t **ret_command, json_t **ret_args, struct error *err)
{
	AUTO(json) json_t *command = NULL;
	AUTO(json) json_t *args = NULL;
	enum status rc = replica_command(plan, role, environment, &command, &args, err);

	if (rc)
		return rc;
	if (pool_is_launched(&plan->pools[role])) {
		launcher_command(plan, role, args, ret_command, ret_args);
		return STATUS_OK;
	}
	*ret_command = TAKE(command);
	*ret_args = TAKE(args);
	return STATUS_OK;
}

char *replica_command_line(const struct reconciler *reconciler, const struct job_run *run,
			   const struct replica_key *key)
{
	const struct pool *pool = &run->plan->pools[key->role];
	AUTO(json) json_t *hosts = json_array(), *environment = NULL;
	AUTO(json) json_t *command = NULL, *args = NULL;

	if (pool_is_launched(pool) || environment_make(reconciler, run, key, hosts, &environment, NULL) ||
	    replica_command(run->plan, key->role, environment, &command, &args, NULL))
		return NULL;
	return command_line_text(pool->image, command, args);
}

static void refuse(struct replica_run *replica, struct error *err)
{
	replica->end = END_REFUSED;
	replica->refusal = err->text ? TAKE(err->text) : NULL;
}

void description_deinit(struct description *description)
{
	json_decref(description->environment);
	json_decref(description->hosts);
	json_decref(description->mounts);
	json_decref(description->command);
	json_decref(description->args);
}

static enum status program_describe(const struct reconciler *reconciler, const struct job_run *run,
				    const struct replica_key *key, const char *gcs,
				    struct description *description, struct error *err)
{
	enum status rc = mounts_make(reconciler, run, key->role, gcs, &description->mounts, err);

	description->hosts = hosts_of(run);
	if (!rc)
		rc = environment_make(reconciler, run, key, description->hosts, &description->environment,
				      err);
	if (!rc)
		rc = replica_program(run->plan, key->role, description->environment, &description->command,
				     &description->args, err);
	return rc;
}

bool replica_describe(const struct reconciler *reconciler, const struct job_run *run,
		      struct replica_run *replica, struct description *description)
{
	static const struct limits none = { 0 };
	const struct replica_key *key = &replica->key;
	const struct job_node *on = &run->nodes[replica->at];
	const struct assignment *assignment = run->assignment;
	const struct limits *limits = assignment ? &assignment->limits[key->role] : &none;
	struct error err AUTO_ERROR = { 0 };

	if (program_describe(reconciler, run, key, on->gcs, description, &err)) {
		refuse(replica, &err);
		return false;
	}
	replica_host_name(run->plan, key->role, key->index, description->hostname);
	replica_address_name(run->plan, key->role, key->index, description->alias);
	job_run_address(run, key->role, key->index, description->address);
	description->spec = (struct replica_spec){
		.key = *key,
		.project = run->row->project,
		.job_id = run->row->job_id,
		.image = on->image_ids[key->role],
		.hostname = description->hostname,
		.alias = description->alias,
		.command = description->command,
		.args = description->args,
		.env = description->environment,
		.hosts = description->hosts,
		.mounts = json_array_size(description->mounts) ? description->mounts : NULL,
		.scratch = scratch_of(run->plan, key->role),
		.empty = empty_of(run->plan, on->gcs),
		.gateway_port = run->gateway.observed == GATEWAY_OPEN ? run->gateway.place.port : 0,
		.made_us = clock_wall_us(reconciler->clock),
		.network = run->network_status.id,
		.address = description->address,
		.device_ids = assignment ? assignment_devices(assignment, key->role, key->index) : NULL,
		.nano_cpus = limits->nano_cpus,
		.memory_bytes = limits->memory_bytes,
		.shm_bytes = limits->shm_bytes ? limits->shm_bytes : SHM_BYTES,
		.pids_limit = PIDS_LIMIT,
		.stop_grace_s = reconciler->stop_grace_s,
	};
	return true;
}
