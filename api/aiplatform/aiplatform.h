/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/aiplatform/aiplatform.h: the family aiplatform.googleapis.com, v1 and v1beta1: what its handlers share.
 *
 * Both versions have the same rows (version_routes.inc), but for their first segment. A job is found by either name of
 * its project, and told by the number of it. */
#include "api/aiplatform/rules.h"
#include "api/http/http.h"
#include "api/training/context.h"
#include "store/jobs/resources.h"

struct discovery_api;
struct pipeline;
struct plan;
struct plan_names;
struct trained_model;
struct writer;

struct aiplatform_context {
	struct training_context training; /* first: handlers of both families find it there */
	struct aiplatform_settings settings;
	const char *version; /* "v1" or "v1beta1": operations carry the message names of this version */
};

extern const struct discovery_api aiplatform_api, aiplatform_beta_api;
extern const struct route aiplatform_routes[], aiplatform_beta_routes[];
/* What the paths of these, and of what is absent, begin with. */
#define AIPLATFORM_UNDER(VERSION) VERSION "/projects/{project}/locations"
/* What no document has: operations and locations as generated clients ask for them, under /ui, and the emulator's own. */
extern const struct route aiplatform_other_routes[];
/* What the real API has and this emulator has not. */
extern const struct route aiplatform_absent[], aiplatform_beta_absent[];
/* What an operation's Any may hold; ends with NULL. */
extern const struct message *const aiplatform_any[];

/* Of custom jobs and tuning jobs alike: the row's methods say which. */
enum status resource_create_handle(struct call *call, struct error *err);
enum status resource_get_handle(struct call *call, struct error *err);
enum status resource_list_handle(struct call *call, struct error *err);
enum status resource_delete_handle(struct call *call, struct error *err);
enum status resource_cancel_handle(struct call *call, struct error *err);
enum status resource_plan_handle(struct call *call,
				 struct error *err); /* the emulator's own, as the next two */
enum status resource_report_handle(struct call *call, struct error *err);
enum status tuning_job_study_handle(struct call *call, struct error *err);
enum status pipeline_create_handle(struct call *call, struct error *err);
enum status pipeline_plan_handle(struct call *call, struct error *err);
enum status pipeline_get_handle(struct call *call, struct error *err);
enum status pipeline_list_handle(struct call *call, struct error *err);
enum status pipeline_delete_handle(struct call *call, struct error *err);
enum status pipeline_cancel_handle(struct call *call, struct error *err);
enum status model_get_handle(struct call *call, struct error *err);
enum status model_list_handle(struct call *call, struct error *err);
enum status model_delete_handle(struct call *call, struct error *err);
enum status operation_get_handle(struct call *call, struct error *err);
enum status operation_wait_handle(struct call *call, struct error *err);
enum status operation_list_handle(struct call *call, struct error *err);
enum status operation_cancel_handle(struct call *call, struct error *err);
enum status operation_delete_handle(struct call *call, struct error *err);

/* Choice: the service documents neither. */
enum { AIPLATFORM_PAGE_DEFAULT = 100, AIPLATFORM_PAGE_MAX = 1000 };
/* Choice: what a job says that a client has cancelled. */
#define RESOURCE_CANCELLED "The job was cancelled by the user."

/* The resource that the call's path names, with @param as the {name} of its id; NULL: all of the kind. Borrows from the call. */
struct resource resource_of_call(const struct call *call, enum job_kind kind, const char *param);
/* INVALID_ARGUMENT: the path names no project that could be, or no region (with lenient validation: nothing that could
 * be one). */
enum status resource_parent_check(const struct call *call, struct error *err);

/* One page of a list, as a call asks for it: read before anything else, which counts the call. */
struct page_query {
	unsigned size;
	const char *filter, *token, *mask; /* may be NULL */
};
/* @message: of the items, what a readMask may name. INVALID_ARGUMENT. */
enum status page_query_read(const struct call *call, const struct message *message,
			    struct page_query *ret_query, struct error *err);
