/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/replica_json.h: JSON about the replicas of a job and their deviations from the cloud, beyond the
 * service's own messages. Numbers are JSON numbers, not strings, because no client library reads these answers.
 *
 * Pure. Thread: any. The caller owns the results. */
#include <jansson.h>

#include "scheduler/plan/plan.h"

struct assignment;

/* {"name", "hostName", "addressName", "image", "cloudImage", "machineType", "acceleratorType", "acceleratorCount",
 * "limits", "devices"}; members that do not apply are absent. name is the one in log entries ("worker-replica-0",
 * "workerpool1-0"), hostName the container's own, addressName the one that peers resolve; image is what runs,
 * cloudImage the client's image if that differs; limits are {"vcpus", "memoryBytes", "shmBytes"}, each absent if
 * unlimited. Without an assignment (NULL) there are no limits and no devices. */
json_t *replica_json(const struct plan *plan, const struct assignment *assignment, enum role role,
		     unsigned index);

/* Describes all replicas; the member "node" is the name of a replica's machine, @main_node if the assignment names
 * none. It is absent if @main_node is NULL too, or without an assignment. */
json_t *replicas_json(const struct plan *plan, const struct assignment *assignment, const char *main_node);

/* Returns, as a new string, the name of the field in a job's @input that a pool's @member ("machine_type",
 * "accelerator_count") was made from. The name is spelled as in the job's API: "trainingInput.workerType",
 * "jobSpec.workerPoolSpecs[1].machineSpec.machineType". */
typedef json_t *(*pool_field_namer)(const json_t *input, enum role role, const char *member);

/* The deviations of the plan and of the assignment (NULL: none) in one list. Those of the assignment name a pool's
 * member ("pools.worker.machine_type"), which @namer translates to the family's field. */
json_t *deviations_json(const struct plan *plan, const struct assignment *assignment, const json_t *input,
			pool_field_namer namer);
