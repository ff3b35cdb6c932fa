/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/engine/docker_elsewhere.c: a daemon of the same instance that the engine alone shows. */
#include "tests/unit/scheduler/engine/docker_testing.h"

#define TUNNEL(instance)                                                                                     \
	"[{\"Names\":[\"/ty-t-4-tunnel\"],\"State\":\"running\",\"Labels\":{\"trainyard.instance\":\"" instance               \
	"\",\"trainyard.tunnel\":\"4\"}}]"
#define LOOK "GET /v1.41/containers/json?filters="

/* Of a daemon that has just been killed. Broken: looked() that gives up at once. */
static void a_tunnel_that_ends_is_of_a_daemon_that_has_ended(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ LOOK, 200, TUNNEL("t"), .times = 2 });
	lab_open(lab);
	expect_event(lab, ENGINE_UP);
	assert_int_equal(rule_asked(lab, 0), 2);
	assert_int_equal(events_count(lab, ENGINE_DOWN), 0);
}

/* Broken: elsewhere_look() that looks at nothing: two daemons gave orders. */
static void a_tunnel_that_goes_on_is_of_a_daemon_elsewhere(void **state)
{
	struct lab *lab = *state;
	size_t down;

	rule_set(lab, 0, (struct rule){ LOOK, 200, TUNNEL("t") });
	lab_open(lab);
	down = expect_event(lab, ENGINE_DOWN);
	assert_non_null(strstr(lab->events[down].text, "another daemon of instance t works on this engine"));
	assert_non_null(strstr(lab->events[down].text, "ty-t-4-tunnel"));
	assert_int_equal(events_count(lab, ENGINE_UP), 0);
	rule_set(lab, 0, (struct rule){ LOOK, 200, "[]" });
	expect_event(lab, ENGINE_UP);
}

static void a_tunnel_of_another_instance_is_nothing(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ LOOK, 200, TUNNEL("u") });
	lab_open(lab);
	expect_event(lab, ENGINE_UP);
	assert_int_equal(rule_asked(lab, 0), 1);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		LAB_TEST(a_tunnel_that_ends_is_of_a_daemon_that_has_ended),
		LAB_TEST(a_tunnel_that_goes_on_is_of_a_daemon_elsewhere),
		LAB_TEST(a_tunnel_of_another_instance_is_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("docker elsewhere", tests, start, NULL);
}
