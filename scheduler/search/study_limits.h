/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/study_limits.h: what ends a search beside the number of its trials.
 *
 * Before each suggestion the rules are gone through: while one of the least rules is not met, none of the others counts;
 * after that the first that holds ends the search.
 * Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/StudySpec#StudyStoppingConfig (read 2026-11-22)
 * Pure. Thread: any. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 0: there is no such rule. */
struct study_limits {
	int64_t least_us, least_until_us; /* since the search was begun; of the wall clock */
	int64_t least_trials;             /* that were completed */
	int64_t most_us, most_until_us;
	int64_t most_trials;
	int64_t idle_trials; /* so many have ended since the best one did, or at all */
	int64_t idle_us;
	bool interrupts; /* what runs when the search ends is stopped */
};

/* How far a search has come. */
struct study_progress {
	int64_t begun_us, now_us; /* monotonic, as best_us is */
	int64_t wall_us;          /* now, of the wall clock */
	size_t trials, completed;
	bool has_progress; /* those below count: there is one metric */
	size_t ended_since_best;
	int64_t best_us; /* when the best trial ended, or the search was begun */
};

/* Members that are not there, or not ours, are no rules. */
json_t *study_limits_to_json(const struct study_limits *limits);
struct study_limits study_limits_from_json(const json_t *value);
bool study_limits_any(const struct study_limits *limits);

/* How many more trials there may be: 0 when the search is over. */
size_t study_limits_room(const struct study_limits *limits, const struct study_progress *progress);
/* The next instant, monotonic, at which time alone may change that; 0: none. */
int64_t study_limits_next_us(const struct study_limits *limits, const struct study_progress *progress);
