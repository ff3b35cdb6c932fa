/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_route.h: connections to the engine of a swarm's node, through a manager's engine and two agents.
 *
 * The networks of a swarm are not reachable from the managers' own machines, and agents listen only there. So a route is a
 * program that the manager's engine starts in the container of the manager's agent (its command "dial"). Over its output and
 * input it carries connections (mux.h) to the agent of the node, at that agent's address in the overlay. This works wherever
 * the manager's API does: by a unix socket, TCP, TLS and ssh. Each connection is TLS between this process and the node's
 * agent, so nothing between them can read it.
 *
 * An endpoint of such a URL has one route, made for its first connection. The route is made again when it breaks, or when a
 * connection through it fails, because the node's agent may then have another address. */
#include "daemon/base/error.h"

struct endpoint;

/* Like endpoint_open(), but also for URLs of the form swarm:NODE:URL, which get a route. Thread: any. */
enum status route_endpoint_open(const char *url, struct endpoint **ret_endpoint, struct error *err);
