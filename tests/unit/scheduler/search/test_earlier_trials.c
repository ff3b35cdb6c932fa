/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/search/earlier_trials.h"

#include "scheduler/plan/plan.h"
#include "store/jobs/trials.h"
#include "tests/unit/scheduler/tuning/tuning_testing.h"

#define X    "{\"name\": \"x\", \"type\": \"double\", \"scale\": \"linear\", \"minimum\": 0, \"maximum\": 1}"
#define WIDE "{\"name\": \"x\", \"type\": \"double\", \"scale\": \"log\", \"minimum\": 1, \"maximum\": 9}"
#define N    "{\"name\": \"n\", \"type\": \"integer\", \"scale\": \"linear\", \"minimum\": 0, \"maximum\": 9}"
#define KIND(values)                                                                                         \
	"{\"name\": \"kind\", \"type\": \"categorical\", \"scale\": \"linear\", \"categories\": [" values "]}"

static void assert_continues(const char *from, const char *to, const char *fault)
{
	AUTO(study) struct study *before = study_of("bandit", from);
	AUTO(study) struct study *after = study_of("bandit", to);
	struct error err AUTO_ERROR = { 0 };

	assert_int_equal(study_continues(before, after, &err), fault ? STATUS_INVALID_ARGUMENT : STATUS_OK);
	if (fault)
		assert_non_null(strstr(err.text, fault));
}

static void a_study_continues_one_of_the_same_parameters(void **state)
{
	(void)state;
	assert_continues(X, X, NULL);
	assert_continues(X "," N, N "," WIDE, NULL);
	assert_continues(KIND("\"a\""), KIND("\"b\""), NULL);
	assert_continues(X "," N, X, "it has the parameter 'n'");
	assert_continues(X, X "," N, "it does not have the parameter 'n'");
	assert_continues(
		"{\"name\": \"n\", \"type\": \"double\", \"scale\": \"linear\", \"minimum\": 0, \"maximum\": 9}",
		N, "another type for the parameter 'n'");
}

static void a_study_continues_one_of_the_same_metric_and_goal(void **state)
{
	AUTO(study) struct study *before = study_of("bandit", X);
	AUTO(study) struct study *after = study_of("bandit", X);
	struct error goal AUTO_ERROR = { 0 };
	struct error name AUTO_ERROR = { 0 };

	(void)state;
	after->metrics[0].minimized = false;
	assert_int_equal(study_continues(before, after, &goal), STATUS_INVALID_ARGUMENT);
	assert_non_null(strstr(goal.text, "another goal for the metric 'loss'"));
	before->metrics[0].name[0] = 'b';
	assert_int_equal(study_continues(before, after, &name), STATUS_INVALID_ARGUMENT);
	assert_non_null(strstr(name.text, "its metric is 'boss'"));
}

static void values_are_carried_by_the_names_of_parameters_and_categories(void **state)
{
	AUTO(study) struct study *before = study_of("bandit", X "," KIND("\"a\", \"b\""));
	AUTO(study) struct study *after = study_of("bandit", KIND("\"c\", \"b\"") "," WIDE);
	double values[2];

	(void)state;
	assert_true(study_values_carry(before, (const double[]){ 0.25, 1 }, after, values));
	assert_true(values[0] == 1 && values[1] == 0.25);
	/* A category that no longer exists, and a value that is missing. */
	assert_false(study_values_carry(before, (const double[]){ 0.25, 0 }, after, values));
	assert_false(study_values_carry(before, (const double[]){ NAN, 1 }, after, values));
}

static void assert_taken(const struct stored_trial *stored, enum trial_state state, double final)
{
	AUTO(study) struct study *study = study_of("bandit", X);
	struct error err AUTO_ERROR = { 0 };
	struct trial trial;
	double values[1];

	assert_int_equal(trial_from_stored(study, stored, values, &trial, &err), STATUS_OK);
	assert_int_equal(trial.state, state);
	assert_true(trial.values == values && values[0] == 0.5);
	assert_true(isnan(final) ? isnan(trial.final[0]) : trial.final[0] == final);
	assert_true(isnan(trial.final[1]));
	assert_int_equal(trial.id, stored->number);
	assert_int_equal(trial.known, stored->known);
	assert_int_equal(trial.ended_as, stored->ended_as);
}

static void stored_trials_are_taken_by_their_outcomes(void **state)
{
	struct stored_trial stored = { .number = 3, .known = 1, .parameters = (char *)"[0.5]" };

	(void)state;
	assert_taken(&stored, TRIAL_PENDING, NAN);
	stored.ended_as = 2;
	stored.outcome = OUTCOME_COMPLETED;
	assert_taken(&stored, TRIAL_INFEASIBLE, NAN); /* it reported no measurement */
	stored.final = (char *)"[null]";
	assert_taken(&stored, TRIAL_INFEASIBLE, NAN);
	stored.final = (char *)"[0.75]";
	assert_taken(&stored, TRIAL_COMPLETED, 0.75);
	stored.outcome = OUTCOME_INFEASIBLE;
	assert_taken(&stored, TRIAL_INFEASIBLE, 0.75);
}

static void a_stored_trial_that_cannot_be_read_is_an_error(void **state)
{
	AUTO(study) struct study *study = study_of("bandit", X);
	static const struct stored_trial broken[] = {
		{ .number = 1, .parameters = (char *)"[0.5, 1]" },
		{ .number = 1, .parameters = (char *)"[" },
		{ .number = 1, .parameters = (char *)"[0.5]", .final = (char *)"{" },
	};
	struct trial trial;
	double values[1];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(broken); i++) {
		struct error err AUTO_ERROR = { 0 };

		assert_int_not_equal(trial_from_stored(study, &broken[i], values, &trial, &err), STATUS_OK);
	}
}

static void a_plan_that_resumes_nothing_has_no_earlier_trials(void **state)
{
	AUTO(study) struct study *study = study_of("bandit", X);
	AUTO(plan) struct plan *plan = plan_new();
	struct earlier_trials earlier;
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	assert_int_equal(earlier_trials_read(NULL, plan, study, &earlier, &err), STATUS_OK);
	assert_int_equal(earlier.count, 0);
	earlier_trials_deinit(&earlier);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_study_continues_one_of_the_same_parameters),
		cmocka_unit_test(a_study_continues_one_of_the_same_metric_and_goal),
		cmocka_unit_test(values_are_carried_by_the_names_of_parameters_and_categories),
		cmocka_unit_test(stored_trials_are_taken_by_their_outcomes),
		cmocka_unit_test(a_stored_trial_that_cannot_be_read_is_an_error),
		cmocka_unit_test(a_plan_that_resumes_nothing_has_no_earlier_trials),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
