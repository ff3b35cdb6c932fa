/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/observe_listing.h: what a listing of all that the engine has shows. Thread: the scheduler's. */
struct engine_event;
struct scheduler;

/* Brings what is known of every job up to the listing; removes what is no job's. */
void observe_listing(struct scheduler *scheduler, const struct engine_event *event);
