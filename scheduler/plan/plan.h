/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/plan.h: what is to run, said without any API's words.
 *
 * An API family translates its own request into a plan; the store keeps it as text; the scheduler
 * makes it true. Pure: values only. A plan owns all it points to. Thread: any, one at a time. */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"
#include "daemon/base/replica.h"

/* The pools of a job, in the order of their names on the wire. */
/* "master", "worker", "ps", "evaluator". */
const char *role_name(enum role role);
bool role_parse(const char *name, enum role *ret_role);

/* The order in which pools are started: the master last, so that its peers are up, or nearly, when it looks for
 * them. */
extern const enum role role_start_order[ROLE_COUNT];

struct pool {
	unsigned count;     /* replicas; 0 when the job has no such pool */
	char *image;        /* reference to run: the client's, or what the image map makes of it */
	char *cloud_image;  /* the client's, when it was mapped; else NULL */
	json_t *command;    /* array of strings replacing the image's ENTRYPOINT, or NULL */
	json_t *args;       /* array of strings replacing the image's CMD, or NULL */
	json_t *env;        /* array of "NAME=value", the client's own, $(NAME) not yet filled in; or NULL */
	char *machine_type; /* as the client named it, or NULL */
	char *accelerator_type;     /* NULL when none */
	unsigned accelerator_count; /* per replica */
	char *python_module;        /* what the launcher runs; NULL: the image's own program runs */
	char *python;               /* the interpreter's command, "python3"; with python_module only */
	json_t *package_uris; /* array of gs:// names that the launcher installs first, in order; or NULL */
};

struct plan {
	char *dialect;        /* which spelling of environment and messages: "ml", "aiplatform" (dialect.h) */
	char *project;        /* id */
	char *project_number; /* NULL: the dialect has no use for it */
	char *job_id;
	char *cluster_id; /* ten lowercase hex digits, one per job, part of each replica's host name */
	char *region;
	char *job_dir; /* gs://…, where programs write to: what they are told of it is the dialect's; or NULL */
	char *tpu_config; /* what the master's TPU_CONFIG says: JSON text; NULL: it has none */
	char *input;      /* the submitted input as programs read it back from their environment: JSON text */
	char *service_account; /* the account that the job's programs use; NULL: the service agent's */
	char *runtime_version; /* "2.11": its image runs; NULL: custom containers do */
	json_t *search; /* of a tuning job: struct study as JSON (scheduler/tuning/study.h); its pools are a trial's */
	json_t *resumed_jobs; /* of a tuning job: ids of the jobs with trials to learn from, oldest first; or NULL */
	unsigned trial_count, parallel_trial_count; /* of a tuning job: how many at most, how many at once */
	json_t *study_limits; /* of a tuning job: what else ends its search (study_limits.h); or NULL */
	int64_t objects_since; /* of a tuning job: generation from which on objects are of its time; 0: not known */
	bool limits_each_trial; /* of a tuning job: its limits of time are each trial's, not the whole job's */
	unsigned failed_trial_count; /* so many failed ones fail the job; 0: see scheduler/search/tuner.h */
	unsigned trial;              /* of a trial's own plan: its number, from 1; 0: this is none */
	char *tuning_job_id; /* of a trial with a job_id of its own: the tuning job's, which its log goes by; or NULL */
	bool uses_chief; /* the first replica is called chief where the dialect leaves a choice */
	bool never_retries; /* what is lost, or breaks inside the engine, is not tried again once it was RUNNING */
	bool mounts_gcs;        /* its replicas have Cloud Storage as files at /gcs */
	bool restarts_whole;    /* when one replica was lost, all begin anew; else that one alone */
	bool preemptible;       /* what is lost was preempted: all begin anew, and more often than else */
	int priority;           /* higher first */
	int64_t max_running_us; /* from RUNNING on; 0: no limit */
	int64_t max_wait_us;    /* until RUNNING; 0: no limit */
	json_t *deviations;     /* deviation.h: what the request alone tells */
	struct pool pools[ROLE_COUNT];
};

struct plan *plan_new(void);
void plan_free(struct plan *plan);
DEFINE_AUTO(plan, struct plan *, plan_free)

/* A plan of its own. */
struct plan *plan_copy(const struct plan *plan);
/* Puts a copy of @value, which may be NULL, in the place of a text or a list of a plan or of one of its pools. */
void plan_text_set(char **text, const char *value);
void plan_list_set(json_t **list, const json_t *value);

/* Whether it runs nothing itself, but trials. */
bool plan_tunes(const struct plan *plan);

/* Replicas of all pools. */
unsigned plan_replica_count(const struct plan *plan);
/* The place of a replica among all of the job's, from 0: master first, then workers, ps, evaluators. */
unsigned plan_replica_ordinal(const struct plan *plan, enum role role, unsigned index);

/* Whether the launcher runs in its containers (launcher.h). */
bool pool_is_launched(const struct pool *pool);
/* The job_id that log entries go by. */
const char *plan_log_job_id(const struct plan *plan);

/* GPUs that each replica of a pool asks for, and all replicas of the plan together; TPUs do not count. */
unsigned pool_gpu_count(const struct pool *pool);
unsigned plan_accelerator_count(const struct plan *plan);

/* What a stored plan searches for, without reading the rest; NULL: it does not tune. The caller's. INTERNAL: unreadable. */
enum status plan_search_from_text(const char *text, json_t **ret_search, struct error *err);

/* Text for the store, and back. */
char *plan_to_text(const struct plan *plan);
enum status plan_from_text(const char *text, struct plan **ret_plan, struct error *err);
