/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/tuning/study.h"

#include <time.h>

#include "tests/unit/scheduler/tuning/tuning_testing.h"

#define DOUBLE(NAME, LOW, HIGH, SCALE)                                                                       \
	"{\"name\":\"" NAME "\",\"type\":\"double\",\"scale\":\"" SCALE "\",\"minimum\":" LOW                \
	",\"maximum\":" HIGH "}"
#define INTEGER(NAME, LOW, HIGH)                                                                             \
	"{\"name\":\"" NAME "\",\"type\":\"integer\",\"scale\":\"linear\",\"minimum\":" LOW                  \
	",\"maximum\":" HIGH "}"

static const char mixture[] = DOUBLE("rate", "1e-6", "1", "log") "," INTEGER("units", "4", "64") "," DOUBLE(
	"decay", "0.5", "0.999",
	"reverse_log") ","
		       "{\"name\":\"kind\",\"type\":\"categorical\",\"scale\":\"linear\","
		       "\"categories\":[\"a\",\"b\",\"c\"]},"
		       "{\"name\":\"batch\",\"type\":\"discrete\",\"scale\":\"linear\","
		       "\"values\":[16,32,64.5]}";

static void is_inside(const struct study *study, const struct trial *trial)
{
	for (size_t i = 0; i < study->parameter_count; i++) {
		const struct parameter *parameter = &study->parameters[i];
		const double value = trial->values[i];
		bool listed = parameter->type != PARAMETER_DISCRETE;

		if (!parameter_is_active(study, i, trial->values)) {
			assert_true(isnan(value));
			continue;
		}
		if (parameter->type == PARAMETER_CATEGORICAL) {
			assert_true(value == floor(value) && value >= 0 &&
				    value < (double)parameter->value_count);
			continue;
		}
		assert_true(value >= parameter->minimum && value <= parameter->maximum);
		assert_true(parameter->type != PARAMETER_INTEGER || value == floor(value));
		for (size_t v = 0; parameter->type == PARAMETER_DISCRETE && v < parameter->value_count; v++)
			listed |= parameter->values[v] == value;
		assert_true(listed);
	}
}

static double loss_of(const double *values)
{
	return pow(log10(values[0]) + 3, 2) + pow(values[1] / 64 - 0.4, 2) + pow(values[2] - 0.9, 2) +
	       (values[3] == 1 ? 0 : 0.5) + fabs(values[4] - 32) / 64;
}

/* Four at a time; now and then one fails. */
static void mixture_run(struct trials *trials, unsigned count)
{
	struct trial *pending[4] = { 0 };

	for (unsigned i = 0; i < count; i++) {
		struct trial **slot = &pending[i % 4];

		if (*slot)
			trials_end(trials, *slot, i % 9 == 8 ? NAN : loss_of((*slot)->values));
		*slot = trials_suggest(trials);
		assert_non_null(*slot);
		is_inside(trials->study, *slot);
	}
}

static void suggestions_are_possible_and_the_same_again(void **state)
{
	struct study *study = study_of("bandit", mixture);
	struct trials *one = calloc(1, sizeof(*one)), *other = calloc(1, sizeof(*other));

	(void)state;
	one->study = other->study = study;
	mixture_run(one, 40);
	mixture_run(other, 40);
	assert_memory_equal(one->values, other->values, sizeof(one->values));
	for (size_t i = 0; i < one->count; i++)
		for (size_t j = 0; j < i; j++)
			assert_memory_not_equal(one->values[i], one->values[j], 5 * sizeof(double));
	free(one);
	free(other);
	study_free(study);
}

/* What became of them in between does not matter, only what is known now. */
static void a_suggestion_asked_for_twice_is_the_same(void **state)
{
	struct study *study = study_of("bandit", mixture);
	struct trials *trials = calloc(1, sizeof(*trials));
	double first[8], second[8], *a[] = { first }, *b[] = { second };
	size_t count;

	(void)state;
	trials->study = study;
	mixture_run(trials, 13);
	assert_int_equal(study_suggest(study, trials->list, trials->count, 1, NULL, a, &count, NULL),
			 STATUS_OK);
	assert_int_equal(study_suggest(study, trials->list, trials->count, 1, NULL, b, &count, NULL),
			 STATUS_OK);
	assert_memory_equal(first, second, study->parameter_count * sizeof(double));
	free(trials);
	study_free(study);
}

