/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_route.h: the way to the engine of a swarm's node, through a manager's engine and two agents.
 *
 * No network of a swarm reaches the managers' own machines, and no agent listens elsewhere. So a route is a program that
 * runs in the container of the manager's own agent (swarm_agent_dial()), started there by the engine's API: by its output
 * and input it carries connections (mux.h) to the agent of the node, at the address that this has in the overlay. It works
 * wherever the manager's API does: by a unix socket, TCP, TLS and ssh. Each connection is TLS between this process and the
 * agent of the node; what is on the way sees nothing of it.
 *
 * An endpoint of such a URL has one route, made for its first connection, and made anew when it breaks or a connection
 * cannot be made by it: the agent of the node may have another address then. */
#include "daemon/base/error.h"

struct endpoint;

/* Like endpoint_open(), but also for URLs of the form swarm:NODE:URL, which get a route. Thread: any. */
enum status route_endpoint_open(const char *url, struct endpoint **ret_endpoint, struct error *err);
