/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/tuning/measurements.h"

#include "tests/unit/scheduler/tuning/tuning_testing.h"

static struct metric metrics[] = { { .name = (char *)"accuracy" }, { .name = (char *)"loss" } };
static const struct study study = { .metrics = metrics, .metric_count = 2 };

static void add(struct measurements *measurements, int64_t step, double accuracy, double loss)
{
	struct measurement next = { .step = step, .elapsed_s = (double)step / 4 };

	for (size_t m = 0; m < METRICS_MAX; m++)
		next.values[m] = NAN;
	next.values[0] = accuracy;
	next.values[1] = loss;
	measurements_add(measurements, &next);
}

static void rising(struct measurements *measurements, int64_t from, int64_t to)
{
	for (int64_t step = from; step <= to; step++)
		add(measurements, step, (double)step / 1e6, NAN);
}

static void few_are_kept_as_they_are(void **state)
{
	struct measurements measurements AUTO_MEASUREMENTS;

	(void)state;
	measurements_init(&measurements, &study);
	rising(&measurements, 1, MEASUREMENTS_MAX);
	assert_int_equal(measurements.count, MEASUREMENTS_MAX);
	assert_int_equal(measurements.stride, 1);
	for (size_t i = 0; i < measurements.count; i++)
		assert_int_equal(measurements.all[i].step, i + 1);
}

static void of_many_evenly_chosen_ones_are_kept(void **state)
{
	struct measurements measurements AUTO_MEASUREMENTS;

	(void)state;
	measurements_init(&measurements, &study);
	for (int64_t reported = 1; reported <= 10000; reported++) {
		rising(&measurements, reported, reported);
		assert_true(measurements.count <= MEASUREMENTS_MAX);
		assert_int_equal(measurements.all[measurements.count - 1].step, reported);
	}
	assert_int_equal(measurements.reported, 10000);
	assert_int_equal(measurements.stride, 16);
	/* Ordinals from 0: steps 1, 17, 33... and the last. */
	assert_int_equal(measurements.count, 626);
	for (size_t i = 0; i < 625; i++)
		assert_int_equal(measurements.all[i].step, i * 16 + 1);
}

static void the_best_one_is_never_lost(void **state)
{
	(void)state;
	for (int minimized = 0; minimized < 2; minimized++) {
		struct measurements measurements AUTO_MEASUREMENTS;
		struct measurement final;
		struct study best = study;

		metrics[0].minimized = minimized;
		best.best_counts = true;
		measurements_init(&measurements, &best);
		rising(&measurements, 1, 700);
		add(&measurements, 701, minimized ? -9 : 9, NAN);
		add(&measurements, 702, minimized ? -9 : 9, NAN);
		rising(&measurements, 703, 5000);
		assert_true(trial_final(&best,
					&(struct trial){ .measurements = measurements.all,
							 .measurement_count = measurements.count },
					&final));
		assert_int_equal(final.step, 701);
	}
	metrics[0].minimized = false;
}

static void the_last_value_of_the_first_metric_is_never_lost(void **state)
{
	struct measurements measurements AUTO_MEASUREMENTS;
	struct measurement final;

	(void)state;
	measurements_init(&measurements, &study);
	rising(&measurements, 1, 1002);
	add(&measurements, 1003, 0.25, NAN);
	for (int64_t step = 1004; step <= 4000; step++)
		add(&measurements, step, NAN, 1);
	assert_true(trial_final(
		&study,
		&(struct trial){ .measurements = measurements.all, .measurement_count = measurements.count },
		&final));
	assert_int_equal(final.step, 1003);
	assert_int_equal(measurements.all[measurements.count - 1].step, 4000);
	assert_true(measurements.count <= MEASUREMENTS_MAX);
}

