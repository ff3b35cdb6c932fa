/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/scheduler/search_testing.h: tuning jobs in few words. */
#include "scheduler/tuning/study.h"
#include "tests/unit/scheduler/scheduler_testing.h"

struct search {
	const char *job_id;
	unsigned trials, parallel, failed;
	double maximum; /* of x, from 1 */
	enum algorithm algorithm;
	enum stopping_rule stopping;
	int64_t max_running_us, max_wait_us;
	int priority;
	const char *resumes; /* a job */
	bool broken;         /* its study cannot be read */
};

static inline json_t *search_make(const struct search *search)
{
	struct parameter parameter = { .name = (char *)"x",
				       .type = PARAMETER_INTEGER,
				       .minimum = 1,
				       .maximum = search->maximum > 0 ? search->maximum : 1000,
				       .parent = -1 };
	struct metric metric = { .name = (char *)"accuracy" };
	const struct study study = { .seed = 7,
				     .algorithm = search->algorithm,
				     .stopping = search->stopping,
				     .parameters = &parameter,
				     .parameter_count = 1,
				     .metrics = &metric,
				     .metric_count = 1 };

	return study_to_json(&study);
}

static inline int64_t search_submit(struct bench *bench, const struct search *search)
{
	AUTO(plan) struct plan *plan = plan_named("p", search->job_id);

	plan->priority = search->priority;
	plan->max_running_us = search->max_running_us;
	plan->max_wait_us = search->max_wait_us;
	plan->resumed_jobs = search->resumes ? json_pack("[s]", search->resumes) : NULL;
	plan->search = search->broken ? json_pack("{s:s}", "algorithm", "NONE") : search_make(search);
	plan->trial_count = search->trials;
	plan->parallel_trial_count = search->parallel;
	plan->failed_trial_count = search->failed;
	pool_fill(&plan->pools[ROLE_MASTER], &(struct shape){ .project = "p" }, "image:1", 1);
	return plan_store(bench, plan);
}
