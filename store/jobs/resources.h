/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/resources.h: jobs that are resources of a location (KIND_CUSTOM, KIND_TUNING), by their names.
 *
 * projects/PROJECT/locations/LOCATION/customJobs/ID. They are jobs like others to the scheduler; here is what clients do
 * with them that they cannot do with a KIND_TRAINING. Trials' own jobs are found, too. Thread: any. */
#include "daemon/base/seeded_random.h"
#include "store/jobs/jobs.h"
#include "store/jobs/operations.h"

enum { RESOURCE_ID_SIZE = 20 };

struct resource {
	enum job_kind kind; /* but KIND_TRAINING */
	const char *project, *location;
	const char *id; /* NULL: all of the kind */
};

/* "customJobs" and "CustomJob" of KIND_CUSTOM. */
const char *resource_collection(enum job_kind kind);
const char *resource_type(enum job_kind kind);
/* A new id: 18 or 19 decimal digits, no zero first, drawn from seeded_random.h: RANDOM_RESOURCE or _TRIAL. */
void resource_id_draw(enum random_kind kind, char ret_id[RESOURCE_ID_SIZE]);

/* "JOB_STATE_PENDING": what a job's state is called here. A job that waits and one that is prepared are both pending; one
 * that asked to wait for capacity (scheduling strategy FLEX_START) is queued as long as it waits.
 * Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/JobState (read 2026-11-22) */
const char *resource_state_name(const struct job *job);

/* NOT_FOUND: 'The CustomJob "projects/P/locations/L/customJobs/1" does not exist.'; so is one of another kind, in another
 * location, and one that was deleted. */
enum status resource_get(struct store *store, const struct resource *resource, struct job **ret_job,
			 struct error *err);
/* As job_cancel(). NOT_FOUND. */
enum status resource_cancel(struct store *store, const struct resource *resource, const char *message,
			    struct error *err);
/* Takes it out of clients' sight, and stores the operation that says so; the row stays, for its logs and its trials.
 * Choice: FAILED_PRECONDITION while it has not ended. NOT_FOUND. @ret_operation: operation_deinit(). */
enum status resource_delete(struct store *store, const struct resource *resource,
			    struct operation *ret_operation, struct error *err);
/* Newest first. @filter: display_name, state, create_time, update_time, start_time, end_time and labels.KEY in the grammar
 * of store/filter/filter.h. INVALID_ARGUMENT: field filter or page_token. */
enum status resource_list_page(struct store *store, const struct resource *resource, const char *filter,
			       unsigned page_size, const char *page_token, struct job_list *ret_list,
			       struct error *err);
