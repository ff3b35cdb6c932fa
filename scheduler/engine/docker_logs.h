/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_logs.h: follows the output of replicas. */
#include "scheduler/engine/docker_core.h"

void follower_begin_run(struct docker *docker, struct command *command);

/* To be called when a replica's exit is reported by an event: its follower neither reports it again nor inspects the
 * container. */
void follower_note_exit(struct docker *docker, const struct replica_status *exit);
void followers_resume(struct docker *docker);
/* To be called when the engine can be reached again: the waiting followers open their streams. */
void followers_reconnect(struct docker *docker);
void followers_close(struct docker *docker);
