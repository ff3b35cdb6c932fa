/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/swarm_watch.h: asks the managers of the nodes that are reached by agents (swarm:ID:URL) every three seconds, on a
 * thread of its own: tells the scheduler which nodes are down, drained or no longer there, and with `--engine swarm` adds those
 * that join while the daemon runs. */
#include "daemon/base/error.h"

struct daemon_nodes;
struct scheduler;
struct swarm_watch;

/* Starts the thread that asks the managers. If no node is reached by an agent and none may join, it starts none and
 * leaves *ret_watch as it is. */
enum status swarm_watch_open(struct daemon_nodes *nodes, struct scheduler *scheduler, struct swarm_watch **ret_watch,
			     struct error *err);
/* Ends the thread; if it is asking a manager, waits for the answer. NULL is harmless. */
void swarm_watch_close(struct swarm_watch *watch);
