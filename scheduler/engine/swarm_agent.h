/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/swarm_agent.h: the program of an agent (swarm_agents.h), which runs in a container on each node of a
 * swarm.
 *
 * It serves TLS at one port of the agents' overlay, which is its container's only network. A client has to show the one
 * certificate that the agents' secret trusts; it then gets a connection to the socket of the node's engine. These are
 * limited: the connections, the connections per address without a certificate, their time to show one (five seconds), and
 * the memory of each. An agent's keys give no access to other agents, because agents trust only the daemons' keys. */

/* Runs the agent. @words: the arguments after "swarm-agent": none: serves as the agent; "dial": is the other end of
 * a route (docker_route.h), on standard input and output. Returns the exit code. */
int swarm_agent_main(const char *const *words);
