/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/swarm_nodes.h: the nodes of `--engine swarm`, as if each were named by --node, and its labels by --node-label.
 *
 * Thread: the first, except swarm_nodes_join() and swarm_nodes_report(); swarm_manager_url(): any. */
#include "daemon/base/error.h"

struct config;
struct daemon_nodes;
struct scheduler;
struct swarm;

/* Adds to the lists of @config all nodes except the one with the id @own, which is the main node. A node is named after
 * its host if that name is valid (lowercase letters, digits and hyphens) and no other node has it; otherwise after its
 * id. Pure except for @config. */
void swarm_nodes_list(const struct swarm *swarm, const char *own, const char *manager_url,
		      struct config *config);
/* Adds the nodes that @nodes do not have yet, while the scheduler runs; named as above, and after its id if an earlier
 * node has its name. Stops at the first node that cannot join, and returns the error of daemon_nodes_join(). */
enum status swarm_nodes_join(const struct swarm *swarm, const char *manager_url, struct daemon_nodes *nodes,
			     struct scheduler *scheduler, struct error *err);
/* The manager's URL in "swarm:ID:URL"; NULL: the URL has another form. Borrowed. */
const char *swarm_manager_url(const char *url);
/* Tells the scheduler which nodes of @nodes are gone: down, drained, or no longer in the swarm. Thread: that of
 * swarm_nodes_join(). */
void swarm_nodes_report(const struct swarm *swarm, const char *manager_url, const struct daemon_nodes *nodes,
			struct scheduler *scheduler);
/* Asks the manager for the swarm's nodes, waits for its answer, and adds them to @config; does nothing without
 * config->swarm. Errors are those of swarm_ask(), and FAILED_PRECONDITION if the swarm has no agents. */
enum status swarm_nodes_add(struct config *config, struct error *err);
