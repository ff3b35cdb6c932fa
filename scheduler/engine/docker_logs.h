/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_logs.h: follows the output of replicas. */
#include "scheduler/engine/docker_core.h"

void follower_begin_run(struct docker *docker, struct command *command);

/* This exit was reported already, by an event or a listing. */
void follower_note_exit(struct docker *docker, const struct replica_key *key);
void followers_resume(struct docker *docker);
/* The engine can be reached again. */
void followers_reconnect(struct docker *docker);
void followers_close(struct docker *docker);
