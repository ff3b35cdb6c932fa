/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/ml.h: the family ml.googleapis.com v1: shared by its handlers. */
#include "api/http/http.h"
#include "api/ml/job_rules.h"
#include "api/training/context.h"
#include "daemon/base/error.h"
#include "scheduler/plan/plan.h"

struct discovery_api;
struct job;
struct writer;

struct ml_context {
	struct training_context training;
	struct ml_settings settings;
};

extern const struct discovery_api ml_api;
extern const struct route ml_routes[];
extern const struct route ml_absent[]; /* methods of the real API that this emulator does not have */

/* The emulator's own methods for jobs, under /_trainyard/. They are in this family because they use its rules. */
extern const struct route ml_emulator_routes[];

enum status job_create_handle(struct call *call, struct error *err);
enum status job_get_handle(struct call *call, struct error *err);
enum status job_list_handle(struct call *call, struct error *err);
enum status job_patch_handle(struct call *call, struct error *err);
enum status job_cancel_handle(struct call *call, struct error *err);
enum status job_plan_handle(struct call *call, struct error *err);
enum status job_report_handle(struct call *call, struct error *err);
enum status job_study_handle(struct call *call, struct error *err);
enum status policy_get_handle(struct call *call, struct error *err);
enum status policy_set_handle(struct call *call, struct error *err);
enum status permissions_test_handle(struct call *call, struct error *err);
enum status config_get_handle(struct call *call, struct error *err);

/* Source: https://cloud.google.com/ai-platform/training/docs/reference/rest/v1/projects.jobs/list */
enum { ML_PAGE_DEFAULT = 20, ML_PAGE_MAX = 100 };

/* All checks of the Job in the call's body before it is stored, for a create and for a plan. Checks the request
 * itself, makes the plan from it (owned by the caller), then checks that quotas and this machine allow the plan. */
enum status job_prepare(const struct call *call, struct plan **ret_plan, struct error *err);
enum status job_possible(const struct call *call, const struct plan *plan, struct error *err);

/* Appends the Job for clients to call->answer, with the members of trainingOutput that are not stored: consumedMLUnits,
 * webAccessUris, a built-in algorithm's modelPath. */
void job_render(struct call *call, const struct job *job);
/* Writes the member jobs of a page of a list. */
void jobs_render(struct call *call, const struct job *jobs, size_t count, struct writer *page);
/* Appends the stored @policy (which has no etag and version) for a client that supports policies up to @version. */
void policy_render(struct text *text, const json_t *policy, const char *etag, int64_t version);
