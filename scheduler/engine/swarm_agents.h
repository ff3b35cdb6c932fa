/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/swarm_agents.h: the agents of a swarm's nodes, as the tasks of their service show them.
 *
 * An agent (swarm_agent.h) is the one task of the global service trainyard-agent that a node has. Docker objects of that
 * name belong to it: the service, an overlay network, a secret with the agents' keys, and a config with those of a daemon.
 * Choice: a config, which a manager gives to its clients only. A client of a manager is root on all nodes anyway, and no
 * file has to be copied.
 *
 * Thread: any.
 * Source: https://docs.docker.com/reference/api/engine/version/v1.41/#tag/Task (read 2026-11-27), and answers of Docker 20.10 */
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"
#include "scheduler/engine/swarm.h"

struct http;
struct wire_keys;

#define SWARM_AGENT "trainyard-agent"
/* The program that the agents' service runs: this program. */
#define SWARM_AGENT_PROGRAM "/usr/bin/trainyard"
#define SWARM_AGENT_VERB    "swarm-agent"

enum { SWARM_AGENT_PORT = 2376, SWARM_CONTAINER_SIZE = 65, SWARM_PROBLEM_SIZE = 256, SWARM_TIME_SIZE = 40 };

enum agent_state { AGENT_NONE, AGENT_STARTS, AGENT_FAILS, AGENT_RUNS };

struct swarm_agent {
	char node[SWARM_ID_SIZE];
	enum agent_state state;
	/* RUNS: */
	char container[SWARM_CONTAINER_SIZE];
	uint32_t address; /* the agent's address in the overlay, host byte order */
	/* FAILS: the engine's message about the agent's last task, and the time when that task was made, which
	 * identifies it */
	char problem[SWARM_PROBLEM_SIZE], failed[SWARM_TIME_SIZE];
};

struct swarm_agents {
	struct swarm_agent *items; /* one for each node that has had a task */
	size_t count;
};

void swarm_agents_deinit(struct swarm_agents *agents);
#define AUTO_AGENTS __attribute__((cleanup(swarm_agents_deinit)))

/* The version of the agents' service: an update replaces agents in which one of these differs. @socket: the path of the
 * engine's socket, as the service mounts it. */
struct swarm_version {
	const char *image, *socket;
};

/* Reads the answer to GET /tasks, whatever it holds. Left out are tasks that cannot be used, and tasks of other
 * versions than @version: such a task will be replaced by an update, but until then it looks like one that stays.
 * @version NULL: any. Pure. */
void swarm_agents_read(const json_t *tasks, const struct swarm_version *version, struct swarm_agents *ret_agents);
/* The agent of a node. NULL: the node has none. */
const struct swarm_agent *swarm_agent_of(const struct swarm_agents *agents, const char *node);

/* Asks a manager for the tasks of the agents' service. If the service does not exist, the list is empty. @version: as in
 * swarm_agents_read(). */
enum status swarm_agents_ask(struct http *http, const struct swarm_version *version, struct swarm_agents *ret_agents,
			     struct error *err);
/* Asks for the keys with which daemons connect to agents. FAILED_PRECONDITION: the swarm has none, because `swarm
 * up` was not called. */
enum status swarm_keys_ask(struct http *http, struct wire_keys *ret_keys, struct error *err);
