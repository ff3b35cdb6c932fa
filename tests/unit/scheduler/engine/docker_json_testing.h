/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/scheduler/engine/docker_json_testing.h: a replica, and short functions for JSON. */
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "scheduler/engine/docker_json.h"
#include "tests/unit/testing.h"

static const struct replica_key worker = { .job = 12, .attempt = 2, .role = ROLE_WORKER, .index = 3 };

static inline struct replica_spec spec_of(void)
{
	return (struct replica_spec){
		.key = worker,
		.project = "demo",
		.job_id = "train_1",
		.image = "sha256:abc",
		.hostname = "host",
		.alias = "peer",
		.network = "net1",
		.address = "10.213.0.5",
		.nano_cpus = 4000000000,
		.memory_bytes = 15000000000,
		.pids_limit = 4096,
		.stop_grace_s = 30,
	};
}

static inline json_t *at(json_t *value, const char *path)
{
	char *copy = strdup(path), *rest = copy, *part;

	while ((part = strsep(&rest, "/")) != NULL)
		value = json_is_array(value) ? json_array_get(value, (size_t)atoi(part))
					     : json_object_get(value, part);
	free(copy);
	return value;
}

static inline json_t *read_json(const char *text)
{
	return docker_parse(text, strlen(text), text[0] == '[' ? JSON_ARRAY : JSON_OBJECT);
}