static double best_of(const char *algorithm)
{
	struct study *study = study_of(algorithm, mixture);
	struct trials *trials = calloc(1, sizeof(*trials));
	double best = INFINITY;

	trials->study = study;
	for (unsigned i = 0; i < 40; i++) {
		struct trial *trial = trials_suggest(trials);

		trials_end(trials, trial, loss_of(trial->values));
		best = fmin(best, loss_of(trial->values));
	}
	free(trials);
	study_free(study);
	return best;
}

static void the_bandit_finds_what_chance_does_not(void **state)
{
	(void)state;
	assert_true(best_of("bandit") < 0.1 * best_of("random"));
}

/* Only the order of results and their ratios count: growing all of them changes nothing. */
static void units_of_the_metric_do_not_matter(void **state)
{
	struct study *study = study_of("bandit", mixture);
	struct trials *small = calloc(1, sizeof(*small)), *large = calloc(1, sizeof(*large));

	(void)state;
	small->study = large->study = study;
	for (unsigned i = 0; i < 15; i++) {
		struct trial *one = trials_suggest(small), *other = trials_suggest(large);

		assert_memory_equal(one->values, other->values, study->parameter_count * sizeof(double));
		trials_end(small, one, loss_of(one->values));
		trials_end(large, other, ldexp(loss_of(other->values), 900));
	}
	free(small);
	free(large);
	study_free(study);
}

static void strange_results_are_survived(void **state)
{
	static const double results[] = { 1e300, -1e300,   0,         0, 0, 1e-300, NAN,
					  NAN,   INFINITY, -INFINITY, 5, 5, 5,      5 };
	struct study *study = study_of("bandit", mixture);
	struct trials *trials = calloc(1, sizeof(*trials));

	(void)state;
	trials->study = study;
	for (size_t i = 0; i < COUNT_OF(results); i++) {
		struct trial *trial = trials_suggest(trials);

		is_inside(study, trial);
		trials_end(trials, trial, results[i]);
	}
	free(trials);
	study_free(study);
}

static void all_failures_or_all_the_same_is_explored_on(void **state)
{
	const double results[] = { NAN, 3 };
	struct study *study = study_of("bandit", mixture);

	(void)state;
	for (size_t r = 0; r < COUNT_OF(results); r++) {
		struct trials *trials = calloc(1, sizeof(*trials));

		trials->study = study;
		for (unsigned i = 0; i < 10; i++)
			trials_end(trials, trials_suggest(trials), results[r]);
		free(trials);
	}
	study_free(study);
}

static void a_finite_space_is_tried_once_and_ends(void **state)
{
	static const char *const algorithms[] = { "bandit", "grid" };

	(void)state;
	for (size_t a = 0; a < COUNT_OF(algorithms); a++) {
		struct study *study =
			study_of(algorithms[a], INTEGER("x", "1", "3") "," INTEGER("y", "5", "8"));
		struct trials *trials = calloc(1, sizeof(*trials));
		bool seen[3][4] = { 0 };

		trials->study = study;
		for (unsigned i = 0; i < 12; i++) {
			struct trial *trial = trials_suggest(trials);

			assert_non_null(trial);
			assert_false(seen[(int)trial->values[0] - 1][(int)trial->values[1] - 5]);
			seen[(int)trial->values[0] - 1][(int)trial->values[1] - 5] = true;
			trials_end(trials, trial, trial->values[0]);
		}
		assert_null(trials_suggest(trials));
		free(trials);
		study_free(study);
	}
}

static void a_grid_turns_its_first_parameter_fastest(void **state)
{
	struct study *study = study_of("grid", INTEGER("x", "1", "2") "," INTEGER("y", "5", "6"));
	static const double expected[4][2] = { { 1, 5 }, { 2, 5 }, { 1, 6 }, { 2, 6 } };
	struct trials *trials = calloc(1, sizeof(*trials));

	(void)state;
	trials->study = study;
	for (size_t i = 0; i < 4; i++)
		assert_memory_equal(trials_suggest(trials)->values, expected[i], sizeof(expected[i]));
	free(trials);
	study_free(study);
}

