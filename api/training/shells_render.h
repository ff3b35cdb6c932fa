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
/* The member webAccessUris: one for each replica of @plan, as run by the job with number @job; absent if there are
 * none. */
void shells_render(const struct call *call, int64_t job, const struct plan *plan, struct writer *answer);
