/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_attachment.h: a replica is taken off its network, and put back. */
#include "scheduler/engine/docker_core.h"

/* command->image is the network's id, command->body of attachment_body() */
void attachment_run(struct docker *docker, struct command *command);
/* What the engine is asked with. */
json_t *attachment_body(const char *instance, const struct replica_link *link, const struct replica_key *key);
