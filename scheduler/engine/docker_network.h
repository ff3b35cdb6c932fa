/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_network.h: creates and removes the network of a job. */

struct docker;
struct command;

void network_create_run(struct docker *docker, struct command *command);
void network_look_run(struct docker *docker, struct command *command);
void network_remove_run(struct docker *docker, struct command *command);
