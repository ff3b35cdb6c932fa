/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/aiplatform/aiplatform.h: shared by the handlers of the family aiplatform.googleapis.com, v1 and v1beta1.
 *
 * Both versions have the same rows (version_routes.inc), except for the first segment of their paths. A job is found
 * by the id or the number of its project; answers have the number. */
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
	struct training_context training; /* must be first: handlers of both families use it */
	struct aiplatform_settings settings;
	const char *version; /* "v1" or "v1beta1": the version of the message names in operations */
};

extern const struct discovery_api aiplatform_api, aiplatform_beta_api;
extern const struct route aiplatform_routes[], aiplatform_beta_routes[];
/* The common beginning of the paths of all methods of a version, including those that this emulator does not have. */
#define AIPLATFORM_UNDER(VERSION) VERSION "/projects/{project}/locations"
/* Rows that are in no discovery document: operations and locations under /ui, as generated clients request them, and
 * the emulator's own methods. */
extern const struct route aiplatform_other_routes[];
/* Methods of the real API that this emulator does not have. */
extern const struct route aiplatform_absent[], aiplatform_beta_absent[];
/* Messages that an operation's Any may hold; ends with NULL. */
extern const struct message *const aiplatform_any[];

/* Handlers for custom jobs and tuning jobs: call->route's methods (struct resource_methods) say for which of the
 * two. */
enum status resource_create_handle(struct call *call, struct error *err);
enum status resource_get_handle(struct call *call, struct error *err);
enum status resource_list_handle(struct call *call, struct error *err);
enum status resource_delete_handle(struct call *call, struct error *err);
enum status resource_cancel_handle(struct call *call, struct error *err);
enum status resource_plan_handle(struct call *call,
				 struct error *err); /* the emulator's own, like the next two */
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

/* Page sizes of the lists. Choice: the service documents neither. */
enum { AIPLATFORM_PAGE_DEFAULT = 100, AIPLATFORM_PAGE_MAX = 1000 };
/* Choice: the error message in a job that a client has cancelled. */
#define RESOURCE_CANCELLED "The job was cancelled by the user."

/* The resource that the call's path names; @param is the path's {name} that holds its id; NULL: all resources of the
 * kind. Borrows from the call. */
struct resource resource_of_call(const struct call *call, enum job_kind kind, const char *param);
/* Checks the project and the location of a call. INVALID_ARGUMENT: the project in the path cannot exist, or the region
 * does not (with lenient validation: cannot exist). */
enum status resource_parent_check(const struct call *call, struct error *err);

/* The page of a list that a call requests. Read it before all else, because reading it counts the call for the
 * quota. */
struct page_query {
	unsigned size;
	const char *filter, *token, *mask; /* may be NULL */
};
/* Reads the query of a list call. @message: the type of the items; a readMask may name its fields. INVALID_ARGUMENT. */
enum status page_query_read(const struct call *call, const struct message *message,
			    struct page_query *ret_query, struct error *err);
/* Checks a readMask. @mask: canonical, lowerCamelCase paths joined by commas; may be NULL. *ret_mask is for
 * fields_mask_write(), or NULL: all fields are shown ("*" or nothing). INVALID_ARGUMENT on read_mask: @message has no
 * such path.
 * Source: https://google.aip.dev/157 (read 2026-11-22) */
enum status read_mask_check(const struct message *message, const char *mask, const char **ret_mask,
			    struct error *err);
/* The items of a page. */
struct page_items {
	const char *member; /* "customJobs" */
	const void *list;
	size_t count;
	const char *next_page_token; /* NULL on the last page */
	void (*render)(struct call *call, const void *list, size_t at, struct text *text);
};
enum status page_render(struct call *call, const struct page_items *items, const char *mask,
			struct error *err);

/* The differences between the kinds of jobs, for the handlers that serve both. */
struct resource_methods {
	enum job_kind kind;
	const char *param;             /* "customJob" */
	const struct message *message; /* of the resource: its fields may be named in a readMask */
	const char *spec;              /* the member that specifies what to run: "jobSpec" */
	enum status (*check)(const json_t *body, const struct aiplatform_settings *settings,
			     struct error *err);
	enum status (*to_plan)(const json_t *body, const struct plan_names *names,
			       const struct aiplatform_settings *settings, struct plan **ret_plan,
			       struct error *err);
	/* writes an item in the form that lists have */
	void (*render)(struct call *call, const struct job *job, struct text *text);
	void (*render_whole)(struct call *call, const struct job *job,
			     struct text *text); /* for a job that was requested by its name */
};
/* Makes the plan of a canonical body that has passed the rules, with a newly drawn id. */
enum status resource_plan(const struct call *call, const struct resource_methods *methods, const json_t *body,
			  struct plan **ret_plan, struct error *err);
/* Makes the job of a canonical body that has passed the rules, ready for job_insert(), in the call's location. Fills
 * in the service's defaults, and counts the call. @ret_draft: release with job_deinit(); @ret_plan: the plan in it. */
enum status resource_draft(const struct call *call, const struct resource_methods *methods, json_t *body,
			   struct plan **ret_plan, struct job *ret_draft, struct error *err);
#define AUTO_JOB_DRAFT __attribute__((cleanup(job_deinit)))
/* Number of lines with which the log of a new job begins. */
enum { RESOURCE_FIRST_LINES = 2 };
extern const struct service_line resource_first_lines[RESOURCE_FIRST_LINES];
extern const struct resource_methods custom_job_methods, tuning_job_methods;

/* Checks that quotas and this machine allow the plan. RESOURCE_EXHAUSTED if not, with Vertex AI's sentences. */
enum status plan_possible(const struct call *call, const struct plan *plan, struct error *err);

/* Appends the CustomJob for clients: compact JSON. */
void custom_job_render(struct call *call, const struct job *job, struct text *text);
/* Both append the HyperparameterTuningJob for clients: tuning_job_render() without trials, for lists; the other one
 * with them. */
void tuning_job_render(struct call *call, const struct job *job, struct text *text);
void tuning_job_render_whole(struct call *call, const struct job *job, struct text *text);
/* Writes the member trials, sorted by number; no member if there are none. A trial that cannot be read is logged and
 * left out. */
void tuning_trials_render(struct call *call, const struct job *job, struct writer *answer);
/* Finds the job that runs the best trial of @tuning; *ret_run, which the caller owns, stays NULL if no trial has a
 * measurement. Choice: the first metric decides; among equal trials, the first one. */
enum status best_trial_find(const struct call *call, const struct job *tuning, struct job **ret_run,
			    struct error *err);

/* Appends the TrainingPipeline for clients. */
void pipeline_render(struct call *call, const struct pipeline *pipeline, struct text *text);
/* Appends a version of a Model for clients. */
void model_render(struct call *call, const struct trained_model *model, struct text *text);

/* Both write the member @name with the name of a resource, projects/P/locations/L/COLLECTION/ID; member_job() takes it
 * from @job. */
void member_resource(struct writer *answer, const char *name, const struct call *call, const char *project,
		     const char *location, const char *collection, const char *id);
void member_job(struct writer *answer, const char *name, const struct call *call, const struct job *job);
/* Writes the times and the error of a resource that stands for a job. */
void members_progress(const struct job *job, struct writer *answer);

/* Appends the Operation for clients. */
void operation_render(const struct call *call, const struct operation *operation, struct text *text);
