/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_elsewhere.h: a daemon of the same instance that is alive where this process cannot see it: in another
 * network namespace, or on another machine.
 *
 * The engine shows it by its tunnels, which end a moment after their daemon (docker_tunnel.h). A daemon that has none at the
 * time is not seen. Others: instance_lock.h sees those of this network namespace, docker_clean.h those that are in a container.
 * Thread: the engine's. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "scheduler/engine/docker_json.h"

struct docker;

/* The label of a tunnel's container; its value is the network's job. */
#define LABEL_TUNNEL "trainyard.tunnel"

/* How often it is looked, with pauses in between, before a tunnel counts as that of a daemon that lives. */
enum { ELSEWHERE_LOOKS = 12, ELSEWHERE_PAUSE_MS = 250 };

/* The name of a container of @containers (an answer of the engine) that is a tunnel of @instance and runs; NULL: there is none.
 * Borrowed of @containers. Thread: any. */
const char *elsewhere_tunnel(const json_t *containers, const char *instance);
/* What a user reads. Thread: any. */
void elsewhere_explain(const char *tunnel, const char *instance, char *ret_text, size_t size);

/* Calls @then once no tunnel of this instance runs that another process has. If one goes on running, the link is lost, and so
 * it is with each connection until that daemon has ended. */
void elsewhere_look(struct docker *docker, void (*then)(struct docker *docker));
