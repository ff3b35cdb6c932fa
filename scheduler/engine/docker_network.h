/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_network.h: creates and removes the network of a job.
 *
 * If the network's bridge is an interface of this machine, replicas reach the daemon at the bridge's address. If the engine
 * is on another machine or in namespaces of its own, they reach it at the next address, which is a tunnel's
 * (docker_tunnel.h). For some engines this is known in advance. For others the first network shows it: if its bridge is not
 * on this machine, the network is removed and made again with a tunnel. */
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
