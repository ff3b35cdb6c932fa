/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/trials.h: the trials of tuning jobs, and the jobs that run them.
 *
 * A trial is run by a job of its own, with the tuning job as its parent: it is admitted, started, watched, restarted
 * and removed like any other, and visible to clients if it is a KIND_CUSTOM. Its log lines are in the tuning job's log,
 * labelled with its number. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"
#include "store/jobs/job_state.h"

struct job;
struct service_line;
struct store;

enum trial_outcome {
	OUTCOME_OPEN,       /* it runs, or its end was not processed yet */
	OUTCOME_COMPLETED,  /* it succeeded, or was stopped early: final has its result, if any */
	OUTCOME_INFEASIBLE, /* it failed, or its result is not a number */
	OUTCOME_CANCELLED,  /* with its job */
};

struct stored_trial {
	unsigned number; /* from 1 */
	int64_t run;     /* the job that runs it */
	enum trial_outcome outcome;
	unsigned known;     /* how many trials had ended when it was suggested */
	unsigned ended_as;  /* position in the order of ends, from 1; 0: not ended */
	bool stopped_early; /* it was stopped by early stopping */
	char *parameters;   /* JSON array: numbers, categories by their index, null where inactive */
	int64_t final_step; /* of its result */
	char *final;        /* JSON array: a number for each metric, or null; NULL: no measurement */
	/* The state and the times of the job that runs the trial. */
	enum job_state state;
	int64_t started_us, running_us, ended_us;
	bool decided; /* set by the scheduler, not stored: its end is decided, so it cannot be stopped any more */
};

struct trial_list {
	struct stored_trial *trials; /* by number, from 1, without gaps */
	size_t count;
};
void trial_list_deinit(struct trial_list *list);
#define AUTO_TRIAL_LIST __attribute__((cleanup(trial_list_deinit)))

/* The trials of job @job; empty unless it is a tuning job. Thread: any. */
enum status trial_list_read(struct store *store, int64_t job, struct trial_list *ret_list, struct error *err);

/* Finds the trial that the custom job @job_id runs. *ret_owner: the job_id of its tuning job; the caller frees.
 * *ret_trial: its number. NULL and 0: the job runs no trial, or there is no such job. Thread: any. */
enum status trial_of_job(struct store *store, const char *project, const char *job_id, char **ret_owner,
			 unsigned *ret_trial, struct error *err);

/* Calls @visit for each trial of each of @count jobs, in the order of the jobs and then by number, in one snapshot.
 * @index: of the job, in @jobs. What the trial points to is borrowed. Thread: any. */
enum status trials_visit(struct store *store, const int64_t *jobs, size_t count,
			 void (*visit)(void *arg, size_t index, const struct stored_trial *trial), void *arg,
			 struct error *err);

struct trial_start {
	unsigned number, known;
	const char *parameters;
	const struct job *run; /* as job_insert() takes it, with parent and trial */
	int64_t run_id;        /* out */
};

/* Stores new trials with the jobs that run them, all or none. ABORTED: the tuning job is about to end. Does not wake the
 * scheduler. */
enum status trials_start(struct store *store, int64_t job, struct trial_start *starts, size_t count,
			 struct error *err);
/* Stores the result of an open trial, and lines for its job's log, in one commit. A trial that is not open is
 * unchanged, and nothing is logged. */
struct trial_ending {
	int64_t job;
	unsigned number;
	enum trial_outcome outcome;
	int64_t final_step;
	const char *final; /* NULL: no measurement */
	int64_t run;
	const char *curve; /* all its reports, JSON text of the scheduler; NULL: no measurement */
	const struct service_line *lines;
	size_t line_count;
};
enum status trial_end(struct store *store, const struct trial_ending *ending, struct error *err);
/* Marks an open trial as stopped early, and cancels its job like job_cancel(), in one commit. @line goes to its job's
 * log, unless the trial was stopped before. A trial whose end is decided is unchanged: it was not stopped. */
struct trial_stopping {
	int64_t job;
	unsigned number;
	int64_t run;
	const char *message; /* of the job that runs it */
	const struct service_line *line;
};
enum status trial_stop(struct store *store, const struct trial_stopping *stopping, struct error *err);

/* The reports of a trial so far: stored separately from its row. */
struct trial_curve {
	unsigned number;
	int64_t run;
	enum trial_outcome outcome;
	int64_t running_us;
	const char *points; /* JSON text of the scheduler; borrowed */
};
/* Replaces the reports of @count trials, all or none. Of each, only run and points are used. */
enum status trial_curves_put(struct store *store, const struct trial_curve *curves, size_t count,
			     struct error *err);
/* Calls @visit for each trial with stored reports, in the order of their numbers, until it returns an error. Thread:
 * any. */
enum status trial_curves_visit(struct store *store, int64_t job,
			       enum status (*visit)(void *arg, const struct trial_curve *curve,
						    struct error *err),
			       void *arg, struct error *err);

/* What clients see of the job that runs a trial. Borrowed. */
struct trial_run {
	unsigned number;
	const char *job_id;
	const char *reason; /* its errorMessage without the hint to the logs; NULL: none */
};
/* Calls @visit for each trial of job @job, in the order of their numbers. Thread: any. */
enum status trial_jobs_visit(struct store *store, int64_t job,
			     void (*visit)(void *arg, const struct trial_run *run), void *arg,
			     struct error *err);
