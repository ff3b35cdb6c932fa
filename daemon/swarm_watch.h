/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/swarm_watch.h: asks the manager of `--engine swarm` for its nodes every three seconds, on a thread of its own:
 * adds those that join while the daemon runs, and tells the scheduler which are down, drained or no longer there. */
#include "daemon/base/error.h"

struct daemon_nodes;
struct scheduler;
struct swarm_watch;

/* @manager_url: borrowed like the others. */
enum status swarm_watch_open(const char *manager_url, struct daemon_nodes *nodes, struct scheduler *scheduler,
			     struct swarm_watch **ret_watch, struct error *err);
/* Waits for an answer of the manager that is awaited. NULL is harmless. */
void swarm_watch_close(struct swarm_watch *watch);
