/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/tuning/study.h"

#include "tests/unit/scheduler/tuning/tuning_testing.h"

static const char line[] =
	"{\"name\":\"x\",\"type\":\"double\",\"scale\":\"linear\",\"minimum\":0,\"maximum\":1}";

enum { STEPS = 20, TRIALS = 12 };

struct curves {
	struct study *study;
	struct trial trials[TRIALS];
	struct measurement measurements[TRIALS][STEPS];
};

/* Makes trials with losses that fall to a floor of their own; the last trial is still running. */
static void curves_open(struct curves *curves, const char *rule, double running_floor, size_t running_steps)
{
	*curves = (struct curves){ .study = study_of("random", line) };
	curves->study->stopping = strcmp(rule, "median") == 0 ? STOPPING_MEDIAN : STOPPING_DECAY_CURVE;
	for (size_t t = 0; t < TRIALS; t++) {
		struct trial *trial = &curves->trials[t];
		const bool running = t + 1 == TRIALS;
		const double floor = running ? running_floor : 0.1 + 0.05 * (double)t;

		trial->id = (unsigned)t + 1;
		trial->measurements = curves->measurements[t];
		trial->measurement_count = running ? running_steps : STEPS;
		for (size_t s = 0; s < trial->measurement_count; s++)
			trial->measurements[s] = (struct measurement){
				.step = (int64_t)s + 1,
				.elapsed_s = 100 - (double)t + (double)s,
				.values = { floor + exp(-(double)s / 4) +
					    0.003 * sin((double)(7 * t + 3 * s)) },
			};
		trial->state = running ? TRIAL_PENDING : TRIAL_COMPLETED;
		if (!running)
			trial->final[0] = trial->measurements[STEPS - 1].values[0];
	}
}

static bool stops(const char *rule, double floor, size_t steps)
{
	struct curves *curves = malloc(sizeof(*curves));
	bool stop;

	curves_open(curves, rule, floor, steps);
	stop = study_should_stop(curves->study, curves->trials, TRIALS, TRIALS - 1);
	study_free(curves->study);
	free(curves);
	return stop;
}

static void a_hopeless_trial_is_stopped_and_a_good_one_goes_on(void **state)
{
	(void)state;
	assert_true(stops("median", 3, 10));
	assert_false(stops("median", 0.05, 10));
	assert_true(stops("decay_curve", 1.5, 10));
	assert_false(stops("decay_curve", 0.05, 10));
}

static void little_knowledge_stops_nothing(void **state)
{
	(void)state;
	assert_false(stops("median", 3, 0));
	assert_false(stops("decay_curve", 1.5, 3));
}

/* The best so far is 2; the running means of the others at the same step are 1, 2 and 3. A value equal to the median is
 * not worse. */
static void the_median_is_of_running_means_and_equal_goes_on(void **state)
{
	struct measurement others[3][2], own[2];
	struct trial trials[4];
	struct study *study = study_of("random", line);

	(void)state;
	study->stopping = STOPPING_MEDIAN;
	for (size_t t = 0; t < 3; t++) {
		for (size_t s = 0; s < 2; s++)
			others[t][s] = (struct measurement){ .step = (int64_t)s,
							     .values = { (double)t + 0.5 + (double)s } };
		trials[t] = (struct trial){ .id = (unsigned)t + 1,
					    .state = TRIAL_COMPLETED,
					    .measurements = others[t],
					    .measurement_count = 2 };
	}
	own[0] = (struct measurement){ .step = 0, .values = { 5 } };
	own[1] = (struct measurement){ .step = 1, .values = { 2 } };
	trials[3] = (struct trial){ .id = 4, .measurements = own, .measurement_count = 2 };
	assert_false(study_should_stop(study, trials, 4, 3));
	own[1].values[0] = 2.0001;
	assert_true(study_should_stop(study, trials, 4, 3));
	trials[0].state = TRIAL_INFEASIBLE; /* means 2 and 3 remain */
	assert_false(study_should_stop(study, trials, 4, 3));
	study_free(study);
}

/* Six trials are completed at 0.9 after 10 steps; one runs, with reports at steps 1, 3 and 5. */
static bool convex_says(const struct convex_rule *rule, const double own[3], size_t completed)
{
	struct measurement ended = { .step = 10, .values = { 0.9 } }, reports[3];
	struct trial trials[7] = { 0 };
	AUTO(study) struct study *study = study_of("random", line);

	study->stopping = STOPPING_CONVEX;
	study->convex = *rule;
	study->metrics[0].minimized = false;
	for (size_t i = 0; i < completed; i++)
		trials[i] = (struct trial){ .id = (unsigned)i + 1,
					    .state = TRIAL_COMPLETED,
					    .final = { 0.9 },
					    .measurements = &ended,
					    .measurement_count = 1 };
	for (size_t i = 0; i < 3; i++)
		reports[i] = (struct measurement){ .step = 2 * (int64_t)i + 1, .values = { own[i] } };
	trials[completed] = (struct trial){ .id = (unsigned)completed + 1,
					    .measurements = reports,
					    .measurement_count = 3 };
	return study_should_stop(study, trials, completed + 1, completed);
}

