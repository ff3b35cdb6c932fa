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
/* Sets the machine's resources, which are reported the next time the engine comes up. The strings are borrowed. By
 * default: 8 CPUs, 64 GiB, no GPUs. */
void fake_engine_host(struct fake_engine *fake, const struct host *host);
/* The networks of its replicas are made by another engine. */
void fake_engine_be_guest(struct fake_engine *fake);
/* Call once the sink is known. */
struct engine *fake_engine_open(struct fake_engine *fake, const struct engine_sink *sink);
void fake_engine_free(struct fake_engine *fake);

/* Comes up and lists its containers; the next function: goes away. */
void fake_engine_up(struct fake_engine *fake);
void fake_engine_down(struct fake_engine *fake, const char *text);
/* What is known of the way to its machine from now on: at first that it is open. */
void fake_engine_way(struct fake_engine *fake, struct engine_way way);
/* Goes away and is back while the next replica is asked for, which is made after that. */
void fake_engine_blink(struct fake_engine *fake);
/* Lists its containers; the next @paused listings, including this one, show all of them as paused. */
void fake_engine_list(struct fake_engine *fake, unsigned paused);
/* From now on, the @nth operation of that kind fails once with @status. */
void fake_engine_fail(struct fake_engine *fake, enum fake_operation operation, unsigned nth,
		      enum status status);
/* From now on, each operation of that kind fails with @status; OK: none does. */
void fake_engine_fail_all(struct fake_engine *fake, enum fake_operation operation, enum status status);
/* The number of replicas that were created with a device of another container. */
unsigned fake_engine_doubled(struct fake_engine *fake);
/* From now on, each replica prints this many lines, with the times 1, 2, … ns, which are read once it has ended. */
void fake_engine_print(struct fake_engine *fake, int64_t lines);
/* Waits until a replica runs, and ends its program. */
void fake_engine_exit(struct fake_engine *fake, const struct replica_key *key, int exit_code);
/* The same, and the engine reports that no signal was sent to it. */
void fake_engine_exit_witnessed(struct fake_engine *fake, const struct replica_key *key, int exit_code);
/* Replicas started from now on end before they are seen running. */
void fake_engine_exit_at_once(struct fake_engine *fake, int exit_code);
/* As fake_engine_exit(), without an event: as if the daemon had not been connected. */
void fake_engine_exit_unseen(struct fake_engine *fake, const struct replica_key *key, int exit_code);
/* From now on, the engine reports that it did not itself end the containers that have ended so far. */
void fake_engine_witness(struct fake_engine *fake);
/* Ends it if it runs now; returns whether it has ended. */
bool fake_engine_exit_now(struct fake_engine *fake, const struct replica_key *key, int exit_code);
/* Ends one of the running replicas, chosen by @choice; if there is none, does nothing. */
void fake_engine_exit_any(struct fake_engine *fake, unsigned choice, int exit_code);
void fake_engine_exit_any_unseen(struct fake_engine *fake, unsigned choice, int exit_code);
/* Removes the container, as a user might. */
void fake_engine_snatch(struct fake_engine *fake, const struct replica_key *key);
/* The same without an event. */
void fake_engine_snatch_unseen(struct fake_engine *fake, const struct replica_key *key);
/* The same for any container, chosen by @choice; if there is none, does nothing. */
void fake_engine_snatch_any(struct fake_engine *fake, unsigned choice);
/* Waits until a replica was created. Returns its limits and devices, "2000000000 1024 512 0,1"; the caller frees. */
char *fake_engine_limits(struct fake_engine *fake, const struct replica_key *key);
/* Waits until a replica was created. Returns its environment, one variable on each line, then its hosts and its mounts
 * in the same form, and "empty:" with the path of an empty directory. The caller frees. */
char *fake_engine_surroundings(struct fake_engine *fake, const struct replica_key *key);
/* Sets a function to be called with each operation's name ("create_replica") before it is done, under the engine's
 * lock. NULL: none. */
void fake_engine_on_call(struct fake_engine *fake, void (*tell)(void *arg, const char *operation), void *arg);
/* Removes all networks, as a user might. */
void fake_engine_snatch_networks(struct fake_engine *fake);
/* While this is set, containers are not removed; afterwards the pending removals are done. */
void fake_engine_hold_removals(struct fake_engine *fake, bool hold);
/* From now on starts take long, and a stop that meets one waits for its end. */
void fake_engine_hold_starts(struct fake_engine *fake);
/* The answers to these starts are lost, and so are the stops that wait for them; the replicas run. */
void fake_engine_lose_starts(struct fake_engine *fake);
/* The number of replicas that were started in a network in which another job's ran. */
unsigned fake_engine_shared(struct fake_engine *fake);
/* Replicas ignore SIGTERM: a stop has no effect until the test ends them. */
void fake_engine_ignore_stop(struct fake_engine *fake, bool ignore);
unsigned fake_engine_container_count(struct fake_engine *fake);
unsigned fake_engine_network_count(struct fake_engine *fake);
/* The rate of the network that was slowed last, in bytes per second; 0: no limit. */
unsigned fake_engine_speed(struct fake_engine *fake);
/* Reports free blocks that others then take before they are used. */
void fake_engine_boast(struct fake_engine *fake);
/* From now on another instance holds that GPU; NULL: none. @device must outlive it. */
void fake_engine_hold_device(struct fake_engine *fake, const char *device);
/* Whether each order for GPUs fails from now on. */
void fake_engine_fail_claims(struct fake_engine *fake, bool fail);
/* How often the engine was asked for free blocks. */
unsigned fake_engine_looks(struct fake_engine *fake);
/* The number of operations of that kind so far. */
unsigned fake_engine_calls(struct fake_engine *fake, enum fake_operation operation);
