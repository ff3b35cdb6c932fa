/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/fleet.h: the nodes that run jobs: how much of each is free, and which replicas may go there.
 *
 * A fleet is a view for some placements in a row: it is made from the nodes' rooms, and each job that is placed is added.
 * Pure. Thread: any, one at a time. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "scheduler/plan/place_rule.h"
#include "scheduler/plan/placement.h"

struct device_use;

/* One machine that jobs may run on. */
struct node_room {
	/* borrowed; the first machine's name is shown to clients, and no assignment contains it */
	const char *name;
	struct room room;
};

struct rooms {
	struct node_room *nodes; /* in the order of the configuration */
	size_t count;            /* at least 1 */
	/* True: the first node makes networks over all nodes, so a job may be on several nodes. False: each job is on one
	 * node as a whole. */
	bool span;
};

void rooms_deinit(struct rooms *rooms);
#define AUTO_ROOMS __attribute__((cleanup(rooms_deinit)))

struct fleet_node {
	const char *name;
	enum host_state state;
	const json_t *labels;    /* object of strings, or NULL */
	const char *model;       /* model of its GPUs, by the label "gpu"; NULL: unknown */
	const struct host *host; /* an unknown host counts as one that is down */
	struct usage usage;      /* the room's usage, but without the list of leases */
	struct device_use *uses; /* of the host's devices */
	unsigned free_devices;   /* without any holder */
	/* Why no job can start there now (struct room); "": jobs can start */
	const char *engine_lack, *network_lack;
	bool is_kept, keeps_devices; /* the node, or its GPUs, are kept for a waiting job: fleet_keep() */
};

struct fleet {
	struct fleet_node *nodes;
	size_t count;
	bool spans;       /* as rooms.span */
	bool has_unknown; /* some node has not reported its size: it may have whatever a job wants */
	const struct place_rule *rules;
	size_t rule_count;
	struct capacity limits; /* the settings, which apply to each node by itself; without a host */
	/* Limits and use over all nodes: the project's limit, the sum of the nodes' sizes (of GPUs: the most that one job
	 * can have), and what all jobs use, without leases. */
	struct room total;
};

/* Makes a fleet. @rooms is borrowed until fleet_deinit(). @emptied: the same nodes without any job, and without any
 * lack. */
struct fleet fleet_of(const struct rooms *rooms, bool emptied);
/* @common  the settings, and what the project in question uses; its host and leases are not read
 * @rules   borrowed until fleet_deinit() */
void fleet_init(struct fleet *fleet, const struct room *common, const struct place_rule *rules,
		size_t rule_count);
void fleet_deinit(struct fleet *fleet);
#define AUTO_FLEET __attribute__((cleanup(fleet_deinit)))
/* Adds a node. Its name, labels and the room are borrowed; the nodes' names are unique. */
void fleet_add(struct fleet *fleet, const char *name, enum host_state state, const json_t *labels,
	       const struct room *room);

/* Adds the resources of a placed job, except the project's vCPUs. @nodes: as fleet_place() returned it. fleet_return()
 * takes them back. */
void fleet_use(struct fleet *fleet, const struct plan *plan, const struct assignment *assignment,
	       const unsigned *nodes);
void fleet_return(struct fleet *fleet, const struct plan *plan, const struct assignment *assignment,
		  const unsigned *nodes);
/* Marks this device of the node as held by another process. */
void fleet_hold(struct fleet *fleet, size_t node, const char *device);
/* The index of the node on which a job with replicas on @nodes has its network. */
size_t fleet_home(const struct fleet *fleet, const unsigned *nodes);
/* Keeps resources for a waiting job, so that no later job takes them: the nodes that it may run on or, with
 * SHORTAGE_DEVICES, the GPUs of these nodes. @shortage: what the job waits for. True: no later job can start, or with
 * SHORTAGE_DEVICES none with GPUs. */
bool fleet_keep(struct fleet *fleet, const struct plan *plan, enum shortage shortage);

DEFINE_AUTO(nodes, unsigned *, free)

/* Finds room for every replica of @plan at once, or for none, on the fewest nodes (packing.h). Outcomes are those of
 * placement_find(). With a single node it does exactly the same as placement_find(). With several nodes:
 *   - a job is on one node as a whole if it fits there or the fleet does not span its nodes;
 *   - limits are those of the smallest node that the job gets, so that replicas of a pool are alike;
 *   - with FIT_HOST a job takes free room if it can, and otherwise the nodes that are used least; with FIT_CLOUD no node
 *     is given more than it has;
 *   - a GPU's model counts as soon as one node has it as the label "gpu" ("a100" for NVIDIA_TESLA_A100): then the
 *     replica goes only to nodes of that model. Otherwise it is only a name, as on one machine;
 *   - a job that no node's labels allow is refused, with SHORTAGE_HOST;
 *   - with SHORTAGE_ENGINE others may start: only nodes that do not answer could run the job.
 * @ret_nodes  the node of each replica, by ordinal (plan_replica_ordinal()): an index of fleet->nodes; the caller frees */
enum status fleet_place(const struct fleet *fleet, const struct plan *plan,
			struct assignment **ret_assignment, unsigned **ret_nodes, enum shortage *ret_shortage,
			struct error *err);

/* Sentences for logs and reports: where each replica goes (@nodes NULL: nowhere), and why not to the other nodes. Nodes
 * with the same reason are counted together and the first few of them named. The caller frees. */
char *fleet_text(const struct fleet *fleet, const struct plan *plan, const unsigned *nodes);
