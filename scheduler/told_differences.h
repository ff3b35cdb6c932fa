/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/told_differences.h: the trials of a tuning job tell each difference once, in whatever life of the daemon.
 * Thread: the scheduler's. */
#include <jansson.h>

struct job_run;
struct scheduler;

/* Those that are not among @told, where they are put: a list of its own. */
json_t *differences_untold(json_t *told, json_t *differences);
/* Takes those of such a list away again: they were not told after all. NULL: there is none. */
void differences_untell(json_t *told, const json_t *fresh);

/* Gives a trial's run the list that all trials of its tuning job share. */
void told_share(struct scheduler *scheduler, struct job_run *run);
