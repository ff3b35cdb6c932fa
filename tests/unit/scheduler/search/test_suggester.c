/* SPDX-License-Identifier: Apache-2.0 */
/* The suggester's thread waits at a gate until the test opens it. */
#include "scheduler/search/suggester.h"

#include "tests/unit/scheduler/gate_testing.h"
#include "tests/unit/scheduler/tuning/tuning_testing.h"

#define X "{\"name\": \"x\", \"type\": \"double\", \"scale\": \"linear\", \"minimum\": 0, \"maximum\": 1}"

struct bench {
	struct suggester *suggester;
	pthread_mutex_t mutex;
	pthread_cond_t reported;
	int64_t jobs[8]; /* jobs that were reported, in their order */
	size_t count;
};

static void on_told(void *arg, int64_t job)
{
	struct bench *bench = arg;

	pthread_mutex_lock(&bench->mutex);
	bench->jobs[bench->count++] = job;
	pthread_cond_signal(&bench->reported);
	pthread_mutex_unlock(&bench->mutex);
}

static void told_await(struct bench *bench, size_t count)
{
	pthread_mutex_lock(&bench->mutex);
	while (bench->count < count)
		pthread_cond_wait(&bench->reported, &bench->mutex);
	pthread_mutex_unlock(&bench->mutex);
}

static int setup(void **state)
{
	struct bench *bench = calloc(1, sizeof(*bench));

	pthread_mutex_init(&bench->mutex, NULL);
	pthread_cond_init(&bench->reported, NULL);
	suggester_new(gate_suggest, on_told, bench, &bench->suggester);
	assert_int_equal(suggester_start(bench->suggester, NULL), STATUS_OK);
	gate_set(true);
	*state = bench;
	return 0;
}

static int teardown(void **state)
{
	struct bench *bench = *state;

	suggester_free(bench->suggester);
	pthread_cond_destroy(&bench->reported);
	pthread_mutex_destroy(&bench->mutex);
	free(bench);
	return 0;
}

static struct trials *trials_new(const struct study *study, size_t count)
{
	struct trials *trials = calloc(1, sizeof(*trials));

	trials->study = study;
	while (trials->count < count) {
		struct trial *trial = trials_suggest(trials);

		trials_end(trials, trial, trial->values[0] * trial->values[0]);
	}
	return trials;
}

/* Asks for @wanted trials of a study with @count ended ones. */
static void ask(struct bench *bench, int64_t job, size_t count, size_t wanted)
{
	AUTO(study) struct study *study = study_of("bandit", X);
	struct trials *trials = trials_new(study, count);

	/* The arguments are copied: the caller frees these before they are read. */
	suggester_ask(bench->suggester,
		      suggestion_new(job, study_of("bandit", X), trials->list, trials->count, wanted));
	free(trials);
}

static void what_is_suggested_is_what_the_library_says(void **state)
{
	struct bench *bench = *state;
	AUTO(study) struct study *study = study_of("bandit", X);
	struct trials *trials = trials_new(study, 9);
	double values[3][1], *rows[] = { values[0], values[1], values[2] };
	size_t count;

	assert_int_equal(study_suggest(study, trials->list, trials->count, 3, NULL, rows, &count, NULL),
			 STATUS_OK);
	ask(bench, 5, 9, 3);
	told_await(bench, 1);
	AUTO(suggestion) struct suggestion *made = suggester_take(bench->suggester, 5);
	assert_non_null(made);
	assert_int_equal(made->status, STATUS_OK);
	assert_int_equal(made->count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_true(made->values[i][0] == values[i][0]);
	assert_null(suggester_take(bench->suggester, 5));
	free(trials);
}

static void they_are_made_in_the_order_of_asking(void **state)
{
	struct bench *bench = *state;

	gate_set(false);
	for (int64_t job = 4; job >= 1; job--)
		ask(bench, job, 0, 1);
	gate_set(true);
	told_await(bench, 4);
	for (size_t i = 0; i < 4; i++) {
		AUTO(suggestion) struct suggestion *made = suggester_take(bench->suggester, (int64_t)i + 1);

		assert_int_equal(bench->jobs[i], 4 - i);
		assert_non_null(made);
	}
}

/* Nothing is reported for a forgotten request, whether it is running, waiting or done. */
static void what_is_forgotten_is_not_told(void **state)
{
	struct bench *bench = *state;

	ask(bench, 1, 0, 1);
	told_await(bench, 1);
	gate_set(false);
	ask(bench, 2, 3, 5);
	gate_await();
	ask(bench, 3, 0, 1);
	ask(bench, 4, 0, 1);
	for (int64_t job = 1; job <= 3; job++)
		suggester_forget(bench->suggester, job);
	suggester_forget(bench->suggester, 4711);
	gate_set(true);
	told_await(bench, 2);
	assert_int_equal(bench->jobs[1], 4);
	for (int64_t job = 1; job <= 3; job++)
		assert_null(suggester_take(bench->suggester, job));
	AUTO(suggestion) struct suggestion *made = suggester_take(bench->suggester, 4);
	assert_non_null(made);
}

/* At the end, no further suggestion of a batch is begun, and waiting requests are dropped. The gate stays closed. */
static void an_end_does_not_wait_for_what_is_left(void **state)
{
	struct bench *bench = *state;

	gate_set(false);
	ask(bench, 1, 3, 1000);
	ask(bench, 2, 3, 1000);
	gate_await();
	suggester_stop(bench->suggester);
	assert_int_equal(bench->count, 0);
	suggester_stop(bench->suggester);
}

static void a_batch_that_is_ended_holds_what_was_made(void **state)
{
	AUTO(study) struct study *study = study_of("random", X);
	double values[2], *rows[] = { &values[0], &values[1] };
	atomic_bool ended = true;
	size_t count = 7;

	(void)state;
	assert_int_equal(study_suggest(study, NULL, 0, 2, &ended, rows, &count, NULL), STATUS_OK);
	assert_int_equal(count, 0);
}

static void one_that_was_never_started_can_be_freed(void **state)
{
	struct bench *bench = *state;
	struct suggester *idle = NULL;

	suggester_new(gate_suggest, on_told, bench, &idle);
	suggester_ask(idle, suggestion_new(1, study_of("bandit", X), NULL, 0, 1));
	suggester_free(idle);
	suggester_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_suggested_is_what_the_library_says),
		TEST(they_are_made_in_the_order_of_asking),
		TEST(what_is_forgotten_is_not_told),
		TEST(an_end_does_not_wait_for_what_is_left),
		TEST(a_batch_that_is_ended_holds_what_was_made),
		TEST(one_that_was_never_started_can_be_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
