/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/job_timeline.h: the events of a job and its replicas, for `trainyard describe` and `why`. Thread: the
 * first. */
#include <jansson.h>

#include "daemon/base/text.h"

struct client;

/* Asks for the timeline of a job, or of a trial of it; the caller owns the result. @trial 0: of the job. NULL: it cannot
 * be read. */
json_t *timeline_ask(struct client *client, const json_t *job, unsigned trial);
/* Appends a line for each event: its time, the time since the event before, and its description. */
void timeline_write(struct text *text, const json_t *timeline);
/* Returns the replica with that name in a timeline, borrowed; NULL: none. */
const json_t *timeline_replica(const json_t *timeline, const char *name);
/* Returns the first event of the job's last attempt in which the end of a replica is a reason for the job's outcome,
 * borrowed; NULL: there is none. *ret_others: the number of further such events. */
const json_t *timeline_blamed(const json_t *timeline, size_t *ret_others);
/* Appends how a replica ended: "exited with 3", "lost", or "-" while it runs. */
void replica_end_report(struct text *text, const json_t *replica);
