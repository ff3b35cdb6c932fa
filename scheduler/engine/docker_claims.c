/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_claims.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/clock.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/docker_claims_seen.h"
#include "scheduler/engine/docker_claims_weigh.h"
#include "scheduler/engine/docker_core.h"
#include "scheduler/engine/docker_elsewhere.h"
#include "scheduler/engine/docker_emit.h"
#include "scheduler/engine/docker_make.h"
#include "scheduler/engine/docker_peers.h"

enum {
	TIE_PAUSE_US = 100 * MILLISECOND_US,
	TIES_MOST = 20,
	LOOKS_MOST = 50,
	CLAIM_NAME_MOST = 128, /* bytes: more than the name of a claim has */
};

struct claims {
	struct docker *docker;
	json_t *wanted; /* ids of the round's GPUs */
	unsigned number;
	json_t *next; /* ids of the order that waits for this round to end; NULL: no order waits */
	unsigned next_number;
	bool runs;      /* a round is under way */
	/* The engine's events have reported the loss of held claims, and no answer has passed this on yet */
	bool rechecks;
	unsigned epoch; /* the connection in which @held was claimed */
	json_t *held;   /* an object with the ids that are claimed */
	bool made;      /* the engine has taken a claim since it was connected */
	bool unsure;    /* the engine may have claims of this instance that are not held */
	/* Answers of the last look; each may be NULL */
	json_t *volumes, *containers;
	struct peers peers; /* a daemon counts as dead only if it was found dead after this round's last new claim */
	/* removals: names of volumes to remove; creations: ids of GPUs to claim; each may be NULL. then(): the step
	 * after these */
	json_t *removals, *creations;
	void (*then)(struct claims *claims);
	/* A name may be split between two pieces of the events: the last bytes of one piece, which are fewer than a
	 * claim's name has, and the first bytes of the next */
	char seam[2 * CLAIM_NAME_MOST];
	size_t seam_length;
	json_t *lost; /* GPUs that the round could not claim, for its answer */
	unsigned looks, ties;
	struct timer pause;
};

static void json_replace(json_t **at, json_t *value)
{
	json_decref(*at);
	*at = value;
}

void claims_free(struct claims *claims)
{
	if (!claims)
		return;
	json_decref(claims->wanted);
	json_decref(claims->next);
	json_decref(claims->held);
	json_decref(claims->volumes);
	json_decref(claims->containers);
	peers_deinit(&claims->peers);
	json_decref(claims->removals);
	json_decref(claims->creations);
	json_decref(claims->lost);
	free(claims);
}

/* ---- a round ---- */

static void round_begin(struct claims *claims);

/* Claims the GPUs of the last order again, and answers that order again. */
static void recheck(struct claims *claims)
{
	claims->next = json_incref(claims->wanted);
	claims->next_number = claims->number;
	round_begin(claims);
}

static void round_end(struct claims *claims, enum status status, const char *text)
{
	AUTO(json) json_t *lost = TAKE(claims->lost);

	claims->runs = false;
	claims->rechecks = claims->rechecks && claims->unsure;
	json_replace(&claims->volumes, NULL);
	json_replace(&claims->containers, NULL);
	emit_devices_claimed(claims->docker, claims->number, status, text, lost);
	if (claims->docker->closing)
		return;
	if (claims->next)
		round_begin(claims);
	else if (claims->unsure && !status)
		recheck(claims); /* claims were removed since the round last asked for them */
}

static bool link_is_same(const struct claims *claims)
{
	return !claims->docker->closing && link_is_up(claims->docker) &&
	       claims->epoch == claims->docker->link.epoch;
}

static void round_break(struct claims *claims, const char *text)
{
	json_replace(&claims->lost, NULL);
	claims->unsure = true;
	round_end(claims, STATUS_UNAVAILABLE, text);
}

/* False: the round has ended, because the connection or the engine failed. An answer with the code @also is no
 * failure. */
static bool answer_serves(struct claims *claims, const struct http_answer *answer, unsigned also)
{
	struct outcome outcome;

	docker_outcome(claims->docker, answer, &outcome);
	if (link_is_same(claims) && !answer->status && (!outcome.status || answer->code == also))
		return true;
	round_break(claims, outcome.text);
	return false;
}

/* As answer_serves(), for an answer to a list or a create of volumes. An engine that refuses these cannot have
 * claims, so the round ends with success, unless the engine has accepted a claim before. */
static bool volumes_serve(struct claims *claims, const struct http_answer *answer)
{
	if (claims->made || !link_is_same(claims) || answer->status || !elsewhere_is_refused(answer->code))
		return answer_serves(claims, answer, 0);
	json_replace(&claims->lost, NULL);
	round_end(claims, STATUS_OK, "");
	return false;
}

static void ask(struct claims *claims, const char *method, const char *path, const char *body,
		void (*done)(void *arg, const struct http_answer *answer))
{
	http_start(claims->docker->http, &(struct http_request){ .method = method,
								 .path = path,
								 .body = body,
								 .timeout_s = CALL_TIMEOUT_S,
								 .body_max = DOCKER_LISTING_MAX,
								 .done = done,
								 .arg = claims });
}

