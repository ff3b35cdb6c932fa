/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/observe_listing.h: updates the observed state of all jobs by a listing of the engine. Thread: the
 * scheduler's. */
struct engine_event;
struct node;

/* Updates every job of the node by its listing, and removes containers that belong to no job. */
void observe_listing(struct node *node, const struct engine_event *event);
