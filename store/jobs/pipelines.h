/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/pipelines.h: training pipelines: projects/PROJECT/locations/LOCATION/trainingPipelines/ID.
 *
 * A pipeline is a name for a job, stored with it in one commit, and for the model that is going to be made (models.h).
 * It has no state of its own: that of its job is read with it, so the two always agree. Thread: any. */
#include <stddef.h>
#include <stdint.h>

#include "store/jobs/jobs.h"
#include "store/jobs/operations.h"

struct pipeline {
	int64_t id; /* the store's number */
	char *project, *location, *pipeline_id, *display_name;
	char *labels;           /* JSON object text, NULL: none */
	char *input;            /* canonical TrainingPipeline without labels and modelToUpload */
	char *model_id;         /* of the model to upload; NULL: none */
	char *model_input;      /* canonical modelToUpload without a name; NULL: none */
	unsigned model_version; /* 0: not uploaded yet */
	int64_t created_us;
	struct job *job; /* the job that does the work; clients see it as a job, too, and may have deleted it */
};
void pipeline_deinit(struct pipeline *pipeline);
#define AUTO_PIPELINE __attribute__((cleanup(pipeline_deinit)))

struct pipeline_list {
	struct pipeline *pipelines;
	size_t count;
	char *next_page_token; /* NULL on the last page */
};
void pipeline_list_deinit(struct pipeline_list *list);
#define AUTO_PIPELINE_LIST __attribute__((cleanup(pipeline_list_deinit)))

/* A pipeline to be stored. Borrowed. */
struct pipeline_draft {
	const char *pipeline_id, *display_name, *labels, *input; /* as in struct pipeline */
	const char *model_id, *model_input;
	const char *artifact_uri; /* of the model; NULL: the directory of the job's best trial */
	bool extends_model;       /* the model is a new version of an existing one */
	const struct job *job; /* as job_insert() takes it; project and location are those of the pipeline */
	const struct service_line *lines;
	size_t line_count;
};

/* Stores a pipeline with its job, which is queued, and wakes the scheduler. @ret_pipeline: pipeline_deinit().
 * NOT_FOUND: the model to extend does not exist. ALREADY_EXISTS: the model exists, or another pipeline is going to make
 * it. */
enum status pipeline_insert(struct store *store, const struct pipeline_draft *draft,
			    struct pipeline *ret_pipeline, struct error *err);

/* Identifies a pipeline, or a list of pipelines. Borrowed. */
struct pipeline_name {
	const char *project, *location;
	const char *id; /* NULL: all of the location */
};

/* Returns the state's name for clients. It is "PIPELINE_STATE_PENDING" also while the job waits for any reason.
 * Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/PipelineState (read 2026-11-22) */
const char *pipeline_state_name(const struct pipeline *pipeline);

/* Reads a pipeline. NOT_FOUND: 'The TrainingPipeline "projects/P/locations/L/trainingPipelines/1" does not exist.' */
enum status pipeline_get(struct store *store, const struct pipeline_name *name, struct pipeline *ret_pipeline,
			 struct error *err);
/* Cancels the pipeline's job, as job_cancel(). NOT_FOUND. */
enum status pipeline_cancel(struct store *store, const struct pipeline_name *name, const char *message,
			    struct error *err);
/* Deletes a pipeline; its job and its model stay. Choice: FAILED_PRECONDITION while it has not ended. NOT_FOUND.
 * @ret_operation: operation_deinit(). */
enum status pipeline_delete(struct store *store, const struct pipeline_name *name,
			    struct operation *ret_operation, struct error *err);
/* Reads a page, newest first. @filter: display_name, state, training_task_definition, create_time, update_time,
 * start_time, end_time and labels.KEY in the grammar of store/filter/filter.h. INVALID_ARGUMENT: field filter or
 * page_token. */
enum status pipeline_list_page(struct store *store, const struct pipeline_name *name, const char *filter,
			       unsigned page_size, const char *page_token, struct pipeline_list *ret_list,
			       struct error *err);