static void steps_do_not_go_back_and_are_completed(void **state)
{
	struct measurements measurements AUTO_MEASUREMENTS;

	(void)state;
	measurements_init(&measurements, &study);
	add(&measurements, 5, NAN, 1);
	add(&measurements, 4, 0.5, 1);
	add(&measurements, 5, 0.5, NAN);
	assert_int_equal(measurements.count, 1);
	assert_int_equal(measurements.best, 0);
	assert_true(measurements.all[0].values[0] == 0.5 && measurements.all[0].values[1] == 1);
	add(&measurements, 5, 0.75, NAN);
	assert_int_equal(measurements.count, 2);
}

static void copy(const struct measurements *from, struct measurements *to)
{
	AUTO(json) json_t *value = measurements_to_json(from);
	AUTO(string) char *text = json_dump_compact(value);
	AUTO(json) json_t *again = json_loads(text, 0, NULL);
	struct error err AUTO_ERROR = { 0 };

	measurements_init(to, &study);
	assert_int_equal(measurements_from_json(again, to, &err), STATUS_OK);
}

static void assert_same(const struct measurements *a, const struct measurements *b)
{
	assert_int_equal(a->count, b->count);
	assert_int_equal(a->reported, b->reported);
	assert_int_equal(a->stride, b->stride);
	assert_true(a->best == b->best && a->last_valued == b->last_valued);
	for (size_t i = 0; i < a->count; i++) {
		assert_int_equal(a->ordinals[i], b->ordinals[i]);
		assert_int_equal(a->all[i].step, b->all[i].step);
		assert_true(a->all[i].elapsed_s == b->all[i].elapsed_s);
		for (size_t m = 0; m < METRICS_MAX; m++)
			assert_true(a->all[i].values[m] == b->all[i].values[m] ||
				    (isnan(a->all[i].values[m]) && isnan(b->all[i].values[m])));
	}
}

/* One that goes to the store and back again and again ends as one that does not. */
static void as_text_and_back_nothing_changes(void **state)
{
	struct measurements straight AUTO_MEASUREMENTS;
	struct measurements stored AUTO_MEASUREMENTS;

	(void)state;
	measurements_init(&straight, &study);
	measurements_init(&stored, &study);
	for (int64_t step = 1; step <= 5000; step++) {
		const double value = sin((double)step * 1.7) / 3;

		add(&straight, step, step % 7 ? value : NAN, step % 7 ? NAN : value);
		add(&stored, step, step % 7 ? value : NAN, step % 7 ? NAN : value);
		if (step % 97 == 0) {
			struct measurements next;

			copy(&stored, &next);
			measurements_deinit(&stored);
			stored = next;
		}
	}
	assert_same(&straight, &stored);
}

static void what_is_not_ours_is_refused(void **state)
{
	static const char *const texts[] = {
		"{}",
		"[]",
		"{\"reported\": 1, \"stride\": 0, \"points\": []}",
		"{\"reported\": -1, \"stride\": 1, \"points\": []}",
		"{\"reported\": 1, \"stride\": 1, \"points\": {}}",
		"{\"reported\": 1, \"stride\": 1, \"points\": [1]}",
		"{\"reported\": 1, \"stride\": 1, \"points\": [[0, 1, 0.5, 1]]}",
		"{\"reported\": 1, \"stride\": 1, \"points\": [[0, 1, \"0.5\", 1, 2]]}",
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		AUTO(json) json_t *value = json_loads(texts[i], 0, NULL);
		struct measurements measurements AUTO_MEASUREMENTS;
		struct error err AUTO_ERROR = { 0 };

		measurements_init(&measurements, &study);
		assert_int_equal(measurements_from_json(value, &measurements, &err), STATUS_INVALID_ARGUMENT);
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_are_kept_as_they_are),
		cmocka_unit_test(of_many_evenly_chosen_ones_are_kept),
		cmocka_unit_test(the_best_one_is_never_lost),
		cmocka_unit_test(the_last_value_of_the_first_metric_is_never_lost),
		cmocka_unit_test(steps_do_not_go_back_and_are_completed),
		cmocka_unit_test(as_text_and_back_nothing_changes),
		cmocka_unit_test(what_is_not_ours_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