static void a_curve_that_cannot_reach_the_best_any_more_is_stopped(void **state)
{
	const struct convex_rule rule = { .most = 10, .least = -1, .reports = 3 };
	const double slow[] = { 0, 0.2, 0.3 }, fast[] = { 0, 0.4, 0.6 };
	const double flat[] = { 0.1, 0.1, 0.1 }, falling[] = { 0.5, 0.4, 0.3 };

	(void)state;
	/* 0.3 + 5 * 0.05 = 0.55; 0.6 + 5 * 0.1 = 1.1 */
	assert_true(convex_says(&rule, slow, 6));
	assert_false(convex_says(&rule, fast, 6));
	assert_false(convex_says(&rule, flat, 6));
	assert_true(convex_says(&rule, falling, 6));
	/* The number of completed trials must exceed the number of required reports by one. */
	assert_true(convex_says(&rule, slow, 4));
	assert_false(convex_says(&rule, slow, 3));
	assert_false(convex_says(&(struct convex_rule){ 10, -1, 4 }, slow, 6));
	/* It is too early; without an explicit number, the steps at which trials end are learned. */
	assert_false(convex_says(&(struct convex_rule){ 10, 5, 3 }, slow, 6));
	assert_false(convex_says(&(struct convex_rule){ 50, -1, 3 }, slow, 6));
	assert_true(convex_says(&(struct convex_rule){ 0, -1, 3 }, slow, 6));
	assert_false(convex_says(&(struct convex_rule){ 1000, 0, 3 }, slow, 6));
}

static void a_convex_rule_survives_being_json(void **state)
{
	AUTO(study) struct study *study = study_of("random", line), *again = NULL;

	(void)state;
	study->stopping = STOPPING_CONVEX;
	study->convex = (struct convex_rule){ 100, -1, 5 };
	AUTO(json) json_t *value = study_to_json(study);

	assert_int_equal(study_from_json(value, &again, NULL), STATUS_OK);
	assert_true(again->convex.most == 100 && again->convex.least == -1 && again->convex.reports == 5);
	study_free(again);
	again = NULL;
	json_object_set_new(json_object_get(value, "convex"), "reports", json_integer(-1));
	assert_int_equal(study_from_json(value, &again, NULL), STATUS_INVALID_ARGUMENT);
}

static void the_final_measurement_is_the_last_or_the_best(void **state)
{
	struct measurement reports[] = { { .step = 1, .values = { 0.5 } },
					 { .step = 2, .values = { 0.2 } },
					 { .step = 3, .values = { 0.4 } },
					 { .step = 4, .values = { NAN } } };
	struct trial trial = { .id = 1, .measurements = reports, .measurement_count = 4 };
	struct study *study = study_of("random", line);
	struct measurement final;

	(void)state;
	assert_true(trial_final(study, &trial, &final));
	assert_int_equal(final.step, 3);
	study->best_counts = true;
	assert_true(trial_final(study, &trial, &final));
	assert_int_equal(final.step, 2);
	trial.measurement_count = 0;
	assert_false(trial_final(study, &trial, &final));
	study_free(study);
}

static void the_best_of_equals_came_first(void **state)
{
	struct trial trials[] = { { .id = 1, .state = TRIAL_INFEASIBLE, .final = { -5 } },
				  { .id = 2, .state = TRIAL_COMPLETED, .final = { NAN } },
				  { .id = 3, .state = TRIAL_COMPLETED, .final = { 0.3 } },
				  { .id = 4, .state = TRIAL_COMPLETED, .final = { 0.3 } },
				  { .id = 5, .state = TRIAL_PENDING, .final = { 0.1 } } };
	struct study *study = study_of("random", line);

	(void)state;
	assert_ptr_equal(study_best(study, trials, COUNT_OF(trials)), &trials[2]);
	assert_null(study_best(study, trials, 2));
	study->metrics[0].minimized = false;
	assert_ptr_equal(study_best(study, trials, COUNT_OF(trials)), &trials[2]);
	study_free(study);
}

static void what_is_no_number_is_no_report(void **state)
{
	static const double none[] = { NAN, INFINITY, -INFINITY };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(none); i++) {
		struct measurement final,
			reports[] = { { .step = 1, .values = { 3 } }, { .step = 2, .values = { none[i] } } };
		const struct trial trial = { .measurements = reports, .measurement_count = 2 };
		const struct trial trials[] = { { .id = 1, .state = TRIAL_COMPLETED, .final = { none[i] } } };
		AUTO(study) struct study *study = study_of("random", line);

		assert_true(trial_final(study, &trial, &final));
		assert_int_equal(final.step, 1);
		study->best_counts = true;
		assert_true(trial_final(study, &trial, &final));
		assert_int_equal(final.step, 1);
		assert_null(study_best(study, trials, 1));
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hopeless_trial_is_stopped_and_a_good_one_goes_on),
		cmocka_unit_test(little_knowledge_stops_nothing),
		cmocka_unit_test(the_median_is_of_running_means_and_equal_goes_on),
		cmocka_unit_test(a_curve_that_cannot_reach_the_best_any_more_is_stopped),
		cmocka_unit_test(a_convex_rule_survives_being_json),
		cmocka_unit_test(the_final_measurement_is_the_last_or_the_best),
		cmocka_unit_test(the_best_of_equals_came_first),
		cmocka_unit_test(what_is_no_number_is_no_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
