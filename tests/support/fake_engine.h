/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/support/fake_engine.h: an engine without containers, for faults and for every order of events.
 *
 * Each operation succeeds at once unless a countdown says otherwise; replicas run until the test ends
 * them, or stop when they are told to. Thread: any. */
#include "scheduler/engine/engine.h"

enum fake_operation {
	FAKE_IMAGE,
	FAKE_NETWORK,
	FAKE_CREATE,
	FAKE_START,
	FAKE_STOP,
	FAKE_CUT,
	FAKE_JOIN,
	FAKE_SLOW,
	FAKE_HASTEN,
	FAKE_REMOVE,
	FAKE_REMOVE_NETWORK,
	FAKE_FOLLOW,
	FAKE_OPERATION_COUNT
};

struct fake_engine;

struct fake_engine *fake_engine_new(void);
/* What its machine has; told when it comes up next. The strings are borrowed. At first: 8 CPUs, 64 GiB, no GPUs. */
void fake_engine_host(struct fake_engine *fake, const struct host *host);
/* The networks of its replicas are another engine's. */
void fake_engine_be_guest(struct fake_engine *fake);
/* After the sink is known. */
struct engine *fake_engine_open(struct fake_engine *fake, const struct engine_sink *sink);
void fake_engine_free(struct fake_engine *fake);

/* Comes up and lists what it has; goes away. */
void fake_engine_up(struct fake_engine *fake);
void fake_engine_down(struct fake_engine *fake, const char *text);
/* What is known of the way to its machine from now on: at first that it is open. */
void fake_engine_way(struct fake_engine *fake, struct engine_way way);
/* Goes away and is back while the next replica is asked for, which is made after that. */
void fake_engine_blink(struct fake_engine *fake);
/* Lists what it has; the next @paused listings, this one and those that are asked for, show all as paused. */
void fake_engine_list(struct fake_engine *fake, unsigned paused);
/* The @nth operation of that kind from now on fails once with @status. */
void fake_engine_fail(struct fake_engine *fake, enum fake_operation operation, unsigned nth,
		      enum status status);
/* Each operation of that kind fails so from now on; OK: none does. */
void fake_engine_fail_all(struct fake_engine *fake, enum fake_operation operation, enum status status);
/* How many replicas were made with a device that another container had. */
unsigned fake_engine_doubled(struct fake_engine *fake);
/* Replicas print so many lines each from now on, with the times 1, 2... ns, which are read once they have ended. */
void fake_engine_print(struct fake_engine *fake, int64_t lines);
/* Ends a replica by itself once it runs (waits for that). */
void fake_engine_exit(struct fake_engine *fake, const struct replica_key *key, int exit_code);
/* The same, and the engine can tell that no signal was sent to it. */
void fake_engine_exit_witnessed(struct fake_engine *fake, const struct replica_key *key, int exit_code);
/* Replicas that are started from now on end by themselves before anybody can see them run. */
void fake_engine_exit_at_once(struct fake_engine *fake, int exit_code);
/* As fake_engine_exit(), without telling: as if it happened while nobody listened. */
void fake_engine_exit_unseen(struct fake_engine *fake, const struct replica_key *key, int exit_code);
/* It can tell that it did not end what has ended so far. */
void fake_engine_witness(struct fake_engine *fake);
/* Ends it if it runs now; whether it has ended. */
bool fake_engine_exit_now(struct fake_engine *fake, const struct replica_key *key, int exit_code);
/* Ends one of those that run now, by @choice; nothing when there is none. */
void fake_engine_exit_any(struct fake_engine *fake, unsigned choice, int exit_code);
void fake_engine_exit_any_unseen(struct fake_engine *fake, unsigned choice, int exit_code);
/* Somebody removes the container. */
void fake_engine_snatch(struct fake_engine *fake, const struct replica_key *key);
/* The same while nobody listens. */
void fake_engine_snatch_unseen(struct fake_engine *fake, const struct replica_key *key);
/* Any one that there is now, by @choice; nothing when there is none. */
void fake_engine_snatch_any(struct fake_engine *fake, unsigned choice);
/* What a replica was created with, once it was (waits for that): limits and devices, "2000000000 1024 512 0,1". The
 * caller frees. */
char *fake_engine_limits(struct fake_engine *fake, const struct replica_key *key);
/* The environment that a replica was created with (waits for that), one variable a line, then its hosts and its mounts
 * likewise, and "empty:" with the place of an empty directory. The caller frees. */
char *fake_engine_surroundings(struct fake_engine *fake, const struct replica_key *key);
/* Called with each operation's name before it is done, under the engine's lock: "create_replica". NULL: nobody. */
void fake_engine_on_call(struct fake_engine *fake, void (*tell)(void *arg, const char *operation), void *arg);
/* Somebody removes all networks. */
void fake_engine_snatch_networks(struct fake_engine *fake);
/* While held, containers that are to be removed stay; then they go. */
void fake_engine_hold_removals(struct fake_engine *fake, bool hold);
/* From now on starts are under way for long, and a stop that meets one waits for its answer. */
void fake_engine_hold_starts(struct fake_engine *fake);
/* The answers of those are lost, and the stops that wait for them; the replicas run. */
void fake_engine_lose_starts(struct fake_engine *fake);
/* How many replicas were started on a network on which another job's ran. */
unsigned fake_engine_shared(struct fake_engine *fake);
/* Replicas that ignore SIGTERM: stop has no effect until the test ends them. */
void fake_engine_ignore_stop(struct fake_engine *fake, bool ignore);
unsigned fake_engine_container_count(struct fake_engine *fake);
unsigned fake_engine_network_count(struct fake_engine *fake);
/* How fast the network of what was slowed last is, bytes a second; 0: as fast as it can. */
unsigned fake_engine_speed(struct fake_engine *fake);
/* It tells of free blocks that others take before they are asked for. */
void fake_engine_boast(struct fake_engine *fake);
/* From now on another instance has that GPU; NULL: none. @device must outlive it. */
void fake_engine_hold_device(struct fake_engine *fake, const char *device);
/* From now on each order for GPUs fails, or none. */
void fake_engine_fail_claims(struct fake_engine *fake, bool fail);
/* How often it was asked for free blocks. */
unsigned fake_engine_looks(struct fake_engine *fake);
/* Operations of that kind so far. */
unsigned fake_engine_calls(struct fake_engine *fake, enum fake_operation operation);