static void children_are_given_only_where_their_parent_has_their_value(void **state)
{
	struct study *study = study_of(
		"bandit", "{\"name\":\"kind\",\"type\":\"categorical\",\"scale\":\"linear\","
			  "\"categories\":[\"sgd\",\"adam\"]},"
			  "{\"name\":\"momentum\",\"type\":\"double\",\"scale\":\"linear\",\"minimum\":0,"
			  "\"maximum\":1,\"parent\":0,\"parent_values\":[0]},"
			  "{\"name\":\"beta\",\"type\":\"double\",\"scale\":\"linear\",\"minimum\":0,"
			  "\"maximum\":1,\"parent\":0,\"parent_values\":[1]}");
	struct trials *trials = calloc(1, sizeof(*trials));
	unsigned kinds[2] = { 0 };

	(void)state;
	trials->study = study;
	for (unsigned i = 0; i < 20; i++) {
		struct trial *trial = trials_suggest(trials);

		is_inside(study, trial);
		kinds[(int)trial->values[0]]++;
		trials_end(trials, trial,
			   trial->values[0] == 0 ? pow(trial->values[1] - 0.2, 2) : 1 + trial->values[2]);
	}
	assert_true(kinds[0] && kinds[1] && kinds[0] > kinds[1]);
	free(trials);
	study_free(study);
}

/* A batch asked for at once spreads out. */
static void a_first_batch_has_the_middle_and_points_apart(void **state)
{
	struct study *study =
		study_of("bandit", DOUBLE("x", "0", "1", "linear") "," DOUBLE("y", "0", "1", "linear"));
	double values[5][2], *rows[5] = { values[0], values[1], values[2], values[3], values[4] };
	size_t count;

	(void)state;
	assert_int_equal(study_suggest(study, NULL, 0, 5, NULL, rows, &count, NULL), STATUS_OK);
	assert_int_equal(count, 5);
	assert_true(values[0][0] == 0.5 && values[0][1] == 0.5);
	for (size_t i = 0; i < 5; i++)
		for (size_t j = 0; j < i; j++)
			assert_true(hypot(values[i][0] - values[j][0], values[i][1] - values[j][1]) > 0.02);
	study_free(study);
}

static void many_trials_are_learned_from(void **state)
{
	struct study *study =
		study_of("random", DOUBLE("x", "0", "1", "linear") "," DOUBLE("y", "0", "1", "linear"));
	struct trials *trials = calloc(1, sizeof(*trials));

	(void)state;
	trials->study = study;
	for (unsigned i = 0; i < 1000; i++) {
		struct trial *trial = trials_suggest(trials);

		trials_end(trials, trial, hypot(trial->values[0] - 0.3, trial->values[1] - 0.6));
	}
	study->algorithm = ALGORITHM_BANDIT;
	is_inside(study, trials_suggest(trials));
	free(trials);
	study_free(study);
}

/* Two metrics that cannot both be at their best: how far the point is from either end of a line. */
static void two_metrics_end(struct trials *trials, struct trial *trial)
{
	const double x = trial->values[0], away = pow(trial->values[1] - 0.7, 2);

	trials_end(trials, trial, 2 * x * x + away);
	trial->final[1] = 2 * pow(x - 1, 2) + away;
}

static struct study *two_metrics_study(const char *algorithm)
{
	struct study *study =
		study_of(algorithm, DOUBLE("x", "0", "1", "linear") "," DOUBLE("y", "0", "1", "linear"));

	free(study->metrics[0].name);
	study->metrics = realloc(study->metrics, 2 * sizeof(*study->metrics));
	study->metrics[0] = (struct metric){ strdup("left"), true };
	study->metrics[1] = (struct metric){ strdup("right"), true };
	study->metric_count = 2;
	return study;
}

static int compare_first(const void *a, const void *b)
{
	const struct trial *x = a, *y = b;

	return (x->final[0] > y->final[0]) - (x->final[0] < y->final[0]);
}

