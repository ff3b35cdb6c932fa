/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/ml.h: the family ml.googleapis.com v1: what its handlers share. */
#include "api/http/http.h"
#include "api/ml/job_rules.h"
#include "daemon/base/clock.h"
#include "daemon/base/error.h"
#include "scheduler/plan.h"

struct discovery_api;
struct job;
struct quota_counter;
struct region;
struct room;
struct store;

struct ml_context {
	struct store *store;
	const struct clock *clock;
	struct ml_settings settings;
	struct quota_counter *counter;           /* of calls; NULL: they are not counted */
	const char *project_id, *project_number; /* of the project whose number is known; paths take either */
	/* What this machine can run now, as @project sees it; NULL: not known. */
	enum status (*room)(void *arg, const char *project, struct room *ret_room, struct error *err);
	void *room_arg;
	/* The address of a shell in a replica of the job with this number, for a client that came by @host (its
	 * Host header); the caller frees. NULL when there is none. The pointer itself NULL: shells are not
	 * offered. */
	char *(*shell_uri)(void *arg, const char *host, int64_t job, enum role role, unsigned index);
	void *shell_arg;
	/* Makes the bucket of a job's directory, where buckets appear on first use. NOT_FOUND: they do not, or it is no
	 * name of one. NULL: buckets are none of ours. */
	enum status (*bucket_use)(void *arg, const char *bucket, struct error *err);
	void *bucket_arg;
	/* The directory of this machine in which each trial under way has one for its reports, of its run's number. NULL:
	 * they are not known. */
	const char *trials_dir;
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
enum status location_get_handle(struct call *call, struct error *err);
enum status location_list_handle(struct call *call, struct error *err);

enum { PROJECT_NUMBER_SIZE = 24 };

/* The project id of the call's path; a known number is turned into its id. */
const char *ml_project(const struct call *call);
/* INVALID_ARGUMENT on @field when the path names no project that could be. */
enum status ml_project_check(const struct call *call, const char *field, struct error *err);
/* The number of the call's project: the known one, the number that the path itself says, or one that is made
 * of the id, always the same. */
void ml_project_number(const struct call *call, char ret_number[PROJECT_NUMBER_SIZE]);
/* Of jobs and of locations. Source: https://cloud.google.com/ai-platform/training/docs/reference/rest/v1/projects.jobs/list */
enum { ML_PAGE_DEFAULT = 20, ML_PAGE_MAX = 100 };

/* What is checked before the Job in the call's body is stored, the same for a create and for a plan alone: first the
 * request itself, of which the plan is made (the caller's), then whether quotas and this machine let it run at all. */
enum status job_prepare(const struct call *call, struct plan **ret_plan, struct error *err);
enum status job_possible(const struct call *call, const struct plan *plan, struct error *err);

/* Counts the call against the project's quota of reads: get, list and cancel together.
 * RESOURCE_EXHAUSTED: it is used up for now. */
enum status ml_count_read(const struct call *call, struct error *err);
/* The same for creates. */
enum status ml_count_create(const struct call *call, struct error *err);
/* Appends the Job as clients see it to call->answer: compact JSON in the order of its fields on the wire, and in
 * trainingOutput what is not stored: consumedMLUnits, webAccessUris, a built-in algorithm's modelPath. */
void job_render(struct call *call, const struct job *job);
/* Appends the Policy that is kept as @policy (without etag and version) as a caller sees it who understands
 * policies up to @version. */
enum status policy_render(struct text *text, const json_t *policy, const char *etag, int64_t version,
			  struct error *err);
/* Appends the Location; @project as the caller named it. */
void location_render(struct text *text, const char *project, const struct region *region);
