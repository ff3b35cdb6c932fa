/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_self.h: the daemon's own container, where it is one of the engine's and has a network of its own.
 *
 * The bridges of job networks are then no interfaces of the daemon's. It joins each job's network instead, with the address
 * after the bridge's, and serves replicas there. Thread: the engine's. */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "scheduler/engine/docker_core.h"

/* The container that this process is in; false: it is in none that an engine has named. Thread: any. */
bool self_container(char id[DOCKER_SELF_SIZE]);

/* Asks whether the engine has the container that this process is in: link.self is its id then, else "". Calls @then after
 * that, at once where the process is in none; the link is lost where the engine does not answer. */
void self_look(struct docker *docker, void (*then)(struct docker *docker));

/* The interface of this process that has an address (host byte order); "": none has. */
void self_device(uint32_t address, char device[DOCKER_DEVICE_SIZE]);

/* Joins a network; then its reach.device is known. @network lives until @then is called. A container that is in it already
 * is no failure. */
void self_join(struct docker *docker, struct network_status *network,
	       void (*then)(void *arg, const struct outcome *outcome), void *arg);
/* Leaves a network, which cannot be removed before. That it is not in it, or cannot leave it, is not told. */
void self_leave(struct docker *docker, const char *network_id, void (*then)(void *arg), void *arg);

/* As engine_kind.own_names. */
json_t *docker_own_names(const char *url);
