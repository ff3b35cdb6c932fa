/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/study_answer.h: a tuning job's search, to look at: what was tried, what was measured, what is best, and what
 * the model makes of it.
 *
 * Below /_trainyard, for jobs of both families. Numbers are JSON numbers here, not texts: no client library reads these
 * answers. */
#include "daemon/base/error.h"

struct call;
struct job;
struct message;

extern const struct message study_query;

/* Answers with the study of @job as JSON, or as a table where the call asks for that; @name is the job's in the answer.
 * INVALID_ARGUMENT: format; FAILED_PRECONDITION: it does not tune. */
enum status study_answer(struct call *call, const struct job *job, const char *name, struct error *err);
