/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/jobs.h: the jobs of all families, projects and locations in one list.
 *
 *   GET /_trainyard/v1/jobs         ?project=, ?filter=, ?pageSize=, ?pageToken=: newest first
 *   GET /_trainyard/v1/jobs/{job}   ?project=: the job named by an id, a display name, the beginning of either, or "@last"
 *   POST /_trainyard/v1/jobs:read   a text that describes a job: job_text.h
 *   GET /_trainyard/v1/jobs:watch   ?project=, ?filter=, ?position=: the same, and each again when it changes: job_watch.h
 *   GET /_trainyard/v1/jobs/{job}:log   its log: job_log.h
 *   GET /_trainyard/v1/jobs/{job}:timeline   its events: job_timeline.h
 *   POST /_trainyard/v1/jobs/{job}:shell   a program in a replica: job_shell.h
 *
 * Choice: these methods are trainyard's own; the services have none like them. */
#include "api/http/http.h"

struct discovery_api;
struct job;
struct job_progress;
struct job_summary;
struct faults_context;
struct ledger;
struct state_context;
struct store;
struct summary_list;
struct training_context;
struct web_shell_context;
struct writer;

extern const struct discovery_api emulator_api;

struct jobs_context {
	struct store *store;
	const struct training_context *training; /* spells names of jobs */
	const struct web_shell_context *shells;  /* opens shells in replicas */
	struct faults_context *faults;           /* NULL: faults cannot be injected */
	struct ledger *ledger;                   /* the last requests of clients */
	struct state_context *state;             /* for exports and imports */
};

/* The context of these rows is a struct jobs_context. */
extern const struct route jobs_routes[];
/* A job in the list. */
extern const struct message listed_job_message, job_progress_message;
/* Writes the progress as the member "progress" of the object that is being written. */
void job_progress_render(const struct job_progress *progress, struct writer *outer);
void listed_job_render(const struct jobs_context *context, const struct job_summary *job, struct writer *answer);
/* The id of the project that the call is limited to; NULL: none. */
const char *jobs_project(const struct call *call);
/* Replaces the tuning job by the job that runs its trial. INVALID_ARGUMENT: @trial is 0; NOT_FOUND. */
enum status jobs_trial_find(struct store *store, int64_t trial, struct job **job, struct error *err);
/* The job that the call's {job} identifies. NOT_FOUND; FAILED_PRECONDITION: several match. */
enum status jobs_find(const struct call *call, struct summary_list *ret_one, struct error *err);
