/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/rules.h: functions that the files of job rules call in each other. Each rule adds its violations to
 * rules->err and lets the other rules continue. */
#include <jansson.h>
#include <stdbool.h>
#include <string.h>

#include "api/ml/cluster.h"
#include "api/ml/job_rules.h"
#include "api/training/forms.h"
#include "daemon/base/error.h"

/* Choice: how much of a wrong value a text repeats, and how many wrong elements of a list are reported. */
enum { RULES_SHOWN_BYTES = 200, RULES_FAULTS_MAX = 100 };

struct rules {
	const json_t *job, *input; /* input: the trainingInput */
	const struct ml_settings *settings;
	enum tier tier;
	struct error err;
};

/* Adds "Field: <field> Error: …" with INVALID_ARGUMENT. */
#define rules_refuse(rules, field, ...)                                                                      \
	error_add(&(rules)->err, STATUS_INVALID_ARGUMENT, (field), __VA_ARGS__)

/* A job id has letters, digits and underscores, and begins with a letter.
 * Source: https://cloud.google.com/ai-platform/training/docs/reference/rest/v1/projects.jobs#Job (jobId) */
enum { JOB_ID_BYTES_MAX = 128 };
static inline bool is_job_id(const char *text)
{
	static const char characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	const size_t length = strnlen(text, JOB_ID_BYTES_MAX + 1);

	return length <= JOB_ID_BYTES_MAX && strspn(text, characters) == length && *text &&
	       !strchr("0123456789_", *text);
}

void rules_check_cluster(struct rules *rules);
void rules_check_containers(struct rules *rules);
void rules_check_packages(struct rules *rules);
void rules_check_tuning(struct rules *rules);
/* Call last: refuses kinds of jobs that trainyard does not run. */
void rules_check_capabilities(struct rules *rules);
