/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/network_sight.h: which job is on which network, from what the engine said of them. Thread: the scheduler's. */
struct engine_event;
struct scheduler;

/* What a listing shows of the networks that jobs are on of which nothing is certain yet. */
void networks_find(struct scheduler *scheduler, const struct engine_event *listing);
/* Removes the networks of a listing that no job is on, and forgets spare ones that are not there. */
void networks_compare(struct scheduler *scheduler, const struct engine_event *listing);
/* A network was made, was not, or was removed. */
void network_update(struct scheduler *scheduler, const struct engine_event *event);
/* Whether the queue waits for a network, as the jobs that were let in stand now: none is let in while one of those asks
 * for its own. */
void networks_settle(struct scheduler *scheduler);
