/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/engine/docker_throttle.c: refusals of the kernel and the engine. */
#include "tests/unit/scheduler/engine/docker_testing.h"

#define RUNNING_IMAGE "{\"Image\":\"sha256:1\",\"State\":{\"Running\":true}}"

/* The name is in use by a container that a killed daemon has left; and the kernel does not support it. Fails with:
 * created() takes 409 like any other refusal. */
static void a_network_that_the_kernel_cannot_slow_is_told_in_words(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ "/ty-t-1-master-0-a1/json", 200, RUNNING_IMAGE, 0, 0 });
	rule_set(lab, 1, (struct rule){ "/containers/create", 409, "{\"message\":\"Conflict\"}", 0, 1 });
	rule_set(lab, 2, (struct rule){ "/containers/create", 201, "{\"Id\":\"c\"}", 0, 0 });
	rule_set(lab, 3,
		 (struct rule){ "PUT /v1.41/containers/ty-t-1-master-0-a1-throttle/archive", 200, "", 0, 0 });
	rule_set(lab, 4, (struct rule){ "/ty-t-1-master-0-a1-throttle/start", 204, NULL, 0, 0 });
	rule_set(lab, 5,
		 (struct rule){ "/ty-t-1-master-0-a1-throttle/wait", 200, "{\"StatusCode\":105}", 0, 1 });
	rule_set(lab, 6,
		 (struct rule){ "/ty-t-1-master-0-a1-throttle/wait", 200, "{\"StatusCode\":1}", 0, 0 });
	rule_set(lab, 7, (struct rule){ "DELETE", 204, NULL, 0, 0 });
	up(lab);
	lab->engine->ops->throttle_replica(lab->engine, &master, 64000);
	size_t reported = expect_event(lab, ENGINE_THROTTLE_FAILED);

	assert_int_equal(lab->events[reported].status, STATUS_FAILED_PRECONDITION);
	assert_string_equal(lab->events[reported].text, "the kernel has no devices of kind ifb");
	assert_int_equal(rule_asked(lab, 7), 2); /* Fails with: waited() ends without drop(). */
	/* Fails with: body_make() with another right, or with new privileges. */
	assert_true(was_asked(lab, "\"CapDrop\":[\"ALL\"],\"CapAdd\":[\"NET_ADMIN\"],"
				   "\"SecurityOpt\":[\"no-new-privileges:true\"]"));
	lab->engine->ops->throttle_replica(lab->engine, &master, 64000);
	reported = expect_event(lab, ENGINE_THROTTLE_FAILED);
	assert_int_equal(lab->events[reported].status, STATUS_INTERNAL);
	assert_string_equal(lab->events[reported].text, "its program ended with 1");
}

/* After a refusal of the engine, another try may succeed; a replica that is gone or has ended has no network. */
static void a_throttle_that_the_engine_refuses_leaves_nothing(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ "/ty-t-1-master-0-a1/json", 404, "{}", 0, 1 });
	rule_set(lab, 1, (struct rule){ "/ty-t-1-master-0-a1/json", 200, EXITED_MASTER, 0, 1 });
	rule_set(lab, 2, (struct rule){ "/ty-t-1-master-0-a1/json", 200, RUNNING_IMAGE, 0, 0 });
	rule_set(lab, 3, (struct rule){ "/containers/create", 403, "{\"message\":\"no NET_ADMIN\"}", 0, 1 });
	rule_set(lab, 4, (struct rule){ "/containers/create", 201, "{\"Id\":\"c\"}", 0, 0 });
	rule_set(lab, 5, (struct rule){ "/archive", 200, "", 0, 0 });
	rule_set(lab, 6, (struct rule){ "/start", 409, "{\"message\":\"is not running\"}", 0, 0 });
	rule_set(lab, 7, (struct rule){ "DELETE", 204, NULL, 0, 0 });
	up(lab);
	for (int i = 0; i < 3; i++) {
		lab->engine->ops->throttle_replica(lab->engine, &master, 64000);
		expect_asked(lab, (size_t)i, 1);
	}
	size_t reported = expect_event(lab, ENGINE_THROTTLE_FAILED);

	assert_int_equal(lab->events[reported].status, STATUS_INTERNAL);
	assert_string_equal(lab->events[reported].text, "no NET_ADMIN");
	assert_int_equal(rule_asked(lab, 7), 0);
	lab->engine->ops->throttle_replica(lab->engine, &master, 0);
	reported = expect_event(lab, ENGINE_THROTTLE_FAILED);
	assert_string_equal(lab->events[reported].text, "is not running");
	assert_int_equal(rule_asked(lab, 7), 1);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		LAB_TEST(a_network_that_the_kernel_cannot_slow_is_told_in_words),
		LAB_TEST(a_throttle_that_the_engine_refuses_leaves_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("docker throttle", tests, start, NULL);
}
