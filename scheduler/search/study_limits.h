/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/study_limits.h: conditions that end a search, beside the number of its trials.
 *
 * Before each suggestion the rules are checked: while a minimum rule is not met, no other rule counts; after that the
 * first rule that holds ends the search.
 * Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/StudySpec#StudyStoppingConfig (read 2026-11-22)
 * Pure. Thread: any. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The rules that end a search; a member that is 0 is no rule. */
struct study_limits {
	int64_t least_us, least_until_us; /* a time since the search began; a time of the wall clock */
	int64_t least_trials;             /* minimum number of completed trials */
	int64_t most_us, most_until_us;
	int64_t most_trials;
	int64_t idle_trials; /* maximum number of trials that may end after the best one, or after the beginning */
	int64_t idle_us;
	bool interrupts; /* trials that run when the search ends are stopped */
};

/* The progress of a search. */
struct study_progress {
	int64_t begun_us, now_us; /* monotonic, as best_us is */
	int64_t wall_us;          /* the present wall clock */
	size_t trials, completed;
	bool has_progress; /* the members below are set: the study has one metric */
	size_t ended_since_best;
	int64_t best_us; /* when the best trial ended, or the search began */
};

/* Converts to JSON, and back. Missing or unknown members are no rules. */
json_t *study_limits_to_json(const struct study_limits *limits);
struct study_limits study_limits_from_json(const json_t *value);
bool study_limits_any(const struct study_limits *limits);

/* How many more trials are allowed; 0: the search is over. */
size_t study_limits_room(const struct study_limits *limits, const struct study_progress *progress);
/* The next instant (monotonic) at which the passing of time may change study_limits_room(); 0: none. */
int64_t study_limits_next_us(const struct study_limits *limits, const struct study_progress *progress);
