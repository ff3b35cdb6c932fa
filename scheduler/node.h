/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/node.h: one machine that runs containers, as its engine has shown it: whether the engine answers, what there
 * is room for, and the networks that no job uses. Thread: the scheduler's, unless a member says otherwise. */
#include <stdbool.h>
#include <stdint.h>

#include "scheduler/network_pool.h"
#include "scheduler/observe_networks.h"
#include "scheduler/order_give.h"
#include "scheduler/plan/placement.h"

struct device_claims;
struct engine;
struct scheduler;

/* The state of an engine. */
enum engine_state {
	ENGINE_UNKNOWN,
	ENGINE_AWAY,
	ENGINE_ANSWERS,
	ENGINE_LISTED, /* it answers, and its listing was processed */
};

struct node {
	struct scheduler *scheduler;
	json_t *labels;        /* labels of a node that joined later; NULL: see struct capacity */
	char *name;            /* "main" for the first node; assignments do not contain that name: struct assignment */
	size_t index;          /* among the scheduler's nodes */
	struct engine *engine; /* NULL until scheduler_resume() */
	/* True: its engine is another node's, by the engine's id. All its events are ignored, because otherwise each of
	 * the two nodes would remove the other's containers. */
	bool is_twin;

	/* By the engine's clock: its last loss and its return; 0: none */
	int64_t lost_ns, back_ns;
	int64_t lost_us; /* the loss, monotonic */
	unsigned loss;   /* how many losses of the engine logs mention; a loss right after a return counts as the same one */
	int64_t up_us;   /* monotonic: since when the engine is up, or was last up */
	/* Monotonic: since when the engine has sent no listing (from its loss on, or from the start); 0: it is listed */
	int64_t away_us;
	int64_t gone_us; /* monotonic: since when its swarm reports it as down or drained; 0: it does not. Under the mutex */
	bool is_lost;   /* it has been away for too long: its jobs go on without it (node_losses.h) */
	int64_t orphans_up_us; /* @up_us of the last time that it had to wait for the removal of orphans; 0: never */
	unsigned listings;      /* how many listings of the engine were processed */
	/* the clock was set during the loss or shortly before: lost_ns and back_ns belong to different clocks */
	bool clock_set_in_loss;

	struct common_orders common;
	struct network_pool pool;
	struct network_look look;
	/* Why the engine had no address block for the last network; "": that network had one at once */
	char network_lack[LACK_TEXT_SIZE];

	/* true: the GPUs are those that the engine reports; false: @room has them from the start */
	bool devices_automatic;
	struct device_claims *claims; /* claims of GPUs among the instances of the engine */

	/* Changed only by the scheduler's thread, under the scheduler's mutex; that thread may read it without the
	 * mutex. See room.c. */
	struct room room;
	/* Under the scheduler's mutex: */
	enum engine_state state;
	char text[256];
};
