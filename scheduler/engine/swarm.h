/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/swarm.h: the nodes of a Docker Swarm, as an engine that is a manager of it reports them.
 *
 * Thread: any.
 * Source: https://docs.docker.com/reference/api/engine/version/v1.41/#tag/Node (read 2026-11-27), and answers of Docker 20.10
 * to /nodes and /info */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/error.h"
#include "scheduler/plan/host.h"

struct http;

enum { SWARM_NODES_MAX = 4096, SWARM_LABELS_MAX = 256, SWARM_ID_SIZE = 40, SWARM_ADDRESS_SIZE = 64 };

struct swarm_node {
	char id[SWARM_ID_SIZE];
	char *name; /* unique: the node's host name; if other nodes have the same one, the host name and the id, or only
		     * the id */
	char address[SWARM_ADDRESS_SIZE]; /* the address at which the managers know the node; "": unknown */
	enum host_state state;
	bool is_gone; /* it is down, or drained: no agent runs there, or it will end soon */
	bool is_manager;
	json_t *labels; /* of the node (docker node update --label-add): an object of strings */
	/* The node's CPUs and memory. Its devices are the generic resources with "gpu" in their kind: named
	 * resources have their names, and a resource that is only a number has devices numbered from 0. */
	struct host host;
};

struct swarm {
	struct swarm_node *nodes; /* in the order of their names, which are unique */
	size_t count;
	char own[SWARM_ID_SIZE]; /* the id of the node of the engine that was asked; "": unknown. Set only by swarm_ask() */
};

void swarm_deinit(struct swarm *swarm);
#define AUTO_SWARM __attribute__((cleanup(swarm_deinit)))

/* Reads the answer to GET /nodes, whatever it holds. Nodes without an id are left out, as are labels and resources that
 * cannot be used, and all nodes after SWARM_NODES_MAX. Pure. */
void swarm_nodes_read(const json_t *nodes, struct swarm *ret_swarm);
/* Checks by an engine's answer to GET /info whether it can be asked for nodes. Pure.
 * FAILED_PRECONDITION: the engine is not a manager of a swarm; the text says what to do. */
enum status swarm_manager_check(const json_t *info, struct error *err);

/* Asks the engine for the nodes of its swarm. Waits for the answers.
 * Outcomes: as swarm_manager_check(); UNAVAILABLE: no answer, or the swarm has no leader now. */
enum status swarm_ask(struct http *http, struct swarm *ret_swarm, struct error *err);
