/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/context.h: what the handlers of both training families share: ml.googleapis.com and
 * aiplatform.googleapis.com.
 *
 * A family's context begins with a struct training_context, so that call->context of either is one. Thread: any. */
#include "api/http/http.h"
#include "api/training/quota.h"
#include "daemon/base/clock.h"
#include "daemon/base/error.h"
#include "scheduler/plan/image_facts.h"
#include "scheduler/plan/placement.h"
#include "scheduler/plan/plan.h"

struct objects;
struct store;

struct training_context {
	struct store *store;
	const struct clock *clock;
	const struct quota_limits *quota;        /* NULL: nothing is limited */
	struct quota_counter *counter;           /* of calls; NULL: they are not counted */
	const char *project_id, *project_number; /* of the project with a known number; paths take either */
	/* What this machine can run now, as @project sees it; NULL: not known. */
	enum status (*room)(void *arg, const char *project, struct room *ret_room, struct error *err);
	void *room_arg;
	/* Looks into an image, as engine_ops.inspect_image (scheduler/engine/engine.h). NULL: no engine can be asked. */
	enum status (*inspect_image)(void *arg, const char *image, const json_t *command, const json_t *args,
				     bool with_program, struct image_facts *ret_facts, struct error *err);
	void *inspect_arg;
	/* The address of a shell in a replica of the job with this number, for a client that came by @host (its
	 * Host header); the caller frees. NULL when there is none. The pointer itself NULL: shells are not
	 * offered. */
	char *(*shell_uri)(void *arg, const char *host, int64_t job, enum role role, unsigned index);
	void *shell_arg;
	/* Makes the bucket of a job's directory, where buckets appear on first use. NOT_FOUND: they do not, or it is no
	 * name of one. NULL: buckets are none of ours. */
	enum status (*bucket_use)(void *arg, const char *bucket, struct error *err);
	/* Whether bucket_use() would make it. NULL: it makes none. */
	bool (*bucket_missing)(void *arg, const char *bucket);
	void *bucket_arg;
	/* The directory of this machine in which each trial under way has one for its reports, of its run's number. NULL:
	 * they are not known. */
	const char *trials_dir;
	struct objects *objects; /* what jobs' directories hold; NULL: storage is not ours */
};

enum { PROJECT_NUMBER_SIZE = 24 };

/* The project id of the call's path; a known number is turned into its id. */
const char *training_project(const struct call *call);
/* INVALID_ARGUMENT on @field when the path names no project that could be. */
enum status training_project_check(const struct call *call, const char *field, struct error *err);
/* The number of the call's project: the known one, the number that the path itself says, or one that is made
 * of the id, always the same. */
void training_project_number(const struct call *call, char ret_number[PROJECT_NUMBER_SIZE]);

/* Counts the call against the project's quota. RESOURCE_EXHAUSTED: it is used up for now. */
enum status training_count(const struct call *call, enum quota_metric metric, struct error *err);

/* RESOURCE_EXHAUSTED: what this host could not run if it had nothing else to do, in the words of a quota where the
 * service has one; *ret_shortage says what is short. All else waits for its turn. */
enum status training_host_check(const struct training_context *context, const struct plan *plan,
				enum shortage *ret_shortage, struct error *err);

/* Adds to the plan's differences a bucket that is made for it. */
void training_storage_report(const struct training_context *context, const struct plan *plan);
/* Makes the bucket of the plan's job_dir (gs://BUCKET/…; others and NULL are passed over): a job may write there from its
 * first moment on. Whether there is such a bucket is for the job to find out, as on the service. Tells what
 * training_storage_report() does. A tuning job's plan remembers which objects there are already. */
enum status training_storage_use(const struct training_context *context, struct plan *plan,
				 struct error *err);

/* What cannot be handed to a program (an environment that is too large) is refused now, not when its container fails.
 * INVALID_ARGUMENT: the pool at fault is *ret_role (may be NULL). */
enum status training_environment_check(const struct plan *plan, enum role *ret_role, struct error *err);

/* Ten lowercase hexadecimal digits, drawn anew. */
enum { CLUSTER_ID_SIZE = 11 };
void training_cluster_id_draw(char ret_id[CLUSTER_ID_SIZE]);

/* Of projects.locations, which both families have: one answer with the members of both. */
enum status location_get_handle(struct call *call, struct error *err);
enum status location_list_handle(struct call *call, struct error *err);
