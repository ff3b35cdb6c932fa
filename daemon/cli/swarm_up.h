/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/swarm_up.h: `trainyard swarm up` and `trainyard swarm down`: the agents of a swarm's nodes. */

struct invocation;

/* Each function prints what it has done, and returns an exit code. */
int swarm_up(struct invocation *invocation);
int swarm_down(struct invocation *invocation);
