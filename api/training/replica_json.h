/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/replica_json.h: what is told of the replicas of a job, and how they differ from the cloud's, beyond the
 * service's own messages. Numbers are JSON numbers here, not texts: no client library reads these answers.
 *
 * Pure. Thread: any. What is returned is the caller's. */
#include <jansson.h>

#include "scheduler/plan/plan.h"

struct assignment;

/* {"name", "hostName", "addressName", "image", "cloudImage", "machineType", "acceleratorType", "acceleratorCount",
 * "limits", "devices"}: what does not apply is absent. The name is the one in log entries ("worker-replica-0",
 * "workerpool1-0"), hostName the container's own, addressName the one that peers resolve; image is what runs, cloudImage
 * what the client named, if that is another; limits are {"vcpus", "memoryBytes", "shmBytes"}, each absent where nothing is
 * limited. Without an assignment (NULL) there are neither limits nor devices. */
json_t *replica_json(const struct plan *plan, const struct assignment *assignment, enum role role,
		     unsigned index);

/* Of all replicas. */
json_t *replicas_json(const struct plan *plan, const struct assignment *assignment);

/* What of a job's @input its family's clients are told that a pool's @member ("machine_type", "accelerator_count") was
 * made of: "trainingInput.workerType", "jobSpec.workerPoolSpecs[1].machineSpec.machineType". A new string. */
typedef json_t *(*pool_field_namer)(const json_t *input, enum role role, const char *member);

/* The differences of the plan and of the assignment (NULL: none) in one list. Those of the assignment name a
 * pool's member ("pools.worker.machine_type"); @namer says it in the family's words. */
json_t *deviations_json(const struct plan *plan, const struct assignment *assignment, const json_t *input,
			pool_field_namer namer);
