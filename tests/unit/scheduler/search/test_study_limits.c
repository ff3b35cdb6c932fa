/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/search/study_limits.h"

#include "daemon/base/json.h"
#include "tests/unit/testing.h"

enum { S = 1000000 };

/* A search that began at 100 s: 3 of its 5 trials are completed; the best ended at 110 s, and 2 since. The wall clock
 * is 1000 s ahead of the monotonic clock. */
static struct study_progress progress_at(int64_t now_s)
{
	return (struct study_progress){ .begun_us = 100 * S,
					.now_us = now_s * S,
					.wall_us = (now_s + 1000) * S,
					.trials = 5,
					.completed = 3,
					.has_progress = true,
					.ended_since_best = 2,
					.best_us = 110 * S };
}

static void each_rule_ends_the_search_alone(void **state)
{
	static const struct {
		struct study_limits limits;
		int64_t now_s;
		size_t room;
		int64_t next_s;
	} rows[] = {
		{ { 0 }, 120, SIZE_MAX, 0 },
		{ { .most_trials = 7 }, 120, 2, 0 },
		{ { .most_trials = 5 }, 120, 0, 0 },
		{ { .most_trials = 3 }, 120, 0, 0 },
		{ { .most_us = 21 * S }, 120, SIZE_MAX, 121 },
		{ { .most_us = 20 * S }, 120, 0, 0 },
		{ { .most_until_us = 1120 * S }, 119, SIZE_MAX, 120 },
		{ { .most_until_us = 1120 * S }, 120, 0, 0 },
		{ { .idle_trials = 3 }, 120, SIZE_MAX, 0 },
		{ { .idle_trials = 2 }, 120, 0, 0 },
		{ { .idle_us = 11 * S }, 120, SIZE_MAX, 121 },
		{ { .idle_us = 10 * S }, 120, 0, 0 },
		/* Until each minimum is reached, no other condition counts. */
		{ { .least_trials = 4, .most_trials = 1 }, 120, SIZE_MAX, 0 },
		{ { .least_trials = 3, .most_trials = 1 }, 120, 0, 0 },
		{ { .least_us = 21 * S, .most_us = S }, 120, SIZE_MAX, 121 },
		{ { .least_us = 20 * S, .most_us = S }, 120, 0, 0 },
		{ { .least_until_us = 1130 * S, .idle_trials = 1 }, 120, SIZE_MAX, 130 },
		{ { .least_until_us = 1120 * S, .idle_trials = 1 }, 120, 0, 0 },
		{ { .most_us = INT64_MAX }, 120, SIZE_MAX, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct study_progress progress = progress_at(rows[i].now_s);

		if (study_limits_room(&rows[i].limits, &progress) != rows[i].room ||
		    study_limits_next_us(&rows[i].limits, &progress) != rows[i].next_s * S)
			fail_msg("row %zu", i);
	}
}

static void progress_does_not_count_with_several_metrics(void **state)
{
	const struct study_limits limits = { .idle_trials = 1, .idle_us = 1 };
	struct study_progress progress = progress_at(120);

	(void)state;
	progress.has_progress = false;
	assert_true(study_limits_room(&limits, &progress) == SIZE_MAX);
	assert_int_equal(study_limits_next_us(&limits, &progress), 0);
}

static void limits_survive_being_json(void **state)
{
	const struct study_limits limits = { 1, 2, 3, 4, 5, 6, 7, 8, true };
	AUTO(json) json_t *value = study_limits_to_json(&limits);
	const struct study_limits again = study_limits_from_json(value);
	const struct study_limits none = study_limits_from_json(NULL);

	(void)state;
	assert_true(again.least_us == 1 && again.least_until_us == 2 && again.least_trials == 3);
	assert_true(again.most_us == 4 && again.most_until_us == 5 && again.most_trials == 6);
	assert_true(again.idle_trials == 7 && again.idle_us == 8 && again.interrupts);
	assert_true(study_limits_any(&again));
	assert_false(study_limits_any(&none) || none.interrupts);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_rule_ends_the_search_alone),
		cmocka_unit_test(progress_does_not_count_with_several_metrics),
		cmocka_unit_test(limits_survive_being_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