/* @mask: canonical, lowerCamelCase paths joined by commas; may be NULL. *ret_mask is what fields_mask_write() takes, or
 * NULL: all is shown ("*" or nothing). INVALID_ARGUMENT on read_mask: a path that @message has not.
 * Source: https://google.aip.dev/157 (read 2026-11-22) */
enum status read_mask_check(const struct message *message, const char *mask, const char **ret_mask,
			    struct error *err);
/* What is on it. */
struct page_items {
	const char *member; /* "customJobs" */
	const void *list;
	size_t count;
	const char *next_page_token; /* NULL on the last page */
	void (*render)(struct call *call, const void *list, size_t at, struct text *text);
};
enum status page_render(struct call *call, const struct page_items *items, const char *mask,
			struct error *err);

/* What the methods of jobs have in common, whichever kind they are. */
struct resource_methods {
	enum job_kind kind;
	const char *param;             /* "customJob" */
	const struct message *message; /* of the resource: what a readMask may name */
	const char *spec;              /* the member that says what is run: "jobSpec" */
	enum status (*check)(const json_t *body, const struct aiplatform_settings *settings,
			     struct error *err);
	enum status (*to_plan)(const json_t *body, const struct plan_names *names,
			       const struct aiplatform_settings *settings, struct plan **ret_plan,
			       struct error *err);
	void (*render)(struct call *call, const struct job *job, struct text *text); /* as lists have it */
	void (*render_whole)(struct call *call, const struct job *job,
			     struct text *text); /* got by its name */
};
/* The plan of a canonical body, which the rules have passed, under an id that is drawn anew. */
enum status resource_plan(const struct call *call, const struct resource_methods *methods, const json_t *body,
			  struct plan **ret_plan, struct error *err);
/* The job that a canonical body asks for, which the rules have passed, as job_insert() takes it; in the call's location.
 * Fills in what the service does, and counts the call. @ret_draft: job_deinit(); @ret_plan: the plan in it. */
enum status resource_draft(const struct call *call, const struct resource_methods *methods, json_t *body,
			   struct plan **ret_plan, struct job *ret_draft, struct error *err);
#define AUTO_JOB_DRAFT __attribute__((cleanup(job_deinit)))
/* What its log begins with. */
enum { RESOURCE_FIRST_LINES = 2 };
extern const struct service_line resource_first_lines[RESOURCE_FIRST_LINES];
extern const struct resource_methods custom_job_methods, tuning_job_methods;

/* Whether quotas and this machine let the plan run at all. RESOURCE_EXHAUSTED, in this service's words. */
enum status plan_possible(const struct call *call, const struct plan *plan, struct error *err);

/* Appends the CustomJob as clients see it: compact JSON. */
void custom_job_render(struct call *call, const struct job *job, struct text *text);
/* Appends the HyperparameterTuningJob as lists have it: without its trials; the other one has them. */
void tuning_job_render(struct call *call, const struct job *job, struct text *text);
void tuning_job_render_whole(struct call *call, const struct job *job, struct text *text);
/* The member trials, by number; absent when there are none. What cannot be read is logged, and left out. */
void tuning_trials_render(struct call *call, const struct job *job, struct writer *answer);
/* The job that runs the best trial of @tuning; *ret_run stays NULL when no trial measured anything. The caller owns it.
 * Choice: of several metrics the first one counts; of equal trials the first one. */
enum status best_trial_find(const struct call *call, const struct job *tuning, struct job **ret_run,
			    struct error *err);

/* Appends the TrainingPipeline as clients see it. */
void pipeline_render(struct call *call, const struct pipeline *pipeline, struct text *text);
/* Appends a version of a Model as clients see it. */
void model_render(struct call *call, const struct trained_model *model, struct text *text);

/* A member that is projects/P/locations/L/COLLECTION/ID. */
void member_resource(struct writer *answer, const char *name, const struct call *call, const char *project,
		     const char *location, const char *collection, const char *id);
void member_job(struct writer *answer, const char *name, const struct call *call, const struct job *job);
/* The times and the error of all that is made of a job. */
void members_progress(const struct job *job, struct writer *answer);

/* Appends the Operation as clients see it. */
void operation_render(const struct call *call, const struct operation *operation, struct text *text);