/* The area between the trials and the corner where both metrics are 3. */
static double area_of(struct trials *trials)
{
	double area = 0, lowest = 3;

	qsort(trials->list, trials->count, sizeof(trials->list[0]), compare_first);
	for (size_t i = 0; i < trials->count; i++) {
		if (trials->list[i].final[1] >= lowest)
			continue;
		area += (3 - trials->list[i].final[0]) * (lowest - trials->list[i].final[1]);
		lowest = trials->list[i].final[1];
	}
	return area;
}

static double area_after(const char *algorithm, unsigned count)
{
	struct study *study = two_metrics_study(algorithm);
	struct trials *trials = calloc(1, sizeof(*trials));
	double area;

	trials->study = study;
	for (unsigned i = 0; i < count; i++) {
		struct trial *trial = trials_suggest(trials);

		is_inside(study, trial);
		two_metrics_end(trials, trial);
	}
	area = area_of(trials);
	free(trials);
	study_free(study);
	return area;
}

/* All that can be had is 9 less what lies below the curve sqrt(l / 2) + sqrt(r / 2) = 1, a sixth of 2 * 2. */
static void several_metrics_are_traded_against_each_other(void **state)
{
	const double all = 9 - 4.0 / 6, bandit = area_after("bandit", 30), chance = area_after("random", 30);

	(void)state;
	assert_true(bandit <= all);
	assert_true(all - bandit < 0.5 * (all - chance));
	assert_true(all - bandit < 0.03 * all);
}

static void a_batch_of_several_metrics_repeats_nothing(void **state)
{
	struct study *study = two_metrics_study("bandit");
	struct trials *trials = calloc(1, sizeof(*trials));
	double values[4][2], *rows[4] = { values[0], values[1], values[2], values[3] };
	size_t count;

	(void)state;
	trials->study = study;
	for (unsigned i = 0; i < 8; i++)
		two_metrics_end(trials, trials_suggest(trials));
	assert_int_equal(study_suggest(study, trials->list, trials->count, 4, NULL, rows, &count, NULL),
			 STATUS_OK);
	assert_int_equal(count, 4);
	for (size_t i = 0; i < 4; i++)
		for (size_t j = 0; j < i; j++)
			assert_true(hypot(values[i][0] - values[j][0], values[i][1] - values[j][1]) > 1e-9);
	free(trials);
	study_free(study);
}

/* Every neighbour of a point in the largest space that can be would take minutes. */
static void the_largest_space_takes_moments(void **state)
{
	enum { TRIALS = 20 };
	AUTO(study) struct study *study = calloc(1, sizeof(*study));
	struct trial trials[TRIALS] = { 0 };
	double *values = calloc((TRIALS + 1) * PARAMETERS_MAX, sizeof(double)), *row = values;
	const clock_t begin = clock();
	size_t count;

	(void)state;
	study->algorithm = ALGORITHM_BANDIT;
	study->metrics = calloc(1, sizeof(*study->metrics));
	study->metric_count = 1;
	study->parameters = calloc(PARAMETERS_MAX, sizeof(*study->parameters));
	study->parameter_count = PARAMETERS_MAX;
	for (size_t i = 0; i < PARAMETERS_MAX; i++)
		study->parameters[i] = (struct parameter){ .type = PARAMETER_CATEGORICAL,
							   .value_count = PARAMETER_VALUES_MAX,
							   .parent = -1 };
	for (size_t t = 0; t < TRIALS; t++, row += PARAMETERS_MAX) {
		for (size_t i = 0; i < PARAMETERS_MAX; i++)
			row[i] = (double)((t * 7 + i * 13) % PARAMETER_VALUES_MAX);
		trials[t] = (struct trial){ .id = (unsigned)t + 1,
					    .state = TRIAL_COMPLETED,
					    .values = row,
					    .final = { (double)(t * 11 % TRIALS) } };
	}
	assert_int_equal(study_suggest(study, trials, TRIALS, 1, NULL, &row, &count, NULL), STATUS_OK);
	assert_int_equal(count, 1);
	assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 20);
	free(values);
}

