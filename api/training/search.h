/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/search.h: values of a tuning job that both families derive alike. Pure. Thread: any. */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* The seed for all randomness of a search, derived from the job's name. */
uint64_t search_seed(const char *project, const char *job_id);
/* The number of failed trials at which the job fails: @given, or @trial_count + 1 (never reached) if that is less. */
unsigned failed_trials_within(int64_t given, unsigned trial_count);

/* The study's word (study.h) for a parameter's scaleType, an enum that both families share: "linear" if unset. */
const char *search_scale(const json_t *spec);
/* Whether the scale is logarithmic or reverse logarithmic: all values of the parameter must then be greater than 0. */
bool search_scale_is_logarithmic(const json_t *spec);
