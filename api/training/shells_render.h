/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/shells_render.h: the addresses of the interactive shells of a job or a trial. */
#include <stdbool.h>
#include <stdint.h>

struct call;
struct job;
struct plan;
struct writer;

/* Whether the answer has addresses of shells: the job's input asks for them, and the request has a Host. */
bool shells_reported(const struct call *call, const struct job *job);
/* Writes the member webAccessUris, with one address for each replica of @plan; absent if there are none. @job: the
 * number of the job that runs these replicas, which for a trial is the trial's own job. */
void shells_render(const struct call *call, int64_t job, const struct plan *plan, struct writer *answer);