static void nothing_asked_for_is_nothing_given(void **state)
{
	struct study *study = study_of("bandit", mixture);
	size_t count = 7;

	(void)state;
	assert_int_equal(study_suggest(study, NULL, 0, 0, NULL, NULL, &count, NULL), STATUS_OK);
	assert_int_equal(count, 0);
	study_free(study);
}

static void beliefs_follow_what_was_measured(void **state)
{
	static const char x[] =
		"{\"name\": \"x\", \"type\": \"double\", \"scale\": \"linear\", \"minimum\": 0, \"maximum\": 1}";
	AUTO(study) struct study *study = study_of("bandit", x);
	struct trials *trials = calloc(1, sizeof(*trials));
	struct belief beliefs[16];
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	trials->study = study;
	for (unsigned i = 0; i < 15; i++) {
		const double value = i / 14.0;
		struct trial *trial = trials_add(trials, &value);

		trials_end(trials, trial, i == 3 ? NAN : 100 * pow(value - 0.4, 2));
	}
	trials_add(trials, (const double[]){ 0.5 });
	assert_int_equal(study_believe(study, trials->list, trials->count, beliefs, &err), STATUS_OK);
	for (unsigned i = 0; i < 16; i++)
		assert_true(isfinite(beliefs[i].mean) && beliefs[i].deviation >= 0);
	/* A pending one lies between its neighbours, and a good one is told from a bad one. */
	assert_true(beliefs[15].mean > -10 && beliefs[15].mean < 20);
	assert_true(beliefs[6].mean < beliefs[14].mean);
	/* With one value, or another algorithm, there is no model. */
	assert_int_equal(study_believe(study, trials->list, 1, beliefs, &err), STATUS_OK);
	assert_true(isnan(beliefs[0].mean));
	study->algorithm = ALGORITHM_RANDOM;
	assert_int_equal(study_believe(study, trials->list, trials->count, beliefs, &err), STATUS_OK);
	assert_true(isnan(beliefs[6].mean));
	free(trials);
}

static void a_grid_leaves_out_what_an_earlier_study_tried(void **state)
{
	static const char n[] =
		"{\"name\": \"n\", \"type\": \"integer\", \"scale\": \"linear\", \"minimum\": 1, \"maximum\": 4}";
	AUTO(study) struct study *study = study_of("grid", n);
	struct trials *trials = calloc(1, sizeof(*trials));

	(void)state;
	trials->study = study;
	/* One that is no point of the grid, and one in its middle. */
	trials_end(trials, trials_add(trials, (const double[]){ 9 }), 1);
	trials_end(trials, trials_add(trials, (const double[]){ 2 }), 1);
	assert_true(trials_suggest(trials)->values[0] == 1);
	assert_true(trials_suggest(trials)->values[0] == 3);
	assert_true(trials_suggest(trials)->values[0] == 4);
	assert_null(trials_suggest(trials));
	free(trials);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(suggestions_are_possible_and_the_same_again),
		cmocka_unit_test(a_suggestion_asked_for_twice_is_the_same),
		cmocka_unit_test(the_bandit_finds_what_chance_does_not),
		cmocka_unit_test(units_of_the_metric_do_not_matter),
		cmocka_unit_test(strange_results_are_survived),
		cmocka_unit_test(all_failures_or_all_the_same_is_explored_on),
		cmocka_unit_test(a_finite_space_is_tried_once_and_ends),
		cmocka_unit_test(a_grid_turns_its_first_parameter_fastest),
		cmocka_unit_test(children_are_given_only_where_their_parent_has_their_value),
		cmocka_unit_test(a_first_batch_has_the_middle_and_points_apart),
		cmocka_unit_test(many_trials_are_learned_from),
		cmocka_unit_test(several_metrics_are_traded_against_each_other),
		cmocka_unit_test(a_batch_of_several_metrics_repeats_nothing),
		cmocka_unit_test(the_largest_space_takes_moments),
		cmocka_unit_test(nothing_asked_for_is_nothing_given),
		cmocka_unit_test(beliefs_follow_what_was_measured),
		cmocka_unit_test(a_grid_leaves_out_what_an_earlier_study_tried),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
