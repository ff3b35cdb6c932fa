/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/engine/docker_attachment.c: disconnects a replica from its network and connects it again, whatever
 * the engine answers. */
#include "tests/unit/scheduler/engine/docker_testing.h"

static const struct replica_link off = { .network = "net" };
static const struct replica_link on = { .network = "net", .address = "10.213.0.2", .alias = "a" };

static void link_set(struct lab *lab, const struct replica_link *link)
{
	lab->engine->ops->link_replica(lab->engine, &master, link);
}

static void a_replica_is_taken_off_and_put_back_as_it_was(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ "POST /v1.41/networks/net/disconnect ", 200, "" });
	rule_set(lab, 1, (struct rule){ "POST /v1.41/networks/net/connect ", 200, "" });
	up(lab);
	link_set(lab, &off);
	expect_asked(lab, 0, 1);
	link_set(lab, &on);
	expect_asked(lab, 1, 1);
	settle(lab);
	assert_int_equal(events_count(lab, ENGINE_FAILED), 0);
	assert_true(was_asked(lab, "{\"Container\":\"ty-t-1-master-0-a1\",\"Force\":false}"));
	assert_true(was_asked(lab, "\"Aliases\":[\"a\"]"));
	assert_true(was_asked(lab, "\"IPv4Address\":\"10.213.0.2\""));
}

/* Fails with: is_done() false: told as failures. */
static void what_is_so_already_is_no_failure(void **state)
{
	static const struct {
		const struct replica_link *link;
		struct rule rule;
	} cases[] = {
		{ &off,
		  { "/disconnect", 403,
		    "{\"message\":\"container c is not connected to the network net\"}" } },
		{ &on,
		  { "/connect", 403,
		    "{\"message\":\"endpoint with name c already exists in network net\"}" } },
		{ &on,
		  /* the event of its removal reports that */
		  { "/connect", 404, "{\"message\":\"No such container: c\"}" } },
	};
	struct lab *lab = *state;

	up(lab);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		rule_set(lab, 0, cases[i].rule);
		link_set(lab, cases[i].link);
		expect_asked(lab, 0, 1);
		settle(lab);
		assert_int_equal(events_count(lab, ENGINE_FAILED), 0);
	}
}

static void a_refusal_is_told_with_the_engines_words(void **state)
{
	static const struct {
		const struct replica_link *link;
		struct rule rule;
		enum status status;
		const char *text;
	} cases[] = {
		{ &on, { "/connect", 500, "{\"message\":\"no bridge\"}" }, STATUS_INTERNAL, "no bridge" },
		{ &on,
		  { "/connect", 403, "{\"message\":\"is not connected to\"}" },
		  STATUS_FAILED_PRECONDITION,
		  "is not connected to" },
		{ &off, { "/disconnect", 409, "paused\n" }, STATUS_FAILED_PRECONDITION, "paused" },
		{ &off, { "/disconnect", 0 }, STATUS_UNAVAILABLE, "" },
	};
	struct lab *lab = *state;

	up(lab);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		size_t failed;

		rule_set(lab, 0, cases[i].rule);
		link_set(lab, cases[i].link);
		failed = expect_event(lab, ENGINE_FAILED);
		assert_int_equal(lab->events[failed].status, cases[i].status);
		if (cases[i].text[0])
			assert_string_equal(lab->events[failed].text, cases[i].text);
		assert_true(docker_key_equal(&lab->events[failed].replica.key, &master));
	}
}

/* Fails with: under_way() NULL: the calls went beside each other, and the engine's order was by chance. */
static void what_is_asked_last_counts(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ "/disconnect", HOLD });
	rule_set(lab, 1, (struct rule){ "/connect", 200, "" });
	up(lab);
	link_set(lab, &off);
	expect_asked(lab, 0, 1);
	link_set(lab, &on);
	link_set(lab, &off);
	link_set(lab, &on);
	settle(lab);
	assert_int_equal(rule_asked(lab, 1), 0);
	rule_set(lab, 0, (struct rule){ "/disconnect", 500, "{\"message\":\"no more of interest\"}" });
	expect_asked(lab, 1, 1);
	settle(lab);
	assert_int_equal(rule_asked(lab, 0), 1);
	assert_int_equal(rule_asked(lab, 1), 1);
	assert_int_equal(events_count(lab, ENGINE_FAILED), 0);
}

static void no_engine_no_link(void **state)
{
	struct lab *lab = *state;
	size_t failed;

	rule_set(lab, 0, (struct rule){ "/_ping", 500, "{\"message\":\"starting up\"}" });
	lab_open(lab);
	expect_event(lab, ENGINE_DOWN);
	link_set(lab, &off);
	failed = expect_event(lab, ENGINE_FAILED);
	assert_int_equal(lab->events[failed].status, STATUS_UNAVAILABLE);
	assert_string_equal(lab->events[failed].text, "starting up");
}

static void a_close_drops_what_is_under_way_and_what_waits(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ "/disconnect", HOLD });
	up(lab);
	link_set(lab, &off);
	expect_asked(lab, 0, 1);
	link_set(lab, &on);
	settle(lab);
	lab_close(lab);
	assert_false(was_asked(lab, "/connect"));
	assert_int_equal(events_count(lab, ENGINE_FAILED), 0);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		LAB_TEST(a_replica_is_taken_off_and_put_back_as_it_was),
		LAB_TEST(what_is_so_already_is_no_failure),
		LAB_TEST(a_refusal_is_told_with_the_engines_words),
		LAB_TEST(what_is_asked_last_counts),
		LAB_TEST(no_engine_no_link),
		LAB_TEST(a_close_drops_what_is_under_way_and_what_waits),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("docker attachment", tests, start, NULL);
}
