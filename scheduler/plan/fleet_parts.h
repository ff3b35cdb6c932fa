/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/fleet_parts.h: what the files fleet*.c share: a job and the nodes as numbers for packing.h, in which
 * each pool is a shape with its role as the index; and the reasons why a job is not placed. */
#include "scheduler/plan/fleet.h"
#include "scheduler/plan/packing.h"

#define NANO_PER_MILLI INT64_C(1000000)
#define MIB            (INT64_C(1) << 20)

_Static_assert((int)PACK_SHAPES == (int)ROLE_COUNT, "each pool is a shape");

struct demand {
	const struct plan *plan;
	struct pack_shape shapes[ROLE_COUNT];
	const char *models[ROLE_COUNT]; /* GPU model that a node must have; NULL: any */
};

/* Why a node is not given replicas of a job, or not more of them. */
enum node_lack {
	NODE_LACKS_NOTHING,
	NODE_IS_UNKNOWN, /* its engine has not reported its resources */
	NODE_IS_DOWN,
	NODE_LACKS_MANAGER, /* the first node makes the networks, and is down */
	NODE_IS_DRAINED,
	NODE_LACKS_NETWORK, /* no address block is free */
	NODE_IS_FULL,       /* it has the maximum number of jobs */
	NODE_IS_KEPT,       /* for a job that waits */
	NODE_LACKS_LABEL,   /* a label that a rule requires */
	NODE_LACKS_MODEL,   /* the requested model of GPU */
	NODE_LACKS_DEVICES,
	NODE_LACKS_CPUS,
	NODE_LACKS_MEMORY,
	NODE_LACKS_CONTAINERS,
	NODE_LACKS,
};

struct node_reason {
	enum node_lack lack;
	enum role
		role; /* for lacks from NODE_LACKS_LABEL on: a pool of the job that the node cannot take */
	/* NODE_LACKS_LABEL: the rule */
	const struct place_rule *rule;
	/* For the other lacks: one replica's demand and the free amount, in devices, thousandths of a CPU, or MiB. */
	int64_t wanted, free;
};

/* Sets the limits of the replicas as for a machine with the most CPUs and the most memory that any node has. */
void fleet_sizes_fit(const struct fleet *fleet, const struct plan *plan, struct assignment *assignment);
/* Whether the job's replicas get GPUs, rather than run without. */
bool fleet_attaches(const struct fleet *fleet, const struct plan *plan);
struct demand fleet_demand(const struct fleet *fleet, const struct plan *plan,
			   const struct assignment *assignment, bool attaches);
/* Why no replica of the pool can ever go to the node, apart from sizes: label, model, or no device at all. */
struct node_reason fleet_bars(const struct fleet *fleet, const struct demand *demand, size_t index,
			      enum role role);
/* Why the node takes no new jobs; NODE_LACKS_NOTHING: it takes them. */
enum node_lack fleet_node_closed(const struct fleet *fleet, const struct fleet_node *node);
/* A bit for each dimension in which a replica takes at most the whole node; fleet_soft(): for each dimension in which
 * nodes may be overcommitted. */
unsigned fleet_clamped(const struct fleet *fleet);
unsigned fleet_soft(const struct fleet *fleet);
/* The node as a bin, without its shapes. @empty: as if no job ran on it. */
struct pack_bin fleet_bin(const struct fleet *fleet, size_t index, bool empty);
/* Why the node cannot have one replica of each pool: the reason of the first such pool; NODE_LACKS_NOTHING: it can. */
struct node_reason fleet_reason(const struct fleet *fleet, const struct demand *demand, size_t index);
