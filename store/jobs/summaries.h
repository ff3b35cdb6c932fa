/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/summaries.h: jobs of all kinds, projects and locations in one list, and found by any of their names.
 *
 * A pipeline and its job are one summary, under the pipeline's name. Jobs of trials are not included. Thread: any. */
#include "store/jobs/jobs.h"

struct job_progress;

struct job_summary {
	int64_t id; /* the store's number */
	enum job_kind kind;
	char *project, *location;    /* location is NULL for kind KIND_TRAINING */
	char *job_id;                /* of the job itself; names its log */
	char *pipeline_id;           /* NULL: no pipeline made it */
	char *display_name, *labels; /* of the pipeline, if there is one; NULL: none */
	enum job_state state;
	int64_t created_us, started_us, ended_us; /* 0: not yet */
	char *reason; /* the errorMessage without its hint to the logs; NULL: none */
	char *waits_for; /* for a QUEUED or PREPARING job: the last service line in its log; or NULL */
	/* the last reported progress of a PREPARING or RUNNING job; NULL: none is known */
	struct job_progress *progress;
	unsigned replica_count, gpu_count; /* for a tuning job: of one trial */
};

struct summary_list {
	struct job_summary *jobs;
	size_t count;
	char *next_page_token; /* NULL on the last page */
};
void summary_list_deinit(struct summary_list *list);
#define AUTO_SUMMARY_LIST __attribute__((cleanup(summary_list_deinit)))

/* Returns the collection for clients: "jobs", "customJobs", "hyperparameterTuningJobs" or "trainingPipelines". */
const char *summary_family(const struct job_summary *job);

/* The families that summary_family() can return: how many there are, and the name of each by its number, from 0. */
enum { SUMMARY_FAMILIES = 4 };
const char *summary_family_name(unsigned family);

struct job_counts {
	uint64_t jobs[SUMMARY_FAMILIES][JOB_STATE_COUNT]; /* as in the list: without trials */
	uint64_t queued;                                  /* how many jobs are QUEUED */
	int64_t oldest_queued_us; /* when the oldest of these was created; 0: there is none */
};
enum status summary_count(struct store *store, struct job_counts *ret_counts, struct error *err);

/* Reads a page, newest first. @project: NULL: of all. @filter: family, project, location, id, displayName, state,
 * createTime, startTime, endTime and labels.KEY in the grammar of store/filter/filter.h. INVALID_ARGUMENT: field filter or
 * page_token. */
enum status summary_list_page(struct store *store, const char *project, const char *filter,
			      unsigned page_size, const char *page_token, struct summary_list *ret_list,
			      struct error *err);

/* Reads the jobs with the numbers in @jobs (at most ROW_PAGE_MAX) that belong to the list of summary_list_page() for
 * @project and @filter, each once. Numbers of trials' jobs, which no list has, are removed from @jobs. */
enum status summary_list_some(struct store *store, const char *project, const char *filter, int64_t *jobs,
			      size_t *count, struct summary_list *ret_list, struct error *err);

enum { SUMMARIES_FOUND = 10 };

/* The job for @reference: "@last" is the newest; else an id (of a job or a pipeline), else a display name, else the
 * beginning of one of these. The first of these rules that matches a job counts. @project: NULL: any. NOT_FOUND: none;
 * FAILED_PRECONDITION: several, of which the text lists at most SUMMARIES_FOUND. */
enum status summary_find(struct store *store, const char *project, const char *reference,
			 struct summary_list *ret_one, struct error *err);
