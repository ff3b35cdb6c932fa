/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/search.h: numbers of a tuning job that both families derive alike. Pure. Thread: any. */
#include <stdint.h>

/* The seed for all randomness of a search, derived from the job's name. */
uint64_t search_seed(const char *project, const char *job_id);
/* The number of failed trials that fails the job, from @given, limited to a reachable number. */
unsigned failed_trials_within(int64_t given, unsigned trial_count);
