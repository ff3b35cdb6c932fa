/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_peers.h: whether the daemons of other instances of the engine are alive, as their markers show
 * (docker_elsewhere.h).
 *
 * The instance lock shows at once whether a daemon of this network namespace is alive. A daemon of another place is a suspect:
 * its marker is removed, and only a daemon that is alive makes it again. That takes ELSEWHERE_PATIENCE_MS, also for a
 * marker that is missing, because its daemon may be about to make it again. All suspects are waited for at the same time.
 * Thread: the engine's. */
#include <jansson.h>

#include "daemon/base/instance_lock.h"
#include "scheduler/engine/docker_core.h"

enum peer {
	PEER_UNKNOWN,
	PEER_SUSPECT,
	PEER_ALIVE,
	PEER_DEAD,
};

/* The step of the present call: PEERS_LOOK in peers_look(); PEERS_CHALLENGE, a wait, and PEERS_CONFIRM in
 * peers_wait(). */
enum peers_step {
	PEERS_LOOK,
	PEERS_CHALLENGE,
	PEERS_CONFIRM,
};

/* Use peers_init() and peers_deinit(). */
struct peers {
	struct docker *docker;
	/* Objects by instance. suspects: whether there was a marker. alive: until when (monotonic µs) the instance
	 * counts as alive */
	json_t *suspects, *alive, *dead;
	json_t *next; /* instances that the current call has still to ask about */
	char asked[INSTANCE_MAX + 1];
	enum peers_step step;
	unsigned epoch; /* the connection in which the current call began */
	struct timer pause;
	void (*done)(void *arg, const char *problem);
	void *arg;
};

void peers_init(struct peers *peers, struct docker *docker);
void peers_deinit(struct peers *peers);
/* Defined here, so that the pure functions of docker_claims_weigh.c need no code that asks the engine. */
static inline enum peer peers_state(const struct peers *peers, const char *instance)
{
	if (json_object_get(peers->dead, instance))
		return PEER_DEAD;
	if (json_object_get(peers->alive, instance))
		return PEER_ALIVE;
	return json_object_get(peers->suspects, instance) ? PEER_SUSPECT : PEER_UNKNOWN;
}

/* Forgets which daemons were found alive: suspects 30 s after they were found, others at once. */
void peers_expire(struct peers *peers);
/* Forgets the daemons that were found dead: one may have started since. */
void peers_dead_forget(struct peers *peers);
void peers_suspects_forget(struct peers *peers);

/* Asks about the @instances, an object with their names as keys, without waiting: none of them is unknown afterwards.
 * Calls @done at the end; @problem says why the connection or the engine failed; NULL: it did not. One call at a
 * time. */
void peers_look(struct peers *peers, json_t *instances, void (*done)(void *arg, const char *problem), void *arg);
/* Finds out by a wait whether each suspect is alive: none is a suspect afterwards. Otherwise as peers_look(). */
void peers_wait(struct peers *peers, void (*done)(void *arg, const char *problem), void *arg);
