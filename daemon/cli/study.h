/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/study.h: `trainyard study`: shows the search of a tuning job. */
#include <jansson.h>

#include "daemon/base/error.h"

struct client;
struct invocation;

int study_main(struct invocation *invocation);

/* Asks for the study of a job: a pipeline has one if a tuning job is behind it. The caller owns *ret_study.
 * FAILED_PRECONDITION: the job is no tuning job; else as client_call(). */
enum status study_ask(struct client *client, const json_t *job, json_t **ret_study, struct error *err);
