/* SPDX-License-Identifier: Apache-2.0 */
/* Tests what scheduler/engine/docker_link.c does as time passes. The program is linked with --wrap=system_clock: the
 * monotonic clock advances only when a test moves it. */
#include "tests/unit/scheduler/engine/docker_testing.h"

#include <stdatomic.h>

#include "daemon/base/clock.h"

/* The first call of a listing; containers of other instances are listed once, too. */
#define LIST "/containers/json?all=1&filters=%7B%22label%22:%5B%22trainyard.instance%3Dt%22"

enum { MS_US = 1000, SECOND_US = 1000 * MS_US, FIRST_US = 200 * MS_US, LASTING_US = 5 * SECOND_US };

extern const struct clock __real_system_clock;
extern const struct clock __wrap_system_clock;

static atomic_int_least64_t now_us = SECOND_US;

static int64_t wall_ns(void *arg)
{
	(void)arg;
	return clock_wall_ns(&__real_system_clock);
}

static int64_t mono_us(void *arg)
{
	(void)arg;
	return atomic_load(&now_us);
}

const struct clock __wrap_system_clock = { wall_ns, mono_us, NULL, NULL };

static void time_pass(struct lab *lab, int64_t by_us)
{
	atomic_fetch_add(&now_us, by_us);
	lab->engine->ops->resume_logs(lab->engine); /* wakes the engine's thread without further effect */
}

/* Waits until the engine's thread has run its loop once more, including timers. Calls that it makes meanwhile fail. */
static void round_await(struct lab *lab)
{
	lab->engine->ops->link_replica(lab->engine, &master, &(struct replica_link){ .network = "n" });
	expect_event(lab, ENGINE_FAILED);
}

/* Fails with: list_regularly() without docker_after(): what no event told of was not found before the next connection. */
static void all_is_listed_every_half_minute(void **state)
{
	enum { EVERY_US = 30 * SECOND_US, ROUNDS = 3 };
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ LIST, 200, "[]" });
	rule_set(lab, 1, (struct rule){ "/disconnect", 500, "{}" });
	up(lab);
	for (unsigned i = 1; i <= ROUNDS; i++) {
		time_pass(lab, EVERY_US - 1);
		round_await(lab);
		round_await(lab); /* the calls of the round before came first */
		assert_int_equal(rule_asked(lab, 0), i);
		time_pass(lab, 1);
		expect_event(lab, ENGINE_LISTING);
		assert_int_equal(rule_asked(lab, 0), i + 1);
	}
	assert_int_equal(events_count(lab, ENGINE_DOWN), 0);
}

/* After the connection is lost, it is opened again and everything is listed once @wait_us have passed. */
static void return_await(struct lab *lab, int64_t wait_us)
{
	expect_event(lab, ENGINE_DOWN);
	round_await(lab); /* so the wait has begun */
	time_pass(lab, wait_us);
	expect_event(lab, ENGINE_UP);
	expect_event(lab, ENGINE_LISTING);
}

static void lose(struct lab *lab, int64_t wait_us)
{
	rule_set(lab, 0, (struct rule){ LIST, 503, "{\"message\":\"shutting down\"}", .times = 1 });
	lab->engine->ops->list(lab->engine);
	return_await(lab, wait_us);
}

/* Fails with: backoff_take() for which connections never last: each wait was the longest after a few losses in a year. */
static void a_connection_that_has_lasted_begins_the_waits_anew(void **state)
{
	struct lab *lab = *state;

	up(lab);
	lose(lab, FIRST_US);
	lose(lab, 2 * FIRST_US);
	lose(lab, 4 * FIRST_US);
	time_pass(lab, LASTING_US);
	lose(lab, FIRST_US);
	lose(lab, 2 * FIRST_US);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		LAB_TEST(all_is_listed_every_half_minute),
		LAB_TEST(a_connection_that_has_lasted_begins_the_waits_anew),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("docker link", tests, start, NULL);
}