static void round_succeed(struct claims *claims)
{
	round_end(claims, STATUS_OK, "");
}

static void paused(void *arg)
{
	struct claims *claims = arg;

	if (link_is_same(claims))
		claims->then(claims);
	else
		round_break(claims, claims->docker->link.reason);
}

static void pause_for(struct claims *claims, int64_t delay_us, void (*then)(struct claims *claims))
{
	claims->then = then;
	docker_after(claims->docker, &claims->pause, delay_us, paused, claims);
}

/* ---- making and removing claims ---- */

static void act(struct claims *claims);

static void removed(void *arg, const struct http_answer *answer)
{
	struct claims *claims = arg;

	link_watch(claims->docker, answer);
	if (answer_serves(claims, answer, 404))
		act(claims);
}

static void created(void *arg, const struct http_answer *answer)
{
	struct claims *claims = arg;

	if (!volumes_serve(claims, answer))
		return;
	claims->made = true;
	act(claims);
}

static void claim_create(struct claims *claims, const char *device)
{
	const char *instance = claims->docker->instance;
	AUTO(json) json_t *body = json_pack("{so s{ss ss}}", "Name", claim_name(instance, device), "Labels",
					    "trainyard.instance", instance, DOCKER_LABEL_GPUS, device);
	AUTO(string) char *text = json_dump_compact(body);

	peers_dead_forget(&claims->peers); /* a daemon that has started since may not have seen this claim */
	ask(claims, "POST", "/volumes/create", text, created);
}

/* Takes the next step: removals first, then claims, then the step after them. */
static void act(struct claims *claims)
{
	const size_t removals = json_array_size(claims->removals),
		     creations = json_array_size(claims->creations);
	AUTO(json) json_t *next = NULL;
	char path[DOCKER_PATH_SIZE];

	if (removals) {
		next = json_incref(json_array_get(claims->removals, removals - 1));
		json_array_remove(claims->removals, removals - 1);
		snprintf(path, sizeof(path), "/volumes/%s", json_string_value(next));
		ask(claims, "DELETE", path, NULL, removed);
	} else if (creations) {
		next = json_incref(json_array_get(claims->creations, creations - 1));
		json_array_remove(claims->creations, creations - 1);
		claim_create(claims, json_string_value(next));
	} else {
		claims->then(claims);
	}
}

/* ---- daemons of other instances ---- */

static void look(struct claims *claims);

/* Looks again: a daemon that has ended may have started a container since the last look. */
static void peers_found(void *arg, const char *problem)
{
	struct claims *claims = arg;

	if (problem)
		round_break(claims, problem);
	else
		look(claims);
}

/* ---- weighing the claims ---- */

static struct claims_seen seen_by(const struct claims *claims)
{
	return (struct claims_seen){ .instance = claims->docker->instance,
				     .wanted = claims->wanted,
				     .held = claims->held,
				     .volumes = claims->volumes,
				     .containers = claims->containers,
				     .peers = &claims->peers,
				     .unsure = claims->unsure,
				     .rechecks = claims->rechecks };
}

/* Removes the claims @removals, then claims the GPUs @creations, then calls @then. Takes over both lists; NULL:
 * none. */
static void act_on(struct claims *claims, json_t *removals, json_t *creations,
		   void (*then)(struct claims *claims))
{
	json_replace(&claims->removals, removals);
	json_replace(&claims->creations, creations);
	claims->then = then;
	act(claims);
}

static void weigh(struct claims *claims)
{
	const struct claims_seen seen = seen_by(claims);
	struct claims_weighed weighed AUTO_CLAIMS_WEIGHED = claims_weigh(&seen);

	if (weighed.step == CLAIMS_TIED && claims->ties++ < TIES_MOST) {
		pause_for(claims, TIE_PAUSE_US, look);
		return;
	}
	switch (weighed.step) {
	case CLAIMS_LOOK:
		peers_look(&claims->peers, weighed.unknown, peers_found, claims);
		break;
	case CLAIMS_TIED:
	case CLAIMS_LOST:
		json_replace(&claims->lost, TAKE(weighed.lost));
		act_on(claims, TAKE(weighed.removals), NULL, round_succeed);
		break;
	case CLAIMS_MISSING:
		if (claims->looks++ < LOOKS_MOST)
			act_on(claims, NULL, TAKE(weighed.creations), look);
		else
			round_break(claims, "claims of GPUs vanish from the engine as soon as they are made");
		break;
	case CLAIMS_WAIT:
		peers_wait(&claims->peers, peers_found, claims);
		break;
	case CLAIMS_WON:
		json_replace(&claims->held, TAKE(weighed.held));
		act_on(claims, TAKE(weighed.removals), NULL, round_succeed);
		break;
	}
}

/* ---- asking for containers and claims ---- */

