/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/observe_listing.h: updates the observed state of all jobs by a listing of the engine. Thread: the
 * scheduler's. */
struct engine_event;
struct scheduler;

/* Updates every job by the listing, and removes containers that belong to no job. */
void observe_listing(struct scheduler *scheduler, const struct engine_event *event);
