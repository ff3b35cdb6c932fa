/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/cluster_spec.h: how a replica is told who it is and who its peers are.
 *
 * Pure. Every name and variable is AI Platform Training's; another family of the API brings another
 * spelling behind the same functions (struct plan names its dialect).
 * Source: https://cloud.google.com/ai-platform/training/docs/distributed-training-containers,
 *         https://cloud.google.com/ai-platform/training/docs/distributed-training-details */
#include <jansson.h>

#include "daemon/base/error.h"
#include "scheduler/plan.h"

enum {
	CLUSTER_PORT = 2222,      /* suggested to every replica; nothing listens there by itself */
	REPLICA_NAME_MAX = 64,    /* a host name's limit in the kernel, NUL included */
	ENVIRONMENT_MAX = 131071, /* execve() takes no longer single string; NUL included */
};

/* The name that peers resolve: "cmle-training-worker-ab12cd34ef-0". */
void replica_address_name(const struct plan *plan, enum role role, unsigned index,
			  char ret_name[REPLICA_NAME_MAX]);
/* The container's own host name: the address name and a suffix that stays the same over restarts. */
void replica_host_name(const struct plan *plan, enum role role, unsigned index,
		       char ret_name[REPLICA_NAME_MAX]);
/* What log entries call it: "worker-replica-0". */
void replica_task_name(enum role role, unsigned index, char ret_name[REPLICA_NAME_MAX]);

/* The value of CLUSTER_SPEC, and of TF_CONFIG; the caller frees. NULL when memory ran out. */
char *cluster_spec_text(const struct plan *plan, enum role role, unsigned index);
char *tf_config_text(const struct plan *plan, enum role role, unsigned index);

/* The whole environment as an array of "NAME=value".
 * INVALID_ARGUMENT: some value is too long to be passed to a program at all. */
enum status replica_environment(const struct plan *plan, enum role role, unsigned index,
				json_t **ret_environment, struct error *err);
