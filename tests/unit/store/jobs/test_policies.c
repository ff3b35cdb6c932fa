/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>

#include "store/jobs/policies.h"
#include "tests/unit/store/store_testing.h"

static void assert_policy(struct bench *bench, const char *job_id, const char *expected,
			  const char *expected_etag)
{
	AUTO(string) char *policy = NULL;
	AUTO(string) char *etag = NULL;

	assert_int_equal(policy_get(bench->store, "demo", job_id, &policy, &etag, &bench->err), STATUS_OK);
	if (expected)
		assert_string_equal(policy, expected);
	else
		assert_null(policy);
	assert_string_equal(etag, expected_etag);
}

static void a_job_without_a_policy_has_the_etag_of_none(void **state)
{
	BENCH(state);

	job_add(bench, "a");
	assert_policy(bench, "a", NULL, "ACAB");
}

static void a_policy_is_kept_and_its_etag_changes_each_time(void **state)
{
	BENCH(state);
	AUTO(string) char *first = NULL;
	AUTO(string) char *second = NULL;
	AUTO(string) char *other = NULL;

	job_add(bench, "a");
	job_add(bench, "b");
	assert_int_equal(policy_set(bench->store, "demo", "a", "{\"x\":1}", NULL, &first, &bench->err),
			 STATUS_OK);
	assert_int_equal(strlen(first), 12);
	assert_policy(bench, "a", "{\"x\":1}", first);
	assert_int_equal(policy_set(bench->store, "demo", "a", "{\"x\":1}", first, &second, &bench->err),
			 STATUS_OK);
	assert_string_not_equal(first, second);
	assert_int_equal(policy_set(bench->store, "demo", "b", "{\"x\":1}", "ACAB", &other, &bench->err),
			 STATUS_OK);
	assert_string_not_equal(first, other);
	bench_reopen(bench);
	assert_policy(bench, "a", "{\"x\":1}", second);
}

static void a_stale_etag_changes_nothing(void **state)
{
	BENCH(state);
	AUTO(string) char *etag = NULL;
	AUTO(string) char *never = NULL;

	job_add(bench, "a");
	assert_int_equal(policy_set(bench->store, "demo", "a", "{}", "ACAB", &etag, &bench->err), STATUS_OK);
	assert_int_equal(policy_set(bench->store, "demo", "a", "{\"x\":1}", "ACAB", &never, &bench->err),
			 STATUS_ABORTED);
	assert_string_equal(bench->err.violations[0].field, "policy.etag");
	assert_null(never);
	assert_policy(bench, "a", "{}", etag);
}

static void a_job_that_is_not_there_has_no_policy(void **state)
{
	BENCH(state);
	char *policy = NULL, *etag = NULL;

	assert_int_equal(policy_get(bench->store, "demo", "a", &policy, &etag, &bench->err),
			 STATUS_NOT_FOUND);
	assert_string_equal(bench->err.violations[0].field, "resource");
	assert_int_equal(policy_set(bench->store, "demo", "a", "{}", NULL, &etag, &bench->err),
			 STATUS_NOT_FOUND);
	job_add(bench, "a");
	assert_int_equal(policy_get(bench->store, "other", "a", &policy, &etag, &bench->err),
			 STATUS_NOT_FOUND);
	assert_null(policy);
	assert_null(etag);
}

enum { WRITERS = 8 };

static void *race(void *arg)
{
	struct bench *bench = arg;
	char *etag = NULL;

	if (policy_set(bench->store, "demo", "a", "{}", "ACAB", &etag, NULL) == STATUS_OK)
		__atomic_add_fetch(&bench->counter, 1, __ATOMIC_RELAXED);
	free(etag);
	return NULL;
}

static void of_many_who_read_the_same_policy_one_changes_it(void **state)
{
	BENCH(state);
	pthread_t threads[WRITERS];

	job_add(bench, "a");
	for (int i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, race, bench), 0);
	for (int i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(bench->counter, 1);
}

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, bench_open, bench_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BENCH(a_job_without_a_policy_has_the_etag_of_none),
		WITH_BENCH(a_policy_is_kept_and_its_etag_changes_each_time),
		WITH_BENCH(a_stale_etag_changes_nothing),
		WITH_BENCH(a_job_that_is_not_there_has_no_policy),
		WITH_BENCH(of_many_who_read_the_same_policy_one_changes_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
