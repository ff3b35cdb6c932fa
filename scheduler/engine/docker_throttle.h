/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_throttle.h: a replica's network made slow, and fast again. */
#include "scheduler/engine/docker_core.h"

/* command->number is 0 for as fast as it can */
void throttle_run(struct docker *docker, struct command *command);
/* Removes @container, an element of a listing that is no replica, if it is one of ours that a killed daemon has left. */
void throttle_sweep(struct docker *docker, const json_t *container);
