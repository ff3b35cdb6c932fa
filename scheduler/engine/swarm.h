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
	char *name; /* unique: its host name; together with the id, or the id alone, if other nodes have the same one */
	char address[SWARM_ADDRESS_SIZE]; /* at which the managers know it; "": not known */
	enum host_state state;
	bool is_manager;
	json_t *labels; /* of the node (docker node update --label-add): an object of strings */
	/* CPUs and memory. The devices are the generic resources with "gpu" in their kind: named ones by their names, of a
	 * plain number that many from 0 on. */
	struct host host;
};

struct swarm {
	struct swarm_node *nodes; /* in the order of their names, which are unique */
	size_t count;
	char own[SWARM_ID_SIZE]; /* the id of the engine's own node; "": not known. By swarm_ask() */
};

void swarm_deinit(struct swarm *swarm);
#define AUTO_SWARM __attribute__((cleanup(swarm_deinit)))

/* Reads the answer to GET /nodes, whatever it holds. Nodes without an id are left out, as are labels and resources that
 * cannot be used, and all nodes after SWARM_NODES_MAX. Pure. */
void swarm_nodes_read(const json_t *nodes, struct swarm *ret_swarm);
/* Whether the engine that gave this answer to GET /info can be asked for nodes. Pure.
 * FAILED_PRECONDITION: it is no manager of a swarm; the text says what to do. */
enum status swarm_manager_check(const json_t *info, struct error *err);

/* Asks the engine for the nodes of its swarm. Waits for the answers.
 * Outcomes: as swarm_manager_check(); UNAVAILABLE: no answer, or the swarm has no leader now. */
enum status swarm_ask(struct http *http, struct swarm *ret_swarm, struct error *err);