static void containers_looked(void *arg, const struct http_answer *answer)
{
	struct claims *claims = arg;

	if (!answer_serves(claims, answer, 0))
		return;
	json_replace(&claims->containers, docker_parse(answer->body, answer->body_length, JSON_ARRAY));
	weigh(claims);
}

static void volumes_looked(void *arg, const struct http_answer *answer)
{
	static const char filter[] = "{\"label\":[\"" DOCKER_LABEL_GPUS "\"],\"status\":[\"running\",\"paused\","
				     "\"restarting\"]}";
	struct claims *claims = arg;
	AUTO(json) json_t *list = docker_parse(answer->body, answer->body_length, JSON_OBJECT);
	char encoded[DOCKER_PATH_SIZE], path[DOCKER_PATH_SIZE + 64];

	if (!volumes_serve(claims, answer))
		return;
	json_replace(&claims->volumes, json_incref(json_object_get(list, "Volumes")));
	if (!json_array_size(claims->wanted)) {
		weigh(claims);
		return;
	}
	docker_query_encode(filter, encoded, sizeof(encoded));
	snprintf(path, sizeof(path), "/containers/json?filters=%s", encoded);
	ask(claims, "GET", path, NULL, containers_looked);
}

static void look(struct claims *claims)
{
	char encoded[DOCKER_PATH_SIZE], path[DOCKER_PATH_SIZE + 64];

	claims->unsure = false;
	docker_query_encode("{\"label\":[\"" DOCKER_LABEL_GPUS "\"]}", encoded, sizeof(encoded));
	snprintf(path, sizeof(path), "/volumes?filters=%s", encoded);
	ask(claims, "GET", path, NULL, volumes_looked);
}

/* ---- orders ---- */

static void round_begin(struct claims *claims)
{
	struct docker *docker = claims->docker;
	json_t *unwanted = NULL;
	struct claims_seen seen;

	claims->runs = true;
	json_replace(&claims->wanted, TAKE(claims->next));
	claims->number = claims->next_number;
	claims->looks = claims->ties = 0;
	peers_expire(&claims->peers);
	peers_dead_forget(&claims->peers);
	peers_suspects_forget(&claims->peers);
	if (claims->epoch != docker->link.epoch) {
		claims->epoch = docker->link.epoch;
		claims->unsure = true;
		claims->made = false;
		json_object_clear(claims->held);
	}
	if (!link_is_up(docker)) {
		round_break(claims, docker->link.reason);
		return;
	}
	if (docker->link.make->ignores_gpus) {
		claims->unsure = false;
		round_succeed(claims);
		return;
	}
	seen = seen_by(claims);
	json_replace(&claims->held, claims_kept(&seen, &unwanted));
	act_on(claims, unwanted, NULL,
	       json_object_size(claims->held) == json_array_size(claims->wanted) && !claims->unsure
		       ? round_succeed
		       : look);
}

void claims_order_run(struct docker *docker, struct command *command)
{
	struct claims *claims = docker->claims;

	if (!claims) {
		claims = docker->claims = memory_calloc(1, sizeof(*claims));
		claims->docker = docker;
		claims->held = json_object();
		peers_init(&claims->peers, docker);
	}
	json_replace(&claims->next, TAKE(command->body));
	claims->next_number = command->number;
	if (!claims->runs)
		round_begin(claims);
}

/* Whether the events name the claim of @device. */
static bool is_named(const struct claims *claims, const char *device, const char *data, size_t length)
{
	AUTO(json) json_t *name = claim_name(claims->docker->instance, device);
	const char *text = json_string_value(name);
	const size_t size = json_string_length(name);

	return memmem(data, length, text, size) || memmem(claims->seam, claims->seam_length, text, size);
}

static void seam_keep(struct claims *claims, const char *data, size_t length, size_t most)
{
	const size_t kept = claims->seam_length < most ? claims->seam_length : most;

	if (length >= most)
		memcpy(claims->seam, data + length - most, kept);
	else
		memmove(claims->seam, claims->seam + claims->seam_length - kept, kept);
	claims->seam_length = kept;
}

void claims_watch(struct docker *docker, const char *data, size_t length)
{
	AUTO(json) json_t *name = claim_name(docker->instance, "");
	const size_t most = json_string_length(name) - 1, first = length < most ? length : most;
	struct claims *claims = docker->claims;
	bool is_gone = false;
	json_t *device;
	size_t i;

	if (!claims)
		return;
	memcpy(claims->seam + claims->seam_length, data, first);
	claims->seam_length += first;
	json_array_foreach(claims->wanted, i, device) {
		const char *id = json_string_value(device);
		const bool is_held = json_object_get(claims->held, id);

		if ((is_held || claims->runs) && is_named(claims, id, data, length)) {
			json_object_del(claims->held, id);
			claims->rechecks = claims->rechecks || is_held;
			claims->unsure = is_gone = true;
		}
	}
	seam_keep(claims, data, length, most);
	if (is_gone && !claims->runs)
		recheck(claims);
}
