/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_peers.h"

#include <stdio.h>

#include "daemon/base/clock.h"
#include "daemon/base/instance_lock.h"
#include "daemon/base/json.h"
#include "scheduler/engine/docker_core.h"
#include "scheduler/engine/docker_elsewhere.h"

/* How long a suspect that was found alive is not asked for a sign again */
enum { ALIVE_US = 30 * SECOND_US };

void peers_init(struct peers *peers, struct docker *docker)
{
	*peers = (struct peers){ .docker = docker, .suspects = json_object(), .alive = json_object(),
				 .dead = json_object(), .next = json_array() };
}

void peers_deinit(struct peers *peers)
{
	json_decref(peers->suspects);
	json_decref(peers->alive);
	json_decref(peers->dead);
	json_decref(peers->next);
}

void peers_expire(struct peers *peers)
{
	const int64_t now_us = clock_mono_us(&system_clock);
	const char *instance;
	json_t *until;
	void *next;

	json_object_foreach_safe(peers->alive, next, instance, until)
		if (json_integer_value(until) <= now_us)
			json_object_del(peers->alive, instance);
}

void peers_dead_forget(struct peers *peers)
{
	json_object_clear(peers->dead);
}

void peers_suspects_forget(struct peers *peers)
{
	json_object_clear(peers->suspects);
}

/* ---- a call ---- */

static void answered(void *arg, const struct http_answer *answer);

static void ask(struct peers *peers)
{
	const char *method = peers->step == PEERS_CHALLENGE ? "DELETE" : "GET";
	char path[DOCKER_PATH_SIZE];

	elsewhere_path(peers->asked, path);
	http_start(peers->docker->http, &(struct http_request){ .method = method,
								.path = path,
								.timeout_s = CALL_TIMEOUT_S,
								.done = answered,
								.arg = peers });
}

static bool link_is_same(const struct peers *peers)
{
	return !peers->docker->closing && link_is_up(peers->docker) && peers->epoch == peers->docker->link.epoch;
}

/* False: the call has ended, because the connection or the engine failed. */
static bool answer_serves(struct peers *peers, const struct http_answer *answer)
{
	struct outcome outcome;

	docker_outcome(peers->docker, answer, &outcome);
	if (link_is_same(peers) && !answer->status && (!outcome.status || answer->code == 404))
		return true;
	peers->done(peers->arg, outcome.text);
	return false;
}

static void ask_next(struct peers *peers);

static void found(struct peers *peers, bool alive, int64_t until_us)
{
	json_object_del(peers->suspects, peers->asked);
	json_object_set_new(alive ? peers->alive : peers->dead, peers->asked, json_integer(until_us));
}

static void answered(void *arg, const struct http_answer *answer)
{
	struct peers *peers = arg;
	AUTO(json) json_t *volume = docker_parse(answer->body, answer->body_length, JSON_OBJECT);
	const bool is_marked = answer->code != 404;

	if (!answer_serves(peers, answer))
		return;
	if (peers->step != PEERS_CHALLENGE) {
		if (is_marked && !elsewhere_is(volume, peers->docker->place))
			found(peers, instance_lock_seen(peers->asked), 0);
		else if (peers->step == PEERS_LOOK)
			json_object_set_new(peers->suspects, peers->asked, json_boolean(is_marked));
		else
			found(peers, is_marked, clock_mono_us(&system_clock) + ALIVE_US);
	}
	ask_next(peers);
}

/* Adds the @instances, an object with their names as keys, to the list of those to ask about. */
static void next_set(struct peers *peers, json_t *instances)
{
	const char *instance;
	json_t *value;

	json_object_foreach(instances, instance, value)
		json_array_append_new(peers->next, json_string(instance));
}

static void waited(void *arg)
{
	struct peers *peers = arg;
	if (!link_is_same(peers)) {
		peers->done(peers->arg, peers->docker->link.reason);
		return;
	}
	peers->step = PEERS_CONFIRM;
	next_set(peers, peers->suspects);
	ask_next(peers);
}

static void ask_next(struct peers *peers)
{
	const size_t count = json_array_size(peers->next);

	if (count) {
		snprintf(peers->asked, sizeof(peers->asked), "%s",
			 json_string_value(json_array_get(peers->next, count - 1)));
		json_array_remove(peers->next, count - 1);
		ask(peers);
	} else if (peers->step == PEERS_CHALLENGE) {
		docker_after(peers->docker, &peers->pause, ELSEWHERE_PATIENCE_MS * INT64_C(1000), waited, peers);
	} else {
		peers->done(peers->arg, NULL);
	}
}

static void call_begin(struct peers *peers, enum peers_step step, void (*done)(void *arg, const char *problem),
		       void *arg)
{
	peers->step = step;
	peers->epoch = peers->docker->link.epoch;
	peers->done = done;
	peers->arg = arg;
	json_array_clear(peers->next);
}

void peers_look(struct peers *peers, json_t *instances, void (*done)(void *arg, const char *problem), void *arg)
{
	call_begin(peers, PEERS_LOOK, done, arg);
	next_set(peers, instances);
	ask_next(peers);
}

void peers_wait(struct peers *peers, void (*done)(void *arg, const char *problem), void *arg)
{
	const char *instance;
	json_t *was_marked;

	call_begin(peers, PEERS_CHALLENGE, done, arg);
	json_object_foreach(peers->suspects, instance, was_marked)
		if (json_is_true(was_marked))
			json_array_append_new(peers->next, json_string(instance));
	ask_next(peers);
}
