/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/ml.h: the family ml.googleapis.com v1: what its handlers share. */
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
extern const struct route ml_absent[]; /* what the real API has and this emulator has not */

/* What the emulator tells of jobs beyond the service: under a path of its own. Here, as it takes the family's rules. */
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

/* What is checked before the Job in the call's body is stored, the same for a create and for a plan alone: first the
 * request itself, of which the plan is made (the caller's), then whether quotas and this machine let it run at all. */
enum status job_prepare(const struct call *call, struct plan **ret_plan, struct error *err);
enum status job_possible(const struct call *call, const struct plan *plan, struct error *err);

/* Appends the Job as clients see it to call->answer, and in trainingOutput the members that are not stored:
 * consumedMLUnits, webAccessUris, a built-in algorithm's modelPath. */
void job_render(struct call *call, const struct job *job);
/* The member jobs of a page. */
void jobs_render(struct call *call, const struct job *jobs, size_t count, struct writer *page);
/* Appends the Policy that is kept as @policy (without etag and version) for a caller that understands
 * policies up to @version. */
void policy_render(struct text *text, const json_t *policy, const char *etag, int64_t version);
