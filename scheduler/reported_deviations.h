/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/reported_deviations.h: lets the trials of a tuning job report each deviation once, also across restarts of
 * the daemon.
 * Thread: the scheduler's. */
#include <jansson.h>

struct job_run;
struct scheduler;

/* A new list: the @deviations that are not in @reported. Pure. */
json_t *deviations_unreported(const json_t *reported, json_t *deviations);
/* To be called when @fresh has been stored: adds it to @reported. @fresh NULL: nothing is added. */
void deviations_mark_reported(json_t *reported, json_t *fresh);

/* Gives a trial's run the list that all trials of its tuning job share. */
void reported_share(struct scheduler *scheduler, struct job_run *run);
