/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/tuning/space.h"

#include "tests/unit/scheduler/tuning/tuning_testing.h"

static const char numbers[] =
	"{\"name\":\"a\",\"type\":\"double\",\"scale\":\"linear\",\"minimum\":-2,\"maximum\":6},"
	"{\"name\":\"b\",\"type\":\"double\",\"scale\":\"log\",\"minimum\":1e-300,\"maximum\":1e300},"
	"{\"name\":\"c\",\"type\":\"double\",\"scale\":\"reverse_log\",\"minimum\":0.001,\"maximum\":0.999},"
	"{\"name\":\"d\",\"type\":\"integer\",\"scale\":\"log\",\"minimum\":1,\"maximum\":1024},"
	"{\"name\":\"e\",\"type\":\"discrete\",\"scale\":\"linear\",\"values\":[1,10,11]},"
	"{\"name\":\"f\",\"type\":\"double\",\"scale\":\"linear\",\"minimum\":3,\"maximum\":3}";

static void the_scales_are_those_of_the_reference(void **state)
{
	static const struct {
		double values[6], features[6];
	} rows[] = {
		{ { -2, 1e-300, 0.001, 1, 1, 3 }, { 0, 0, 0, 0, 0, 0.5 } },
		{ { 6, 1e300, 0.999, 1024, 11, 3 }, { 1, 1, 1, 1, 1, 0.5 } },
		{ { 2, 1, 0.5, 32, 10, 3 }, { 0.5, 0.5, 0.1002130092, 0.5, 0.9, 0.5 } },
	};
	struct study *study = study_of("bandit", numbers);
	struct space space;
	double features[6], values[6];

	(void)state;
	space_init(&space, study);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		space_encode(&space, rows[i].values, features);
		for (size_t f = 0; f < 6; f++)
			assert_true(fabs(features[f] - rows[i].features[f]) < 1e-6);
		space_decode(&space, features, values);
		for (size_t f = 0; f < 6; f++)
			assert_true(fabs(values[f] - rows[i].values[f]) <= 1e-9 * fabs(rows[i].values[f]));
	}
	space_deinit(&space);
	study_free(study);
}

/* Logarithms and back may round past an end. */
static void nothing_leaves_its_range(void **state)
{
	struct study *study = study_of("bandit", numbers);
	struct space space;
	struct draw draw;
	double features[6], values[6];

	(void)state;
	space_init(&space, study);
	draw_init(&draw, 3, 4, "test");
	for (size_t i = 0; i < 2000; i++) {
		space_random(&space, &draw, features);
		for (size_t f = 0; f < 6; f++)
			features[f] = i % 3 == 0   ? features[f] * 3 - 1
				      : i % 3 == 1 ? round(features[f])
						   : features[f];
		space_decode(&space, features, values);
		for (size_t f = 0; f < 6; f++)
			assert_true(values[f] >= study->parameters[f].minimum &&
				    values[f] <= study->parameters[f].maximum);
	}
	space_deinit(&space);
	study_free(study);
}

static void whole_and_listed_numbers_go_to_the_nearest(void **state)
{
	struct study *study = study_of("bandit", numbers);
	struct space space;
	double values[] = { 0, 1, 0.5, 31.4, 10.4, 3 }, features[6];

	(void)state;
	space_init(&space, study);
	space_encode(&space, values, features);
	space_decode(&space, features, values);
	assert_true(values[3] == 31 && values[4] == 10);
	values[4] = 10.6;
	space_encode(&space, values, features);
	space_decode(&space, features, values);
	assert_true(values[4] == 11);
	space_deinit(&space);
	study_free(study);
}

static void draws_follow_from_seed_and_place_alone(void **state)
{
	struct draw one, other;
	double sum = 0, squares = 0;

	(void)state;
	draw_init(&one, 1, 2, "x");
	draw_init(&other, 1, 2, "x");
	for (size_t i = 0; i < 500; i++)
		assert_true(draw_bits(&one) == draw_bits(&other));
	draw_init(&other, 1, 3, "x");
	assert_true(draw_bits(&one) != draw_bits(&other));
	for (size_t i = 0; i < 20000; i++) {
		double normal = draw_normal(&one);

		sum += normal;
		squares += normal * normal;
	}
	assert_true(fabs(sum / 20000) < 0.05 && fabs(squares / 20000 - 1) < 0.05);
}

/* The first 400 points fall about equally into the four quarters of the square. */
static void halton_points_are_even(void **state)
{
	struct study *study = study_of(
		"bandit",
		"{\"name\":\"a\",\"type\":\"double\",\"scale\":\"linear\",\"minimum\":0,\"maximum\":1},"
		"{\"name\":\"b\",\"type\":\"double\",\"scale\":\"linear\",\"minimum\":0,\"maximum\":1}");
	struct space space;
	unsigned quarters[2][2] = { 0 };
	double point[2];

	(void)state;
	space_init(&space, study);
	for (size_t i = 0; i < 400; i++) {
		space_halton(&space, 9, i, point);
		assert_true(point[0] >= 0 && point[0] < 1 && point[1] >= 0 && point[1] < 1);
		quarters[point[0] >= 0.5][point[1] >= 0.5]++;
	}
	for (size_t i = 0; i < 4; i++)
		assert_in_range(quarters[i / 2][i % 2], 92, 108);
	space_deinit(&space);
	study_free(study);
}

