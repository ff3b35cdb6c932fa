/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/search.h: what both families make of a tuning job's own numbers. Pure. Thread: any. */
#include <stdint.h>

/* What is random in a search follows from the job's name. */
uint64_t search_seed(const char *project, const char *job_id);
/* How many failed trials fail the job, of @given: more than all trials are never reached. */
unsigned failed_trials_within(int64_t given, unsigned trial_count);
