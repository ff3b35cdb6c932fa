/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/restarts.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "scheduler/job_run.h"
#include "scheduler/plan/assignment.h"

static bool entry_is_of(const json_t *entry, const struct replica_key *key)
{
	const char *role = json_string_value(json_object_get(entry, "role"));

	return role && strcmp(role, role_name(key->role)) == 0 &&
	       json_int_at(entry, "index", -1) == key->index &&
	       json_int_at(entry, "attempt", 0) == key->attempt;
}

void restarts_read(struct job_run *run)
{
	json_t *list = run->assignment ? run->assignment->restarts : NULL;
	json_t *entry;
	size_t at;

	for (size_t i = 0; i < run->replica_count; i++) {
		struct replica_run *replica = &run->replicas[i];

		json_array_foreach(list, at, entry) {
			const int64_t restart = json_int_at(entry, "restart", 0);

			if (!entry_is_of(entry, &replica->key) || restart < 1 ||
			    restart > REPLICA_RESTARTS_MAX)
				continue;
			replica->key.restart = (unsigned)restart;
			replica->unmade = json_true_at(entry, "unmade");
		}
	}
}

static json_t *entry_make(const struct replica_run *replica)
{
	const struct replica_key *key = &replica->key;
	json_t *entry =
		json_pack("{s:s, s:i, s:i, s:i}", "role", role_name(key->role), "index", (int)key->index,
			  "attempt", (int)key->attempt, "restart", (int)(key->restart + replica->renews));

	if ((replica->renews || replica->unmade) && json_object_set_new(entry, "unmade", json_true())) {
		json_decref(entry);
		return NULL;
	}
	return entry;
}

bool restarts_write(struct job_run *run)
{
	AUTO(json) json_t *list = json_array();

	if (!list)
		return false;
	for (size_t i = 0; i < run->replica_count; i++) {
		const struct replica_run *replica = &run->replicas[i];

		if ((replica->key.restart || replica->renews) &&
		    json_array_append_new(list, entry_make(replica)))
			return false;
	}
	json_decref(run->assignment->restarts);
	run->assignment->restarts = TAKE(list);
	return true;
}

void restarts_change(struct job_run *run)
{
	run->differs = run->differs || run->assignment;
}

/* Under the same names, of another number. */
static void replica_renew(struct job_run *run, struct replica_run *replica)
{
	struct replica_key key = replica->key;

	key.restart++;
	log_event(LOG_INFO, "replica-restarted", "project=%s job=%s replica=%s-%u restart=%u",
		  run->row->project, run->row->job_id, role_name(key.role), key.index, key.restart);
	free(replica->refusal);
	*replica = (struct replica_run){ .key = key, .unmade = true };
}

void restarts_settle(struct job_run *run, bool stored)
{
	for (size_t i = 0; i < run->replica_count; i++) {
		struct replica_run *replica = &run->replicas[i];

		if (replica->renews && stored)
			replica_renew(run, replica);
		replica->renews = false;
	}
}

void restarts_see(struct job_run *run, struct replica_run *replica)
{
	if (!replica->unmade)
		return;
	replica->unmade = false;
	restarts_change(run);
}
