/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/job_watch.h: GET /_trainyard/v1/jobs:watch: the jobs of the list, and each of them again when it
 * changes, as a stream, one JSON object a line.
 *
 * A stream keeps one page of the list at a time, and a number for each changed job, so a slow client gets only the
 * newest state of a job. A client that was disconnected resumes at its position; if that is too old, or from before a
 * restart of the daemon, all jobs are sent again, after a line that says so. */
#include "api/http/http.h"

extern const struct message job_watch_query, job_watch_line;

/* The handler of a row of jobs_routes. */
enum status job_watch_stream(struct call *call, struct error *err);
