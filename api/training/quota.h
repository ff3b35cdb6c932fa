/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/quota.h: the service's quotas, for users that want to meet them before the cloud does.
 *
 * Source: https://cloud.google.com/ml-engine/quotas */
#include <limits.h>
#include <stdint.h>

#include "daemon/base/error.h"
#include "scheduler/plan/accelerator.h"

#define QUOTA_UNLIMITED UINT_MAX

/* What Vertex AI says of a job that wants too much, and how the names begin that follow, with commas between them:
 * "cpus", "nvidia_t4_gpus". Source: answers of the service, as issues of its clients quote them */
#define QUOTA_METRICS_SENTENCE "The following quota metrics exceed quota limits: "
#define QUOTA_TRAINING_METRIC  "aiplatform.googleapis.com/custom_model_training_"

/* Each is QUOTA_UNLIMITED or the most there may be. */
struct quota_limits {
	unsigned create; /* calls of projects.jobs.create per minute and project */
	unsigned read;   /* of get, list and cancel together, likewise */
	unsigned vcpus;  /* of the machines of all running jobs of a project; at least 1 */
	unsigned accelerators[ACCELERATOR_COUNT]; /* of all replicas of one job */
};

/* "create=60,read=300,vcpus=20,K80=2,V100=0": each name at most once, in any order; what is not named is not
 * limited; "" limits nothing. INVALID_ARGUMENT for anything else. Pure. */
enum status quota_parse(const char *text, struct quota_limits *ret_limits, struct error *err);

/* What a job asks for, of all its replicas together. */
struct quota_request {
	uint64_t accelerators[ACCELERATOR_COUNT];
};

/* @type as the API spells it; one without a quota is not counted. Pure. */
void quota_request_add(struct quota_request *request, const char *type, uint64_t count);

/* RESOURCE_EXHAUSTED in the service's words for the first type of which there may not be so many. Pure. */
enum status quota_check_request(const struct quota_limits *limits, const struct quota_request *request,
				const char *project, struct error *err);

/* Counts calls by project, in windows of a minute that begin with a project's first call. Thread: any. */
struct quota_counter;

/* The caller frees. */
struct quota_counter *quota_counter_new(void);
void quota_counter_free(struct quota_counter *counter);

/* Each family has its own counts; the limits are the same. */
enum quota_metric {
	QUOTA_CREATE,
	QUOTA_READ,
	QUOTA_RESOURCE_CREATE, /* of Vertex AI's resources */
	QUOTA_RESOURCE_OTHER,  /* of all other calls about them: get, list, cancel, delete */
	QUOTA_METRICS
};

/* Counts one call of @project at @now_us of a clock that does not jump.
 *
 * RESOURCE_EXHAUSTED: the limit of this window was reached before; @consumer is how the text names the project
 * ("project_number:1"). The projects that called last are remembered; if there are too many of them the one
 * with the oldest window begins anew. */
enum status quota_count(struct quota_counter *counter, const struct quota_limits *limits,
			enum quota_metric metric, const char *project, const char *consumer, int64_t now_us,
			struct error *err);
/* RESOURCE_EXHAUSTED in these words, whatever was counted. Pure. */
enum status quota_refuse(enum quota_metric metric, unsigned limit, const char *consumer, struct error *err);
