/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/quota.h: the service's quotas, for users that want to test how their code meets them.
 *
 * Source: https://cloud.google.com/ml-engine/quotas */
#include <limits.h>
#include <stdint.h>

#include "daemon/base/error.h"
#include "scheduler/plan/accelerator.h"

#define QUOTA_UNLIMITED UINT_MAX

/* Vertex AI's message for a job that wants too much, and the prefix of the metric names that follow, joined by commas:
 * "cpus", "nvidia_t4_gpus". Source: answers of the service, as quoted in issues of its clients */
#define QUOTA_METRICS_SENTENCE "The following quota metrics exceed quota limits: "
#define QUOTA_TRAINING_METRIC  "aiplatform.googleapis.com/custom_model_training_"

/* Each is a maximum, or QUOTA_UNLIMITED. */
struct quota_limits {
	unsigned create; /* calls of projects.jobs.create per minute and project */
	unsigned read;   /* calls of get, list and cancel together, per minute */
	unsigned vcpus;  /* of the machines of all running jobs of a project; at least 1 */
	unsigned accelerators[ACCELERATOR_COUNT]; /* in use by all replicas of one job */
};

/* Reads quotas, such as "create=60,read=300,vcpus=20,K80=2,V100=0": each name at most once, in any order; what is not
 * named is unlimited; "" limits nothing. INVALID_ARGUMENT: another text. Pure. */
enum status quota_parse(const char *text, struct quota_limits *ret_limits, struct error *err);

/* The request of a job, for all its replicas together. */
struct quota_request {
	uint64_t accelerators[ACCELERATOR_COUNT];
};

/* Adds accelerators to the request. @type in the API's form; a type without a quota is not counted. Pure. */
void quota_request_add(struct quota_request *request, const char *type, uint64_t count);

/* RESOURCE_EXHAUSTED, in the service's words, for the first type that exceeds its quota. Pure. */
enum status quota_check_request(const struct quota_limits *limits, const struct quota_request *request,
				const char *project, struct error *err);

/* Counts calls by project, in windows of a minute that begin with a project's first call. Thread: any. */
struct quota_counter;

/* Makes a counter, which the caller frees. */
struct quota_counter *quota_counter_new(void);
void quota_counter_free(struct quota_counter *counter);

/* Each family has its own counts; the limits are the same. */
enum quota_metric {
	QUOTA_CREATE,
	QUOTA_READ,
	QUOTA_RESOURCE_CREATE, /* creating resources of Vertex AI */
	QUOTA_RESOURCE_OTHER,  /* other calls about these resources: get, list, cancel, delete */
	QUOTA_METRICS
};

/* Counts one call of @project at @now_us of a monotonic clock.
 *
 * RESOURCE_EXHAUSTED: the limit of this window was reached before; @consumer is the project's name in the text
 * ("project_number:1"). A limited number of projects is remembered; if there are more, the one with the oldest window
 * is dropped. */
enum status quota_count(struct quota_counter *counter, const struct quota_limits *limits,
			enum quota_metric metric, const char *project, const char *consumer, int64_t now_us,
			struct error *err);
/* Refuses the call with RESOURCE_EXHAUSTED and the service's text, without counting it. Pure. */
enum status quota_refuse(enum quota_metric metric, unsigned limit, const char *consumer, struct error *err);
