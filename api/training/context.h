/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/context.h: shared by the handlers of both training families: ml.googleapis.com and
 * aiplatform.googleapis.com.
 *
 * A family's context begins with a struct training_context, so that call->context of either is one. Thread: any. */
#include "api/http/http.h"
#include "api/training/quota.h"
#include "daemon/base/clock.h"
#include "daemon/base/error.h"
#include "scheduler/plan/fleet.h"
#include "scheduler/plan/image_facts.h"
#include "scheduler/plan/plan.h"

struct objects;
struct store;

struct training_context {
	struct store *store;
	const struct clock *clock;
	const struct quota_limits *quota; /* NULL: no limits */
	struct quota_counter *counter;    /* counts calls; NULL: they are not counted */
	const char *project_id,
		*project_number; /* the number of project_id; paths may have either */
	/* The machines' resources and their use, as @project sees them; rooms_deinit(). NULL: unknown. */
	enum status (*rooms)(void *arg, const char *project, struct rooms *ret_rooms, struct error *err);
	void *rooms_arg;
	/* The name of the machine that is meant where an assignment names none; NULL: there is only one machine, and
	 * names are not shown. */
	const char *main_node;
	/* Inspects an image, as engine_ops.inspect_image (scheduler/engine/engine.h). NULL: there is no engine to ask. */
	enum status (*inspect_image)(void *arg, const char *image, const json_t *command, const json_t *args,
				     bool with_program, struct image_facts *ret_facts, struct error *err);
	void *inspect_arg;
	/* The address of a shell in a replica of the job with this number, for a client that used @host (its Host
	 * header); the caller frees. NULL: there is none. If the pointer itself is NULL: shells are not
	 * offered. */
	char *(*shell_uri)(void *arg, const char *host, int64_t job, enum role role, unsigned index);
	void *shell_arg;
	const char *
		console_path; /* where the console's pages begin, with a slash at the end; NULL: there is none */
	/* Makes the bucket of a job's directory, if buckets are made on first use. NOT_FOUND: the bucket is missing
	 * and is not made, or its name is invalid. NULL: this daemon has no storage. */
	enum status (*bucket_use)(void *arg, const char *bucket, struct error *err);
	/* Whether bucket_use() would make the bucket. NULL: buckets are not made on first use. */
	bool (*bucket_missing)(void *arg, const char *bucket);
	void *bucket_arg;
	/* A directory on this machine. Each running trial has a directory for its reports in it, named by the number of
	 * the trial's run. NULL: unknown. */
	const char *trials_dir;
	struct objects *objects; /* where the jobs' directories are; NULL: this daemon has no storage */
};

enum { PROJECT_NUMBER_SIZE = 24 };

/* The project id of the call's path; the known number is replaced by its id. */
const char *training_project(const struct call *call);
/* Checks the project of a call. INVALID_ARGUMENT on @field: the project in the path cannot exist. */
enum status training_project_check(const struct call *call, const char *field, struct error *err);
/* The number of the call's project: the known one, the number in the path, or one that is derived from the id. */
void training_project_number(const struct call *call, char ret_number[PROJECT_NUMBER_SIZE]);

/* Counts the call against the project's quota. RESOURCE_EXHAUSTED: the quota is used up for now. */
enum status training_count(const struct call *call, enum quota_metric metric, struct error *err);

/* Checks that this host could run the job, at least without other jobs, which only make it wait. RESOURCE_EXHAUSTED: it
 * could not; worded like a quota error if the service has such a quota; *ret_shortage: what is short. */
enum status training_host_check(const struct training_context *context, const struct plan *plan,
				enum shortage *ret_shortage, struct error *err);

/* Adds a deviation to the plan if a bucket is going to be made for it. */
void training_storage_report(const struct training_context *context, const struct plan *plan);
/* Makes the bucket of the plan's job_dir (gs://BUCKET/…; others and NULL are ignored), so that the job can write there
 * from the start. If it cannot be made, because buckets are not made on first use, this is no error: the job itself
 * fails later, as on the service. Also does what training_storage_report() does, and sets the objects_since of a
 * tuning job's plan. */
enum status training_storage_use(const struct training_context *context, struct plan *plan,
				 struct error *err);

/* Refuses an environment or a command that is too large for a program, before its container would fail.
 * INVALID_ARGUMENT: *ret_role (may be NULL) is the pool. */
enum status training_environment_check(const struct plan *plan, enum role *ret_role, struct error *err);

/* Ten lowercase hexadecimal digits, newly drawn. */
enum { CLUSTER_ID_SIZE = 11 };
void training_cluster_id_draw(char ret_id[CLUSTER_ID_SIZE]);

/* Handles projects.locations, which both families have: one answer with the members of both. */
enum status location_get_handle(struct call *call, struct error *err);
enum status location_list_handle(struct call *call, struct error *err);
