/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/support/fake_engine_state.h: the state that the fake's operations (fake_engine.c) and the calls of tests
 * (fake_orders.c) share. All of it is guarded by the lock. */
#include <pthread.h>

#include "tests/support/fake_engine.h"

enum { CONTAINERS_MAX = 1024, NETWORKS_MAX = 1024 };

struct container {
	struct replica_status status;
	char *limits, *surroundings; /* owned, like the devices */
	json_t *devices;
	char on[80]; /* id of its network */
	bool awaits_removal, awaits_start;
	bool is_followed; /* its output is followed */
	int64_t read;     /* up to this line */
};

struct fake_engine {
	struct engine engine; /* first, so that a pointer to it is one to the fake */
	struct engine_sink sink;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	struct container containers[CONTAINERS_MAX];
	struct replica_status listed[CONTAINERS_MAX];
	struct network_status networks[NETWORKS_MAX];
	unsigned container_count, network_count;
	unsigned calls[FAKE_OPERATION_COUNT], countdown[FAKE_OPERATION_COUNT];
	enum status failure[FAKE_OPERATION_COUNT], failure_of_all[FAKE_OPERATION_COUNT];
	unsigned doubled, shared, bytes_per_s, paused_listings, looks;
	bool is_guest; /* its replicas are in networks of another one */
	bool up, ignores_stop, holds_removals, holds_starts, ends_at_once, blinks, boasts;
	struct engine_way way;
	int exit_at_once;
	bool claims_fail;           /* orders for GPUs fail */
	const char *held_elsewhere; /* a GPU that another instance holds; NULL: none */
	int64_t lines;
	void (*tell)(void *arg, const char *operation);
	void *tell_arg;
	struct host host;
};

/* NULL: not found. */
struct container *fake_container_find(struct fake_engine *fake, const struct replica_key *key);
/* False for NULL. */
bool fake_container_runs(const struct container *container);
/* Ends the container by itself; @tell: with an event. */
void fake_container_end(struct fake_engine *fake, struct container *container, int exit_code, bool tell);
void fake_container_drop(struct fake_engine *fake, const struct replica_key *key);
void fake_tell_replica(struct fake_engine *fake, enum engine_event_kind kind,
		       const struct replica_status *status, enum status rc);
void fake_listing_send(struct fake_engine *fake);
void fake_come_up(struct fake_engine *fake);
void fake_go_down(struct fake_engine *fake, const char *text);
struct engine_way fake_way(struct engine *engine);
