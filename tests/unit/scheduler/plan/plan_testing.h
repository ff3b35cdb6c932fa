/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/scheduler/plan/plan_testing.h: short functions that make plans. */
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "scheduler/plan/deviation.h"
#include "scheduler/plan/plan.h"

/* A plan without replicas. */
static inline struct plan *plan_named(const char *project, const char *job_id)
{
	struct plan *plan = plan_new();

	plan->dialect = strdup("ml");
	plan->project = strdup(project);
	plan->job_id = strdup(job_id);
	plan->cluster_id = strdup("ab12cd34ef");
	plan->region = strdup("us-central1");
	plan->input = strdup("{}");
	return plan;
}

/* A plan with every member: two GPUs, texts with characters that JSON escapes, three pools, a deviation. */
static inline struct plan *plan_full(void)
{
	struct plan *plan = plan_named("p", "j\"\xc3\xa9\n");

	plan->job_dir = strdup("gs://bucket/d");
	free(plan->input);
	plan->input = strdup("{\"args\":[\"\\u003d\"]}");
	plan->uses_chief = true;
	plan->tuning_job_id = strdup("3793775725299892224");
	plan->mounts_gcs = true;
	plan->priority = 1000;
	plan->preemptible = true;
	plan->max_running_us = INT64_C(315576000000000000);
	plan->max_wait_us = INT64_C(1800000000);
	deviation_add(plan->deviations, REFUSED_BY_CLOUD, "image-mapped",
		      "trainingInput.masterConfig.imageUri", "Another %s runs.", "image");
	plan->pools[ROLE_MASTER] = (struct pool){ .count = 1,
						  .image = strdup("i:1"),
						  .cloud_image = strdup("gcr.io/p/i:1"),
						  .command = json_pack("[s]", "sh"),
						  .args = json_pack("[ss]", "a", ""),
						  .machine_type = strdup("n1-standard-8"),
						  .accelerator_type = strdup("NVIDIA_TESLA_K80"),
						  .accelerator_count = 2,
						  .env = json_pack("[s]", "A=$(B)"),
						  .python_module = strdup("trainer.task"),
						  .python = strdup("python3"),
						  .package_uris = json_pack("[s]", "gs://b/p") };
	plan->pools[ROLE_PS] = (struct pool){ .count = 3, .image = strdup("ps") };
	plan->pools[ROLE_EVALUATOR] = (struct pool){ .count = 2, .image = strdup("ev") };
	return plan;
}
