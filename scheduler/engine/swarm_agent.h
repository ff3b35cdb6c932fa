/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/swarm_agent.h: the program of an agent (swarm_agents.h), which runs in a container on each node of a swarm.
 *
 * It serves at one port of the agents' overlay, its container's only network, by TLS: a client has to show the one
 * certificate that the agents' secret names, and gets a connection to the socket of the node's engine. All is bounded:
 * connections, those of one address that have not shown a certificate yet, their five seconds for that, and what is held of
 * each. Keys of an agent open no other agent: those of a daemon are different ones. */

/* Runs the agent. @words: the arguments after "swarm-agent": none: serves as the agent; "dial": is the other end of
 * a route (docker_route.h), on standard input and output. Returns the exit code. */
int swarm_agent_main(const char *const *words);
