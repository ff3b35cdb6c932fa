/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/resources.h: jobs that are resources of a location (KIND_CUSTOM, KIND_TUNING), by name.
 *
 * projects/PROJECT/locations/LOCATION/customJobs/ID. For the scheduler they are like other jobs; this file has the
 * clients' operations that KIND_TRAINING does not have. Jobs of trials are included. Thread: any. */
#include "daemon/base/seeded_random.h"
#include "store/jobs/jobs.h"
#include "store/jobs/operations.h"

enum { RESOURCE_ID_SIZE = 20 };

struct resource {
	enum job_kind kind; /* any except KIND_TRAINING */
	const char *project, *location;
	const char *id; /* NULL: all of the kind */
};

/* Return the collection and the type for clients: "customJobs" and "CustomJob" for KIND_CUSTOM. */
const char *resource_collection(enum job_kind kind);
const char *resource_type(enum job_kind kind);
/* Draws a new id with seeded_random.h: 18 or 19 decimal digits, the first not 0. @kind: RANDOM_RESOURCE or
 * RANDOM_TRIAL. */
void resource_id_draw(enum random_kind kind, char ret_id[RESOURCE_ID_SIZE]);

/* Returns the job's state for Vertex AI, such as "JOB_STATE_PENDING". Waiting and preparing jobs are both pending; a job
 * that asked to wait for capacity (scheduling strategy FLEX_START) is queued while it waits.
 * Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/JobState (read 2026-11-22) */
const char *resource_state_name(const struct job *job);

/* Reads the job of a resource. NOT_FOUND: 'The CustomJob "projects/P/locations/L/customJobs/1" does not exist.'; also
 * for another kind or location, and if it was deleted. */
enum status resource_get(struct store *store, const struct resource *resource, struct job **ret_job,
			 struct error *err);
/* As job_cancel(). NOT_FOUND. */
enum status resource_cancel(struct store *store, const struct resource *resource, const char *message,
			    struct error *err);
/* Hides the resource from clients, and stores the operation; the row stays, for its logs and its trials. Choice:
 * FAILED_PRECONDITION while the job has not ended. NOT_FOUND. @ret_operation: operation_deinit(). */
enum status resource_delete(struct store *store, const struct resource *resource,
			    struct operation *ret_operation, struct error *err);
/* Reads a page, newest first. @filter: display_name, state, create_time, update_time, start_time, end_time and
 * labels.KEY in the grammar of store/filter/filter.h. INVALID_ARGUMENT: field filter or page_token. */
enum status resource_list_page(struct store *store, const struct resource *resource, const char *filter,
			       unsigned page_size, const char *page_token, struct job_list *ret_list,
			       struct error *err);
