/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_claims_weigh.h"

#include <string.h>

#include "daemon/base/json.h"
#include "scheduler/engine/docker_claims_seen.h"
#include "scheduler/engine/docker_json.h"
#include "scheduler/engine/docker_peers.h"

enum contest {
	CONTEST_NONE,
	CONTEST_UNKNOWN, /* claimed by a daemon that may have ended */
	CONTEST_TIED,    /* claimed by a daemon that removes its claim if it does not hold the GPU yet */
	CONTEST_HELD,
};

void claims_weighed_deinit(struct claims_weighed *weighed)
{
	json_decref(weighed->creations);
	json_decref(weighed->lost);
	json_decref(weighed->removals);
	json_decref(weighed->unknown);
	json_decref(weighed->held);
}

static bool is_wanted(const struct claims_seen *seen, const char *device)
{
	const json_t *wanted;
	size_t i;

	json_array_foreach(seen->wanted, i, wanted)
		if (strcmp(json_string_value(wanted), device) == 0)
			return true;
	return false;
}

/* Adds to @unknown the instances with a claim of @device of which it is not known whether their daemons are alive. */
static enum contest contest_of(const struct claims_seen *seen, const char *device, json_t *unknown)
{
	enum contest found = CONTEST_NONE;
	const json_t *volume;
	size_t i;

	if (claim_runs_elsewhere(seen->containers, seen->instance, device))
		return CONTEST_HELD;
	json_array_foreach(seen->volumes, i, volume) {
		const char *instance = claim_stranger(volume, seen->instance);
		enum contest contest = CONTEST_NONE;

		if (!instance || !claim_is_of(volume, instance, device))
			continue;
		switch (peers_state(seen->peers, instance)) {
		case PEER_UNKNOWN:
			json_object_set_new(unknown, instance, json_null());
			contest = CONTEST_UNKNOWN;
			break;
		case PEER_SUSPECT:
			contest = CONTEST_UNKNOWN;
			break;
		case PEER_ALIVE:
			contest = strcmp(instance, seen->instance) > 0 ? CONTEST_TIED : CONTEST_HELD;
			break;
		case PEER_DEAD:
			break;
		}
		if (contest > found)
			found = contest;
	}
	return found;
}

/* Whether the claim of @device by @stranger (NULL: by this instance) is to be removed. @withdraws: a GPU was lost, and this
 * instance keeps only the claims that it holds. */
static bool is_left_over(const struct claims_seen *seen, const char *stranger, const char *device,
			 bool withdraws)
{
	const bool wanted = is_wanted(seen, device);

	if (stranger)
		return wanted && !withdraws && peers_state(seen->peers, stranger) == PEER_DEAD;
	return !wanted || (withdraws && !json_object_get(seen->held, device));
}

static json_t *removals(const struct claims_seen *seen, bool withdraws)
{
	json_t *names = json_array();
	const json_t *volume;
	size_t i;

	json_array_foreach(seen->volumes, i, volume) {
		const char *device = claim_label(volume, DOCKER_LABEL_GPUS),
			   *stranger = claim_stranger(volume, seen->instance);

		if (device && claim_is_of(volume, stranger ? stranger : seen->instance, device) &&
		    is_left_over(seen, stranger, device, withdraws))
			json_array_append(names, json_object_get(volume, "Name"));
	}
	return names;
}

static json_t *all_wanted(const struct claims_seen *seen)
{
	json_t *held = json_object();
	const json_t *device;
	size_t i;

	json_array_foreach(seen->wanted, i, device)
		json_object_set_new(held, json_string_value(device), json_true());
	return held;
}

struct claims_weighed claims_weigh(const struct claims_seen *seen)
{
	AUTO(json) json_t *lost = json_array();
	AUTO(json) json_t *unheld = json_array();
	AUTO(json) json_t *creations = json_array();
	AUTO(json) json_t *unknown = json_object();
	bool tied = true, waits = false;
	json_t *device;
	size_t i;

	json_array_foreach(seen->wanted, i, device) {
		const char *id = json_string_value(device);
		enum contest contest;

		if (json_object_get(seen->held, id))
			continue;
		json_array_append(unheld, device);
		contest = contest_of(seen, id, unknown);
		if (!claim_is_listed(seen->volumes, seen->instance, id))
			json_array_append(creations, device);
		tied = tied && contest != CONTEST_HELD;
		waits = waits || contest == CONTEST_UNKNOWN;
		if (contest > CONTEST_UNKNOWN)
			json_array_append(lost, device);
	}
	tied = tied && !json_array_size(creations);
	if (json_object_size(unknown))
		return (struct claims_weighed){ .step = CLAIMS_LOOK, .unknown = TAKE(unknown) };
	if (json_array_size(lost))
		return (struct claims_weighed){ .step = tied ? CLAIMS_TIED : CLAIMS_LOST,
						.lost = seen->rechecks ? TAKE(unheld) : TAKE(lost),
						.removals = removals(seen, true) };
	if (json_array_size(creations) || seen->unsure)
		return (struct claims_weighed){ .step = CLAIMS_MISSING, .creations = TAKE(creations) };
	if (waits) /* only after all claims were made, so that one wait is enough */
		return (struct claims_weighed){ .step = CLAIMS_WAIT };
	return (struct claims_weighed){ .step = CLAIMS_WON,
					.held = all_wanted(seen),
					.removals = removals(seen, false) };
}

json_t *claims_kept(const struct claims_seen *seen, json_t **ret_removals)
{
	json_t *kept = json_object(), *names = json_array();
	const char *id;
	json_t *value;

	json_object_foreach(seen->held, id, value)
		if (is_wanted(seen, id))
			json_object_set_new(kept, id, json_true());
		else
			json_array_append_new(names, claim_name(seen->instance, id));
	*ret_removals = names;
	return kept;
}
