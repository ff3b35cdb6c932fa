/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/job_timeline.h: GET /_trainyard/v1/jobs/{job}:timeline: what became of a job and its replicas, and when, from the
 * journal of its changes. ?trial= asks for the job that runs a trial of a tuning job. */
#include "api/http/http.h"

extern const struct message job_timeline_query, job_timeline_message;

/* Of a row of jobs_routes. */
enum status job_timeline_answer(struct call *call, struct error *err);
