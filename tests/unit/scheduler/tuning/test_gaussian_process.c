/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/tuning/gaussian_process.h"

#include "tests/unit/scheduler/tuning/tuning_testing.h"

static const char plane[] =
	"{\"name\":\"a\",\"type\":\"double\",\"scale\":\"linear\",\"minimum\":0,\"maximum\":1},"
	"{\"name\":\"b\",\"type\":\"double\",\"scale\":\"linear\",\"minimum\":0,\"maximum\":1}";
static const char mixed[] =
	"{\"name\":\"a\",\"type\":\"double\",\"scale\":\"linear\",\"minimum\":0,\"maximum\":1},"
	"{\"name\":\"c\",\"type\":\"categorical\",\"scale\":\"linear\","
	"\"categories\":[\"x\",\"y\",\"z\"]}";

/* Seven points with the likelihood and predictions of scikit-learn 1.2.1 (Matern(nu=2.5) with
 * length scales sqrt(0.4) and sqrt(1.3), variance 0.7, WhiteKernel 0.02). */
static const double points[] = { .1, .2, .5, .9, .35, .4, .8, .15, .62, .55, .05, .97, .91, .73 };
static const double labels[] = { .3, -.2, .45, -.5, .1, -.35, .2 };
static const double other_labels[] = { -.1, .5, .2, -.4, .3, 0, -.2 };
static const struct kernel kernel = { .signal = 0.7, .noise = 0.02, .inverse = { 1 / 0.4, 1 / 1.3 } };

struct fixture {
	struct study *study;
	struct space space;
	struct evidence evidence;
};

static void fixture_open(struct fixture *fixture, const char *parameters, const double *at, size_t count)
{
	fixture->study = study_of("bandit", parameters);
	space_init(&fixture->space, fixture->study);
	fixture->evidence = (struct evidence){ .space = &fixture->space,
					       .points = at,
					       .count = count,
					       .completed_count = count,
					       .labels = { labels },
					       .metric_count = 1 };
}

static void fixture_close(struct fixture *fixture)
{
	space_deinit(&fixture->space);
	study_free(fixture->study);
}

static double prior_of(void)
{
	return 0.01 * (pow(log(0.7 / 0.039), 2) + pow(log(0.02 / 0.0039), 2) + pow(log(0.4 / 0.5), 2) +
		       pow(log(1.3 / 0.5), 2));
}

static void the_likelihood_and_its_slope_are_those_of_another_library(void **state)
{
	struct fixture fixture;
	double gradient[4];

	(void)state;
	fixture_open(&fixture, plane, points, 7);
	assert_true(fabs(kernel_loss(&fixture.evidence, &kernel, gradient) - prior_of() - 5.0245174351545) <
		    1e-10);
	assert_true(fabs(gradient[0] - 0.02 * log(0.7 / 0.039) - 0.12813291046) < 1e-9);
	assert_true(fabs(gradient[1] - 0.02 * log(0.02 / 0.0039) + 0.404311826665) < 1e-9);
	assert_true(fabs(gradient[2] - 0.02 * log(0.4 / 0.5) - 0.392634437143 / 2) < 1e-9);
	assert_true(fabs(gradient[3] - 0.02 * log(1.3 / 0.5) - 2.63523484623 / 2) < 1e-9);
	fixture_close(&fixture);
}

static void predictions_are_those_of_another_library(void **state)
{
	static const double at[] = { .3, .3, .5, .5, .99, .01, .1, .2 };
	static const double means[] = { 0.379211320397923, 0.170382110595067, -0.565637760910135,
					0.318496177821317 };
	static const double deviations[] = { 0.190280916647168, 0.181340487610432, 0.337299778294585,
					     0.193240741261826 };
	struct prediction predictions[MODEL_BLOCK];
	struct fixture fixture;
	struct model model;
	double room[512];

	(void)state;
	fixture_open(&fixture, plane, points, 7);
	assert_int_equal(model_init(&model, &fixture.evidence, &kernel, -1, NULL), STATUS_OK);
	assert_true(model_room(&model) <= COUNT_OF(room));
	model_predict(&model, at, room, predictions);
	for (size_t i = 0; i < MODEL_BLOCK; i++) {
		assert_true(fabs(predictions[i].mean[0] - means[i]) < 1e-12);
		assert_true(fabs(predictions[i].deviation - deviations[i]) < 1e-12);
		assert_true(predictions[i].all_deviation == predictions[i].deviation);
	}
	model_deinit(&model);
	fixture_close(&fixture);
}

static struct slope weights_of(void *arg, const struct prediction *prediction)
{
	(void)prediction;
	return *(const struct slope *)arg;
}

static double weighed(const struct model *model, const double *point, struct slope slope, double *room)
{
	double at[MODEL_BLOCK * 2];
	struct prediction predictions[MODEL_BLOCK];

	for (size_t b = 0; b < MODEL_BLOCK; b++)
		memcpy(at + 2 * b, point, 2 * sizeof(double));
	model_predict(model, at, room, predictions);
	return slope.by_mean[0] * predictions[0].mean[0] + slope.by_mean[1] * predictions[0].mean[1] +
	       slope.by_deviation * predictions[0].deviation +
	       slope.by_all_deviation * predictions[0].all_deviation;
}

