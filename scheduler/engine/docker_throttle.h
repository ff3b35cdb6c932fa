/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_throttle.h: limits a replica's network traffic, and lifts the limit. */
#include "scheduler/engine/docker_core.h"

/* Sets a replica's limit. command->number: bytes per second; 0: removes the limit. */
void throttle_run(struct docker *docker, struct command *command);
/* Removes @container, a listed container that is not a replica, if it is a helper container of throttle_run() that a
 * killed daemon has left. */
void throttle_sweep(struct docker *docker, const json_t *container);
