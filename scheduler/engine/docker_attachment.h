/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_attachment.h: disconnects a replica from its network, and connects it again. */
#include "scheduler/engine/docker_core.h"

/* Connects or disconnects a replica. command->image: the network's id; command->body: from attachment_body(). */
void attachment_run(struct docker *docker, struct command *command);
/* The body of the engine's connect or disconnect request. @link: see struct replica_link. The caller owns it. */
json_t *attachment_body(const char *instance, const struct replica_link *link, const struct replica_key *key);
