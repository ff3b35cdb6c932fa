/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/engine/docker_elsewhere.c: a daemon of the same instance that the engine alone shows. */
#include "tests/unit/scheduler/engine/docker_testing.h"

#define ELSEWHERE                                                                                            \
	"{\"Labels\":{\"trainyard.instance\":\"t\",\"trainyard.place\":\"there\",\"trainyard.host\":\"far\"}}"
#define OURS   "{\"Labels\":{\"trainyard.instance\":\"t\"}}"
#define MARK   "POST /v1.41/volumes/create"
#define UNMARK "/volumes/ty-t-daemon" /* with the version or without */
#define WATCH  "%22event%22:%5B%22destroy%22"
#define REMOVAL                                                                                              \
	"{\"Type\":\"volume\",\"Action\":\"destroy\",\"Actor\":{\"ID\":\"ty-t-daemon\"}}\n"

/* Broken: challenge() left out. */
static void a_marker_that_does_not_come_back_is_of_a_daemon_that_has_ended(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ MARK, 201, ELSEWHERE, .times = 1 });
	rule_set(lab, 1, (struct rule){ MARK, 201, OURS });
	rule_set(lab, 2, (struct rule){ UNMARK, 204 });
	lab_open(lab);
	expect_event(lab, ENGINE_UP);
	assert_int_equal(rule_asked(lab, 2), 1);
	assert_int_equal(events_count(lab, ENGINE_DOWN), 0);
}

/* Broken: elsewhere_look() that looks at nothing: two daemons gave orders. */
static void a_marker_that_comes_back_is_of_a_daemon_elsewhere(void **state)
{
	struct lab *lab = *state;
	size_t down;

	rule_set(lab, 0, (struct rule){ MARK, 201, ELSEWHERE });
	rule_set(lab, 1, (struct rule){ UNMARK, 204 });
	lab_open(lab);
	down = expect_event(lab, ENGINE_DOWN);
	assert_non_null(strstr(lab->events[down].text, "another daemon of instance t works on this engine"));
	assert_non_null(strstr(lab->events[down].text, "far"));
	assert_int_equal(events_count(lab, ENGINE_UP), 0);
	rule_set(lab, 0, (struct rule){ MARK, 201, OURS });
	expect_event(lab, ENGINE_UP);
}

/* Broken: watch_data() that makes no marker. */
static void a_marker_that_is_removed_is_made_again(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ MARK, 201, OURS });
	rule_set(lab, 1, (struct rule){ WATCH, 200, REMOVAL });
	lab_open(lab);
	expect_event(lab, ENGINE_UP);
	expect_asked(lab, 0, 2);
	assert_int_equal(events_count(lab, ENGINE_DOWN), 0);
}

/* A daemon that was stopped for a while. Broken: marked() that lets a connected daemon be. */
static void a_daemon_whose_marker_was_taken_gives_no_more_orders(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ MARK, 201, OURS, .times = 1 });
	rule_set(lab, 1, (struct rule){ MARK, 201, ELSEWHERE });
	rule_set(lab, 2, (struct rule){ WATCH, 200, REMOVAL });
	rule_set(lab, 3, (struct rule){ UNMARK, 204 });
	lab_open(lab);
	expect_event(lab, ENGINE_DOWN);
}

/* Broken: watch_done() that loses the link for any answer. */
static void an_engine_without_markers_is_taken_as_it_is(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ MARK, 403, "{\"message\":\"no volumes for you\"}" });
	up(lab);
	assert_false(was_asked(lab, WATCH));
	lab_close(lab);
	assert_false(was_asked(lab, UNMARK));
	rule_set(lab, 0, (struct rule){ MARK, 201, OURS });
	rule_set(lab, 1, (struct rule){ WATCH, 400, "{\"message\":\"no such filter\"}" });
	up(lab);
	settle(lab);
	assert_int_equal(events_count(lab, ENGINE_DOWN), 0);
}

/* Broken: elsewhere_leave() left out: the next one waited. */
static void a_daemon_that_ends_takes_its_marker_with_it(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ MARK, 201, OURS });
	rule_set(lab, 1, (struct rule){ UNMARK, 204 });
	up(lab);
	assert_false(was_asked(lab, UNMARK));
	lab_close(lab);
	assert_int_equal(rule_asked(lab, 1), 1);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		LAB_TEST(a_marker_that_does_not_come_back_is_of_a_daemon_that_has_ended),
		LAB_TEST(a_marker_that_comes_back_is_of_a_daemon_elsewhere),
		LAB_TEST(a_marker_that_is_removed_is_made_again),
		LAB_TEST(a_daemon_whose_marker_was_taken_gives_no_more_orders),
		LAB_TEST(an_engine_without_markers_is_taken_as_it_is),
		LAB_TEST(a_daemon_that_ends_takes_its_marker_with_it),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("docker elsewhere", tests, start, NULL);
}
