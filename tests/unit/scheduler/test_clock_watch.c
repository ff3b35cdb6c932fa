/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/clock_watch.c. */
#include "scheduler/clock_watch.h"

#include "daemon/base/step_clock.h"
#include "tests/unit/testing.h"

enum { SECOND_US = 1000000 };

/* What each look observes; the last row repeats. */
struct observed {
	const int64_t *apart_us;
};

static int64_t sight_wall_ns(void *arg)
{
	struct observed *observed = arg;
	const int64_t apart_us = *observed->apart_us;

	if (observed->apart_us[1])
		observed->apart_us++;
	return apart_us * 1000;
}

static int64_t sight_mono_us(void *arg)
{
	(void)arg;
	return 0;
}

static void check(const int64_t *apart_us, size_t looks, const int64_t *jumps_us)
{
	struct observed observed = { apart_us };
	const struct clock clock = { .wall_ns = sight_wall_ns, .mono_us = sight_mono_us, .arg = &observed };
	struct clock_watch watch = { 0 };

	for (size_t i = 0; i < looks; i++)
		assert_int_equal(clock_watch_look(&watch, &clock), jumps_us[i]);
}

static void a_clock_that_is_set_has_jumped_once(void **state)
{
	(void)state;
	check((const int64_t[]){ 100 * SECOND_US, 160 * SECOND_US, 160 * SECOND_US, 0 }, 3,
	      (const int64_t[]){ 0, 60 * SECOND_US, 0 });
	check((const int64_t[]){ 100 * SECOND_US, 40 * SECOND_US, 40 * SECOND_US, 0 }, 3,
	      (const int64_t[]){ 0, -60 * SECOND_US, 0 });
}

/* Fails with: without the second look: a jump forward and one back. */
static void who_is_held_up_between_the_clocks_sees_no_jump(void **state)
{
	(void)state;
	check((const int64_t[]){ 100 * SECOND_US, 98 * SECOND_US, 100 * SECOND_US, 0 }, 3,
	      (const int64_t[]){ 0, 0, 0 });
}

static void small_corrections_are_none_but_add_up(void **state)
{
	(void)state;
	check((const int64_t[]){ 100 * SECOND_US, 100 * SECOND_US + 600000, 100 * SECOND_US + 1200000,
				 100 * SECOND_US + 1200000, 0 },
	      4, (const int64_t[]){ 0, 0, 1200000, 0 });
}

/* Fails with: the wall clock by itself. */
static void a_clock_that_is_put_forward_has_not_jumped(void **state)
{
	struct step_clock step;
	struct clock_watch watch = { 0 };

	(void)state;
	step_clock_init(&step, 0);
	clock_watch_look(&watch, &step.clock);
	step_clock_move(&step, INT64_C(3600) * 1000000000);
	assert_int_equal(clock_watch_look(&watch, &step.clock), 0);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clock_that_is_set_has_jumped_once),
		cmocka_unit_test(who_is_held_up_between_the_clocks_sees_no_jump),
		cmocka_unit_test(small_corrections_are_none_but_add_up),
		cmocka_unit_test(a_clock_that_is_put_forward_has_not_jumped),
	};

	return cmocka_run_group_tests_name("clock watch", tests, NULL, NULL);
}
