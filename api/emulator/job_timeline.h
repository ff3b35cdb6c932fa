/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/job_timeline.h: GET /_trainyard/v1/jobs/{job}:timeline: the events of a job and its replicas with their
 * times, from the journal of its changes. ?trial= selects the job that runs a trial of a tuning job. */
#include "api/http/http.h"

extern const struct message job_timeline_query, job_timeline_message;

/* The handler of a row of jobs_routes. */
enum status job_timeline_answer(struct call *call, struct error *err);
