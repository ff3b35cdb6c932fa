/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/trial_stops.h: stops running trials that are not worth continuing. Pure. Thread: the scheduler's. */
struct look;

enum { REPORTS_EVERY_US = 2000000 }; /* how often reports of trials that may be stopped early are read */

/* Stops trials that are not worth continuing, by the reports just read. */
void running_stop(struct look *look);
/* Stops running trials, because the search is over. */
void open_interrupt(struct look *look);
