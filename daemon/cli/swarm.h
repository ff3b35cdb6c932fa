/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/swarm.h: `trainyard swarm`: the nodes of a Docker Swarm, as the engine of --engine reports them. */

struct invocation;

int swarm_main(struct invocation *invocation);
