/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_create.h: makes a replica's container, or adopts one that an earlier daemon has made. */
struct command;
struct docker;

void replica_create_run(struct docker *docker, struct command *command);
