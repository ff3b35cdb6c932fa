/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/trial_stops.h: trials under way that are not worth going on with. Thread: the scheduler's. */
#include "daemon/base/error.h"

struct look;

/* Not pure: reads what those under way have reported, now and then, and stores it. */
enum status running_read(struct look *look, struct error *err);
/* Stops those that are not worth going on with, by what was just read. */
void running_stop(struct look *look);
/* The search is over: so are those under way. */
void open_interrupt(struct look *look);
