/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/plan.h: what a job runs, independent of any API.
 *
 * An API family translates its request into a plan; the store keeps the plan as text; the scheduler carries it out.
 * Pure: values only. A plan owns all it points to. Thread: any, one at a time. */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"
#include "daemon/base/replica.h"

/* The name of a role as in the ml dialect: "master", "worker", "ps", "evaluator". role_parse() returns false if
 * @name is no role's name. */
const char *role_name(enum role role);
bool role_parse(const char *name, enum role *ret_role);

/* The order in which pools are started: the master last, so that its peers are up or about to be when it connects to
 * them. */
extern const enum role role_start_order[ROLE_COUNT];

struct pool {
	unsigned count;     /* number of replicas; 0: the job has no such pool */
	char *image;        /* the reference of the image to run: the client's, or its replacement by the image map */
	char *cloud_image;  /* the client's reference, if the image map replaced it; else NULL */
	json_t *command;    /* array of strings replacing the image's ENTRYPOINT, or NULL */
	json_t *args;       /* array of strings replacing the image's CMD, or NULL */
	json_t *env; /* array of "NAME=value", the client's own, with $(NAME) not yet replaced; or NULL */
	char *machine_type; /* as the client named it, or NULL */
	char *accelerator_type;     /* NULL when none */
	unsigned accelerator_count; /* per replica */
	char *python_module; /* the module that the launcher runs; NULL: the image's own program runs */
	char *python;               /* the interpreter's command, "python3"; with python_module only */
	json_t *package_uris; /* array of gs:// names that the launcher installs first, in order; or NULL */
};

struct plan {
	char *dialect; /* "ml" or "aiplatform": which service's environment variables and messages it has (dialect.h) */
	char *project;        /* id */
	char *project_number; /* NULL: the dialect does not use it */
	char *job_id;
	char *cluster_id; /* ten lowercase hex digits, one per job, part of each replica's host name */
	char *region;
	char *job_dir; /* gs://…, where programs write to; the dialect decides how they learn it; or NULL */
	char *tpu_config;      /* the value of the master's TPU_CONFIG: JSON text; NULL: it has none */
	char *input;           /* the submitted input, which programs find in their environment: JSON text */
	char *service_account; /* the account that the job's programs use; NULL: the service agent's */
	char *runtime_version; /* "2.11": runs in the image of this runtime version; NULL: custom containers */
	/* of a tuning job: struct study as JSON (scheduler/tuning/study.h); the pools are those of a trial */
	json_t *search;
	json_t *resumed_jobs; /* of a tuning job: ids of the jobs with trials to learn from, oldest first; or NULL */
	unsigned trial_count,
		parallel_trial_count; /* of a tuning job: limits for all trials, and for running ones */
	json_t *study_limits; /* of a tuning job: other conditions that end its search (study_limits.h); or NULL */
	/* of a tuning job: objects from this generation on were written during the job; 0: unknown */
	int64_t objects_since;
	bool limits_each_trial; /* of a tuning job: its time limits apply to each trial instead of the whole job */
	unsigned
		failed_trial_count; /* the number of failed trials that fails the job; 0: see search/tuner.h */
	unsigned trial;             /* of a trial's own plan: its number, from 1; 0: not a trial */
	char *tuning_job_id; /* of a trial with a job_id of its own: the tuning job's, which names its log; or NULL */
	bool uses_chief; /* the first replica is called "chief" instead of "master", if the dialect allows both */
	bool never_retries; /* once RUNNING, the job fails on a lost replica or an internal error of the engine */
	bool mounts_gcs;     /* its replicas get Cloud Storage as files at /gcs */
	bool restarts_whole; /* true: when a replica is lost, all restart; false: only the lost one */
	bool preemptible; /* a lost replica counts as preempted: all restart, with more attempts than otherwise */
	int priority;           /* higher first */
	int64_t max_running_us; /* from RUNNING on; 0: no limit */
	int64_t max_wait_us;    /* until RUNNING; 0: no limit */
	json_t *deviations;     /* deviation.h: deviations that follow from the request alone */
	struct pool pools[ROLE_COUNT];
};

struct plan *plan_new(void);
void plan_free(struct plan *plan);
DEFINE_AUTO(plan, struct plan *, plan_free)

/* Returns a deep copy, which the caller frees. */
struct plan *plan_copy(const struct plan *plan);
/* Sets a text or list of a plan, or of one of its pools, to a copy of @value, which may be NULL. */
void plan_text_set(char **text, const char *value);
void plan_list_set(json_t **list, const json_t *value);

/* Whether the plan is that of a tuning job, which runs trials and no program itself. */
bool plan_tunes(const struct plan *plan);

/* The number of replicas of all pools. */
unsigned plan_replica_count(const struct plan *plan);
/* The position of a replica in the list of all replicas of the job, from 0: master, workers, ps, evaluators. */
unsigned plan_replica_ordinal(const struct plan *plan, enum role role, unsigned index);

/* Whether the launcher runs in the pool's containers (launcher.h). */
bool pool_is_launched(const struct pool *pool);
/* The job_id in log entries. */
const char *plan_log_job_id(const struct plan *plan);

/* GPUs that each replica of a pool requests; the next function: all replicas of the plan. TPUs do not count. */
unsigned pool_gpu_count(const struct pool *pool);
unsigned plan_accelerator_count(const struct plan *plan);

/* Reads the search of a stored plan, without the rest; NULL: it is not a tuning job. The caller frees it. INTERNAL:
 * unreadable. */
enum status plan_search_from_text(const char *text, json_t **ret_search, struct error *err);

/* Text for the store, and back. */
char *plan_to_text(const struct plan *plan);
enum status plan_from_text(const char *text, struct plan **ret_plan, struct error *err);
