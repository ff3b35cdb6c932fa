/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/job_text.h: reads a job's description from a file's text, for `trainyard submit` and for the console.
 *
 *   POST /_trainyard/v1/jobs:read   the text of a file; the answer is the collection and the body that create the job
 *
 * The text is YAML or JSON: the body of a create of either API, or what gcloud takes as --config. */
#include <jansson.h>
#include <stddef.h>

#include "api/http/http.h"

extern const struct message job_text_message, job_read_message;

struct job_text {
	const char *collection; /* "customJobs": the collection to create it in */
	const char *name_field; /* "displayName": the field with the job's name */
	json_t *body;           /* owned */
};

/* Reads @text. Sets what gcloud takes from flags if the text does not set it: the region of AI Platform Training to
 * @region, and one trial for a tuning job. @name, unless NULL, replaces the text's own. INVALID_ARGUMENT: it is neither
 * YAML nor JSON (with the line), or not a job. Thread: any. */
enum status job_text_read(const char *text, size_t length, const char *name, const char *region,
			  struct job_text *ret_job, struct error *err);
void job_text_deinit(struct job_text *job);
#define AUTO_JOB_TEXT __attribute__((cleanup(job_text_deinit)))
/* Whether the body has the job's name. */
bool job_text_has_name(const struct job_text *job);

/* The handler of a row of jobs_routes. */
enum status job_read_answer(struct call *call, struct error *err);
