/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_replica.h: start, stop and remove a replica, and its exit. */
#include "scheduler/engine/docker_core.h"

void replica_start_run(struct docker *docker, struct command *command);
void replica_stop_run(struct docker *docker, struct command *command);
void replica_remove_run(struct docker *docker, struct command *command);
/* The engine says so. @signals: the bits of those that were sent to it before, as of docker_event. */
void replica_died(struct docker *docker, const struct replica_key *key, uint64_t signals);
void replica_destroyed(struct docker *docker, const struct replica_key *key);
/* Tells that a create or a start was refused. */
void replica_refused(struct docker *docker, const struct replica_key *key, const struct outcome *outcome);
/* A start of it is under way. */
bool replica_is_starting(const struct docker *docker, const struct replica_key *key);
