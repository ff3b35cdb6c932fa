/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_self.h: the daemon's own container, if the daemon runs in a container of the engine with a
 * network of its own.
 *
 * The bridges of job networks are then not interfaces of the daemon. Instead the container joins each job's network,
 * with the address after the bridge's, and serves replicas there. Thread: the engine's. */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "scheduler/engine/docker_core.h"

/* The id of the container that this process is in. False: it is in no container, or in one with an unknown id.
 * Thread: any. */
bool self_container(char id[DOCKER_SELF_SIZE]);

/* Asks whether this process is in a container of the engine, and sets link.self to its id, or "". Then calls @then; at
 * once if the process is in no container. The link is lost if the engine does not answer. */
void self_look(struct docker *docker, void (*then)(struct docker *docker));

/* The name of this process's network interface that has the address (host byte order); "": none has it. */
void self_device(uint32_t address, char device[DOCKER_DEVICE_SIZE]);
/* Adds the blocks of this machine's routes and addresses: a network of the engine must not hide them. */
void self_blocks_add(struct subnet_list *list);

/* Connects the daemon's own container to a network and sets its reach.device. @network must live until @then is
 * called. If the container is in the network already, that is a success. */
void self_join(struct docker *docker, struct network_status *network,
	       void (*then)(void *arg, const struct outcome *outcome), void *arg);
/* Disconnects the daemon's own container from a network: a network with a container in it cannot be removed.
 * Failures are not reported. */
void self_leave(struct docker *docker, const char *network_id, void (*then)(void *arg), void *arg);

/* As own_names() in struct engine_kind. */
json_t *docker_own_names(const char *url);
