/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_network.h: creates and removes the network of a job.
 *
 * Replicas find the daemon at the bridge's address where the bridge is an interface of this machine. It is not where
 * the engine is on another one, or in namespaces of its own: then the next address is a tunnel's (docker_tunnel.h). Of
 * some engines that is known; for another engine the first network shows it: if its bridge is not there, it is removed,
 * and made anew. */
#include <stdbool.h>
#include <stdint.h>

struct docker;
struct command;

void network_create_run(struct docker *docker, struct command *command);
void network_look_run(struct docker *docker, struct command *command);
void network_remove_run(struct docker *docker, struct command *command);
/* To be called when the first try of the tunnel of command->job's network has ended (docker_tunnel.h). */
void network_tunnel_tried(struct docker *docker, struct command *command);
/* Whether the network of a job is being made. */
bool network_is_made(const struct docker *docker, int64_t job);
