/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/jobs.h: the jobs. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"
#include "store/jobs/job.h"

struct fault_injection;
struct journal_row;
struct lease;
struct store;

/* Lines of task "service", in order. Each reaches the log exactly once, also after kill -9. */
struct service_line {
	int severity; /* 0..800, see logs.h */
	const char *text;
};

/* Stores a new job as QUEUED together with its first service lines, and wakes the scheduler. Uses kind, project,
 * location, job_id, display_name, priority, labels, input, output, plan, ml_units_per_hour, web_access, traits,
 * replica_count, gpu_count, max_wait_us of @job; @ret_job is the stored row (may be NULL), without its position in the
 * queue. ALREADY_EXISTS: field job.job_id, "A job with this id already exists.". */
enum status job_insert(struct store *store, const struct job *job, const struct service_line *lines,
		       size_t line_count, struct job **ret_job, struct error *err);

/* From now on job_insert() and pipeline_insert() return UNAVAILABLE: all accepted jobs are in job_list_unfinished(), or
 * have ended. Trials are still made. */
enum status jobs_end(struct store *store, struct error *err);

/* Reads a job by its id. Only for KIND_TRAINING, like all functions with a job_id below; for others see resources.h.
 * The job is shared and read-only. NOT_FOUND: field name, the text names the job. */
enum status job_get(struct store *store, const char *project, const char *job_id, struct job **ret_job,
		    struct error *err);

/* Reads a page of the project's jobs, newest first. @filter: the grammar of store/filter/filter.h over the fields of
 * job_filter.c; "" or NULL: all.
 * @page_token: "" or NULL for the first page; opaque, bound to project and filter; jobs that are added
 * meanwhile neither shift nor repeat a page. INVALID_ARGUMENT: field filter or page_token. */
enum status job_list_page(struct store *store, const char *project, const char *filter, unsigned page_size,
			  const char *page_token, struct job_list *ret_list, struct error *err);

/* Replaces the labels (@labels: JSON text, NULL: none). ABORTED: @etag is given and is not the row's. */
enum status job_set_labels(struct store *store, const char *project, const char *job_id, const char *labels,
			   const char *etag, struct job **ret_job, struct error *err);

/* Requests the cancellation: QUEUED, PREPARING and RUNNING become CANCELLING with the outcome CANCELLED and @message; a
 * job that has ended, or has a decided outcome, is unchanged, and the result is OK. Wakes the scheduler. NOT_FOUND as
 * in job_get(). */
enum status job_cancel(struct store *store, const char *project, const char *job_id, const char *message,
		       struct error *err);

/* Like job_cancel(), for a job of any kind, a trial's too. */
enum status job_cancel_by_id(struct store *store, int64_t id, const char *message, struct error *err);

/* All jobs that are not in a final state, oldest first. */
enum status job_list_unfinished(struct store *store, struct job_list *ret_list, struct error *err);

/* A job that merely waits in the queue: nothing was done for it yet, and it runs no trials. */
struct waiting_job {
	int64_t id;
	const char *project; /* valid during the call */
	int priority;
	unsigned gpu_count;
	int64_t created_us, max_wait_us;
};

/* Calls @each for the jobs that merely wait, in the order of their turn. @each must not use the store. */
enum status job_each_waiting(struct store *store, void (*each)(void *arg, const struct waiting_job *job),
			     void *arg, struct error *err);
/* All unfinished jobs except those that job_each_waiting() gives, oldest first, without positions in the queue. */
enum status job_list_attended(struct store *store, struct job_list *ret_list, struct error *err);
/* Reads a job of any kind, a trial's too. Its position in the queue is not set, because that would require counting all
 * jobs before it. */
enum status job_get_by_id(struct store *store, int64_t id, struct job **ret_job, struct error *err);

/* One step of one job, as decided by the scheduler. */
struct job_change {
	int64_t job;
	enum job_state from;                      /* applied only while the job is in this state... */
	enum job_state to;                        /* ...and moves it there; may be the same */
	int64_t started_us, running_us, ended_us; /* 0: leave as it is */
	const char *error_message;                /* NULL: unchanged */
	size_t reason_bytes;                      /* with error_message, as in struct job */
	int error_code;                           /* with error_message */
	const char *output;                       /* NULL: unchanged */
	const char *assignment;                   /* NULL: unchanged */
	const struct lease *leases;               /* stored with this change, all for its job */
	size_t lease_count;
	bool decides;    /* sets outcome, its message and its code (unless one is decided already) */
	bool returns_leases; /* drops all leases of the job, before @leases are stored */
	bool retries;    /* clears the outcome, increments attempt, clears torn_down */
	bool tears_down; /* sets torn_down */
	bool announces;  /* sets announced to the attempt */
	enum job_state outcome;
	const char *outcome_message;
	int outcome_code;
	const struct service_line *lines;
	size_t line_count;
	const struct fault_injection *injections; /* of faults.h: stored with this change, all for its job */
	size_t injection_count;
	const struct journal_row *journal; /* the reasons: stored before the rows about the change itself */
	size_t journal_count;

	/* Out: false if the job was in another state, its outcome was decided already, or the rule of an injection is
	 * gone. */
	bool applied;
};

/* Stores all of @changes in one commit, each on its own condition. The whole call is INTERNAL and stores nothing if a
 * lease belongs to another job, or a step is forbidden by job_state_may_follow(). A step to a final state drops the
 * job's leases. Does not wake the scheduler. */
enum status job_apply(struct store *store, struct job_change *changes, size_t count, struct error *err);
