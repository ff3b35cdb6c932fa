/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/work.h"

#include "daemon/base/clock.h"
#include "tests/unit/testing.h"

#define TEST(name) static void name(void **state_)

enum { LOOK_US = 10 * 1000 };

struct client {
	bool gone;
	unsigned asked;
};

static bool client_is_gone(void *arg)
{
	struct client *client = arg;

	client->asked++;
	return client->gone;
}

TEST(a_thread_that_said_nothing_is_always_waited_for)
{
	(void)state_;
	assert_false(work_is_abandoned());
	assert_int_equal(work_check(NULL), STATUS_OK);
	assert_int_equal(work_owner(), 0);
}

/* Fails with: work_is_abandoned() that asks each time; or that asks again once it was told. */
TEST(it_is_asked_now_and_then_until_the_client_has_left)
{
	struct client client = { .gone = false };
	struct error err AUTO_ERROR = { 0 };
	unsigned calls = 0;
	int64_t until_us;

	(void)state_;
	work_begin(&(struct work){ client_is_gone, &client, 7 });
	assert_int_equal(work_owner(), 7);
	while (client.asked < 3) {
		assert_false(work_is_abandoned());
		calls++;
	}
	assert_true(calls > 2 * client.asked);
	client.gone = true;
	while (!work_is_abandoned())
		;
	client.gone = false;
	client.asked = 0;
	until_us = clock_mono_us(&system_clock) + LOOK_US; /* the time at which the next look would be due */
	while (clock_mono_us(&system_clock) <= until_us)
		;
	assert_int_equal(work_check(&err), STATUS_CANCELLED);
	assert_int_equal(client.asked, 0);
	work_end();
	assert_false(work_is_abandoned());
	assert_int_equal(work_owner(), 0);
}

/* Fails with: work_end() that ends the outer one. */
TEST(work_inside_other_work_is_a_part_of_it)
{
	struct client outer = { .gone = true }, inner = { .gone = false };

	(void)state_;
	work_begin(&(struct work){ client_is_gone, &outer, 1 });
	work_begin(&(struct work){ client_is_gone, &inner, 2 });
	assert_int_equal(work_owner(), 1);
	work_end();
	while (!work_is_abandoned())
		;
	work_end();
	assert_int_equal(inner.asked, 0);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_that_said_nothing_is_always_waited_for),
		cmocka_unit_test(it_is_asked_now_and_then_until_the_client_has_left),
		cmocka_unit_test(work_inside_other_work_is_a_part_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