static void a_study_is_read_back_as_it_was_written(void **state)
{
	struct study *study = study_of(
		"grid",
		"{\"name\":\"k\",\"type\":\"categorical\",\"scale\":\"linear\",\"categories\":[\"u\",\"v\"]},"
		"{\"name\":\"n\",\"type\":\"integer\",\"scale\":\"log\",\"minimum\":1.0,\"maximum\":9.0,"
		"\"parent\":0,\"parent_values\":[1.0]},"
		"{\"name\":\"d\",\"type\":\"discrete\",\"scale\":\"linear\",\"values\":[0.5,2.5]}");
	AUTO(json) json_t *first = study_to_json(study);
	AUTO(study) struct study *again = NULL;
	AUTO(json) json_t *second = NULL;

	(void)state;
	assert_int_equal(study_from_json(first, &again, NULL), STATUS_OK);
	second = study_to_json(again);
	assert_true(json_equal(first, second));
	study_free(study);
}

static void what_is_no_study_is_refused(void **state)
{
	static const char *const parameters[] = {
		"",
		"{\"name\":\"a\",\"type\":\"double\",\"scale\":\"log\",\"minimum\":0,\"maximum\":1}",
		"{\"name\":\"a\",\"type\":\"double\",\"scale\":\"linear\",\"minimum\":2,\"maximum\":1}",
		"{\"name\":\"a\",\"type\":\"integer\",\"scale\":\"linear\",\"minimum\":0.5,\"maximum\":1}",
		"{\"name\":\"a\",\"type\":\"discrete\",\"scale\":\"linear\",\"values\":[2,2]}",
		"{\"name\":\"a\",\"type\":\"discrete\",\"scale\":\"linear\",\"values\":[]}",
		"{\"name\":\"a\",\"type\":\"categorical\",\"scale\":\"linear\",\"categories\":[1]}",
		"{\"name\":\"a\",\"type\":\"categorical\",\"scale\":\"linear\",\"categories\":[\"x\"],"
		"\"parent\":0,\"parent_values\":[0]}",
		"{\"name\":\"a\",\"type\":\"double\",\"scale\":\"linear\",\"minimum\":0,\"maximum\":1},"
		"{\"name\":\"b\",\"type\":\"categorical\",\"scale\":\"linear\",\"categories\":[\"x\"],"
		"\"parent\":0,\"parent_values\":[0.5]}",
		"{\"name\":\"a\",\"type\":\"other\",\"scale\":\"linear\"}",
		"{\"type\":\"double\",\"scale\":\"linear\",\"minimum\":0,\"maximum\":1}",
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(parameters); i++) {
		struct text text AUTO_TEXT = { 0 };
		struct error err AUTO_ERROR = { 0 };
		struct study *study = NULL;

		text_printf(
			&text,
			"{\"seed\": 7, \"algorithm\": \"random\", \"stopping\": \"none\", \"parameters\": [%s],"
			" \"metrics\": [{\"name\": \"loss\"}]}",
			parameters[i]);
		AUTO(json) json_t *value = json_loads(text.data, 0, NULL);
		assert_non_null(value);
		assert_int_equal(study_from_json(value, &study, &err), STATUS_INVALID_ARGUMENT);
		assert_null(study);
	}
}

/* Also the next number is one's nearest, and the smallest of all. */
static void bounds_that_are_neighbours_make_numbers(void **state)
{
	static const double bounds[][2] = { { 1e300, 0 }, { 1e-300, 0 }, { 1, 0 }, { 5e-324, 0 } };
	static const char *const scales[] = { "linear", "log", "reverse_log" };

	(void)state;
	for (size_t b = 0; b < COUNT_OF(bounds); b++)
		for (size_t s = 0; s < COUNT_OF(scales); s++) {
			const double low = bounds[b][0], high = nextafter(low, INFINITY);
			const double values[] = { low, high };
			struct text text AUTO_TEXT = { 0 };
			struct space space;

			text_printf(&text,
				    "{\"name\":\"a\",\"type\":\"double\",\"scale\":\"%s\","
				    "\"minimum\":%.17g,\"maximum\":%.17g}",
				    scales[s], low, high);
			AUTO(study) struct study *study = study_of("bandit", text.data);
			space_init(&space, study);
			for (size_t v = 0; v < COUNT_OF(values); v++) {
				double feature, value;

				space_encode(&space, &values[v], &feature);
				assert_true(feature >= 0 && feature <= 1);
				space_decode(&space, &feature, &value);
				assert_true(value >= low && value <= high);
			}
			space_deinit(&space);
		}
}

