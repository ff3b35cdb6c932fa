/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/rules.h: what the files of job rules share. Each rule adds its violations to rules->err and
 * lets the others go on. */
#include <jansson.h>
#include <stdbool.h>

#include "api/ml/cluster.h"
#include "api/ml/job_rules.h"
#include "daemon/base/error.h"

/* Choice: how much of a wrong value is repeated in a text, and how many wrong elements of a list. */
enum { RULES_SHOWN_BYTES = 200, RULES_FAULTS_MAX = 100 };

/* The place for "parameter_server_config.disk_config.boot_disk_size_gb" and its like. */
enum { FIELD_NAME_SIZE = 96 };

struct rules {
	const json_t *job, *input; /* input: the trainingInput */
	const struct ml_settings *settings;
	enum tier tier;
	struct error err;
};

/* Adds "Field: <field> Error: …" with INVALID_ARGUMENT. */
#define rules_refuse(rules, field, ...)                                                                      \
	error_add(&(rules)->err, STATUS_INVALID_ARGUMENT, (field), __VA_ARGS__)

/* "worker_config.image_uri" into @name; returns @name. */
const char *role_field(enum role role, const char *below, char name[FIELD_NAME_SIZE]);

/* Letters, digits and underscores, a letter first; 128 at most. */
bool is_job_id(const char *text);

void rules_check_cluster(struct rules *rules);
void rules_check_containers(struct rules *rules);
void rules_check_packages(struct rules *rules);
void rules_check_tuning(struct rules *rules);
/* Last of all: kinds of jobs that trainyard does not run. */
void rules_check_capabilities(struct rules *rules);
