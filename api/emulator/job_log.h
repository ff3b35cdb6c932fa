/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/job_log.h: GET /_trainyard/v1/jobs/{job}:log: a job's log as a stream, one JSON object a line.
 *
 * With ?follow=true it continues with new lines until the job has ended and its last line was sent. Each line is sent
 * exactly once, no matter when the stream begins. */
#include "api/http/http.h"

extern const struct message job_log_query, job_log_line;

/* The handler of a row of jobs_routes. */
enum status job_log_stream(struct call *call, struct error *err);
