/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/job_timeline.h: the events of a job and its replicas, for `trainyard describe` and `why`. Thread: the
 * first. */
#include <jansson.h>

#include "daemon/base/text.h"

struct client;

/* The timeline of a job; the caller's. NULL: it cannot be read. */
json_t *timeline_ask(struct client *client, const json_t *job);
/* Appends a line for each event: when, how long after the one before, and what. */
void timeline_write(struct text *text, const json_t *timeline);
/* The replica of that name within a timeline; NULL: none. Borrowed. */
const json_t *timeline_replica(const json_t *timeline, const char *name);
/* The last end of a replica that is a reason for the job's outcome; NULL: none. Borrowed. *ret_others: how many more. */
const json_t *timeline_blamed(const json_t *timeline, size_t *ret_others);
/* "exited with 3", "lost", or "-" while it runs. */
void replica_end_report(struct text *text, const json_t *replica);
