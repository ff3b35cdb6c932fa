/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/trial_stops.h: trials under way that are not worth going on with. Pure. Thread: the scheduler's. */
struct look;

enum { REPORTS_EVERY_US = 2000000 }; /* reports of trials that may be stopped early are read */

/* Stops those that are not worth going on with, by what was just read. */
void running_stop(struct look *look);
/* The search is over: so are those under way. */
void open_interrupt(struct look *look);
