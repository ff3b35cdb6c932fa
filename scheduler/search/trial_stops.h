/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/trial_stops.h: trials under way that are not worth going on with. Thread: the scheduler's. */
struct look;

/* Stops those that are not worth going on with, now and then. */
void running_watch(struct look *look);
/* The search is over: so are those under way. */
void open_interrupt(struct look *look);
