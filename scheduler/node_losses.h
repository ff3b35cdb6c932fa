/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/node_losses.h: which nodes are lost: away for longer than the scheduler's patience.
 *
 * A lost node is observed as if it had listed that it has nothing (observe_lost_nodes()), so its replicas are lost like
 * others whose containers are gone. A job that is then tried again gives up its place and its leases in the same commit,
 * and waits in the queue for other nodes. When the node is back, its containers are of an earlier attempt and are removed;
 * until a listing shows that none is left, the node gets no jobs (for a minute at most: node_open()).
 *
 * Choice: `main` must have answered for all that time, because agents of a swarm are reached through its engine and the
 * agent there: if one of the two is away, or hangs, nothing is known of the others. `main` itself is lost only if jobs can
 * go on without it: another node answers, and job networks are not made by `main`.
 * Choice: if the swarm reports the node as down or drained, and its engine is away, five seconds are enough (or the patience, if
 * that is less): the managers heard nothing of the node for a while, or a person has sent its jobs away. Five, because a node
 * that is drained by mistake, or with an engine that is started anew, may be back at once.
 * Thread: the scheduler's. */
#include <stdint.h>

struct scheduler;

/* Marks the nodes that are lost since the last call, and touches their jobs. */
void node_losses_look(struct scheduler *scheduler);
/* When the next node will be lost (monotonic); INT64_MAX: none. */
int64_t node_losses_deadline_us(const struct scheduler *scheduler);