static void values_of_another_range_have_finite_features(void **state)
{
	AUTO(study)
	struct study *study = study_of("bandit", "{\"name\":\"a\",\"type\":\"double\",\"scale\":"
						 "\"linear\",\"minimum\":0,\"maximum\":1e-300}");
	static const double values[] = { 1e300, -1e300, 2e-300 };
	struct space space;
	double feature;

	(void)state;
	space_init(&space, study);
	for (size_t i = 0; i < COUNT_OF(values); i++) {
		space_encode(&space, &values[i], &feature);
		assert_true(isfinite(feature) && (feature < 0 || feature > 1));
	}
	space_deinit(&space);
}

#define CHILD(NAME, PARENT, VALUES, COUNT)                                                                   \
	",{\"name\":\"" NAME "\",\"type\":\"integer\",\"scale\":\"linear\",\"minimum\":1,\"maximum\":" COUNT \
	",\"parent\":" PARENT ",\"parent_values\":[" VALUES "]}"
#define KINDS                                                                                                \
	"{\"name\":\"k\",\"type\":\"categorical\",\"scale\":\"linear\",\"categories\":[\"a\",\"b\",\"c\"]}"

/* Counts all choices one by one, and leaves out what is inactive and not at its first one. */
static bool choices_are_of_the_grid(const struct study *study, const double *choices, double *ret_values)
{
	for (size_t i = 0; i < study->parameter_count; i++) {
		if (!parameter_is_active(study, i, ret_values)) {
			if (choices[i] != 0)
				return false;
			ret_values[i] = NAN;
			continue;
		}
		ret_values[i] =
			study->parameters[i].type == PARAMETER_CATEGORICAL ? choices[i] : 1 + choices[i];
	}
	return true;
}

static void points_expect_equal(const struct study *study, const double *a, const double *b)
{
	for (size_t i = 0; i < study->parameter_count; i++)
		assert_true(a[i] == b[i] || (isnan(a[i]) && isnan(b[i])));
}

/* Nested children, children of several values, and children that exclude each other. */
static void a_grid_with_conditions_has_each_point_once_and_in_order(void **state)
{
	AUTO(study)
	struct study *study = study_of("grid", KINDS CHILD("x", "0", "0", "3") CHILD("y", "0", "1,2", "4")
						       CHILD("z", "1", "2,3", "2") CHILD("u", "3", "2", "3")
							       CHILD("v", "2", "4", "2"));
	const double counts[] = { 3, 3, 4, 2, 3, 2 };
	double choices[6] = { 0 }, expected[6], values[6];
	size_t index = 0, digit = 0;
	struct space space;

	(void)state;
	space_init(&space, study);
	while (digit < COUNT_OF(counts)) {
		if (choices_are_of_the_grid(study, choices, expected)) {
			assert_true(space_grid(&space, index++, values));
			points_expect_equal(study, values, expected);
		}
		for (digit = 0; digit < COUNT_OF(counts) && ++choices[digit] == counts[digit]; digit++)
			choices[digit] = 0;
	}
	assert_int_equal(index, 9 + 5 + 5); /* of each kind */
	assert_false(space_grid(&space, index, values));
	space_deinit(&space);
}

/* Each child halves, or worse, what is possible: to try all choices would take longer than anyone lives. */
static void a_grid_of_a_huge_space_with_conditions_is_counted_at_once(void **state)
{
	AUTO(study)
	struct study *study =
		study_of("grid", KINDS CHILD("a", "0", "0", "9e15") CHILD("b", "0", "1", "9e15")
					 CHILD("c", "1", "1", "1000") CHILD("d", "3", "1000", "1000")
						 CHILD("e", "4", "1000", "1000"));
	double values[6];
	struct space space;

	(void)state;
	space_init(&space, study);
	assert_true(space_grid(&space, 4000, values));
	assert_true(values[0] == 0 && values[1] > 1000 && isnan(values[2]) && isnan(values[3]));
	space_deinit(&space);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_scales_are_those_of_the_reference),
		cmocka_unit_test(nothing_leaves_its_range),
		cmocka_unit_test(whole_and_listed_numbers_go_to_the_nearest),
		cmocka_unit_test(draws_follow_from_seed_and_place_alone),
		cmocka_unit_test(halton_points_are_even),
		cmocka_unit_test(a_study_is_read_back_as_it_was_written),
		cmocka_unit_test(what_is_no_study_is_refused),
		cmocka_unit_test(bounds_that_are_neighbours_make_numbers),
		cmocka_unit_test(values_of_another_range_have_finite_features),
		cmocka_unit_test(a_grid_with_conditions_has_each_point_once_and_in_order),
		cmocka_unit_test(a_grid_of_a_huge_space_with_conditions_is_counted_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
