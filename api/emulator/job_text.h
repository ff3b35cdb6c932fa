/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/job_text.h: a job as a file describes it, for `trainyard submit` and for the console.
 *
 *   POST /_trainyard/v1/jobs:read   the text of a file; the answer is the collection and the body that create the job
 *
 * The text is YAML or JSON: the body of a create of either API, or what gcloud takes as --config. */
#include <jansson.h>
#include <stddef.h>

#include "api/http/http.h"

extern const struct message job_text_message, job_read_message;

struct job_text {
	const char *collection; /* "customJobs": where it is created */
	const char *name_field; /* "displayName": what it is called by */
	json_t *body;           /* owned */
};

/* Reads @text. What gcloud's flags say beside the file is filled in where the text does not say it: the region of
 * AI Platform Training as @region, one trial of a tuning job. @name, unless NULL, replaces the text's own.
 * INVALID_ARGUMENT: it is neither YAML nor JSON, which is told with its line, or it is no job. Thread: any. */
enum status job_text_read(const char *text, size_t length, const char *name, const char *region,
			  struct job_text *ret_job, struct error *err);
void job_text_deinit(struct job_text *job);
#define AUTO_JOB_TEXT __attribute__((cleanup(job_text_deinit)))
/* Whether the body has what the job is called by. */
bool job_text_has_name(const struct job_text *job);

/* Of a row of jobs_routes. */
enum status job_read_answer(struct call *call, struct error *err);
