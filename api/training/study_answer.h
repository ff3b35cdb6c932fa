/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/study_answer.h: a tuning job's search for display: trials, measurements, the best trial, and what the
 * model predicts for each trial.
 *
 * Below /_trainyard, for jobs of both families. Numbers are JSON numbers, not strings, because no client library reads
 * these answers. */
#include "daemon/base/error.h"

struct call;
struct job;
struct message;

extern const struct message study_query;

/* Answers with the study of @job as JSON, or as a table if the call asks for one; @name is the job's name in the
 * answer. INVALID_ARGUMENT: format; FAILED_PRECONDITION: it is not a tuning job. */
enum status study_answer(struct call *call, const struct job *job, const char *name, struct error *err);
