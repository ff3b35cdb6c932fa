/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/job_watch.h: GET /_trainyard/v1/jobs:watch: the jobs of the list, and each of them again when it changes, as a
 * stream, one JSON object a line.
 *
 * A stream holds a page of the list at a time, and for each change a number: a client that reads slowly gets the newest of a
 * job alone. A client that was cut off goes on at its position; where that is too old, or of an earlier start of the
 * daemon, all jobs come again behind a line that says so. */
#include "api/http/http.h"

extern const struct message job_watch_query, job_watch_line;

/* Of a row of jobs_routes. */
enum status job_watch_stream(struct call *call, struct error *err);
