/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_replica.h: starts, stops and removes replicas, and handles events of their containers. */
#include "scheduler/engine/docker_core.h"

void replica_start_run(struct docker *docker, struct command *command);
void replica_stop_run(struct docker *docker, struct command *command);
void replica_remove_run(struct docker *docker, struct command *command);
/* To be called when the engine reports a container's end. @signals: the signals that the engine sent to the
 * container before it, as in docker_event. */
void replica_died(struct docker *docker, const struct replica_key *key, uint64_t signals);
/* To be called when the engine reports that the kernel ended a process for lack of memory, before or after the
 * container's end. */
void replica_ran_out_of_memory(struct docker *docker, const struct replica_key *key);
void replica_destroyed(struct docker *docker, const struct replica_key *key);
/* Reports that a create or a start was refused. */
void replica_refused(struct docker *docker, const struct replica_key *key, const struct outcome *outcome);
/* Notes that the engine has just made the replica's container, with all its copies, so it has never run and needs no
 * inspection before its start. A note holds until the start, the container's removal, or the loss of the engine. */
void replica_note_made(struct docker *docker, const struct replica_key *key);
void replica_forget_made(struct docker *docker);
/* Whether a start of the replica is under way. */
bool replica_is_starting(const struct docker *docker, const struct replica_key *key);