/* Pending points, and a noise of their own, keep the two deviations apart. */
static void slopes_are_what_small_steps_say(void **state)
{
	static const struct slope slopes[] = { { { 1 }, 0, 0 },
					       { { 0, 1 }, 0, 0 },
					       { { 0 }, 1, 0 },
					       { { 0 }, 0, 1 },
					       { { 2, -3 }, -0.5, 1.8 } };
	const double noises[] = { -1, 1e-6 };
	struct fixture fixture;
	double room[512], gradient[2], point[] = { .43, .37 };
	struct prediction prediction;

	(void)state;
	fixture_open(&fixture, plane, points, 7);
	fixture.evidence.completed_count = 5;
	fixture.evidence.labels[1] = other_labels;
	fixture.evidence.metric_count = 2;
	for (size_t n = 0; n < COUNT_OF(noises); n++) {
		struct model model;

		assert_int_equal(model_init(&model, &fixture.evidence, &kernel, noises[n], NULL), STATUS_OK);
		for (size_t s = 0; s < COUNT_OF(slopes); s++) {
			struct slope slope = slopes[s];

			model_predict_sloped(&model, point, room, weights_of, &slope, gradient, &prediction);
			assert_true(prediction.all_deviation < prediction.deviation);
			for (size_t f = 0; f < 2; f++) {
				double low[] = { point[0], point[1] }, high[] = { point[0], point[1] };

				low[f] -= 1e-6;
				high[f] += 1e-6;
				assert_true(fabs((weighed(&model, high, slope, room) -
						  weighed(&model, low, slope, room)) /
							 2e-6 -
						 gradient[f]) < 1e-5);
			}
		}
		model_deinit(&model);
	}
	fixture_close(&fixture);
}

static void the_fit_ends_where_no_small_step_is_better(void **state)
{
	struct fixture fixture;
	struct kernel fitted;
	struct draw draw;
	double gradient[4], best;

	(void)state;
	fixture_open(&fixture, plane, points, 7);
	draw_init(&draw, 1, 1, "test");
	kernel_fit(&fixture.evidence, &draw, &fitted);
	best = kernel_loss(&fixture.evidence, &fitted, gradient);
	assert_true(best < kernel_loss(&fixture.evidence, &kernel, gradient));
	for (size_t i = 0; i < 8; i++) {
		struct kernel other = fitted;
		double *moved = i / 2 == 0   ? &other.signal
				: i / 2 == 1 ? &other.noise
					     : &other.inverse[i / 2 - 2];

		*moved *= i % 2 ? 1.1 : 1 / 1.1;
		assert_true(kernel_loss(&fixture.evidence, &other, gradient) > best - 1e-3);
	}
	fixture_close(&fixture);
}

/* Categories are only equal or not: which index each has says nothing. */
static void categories_may_be_renumbered(void **state)
{
	static const double first[] = { .1, 0, .5, 1, .35, 2, .8, 0, .62, 1, .05, 2, .91, 1 };
	static const double second[] = { .1, 2, .5, 0, .35, 1, .8, 2, .62, 0, .05, 1, .91, 0 };
	static const double asked_first[] = { .3, 0, .3, 1, .3, 2, .7, 0 };
	static const double asked_second[] = { .3, 2, .3, 0, .3, 1, .7, 2 };
	struct prediction one[MODEL_BLOCK], other[MODEL_BLOCK];
	struct fixture fixture;
	struct model model;
	double room[512];

	(void)state;
	fixture_open(&fixture, mixed, first, 7);
	assert_int_equal(model_init(&model, &fixture.evidence, &kernel, -1, NULL), STATUS_OK);
	model_predict(&model, asked_first, room, one);
	model_deinit(&model);
	fixture.evidence.points = second;
	assert_int_equal(model_init(&model, &fixture.evidence, &kernel, -1, NULL), STATUS_OK);
	model_predict(&model, asked_second, room, other);
	model_deinit(&model);
	for (size_t b = 0; b < MODEL_BLOCK; b++) {
		assert_true(fabs(one[b].mean[0] - other[b].mean[0]) < 1e-12);
		assert_true(fabs(one[b].deviation - other[b].deviation) < 1e-12);
	}
	fixture_close(&fixture);
}

/* Equal points make the matrix singular but for the noise. */
static void equal_points_do_not_break_it(void **state)
{
	static const double same[] = { .5, .5, .5, .5, .5, .5, .5, .5, .5, .5, .5, .5, .5, .5 };
	struct kernel tiny = kernel;
	struct prediction predictions[MODEL_BLOCK];
	struct fixture fixture;
	struct model model;
	double room[512];

	(void)state;
	tiny.noise = 1e-10;
	tiny.signal = 10;
	fixture_open(&fixture, plane, same, 7);
	assert_int_equal(model_init(&model, &fixture.evidence, &tiny, -1, NULL), STATUS_OK);
	model_predict(&model, same, room, predictions);
	assert_true(isfinite(predictions[0].mean[0]) && predictions[0].deviation > 0);
	model_deinit(&model);
	fixture_close(&fixture);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_likelihood_and_its_slope_are_those_of_another_library),
		cmocka_unit_test(predictions_are_those_of_another_library),
		cmocka_unit_test(slopes_are_what_small_steps_say),
		cmocka_unit_test(the_fit_ends_where_no_small_step_is_better),
		cmocka_unit_test(categories_may_be_renumbered),
		cmocka_unit_test(equal_points_do_not_break_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
