/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/reported_deviations.h: the trials of a tuning job tell each difference once, in whatever life of the daemon.
 * Thread: the scheduler's. */
#include <jansson.h>

struct job_run;
struct scheduler;

/* Those that are not among @told: a list of its own. Pure. */
json_t *deviations_unreported(const json_t *reported, json_t *deviations);
/* They are from now on: that is stored. NULL: there are none. */
void deviations_mark_reported(json_t *reported, json_t *fresh);

/* Gives a trial's run the list that all trials of its tuning job share. */
void reported_share(struct scheduler *scheduler, struct job_run *run);
