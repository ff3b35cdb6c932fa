/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/wakes.h"

#include <stdio.h>
#include <stdlib.h>

#include "scheduler/job_entry.h"
#include "tests/unit/testing.h"

enum { JOBS = 40, HISTORIES = 2000, EVENTS = 200, MOMENTS = 50 };

/* What the list and the heap must say, kept the simple way. */
struct model {
	struct job_entry entries[JOBS];
	struct job_entry *touched[JOBS]; /* in this order */
	size_t touched_count;
	int64_t at_us[JOBS];
	bool gone[JOBS];
};

static void model_touch(struct model *model, struct job_entry *entry)
{
	for (size_t i = 0; i < model->touched_count; i++)
		if (model->touched[i] == entry)
			return;
	model->touched[model->touched_count++] = entry;
}

static void model_untouch(struct model *model, const struct job_entry *entry)
{
	size_t kept = 0;

	for (size_t i = 0; i < model->touched_count; i++)
		if (model->touched[i] != entry)
			model->touched[kept++] = model->touched[i];
	model->touched_count = kept;
}

static int64_t model_first_us(const struct model *model)
{
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < JOBS; i++)
		first = model->at_us[i] < first ? model->at_us[i] : first;
	return first;
}

/* Those that are touched by time come in the order of their times, equal ones in any: compared as sets. */
static void expire_check(struct model *model, struct wakes *wakes, int64_t now_us)
{
	wakes_expire(wakes, now_us);
	for (size_t i = 0; i < JOBS; i++) {
		if (model->at_us[i] > now_us)
			continue;
		model->at_us[i] = INT64_MAX;
		model_touch(model, &model->entries[i]);
		assert_true(model->entries[i].wake.touched);
	}
	while (model->touched_count) {
		struct job_entry *entry = wakes_take(wakes);

		assert_non_null(entry);
		model_untouch(model, entry);
	}
	assert_null(wakes_take(wakes));
}

static void history_run(unsigned seed)
{
	struct model model = { 0 };
	struct wakes wakes = { 0 };

	wakes_reserve(&wakes, JOBS);
	for (size_t i = 0; i < JOBS; i++) {
		model.entries[i].wake.wakes = &wakes;
		model.at_us[i] = INT64_MAX;
	}
	for (int event = 0; event < EVENTS; event++) {
		const size_t at = (size_t)rand_r(&seed) % JOBS;
		struct job_entry *entry = &model.entries[at];
		const int what = rand_r(&seed) % 8;

		if (what == 0) {
			expire_check(&model, &wakes, rand_r(&seed) % MOMENTS);
		} else if (what == 1 && model.touched_count) {
			assert_ptr_equal(wakes_take(&wakes), model.touched[0]);
			model_untouch(&model, model.touched[0]);
		} else if (what == 2) {
			wakes_forget(&wakes, entry);
			model_untouch(&model, entry);
			model.at_us[at] = INT64_MAX;
			model.gone[at] = true;
		} else if (model.gone[at]) {
			continue;
		} else if (what == 3 || what == 4) {
			job_entry_touch(entry);
			model_touch(&model, entry);
		} else {
			model.at_us[at] = what == 5 ? INT64_MAX : rand_r(&seed) % MOMENTS;
			wakes_set(&wakes, entry, model.at_us[at]);
		}
		assert_int_equal(wakes_first_us(&wakes), model_first_us(&model));
	}
	wakes_deinit(&wakes);
}

/* Fails with: heap_restore() that never moves a job up: a job was woken late. */
static void jobs_are_woken_in_time_and_in_the_order_in_which_they_were_touched(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= HISTORIES; seed++)
		history_run(seed);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_are_woken_in_time_and_in_the_order_in_which_they_were_touched),
	};

	return cmocka_run_group_tests_name("wakes", tests, NULL, NULL);
}
