/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/ml.h: the family ml.googleapis.com v1: what its handlers share. */
#include "api/http/http.h"
#include "api/ml/job_rules.h"
#include "daemon/base/clock.h"
#include "daemon/base/error.h"
#include "daemon/base/text.h"

struct store;
struct job;

struct ml_context {
	struct store *store;
	const struct clock *clock;
	struct ml_settings settings;
	const char *project_id, *project_number; /* of the project whose number is known; paths take either */
};

extern const struct route ml_routes[];
extern const struct route ml_absent[]; /* what the real API has and this emulator has not */

enum status job_create_handle(struct call *call, struct error *err);
enum status job_get_handle(struct call *call, struct error *err);
enum status job_list_handle(struct call *call, struct error *err);
enum status job_patch_handle(struct call *call, struct error *err);
enum status job_cancel_handle(struct call *call, struct error *err);

/* The project id of the call's path; a known number is turned into its id. */
const char *ml_project(const struct call *call);
/* Appends the Job as clients see it: compact JSON in the order of its fields on the wire. */
void job_render(struct text *text, const struct job *job);
