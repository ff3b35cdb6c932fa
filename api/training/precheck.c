/* SPDX-License-Identifier: Apache-2.0 */
/* Checks before a job is stored, for both families. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "api/message/refusal.h"
#include "api/training/context.h"
#include "daemon/base/memory.h"
#include "daemon/base/seeded_random.h"
#include "scheduler/plan/deviation.h"
#include "scheduler/plan/dialect.h"
#include "scheduler/plan/fleet.h"
#include "store/objects/objects.h"

void training_cluster_id_draw(char ret_id[CLUSTER_ID_SIZE])
{
	unsigned char random[(CLUSTER_ID_SIZE - 1) / 2];

	seeded_random_draw(RANDOM_CLUSTER, random, sizeof(random));
	sodium_bin2hex(ret_id, CLUSTER_ID_SIZE, random, sizeof(random));
}

/* Checks the environment and the command of a pool's replicas, by those of the first one. */
static enum status program_check(const struct plan *plan, enum role role, struct error *err)
{
	AUTO(json) json_t *environment = NULL;
	AUTO(json) json_t *command = NULL;
	AUTO(json) json_t *args = NULL;
	enum status rc = replica_environment(plan, role, 0, &environment, err);

	if (!rc)
		rc = replica_environment_extend(plan, role, environment, err);
	return rc ? rc : replica_command(plan, role, environment, &command, &args, err);
}

enum status training_environment_check(const struct plan *plan, enum role *ret_role, struct error *err)
{
	for (int role = 0; role < ROLE_COUNT; role++) {
		enum status rc =
			plan->pools[role].count ? program_check(plan, (enum role)role, err) : STATUS_OK;

		if (rc && ret_role)
			*ret_role = (enum role)role;
		if (rc)
			return rc;
	}
	return STATUS_OK;
}

/* Refuses a job that this host can never run. The error is that of an exceeded quota if the service has such a
 * quota: for GPUs (SHORTAGE_HOST) and for a project's vCPUs (SHORTAGE_PROJECT). It has none for other resources of
 * this host. */
static enum status refuse_for_good(const char *project, enum shortage shortage, struct error *cause,
				   struct error *err)
{
	const char *text = cause->text ? cause->text : "This host cannot run the job.";

	if (shortage == SHORTAGE_HOST || shortage == SHORTAGE_PROJECT)
		return refusal_set_quota(err, project, "%s", text);
	return error_set(err, STATUS_RESOURCE_EXHAUSTED, NULL, "%s", text);
}

enum status training_host_check(const struct training_context *context, const struct plan *plan,
				enum shortage *ret_shortage, struct error *err)
{
	struct rooms rooms AUTO_ROOMS = { 0 };
	AUTO(assignment) struct assignment *assignment = NULL;
	struct error cause AUTO_ERROR = { 0 };
	enum status rc = STATUS_UNAVAILABLE;
	AUTO(nodes) unsigned *nodes = NULL;

	*ret_shortage = SHORTAGE_NONE;
	if (context->rooms)
		rc = context->rooms(context->rooms_arg, plan->project, &rooms, &cause);
	if (!rc) {
		struct fleet fleet AUTO_FLEET = fleet_of(&rooms, true);

		rc = fleet_place(&fleet, plan, &assignment, &nodes, ret_shortage, &cause);
	}
	if (rc == STATUS_FAILED_PRECONDITION)
		return refuse_for_good(plan->project, *ret_shortage, &cause, err);
	return rc == STATUS_INTERNAL ? error_move(err, &cause) : STATUS_OK;
}

/* The bucket of the plan's directory; NULL: none. */
static char *bucket_of(const struct plan *plan)
{
	static const char scheme[] = "gs://";
	const char *directory = plan->job_dir;

	if (!directory || strncmp(directory, scheme, strlen(scheme)) != 0)
		return NULL;
	directory += strlen(scheme);
	return memory_strndup(directory, strcspn(directory, "/"));
}

void training_storage_report(const struct training_context *context, const struct plan *plan)
{
	AUTO(string) char *bucket = context->bucket_missing ? bucket_of(plan) : NULL;

	if (bucket && context->bucket_missing(context->bucket_arg, bucket))
		deviation_add(plan->deviations, DONE_OTHERWISE, "bucket-made", NULL,
			      "The bucket gs://%s is made for this job: in the cloud it must exist before.",
			      bucket);
}

enum status training_storage_use(const struct training_context *context, struct plan *plan, struct error *err)
{
	AUTO(string) char *bucket = context->bucket_use ? bucket_of(plan) : NULL;
	struct error unmade AUTO_ERROR = { 0 };
	enum status rc;

	training_storage_report(context, plan);
	if (context->objects && plan->job_dir && plan_tunes(plan))
		plan->objects_since = objects_next_generation(context->objects);
	if (!bucket)
		return STATUS_OK;
	rc = context->bucket_use(context->bucket_arg, bucket, &unmade);
	return rc == STATUS_INTERNAL || rc == STATUS_UNAVAILABLE ? error_move(err, &unmade) : STATUS_OK;
}
