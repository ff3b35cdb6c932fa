/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/swarm_nodes.h: the nodes of `--engine swarm`, as if each were named by --node, and its labels by --node-label.
 *
 * Thread: the first. */
#include "daemon/base/error.h"

struct config;
struct swarm;

/* Adds to the lists of @config all nodes but that of @own, a node's id, which is the main one. A node is named after its host:
 * lowercase letters, digits and hyphens; else, or if that is another's name, by its id. Pure but for @config. */
void swarm_nodes_list(const struct swarm *swarm, const char *own, const char *manager_url,
		      struct config *config);
/* Asks the manager for them, and waits for its answer; does nothing without config->swarm.
 * Outcomes: as swarm_ask(); FAILED_PRECONDITION: also without agents. */
enum status swarm_nodes_add(struct config *config, struct error *err);
